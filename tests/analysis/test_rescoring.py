"""Runs scored with fewer judgments: as if these had been the only ones from the start."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.judging import judge, prepare
from evaluation.pooling import without_judgments
from leaderboard.analysis.rescoring import Rescoring, load_rescoring
from leaderboard.scoring.scores import load_measure_means
from tests.pages.ten_topics import send, ten_track

MEASURES = ["AP", "Bpref", "nDCG(holes=condensed)@5", "Judged@5", "NumRelRet"]


@pytest.fixture
def board(ada, ben):
    track = ten_track(ada)
    runs = [send(track, ben, tag, ranks) for tag, ranks in (("a", 1), ("b", [2, 3] * 5))]
    return track.edition, [run.pk for run in runs]


def test_all_judgments_give_the_means_of_the_board(board):
    edition, runs = board
    read = load_rescoring(edition.pk, "AP", runs)
    means = load_measure_means(edition, "AP")
    assert read.means(read.qrels, range(2)).tolist() == [means[run] for run in runs]


@pytest.mark.parametrize("measure", MEASURES)
def test_some_judgments_count_as_if_there_were_no_others(board, measure):
    edition, runs = board
    read: Rescoring = load_rescoring(edition.pk, measure, runs)
    fewer = without_judgments(read.qrels, {b"1": {b"good1"}, b"2": {b"bad2"}, b"3": {b"good3"}})
    judgments = prepare(fewer, read.judgments.topics, read.judgments.top_grade)
    plain = [read.measure.scores(judge(run, judgments, 1000)) for run in read.runs]
    expected = [read.measure.aggregate(values) for values in plain]
    np.testing.assert_array_equal(read.means(fewer, range(2)), expected)
    assert judgments.grades[0] == {b"bad1": 0}
