"""Sign-in by the headers of a trusted proxy, and headers that anybody else sends."""

from __future__ import annotations

from ipaddress import ip_network

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.test import Client
from pytest_django.asserts import assertContains, assertNotContains, assertRedirects

from leaderboard.actions.people import create_team
from leaderboard.models import AuditEvent, Membership, User
from leaderboard.safeguards import find_insecure_settings
from tests.builders import make_user, signed_in

SIGN_IN = "/account/single-sign-on/proxy/"
DORA = {"Remote-User": "dora"}


@pytest.fixture
def proxy(settings, db):
    settings.PROXY_USER_HEADER, settings.PROXY_EMAIL_HEADER = "Remote-User", "Remote-Email"
    settings.PROXY_FULL_NAME_HEADER, settings.PROXY_GROUPS_HEADER = "Remote-Name", "Remote-Groups"
    settings.PROXY_ADDRESSES = [ip_network("127.0.0.1"), ip_network("10.2.0.0/16")]
    settings.PROXY_NAME = "Kitchen University"
    return settings


def who(client: Client) -> str:
    """Return who is signed in, asked without the headers."""
    page = client.get("/account/data.json")
    return page.json()["account"]["username"] if page.status_code == 200 else ""


def sign_in(client: Client, name: str = "dora", groups: str = "", **sent: str):
    headers = {"Remote-User": name, "Remote-Groups": groups, **sent}
    return client.get(SIGN_IN, headers=headers)


def test_without_the_setting_the_header_means_nothing(client, db):
    assertNotContains(client.get("/account/login/", headers=DORA), "single-sign-on")
    assert client.get(SIGN_IN, headers=DORA).status_code == 404
    assert client.get("/account/single-sign-on/signed-out/").status_code == 404
    assert client.get("/tracks/", headers=DORA).status_code == 200 and who(client) == ""


def test_a_new_person_gets_an_account_and_next_time_the_same(client, proxy):
    assertContains(client.get("/account/login/"), "Kitchen University")
    sign_in(client, **{"Remote-Email": "dora@example.org", "Remote-Name": "Dora D\u00c3\u00b6ring"})
    user = User.objects.get()
    assert who(client) == "dora" and not user.has_usable_password()
    assert user.display_name == "Dora D\u00f6ring"
    assert EmailAddress.objects.get().verified
    again = Client()
    sign_in(again)
    assert who(again) == "dora" and User.objects.count() == 1


def test_any_page_leads_through_the_sign_in_and_back(client, proxy):
    page = client.get("/tracks/?q=rye", headers=DORA, follow=True)
    assert page.redirect_chain == [
        (f"{SIGN_IN}?next=%2Ftracks%2F%3Fq%3Drye", 302),
        ("/tracks/?q=rye", 302),
    ]
    assert who(client) == "dora"


@pytest.mark.parametrize("address", ["203.0.113.9", "10.3.0.1", "::1", "", "not-an-address"])
def test_a_header_from_anywhere_else_is_ignored_and_logged(client, proxy, caplog, address):
    for page in ("/tracks/", SIGN_IN):
        client.get(page, headers=DORA, REMOTE_ADDR=address)
    assert not User.objects.exists() and who(client) == ""
    assert f"ignored a Remote-User from {address or 'a socket'}" in caplog.text
    assert "dora" not in caplog.text


def test_an_address_that_a_client_writes_of_itself_is_not_believed(client, proxy):
    forged = {**DORA, "X-Forwarded-For": "127.0.0.1", "X-Real-Ip": "127.0.0.1"}
    proxy.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    assert client.get(SIGN_IN, headers=forged, REMOTE_ADDR="203.0.113.9").status_code == 401
    assert not User.objects.exists()


@pytest.mark.parametrize("address", ["10.2.7.7", "::ffff:10.2.7.7"])
def test_a_network_of_proxies_is_trusted(client, proxy, address):
    client.get(SIGN_IN, headers=DORA, REMOTE_ADDR=address)
    assert who(client) == "dora"


@pytest.mark.parametrize("name", ["admin, dora", "admin,dora", "do\u00adra", "d" * 192, " "])
def test_a_header_that_is_not_one_name_signs_nobody_in(client, proxy, name):
    assert sign_in(client, name).status_code == 401
    assert not User.objects.exists()


def test_a_reserved_or_taken_name_is_changed_and_never_taken_over(client, proxy):
    make_user("dora", is_staff=True)
    sign_in(client)
    assert who(client) not in ("dora", "") and not User.objects.get(is_staff=False).is_staff
    other = Client()
    sign_in(other, "admin")
    assert who(other) not in ("admin", "")


def test_programs_and_files_are_led_nowhere(client, proxy):
    assert client.get("/api/v1/tracks", headers=DORA).status_code == 200
    assert client.get("/healthz", headers=DORA).status_code == 200
    assert client.get("/api/v1/me", headers=DORA).status_code == 401


def test_a_session_ends_with_its_person(client, proxy):
    sign_in(client)
    client.get("/tracks/", headers={"Remote-User": "emil"}, follow=True)
    assert who(client) == "emil"


def test_a_session_with_a_password_stays(proxy):
    client = signed_in(make_user("ben"))
    assert client.get("/tracks/", headers=DORA).status_code == 200
    assert who(client) == "ben" and not SocialAccount.objects.exists()


def test_nobody_is_led_to_a_stranger_s_site(client, proxy):
    assertRedirects(client.get(f"{SIGN_IN}?next=https://evil.example/", headers=DORA), "/")


def test_an_account_with_the_address_is_not_taken_over(client, proxy):
    user = make_user("ben", email="dora@example.org")
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    page = sign_in(client, **{"Remote-Email": "dora@example.org"})
    assertContains(page, "Kitchen University</bdi> on your account page", status_code=409)
    proxy.PROXY_JOINS_BY_EMAIL = True
    sign_in(client, **{"Remote-Email": "dora@example.org"})
    assert who(client) == "ben"


def test_where_accounts_are_not_created_only_known_people_come_in(client, proxy):
    proxy.PROXY_SIGNUP = False
    sign_in(client)
    assert who(client) == "" and not User.objects.exists()


def test_a_disabled_account_stays_outside(client, proxy):
    sign_in(client)
    User.objects.update(is_active=False)
    again = Client()
    sign_in(again, groups="editors")
    assert who(again) == ""


def test_a_user_connects_and_disconnects(client, proxy):
    make_user("ben")
    client.post("/account/login/", {"login": "ben", "password": "ben-s-word"})
    client.post("/account/single-sign-on/proxy/join/", headers=DORA)
    again = {"password": "ben-s-word", "next": "/account/single-sign-on/proxy/join/"}
    client.post("/account/reauthenticate/", again, headers=DORA, follow=True)
    assertContains(client.get("/account/"), "Connected with")
    other = Client()
    sign_in(other)
    assert who(other) == "ben"
    client.post("/account/single-sign-on/leave/", {"provider": "proxy"})
    assert not SocialAccount.objects.exists()


def test_after_signing_out_the_page_leads_to_the_proxy(client, proxy):
    proxy.PROXY_SIGN_OUT = "/oauth2/sign_out"
    sign_in(client)
    page = client.post("/account/logout/", headers=DORA, follow=True)
    assertContains(page, 'href="/oauth2/sign_out"')
    assert who(client) == ""


def test_a_group_gives_the_right_to_organise_and_its_end_takes_it(client, proxy):
    proxy.PROXY_GROUPS = [("editors", "organise")]
    sign_in(client, groups="staff, editors")
    assert User.objects.get().can_organise
    client.get("/tracks/", headers={**DORA, "Remote-Groups": "staff"}, follow=True)
    assert not User.objects.get().can_organise
    acts = list(AuditEvent.objects.order_by("pk").values_list("act", "actor"))
    assert acts == [("let organise", None), ("stop organising", None)]


def test_groups_are_not_believed_from_anywhere_else(client, proxy):
    proxy.PROXY_GROUPS = [("editors", "organise")]
    sign_in(client)
    forged = {**DORA, "Remote-Groups": "editors"}
    client.get(SIGN_IN, headers=forged, REMOTE_ADDR="203.0.113.9")
    assert not User.objects.get().can_organise


def teams_of(name: str) -> list[str]:
    return list(Membership.objects.filter(user__username=name).values_list("team__name", flat=True))


def test_a_group_is_a_team_of_a_benchmark(client, proxy, track):
    proxy.PROXY_GROUPS = [("lab", f"{track.benchmark.slug}/Crumbs")]
    sign_in(client, groups="lab")
    other = Client()
    sign_in(other, "emil", groups="lab")
    assert teams_of("dora") == teams_of("emil") == ["Crumbs"]
    sign_in(other, "emil", groups="")
    assert teams_of("emil") == []
    assert Membership.objects.get(user__username="dora").accepted_terms_at is None


def test_a_team_that_no_group_gives_stays(client, proxy, track):
    proxy.PROXY_GROUPS = [("lab", f"{track.benchmark.slug}/Crumbs")]
    sign_in(client)
    create_team(track.benchmark, User.objects.get(username="dora"), "Loaves")
    sign_in(client, groups="lab")
    assert teams_of("dora") == ["Loaves"]


def test_the_only_leader_of_a_team_stays_in_it(client, proxy, track, caplog):
    proxy.PROXY_GROUPS = [("lab", f"{track.benchmark.slug}/Crumbs")]
    sign_in(client, groups="lab")
    sign_in(client, groups="")
    assert teams_of("dora") == ["Crumbs"] and "someone else a leader" in caplog.text


def test_a_group_of_a_benchmark_that_is_not_there_is_logged(client, proxy, caplog):
    proxy.PROXY_GROUPS = [("lab", "nowhere/Crumbs")]
    sign_in(client, groups="lab")
    assert who(client) == "dora" and "nowhere, which does not exist" in caplog.text


@pytest.mark.parametrize("networks", [[], [ip_network("0.0.0.0/0")], [ip_network("::/0")]])
def test_a_site_that_trusts_every_address_does_not_start(proxy, networks):
    proxy.PROXY_ADDRESSES = networks
    assert "rankfield.E005" in [found[0] for found in find_insecure_settings()]


def test_a_group_that_gives_nothing_known_is_refused(proxy):
    proxy.PROXY_GROUPS = [("lab", "admin"), ("staff", "organise"), ("crew", "harbours/Crumbs")]
    assert [each[0] for each in find_insecure_settings()] == ["rankfield.E006"]
