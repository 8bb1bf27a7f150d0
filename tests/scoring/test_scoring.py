"""From a stored file to scores on the board."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from django.db import transaction

from leaderboard.actions import runs, submissions, tracks, uploads
from leaderboard.jobs import running
from leaderboard.models import Edition, Job, Run, Score, ScoreSet, Track
from leaderboard.runs.rankings import Rankings
from leaderboard.scoring import scores
from leaderboard.scoring import work as scoring
from tests.builders import (
    OTHER_RUN,
    QRELS,
    RUN,
    make_collection,
    make_run,
    make_track,
    upload,
    work,
)


def values_of(run: Run, measure: str = "AP") -> list[float]:
    return Score.objects.get(score_set__run=run, measure=measure).values.tolist()


def test_a_run_is_scored_by_topic(track, ben):
    run = make_run(track, ben)
    assert run.state == "scored"
    assert values_of(run) == pytest.approx([1.0, 0.5, 7 / 12])
    assert run.tag == "ben-bm25"
    assert (run.num_lines, run.num_answered, run.num_retrieved) == (8, 3, 8)


def test_the_mean_is_over_the_judged_topics(track, ben):
    run = make_run(track, ben, RUN.replace("3 Q0", "2 Q0").replace("2 Q0 d5", "2 Q0 d12"))
    assert run.num_answered == 2
    assert values_of(run)[2] == 0.0


def test_topics_that_do_not_count_are_nan(collection, ben):
    track = make_track(collection, excluded_topics=["2"])
    run = make_run(track, ben)
    assert np.isnan(values_of(run)[1])
    assert Score.objects.get(score_set__run=run, measure="AP").mean == pytest.approx(19 / 24)


def test_the_threshold_of_the_track_decides_what_is_relevant(collection, ben):
    track = make_track(collection, relevance_threshold=2)
    run = make_run(track, ben)
    assert values_of(run) == pytest.approx([1.0, 0.0, 0.5])
    assert Score.objects.get(score_set__run=run, measure="AP").resolved == "AP(rel=2)"


def test_a_refused_run_keeps_its_problems(track, ben):
    run = make_run(track, ben, RUN.replace("9.0", "nan").replace("d9", "d99"))
    assert run.state == "refused"
    assert run.problem_totals == {"E_SCORE": 3, "E_UNKNOWN_DOC": 1}
    assert [problem["line"] for problem in run.problems] == [1, 3, 4, 6]
    assert not ScoreSet.objects.exists()


def test_many_problems_are_shown_in_part_and_kept_in_full(track, ben):
    run = make_run(track, ben, "1 Q0 d1 1\n1 Q0 d1 1 9 my tag\n" * 35)
    assert len(run.problems) == 50
    with run.problems_file.open() as file:
        assert len(file.readlines()) == 70


def test_runs_wait_as_valid_while_there_are_no_judgments(ada, ben):
    track = make_track(make_collection(ada, qrels=None))
    run = make_run(track, ben)
    assert run.state == "valid"
    assert not ScoreSet.objects.exists()


def test_new_judgments_score_the_runs_again_and_then_switch_the_board(track, ada, ben):
    run, old = make_run(track, ben), track.edition
    better = uploads.accept_judgments(
        track.collection, upload("v2.txt", QRELS + "2 0 d12 1\n"), "v2", ada, asks_first=False
    )
    work()
    tracks.change_track(track, ada, {"judgment_set": better})
    track.refresh_from_db()
    assert track.edition == old
    work()
    track.refresh_from_db()
    assert track.edition != old
    assert run.score_sets.count() == 2
    assert track.edition.judgment_set.version == "v2"


def test_a_new_measure_is_computed_from_the_compact_record(track, ada, ben):
    run = make_run(track, ben)
    run.ranking_file.storage.delete(run.ranking_file.name)
    tracks.change_track(track, ada, {"measures": ["AP", "RR"]})
    work()
    assert values_of(run, "RR") == pytest.approx([1.0, 0.5, 0.5])
    assert Edition.objects.count() == 1


def test_settings_that_come_back_find_their_edition(track, ada, ben):
    make_run(track, ben)
    first = track.edition
    for threshold in (2, 1):
        tracks.change_track(track, ada, {"relevance_threshold": threshold})
        work()
    track.refresh_from_db()
    assert track.edition == first
    assert Edition.objects.count() == 2


def test_an_edition_is_built_under_the_settings_it_was_asked_for(track, ada, ben):
    make_run(track, ben)
    for threshold in (2, 1):
        tracks.change_track(track, ada, {"relevance_threshold": threshold})
    work()
    strict = Score.objects.get(score_set__edition__settings__relevance_threshold=2, measure="AP")
    assert strict.resolved == "AP(rel=2)" and strict.values.tolist() == [1.0, 0.0, 0.5]


def test_a_run_that_comes_while_settings_change_is_scored_by_those_of_the_board(track, ada, ben):
    tracks.change_track(track, ada, {"relevance_threshold": 2})
    Job.objects.filter(kind="build_edition", state="queued").delete()
    make_run(track, ben)
    shown = Score.objects.get(score_set__edition=track.edition_id, measure="AP")
    assert shown.resolved == "AP" and shown.values[1] == 0.5


def test_a_second_scoring_leaves_one_score_set(track, ben):
    run = make_run(track, ben)
    before = values_of(run)
    Run.objects.filter(pk=run.pk).update(state="failed")
    runs.retry_run(run, ben)
    work()
    assert ScoreSet.objects.count() == 1
    assert values_of(run) == before


def test_our_own_fault_is_said_to_be_ours(track, ben, monkeypatch, caplog):
    def broken(*_):
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(scoring, "read_run_file", broken)
    run = make_run(track, ben)
    assert run.state == "failed"
    assert "secret" not in run.reason
    assert "ZeroDivisionError" in caplog.text
    assert Job.objects.of("check_run", run).get().state == "failed"


def test_the_ranking_file_holds_the_scoring_order(track, ben):
    run = make_run(track, ben, OTHER_RUN.replace("9.0 other\n1 Q0 d9", "8.0 other\n1 Q0 d9"))
    with run.ranking_file.open() as file:
        rankings = Rankings(file)
        assert rankings.ranking("1").docnos == [b"d9", b"d3", b"d1", b"d2"]
        assert rankings.tops["3"] == ["d10", "d11", "d6"]
        assert rankings.ranking("99") is None


def test_an_edition_does_not_wait_for_a_run_that_is_being_scored(track, ada, ben, cat):
    run = make_run(track, ben)
    Run.objects.filter(pk=make_run(track, cat, OTHER_RUN).pk).update(
        state="scoring", ranking_file=""
    )
    tracks.change_track(track, ada, {"relevance_threshold": 2})
    work()
    track.refresh_from_db()
    assert run.score_sets.filter(edition=track.edition).exists()


def test_the_first_run_is_on_the_board_as_soon_as_it_is_scored(track, ben):
    Edition.objects.update(state="building", ready_at=None)
    Track.objects.update(edition=None)
    accepted = submissions.accept_run(track, ben, upload("first.run", RUN))
    running.run_due_jobs("tests", limit=1)
    track.refresh_from_db()
    assert Run.objects.get(pk=accepted.run.pk).state == "scored"
    assert track.edition is not None


def test_an_edition_that_failed_is_built_with_the_next_run(track, ben, cat):
    make_run(track, ben)
    Edition.objects.update(state="building", ready_at=None)
    Track.objects.update(edition=None)
    make_run(track, cat, OTHER_RUN)
    track.refresh_from_db()
    assert track.edition is not None


def test_ties_across_the_cutoff_leave_an_interval_open(track, ada, ben, as_ben):
    tracks.change_track(track, ada, {"primary_measure": "P@5", "depth": 1000})
    tied = "".join(f"1 Q0 d{n} {n} 1.0 tied\n" for n in range(1, 13))
    run = make_run(track, ben, tied + "2 Q0 d4 1 2.0 tied\n3 Q0 d6 1 2.0 tied\n")
    low, high = run.score_sets.get().ties["P@5"]
    assert (low, high) == pytest.approx(((0 + 0.2 + 0.2) / 3, (0.4 + 0.2 + 0.2) / 3))
    assert "P@5 could be .1333 to .2667" in as_ben.get(f"/runs/{run.pk}/").content.decode()


@pytest.mark.parametrize("change", [lambda path: path.write_text(OTHER_RUN), Path.unlink])
def test_a_file_that_is_not_what_was_sent_is_never_scored(track, ben, change) -> None:
    run = submissions.accept_run(track, ben, upload("run.txt", RUN)).run
    change(Path(run.file.path))
    work()
    run.refresh_from_db()
    assert (run.state, run.reason) == ("failed", running.CHANGED)
    assert not run.score_sets.exists()


def test_scores_that_are_stored_again_after_an_outage_take_no_key_of_another_run(track, ben, cat):
    """The first attempt is rolled back, and its keys go to the other run."""
    run, other = make_run(track, ben), make_run(track, cat, OTHER_RUN)
    measured, others = (scoring.measure_stored_run(each, track.edition) for each in (run, other))
    with transaction.atomic():
        scoring.store_scores(run.pk, measured)
        transaction.set_rollback(True)
    scoring.store_scores(other.pk, others)
    scoring.store_scores(run.pk, measured)
    assert values_of(run) == pytest.approx([1.0, 0.5, 7 / 12])


def test_scores_of_many_runs_are_those_of_runs_that_are_named(track, ben, monkeypatch):
    runs = [make_run(track, ben).pk, make_run(track, ben, OTHER_RUN).pk][:1]
    named = scores.score_matrix(track.edition, "AP", runs)
    monkeypatch.setattr(scores, "MOST_NAMED", 0)
    assert np.array_equal(scores.score_matrix(track.edition, "AP", runs), named)
