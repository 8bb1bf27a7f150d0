"""A second kind of run, which nothing knows of but the table of kinds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from django.core.files.storage import default_storage

from evaluation.problems import Problems
from evaluation.reading.runs import reader
from evaluation.reading.runs.rankings import Ranking
from leaderboard.models import Run, Score, Track
from leaderboard.runs.topic_files import Tops
from leaderboard.scoring.kinds import KINDS, RANKED
from tests.builders import make_run, make_track
from tests.pages.reading import page_at, words

LINES = "1: d1 d9 d2\n2: d5 d4\n"


def read_lists(run: Run) -> reader.Run:
    """Lines of a topic and its documents, the best first."""
    problems, rankings = Problems(), {}
    with default_storage.open(run.file.name) as file:
        for number, line in enumerate(file, 1):
            topic, colon, docnos = line.partition(b":")
            if not colon:
                problems.error("E_COLUMNS", number, "there is no colon")
            names = docnos.split()
            rankings[topic] = Ranking(names, -np.arange(len(names), dtype=float))
    problems.raise_if_refused()
    return reader.Run("lists", rankings, len(rankings), problems)


def load_topics(run: Run) -> Tops:
    with default_storage.open(run.file.name) as file:
        return {"": [line.decode() for line in file]}


@pytest.fixture
def lists(collection, monkeypatch) -> Track:
    """A track of runs that are lists."""
    kind = replace(RANKED, name="lists", read=read_lists, load_tops=load_topics, items="lists")
    monkeypatch.setitem(KINDS, "lists", kind)
    return make_track(collection, "lists", run_kind="lists")


def test_a_run_of_another_kind_is_scored_as_its_kind_reads_it(lists, ben):
    run = make_run(lists, ben, LINES)
    score = Score.objects.get(score_set__run=run, measure="AP")
    assert score.values.tolist() == pytest.approx([(1 + 2 / 3) / 2, 0.5, 0])


def test_a_run_of_another_kind_is_rejected_as_its_kind_reads_it(lists, ben):
    run = make_run(lists, ben, "1: d1\n2 d5\n")
    assert (run.state, run.problem_totals) == ("refused", {"E_COLUMNS": 1})


def test_a_kind_says_what_a_duplicate_is(lists, ben):
    make_run(lists, ben, LINES)
    again = make_run(lists, ben, LINES.replace("\n2", "\r\n2"))
    assert "W_SAME_RUN" not in again.problem_totals


def test_runs_of_another_kind_have_a_board_and_rankings(lists, ben, client):
    run = make_run(lists, ben, LINES)
    assert "lists" in words(page_at(client, "/benchmarks/lists/board/"))
    assert "Document 9" in page_at(client, f"/runs/{run.pk}/ranking/?number=1")


def test_every_kind_has_the_name_that_tracks_have():
    assert all(name == kind.name for name, kind in KINDS.items())
    assert Track._meta.get_field("run_kind").default in KINDS
