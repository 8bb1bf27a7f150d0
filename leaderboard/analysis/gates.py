"""The gate of a run on a board: pass, worse, or cannot tell, beside a fixed reference."""

from __future__ import annotations

import numpy as np

from evaluation.gates import FIRST, GateReport, ScoredPair, check_gate
from evaluation.measures import parse_measure
from evaluation.significance import Gate
from leaderboard.analysis.pairs import compare_runs
from leaderboard.boards.standings import Board, Standing


def check_run(board: Board, reference: Standing, new: Standing, gate: Gate) -> GateReport:
    """Hold a run against a reference on the topics of the board."""
    found = compare_runs(board, reference.run, new.run)
    lines = sorted(found.topics, key=lambda line: line.topic.number.encode())
    unjudged = [FIRST * (1 - each.judged_at_10) for each in (reference, new)]
    pair = ScoredPair(
        measure=parse_measure(board.measure),
        name=board.measure,
        tags=(reference.run.tag, new.run.tag),
        topics=[line.topic.number.encode() for line in lines],
        scores=np.array([[line.a for line in lines], [line.b for line in lines]]),
        unjudged=(unjudged[0], unjudged[1]),
    )
    return check_gate(pair, gate)
