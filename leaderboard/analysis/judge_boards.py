"""What the choice of judges does to a board: tau by judge, turned verdicts, ranks over mixtures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from evaluation.agreement import ranks
from evaluation.measures import parse_measure
from evaluation.significance import Difference, scale_of
from leaderboard.boards.disclosure import Sight
from leaderboard.display.charts.drawing import Kind
from leaderboard.display.csv_tables import RUN_COLUMNS, CsvTable, tabulate
from leaderboard.jobs import calculations
from leaderboard.jobs.calculations import Awaited, Wanted
from leaderboard.models import Assessment, Calculation, JudgmentSet, Run
from leaderboard.scoring.families import match_measure
from leaderboard.scoring.judge_boards import (
    ComparedJudges,
    family_by_judge,
    fill_undefined,
    find_basis,
    measures_by_judge,
    read_means,
)
from leaderboard.scoring.verdicts import verdict_of


@dataclass(frozen=True)
class RankedRun:
    """A run with its rank by the grades that count, and its ranks over the mixtures."""

    run: Run
    rank: int
    mean: float | None
    best: int
    worst: int
    kind: Kind

    @property
    def moves(self) -> bool:
        return self.best != self.worst


@dataclass(frozen=True)
class TurnedVerdict:
    """A run whose verdict against the baseline is another one by a judge."""

    run: Run
    before: str
    after: str


@dataclass(frozen=True)
class JudgeBoard:
    """The board by one judge, compared with that of the grades that count.

    `tau` is Kendall's tau_b, `top` that of the first ten runs; None where undefined. `topics`
    counts those that the judge judged.
    """

    name: str
    topics: int
    tau: float | None
    tau_ap: float | None
    top: float | None
    turned: list[TurnedVerdict]


@dataclass(frozen=True)
class JudgedBoards:
    """The boards by each judge of a track's runs, by one measure; runs by rank."""

    measure: str
    topics: int
    draws: int
    mean_tau: float | None
    least_tau: float | None
    runs: list[RankedRun]
    judges: list[JudgeBoard]
    baseline: Run | None
    computed_at: datetime | None

    @property
    def leaders(self) -> list[RankedRun]:
        """The runs that some mixture puts first."""
        return [each for each in self.runs if each.best == 1]

    @property
    def num_turned(self) -> int:
        """How many runs have another verdict by some judge."""
        return len({turned.run.pk for judge in self.judges for turned in judge.turned})

    @property
    def tables(self) -> dict[str, CsvTable]:
        """The tables by the names that addresses use."""
        return {"runs": self.run_table, "judges": self.judge_table}

    @property
    def run_table(self) -> CsvTable:
        names = ("rank", "mean", "best", "worst")
        return tabulate(self.runs, [*RUN_COLUMNS, *((name, name) for name in names)])

    @property
    def judge_table(self) -> CsvTable:
        columns = [
            *((name, name) for name in ("name", "topics", "tau", "tau_ap", "top")),
            ("turned_verdicts", lambda judge: len(judge.turned)),
        ]
        return tabulate(self.judges, columns)


@dataclass(frozen=True)
class BoardsByJudge:
    """The boards by judge as far as they are computed, and what becomes of those that are not."""

    measures: list[str]
    measure: str
    boards: JudgedBoards | None = None
    awaited: Awaited = Awaited.NOTHING


@dataclass(frozen=True)
class BoardsRequest:
    """The stored results of a measure, None until they are those of the present runs."""

    measures: list[str]
    measure: str
    row: Calculation | None = None
    awaited: Awaited = Awaited.NOTHING


def find_boards_of_assessors(sight: Sight, assessment: Assessment, asked: str) -> BoardsByJudge:
    """Return the boards by each assessor, and have a job compute them if marks are newer."""
    return _find_boards(sight, asked, ComparedJudges(assessment))


def find_boards_of_versions(
    sight: Sight, first: JudgmentSet, second: JudgmentSet, asked: str
) -> BoardsByJudge:
    """Return the boards by two versions, and have a job compute them if they are missing."""
    return _find_boards(sight, asked, ComparedJudges(versions=(first, second)))


def request_boards_of_versions(
    sight: Sight, first: JudgmentSet, second: JudgmentSet, asked: str
) -> BoardsRequest:
    """Return the stored results for two versions, and have a job compute them if needed."""
    return _request_boards(sight, asked, ComparedJudges(versions=(first, second)))


def _find_boards(sight: Sight, asked: str, judges: ComparedJudges) -> BoardsByJudge:
    request = _request_boards(sight, asked, judges)
    known = request.row is not None and "mixtures" in request.row.results
    boards = _read(request.row) if request.row is not None and known else None
    return BoardsByJudge(request.measures, request.measure, boards, request.awaited)


def _request_boards(sight: Sight, asked: str, judges: ComparedJudges) -> BoardsRequest:
    measures = measures_by_judge(sight.track)
    if not measures or not sight.can_see_scores:
        return BoardsRequest([], "")
    measure = match_measure(asked, measures) or measures[0]
    found = BoardsRequest(measures, measure)
    family = family_by_judge(sight.track)
    if len(family) < 2:
        return found
    kind, request = Calculation.Kind.JUDGES, {"measure": measure, **judges.pack()}
    wanted = Wanted(kind, sight.track, f"{measure} by {judges}", request)
    row = wanted.find()
    if row is None or row.basis != find_basis(sight.track, judges):
        found = replace(found, awaited=calculations.request(wanted))
    known = row is not None and row.results.get("family") == family
    return replace(found, row=row if known else None)


def _read(row: Calculation) -> JudgedBoards:
    results, direction = row.results, parse_measure(row.request["measure"]).direction
    family = results["family"]
    runs = Run.objects.filter(pk__in=family).select_related("team", "track").in_bulk()
    means = fill_undefined(read_means(results["reference"]), direction)
    places = ranks(means, direction).tolist()
    mixtures = results["mixtures"]
    lines = [
        RankedRun(
            run=runs[run_id],
            rank=places[number],
            mean=results["reference"]["means"][number],
            best=mixtures["best"][number],
            worst=mixtures["worst"][number],
            kind="baseline" if run_id == results["baseline"] else "other",
        )
        for number, run_id in enumerate(family)
    ]
    before = _verdicts(row, results["reference"])
    return JudgedBoards(
        measure=row.request["measure"],
        topics=results["topics"],
        draws=mixtures["draws"],
        mean_tau=mixtures["mean_tau"],
        least_tau=mixtures["least_tau"],
        runs=sorted(lines, key=lambda each: (each.rank, each.run.pk)),
        judges=[
            JudgeBoard(
                *(judge[name] for name in ("name", "topics", "tau", "tau_ap", "top")),
                turned=_find_turned([runs[run_id] for run_id in family], before, row, judge),
            )
            for judge in results["judges"]
        ],
        baseline=runs.get(results["baseline"]),
        computed_at=row.computed_at,
    )


def _find_turned(
    runs: Sequence[Run], before: Sequence[str], row: Calculation, judge: Mapping[str, Any]
) -> list[TurnedVerdict]:
    return [
        TurnedVerdict(run, old, new)
        for run, old, new in zip(runs, before, _verdicts(row, judge), strict=True)
        if old != new
    ]


def _verdicts(row: Calculation, board: Mapping[str, Any]) -> list[str]:
    """Return the verdict of each run against the baseline, "" where there is none."""
    if "against" not in board:
        return [""] * len(board["means"])
    measure = parse_measure(row.request["measure"])
    unit = scale_of(measure).unit
    return [
        verdict_of(Difference(**packed, unit=unit), row.results["topics"], measure.direction)
        for packed in board["against"]
    ]
