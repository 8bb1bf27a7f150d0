"""What is accepted, and what is not, before a worker reads a byte."""

from __future__ import annotations

import gzip
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone

from leaderboard.actions.submissions import RunDetails, accept_run
from leaderboard.actions.uploads import NotAccepted
from leaderboard.models import Job, Run
from tests.builders import OTHER_RUN, RUN, make_run, make_track, upload


def send(track, user, text=RUN, **details):
    return accept_run(track, user, upload("a.run", text), RunDetails(**details))


def stored_files() -> list[Path]:
    return [path for path in Path(settings.MEDIA_ROOT).glob("runs/**/*") if path.is_file()]


def test_a_run_waits_with_its_job(track, ben):
    run = send(track, ben).run
    assert run.state == "queued"
    assert Job.objects.of("check_run", run).get().state == "queued"
    assert run.team.name == "ben"


def test_the_same_bytes_are_the_same_run(track, ben):
    first, second = send(track, ben), send(track, ben)
    assert (first.run, first.is_new) == (second.run, True)
    assert not second.is_new
    assert len(stored_files()) == 1


def test_the_same_bytes_again_after_a_refusal_are_a_new_run(track, ben):
    refused = make_run(track, ben, "not a run")
    assert refused.state == "refused"
    assert send(track, ben, "not a run").is_new


def test_an_idempotency_key_makes_one_run(track, ben):
    first = send(track, ben, idempotency_key="k1").run
    assert send(track, ben, idempotency_key="k1").run == first
    with pytest.raises(NotAccepted, match="another file"):
        send(track, ben, OTHER_RUN, idempotency_key="k1")


@pytest.mark.parametrize("days, word", [((1, 2), "Not open yet"), ((-2, -1), "Closed: runs were")])
def test_dates_close_a_track(collection, ben, days, word):
    opens, closes = (timezone.now() + timedelta(days=n) for n in days)
    track = make_track(collection, opens_at=opens, closes_at=closes)
    with pytest.raises(NotAccepted, match=word) as refusal:
        send(track, ben)
    assert refusal.value.code == "E_CLOSED"
    assert not Run.objects.exists() and not stored_files()


def close(track) -> None:
    track.closes_at = timezone.now() - timedelta(hours=1)
    track.save()


@pytest.mark.parametrize("key", ["", "k1"], ids=["the same bytes", "the same key"])
def test_who_missed_the_answer_asks_again_after_the_deadline(track, ben, key):
    first = send(track, ben, idempotency_key=key).run
    close(track)
    assert send(track, ben, idempotency_key=key).run == first
    with pytest.raises(NotAccepted, match="runs were accepted until"):
        send(track, ben, OTHER_RUN)


def test_after_the_deadline_nobody_learns_of_the_runs_of_others(track, ben, cat):
    send(track, ben, idempotency_key="k1")
    close(track)
    with pytest.raises(NotAccepted, match="runs were accepted until"):
        send(track, cat, idempotency_key="k1")
    assert track.team_of(cat) is None


def test_an_invitation_is_asked_for(collection, cat):
    track = make_track(collection, joining="invitation")
    with pytest.raises(NotAccepted) as refusal:
        send(track, cat)
    assert refusal.value.code == "E_NO_TEAM"


def test_the_quota_of_a_day_says_when_it_ends(collection, ben):
    track = make_track(collection, quota_per_day=1)
    send(track, ben)
    with pytest.raises(NotAccepted) as refusal:
        send(track, ben, OTHER_RUN)
    assert refusal.value.code == "E_QUOTA"
    assert 0 < refusal.value.retry_after <= 86_401
    assert len(stored_files()) == 1


def test_a_refused_run_uses_no_quota(collection, ben):
    track = make_track(collection, quota_total=1)
    assert make_run(track, ben, "1 Q0 d1 1").state == "refused"
    assert make_run(track, ben).state == "scored"


def test_attempts_are_limited_by_the_day(collection, ben):
    track = make_track(collection, attempts_per_day=1)
    make_run(track, ben, "1 Q0 d1 1")
    with pytest.raises(NotAccepted, match="rejected today"):
        send(track, ben)


def test_a_repeated_tag_is_refused_where_the_track_says_so(collection, ben):
    track = make_track(collection, repeated_tags="refuse")
    make_run(track, ben, tag="ben-bm25")
    with pytest.raises(NotAccepted, match="already has a run ben-bm25"):
        send(track, ben, OTHER_RUN, tag="ben-bm25")


def test_a_large_file_is_not_taken(track, ben, settings):
    settings.RUN_UPLOAD_LIMIT = 10
    with pytest.raises(NotAccepted) as refusal:
        send(track, ben)
    assert refusal.value.code == "E_SIZE"


@pytest.mark.parametrize(
    ("limit", "code"),
    [
        ({"RUN_UNPACKED_LIMIT": 100}, "E_BOMB"),
        ({"RUN_LINE_LIMIT": 20}, "E_LINE_LONG"),
    ],
)
def test_the_limits_of_the_site_hold_while_a_file_is_read(track, ben, settings, limit, code):
    for name, value in limit.items():
        setattr(settings, name, value)
    run = make_run(track, ben, gzip.compress(RUN.encode()))
    assert (run.state, run.problems[0]["code"]) == ("refused", code)


def test_the_name_of_a_file_is_only_a_label(track, ben):
    run = accept_run(track, ben, upload("../../etc/passwd\n", RUN)).run
    assert run.filename == "passwd"
    assert run.file.name.startswith(f"runs/{run.pk}/file-")
