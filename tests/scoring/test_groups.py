"""Topics in groups: what flips whole groups, and what the pages say of few of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from pytest_django.asserts import assertContains, assertNotContains

from evaluation.measures import parse_measure
from evaluation.significance import compare_with_baseline, posterior_of, scale_of
from leaderboard.actions import tracks, uploads
from leaderboard.actions.track_settings import check
from leaderboard.actions.uploads import CollectionFiles
from leaderboard.analysis.pairs import compare_runs, compute_probability
from leaderboard.boards.disclosure import sight_of
from leaderboard.boards.standings import find_board
from leaderboard.models import Collection, Run, Track
from leaderboard.scoring import judgments, scores
from leaderboard.scoring.contest_tests import compute_tests
from leaderboard.scoring.contests import contest_on
from leaderboard.scoring.judgments import count_units
from tests.builders import make_run, make_track, upload, work
from tests.recording import recorded

NUMBERS = range(1, 25)
TOPICS = "".join(f"{n}\tabout {n}\n" for n in NUMBERS)
QRELS = "".join(f"{n} 0 good{n} 1\n{n} 0 bad{n} 0\n" for n in NUMBERS)
# The good document of most topics is third for the baseline, and first for the other run.
RANKS = [1 if n % 7 else 4 for n in NUMBERS]


@recorded
def make_grouped_track(owner, sizes: Sequence[int]) -> Track:
    """Twenty-four topics in groups of these sizes, with a baseline and a run `gain`."""
    names = [f"g{group}" for group, size in enumerate(sizes) for _ in range(size)]
    groups = "".join(f"{n} {name}\n" for n, name in zip(NUMBERS, names, strict=True))
    files = CollectionFiles(
        upload("topics.tsv", TOPICS),
        judgments=upload("qrels.txt", QRELS),
        groups=upload("groups.txt", groups),
    )
    collection = Collection(slug="talks", name="Talks", owner=owner, asks_first=False)
    uploads.accept_collection(collection, files)
    work()
    collection.refresh_from_db()
    track = make_track(collection, slug="talks", measures=["RR"], primary_measure="RR")
    baseline = make_run(track, owner, run_of("base", [3] * 24))
    tracks.choose_baseline(track, owner, baseline)
    make_run(track, owner, run_of("gain", RANKS))
    track.refresh_from_db()
    return track


def run_of(tag: str, ranks: Sequence[int]) -> str:
    """A run that has the relevant document of each topic at these ranks."""
    return "".join(
        f"{n} Q0 {'good' if place == rank else f'other{place}-'}{n} {place} {50 - place} {tag}\n"
        for n, rank in zip(NUMBERS, ranks, strict=True)
        for place in range(1, rank + 1)
    )


def test_the_board_flips_whole_groups(ada):
    track = make_grouped_track(ada, [4, 2, 3, 3, 2, 4, 3, 3])
    gain = Run.objects.get(tag="gain").pk
    contest = contest_on(track.edition, "RR", [track.baseline_id, gain], track.baseline_id)
    found = compute_tests(contest).against[gain]
    values = scores.tested_scores(track.edition, "RR", [track.baseline_id, gain])
    groups, scale = judgments.tested_groups(track.edition), scale_of(parse_measure("RR"))
    assert len(np.unique(groups)) == count_units(track.edition) == 8
    assert found == compare_with_baseline(values, 0, scale=scale, groups=groups)[1]
    assert found.p_adjusted > compare_with_baseline(values, 0, scale=scale)[1].p_adjusted


def test_a_benchmark_flips_whole_groups(ada):
    track = make_grouped_track(ada, [4, 2, 3, 3, 2, 4, 3, 3])
    [collected] = contest_on(track.edition, "RR", [track.baseline_id]).collected
    assert len(np.unique(collected.members)) == 8


def test_few_groups_are_said_to_show_little(ada, as_cat):
    make_grouped_track(ada, [3] * 8)
    page = as_cat.get("/benchmarks/talks/board/")
    assertContains(page, "24 topics in 8 groups")
    assertContains(page, "and 8 groups show few differences")


@pytest.mark.parametrize("sizes", [[5, 5, 5, 5, 4], [19, 1, 1, 1, 1, 1]])
def test_without_six_groups_of_similar_size_there_is_no_verdict(ada, as_cat, sizes):
    track = make_grouped_track(ada, sizes)
    assert count_units(track.edition) < 6
    page = as_cat.get("/benchmarks/talks/board/")
    assertContains(page, "there is no verdict, which needs six groups of similar size")
    assertNotContains(page, "significantly better")


def test_printed_commands_name_the_file_of_groups(ada, as_cat):
    make_grouped_track(ada, [3] * 8)
    gain = Run.objects.get(tag="gain").pk
    page = as_cat.get(f"/benchmarks/talks/computed/difference/?run={gain}")
    assertContains(page, "<span>--groups</span> <span>topics.groups</span>")


def test_a_track_with_groups_has_the_test_that_flips_them(ada):
    track = make_grouped_track(ada, [3] * 8)
    (problem,) = check(track, {"test": "t"})
    assert problem.message == "Topics in groups need the maximum-t test, which flips whole groups."


def test_a_plan_counts_whole_groups(ada, as_ada):
    make_grouped_track(ada, [3] * 8)
    page = as_ada.get("/benchmarks/talks/plan/?difference=.1")
    plan = page.context["plan"]
    assert plan.variances.per_group == 3
    assert plan.needed % 3 == 0
    assertContains(page, "Topics are in groups of 3 on average, and whole groups are tested.")


def test_a_team_asks_for_an_equal_pair_by_groups(ada):
    track = make_grouped_track(ada, [3] * 8)
    board = find_board(sight_of(track, ada))
    pair = compare_runs(board, *(Run.objects.get(tag=tag) for tag in ("base", "gain")))
    values = scores.tested_scores(track.edition, "RR", [pair.a.pk, pair.b.pk])
    found = posterior_of(values[1] - values[0], 0.05, 0.5, judgments.tested_groups(track.edition))
    assert compute_probability(pair, 0.05) == found


def test_the_gate_holds_whole_groups_against_a_margin(ada, as_ada):
    track = make_grouped_track(ada, [5, 5, 5, 5, 4])
    gain, base = Run.objects.get(tag="gain").pk, track.baseline_id
    asked = f"/api/v1/tracks/talks/gate?run={gain}&reference={base}&margin=.1"
    assert as_ada.get(asked).json()["answer"] == "cannot tell"
