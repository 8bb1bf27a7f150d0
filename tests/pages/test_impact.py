"""Another version of the judgments, weighed before the board switches to it."""

from __future__ import annotations

import numpy as np
import pytest
from django.db.models import QuerySet

from leaderboard.actions import tracks, uploads
from leaderboard.analysis.impact import Impact, compute_impact
from leaderboard.boards.disclosure import sight_of
from leaderboard.boards.standings import Board, find_board
from leaderboard.models import (
    Calculation,
    Collection,
    Edition,
    Job,
    JudgmentSet,
    Run,
    Score,
    Track,
    User,
)
from leaderboard.scoring import contest_tests, contests
from leaderboard.scoring.contest_tests import load_tests
from leaderboard.scoring.contests import contest_on
from leaderboard.scoring.families import family_of
from leaderboard.scoring.verdicts import verdict_of
from tests.builders import OTHER_RUN, QRELS, RUN, make_run, make_track, upload, work
from tests.pages.reading import page_at, rows, words

pytestmark = pytest.mark.long

# What Ben has first is no longer relevant, and what Cat has first is.
V2 = "1 0 d1 0\n1 0 d3 2\n1 0 d9 1\n2 0 d4 1\n2 0 d5 0\n"


@pytest.fixture
def runs(track, ben, cat):
    return [make_run(track, ben), make_run(track, cat, OTHER_RUN)]


@pytest.fixture
def v2(track, ada, runs):
    return bring(track.collection, ada, "v2", V2)


@pytest.fixture
def impact(track, v2):
    track.refresh_from_db()
    new = Edition.objects.get(judgment_set__version="v2")
    return compute_impact(track.edition, new, ["AP", "nDCG@10", "P@5"])


@pytest.fixture
def by_ap(impact):
    return impact.by("AP")


def test_new_judgments_are_tried_by_themselves_and_leave_the_board_alone(track, v2):
    assert Track.objects.get().edition.judgment_set.version == "v1"
    edition = Edition.objects.get(judgment_set__version="v2")
    assert (edition.state, edition.score_sets.count()) == ("ready", 2)


def test_every_track_of_the_collection_tries_them(track, collection, ada, ben):
    other = make_track(collection, slug="other")
    make_run(other, ben)
    bring(collection, ada, "v2", V2)
    assert {each.track.slug for each in tried_with("v2")} == {"bread", "other"}


def test_a_run_that_comes_during_the_trial_is_on_both_boards(track, ada, v2):
    run = make_run(track, ada, RUN.replace("9.0", "9.5"))
    assert tried_with("v2").get().score_sets.filter(run=run).exists()


def test_too_many_runs_to_compare_all_pairs_are_said(track, v2, as_ada, monkeypatch):
    monkeypatch.setattr(contests, "MOST_IN_ALL_PAIRS", 1)
    said = words(page_at(as_ada, "/benchmarks/bread/judgments/v2/impact/"))
    assert "There are too many runs to compare all pairs." in said


def test_what_stood_on_the_board_is_on_trial_no_more(track, ada, v2):
    for version in (v2, track.judgment_set):
        tracks.change_track(track, ada, {"judgment_set": version})
        work()
    run = make_run(track, ada, RUN.replace("9.0", "9.5"))
    assert not tried_with("v2").get().score_sets.filter(run=run).exists()


def test_settings_that_change_make_the_trial_anew(track, ada, v2):
    tracks.change_track(track, ada, {"relevance_threshold": 2, "measures": ["AP", "RR"]})
    work()
    after = tried_with("v2").get(settings__relevance_threshold=2)
    assert {score.measure for each in after.score_sets.all() for score in each.scores.all()} == {
        *("AP", "RR")
    }


def test_organisers_alone_are_told(track, ada, ben, v2):
    text = "All runs in Bread track are scored with judgments v2. See what changes."
    assert ada.notices.filter(text=text).count() == 1
    assert not ben.notices.filter(text__contains="v2").exists()


def test_the_desk_keeps_it_until_the_board_is_switched(track, ada, v2, as_ada):
    assert "See what changes" in as_ada.get("/benchmarks/bread/desk/").text
    tracks.change_track(track, ada, {"judgment_set": v2})
    assert "See what changes" not in as_ada.get("/benchmarks/bread/desk/").text


def test_meanwhile_the_page_says_how_far_it_is(track, v2, as_ada):
    edition = tried_with("v2").get()
    tried_with("v2").update(state="building")
    Job.objects.enqueue("build_edition", edition)
    Job.objects.open().update(progress=1, progress_of=2)
    page = as_ada.get("/benchmarks/bread/judgments/v2/impact/").text
    assert "is being scored with v2: 1 of 2 runs." in page


def test_the_first_judgments_wait_to_be_put_on_the_board(collection, ada, ben, as_ada):
    track = make_track(collection, judgment_set=None)
    run = make_run(track, ben)
    bring(collection, ada, "v2", V2)
    assert Run.objects.get(pk=run.pk).state == "valid" and not as_board(ben)
    link = 'href="/benchmarks/bread/judgments/v2/impact/"'
    assert link in as_ada.get("/benchmarks/bread/judgments/").text
    assert "Use v2 for the board" in as_ada.get("/benchmarks/bread/judgments/v2/impact/").text
    as_ada.post("/benchmarks/bread/judgments/v2/switch/")
    work()
    assert Run.objects.get(pk=run.pk).state == "scored" and as_board(ben)


def tried_with(version: str) -> QuerySet[Edition]:
    return Edition.objects.filter(judgment_set__version=version)


def bring(collection: Collection, user: User, version: str, text: str) -> JudgmentSet:
    file = upload(f"{version}.txt", text)
    made = uploads.accept_judgments(collection, file, version, user, asks_first=False)
    work()
    return made


def as_board(user: User) -> Board | None:
    return find_board(sight_of(Track.objects.get(), user))


def test_runs_that_change_places_are_named_with_both_ranks(by_ap):
    moved = {each.run.tag: (each.before.rank, each.after.rank) for each in by_ap.shift.moves}
    assert moved == {"ben-bm25": (1, 2), "other": (2, 1)}
    assert by_ap.shift.agreement.tau == -1 and by_ap.shift.agreement.first_changed


def test_means_are_those_of_the_topics_that_each_version_judges(by_ap):
    other = next(each for each in by_ap.shift.moves if each.run.tag == "other")
    assert other.before.mean == pytest.approx((5 / 12 + 1 + 1 / 6) / 3)
    assert other.after.mean == pytest.approx((1 + 1) / 2)


def test_topics_that_are_no_longer_judged_are_named(impact):
    assert [topic.number for topic in impact.removed] == ["3"] and not impact.added
    assert [each.topic.number for each in impact.by("AP").topics] == ["1"]


def test_the_page_says_what_would_change(as_ada, v2):
    page = as_ada.get("/benchmarks/bread/judgments/v2/impact/").content.decode()
    assert "leads now; 2 of 2 runs change rank" in page
    assert "Switch the board to v2" in page


def test_what_the_page_shows_is_a_table_too(as_ada, v2):
    table = as_ada.get("/benchmarks/bread/judgments/v2/impact/?format=csv").content.decode()
    assert (
        table.splitlines()[0] == "measure,run,tag,old_rank,new_rank,old,new,old_verdict,new_verdict"
    )
    assert [line.split(",")[0] for line in table.splitlines()[1:]] == [
        each for each in ("AP", "nDCG@10", "P@5") for _ in range(2)
    ]
    assert "ben-bm25,1,2," in table


def test_the_changed_topics_of_every_measure_are_a_table(as_ada, v2):
    address = "/benchmarks/bread/judgments/v2/impact/?format=csv&table=topics"
    head, *lines = as_ada.get(address).content.decode().splitlines()
    assert head == "measure,topic,change"
    assert {line.split(",")[0] for line in lines} == {"AP", "nDCG@10", "P@5"}


def test_the_changed_topics_are_chosen_by_their_words(as_ada, v2):
    address = "/benchmarks/bread/judgments/v2/impact/?about=sourdough"
    _, *lines = as_ada.get(f"{address}&format=csv&table=topics").content.decode().splitlines()
    assert {line.split(",")[1] for line in lines} == {"1"}
    assert "Only the chosen topics are shown" in words(page_at(as_ada, address))


# The grade of a relevant document is another: nDCG changes, AP does not.
OTHER_GRADES = QRELS.replace("1 0 d1 2", "1 0 d1 1").replace("1 0 d2 1", "1 0 d2 3")


@pytest.fixture
def grades(track, ada, runs):
    bring(track.collection, ada, "grades", OTHER_GRADES)
    return "/benchmarks/bread/judgments/grades/impact/"


def test_a_change_that_the_primary_measure_does_not_see_is_told_too(as_ada, track, grades):
    found = impact_between(track, "grades")
    assert [each.topic.number for each in found.by("AP").topics] == []
    assert [each.topic.number for each in found.by("nDCG@10").topics] == ["1"]
    told = {line.split()[0]: line.split() for line in rows(page_at(as_ada, grades))}
    ben = next(each for each in found.by("nDCG@10").shift.moves if each.run.tag == "ben-bm25")
    assert told["AP"][-2:] == ["0", "1.000"] and told["nDCG@10"][-2:] == ["1", "1.000"]
    assert (
        f"{ben.before.mean:.4f}"[1:] in told["nDCG@10"]
        and f"{ben.after.mean:.4f}"[1:] in told["nDCG@10"]
    )


def test_each_measure_opens_into_its_runs_and_topics(as_ada, grades):
    assert "No score changes on the topics that both boards have." in page_at(as_ada, grades)
    page = page_at(as_ada, f"{grades}?measure=nDCG%4010")
    assert "Runs by change in rank, nDCG@10" in page
    assert "No score changes on the topics" not in page


def test_a_measure_that_the_board_has_not_opens_the_first(as_ada, grades):
    assert "Runs by change in rank, AP" in page_at(as_ada, f"{grades}?measure=RR")


def test_verdicts_are_those_of_each_measure_on_each_board(track, ada, v2):
    tracks.choose_baseline(track, ada, track.runs.get(tag="other"))
    found = impact_between(track, "v2")
    for by in found.measures:
        ben = next(each for each in by.shift.moves if each.run.tag == "ben-bm25")
        assert (ben.before.verdict, ben.after.verdict) == tuple(
            verdict_on(edition, by.measure, ben.run) for edition in (found.old, found.new)
        )


def verdict_on(edition: Edition, measure: str, run: Run) -> str:
    baseline = edition.track.baseline_id
    tests = load_tests(contest_on(edition, measure, family_of(edition), baseline))
    return verdict_of(tests.against[run.pk], edition.num_evaluated)


def impact_between(track: Track, version: str) -> Impact:
    track = Track.objects.get(pk=track.pk)
    return compute_impact(track.edition, tried_with(version).get(), track.measures)


def test_a_measure_that_is_undefined_ranks_last_and_has_no_change(track, v2, impact):
    run = track.runs.get(tag="ben-bm25")
    nothing = Score.objects.get(score_set__edition=impact.new, score_set__run=run, measure="AP")
    nothing.mean, nothing.by_topic = None, np.full(3, np.nan).tobytes()
    nothing.save()
    by_ap = compute_impact(track.edition, impact.new, ["AP"]).by("AP")
    moved = next(each for each in by_ap.shift.moves if each.run == run)
    assert (moved.after.mean, moved.change, moved.after.rank) == (None, None, 2)


def test_a_switch_puts_the_new_edition_on_the_board(as_ada, v2):
    as_ada.post("/benchmarks/bread/judgments/v2/switch/")
    work()
    assert Track.objects.get().edition.judgment_set.version == "v2"


def test_the_same_judgments_turn_nothing(track, ada, runs):
    bring(track.collection, ada, "v1-again", QRELS)
    track.refresh_from_db()
    same = compute_impact(track.edition, Edition.objects.latest("pk"), track.measures)
    assert [
        (each.shift.num_moved, each.topics, each.shift.agreement.tau) for each in same.measures
    ] == [(0, [], 1)] * 3


def test_what_was_there_before_the_track_is_tried_on_request(collection, ada, as_ada):
    bring(collection, ada, "v2", V2)
    make_track(collection)
    assert "Not tried yet" in as_ada.get("/benchmarks/bread/judgments/v2/impact/").text
    as_ada.post("/benchmarks/bread/judgments/v2/try/")
    work()
    assert tried_with("v2").get().state == "ready"


def test_verdicts_of_large_boards_wait_for_a_job(track, ada, as_ada, v2, monkeypatch):
    tracks.choose_baseline(track, ada, track.runs.first())
    work()
    Calculation.objects.all().delete()
    monkeypatch.setattr(contest_tests, "IMMEDIATE_SCORES", 0)
    page = as_ada.get("/benchmarks/bread/judgments/v2/impact/").content.decode()
    assert "are running." in page and "Available when tests finish." in page
    assert "against the baseline change" not in page
    work()
    page = as_ada.get("/benchmarks/bread/judgments/v2/impact/").content.decode()
    assert "are running." not in page and "against the baseline change" in page
