"""T24: what organisers decide is written down, and what was shown stays as it was."""

from __future__ import annotations

import pytest
from django.test import Client

from leaderboard.actions import submissions, tracks, uploads
from leaderboard.models import AuditEvent, Edition, JudgmentSet, Run, ScoreSet, Track
from tests.builders import OTHER_RUN, QRELS, make_run, make_track, upload, work

NEW_QRELS = QRELS.replace("1 0 d1 2", "1 0 d1 0")


def judge_anew(track: Track) -> JudgmentSet:
    organiser = track.benchmark.owner
    uploads.accept_judgments(
        track.collection, upload("q", NEW_QRELS), "v2", organiser, asks_first=False
    )
    work()
    new = track.collection.judgment_sets.get(version="v2")
    tracks.change_track(track, organiser, {"judgment_set": new})
    work()
    return new


def test_t24_new_judgments_leave_the_old_ones_and_their_scores(track, ben):
    run = make_run(track, ben)
    before = ScoreSet.objects.get(run=run)
    old = track.judgment_set
    judge_anew(track)
    after = JudgmentSet.objects.get(pk=old.pk)
    assert (after.sha256, after.judgments.count()) == (old.sha256, 8)
    assert ScoreSet.objects.filter(pk=before.pk, record=before.record).exists()
    assert Edition.objects.filter(track=track).count() == 2


def test_t24_a_board_never_mixes_judgments(track, ben, ada, as_ada):
    make_run(track, ben)
    make_run(track, ada, OTHER_RUN)
    judge_anew(track)
    track.refresh_from_db()
    shown = as_ada.get("/api/v1/tracks/bread/leaderboard").json()
    assert shown["judgments"] == "v2" and shown["edition"] == str(track.edition_id)
    assert ScoreSet.objects.filter(edition=track.edition).count() == len(shown["standings"]) == 2


def acts_of(track: Track) -> list[str]:
    return list(track.events.order_by("pk").values_list("act", flat=True))


def test_t24_every_act_has_its_line_with_who_did_it(track, ben, ada, as_ada):
    run = make_run(track, ben)
    before = AuditEvent.objects.count()
    as_ada.post("/benchmarks/bread/manage/baseline/", {"baseline": run.pk})
    tracks.change_track(Track.objects.get(), ada, {"name": "Another"})
    as_ada.post(f"/runs/{run.pk}/take-off/", {"how": "disqualified", "reason": "too good"})
    as_ada.post(f"/runs/{run.pk}/bring-back/")
    as_ada.post(
        "/benchmarks/bread/desk/grant/", {"team": run.team_id, "runs": 1, "reason": "asked"}
    )
    judge_anew(Track.objects.get())
    tracks.release_track(Track.objects.get(), ada)
    new = AuditEvent.objects.order_by("pk")[before:]
    assert len(new) >= 7 and {event.actor for event in new} == {ada}
    renamed = next(event for event in new if event.after and "name" in event.after)
    assert renamed.before["name"] == "Bread track" and renamed.after["name"] == "Another"


def test_t24_no_address_removes_a_line_of_the_record(track, as_ada):
    page = as_ada.get("/benchmarks/bread/desk/trail/").content.decode()
    main = page[page.index("<main") :]
    assert 'method="post"' not in main
    assert as_ada.post("/benchmarks/bread/desk/trail/").status_code == 405


def test_t24_an_organiser_of_something_else_opens_nothing_here(blind_track, ben, cat):
    cat.can_organise = True
    cat.save()
    run = make_run(blind_track, ben)
    client = Client()
    client.force_login(cat)
    for address in (
        "/benchmarks/blind/manage/",
        "/benchmarks/blind/desk/",
        f"/runs/{run.pk}/file/",
    ):
        assert client.get(address).status_code in (403, 404)
    with pytest.raises(uploads.NotAccepted):
        submissions.accept_run(make_closed(blind_track), cat, upload("r", OTHER_RUN))


def make_closed(track: Track) -> Track:
    return make_track(track.collection, slug="closed", joining="approval")


def test_t24_a_run_that_was_taken_off_says_so_and_is_kept(track, ben, as_ada, as_ben):
    run = make_run(track, ben)
    as_ada.post(f"/runs/{run.pk}/take-off/", {"how": "disqualified", "reason": "too good"})
    assert "too good" in as_ben.get(f"/runs/{run.pk}/").content.decode()
    kept = Run.objects.get(pk=run.pk)
    assert kept.file and kept.score_sets.exists()
