"""The board of judges: how far each agrees with people, or with scores; computed by a job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from evaluation.agreement.judges import JudgesBoard, compare_judges
from evaluation.answers.agreement import ORIGIN
from evaluation.problems import Problems
from evaluation.reading.judging.qrels import Qrels
from leaderboard.models import Calculation, Edition, Run
from leaderboard.models.jobs import Progress, Publish
from leaderboard.models.tracks import settings_digest
from leaderboard.scoring.judge_runs import load_judge
from leaderboard.scoring.judgments import load_people, tested_topics
from leaderboard.scoring.ranking_boards import compute_rankings_board

# The layout of stored results: those of an earlier one are computed again.
LAYOUT = 3


def judges_of(edition: Edition) -> list[Run]:
    """Return the judges on the board of an edition, in the order of their ids."""
    return list(Run.objects.filter(track=edition.track_id).on_the_board().order_by("pk"))


def find_basis(edition: Edition, judges: Sequence[Run]) -> str:
    """Return a digest of what the board depends on besides its edition."""
    listed = [[run.pk, run.sha256] for run in judges]
    return settings_digest({"judges": str(listed), "layout": LAYOUT})


def compute_judges_board(asked: Calculation, progress: Progress) -> Publish:
    """Compare the judges of a track with people; return the function that stores the board."""
    assert asked.edition is not None
    judges = judges_of(asked.edition)
    if not judges:
        return lambda: None
    basis = find_basis(asked.edition, judges)
    if asked.edition.track.ranks_systems:
        found = compute_rankings_board(asked.edition, judges, asked.request["statistic"])
        return partial(asked.keep, found, basis)
    loaded = {run.pk: load_judge(run) for run in judges}
    # Grades of marks begin at a contradiction.
    rel = asked.request["rel"] + (ORIGIN if asked.edition.track.judged_marks else 0)
    people = load_counted_people(asked.edition)
    board = compare_judges(people, loaded, asked.request["statistic"], rel)
    return partial(asked.keep, pack_judges(board), basis)


def load_counted_people(edition: Edition) -> Qrels:
    """Return the judgments of an edition, or the marks of people, on the topics that count."""
    counted = set(tested_topics(edition))
    grades = load_people(edition).grades
    kept = {topic: graded for topic, graded in grades.items() if topic in counted}
    return Qrels(kept, Problems())


def pack_judges(board: JudgesBoard) -> dict[str, Any]:
    """Return the board as JSON, judges by their ids, the best first."""
    return {
        "topics": [topic.decode() for topic in board.topics],
        "judges": [_pack_judge(board, place) for place in board.order],
    }


def _pack_judge(board: JudgesBoard, place: int) -> dict[str, Any]:
    each = board.standings[place]
    return {
        "id": each.name,
        "documents": each.documents,
        "abstained": each.abstained,
        "bias": each.bias,
        "error": each.error,
        "unused": list(each.unused),
        "letters": board.pairs.letters[place],
        "ranks": [int(board.pairs.rank_low[place]), int(board.pairs.rank_high[place])],
        "has_rank": each.has_rank,
        "statistics": {
            name: [found.value, found.low, found.high] for name, found in each.statistics.items()
        },
        "by_grade": {str(grade): asdict(part) for grade, part in each.by_grade.items()},
        "by_topic": {topic.decode(): asdict(part) for topic, part in each.by_topic.items()},
        "calibration": each.calibration and asdict(each.calibration),
    }
