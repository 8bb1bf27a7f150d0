"""Single sign-on against a real provider: whom it signs in, and whom it must not."""

from __future__ import annotations

import logging
import re
import urllib.request
from html import unescape

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from cryptography.hazmat.primitives.asymmetric import rsa
from django.test import Client
from pytest_django.asserts import assertContains, assertNotContains

from leaderboard.models import User
from leaderboard.safeguards import find_insecure_settings
from tests.builders import make_user, signed_in
from tests.oidc_provider import CLIENT, SECRET, Provider, running_provider

DORA = {"email": "dora@example.org", "email_verified": True}


@pytest.fixture(scope="module")
def running():
    with running_provider() as provider:
        yield provider


@pytest.fixture
def provider(running: Provider, settings, db):
    running.__init__(running.url)
    app = {
        "provider_id": "oidc",
        "name": "Kitchen ID",
        "client_id": CLIENT,
        "secret": SECRET,
        "settings": {"server_url": running.url},
    }
    settings.OIDC_ISSUER, settings.OIDC_NAME = running.url, "Kitchen ID"
    settings.SOCIALACCOUNT_PROVIDERS = {
        "openid_connect": {"OAUTH_PKCE_ENABLED": True, "APPS": [app]}
    }
    return running


def go(client: Client, address: str = "/account/single-sign-on/", **sent: str):
    """Press the button, follow the page to the provider, and come back with its answer."""
    return client.get(come_back(client, address, **sent), follow=True)


def come_back(client: Client, address: str, **sent: str) -> str:
    page = client.post(address, sent, follow=True)
    if page.request["PATH_INFO"] == "/account/reauthenticate/":
        words = {"password": "ben-s-word", "next": address}
        page = client.post("/account/reauthenticate/", words, follow=True)
    page = page.content.decode()
    there = unescape(re.search('http-equiv="refresh" content="0; url=([^"]*)"', page)[1])
    return ask(there).removeprefix("http://testserver")


def ask(url: str) -> str:
    """Return where the provider sends a browser."""

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *args):
            return None

    try:
        urllib.request.build_opener(Stay).open(url, timeout=5)
    except urllib.error.HTTPError as answer:
        return answer.headers["Location"]
    raise AssertionError("the provider did not redirect")


def who(client: Client) -> str:
    """Return who is signed in."""
    page = client.get("/account/data.json")
    return page.json()["account"]["username"] if page.status_code == 200 else ""


def test_without_a_provider_there_is_no_button_and_no_way(client, db):
    assertNotContains(client.get("/account/login/"), "single-sign-on")
    assert client.post("/account/single-sign-on/").status_code == 404
    assert client.get("/account/single-sign-on/answer/?code=a&state=b").status_code == 404


def test_a_new_person_gets_an_account_and_next_time_the_same(client, provider):
    assertContains(client.get("/account/login/"), "Kitchen ID")
    provider.person |= DORA
    go(client)
    assert who(client) == "dora" and not User.objects.get().has_usable_password()
    again = Client()
    go(again)
    assert who(again) == "dora" and User.objects.count() == 1


def test_one_comes_to_the_page_that_asked(client, provider):
    page = go(client, next="/account/")
    assert page.request["PATH_INFO"] == "/account/"


def test_nobody_is_led_to_a_stranger_s_site(client, provider):
    page = go(client, next="https://evil.example/")
    assert page.redirect_chain[-1][0] == "/"


def test_only_a_confirmed_address_is_kept(client, provider):
    provider.person |= {"email": "dora@example.org", "email_verified": "false"}
    go(client)
    assert who(client) == "dora" and not EmailAddress.objects.exists()
    assert User.objects.get().email == ""


def test_an_address_in_two_answers_counts_as_confirmed_only_where_it_is_named(client, provider):
    provider.claims |= {"email": "dora@example.org", "email_verified": True}
    provider.says_instead |= {"email": "ben@example.org"}
    go(client)
    assert who(client) == "dora" and not EmailAddress.objects.exists()


def test_an_address_never_becomes_the_name_that_boards_show(client, provider):
    provider.person |= {"preferred_username": "dora@example.org"}
    go(client)
    assert who(client) == "dora"


def test_a_name_that_is_taken_or_reserved_is_changed(client, provider):
    make_user("dora")
    go(client)
    assert who(client) not in ("dora", "") and User.objects.count() == 2
    provider.person = {"sub": "other", "preferred_username": "admin"}
    go(client)
    assert who(client) not in ("admin", "")


def with_address(name: str, verified: bool, **fields: object) -> User:
    user = make_user(name, email=DORA["email"], **fields)
    EmailAddress.objects.create(user=user, email=DORA["email"], verified=verified, primary=True)
    return user


def test_an_account_with_the_address_is_not_taken_over(client, provider):
    with_address("ben", verified=True)
    provider.person |= DORA
    assertContains(go(client), "You already have an account", status_code=409)
    assert who(client) == "" and not SocialAccount.objects.exists()


def test_confirmed_addresses_join_where_the_operator_says_so(client, provider, settings):
    settings.OIDC_JOINS_BY_EMAIL = True
    with_address("ben", verified=True)
    provider.person |= DORA
    go(client)
    assert who(client) == "ben" and SocialAccount.objects.get().user.username == "ben"
    assert User.objects.get().has_usable_password()


@pytest.mark.parametrize("confirmed_there", [True, False])
def test_an_unconfirmed_address_never_joins(client, provider, settings, confirmed_there):
    settings.OIDC_JOINS_BY_EMAIL = True
    with_address("ben", verified=not confirmed_there)
    provider.person |= {**DORA, "email_verified": confirmed_there}
    go(client)
    assert who(client) == "dora" and not EmailAddress.objects.filter(user__username="dora").exists()


def test_staff_do_not_join_by_address(client, provider, settings):
    settings.OIDC_JOINS_BY_EMAIL = True
    with_address("sue", verified=True, is_staff=True)
    provider.person |= DORA
    assert go(client).status_code == 409 and who(client) == ""


def test_a_user_connects_with_the_password_and_disconnects(client, provider):
    make_user("ben")
    client.post("/account/login/", {"login": "ben", "password": "ben-s-word"})
    assertContains(go(client, "/account/single-sign-on/join/"), "Connected with")
    other = Client()
    go(other)
    assert who(other) == "ben"
    client.post("/account/single-sign-on/leave/")
    assert not SocialAccount.objects.exists()


def test_connecting_asks_for_the_password_of_an_old_session(provider):
    page = signed_in(make_user("ben")).post("/account/single-sign-on/join/")
    assert page["Location"].startswith("/account/reauthenticate/")


def test_a_person_of_another_account_is_not_connected_twice(client, provider):
    go(client)
    make_user("ben")
    as_ben = Client()
    as_ben.post("/account/login/", {"login": "ben", "password": "ben-s-word"})
    assertContains(go(as_ben, "/account/single-sign-on/join/"), "Another account here")
    assert SocialAccount.objects.get().user.username == "dora"


def test_without_a_password_the_connection_stays_until_one_is_set(client, provider):
    go(client)
    page = client.post("/account/single-sign-on/leave/", follow=True)
    assertContains(page, "Set a password first")
    words = {"password1": "eleven loaves", "password2": "eleven loaves"}
    assertContains(client.get("/account/password/set/"), "The new password")
    client.post("/account/password/set/", words)
    client.post("/account/reauthenticate/", {"password": "eleven loaves"})
    client.post("/account/single-sign-on/leave/")
    assert not SocialAccount.objects.exists()


def forge_key(provider: Provider) -> None:
    provider.signs_with = rsa.generate_private_key(public_exponent=65537, key_size=2048)


def sign_with_secret(provider: Provider) -> None:
    provider.signs_with, provider.algorithm = "s" * 32, "HS256"


def sign_not_at_all(provider: Provider) -> None:
    provider.signs_with, provider.algorithm = None, "none"


FORGERIES = {
    "another key": forge_key,
    "a secret": sign_with_secret,
    "no signature": sign_not_at_all,
    "another issuer": lambda provider: provider.claims.update(iss="http://evil.example"),
    "another client": lambda provider: provider.claims.update(aud="other"),
    "too old": lambda provider: provider.claims.update(exp=1),
    "two people": lambda provider: provider.says_instead.update(sub="ben"),
    "no subject": lambda provider: provider.claims.update(sub=""),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_answer_signs_nobody_in(client, provider, forgery, caplog):
    FORGERIES[forgery](provider)
    with caplog.at_level(logging.WARNING):
        assertContains(go(client), "Not signed in", status_code=401)
    assert who(client) == "" and not User.objects.exists()
    assert "single sign-on failed" in caplog.text and "eyJ" not in caplog.text


def test_a_code_serves_once_and_only_in_the_session_that_asked(client, provider):
    answer = come_back(client, "/account/single-sign-on/")
    stranger = Client()
    assert stranger.get(answer).status_code == 401 and who(stranger) == ""
    assert client.get(answer).status_code == 302
    assert Client().get(answer).status_code == 401


def test_a_cancelled_sign_in_says_so(client, provider):
    provider.refuses = True
    assertContains(go(client), "You cancelled")


def test_a_provider_that_is_away_leaves_passwords(client, provider, settings):
    apps = settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"]
    apps[0]["settings"] = {"server_url": "http://127.0.0.1:9"}
    page = client.post("/account/single-sign-on/")
    assertContains(page, "does not answer", status_code=503)


def test_new_accounts_can_be_switched_off(client, provider, settings):
    settings.OIDC_SIGNUP = False
    assertContains(go(client), "Sign-up is closed")
    assert not User.objects.exists()


def test_closed_sign_up_by_password_leaves_single_sign_on_open(client, provider, settings):
    settings.SIGNUP_OPEN = False
    go(client)
    assert who(client) == "dora"


def test_an_inactive_account_stays_out(client, provider):
    go(client)
    User.objects.update(is_active=False)
    go(again := Client())
    assert who(again) == ""


def test_a_deleted_account_leaves_no_way_in(client, provider):
    go(client)
    client.post("/account/delete/", {"name": "dora"})
    assert not SocialAccount.objects.exists()
    go(again := Client())
    assert who(again) == "dora" and User.objects.count() == 2


def test_the_data_of_an_account_name_the_connection(client, provider):
    go(client)
    [row] = client.get("/account/data.json").json()["single_sign_on"]
    assert row["subject"] == "dora-7"


def test_a_provider_without_https_is_refused(settings):
    settings.OIDC_ISSUER = "http://id.example.org"
    assert "rankfield.E004" in [found[0] for found in find_insecure_settings()]
