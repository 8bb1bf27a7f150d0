"""ZIP downloads of team results and of whole boards.

Each function names the members; their bytes are made while they are sent.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from evaluation.answers.any_measure import parse_measure
from evaluation.judging import JudgedRun
from evaluation.measures.ranks import LEVELS, interpolated_by_level
from leaderboard.analysis.origins import score_command
from leaderboard.analysis.precision import Precision, read_precision
from leaderboard.analysis.scores import (
    Spread,
    compute_spread,
    load_evaluated_topics,
    read_scores,
)
from leaderboard.archives.appendices import ScoresByTopic, name_folder, render_appendix
from leaderboard.archives.zip_files import ZipEntry
from leaderboard.boards.board_files import render_csv, render_latex
from leaderboard.boards.columns import Cell, paper_columns, shown_columns
from leaderboard.boards.exports import build_caption, file_of
from leaderboard.boards.standings import Board, Standing
from leaderboard.display.csv_tables import escape_formula, export_cell
from leaderboard.display.numbers import counted
from leaderboard.models import Run, Score, ScoreSet, Team, Topic
from leaderboard.scoring.judgments import load_judgments, resolve_measure, topic_mask

SPREAD_HEADS = ("best", "median", "worst")
# With fewer other teams, the best and the worst could identify them.
FEWEST_TEAMS = 3

TEAM_README = """{track}: the runs of {team}

Judgments {judgments}, {topics}, scoring version {version}.

summary.csv         every run by every measure
<run>/topics.csv    every topic by every measure
<run>/recall.csv    precision at eleven levels of recall, the mean over the topics
<run>/depth.csv     precision in the first documents, the mean over the topics
<run>/curves.csv    the points of the precision-recall curve of each topic
<run>/command.txt   the commands that compute these numbers from the run and the judgments
<run>/page.txt      the run on one page, to print

Each value is followed by best, median and worst of the runs of the same type.
They include the runs of this team and exclude those of the organisers.
Every scored run counts, even if the board does not show it.
If fewer than {fewest} other teams have a run of a type, these three are not
given for the type: {withheld}.
"""
BOARD_README = """{caption}

board.csv    the board
board.tex    the same for a paper
scores.csv   a line for each run and topic, a column for each measure
"""


def render_csv_lines(head: Sequence[Cell], lines: Iterable[Sequence[Cell]]) -> Iterator[bytes]:
    """Yield the lines of a CSV file with every digit and no formulas."""
    out = io.StringIO()
    writer = csv.writer(out)
    for line in chain([head], lines):
        writer.writerow(escape_formula(export_cell(cell)) for cell in line)
        yield out.getvalue().encode()
        out.seek(0)
        out.truncate()


@dataclass(frozen=True)
class MeasureResults:
    """The scores of a team's runs on one measure, and the spread of other teams' runs by type."""

    measure: str
    own: dict[str, NDArray[np.float64]]
    spreads: dict[str, Spread]

    def lines_of(self, run: Run, topics: list[Topic]) -> Iterator[list[Cell]]:
        spread = self.spreads.get(run.kind)
        values = self.own.get(run.pk)
        for place, topic in enumerate(topics):
            own = None if values is None else float(values[place])
            title = topic.title or topic.description
            yield [self.measure, topic.number, title, own, *spread_cells(spread, place)]


def spread_cells(spread: Spread | None, column: int) -> Sequence[Cell]:
    return (None, None, None) if spread is None else spread.at(column)


@dataclass(frozen=True)
class TeamResults:
    """The results of a team on the board of every run, compared with other teams' runs."""

    board: Board
    team: Team

    @cached_property
    def standings(self) -> list[Standing]:
        return [
            standing for standing in self.board.standings if standing.run.team_id == self.team.pk
        ]

    @cached_property
    def peers(self) -> dict[str, list[Run]]:
        """The runs of each type on the board, with the team's own but no organisers' runs.

        A type is missing if fewer than FEWEST_TEAMS other teams have a run of it.
        """
        standings = self.board.standings
        runs = [standing.run for standing in standings if not standing.run.team.of_organisers]
        by_kind = {kind: [run for run in runs if run.kind == kind] for kind in Run.Kind.values}
        return {
            kind: peers
            for kind, peers in by_kind.items()
            if len({run.team_id for run in peers} - {self.team.pk}) >= FEWEST_TEAMS
        }

    @cached_property
    def precision(self) -> Precision:
        return read_precision(self.board)

    @cached_property
    def topics(self) -> list[Topic]:
        return load_evaluated_topics(self.board.edition)

    @cached_property
    def by_measure(self) -> list[MeasureResults]:
        """The results by measure; of other teams' runs only the spread stays in memory."""
        return [self._measure_results(measure) for measure in self.board.measures]

    def _measure_results(self, measure: str) -> MeasureResults:
        runs = [standing.run for standing in self.board.standings]
        scores = read_scores(self.board.edition, measure, runs)
        direction = parse_measure(measure).direction
        return MeasureResults(
            measure=measure,
            own={run.pk: scores.of(run) for run in scores.runs if run.team_id == self.team.pk},
            spreads=self.spreads_of(scores.runs, scores.values, direction),
        )

    def spreads_of(
        self, runs: list[Run], values: NDArray[np.float64], direction: int = 1
    ) -> dict[str, Spread]:
        """Return the spread of each column of float64[runs, columns] by type of run."""
        return {
            kind: compute_spread(values[[run in peers for run in runs]], direction)
            for kind, peers in self.peers.items()
        }

    def members(self) -> Iterator[ZipEntry]:
        """Yield the files of the archive."""
        yield ZipEntry("README.txt", [self._readme().encode()])
        yield ZipEntry(
            "summary.csv",
            render_csv_lines(("run", "type", "measure", "value", *SPREAD_HEADS), self._summary()),
        )
        for standing in self.standings:
            yield from self._members_of(standing.run)

    def _readme(self) -> str:
        edition = self.board.edition
        withheld = sorted({standing.run.kind for standing in self.standings} - set(self.peers))
        return TEAM_README.format(
            track=self.board.sight.track.name,
            team=self.team.name,
            judgments=edition.judgment_set.version,
            topics=counted(edition.num_evaluated, "topic"),
            version=edition.scoring_version,
            fewest=FEWEST_TEAMS,
            withheld=", ".join(withheld) or "no type here",
        )

    def _summary(self) -> Iterator[list[Cell]]:
        everyone = self.board.standings
        for measure in self.board.measures:
            means = np.array(
                [[standing.scores[measure]] for standing in everyone], dtype=np.float64
            )
            direction = parse_measure(measure).direction
            spreads = self.spreads_of([standing.run for standing in everyone], means, direction)
            for standing in self.standings:
                run, spread = standing.run, spreads.get(standing.run.kind)
                yield [
                    str(run),
                    run.kind,
                    measure,
                    standing.scores[measure],
                    *spread_cells(spread, 0),
                ]

    def _members_of(self, run: Run) -> Iterator[ZipEntry]:
        folder = name_folder(run)
        lines = (line for scores in self.by_measure for line in scores.lines_of(run, self.topics))
        head = ("measure", "topic", "title", "value", *SPREAD_HEADS)
        yield ZipEntry(f"{folder}/topics.csv", render_csv_lines(head, lines))
        precision = self.precision
        for name, at, values in (
            ("recall", LEVELS, precision.by_recall),
            ("depth", precision.depths, precision.by_depth),
        ):
            averages = self._averages(run, at, values)
            yield ZipEntry(
                f"{folder}/{name}.csv",
                render_csv_lines((name, "precision", *SPREAD_HEADS), averages),
            )
        yield ZipEntry(
            f"{folder}/curves.csv", render_csv_lines(("topic", *LEVELS), self._curves(run))
        )
        yield ZipEntry(f"{folder}/command.txt", [self._command(run).encode()])
        yield ZipEntry(f"{folder}/page.txt", [self._page(run).encode()])

    def _averages(
        self, run: Run, at: Sequence[float], values: NDArray[np.float64]
    ) -> Iterator[list[Cell]]:
        runs = self.precision.runs
        spread = self.spreads_of(runs, values).get(run.kind)
        for column, value in enumerate(values[runs.index(run)].tolist()):
            yield [at[column], value, *spread_cells(spread, column)]

    def _curves(self, run: Run) -> Iterator[list[Cell]]:
        edition, threshold = self.board.edition, self.board.sight.track.relevance_threshold
        record = ScoreSet.objects.get(run=run, edition=edition).record
        judged = JudgedRun.unpack(bytes(record), load_judgments(edition.pk))
        points = interpolated_by_level(judged, threshold).tolist()
        for topic, values in zip(self.topics, points, strict=True):
            yield [topic.number, *values]

    def _command(self, run: Run) -> str:
        edition, track = self.board.edition, self.board.sight.track
        measures = [str(resolve_measure(track, measure)) for measure in self.board.measures]
        return f"{score_command(edition, measures, [run])}\n"

    def _page(self, run: Run) -> str:
        results = next(scores for scores in self.by_measure if scores.measure == self.board.measure)
        spread = results.spreads.get(run.kind)
        values, median = results.own[run.pk], None if spread is None else spread.median
        return render_appendix(
            self.board, run, self.precision, ScoresByTopic(self.topics, values, median)
        )


def build_board_members(board: Board) -> Iterator[ZipEntry]:
    """Yield a board and its scores as files, as far as this viewer may see them."""
    columns = shown_columns(board)
    yield ZipEntry("README.txt", [BOARD_README.format(caption=build_caption(board)).encode()])
    yield ZipEntry("board.csv", [render_csv(file_of(board, columns)).encode()])
    yield ZipEntry("board.tex", [render_latex(file_of(board, paper_columns(board))).encode()])
    head = ("run", "tag", "team", "topic", *board.measures)
    yield ZipEntry("scores.csv", render_csv_lines(head, score_lines(board, own_names)))


def own_names(run: Run) -> Sequence[Cell]:
    return run.pk, run.tag, run.team.name


def score_lines(board: Board, names: Callable[[Run], Sequence[Cell]]) -> Iterator[list[Cell]]:
    """Yield a line for each run and evaluated topic, reading one run's scores at a time."""
    topics, mask = load_evaluated_topics(board.edition), topic_mask(board.edition)
    for standing in board.standings:
        run = standing.run
        found = Score.objects.filter(score_set__run=run, score_set__edition=board.edition)
        values = {score.measure: score.values[mask] for score in found}
        for place, topic in enumerate(topics):
            cells = [
                float(values[measure][place]) if measure in values else None
                for measure in board.measures
            ]
            yield [*names(run), topic.number, *cells]
