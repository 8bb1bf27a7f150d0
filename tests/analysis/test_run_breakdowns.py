"""A run among the runs of its board: precision by recall and by depth, and what it misses."""

from __future__ import annotations

import numpy as np
import pytest
from django.contrib.auth.models import AnonymousUser

from evaluation.judging import JudgedRun
from evaluation.measures import parse_measure
from leaderboard.analysis import build_run_breakdown
from leaderboard.analysis.losses import Loss, find_fallen, find_losses
from leaderboard.analysis.precision import Precision, read_precision
from leaderboard.boards.disclosure import sight_of
from leaderboard.boards.standings import Board, BoardChoice, find_board
from leaderboard.models import Run, Score, ScoreSet, Track
from leaderboard.scoring.judgments import load_judgments
from tests.builders import OTHER_RUN, make_run, make_track
from tests.pages.reading import page_at, rows, words


@pytest.fixture
def bens(track, ben) -> Run:
    return make_run(track, ben)


@pytest.fixture
def cats(track, cat) -> Run:
    return make_run(track, cat, OTHER_RUN)


def board_of(track: Track, choice: BoardChoice | None = None) -> Board:
    track.refresh_from_db()
    board = find_board(sight_of(track, AnonymousUser()), choice)
    assert board is not None
    return board


def precision_of(track: Track) -> Precision:
    return read_precision(board_of(track))


def lost_by(track: Track, run: Run) -> list[Loss]:
    board = board_of(track)
    return find_losses(board, run, build_run_breakdown(board, run).topics)


def test_precision_at_recall_is_the_mean_of_the_interpolated_curves(track, bens, cats):
    precision = precision_of(track)
    # Topic by topic: 1, 1/2, 2/3 at every level; Cat never finds the second of topic 3.
    assert precision.curve_of(bens) == pytest.approx([13 / 18] * 11)
    assert precision.curve_of(cats) == pytest.approx([11 / 18] * 8 + [1 / 2] * 3)
    assert precision.best_run == bens


def test_precision_at_depth_is_that_of_the_measures(track, bens, cats):
    judged = JudgedRun.unpack(
        bytes(ScoreSet.objects.get(run=cats).record), load_judgments(track.edition_id)
    )
    for line in precision_of(track).depth_lines(cats):
        measure = parse_measure(f"P@{line.at}")
        assert line.own == pytest.approx(measure.aggregate(measure.scores(judged)))


def test_precision_at_depth_stands_among_the_runs(track, bens, cats):
    first = precision_of(track).depth_lines(cats)[0]
    assert first.at == 5
    assert first.own == pytest.approx(4 / 15)
    assert first.median == pytest.approx(4.5 / 15)
    assert first.best == pytest.approx(5 / 15)


def test_the_organisers_runs_are_in_the_median_as_in_the_best(track, ada, bens):
    make_run(track, ada, OTHER_RUN)
    first = precision_of(track).depth_lines(bens)[0]
    assert first.median == pytest.approx(4.5 / 15)


def test_no_depth_is_beyond_that_of_the_track(collection, ben):
    track = make_track(collection, slug="shallow", depth=20)
    make_run(track, ben)
    assert precision_of(track).depths == (5, 10, 15, 20)


def test_relevant_is_what_the_track_takes_for_it(collection, ben):
    track = make_track(collection, slug="strict", relevance_threshold=2)
    run = make_run(track, ben)
    # Only d1 of topic 1 and d6 of topic 3.
    assert precision_of(track).depth_lines(run)[0].own == pytest.approx(2 / 15)


def test_a_run_loses_most_where_another_is_furthest_ahead(track, bens, cats):
    found = lost_by(track, cats)
    assert [each.line.topic.number for each in found] == ["1", "3"]
    assert [each.line.lost for each in found] == pytest.approx([7 / 12, 5 / 12])
    assert {each.line.best_run for each in found} == {bens}


def test_where_lower_is_better_the_higher_value_is_lost(collection, ben, cat):
    track = make_track(collection, slug="ranks", measures=["AP", "MR"])
    make_run(track, ben)
    run = make_run(track, cat, OTHER_RUN)
    board = board_of(track, BoardChoice(measure="MR"))
    found = find_losses(board, run, build_run_breakdown(board, run).topics)
    assert [(each.line.topic.number, each.line.lost) for each in found] == [("1", 2), ("3", 1)]


def test_the_document_that_would_bring_most_is_named(track, bens, cats):
    first, second = (each.missed for each in lost_by(track, cats))
    assert (first.docno, first.title, first.grade) == ("d1", "Document 1", 2)
    assert (first.rank_in_best, first.rank_here) == (1, 3)
    # d8, found at 3, would bring 1/4; d6 has the higher grade, but at 2 brings only 1/12.
    assert (second.docno, second.rank_in_best, second.rank_here) == ("d8", 3, None)


def test_what_it_would_bring_is_the_score_with_the_document_moved(track, bens, cats):
    first, second = (each.missed for each in lost_by(track, cats))
    # d1, d3, d9, d2 has an AP of 3/4 where d3, d9, d1, d2 has 5/12.
    assert (first.worth, second.worth) == pytest.approx((1 / 3, 1 / 4))


def test_the_best_run_everywhere_fails_nowhere(track, bens):
    assert lost_by(track, bens) == []


def test_a_topic_without_an_answer_misses_the_best_document(track, bens, cat):
    run = make_run(track, cat, "1 Q0 d1 1 9.0 short\n1 Q0 d2 2 8.0 short\n2 Q0 d4 1 9.0 short\n")
    (loss,) = lost_by(track, run)
    # d8 at rank 3 alone would bring 1/6, d6 at 2 the half of 1/2.
    assert (loss.missed.docno, loss.missed.rank_here) == ("d6", None)
    assert loss.missed.worth == pytest.approx(1 / 4)


def test_what_stood_high_fell_further_than_what_fell_many_ranks():
    there = {b"high": 1, b"deep": 500}
    fallen = find_fallen({b"high": 1, b"deep": 1}, {b"high": 10, b"deep": 900}, there)
    assert [each.docno for each in fallen] == ["high", "deep"]


def test_a_document_that_stands_lower_in_the_best_run_explains_nothing():
    assert list(find_fallen({b"d1": 1, b"d2": 1}, {b"d1": 1}, {b"d1": 4})) == []


@pytest.fixture
def areas(collection) -> Track:
    """AUC needs both classes: from grade 2 on topic 2 has nothing relevant."""
    measures = ["AP", "AUC"]
    return make_track(
        collection, slug="areas", measures=measures, primary_measure="AUC", relevance_threshold=2
    )


def test_where_a_measure_is_undefined_no_run_has_a_rank_or_is_best(areas, ben):
    run = make_run(areas, ben)
    lines = build_run_breakdown(board_of(areas), run).topics
    assert [(line.rank, line.best_run) for line in lines] == [(1, run), (None, None), (1, run)]


@pytest.mark.filterwarnings("error")
def test_pages_of_a_board_without_a_score_show_dashes(areas, ben, client):
    run = make_run(areas, ben)
    undefined = np.full(3, np.nan).tobytes()
    Score.objects.update(mean=None, num_undefined=3, by_topic=undefined)
    page = page_at(client, f"/runs/{run.pk}/")
    assert "has no AUC on any topic, so it has no rank." in words(page)
    assert rows(page)[0].startswith("AP – – of 0 – –")
    assert "1 sourdough bread 1 – – – – – –" in rows(page_at(client, f"/runs/{run.pk}/topics/"))[0]
    for address in ("topics/", "topics/map/", "topics/map.png", "topics/map/?format=csv"):
        assert client.get(f"/benchmarks/areas/{address}").status_code == 200
