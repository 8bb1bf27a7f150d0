"""The pages of administrators: who may open them, what they change, and that they log it."""

from __future__ import annotations

import json
import smtplib
from io import StringIO

import pytest
from allauth.mfa.models import Authenticator
from django.apps import apps
from django.core import mail
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db.models import FileField
from django.test import Client
from django.urls import URLPattern, get_resolver

from leaderboard.analysis.storage_use import PLACES, SCORES, STRAYS, measure_storage
from leaderboard.models import ApiToken, AuditEvent, Job, Run, User
from tests.builders import make_run, make_user, signed_in, work
from tests.security.test_headers import assert_guarded

USERS = "/admin/users/"
# Kinds that are in the database or beside the stored files.
NOT_STORED = (SCORES.name, "the database", "cache/ of RANKFIELD_HOME")
NOT_STORED += ("uploads/ of RANKFIELD_HOME", "static/ of RANKFIELD_HOME")


@pytest.fixture
def sue(db):
    return make_user("sue", is_staff=True)


@pytest.fixture
def as_sue(sue):
    return signed_in(sue)


def do(client, address: str, act: str, *rows, **form: str):
    chosen = [row.pk for row in rows]
    return client.post(
        address, {"action": act, "index": "0", "_selected_action": chosen, **form}, follow=True
    )


def addresses() -> list[str]:
    _, resolver = get_resolver().namespace_dict["admin"]
    patterns = [each for each in resolver.url_patterns if isinstance(each, URLPattern)]
    return [f"/admin/{each.pattern}" for each in patterns]


def test_every_page_is_for_the_staff_alone(track, ada, as_ada, client):
    for address in addresses():
        for method in ("get", "post"):
            assert getattr(as_ada, method)(address).status_code == 404, address
            assert getattr(client, method)(address)["Location"].startswith("/account/login/")


def test_every_page_opens_under_the_policy_of_the_site(track, ben, as_sue):
    make_run(track, ben)
    ApiToken.objects.issue(ben, ["read"])
    for address in addresses():
        answer = as_sue.get(address, follow=True)
        assert answer.status_code == 200, address
        assert_guarded(answer)
        text = answer.getvalue().decode()
        assert "<script>" not in text and "style=" not in text, address


def test_the_staff_need_their_second_factor_where_it_is_on(as_sue, settings):
    settings.SECOND_FACTOR = "staff"
    assert as_sue.get(USERS)["Location"] == "/account/second-factor/totp/activate/?asked=1"


def test_a_user_is_found_by_the_name_of_the_team(track, ben, as_sue):
    make_run(track, ben)
    make_user("zoe")
    page = as_sue.get(USERS, {"q": "ben"}).text
    assert "ben" in page and "zoe" not in page


def test_a_user_is_disabled_with_a_reason_that_the_log_keeps(as_sue, sue, ben):
    asked = do(as_sue, USERS, "disable", ben)
    assert "Reason" in asked.text and User.objects.get(pk=ben.pk).is_active
    do(as_sue, USERS, "disable", ben, reason="one account each")
    assert not User.objects.get(pk=ben.pk).is_active
    event = AuditEvent.objects.get(act="disable")
    assert (event.actor, event.target_id) == (sue, str(ben.pk))
    assert "one account each" in as_sue.get("/admin/activity/").text


def test_a_disabled_user_is_signed_out_and_their_tokens_stop(as_sue, ben, as_ben):
    _, secret = ApiToken.objects.issue(ben, ["read"])
    do(as_sue, USERS, "disable", ben, reason="left")
    assert as_ben.get("/account/").status_code == 302
    assert ApiToken.objects.find(secret) is None
    do(as_sue, USERS, "enable", ben)
    assert ApiToken.objects.find(secret) is not None


def test_nobody_disables_the_own_account(as_sue, sue):
    page = do(as_sue, USERS, "disable", sue, reason="tired").text
    assert "You cannot disable your own account." in page
    assert User.objects.get(pk=sue.pk).is_active


def test_the_right_to_organise_is_given_and_taken(as_sue, ben):
    do(as_sue, USERS, "let_organise", ben)
    assert User.objects.get(pk=ben.pk).can_organise
    do(as_sue, USERS, "stop_organising", ben, reason="moved on")
    assert not User.objects.get(pk=ben.pk).can_organise
    assert set(AuditEvent.objects.values_list("act", flat=True)) >= {
        "let organise",
        "stop organising",
    }


def test_a_password_link_leads_to_a_new_password_once(as_sue, ben, client):
    page = do(as_sue, USERS, "link_to_password", ben).text
    link = page.split("http://testserver")[1].split("<")[0]
    form = client.get(link, follow=True)
    address = form.request["PATH_INFO"]
    client.post(address, {"password1": "a loaf of rye", "password2": "a loaf of rye"})
    assert User.objects.get(pk=ben.pk).check_password("a loaf of rye")
    again = client.get(link, follow=True).text
    assert 'name="password1"' not in again
    assert AuditEvent.objects.get(act="reset password").target_id == str(ben.pk)


def test_a_token_of_anybody_is_revoked(as_sue, ben):
    token, secret = ApiToken.objects.issue(ben, ["read"])
    do(as_sue, "/admin/tokens/", "revoke", token)
    assert ApiToken.objects.find(secret) is None
    assert AuditEvent.objects.get(act="revoke").after == {"token": token.prefix}


def test_a_failed_job_is_tried_again(track, ben, as_sue):
    run = make_run(track, ben)
    Run.objects.update(state="failed")
    Job.objects.filter(kind="check_run").update(state="failed", reason="The disk is full.")
    job = Job.objects.get(kind="check_run")
    assert "The disk is full." in as_sue.get("/admin/jobs/", {"state__exact": "failed"}).text
    do(as_sue, "/admin/jobs/", "try_again", job)
    work()
    run.refresh_from_db()
    assert run.state == "scored"


def test_a_job_that_did_not_fail_is_not_tried_again(track, ben, as_sue):
    make_run(track, ben)
    job = Job.objects.get(kind="check_run")
    assert "needs no repetition" in do(as_sue, "/admin/jobs/", "try_again", job).text
    assert Job.objects.filter(kind="check_run").count() == 1


def test_storage_is_shown_by_benchmark_collection_and_kind(track, ben, as_sue):
    make_run(track, ben)
    page = as_sue.get("/admin/storage/").text
    assert track.benchmark.name in page and track.collection.name in page
    assert "runs as submitted" in page and "rankings and answers as read" in page
    assert "scores, in the database" in page and "the database" in page


def test_every_stored_file_is_counted_once(track, ben):
    make_run(track, ben)
    default_storage.save("runs/stray", ContentFile(b"x" * 100))
    use = measure_storage()
    owned = [each for owner in (*use.benchmarks, *use.collections) for each in owner.kinds]
    files = [each for each in (*owned, *use.rest) if each.kind.name not in NOT_STORED]
    stored = dict(default_storage.stored_sizes())
    assert sum(each.count for each in files) == len(stored)
    assert sum(each.size for each in files) == sum(stored.values())
    assert [each.size for each in use.rest if each.kind is STRAYS] == [100]


def test_every_field_of_files_has_a_kind():
    models = apps.get_app_config("leaderboard").get_models()
    fields = {
        (model, field.name)
        for model in models
        for field in model._meta.get_fields()
        if isinstance(field, FileField)
    }
    assert {(model, field) for model, field, _, _ in PLACES} == fields


def test_the_command_says_what_may_be_deleted(track, ben, capsys):
    make_run(track, ben)
    call_command("storage")
    said = capsys.readouterr().out
    assert f"benchmark {track.benchmark.slug} runs as submitted" in said
    assert "judgments: Never: scores use them." in said
    call_command("storage", "--json")
    assert {row["kind of owner"] for row in json.loads(capsys.readouterr().out)} == {
        *("benchmark", "collection", "site")
    }


def test_administrators_limit_the_files_of_a_benchmark(track, ben, as_sue):
    sent = {"benchmark": track.benchmark.slug, "mebibytes": "5"}
    page = as_sue.post("/admin/storage/", sent, follow=True).text
    track.benchmark.refresh_from_db()
    assert track.benchmark.max_bytes == 5 * 2**20 and "of at most 5 MiB" in page
    assert AuditEvent.objects.filter(act="limit storage", benchmark=track.benchmark).exists()
    as_sue.post("/admin/storage/", {**sent, "mebibytes": ""})
    track.benchmark.refresh_from_db()
    assert track.benchmark.max_bytes is None


def test_the_activity_log_is_exported_by_page_and_command(track, ben, sue, as_sue, capsys):
    make_run(track, ben)
    as_sue.post("/admin/storage/", {"benchmark": track.benchmark.slug, "mebibytes": "7"})
    assert "/admin/activity.jsonl" in as_sue.get("/admin/activity/").text
    lines = b"".join(as_sue.get("/admin/activity.jsonl").streaming_content).splitlines()
    last = json.loads(lines[-1])
    assert len(lines) == AuditEvent.objects.count()
    assert (last["user"], last["act"], last["benchmark"]) == (
        *("sue", "limit storage"),
        track.benchmark.slug,
    )
    assert last["after"] == {"bytes": 7 * 2**20}
    call_command("export_activity")
    assert capsys.readouterr().out.encode().splitlines() == lines
    call_command("export_activity", "--since", "2999-01-01")
    assert capsys.readouterr().out == ""


def test_a_limit_that_is_none_is_shown_again(track, as_sue):
    sent = {"benchmark": track.benchmark.slug, "mebibytes": "0"}
    assert as_sue.post("/admin/storage/", sent).status_code == 422


def test_a_test_email_is_sent_to_the_address_alone(as_sue, settings):
    settings.EMAIL_HOST = "smtp.example.org"
    page = as_sue.post("/admin/email/", {"address": "sue@example.org"}).text
    assert "The email server accepted the test" in page
    assert mail.outbox[0].to == ["sue@example.org"]
    as_sue.post("/admin/email/", {"address": "sue@example.org\nBcc: ben@example.org"})
    assert len(mail.outbox) == 1


def test_a_test_email_that_is_refused_shows_the_answer(as_sue, settings, monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise smtplib.SMTPAuthenticationError(535, b"authentication failed")

    settings.EMAIL_HOST = "smtp.example.org"
    monkeypatch.setattr("django.core.mail.message.EmailMessage.send", refuse)
    page = as_sue.post("/admin/email/", {"address": "sue@example.org"}).text
    assert "authentication failed" in page and 'value="sue@example.org"' in page


def test_a_filter_that_does_not_exist_breaks_no_page(as_sue):
    for address in addresses():
        answer = as_sue.get(address, {"nonsense__x": "1", "p": "x", "o": "9.-9"}, follow=True)
        assert answer.status_code == 200, address


def test_the_command_prints_a_password_link_too(ben, client, settings):
    settings.SITE_URL = "https://rank.example.org"
    link = call_command_for_text("password_link", "ben").strip()
    assert link.startswith("https://rank.example.org/account/password/reset/key/")
    page = client.get(link.removeprefix("https://rank.example.org"), follow=True).text
    assert 'name="password1"' in page


def test_the_command_refuses_a_disabled_account(db):
    make_user("zoe", is_active=False)
    with pytest.raises(CommandError, match="disabled"):
        call_command_for_text("password_link", "zoe")


def call_command_for_text(*words: str) -> str:
    said = StringIO()
    call_command(*words, stdout=said)
    return said.getvalue()


def test_a_second_factor_that_was_lost_is_removed(as_sue, ben):
    assert "ben has no second factor." in do(as_sue, USERS, "forget_second_factor", ben).text
    Authenticator.objects.create(user=ben, type="totp", data={})
    do(as_sue, USERS, "forget_second_factor", ben)
    assert not ben.authenticator_set.exists()
    assert AuditEvent.objects.filter(act="forget second factor").count() == 1


def test_a_job_whose_collection_is_gone_is_not_tried_again(as_sue):
    job = Job.objects.create(kind="check_collection", target_id="77", state="failed")
    assert "needs no repetition" in do(as_sue, "/admin/jobs/", "try_again", job).text


def test_a_collection_whose_check_failed_is_checked_again(collection, as_sue):
    type(collection).objects.update(state="failed")
    job = Job.objects.create(kind="check_collection", target_id=str(collection.pk), state="failed")
    do(as_sue, "/admin/jobs/", "try_again", job)
    assert Job.objects.open().filter(kind="check_collection").count() == 1


def test_an_act_from_another_site_is_refused(sue, ben):
    client = Client(enforce_csrf_checks=True)
    client.force_login(sue)
    assert do(client, USERS, "disable", ben, reason="none").status_code == 403
    assert User.objects.get(pk=ben.pk).is_active
