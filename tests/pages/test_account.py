"""Accounts and tokens; pages that are not there; the search."""

import re
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from django.test import Client
from django.utils import timezone
from pytest_django.asserts import assertContains, assertNotContains

from leaderboard.models import ApiToken, Benchmark, Track, User
from tests.builders import make_run, make_track
from tests.pages.reading import num_queries

PASSWORD = "eleven loaves"
NIGHTLY = {"name": "nightly", "scopes": ["read", "submit"], "days": 90}
NEW_PASSWORD = {"oldpassword": "ben-s-word", "password1": PASSWORD, "password2": PASSWORD}


def sign_up(client: Client, **fields: str):
    sent = {"username": "dora", "password1": PASSWORD, "password2": PASSWORD}
    return client.post("/account/signup/", {**sent, **fields})


@pytest.fixture(autouse=True)
def tables(db):
    """Every page here asks who is signed in."""


def test_a_name_and_a_password_make_an_account(client):
    assert sign_up(client)["Location"] == "/"
    assertContains(client.get("/"), "<bdi>dora</bdi>")


def test_the_fields_have_labels_and_no_words_inside(client):
    page = client.get("/account/signup/")
    assertContains(page, '<label for="id_username">Name</label>', html=True)
    assertContains(page, "At least 8 characters")
    assertNotContains(page, 'placeholder="Username"')


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("password1", "short"),
        ("password2", "another one"),
        ("username", "admin"),
        ("username", "ben"),
    ],
)
def test_what_is_wrong_with_an_account_is_said_at_its_field(client, ben, field, value):
    page = sign_up(client, **{field: value})
    assertContains(page, 'aria-invalid="true"')
    assertNotContains(page, PASSWORD)
    assert not User.objects.filter(username="dora").exists()


def test_where_accounts_are_made_by_hand_nobody_signs_up(client, settings):
    settings.SIGNUP_OPEN = False
    assertContains(client.get("/account/signup/"), "Sign-up is closed")
    sign_up(client)
    assert not User.objects.exists()
    assertNotContains(client.get("/account/login/"), "Create an account")


def test_one_signs_in_and_comes_to_the_page_that_asked(client, ben):
    page = client.post(
        "/account/login/", {"login": "ben", "password": "ben-s-word", "next": "/account/"}
    )
    assert page["Location"] == "/account/"
    assertNotContains(client.get("/account/"), "Successfully")


def test_a_wrong_password_is_said_and_not_which_part_is_wrong(client, ben):
    wrong = client.post("/account/login/", {"login": "ben", "password": "no"})
    unknown = client.post("/account/login/", {"login": "nobody", "password": "no"})
    said = "The username and/or password you specified are not correct."
    assertContains(wrong, said)
    assertContains(unknown, said)


def test_one_is_not_led_to_another_site(client, ben):
    page = client.post(
        "/account/login/",
        {"login": "ben", "password": "ben-s-word", "next": "https://example.org/"},
    )
    assert page["Location"] == "/"


def test_signing_out_is_an_act(as_ben):
    as_ben.get("/account/logout/")
    assert as_ben.get("/account/").status_code == 200
    as_ben.post("/account/logout/")
    assert as_ben.get("/account/").status_code == 302


def test_the_password_is_changed_by_whoever_knows_the_old_one(as_ben, ben):
    new = {"password1": PASSWORD, "password2": PASSWORD}
    as_ben.post("/account/password/change/", {"oldpassword": "no", **new})
    as_ben.post("/account/password/change/", {"oldpassword": "ben-s-word", **new})
    ben.refresh_from_db()
    assert ben.check_password(PASSWORD)


def test_without_mail_no_link_is_promised(client, settings):
    assertNotContains(client.get("/account/login/"), "Forgot")
    assertContains(client.get("/account/password/reset/"), "This site cannot send email.")
    settings.EMAIL_HOST = "mail.example.org"
    assertContains(client.get("/account/password/reset/"), "Send reset link")


def test_the_account_is_ones_own(client, as_ben, track, ben):
    make_run(track, ben)
    assertContains(as_ben.get("/account/"), 'href="/benchmarks/bread/runs/"')
    assert client.get("/account/").status_code == 302


def test_the_secret_of_a_token_shows_once(as_ben):
    page = as_ben.post("/account/", NIGHTLY)
    secret = page.context["secret"]
    assertContains(page, secret)
    assert ApiToken.objects.find(secret).scopes == ["read", "submit"]
    assertNotContains(as_ben.get("/account/"), secret)


def test_a_token_may_not_do_more_than_its_user(as_ben, settings):
    settings.EVERYONE_ORGANISES = False
    assertContains(
        as_ben.post("/account/", {"scopes": ["organise"]}), 'id="id_scopes_error"', status_code=422
    )
    assert not ApiToken.objects.exists()


def test_a_revoked_token_is_gone(as_ben, ben):
    token, secret = ApiToken.objects.issue(ben, ["read"], "nightly")
    assertContains(as_ben.get("/account/"), "Revoke nightly")
    as_ben.post(f"/account/tokens/{token.pk}/revoke/")
    assert ApiToken.objects.find(secret) is None
    assertNotContains(as_ben.get("/account/"), "nightly")


def test_a_token_of_the_page_expires_in_90_days_unless_another_time_is_chosen(as_ben):
    page = as_ben.get("/account/")
    assertContains(page, '<option value="90" selected>in 90 days</option>', html=True)
    as_ben.post("/account/", NIGHTLY)
    left = ApiToken.objects.get().expires_at - timezone.now()
    assert timedelta(days=89) < left <= timedelta(days=90)
    assertContains(as_ben.get("/account/"), "in 89 days")


def test_a_token_of_the_page_cannot_last_for_ever(as_ben):
    for days in ("", "0", "36500"):
        assert as_ben.post("/account/", {**NIGHTLY, "days": days}).status_code == 422
    assert not ApiToken.objects.exists()


def test_all_tokens_of_a_user_are_revoked_at_once(as_ben, ben, cat):
    assertNotContains(as_ben.get("/account/"), "Revoke all tokens")
    secrets = [ApiToken.objects.issue(user, ["read"])[1] for user in (ben, ben, cat)]
    assertContains(as_ben.get("/account/"), "Revoke all tokens")
    assertContains(as_ben.post("/account/tokens/revoke/", follow=True), "All tokens revoked.")
    assert [bool(ApiToken.objects.find(each)) for each in secrets] == [False, False, True]


@pytest.mark.parametrize("revokes", [True, False])
def test_a_changed_password_offers_to_revoke_the_tokens(as_ben, ben, revokes):
    assertNotContains(as_ben.get("/account/password/change/"), "revokes_tokens")
    _, secret = ApiToken.objects.issue(ben, ["read"])
    assertContains(as_ben.get("/account/password/change/"), "Also revoke all my tokens")
    sent = {**NEW_PASSWORD, "revokes_tokens": "on"} if revokes else NEW_PASSWORD
    as_ben.post("/account/password/change/", sent)
    assert bool(ApiToken.objects.find(secret)) is not revokes


def test_a_wrong_old_password_revokes_no_token(as_ben, ben):
    _, secret = ApiToken.objects.issue(ben, ["read"])
    sent = {**NEW_PASSWORD, "oldpassword": "no", "revokes_tokens": "on"}
    as_ben.post("/account/password/change/", sent)
    assert ApiToken.objects.find(secret)


def test_a_password_that_is_set_by_mail_offers_it_too(client, ben, settings, mailoutbox):
    settings.EMAIL_HOST = "mail.example.org"
    EmailAddress.objects.create(user=ben, email="ben@example.org", verified=True, primary=True)
    _, secret = ApiToken.objects.issue(ben, ["read"])
    client.post("/account/password/reset/", {"email": "ben@example.org"})
    link = re.search(r"/account/password/reset/key/\S+", mailoutbox[0].body)[0]
    page = client.get(link, follow=True)
    assertContains(page, "Also revoke all my tokens")
    sent = {"password1": PASSWORD, "password2": PASSWORD, "revokes_tokens": "on"}
    client.post(page.request["PATH_INFO"], sent)
    assert ApiToken.objects.find(secret) is None


def test_the_token_of_another_is_not_there(as_cat, ben):
    token, secret = ApiToken.objects.issue(ben, ["read"])
    assert as_cat.post(f"/account/tokens/{token.pk}/revoke/").status_code == 404
    assert ApiToken.objects.find(secret)
    assert as_cat.get(f"/account/tokens/{token.pk}/revoke/").status_code == 405


def test_a_page_that_is_not_there_leads_on(client, as_ben):
    page = client.get("/nothing/here/")
    assertContains(page, 'href="/account/login/?next=/nothing/here/"', status_code=404)
    assertContains(
        as_ben.get("/nothing/here/"), "your account does not have access", status_code=404
    )


def test_what_is_forbidden_reads_as_what_is_not_there(track, as_ben):
    forbidden = as_ben.get("/benchmarks/bread/manage/")
    assertContains(forbidden, "Page not found", status_code=403)


def test_a_form_that_was_not_ours_is_answered_in_our_words(ben):
    client = Client(enforce_csrf_checks=True)
    page = client.post("/account/login/", {"login": "ben", "password": "ben-s-word"})
    assertContains(page, "Form not sent", status_code=403)


def test_a_failure_of_ours_has_a_page(ben, monkeypatch):
    monkeypatch.setattr("leaderboard.pages.views.site.measure_families", lambda: 1 / 0)
    page = Client(raise_request_exception=False).get("/measures/")
    assertContains(page, "Something went wrong", status_code=500)


def test_a_run_is_found_by_its_tag_where_it_may_be_seen(track, blind_track, ben, as_cat, as_ben):
    make_run(track, ben)
    hidden = make_run(blind_track, ben)
    assertContains(as_cat.get("/search/?q=BM25"), "ben-bm25")
    assertNotContains(as_cat.get("/search/?q=BM25"), hidden.pk)
    assertContains(as_ben.get("/search/?q=BM25"), hidden.pk)


def test_the_search_asks_no_more_of_the_database_for_more_tracks(collection, ben, client):
    make_run(make_track(collection, "bread"), ben)
    asked = num_queries(client, "/search/?q=bm25")
    for number in range(5):
        make_track(collection, f"bread-{number}", pseudonyms=True)
    assert num_queries(client, "/search/?q=bm25") == asked


@pytest.mark.parametrize("wanted", ["sourdough", "1"])
def test_a_topic_is_found_by_its_words_and_its_number(track, client, wanted):
    page = client.get("/search/", {"q": wanted})
    assertContains(page, 'href="/benchmarks/bread/topic/?number=1"')
    assertContains(page, "sourdough bread")


def test_a_topic_of_a_hidden_track_is_not_found(collection, client):
    make_track(collection, visibility="members")
    assertContains(client.get("/search/?q=sourdough"), "Nothing found")


@pytest.mark.parametrize("wanted", ["", " ", "\x00", "%", "<script>", "x" * 5000])
def test_any_text_may_be_searched(track, client, wanted):
    page = client.get("/search/", {"q": wanted})
    assert page.status_code == 200
    assertNotContains(page, "<script>x")
    assertNotContains(page, "sourdough")


def test_the_search_is_only_read(client):
    assert client.post("/search/").status_code == 405


def test_an_address_is_confirmed_before_mails_go_there(as_ben, ben, settings, mailoutbox):
    settings.EMAIL_HOST = "mail.example.org"
    as_ben.post("/account/email/", {"action_add": "", "email": "ben@example.org"})
    assertContains(as_ben.get("/account/"), "You have no confirmed email address")
    link = re.search(r"/account/confirm-email/\S+", mailoutbox[0].body)[0]
    assertContains(as_ben.get(link), "Confirm your email")
    assert as_ben.post(link)["Location"] == "/account/"
    assertContains(as_ben.get("/account/"), "Sent to <bdi>ben@example.org</bdi>")


def test_mails_are_switched_off_and_on(as_ben, ben, settings):
    settings.EMAIL_HOST = "mail.example.org"
    EmailAddress.objects.create(user=ben, email="ben@example.org", verified=True, primary=True)
    assertContains(as_ben.get("/account/"), 'name="mails" id="id_mails" checked')
    as_ben.post("/account/mails/")
    assertNotContains(as_ben.get("/account/"), 'id="id_mails" checked')


def test_a_site_without_mail_asks_for_no_address(as_ben):
    assertNotContains(as_ben.get("/account/"), "Email notices")
    assertContains(as_ben.get("/account/email/"), "This site cannot send email.")


def test_a_mail_server_that_is_away_keeps_nobody_from_an_account(client, settings):
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.ACCOUNT_EMAIL_VERIFICATION = "optional"
    sign_up(client, email="dora@example.org")
    assert client.get("/account/").status_code == 200


def test_a_profile_has_a_name_an_affiliation_and_an_orcid(ben, as_ben):
    form = {
        "display_name": "Ben Baker",
        "affiliation": "Mill University",
        "orcid": "https://orcid.org/0000-0002-1825-0097",
    }
    as_ben.post("/account/profile/", form)
    ben.refresh_from_db()
    assert (ben.display_name, ben.affiliation) == ("Ben Baker", "Mill University")
    assert ben.orcid == "0000-0002-1825-0097"
    assertContains(as_ben.get("/account/"), 'value="Ben Baker"')
    assert as_ben.get("/account/data.json").json()["account"]["orcid"] == ben.orcid


def test_a_wrong_orcid_is_said_and_nothing_is_saved(ben, as_ben):
    form = {"display_name": "Ben Baker", "orcid": "0000-0002-1825-0098"}
    page = as_ben.post("/account/profile/", form)
    assertContains(page, "has 16 digits", status_code=422)
    assertContains(page, 'value="Ben Baker"', status_code=422)
    ben.refresh_from_db()
    assert ben.get_full_name() == ""


def test_an_organiser_is_an_author_with_name_and_affiliation(track, ada, as_ada):
    form = {"display_name": "Ada Lind", "affiliation": "Coast College"}
    as_ada.post("/account/profile/", form)
    assertContains(as_ada.get("/benchmarks/bread/"), "Coast College")


def test_an_account_that_is_deleted_keeps_no_profile(ben, as_ben):
    form = {"display_name": "Ben Baker", "affiliation": "Mill", "orcid": "0000-0002-1825-0097"}
    as_ben.post("/account/profile/", form)
    as_ben.post("/account/delete/", {"name": "ben"})
    ben.refresh_from_db()
    assert (ben.get_full_name(), ben.affiliation, ben.orcid) == ("", "", "")


def test_the_address_stands_on_the_page_of_the_account(ben, as_ben):
    User.objects.filter(pk=ben.pk).update(email="ben@example.org")
    assertContains(as_ben.get("/account/"), "not confirmed")
    EmailAddress.objects.create(user=ben, email="ben@example.org", primary=True, verified=True)
    assertContains(as_ben.get("/account/"), "<bdi>ben@example.org</bdi>, confirmed")


@pytest.mark.parametrize("wanted", ["bread track", "BREAD"])
def test_tracks_and_collections_are_found_by_name(track, client, wanted):
    page = client.get("/search/", {"q": wanted})
    assertContains(page, '<a href="/benchmarks/bread/board/"><bdi>Bread track</bdi></a>')
    assertNotContains(page, "Nothing found")


def test_a_benchmark_is_found_by_name(ada, track, client):
    benchmark = Benchmark.objects.create(slug="meal", name="Whole meal", owner=ada)
    assertContains(client.get("/search/?q=whole+meal"), "Nothing found")
    Track.objects.update(benchmark=benchmark)
    Track.objects.create(
        slug="rye", name="Rye", benchmark=benchmark, collection=track.collection, is_draft=True
    )
    assertContains(client.get("/search/?q=whole+meal"), '<a href="/benchmarks/meal/board/">')


def test_a_team_is_found_where_its_name_is_shown(track, collection, cat, ben, client, as_cat):
    hidden = make_track(collection, slug="rye", pseudonyms=True)
    make_run(track, ben)
    make_run(hidden, ben)
    page = client.get("/search/?q=ben")
    assertContains(page, 'href="/benchmarks/bread/board/?team=')
    assertNotContains(page, 'href="/benchmarks/rye/board/?team=')


def test_a_team_of_a_blind_track_is_found_by_itself_alone(blind_track, ben, as_ben, as_cat):
    make_run(blind_track, ben)
    assertContains(as_ben.get("/search/?q=ben"), 'href="/benchmarks/blind/board/?team=')
    assertNotContains(as_cat.get("/search/?q=ben"), 'href="/benchmarks/blind/board/?team=')


def test_a_document_is_found_by_its_docno(track, client):
    # The host has an index of the documents once somebody opened one.
    client.get("/collections/bread/document/?docno=d1")
    page = client.get("/search/?q=d7")
    assertContains(page, 'href="/collections/bread/document/?docno=d7"')
    assertContains(client.get("/search/?q=d99"), "Nothing found")


def test_nothing_of_a_hidden_track_is_found(collection, ben, as_cat, as_ada):
    as_ada.get("/collections/bread/document/?docno=d1")
    hidden = make_track(collection, slug="rye", visibility="members", joining="invitation")
    make_run(hidden, ben, team=hidden.benchmark.teams.create(name="Oven lab"))
    for wanted in ("rye", "oven lab", "bread", "d7", "sourdough"):
        assertContains(as_cat.get("/search/", {"q": wanted}), "Nothing found")


def test_an_empty_result_says_what_was_searched(track, client):
    page = client.get("/search/?q=zzz")
    assertContains(page, "names of benchmarks, tracks, collections and teams")
