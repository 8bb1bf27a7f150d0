"""The organiser's desk."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.actions import pools, runs, submissions, tracks, uploads
from leaderboard.models import (
    AuditEvent,
    Job,
    JudgmentSet,
    Notice,
    Pool,
    Run,
    Score,
    Track,
    Worker,
)
from tests.builders import (
    OTHER_RUN,
    QRELS,
    RUN,
    make_run,
    make_track,
    make_user,
    upload,
    work,
)
from tests.pages.reading import words

DESK = "/benchmarks/bread/desk/"
FINDINGS = f"{DESK}findings/"


def test_an_empty_desk_says_so(track, as_ada):
    assert "Nothing to do." in as_ada.get(DESK).text


def test_the_desk_says_where_the_track_is(track, blind_track, ben, as_ada):
    make_run(track, ben)
    Track.objects.filter(slug="blind").update(closes_at=timezone.now() - timedelta(days=1))
    here = words(as_ada.get(DESK).text)
    assert "The track accepts runs: 1 run of 1 team so far; nothing waits for you." in here
    closed = words(as_ada.get("/benchmarks/blind/desk/").text)
    assert "The track is closed, and judging follows; 1 thing waits for you." in closed


def test_a_run_in_the_queue_waits(track, ben, as_ada):
    submissions.accept_run(track, ben, upload("rye.run", RUN))
    page = as_ada.get(DESK).text
    assert "rye.run" in page and "first in the queue" in page


def test_a_release_that_was_planned_waits_once_no_run_is_taken(blind_track, as_ada):
    day = timedelta(days=1)
    dates = {"closes_at": timezone.now() - 2 * day, "release_at": timezone.now() - day}
    assert "Release scores" not in as_ada.get("/benchmarks/blind/desk/").text
    Track.objects.update(**dates)
    assert "Release scores" in as_ada.get("/benchmarks/blind/desk/").text


def test_a_failed_run_is_tried_again_from_here(track, ben, as_ada):
    run = make_run(track, ben)
    Run.objects.update(state="failed")
    Job.objects.filter(kind="check_run").update(state="failed", reason="The disk is full.")
    job = Job.objects.get(kind="check_run")
    assert "The disk is full." in as_ada.get(DESK).text
    as_ada.post(f"{DESK}jobs/{job.pk}/again/")
    work()
    run.refresh_from_db()
    assert run.state == "scored"
    assert "The disk is full." not in as_ada.get(DESK).text


def test_a_job_of_another_track_is_not_tried_again(track, collection, ben, as_ada):
    make_run(make_track(collection, slug="rye"), ben)
    Run.objects.update(state="failed")
    Job.objects.filter(kind="check_run").update(state="failed")
    as_ada.post(f"{DESK}jobs/{Job.objects.get(kind='check_run').pk}/again/")
    assert Run.objects.get().state == "failed"


def test_a_failed_pool_is_gathered_again(track, ada, ben, as_ada):
    pool = pools.create_pool(track, ada, [make_run(track, ben)], "depth", 2)
    type(pool).objects.update(state="failed")
    Job.objects.filter(kind="gather_pool").update(state="failed")
    as_ada.post(f"{DESK}jobs/{Job.objects.get(kind='gather_pool').pk}/again/")
    work()
    pool.refresh_from_db()
    assert pool.state == "proposed"


def test_judgments_that_could_not_be_read_are_read_again_from_here(track, ada, as_ada):
    file = upload("v2", "1 0 d9 1\n")
    made = uploads.accept_judgments(track.collection, file, "v2", ada)
    JudgmentSet.objects.filter(pk=made.pk).update(state="failed")
    Job.objects.filter(kind="check_judgments").update(state="failed", reason="The disk is full.")
    assert "Reading the judgments <b><bdi>v2</bdi></b>" in as_ada.get(DESK).text
    as_ada.post(f"{DESK}jobs/{Job.objects.get(kind='check_judgments').pk}/again/")
    work()
    made.refresh_from_db()
    assert made.state == "preview" and "The disk is full." not in as_ada.get(DESK).text


def test_judgments_that_were_refused_are_named(track, ada, as_ada):
    uploads.accept_judgments(track.collection, upload("v2", "no judgments\n"), "v2", ada)
    work()
    page = as_ada.get(DESK).text
    assert "failed the checks." in page
    assert "Nothing to do." not in page


def test_calls_that_were_given_up_are_made_again_from_here(track, ada, as_ada):
    webhook = track.webhooks.create(url="https://webhooks.invalid/", created_by=ada)
    given_up = {"state": "given up", "tries": 6, "answer": "HTTP 500", "body": {}}
    for _ in range(2):
        webhook.deliveries.create(happening="run.scored", **given_up)
    page = as_ada.get(DESK).text
    assert "2 calls of" in page and "<bdi>HTTP 500</bdi>" in page
    as_ada.post(f"{DESK}calls/{webhook.pk}/again/")
    assert set(webhook.deliveries.values_list("state", "tries")) == {("waiting", 0)}
    assert Job.objects.open().filter(kind="deliver").count() == 2


def test_all_runs_are_scored_again_and_no_value_changes(track, ben, ada, as_ada):
    make_run(track, ben)
    before = Score.objects.get(measure="AP")
    as_ada.post(f"{DESK}scores/again/")
    assert "All runs with judgments <b><bdi>v1" in as_ada.get(DESK).text
    work()
    after = Score.objects.get(measure="AP")
    assert after.pk != before.pk and after.values.tolist() == before.values.tolist()
    assert Notice.objects.filter(user=ada).first().text == (
        "1 run in Bread track rescored with judgments v1: no scores changed."
    )


def test_a_value_that_was_not_what_it_should_be_is_mended_and_told(track, ben, ada, as_ada):
    make_run(track, ben)
    Score.objects.filter(measure="AP").update(by_topic=bytes(24), mean=0)
    as_ada.post(f"{DESK}scores/again/")
    work()
    assert Score.objects.get(measure="AP").mean == pytest.approx(25 / 36)
    assert "v1: 1 changed." in Notice.objects.filter(user=ada).first().text


def test_a_measure_that_the_track_has_no_more_is_kept(track, ben, ada, as_ada):
    make_run(track, ben)
    tracks.change_track(track, ada, {"measures": ["AP"]})
    work()
    as_ada.post(f"{DESK}scores/again/")
    work()
    assert Score.objects.filter(measure="P@5").exists()


def test_judgments_on_trial_are_scored_again_with_the_board(track, ben, ada, as_ada):
    make_run(track, ben)
    file = upload("v2.txt", QRELS.replace("2 0 d5 0", "2 0 d5 2"))
    uploads.accept_judgments(track.collection, file, "v2", ada, asks_first=False)
    work()
    Score.objects.filter(measure="AP").update(by_topic=bytes(24), mean=0)
    as_ada.post(f"{DESK}scores/again/")
    work()
    assert [each.mean > 0 for each in Score.objects.filter(measure="AP")] == [True, True]
    told = [each.text for each in Notice.objects.filter(user=ada, text__contains="rescored")]
    assert [each.split(": ")[0][-2:] for each in sorted(told)] == ["v1", "v2"]


def test_without_judgments_nothing_is_scored_again(collection, as_ada):
    make_track(collection, judgment_set=None)
    page = as_ada.post(f"{DESK}scores/again/", follow=True).text
    assert "There are no judgments to score with yet." in page and "Rescore all runs" not in page


def test_the_same_run_of_two_teams_is_seen(track, ben, cat, as_ada):
    make_run(track, ben, RUN)
    make_run(track, cat, RUN.replace("ben-bm25", "mine"))
    page = as_ada.get(FINDINGS).text
    assert "Nearly identical runs from two teams" in page and "1.0000" in page


def test_different_runs_of_two_teams_are_no_matter(track, ben, cat, as_ada):
    make_run(track, ben, RUN)
    make_run(track, cat, OTHER_RUN)
    assert "Nearly identical runs" not in as_ada.get(FINDINGS).text


def test_a_run_that_nobody_judged_is_named(track, ben, as_ada):
    unjudged = {1: range(4, 13), 2: range(6, 13), 3: range(9, 13)}
    lines = [f"{topic} Q0 d{n} 1 {20 - n} mine" for topic in unjudged for n in unjudged[topic]]
    make_run(track, ben, "\n".join(lines))
    assert "Runs with few judged documents" in as_ada.get(FINDINGS).text


def test_topics_of_which_almost_all_is_relevant_are_named(track, ben, as_ada):
    make_run(track, ben)
    page = as_ada.get(FINDINGS).text
    assert "2 of 3 judged documents are relevant" in page
    assert "1 of 2 judged documents" not in page


def test_workers_show_their_heartbeat(track, as_ada):
    Worker.objects.all().delete()
    assert "No workers running." in as_ada.get(DESK).text
    Worker.objects.record_heartbeat("rankfield-7@here")
    assert "rankfield-7@here" in as_ada.get(DESK).text


def test_an_announcement_stands_on_the_track_and_is_told(track, ben, as_ada, as_cat):
    make_run(track, ben)
    as_ada.post(f"{DESK}announce/", {"text": "More <b>rye</b> soon."})
    for page in ("board/", "", "topics/"):
        assert "More &lt;b&gt;rye&lt;/b&gt; soon." in as_cat.get(f"/benchmarks/bread/{page}").text
    assert "More <b>rye</b> soon." in ben.notices.first().text


def test_an_empty_announcement_is_refused(track, as_ada):
    assert as_ada.post(f"{DESK}announce/", {"text": " "}).status_code == 422
    assert not track.announcements.exists()


def test_more_runs_are_granted_from_here(collection, ben, as_ada):
    team = make_run(make_track(collection, quota_per_day=1), ben).team
    as_ada.post(f"{DESK}grant/", {"team": team.pk, "runs": 2, "today": "today"})
    assert "2 of 3" in as_ada.get(DESK).text


def test_a_team_of_another_track_gets_nothing(track, collection, ben, as_ada):
    team = make_run(make_track(collection, slug="rye"), ben).team
    form = {"team": team.pk, "runs": 2, "today": "today"}
    assert as_ada.post(f"{DESK}grant/", form).status_code == 422
    assert not team.grants.exists()


def test_the_trail_names_what_it_tells_of(track, ada, ben, as_ada):
    pools.approve_pool(gathered(track, ada, ben), ada)
    AuditEvent.objects.create(act="keep", target_kind="pool", target_id="", track=track)
    assert "approved the pool <bdi>pool-1</bdi>" in as_ada.get(DESK).text


def test_a_kept_pool_waits_until_its_judgments_are_sent(track, ada, ben, as_ada):
    made = gathered(track, ada, ben)
    pools.approve_pool(made, ada)
    assert "to judge." in as_ada.get(DESK).text
    uploads.accept_judgments(track.collection, upload("v2", QRELS), "v2", ada, pool=made)
    assert "to judge." not in as_ada.get(DESK).text


def gathered(track, ada, ben) -> Pool:
    made = pools.create_pool(track, ada, [make_run(track, ben)], "depth", 2)
    work()
    return made


def test_the_trail_is_told_in_words(track, ada, ben, as_ada):
    run = make_run(track, ben, tag="")
    tracks.change_track(track, ada, {"depth": 500})
    runs.remove_run(run, ada, "hidden", "a copy")
    page = as_ada.get(f"{DESK}trail/").text
    assert "changed the track" in page and "depth: 1000 → 500" in page
    assert "hid the run" in page and "reason: a copy" in page


def test_an_act_without_words_is_not_recorded(track, ada):
    with pytest.raises(ValueError, match="bake"):
        AuditEvent.objects.record(ada, "bake", track)
    assert AuditEvent(act="add track", target_kind="benchmark").words == "added a track to the"


def test_the_desk_begins_with_what_needs_a_decision(blind_track, ada, ben, as_ada):
    make_run(blind_track, ben, "not a run\n")
    Track.objects.update(closes_at=timezone.now() - timedelta(days=1))
    page = as_ada.get("/benchmarks/blind/desk/").text
    order = [page.index(word) for word in ("1 thing</b> waits", "To do", "Release scores", "folds")]
    assert order == sorted(order)


def test_a_passed_deadline_of_an_open_board_needs_no_decision(track, as_ada):
    Track.objects.update(closes_at=timezone.now() - timedelta(days=1))
    assert "Nothing to do." in as_ada.get(DESK).text


def test_a_job_that_nothing_finishes_is_named(track, ben, as_ada):
    submissions.accept_run(track, ben, upload("rye.run", RUN))
    assert "older than 15 minutes" not in as_ada.get(DESK).text
    Job.objects.filter(kind="check_run").update(created_at=timezone.now() - timedelta(minutes=16))
    assert "1 job of this track is older than 15 minutes." in as_ada.get(DESK).text


def test_a_stuck_job_of_another_track_is_not(track, collection, ben, as_ada):
    submissions.accept_run(make_track(collection, slug="rye"), ben, upload("rye.run", RUN))
    Job.objects.update(created_at=timezone.now() - timedelta(minutes=16))
    assert "older than 15 minutes" not in as_ada.get(DESK).text


def test_everything_below_is_folded(track, ben, as_ada):
    make_run(track, ben)
    Worker.objects.record_heartbeat("rankfield-7@here")
    page = as_ada.get(DESK).text
    assert "<details open" not in page and page.count("<details>") >= 3


def test_the_desk_shows_ten_decisions_and_a_link_to_the_rest(track, as_ada):
    for number in range(12):
        track.benchmark.join_requests.create(
            user=make_user(f"user{number}"), team_name=f"Oats {number}"
        )
    page = as_ada.get(DESK).text
    assert "12 things</b> wait for you" in page and page.count('name="approve"') == 10
    assert as_ada.get(f"{DESK}?all=decisions").text.count('name="approve"') == 12


def test_the_most_urgent_decision_comes_first_with_the_main_button(track, ben, ada, as_ada):
    gathered(track, ada, ben)
    track.benchmark.join_requests.create(user=ada, team_name="Oats")
    Run.objects.update(state="failed")
    Job.objects.filter(kind="check_run").update(state="failed", reason="The disk is full.")
    page = as_ada.get(DESK).text
    order = [page.index(word) for word in ("The disk is full.", "asks to join", "Review pool")]
    assert order == sorted(order) and page.count("main-button") == 1


def test_findings_are_a_page_of_their_own_that_says_what_chance_gives(track, ben, as_ada):
    make_run(track, ben)
    assert "2 of 3 judged documents are relevant" not in as_ada.get(DESK).text
    page = as_ada.get(FINDINGS).text
    # Five of eight judged documents are relevant: .375³ + .375² + .375³ topics would have none.
    assert "0.2 topics would have no relevant document (0 here)" in words(page)
    assert FINDINGS in as_ada.get(DESK).text


def test_a_track_without_judgments_has_no_findings(collection, as_ada):
    make_track(collection, judgment_set=None)
    assert "Nothing unusual." in as_ada.get(FINDINGS).text
