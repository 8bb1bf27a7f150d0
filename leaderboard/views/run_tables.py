"""The tables of a run's page as files: every digit, nothing cut."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpResponse

from leaderboard.analysis.losses import Loss
from leaderboard.portraits import Portrait, PrecisionPortrait
from leaderboard.views.tables import csv_file


def measures_csv(name: str, portrait: Portrait, *_: object) -> HttpResponse:
    """A line for each measure: the run among all runs of the board."""
    lines = [
        [each.measure, each.mean, each.rank, each.of, each.median, each.best, each.best_run.tag]
        for each in portrait.breakdown.lines
    ]
    return csv_file(name, ["measure", "run", "rank", "of", "median", "best", "best_run"], lines)


def spread_csv(name: str, portrait: Portrait, *_: object) -> HttpResponse:
    """A line for each step of the histogram; the last one has both its ends."""
    lines = [[each.low, each.high, each.own, each.other] for each in portrait.spread]
    return csv_file(name, ["from", "to", "topics", "topics of the baseline"], lines)


def recall_csv(name: str, _: Portrait, precision: PrecisionPortrait, *__: object) -> HttpResponse:
    """A line for each of the eleven levels of recall."""
    lines = [[each.recall, each.own, each.median, each.best] for each in precision.levels]
    return csv_file(name, ["recall", "run", "median", f"best run, {precision.best_run}"], lines)


def depth_csv(name: str, _: Portrait, precision: PrecisionPortrait, *__: object) -> HttpResponse:
    """A line for each depth."""
    lines = [[each.depth, each.own, each.median, each.best] for each in precision.depths]
    return csv_file(name, ["depth", "run", "median", "best"], lines)


def failures_csv(name: str, _: Portrait, __: PrecisionPortrait, losses: list[Loss]) -> HttpResponse:
    """A line for each topic that loses most, with the document that most explains it."""
    lines = []
    for loss in losses:
        line, missed, gains = loss.line, loss.missed, loss.gains
        lines.append(
            [
                line.topic.number,
                line.topic.title or line.topic.description,
                line.score,
                line.best,
                line.best_run.tag,
                missed.docno if missed is not None else None,
                missed.grade if missed is not None else None,
                missed.rank_in_best if missed is not None else None,
                missed.rank_here if missed is not None else None,
                missed.worth if missed is not None else None,
                gains.lost_by_ranking if gains is not None else None,
                gains.lost_by_retrieval if gains is not None else None,
            ]
        )
    scores = ["topic", "title", "run", "best", "best_run"]
    missed = ["docno", "grade", "rank_in_best", "rank_here", "worth"]
    lost = ["lost_by_ranking", "lost_by_retrieval"]
    return csv_file(name, [*scores, *missed, *lost], lines)


TABLES: dict[str, Callable[[str, Portrait, PrecisionPortrait, list[Loss]], HttpResponse]] = {
    "measures": measures_csv,
    "spread": spread_csv,
    "recall": recall_csv,
    "depth": depth_csv,
    "failures": failures_csv,
}
