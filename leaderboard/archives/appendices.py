"""A run in the appendix of the proceedings: one page of plain text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from django.utils.text import slugify
from numpy.typing import NDArray

from evaluation.measures.ranks import LEVELS
from leaderboard.analysis.precision import Precision
from leaderboard.boards.columns import format_four_decimals
from leaderboard.boards.standings import Board
from leaderboard.display.numbers import count, counted
from leaderboard.models import Run, ScoreSet, Topic

WIDTH = 72


@dataclass(frozen=True)
class ScoresByTopic:
    """The scores of a run by topic, and the medians to compare them with, if any."""

    topics: list[Topic]
    values: NDArray[np.float64]
    median: NDArray[np.float64] | None = None


def render_appendix(board: Board, run: Run, precision: Precision, by_topic: ScoresByTopic) -> str:
    """Render the page of a run of this board."""
    parts = [
        render_title(board, run),
        render_section("Summary", measure_lines(board, run)),
        render_section("Recall level averages", recall_lines(run, precision)),
        render_section("Document level averages", depth_lines(run, precision)),
        render_section(f"{board.measure} by topic", topic_lines(by_topic)),
    ]
    return "\n".join(line for part in parts for line in part) + "\n"


def name_folder(run: Run) -> str:
    """Return a folder name that is valid on any system and unique to the run."""
    return f"{slugify(run.tag)[:60] or 'run'}-{run.pk}"


def render_title(board: Board, run: Run) -> list[str]:
    edition = board.edition
    return [
        f"{run}",
        "=" * WIDTH,
        f"{board.sight.track.name}, team {run.team}, {run.kind}",
        f"Judgments {edition.judgment_set.version}, {counted(edition.num_evaluated, 'topic')}, "
        f"scoring version {edition.scoring_version}, convention {edition.convention}",
        *filter(None, [board.who_judged.full_text.capitalize()]),
        *([f"sha256 {run.sha256}"] if run.sha256 else []),
        *([run.description] if run.description else []),
        "",
    ]


def render_section(title: str, lines: Iterable[str]) -> list[str]:
    return [title, "-" * WIDTH, *lines, ""]


def measure_lines(board: Board, run: Run) -> Iterator[str]:
    standing = board.standing_of(run)
    for measure, mean in standing.scores.items() if standing is not None else ():
        yield f"{measure:<40}{format_four_decimals(mean):>12}"
    for found in ScoreSet.objects.filter(run=run, edition=board.edition):
        yield f"{'Retrieved':<40}{count(run.num_retrieved):>12}"
        yield f"{'Relevant':<40}{count(found.num_relevant):>12}"
        yield f"{'Relevant retrieved':<40}{count(found.num_relevant_retrieved):>12}"


def recall_lines(run: Run, precision: Precision) -> Iterator[str]:
    for level, value in zip(LEVELS, precision.curve_of(run).tolist(), strict=True):
        yield f"at recall {level:<30.1f}{format_four_decimals(value):>12}"


def depth_lines(run: Run, precision: Precision) -> Iterator[str]:
    for line in precision.depth_lines(run):
        yield f"in the first {line.at:<27}{format_four_decimals(line.own):>12}"


def topic_lines(by_topic: ScoresByTopic) -> Iterator[str]:
    own, median = by_topic.values.tolist(), by_topic.median
    if median is None:
        for topic, value in zip(by_topic.topics, own, strict=True):
            yield f"{topic.number:<40}{format_four_decimals(value):>12}"
        return
    yield f"{'topic':<40}{'run':>12}{'median':>10}{'from it':>10}"
    for topic, value, middle in zip(by_topic.topics, own, median.tolist(), strict=True):
        cells = f"{format_four_decimals(middle):>10}{format_four_decimals(value - middle):>10}"
        yield f"{topic.number:<40}{format_four_decimals(value):>12}{cells}"
