"""T11, T12 and T14: passwords are not guessed, no other page acts, a token is worth little."""

from __future__ import annotations

import re
import sqlite3
from datetime import timedelta
from itertools import product

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.utils import timezone

from leaderboard.models import ApiToken, User
from tests.api.conftest import Program
from tests.builders import make_user, signed_in
from tests.pages.test_matrix import ACTS

pytestmark = pytest.mark.long

TRIES = 50


@pytest.fixture(autouse=True)
def nothing_counted_yet(db) -> None:
    cache.clear()


def guesses(name: str, tries: int = TRIES, **headers: str) -> list[int]:
    client = Client()
    sent = [{"login": name, "password": f"guess {n}"} for n in range(tries)]
    return [
        client.post(
            "/account/login/", each, headers={k.replace("_", "-"): v for k, v in headers.items()}
        ).status_code
        for each in sent
    ]


def can_sign_in(name: str) -> bool:
    answer = Client().post("/account/login/", {"login": name, "password": f"{name}-s-word"})
    return answer.status_code == 302


@pytest.mark.parametrize(
    "powers", [{}, {"can_organise": True}, {"is_staff": True}, {"is_superuser": True}]
)
def test_t11_fifty_guesses_are_not_looked_at(powers):
    make_user("ben", **powers)
    assert can_sign_in("ben")
    answers = guesses("ben")
    assert answers[-1] == 429 or "Too many" in last_words("ben")
    # The right word is one guess more, and is not looked at either.
    assert not can_sign_in("ben")


def last_words(name: str) -> str:
    page = Client().post("/account/login/", {"login": name, "password": "no"})
    return page.content.decode()


def test_t11_another_address_in_the_header_is_no_other_guesser(ben):
    client = Client()
    for n in range(TRIES):
        sent = {"login": f"user{n}", "password": "no"}
        # Not one name often, but many once: it is the address that is counted.
        answer = client.post("/account/login/", sent, headers={"X-Forwarded-For": f"203.0.113.{n}"})
    assert answer.status_code == 429 or "Too many" in answer.content.decode()


def test_t11_behind_a_proxy_the_address_that_it_wrote_is_counted(settings, ben):
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    for n in range(TRIES):
        forged = {"X-Forwarded-For": f"203.0.113.{n}, 198.51.100.7"}
        sent = {"login": f"user{n}", "password": "no"}
        Client().post("/account/login/", sent, headers=forged)
    right = {"login": "ben", "password": "ben-s-word"}
    theirs = Client().post("/account/login/", right, headers={"X-Forwarded-For": "198.51.100.7"})
    others = Client().post("/account/login/", right, headers={"X-Forwarded-For": "198.51.100.8"})
    assert theirs.status_code != 302 and others.status_code == 302


def test_t11_whether_there_is_such_a_name_is_not_told(ben, settings, mailoutbox):
    settings.EMAIL_HOST = "mail.example.org"
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    User.objects.filter(pk=ben.pk).update(email="ben@example.org")
    for form in (
        {"login": "{}", "password": "no"},
        {"email": "{}@example.org"},
    ):
        address = "/account/login/" if "login" in form else "/account/password/reset/"
        said = []
        for name in ("ben", "nobody"):
            sent = {field: word.format(name) for field, word in form.items()}
            answer = Client().post(address, sent)
            said.append(
                (answer.status_code, answer.headers.get("Location"), anonymous(answer, name))
            )
        assert said[0] == said[1]


def anonymous(answer, name: str) -> str:
    text = re.sub(rf"\b{name}\b", "NAME", answer.content.decode())
    return re.sub(r'value="\w{64}"|[\d.]+ m?s\b', "~", text)


def test_t11_a_guessed_token_opens_nothing_and_the_table_holds_none(ben):
    _, secret = ApiToken.objects.issue(ben, ["read"])
    assert len(secret) > 40
    for guess in (secret[:-1], secret.upper(), secret[:8], "", "rf_", secret + "\0"):
        client = Client()
        answer = client.get("/api/v1/me", headers={"Authorization": f"Bearer {guess}"})
        assert answer.status_code == 401


def test_t12_no_act_is_done_for_a_page_elsewhere(track, ada):
    client = Client(enforce_csrf_checks=True)
    client.force_login(ada)
    # Programs of email send this one without a session: the signed address is the right to it.
    acts = [act for name, act in ACTS.items() if name != "unsubscribe"]
    addresses = [re.sub(r"\{\w+\}", "1", act.address) for act in acts]
    elsewhere = [{}, {"Origin": "https://evil.example"}, {"Referer": "https://evil.example/"}]
    assert not [
        (address, headers)
        for address, headers in product(addresses, elsewhere)
        if client.post(address, headers=headers).status_code != 403
    ]


def test_t12_the_cookie_of_a_browser_changes_nothing_by_the_api(track, ben):
    client = signed_in(ben)
    for method, address in (
        ("post", "/api/v1/tracks/bread/runs"),
        ("post", "/api/v1/tracks"),
        ("patch", "/api/v1/tracks/bread"),
        ("delete", "/api/v1/runs/a"),
    ):
        assert getattr(client, method)(address).status_code == 401


@pytest.mark.parametrize(
    "next", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"]
)
def test_t12_signing_in_leads_to_no_other_site(ben, next):
    sent = {"login": "ben", "password": "ben-s-word", "next": next}
    assert Client().post("/account/login/", sent)["Location"] == "/"


def test_t12_a_new_session_begins_with_signing_in_and_ends_with_the_password(ben):
    client, other = Client(), signed_in(ben)
    client.get("/account/login/")
    client.cookies["sessionid"] = "fixedbysomebodyelse00000000000000"
    client.post("/account/login/", {"login": "ben", "password": "ben-s-word"})
    assert client.cookies["sessionid"].value != "fixedbysomebodyelse00000000000000"
    ben.set_password("another word of ben")
    ben.save()
    assert other.get("/account/").status_code == 302


def test_t14_the_database_holds_no_secret_of_a_token(ben, tmp_path):
    _, secret = ApiToken.objects.issue(ben, ["read"])
    assert secret not in dumped() and secret[8:] not in dumped()


def dumped() -> str:
    """Every text in the database."""
    connection.ensure_connection()
    raw: sqlite3.Connection = connection.connection
    return "\n".join(raw.iterdump())


@pytest.mark.parametrize("where", ["?token={}", "?access_token={}", "?authorization=Bearer%20{}"])
def test_t14_a_token_in_an_address_is_none(ben, where):
    _, secret = ApiToken.objects.issue(ben, ["read"])
    assert Client().get("/api/v1/me" + where.format(secret)).status_code == 401


def test_t14_a_revoked_token_is_dead_at_once(ben):
    program = Program(ben)
    assert program.get("/api/v1/me").status_code == 200
    signed_in(ben).post(f"/account/tokens/{program.token.pk}/revoke/")
    assert program.get("/api/v1/me").status_code == 401


@pytest.mark.parametrize("change", ["expires", "leaves"])
def test_t14_a_token_ends_with_its_time_and_its_user(ben, change):
    program = Program(ben)
    if change == "expires":
        ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    else:
        User.objects.update(is_active=False)
    assert program.get("/api/v1/me").status_code == 401


def test_t14_a_token_is_shown_once_and_kept_in_no_cache(ben):
    client = signed_in(ben)
    page = client.post("/account/", {"name": "nightly", "scopes": ["read"], "days": 90})
    secret = page.context["secret"]
    assert secret not in client.get("/account/").content.decode()
    assert "no-store" in page["Cache-Control"]
