"""Contests: a track's board is one with one part, and what a job stored is read as it was made."""

from __future__ import annotations

import numpy as np
import pytest

from leaderboard.boards.deferred_tests import request_tests
from leaderboard.models import Calculation, Edition, Run, Score, Track
from leaderboard.scoring.contest_tests import compute_tests, load_tests
from leaderboard.scoring.contests import Contest, Part, contest_on
from leaderboard.scoring.families import family_of
from tests.builders import work
from tests.pages.ten_topics import send, ten_track, with_baseline


def make_scene(ada, ben, cat) -> None:
    track = ten_track(ada)
    with_baseline(track, ada, [2, 3] * 5)
    send(track, ben, "good", [1, 2, 1, 1, 2, 1, 1, 2, 1, 1])
    send(track, cat, "bad", 5)
    send(track, cat, "short", [1, 4] * 5)


@pytest.fixture
def edition(scene) -> Edition:
    edition = Track.objects.get(slug="ten").edition
    assert edition is not None
    return edition


def in_benchmark(edition: Edition, *measures: str) -> Contest:
    """All runs of a board as systems, with a part for each measure."""
    family, parts = family_of(edition), tuple(Part(edition, measure) for measure in measures)
    rows = tuple((run_id,) * len(parts) for run_id in family)
    baseline, benchmark = edition.track.baseline_id, edition.track.benchmark
    return Contest(parts, rows, baseline, benchmark=benchmark)


def leave_out(edition: Edition, tag: str, topics: int) -> None:
    """Leave a run without a score on its last topics."""
    score = Score.objects.get(score_set__run__tag=tag, score_set__edition=edition, measure="AP")
    values = np.array(score.values)
    values[-topics:] = np.nan
    Score.objects.filter(pk=score.pk).update(by_topic=values.tobytes())


@pytest.mark.parametrize("missing", [0, 1, 7])
def test_a_benchmark_of_one_track_has_the_tests_of_its_board(edition, missing):
    if missing:
        leave_out(edition, "short", missing)
    family, baseline = family_of(edition), edition.track.baseline_id
    whole = compute_tests(in_benchmark(edition, "AP"))
    assert whole.against == compute_tests(contest_on(edition, "AP", family, baseline)).against
    pairs = compute_tests(contest_on(edition, "AP", family)).pairs
    assert whole.pairs.pack() == pairs.pack()
    assert {found.topics for found in whole.against.values()} == {10, 10 - missing}


@pytest.mark.parametrize("measures", [["AP"], ["AP", "RR"]])
def test_what_a_job_stored_is_read_as_it_was_made(edition, measures):
    contest = in_benchmark(edition, *measures)
    made = compute_tests(contest)
    request_tests(contest)
    work()
    Score.objects.all().delete()
    read = load_tests(contest)
    assert (read.against, read.leads, read.alone) == (made.against, made.leads, made.alone)
    assert read.pairs.pack() == made.pairs.pack()


def test_the_best_leads_the_second_and_the_baseline(edition):
    found = compute_tests(in_benchmark(edition, "AP", "RR")).leads
    tags = dict(Run.objects.values_list("pk", "tag"))
    named = [(tags[lead.row], tags[lead.other], lead.lead.ahead) for lead in found]
    assert named == [("good", "short", 2), ("good", "base", 2)]


def test_another_family_has_other_tests(edition):
    family, baseline = family_of(edition), edition.track.baseline_id
    assert Calculation.objects.filter(edition=edition).made().exists()
    few = contest_on(edition, "AP", family[1:], baseline)
    assert load_tests(few).against.keys() == set(family[1:]) - {baseline}


def test_what_another_version_asked_for_is_forgotten(edition):
    contest = in_benchmark(edition, "AP")
    request_tests(contest)
    Calculation.objects.filter(kind="contest").update(request={"parts": [], "runs": []})
    work()
    assert not Calculation.objects.filter(kind="contest").exists()
