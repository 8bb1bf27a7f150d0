"""What the choice of judges does to a board: tau by judge, turned verdicts, ranks over mixtures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from evaluation.answers.any_measure import parse_measure
from evaluation.significance import Difference, scale_of
from leaderboard.analysis.shifts import OverturnedPair, Placing, Shift, find_shift, place_runs
from leaderboard.boards.disclosure import Sight
from leaderboard.display.charts.drawing import Kind
from leaderboard.display.csv_tables import RUN_COLUMNS, CsvTable, tabulate
from leaderboard.jobs import calculations
from leaderboard.jobs.calculations import Awaited, Wanted
from leaderboard.models import Assessment, Calculation, Edition, JudgmentSet, MarkLayer, Run
from leaderboard.scoring.editions import with_marks
from leaderboard.scoring.families import match_measure
from leaderboard.scoring.judge_boards import (
    ComparedJudges,
    family_by_judge,
    find_basis,
    measures_by_judge,
    measures_by_marks,
)
from leaderboard.scoring.verdicts import verdict_of

# What a stored decision says of the first run of a pair.
VERDICTS = {1: "better", 0: "not significant", -1: "worse"}


@dataclass(frozen=True)
class RankedRun:
    """A run with its place by the grades that count, and its ranks over the mixtures.

    From `low` to `high` lie 95 % of its means over them.
    """

    run: Run
    place: Placing
    best: int
    worst: int
    kind: Kind
    low: float | None = None
    high: float | None = None

    @property
    def moves(self) -> bool:
        return self.best != self.worst


@dataclass(frozen=True)
class JudgeBoard:
    """A judge, how many topics were judged, and what changes on a board by these grades."""

    name: str
    topics: int
    shift: Shift


@dataclass(frozen=True)
class JudgedBoards:
    """The boards by each judge of a track's runs, by one measure; runs by rank.

    With versions as judges `num_pairs` pairs of runs are tested by each, and on `num_flipped` some
    decides differently; those on which the first and the last do are `overturned`: reversed ones
    first, then by rank.
    """

    measure: str
    topics: int
    draws: int
    mean_tau: float | None
    least_tau: float | None
    runs: list[RankedRun]
    judges: list[JudgeBoard]
    baseline: Run | None
    num_pairs: int
    num_flipped: int
    overturned: list[OverturnedPair]
    computed_at: datetime | None

    @property
    def leaders(self) -> list[RankedRun]:
        """The runs that some mixture puts first."""
        return [each for each in self.runs if each.best == 1]

    @property
    def num_turned(self) -> int:
        """How many runs have another verdict by some judge."""
        return len({move.run.pk for judge in self.judges for move in judge.shift.turned})

    @property
    def tables(self) -> dict[str, CsvTable]:
        """The tables by the names that addresses use."""
        return {"runs": self.run_table, "judges": self.judge_table}

    @property
    def run_table(self) -> CsvTable:
        columns = [
            *RUN_COLUMNS,
            *(("rank", "place.rank"), ("mean", "place.mean"), ("best", "best"), ("worst", "worst")),
        ]
        return tabulate(self.runs, columns)

    @property
    def judge_table(self) -> CsvTable:
        columns = [
            *(("name", "name"), ("topics", "topics")),
            *(("tau", "shift.agreement.tau_b"), ("tau_ap", "shift.agreement.tau_ap")),
            *(("top", "shift.top"), ("turned_verdicts", lambda judge: len(judge.shift.turned))),
        ]
        return tabulate(self.judges, columns)


@dataclass(frozen=True)
class BoardsByJudge:
    """The boards by judge as far as they are computed, and what becomes of those that are not."""

    measures: list[str]
    measure: str
    boards: JudgedBoards | None = None
    awaited: Awaited = Awaited.NOTHING


def find_boards_of_assessors(sight: Sight, assessment: Assessment, asked: str) -> BoardsByJudge:
    """Return the boards by each assessor, and have a job compute them if marks are newer."""
    return _find_boards(sight, asked, ComparedJudges(assessment))


def find_boards_of_versions(
    sight: Sight | None, first: JudgmentSet, second: JudgmentSet, asked: str
) -> BoardsByJudge:
    """Return the boards by two versions, and have a job compute them if they are missing."""
    if sight is None:
        return BoardsByJudge([], "")
    return _find_boards(sight, asked, ComparedJudges(versions=(first, second)))


def find_boards_of_machines(
    sight: Sight, versions: Sequence[JudgmentSet], asked: str
) -> BoardsByJudge:
    """Return the boards by several versions of machines, and have a job compute what is missing."""
    return _find_boards(sight, asked, ComparedJudges(versions=tuple(versions)))


def find_boards_of_entrants(sight: Sight, edition: Edition, asked: str) -> BoardsByJudge:
    """Return the boards by each judge of an edition, and have a job compute what is missing."""
    layer = MarkLayer.objects.judged_by(with_marks(edition)).first()
    measures = measures_by_marks(sight.track, layer) if layer is not None else None
    return _find_boards(sight, asked, ComparedJudges(entrants=edition), measures)


def _find_boards(
    sight: Sight, asked: str, judges: ComparedJudges, measures: list[str] | None = None
) -> BoardsByJudge:
    if measures is None:
        measures = measures_by_judge(sight.track)
    if not measures or not sight.can_see_scores:
        return BoardsByJudge([], "")
    measure = match_measure(asked, measures) or measures[0]
    family = family_by_judge(sight.track)
    if len(family) < 2:
        return BoardsByJudge(measures, measure)
    kind, request = Calculation.Kind.JUDGES, {"measure": measure, **judges.pack()}
    wanted = Wanted(kind, sight.track, f"{measure} by {judges}", request)
    row, awaited = wanted.find(), Awaited.NOTHING
    if row is None or row.basis != find_basis(sight.track, judges):
        awaited = calculations.request(wanted)
    is_known = row is not None and row.results.get("family") == family and row.results["judges"]
    boards = _read(row) if row is not None and is_known else None
    return BoardsByJudge(measures, measure, boards, awaited)


def _read(row: Calculation) -> JudgedBoards:
    results, mixtures, measure = row.results, row.results["mixtures"], row.request["measure"]
    found = Run.objects.select_related("team", "track").in_bulk(results["family"])
    runs = [found[run_id] for run_id in results["family"]]
    reference, *by_judge = (
        _read_places(row, board) for board in (results["reference"], *results["judges"])
    )
    spreads = results.get("noise") or [(None, None)] * len(runs)
    ranked = [
        RankedRun(
            *(run, place, best, worst),
            "baseline" if run.pk == results["baseline"] else "other",
            *spread,
        )
        for run, place, best, worst, spread in zip(
            *(runs, reference, mixtures["best"], mixtures["worst"], spreads), strict=True
        )
    ]
    ranked.sort(key=lambda each: (each.place.rank, each.run.pk))
    pairs = results.get("pairs", {"count": 0, "flipped": 0, "turned": []})
    return JudgedBoards(
        measure=measure,
        topics=results["topics"],
        draws=mixtures["draws"],
        mean_tau=mixtures["mean_tau"],
        least_tau=mixtures["least_tau"],
        runs=ranked,
        judges=[
            JudgeBoard(judge["name"], judge["topics"], find_shift(measure, runs, reference, places))
            for judge, places in zip(results["judges"], by_judge, strict=True)
        ],
        baseline=found.get(results["baseline"]),
        num_pairs=pairs["count"],
        num_flipped=pairs.get("flipped", 0),
        overturned=_read_overturned(pairs["turned"], runs, ranked),
        computed_at=row.computed_at,
    )


def _read_places(row: Calculation, board: Mapping[str, Any]) -> list[Placing]:
    direction = parse_measure(row.request["measure"]).direction
    return place_runs(board["means"], direction, _verdicts(row, board))


def _read_overturned(
    stored: Sequence[Sequence[Any]], runs: Sequence[Run], ranked: Sequence[RankedRun]
) -> list[OverturnedPair]:
    """Return the turned pairs; the first run of each is the one with the better rank."""
    row_of = {each.run.pk: row for row, each in enumerate(ranked)}
    turned = []
    for one, other, before, after, old, new in stored:
        first, second, sign = runs[one], runs[other], 1
        if row_of[first.pk] > row_of[second.pk]:
            first, second, sign = second, first, -1
        verdicts = VERDICTS[sign * before], VERDICTS[sign * after]
        turned.append(OverturnedPair(first, second, *verdicts, (sign * old, sign * new)))
    turned.sort(
        key=lambda pair: (not pair.is_reversed, row_of[pair.first.pk], row_of[pair.second.pk])
    )
    return turned


def _verdicts(row: Calculation, board: Mapping[str, Any]) -> list[str]:
    """Return the verdict of each run against the baseline, "" where there is none."""
    if "against" not in board:
        return [""] * len(board["means"])
    measure = parse_measure(row.request["measure"])
    unit = scale_of(measure).unit
    # Results of earlier versions are of topics without groups.
    units = row.results.get("units", row.results["topics"])
    return [
        verdict_of(Difference(**packed, unit=unit), units, measure.direction)
        for packed in board["against"]
    ]
