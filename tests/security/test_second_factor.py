"""T13: the accounts of staff and organisers, without any browser: codes are computed here."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import struct
from types import SimpleNamespace

import pytest
from allauth.mfa.models import Authenticator
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django.asserts import assertContains, assertNotContains

from tests.api.conftest import Program
from tests.builders import make_user, signed_in

ACTIVATE = "/account/second-factor/totp/activate/"
CODES = "/account/second-factor/recovery-codes/"


def code_of(secret: str, at: float) -> str:
    """RFC 6238, as an app on a phone computes it."""
    counter = struct.pack(">Q", int(at) // 30)
    digest = hmac.new(base64.b32decode(secret), counter, hashlib.sha1).digest()
    at_byte = digest[-1] & 15
    number = struct.unpack(">I", digest[at_byte : at_byte + 4])[0] & 0x7FFFFFFF
    return f"{number % 10**6:06}"


@pytest.fixture(autouse=True)
def nothing_counted_yet(db) -> None:
    cache.clear()


@pytest.fixture(autouse=True)
def clock(monkeypatch) -> dict[str, float]:
    """The middle of half a minute, so that no code ends while a test runs."""
    now = {"is": 1_800_000_015.0}
    watch = SimpleNamespace(time=lambda: now["is"])
    monkeypatch.setattr("allauth.mfa.totp.internal.auth.time", watch)
    return now


def sign_in(client: Client, name: str) -> str:
    word = {"login": name, "password": f"{name}-s-word"}
    return client.post("/account/login/", word)["Location"]


def say_again(client: Client, name: str) -> None:
    """What changes who gets in asks for the password once more."""
    client.post("/account/reauthenticate/", {"password": f"{name}-s-word", "next": ACTIVATE})


def set_one(client: Client, name: str = "ben") -> str:
    """Turn on second factor as one does on the page; its secret."""
    say_again(client, name)
    page = client.get(ACTIVATE).content.decode()
    secret = re.search(r'id="secret"[^>]* value="(\w+)"', page)[1]
    assert client.post(ACTIVATE, {"code": code_of(secret, 1_800_000_015)}).status_code == 302
    return secret


@pytest.fixture
def protected(ben) -> str:
    """Ben has a second factor, and has signed out; the secret."""
    client = Client()
    sign_in(client, "ben")
    return set_one(client)


def is_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


def test_t13_the_password_alone_lets_nobody_in(protected):
    client = Client()
    assert sign_in(client, "ben") == "/account/second-factor/authenticate/"
    assert not is_in(client)


def test_t13_with_the_code_one_is_in(protected, clock):
    clock["is"] += 30
    client = Client()
    address = sign_in(client, "ben")
    assertContains(client.get(address), "Enter your code")
    client.post(address, {"code": code_of(protected, clock["is"])})
    assert is_in(client)


@pytest.mark.parametrize("code", ["000000", "", "12345", "abcdef", "0" * 5000])
def test_t13_a_wrong_code_lets_nobody_in(protected, code):
    client = Client()
    client.post(sign_in(client, "ben"), {"code": code})
    assert not is_in(client)


def test_t13_a_code_counts_once(protected, clock):
    clock["is"] += 30
    code = code_of(protected, clock["is"])
    first, second = Client(), Client()
    first.post(sign_in(first, "ben"), {"code": code})
    second.post(sign_in(second, "ben"), {"code": code})
    assert is_in(first) and not is_in(second)


def test_t13_codes_are_not_tried_through(protected, clock):
    clock["is"] += 30
    client = Client()
    address = sign_in(client, "ben")
    for guess in range(20):
        client.post(address, {"code": f"{guess:06}"})
    client.post(address, {"code": code_of(protected, clock["is"])})
    assert not is_in(client)


def test_t13_a_recovery_code_lets_one_in_once(ben):
    client = Client()
    sign_in(client, "ben")
    set_one(client)
    codes = client.get(CODES + "download/").content.decode().split()
    assert len(codes) == 10
    for expected in (True, False):
        other = Client()
        other.post(sign_in(other, "ben"), {"code": codes[0]})
        assert is_in(other) is expected


def test_t13_the_secret_lies_sealed_in_the_database(protected):
    kept = str(Authenticator.objects.get(type="totp").data)
    assert protected not in kept and len(kept) > 100


def test_t13_who_sits_at_an_open_session_is_asked_again(ben):
    client = signed_in(ben)
    assert client.get(ACTIVATE)["Location"].startswith("/account/reauthenticate/")
    page = client.get("/account/reauthenticate/?next=" + ACTIVATE)
    assertContains(page, "<h1>Confirm your identity</h1>")
    sent = {"password": "ben-s-word", "next": ACTIVATE}
    assert client.post("/account/reauthenticate/", sent)["Location"] == ACTIVATE


def test_t13_the_pages_stand_in_our_words_without_style_or_script(ben):
    client = Client()
    sign_in(client, "ben")
    say_again(client, "ben")
    page = client.get(ACTIVATE)
    assertContains(page, '<svg class="qr"')
    assertNotContains(page, "style=")
    set_one(client)
    assertContains(client.get("/account/second-factor/"), "10 recovery codes are left")
    for address in (CODES, CODES + "generate/", "/account/second-factor/totp/deactivate/"):
        assertContains(client.get(address), "<h1>")
    client.post("/account/second-factor/totp/deactivate/")
    assertContains(client.get("/account/second-factor/"), "Off. Any authenticator app")


WHO = [
    ("offered", {"is_staff": True}, False),
    ("staff", {"is_staff": True}, True),
    ("staff", {"can_organise": True}, False),
    ("organisers", {"is_staff": True}, True),
    ("organisers", {"can_organise": True}, True),
    ("organisers", {}, False),
]


@pytest.mark.parametrize(("asked", "powers", "must"), WHO)
def test_t13_the_site_says_of_whom_it_is_asked(settings, asked, powers, must):
    settings.SECOND_FACTOR = asked
    user = make_user("sue", **powers)
    client, program = Client(), Program(user)
    sign_in(client, "sue")
    assert client.get("/").status_code == (302 if must else 200)
    assert program.get("/api/v1/me").status_code == (403 if must else 200)
    assert client.get("/api/v1/tracks").status_code == (403 if must else 200)


def test_t13_a_co_organiser_organises_too(settings, track, ben):
    settings.SECOND_FACTOR = "organisers"
    assert signed_in(ben).get("/").status_code == 200
    track.benchmark.co_organisers.add(ben)
    assert signed_in(ben).get("/").status_code == 302


def test_t13_who_must_reaches_nothing_before_and_everything_after(settings):
    settings.SECOND_FACTOR = "staff"
    user = make_user("sue", is_staff=True)
    program, client = Program(user), Client()
    sign_in(client, "sue")
    for address in ("/account/", "/collections/new/", "/account/password/change/", "/nowhere/"):
        assert client.get(address)["Location"].startswith(ACTIVATE)
    assert client.post("/account/", {"name": "a", "scopes": ["read"]}).status_code == 302
    assert user.tokens.count() == 1
    say_again(client, "sue")
    assertContains(client.get(ACTIVATE + "?asked=1"), "This site requires a second factor.")
    set_one(client, "sue")
    assert is_in(client) and program.get("/api/v1/me").status_code == 200


def test_t13_who_must_does_not_take_it_away(settings):
    settings.SECOND_FACTOR = "staff"
    make_user("sue", is_staff=True)
    client = Client()
    sign_in(client, "sue")
    set_one(client, "sue")
    client.post("/account/second-factor/totp/deactivate/")
    assert Authenticator.objects.filter(type="totp").exists()


def test_t13_a_lost_phone_is_mended_on_the_server_alone(protected):
    call_command("forget_second_factor", "ben")
    client = Client()
    sign_in(client, "ben")
    assert is_in(client)
    with pytest.raises(CommandError, match="no second factor"):
        call_command("forget_second_factor", "ben")


def test_t13_there_is_no_other_door(client, db):
    for address in ("/admin/login/", "/django-admin/", "/accounts/login/"):
        assert client.get(address).status_code == 404
    assert client.get("/admin/")["Location"].startswith("/account/login/?")
