"""The boards of a track by people and by a machine, side by side."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from evaluation.agreement import ranks
from evaluation.measures import parse_measure
from leaderboard.analysis.judge_agreement import JudgeAgreement, compute_version_agreement
from leaderboard.analysis.judge_boards import BoardsRequest, request_boards_of_versions
from leaderboard.boards.disclosure import Sight
from leaderboard.display.charts.drawing import Kind
from leaderboard.display.csv_tables import RUN_COLUMNS, CsvTable, tabulate
from leaderboard.models import Calculation, JudgmentSet, MachineCard, Run
from leaderboard.models.collections import ImportState
from leaderboard.scoring.judge_boards import fill_undefined, read_means

# From this number of ranks on a move has a colour, and a gain is listed.
COLOURED_RANKS = 3
GAINED_RANKS = 5
VERDICTS = {1: "better", 0: "not significant", -1: "worse"}


@dataclass(frozen=True)
class SideRun:
    """A run with its ranks and means by people and by the machine.

    `place` and `machine_place` are ranks without ties: its rows on both sides.  `is_family` says
    that it states a model of the judge's family.
    """

    run: Run
    rank: int
    machine_rank: int
    mean: float | None
    machine_mean: float | None
    place: int
    machine_place: int
    is_family: bool
    kind: Kind

    @property
    def gained(self) -> int:
        """How many ranks it gains by the machine; negative if it loses some."""
        return self.rank - self.machine_rank

    @property
    def lost(self) -> int:
        return -self.gained

    @property
    def side(self) -> str:
        """The class of its colour, "" for a small move."""
        if abs(self.gained) < COLOURED_RANKS:
            return ""
        return "better" if self.gained > 0 else "worse"


@dataclass(frozen=True)
class PairTurnedByMachine:
    """Two runs on which people and machine decide differently; verdicts are on the first run."""

    first: SideRun
    second: SideRun
    by_people: str
    by_machine: str
    difference: float
    machine_difference: float

    @property
    def is_reversed(self) -> bool:
        return {self.by_people, self.by_machine} == {"better", "worse"}

    @property
    def of_family(self) -> list[Run]:
        """Those of the two that state a model of the judge's family."""
        return [each.run for each in (self.first, self.second) if each.is_family]


@dataclass(frozen=True)
class PeopleBesideMachine:
    """The two boards by one measure, on the topics that people and the machine judged.

    `runs` are by rank by people.  `top` is tau of the first ten runs by people.
    """

    measure: str
    topics: int
    tau: float | None
    tau_ap: float | None
    top: float | None
    runs: list[SideRun]
    num_pairs: int
    turned: list[PairTurnedByMachine]
    computed_at: datetime | None

    @property
    def by_machine(self) -> list[SideRun]:
        return sorted(self.runs, key=lambda each: each.machine_place)

    @property
    def mean_shift(self) -> float | None:
        """How much higher the scores are by the machine, on average over the runs."""
        shifts = [
            each.machine_mean - each.mean
            for each in self.runs
            if each.mean is not None and each.machine_mean is not None
        ]
        return sum(shifts) / len(shifts) if shifts else None

    @property
    def gainers(self) -> list[SideRun]:
        """The runs that gain at least five ranks by the machine, the largest gain first."""
        found = [each for each in self.runs if each.gained >= GAINED_RANKS]
        return sorted(found, key=lambda each: each.machine_place - each.place)

    @property
    def of_family(self) -> list[SideRun]:
        return [each for each in self.runs if each.is_family]

    @property
    def num_reversed(self) -> int:
        return sum(pair.is_reversed for pair in self.turned)

    @property
    def table(self) -> CsvTable:
        columns = [
            *RUN_COLUMNS,
            *(("rank_by_people", "rank"), ("rank_by_machine", "machine_rank")),
            ("ranks_gained", "gained"),
            ("judges_family", lambda each: "yes" if each.is_family else "no"),
            (f"{self.measure}_by_people", "mean"),
            (f"{self.measure}_by_machine", "machine_mean"),
        ]
        return tabulate(self.runs, columns)

    @property
    def turned_table(self) -> CsvTable:
        columns = [
            *(("first", "first.run.tag"), ("second", "second.run.tag")),
            *((name, name) for name in ("by_people", "by_machine")),
            ("difference_by_people", "difference"),
            ("difference_by_machine", "machine_difference"),
        ]
        return tabulate(self.turned, columns)


@dataclass(frozen=True)
class PeopleAndMachine:
    """Two versions to compare; `boards` are None until a job has computed them."""

    people: JudgmentSet
    machine: JudgmentSet
    card: MachineCard | None
    request: BoardsRequest
    agreement: JudgeAgreement
    boards: PeopleBesideMachine | None

    @property
    def grade_shift(self) -> float | None:
        """How much higher the machine's grades are on average, on documents that both judged."""
        cells = [cell for row in self.agreement.confusion for cell in row]
        if not self.agreement.num_pairs:
            return None
        higher = sum((cell.second - cell.first) * cell.count for cell in cells)
        return higher / self.agreement.num_pairs


def find_people_and_machine(
    sight: Sight, people: JudgmentSet, machine: JudgmentSet, asked: str
) -> PeopleAndMachine:
    """Return the two boards, and have a job compute them if they are missing."""
    request = request_boards_of_versions(sight, people, machine, asked)
    card = MachineCard.objects.filter(judgment_set=machine).first()
    row = request.row
    known = row is not None and "pairs" in row.results
    return PeopleAndMachine(
        people=people,
        machine=machine,
        card=card,
        request=request,
        agreement=compute_version_agreement(people.pk, machine.pk),
        boards=_read(row, card) if row is not None and known else None,
    )


def find_versions_by_machine(sight: Sight) -> list[JudgmentSet]:
    """Return the versions that a machine alone judged, the latest first."""
    ready = sight.track.collection.judgment_sets.filter(state=ImportState.READY)
    return list(ready.filter(made_by=JudgmentSet.MadeBy.MACHINE).order_by("-ready_at", "-pk"))


def find_versions_by_people(sight: Sight) -> list[JudgmentSet]:
    """Return the versions without a machine: that of the board first, then the latest first."""
    ready = sight.track.collection.judgment_sets.filter(state=ImportState.READY)
    found = ready.filter(made_by__in=["", JudgmentSet.MadeBy.PEOPLE]).order_by("-ready_at", "-pk")
    board = sight.track.edition.judgment_set_id if sight.track.edition is not None else None
    return sorted(found, key=lambda each: each.pk != board)


def _read(row: Calculation, card: MachineCard | None) -> PeopleBesideMachine:
    results, measure = row.results, parse_measure(row.request["measure"])
    boards = results["reference"], results["judges"][-1]
    means = [fill_undefined(read_means(board), measure.direction) for board in boards]
    placed = [ranks(each, measure.direction).tolist() for each in means]
    runs = Run.objects.select_related("team", "track").in_bulk(results["family"])
    # Runs with the same rank keep one order on both sides, so that no lines cross for nothing.
    orders = [_places(each, results["family"]) for each in placed]
    sides = [
        SideRun(
            run=runs[run_id],
            rank=placed[0][number],
            machine_rank=placed[1][number],
            mean=boards[0]["means"][number],
            machine_mean=boards[1]["means"][number],
            place=orders[0][number],
            machine_place=orders[1][number],
            is_family=card is not None and states_family(runs[run_id], card),
            kind="baseline" if run_id == results["baseline"] else "other",
        )
        for number, run_id in enumerate(results["family"])
    ]
    return PeopleBesideMachine(
        measure=row.request["measure"],
        topics=results["topics"],
        tau=boards[1]["tau"],
        tau_ap=boards[1]["tau_ap"],
        top=boards[1]["top"],
        runs=sorted(sides, key=lambda each: each.place),
        num_pairs=results["pairs"]["count"],
        turned=_read_turned(results["pairs"], sides),
        computed_at=row.computed_at,
    )


def _places(placed: Sequence[int], family: Sequence[str]) -> list[int]:
    """Return the row of each run, from 1 on: by rank, equal ranks by id.

    >>> _places([1, 1, 3], ["b", "a", "c"])
    [2, 1, 3]
    """
    order = sorted(range(len(placed)), key=lambda number: (placed[number], family[number]))
    row_of = {number: row for row, number in enumerate(order, 1)}
    return [row_of[number] for number in range(len(placed))]


def _read_turned(pairs: Mapping[str, Any], sides: Sequence[SideRun]) -> list[PairTurnedByMachine]:
    """Return the pairs that turn: reversed ones first, then by the places of their runs."""
    turned = []
    for first, second, before, after, old, new in pairs["turned"]:
        one, other, sign = sides[first], sides[second], 1
        if one.place > other.place:
            one, other, sign = other, one, -1
        verdicts = VERDICTS[sign * before], VERDICTS[sign * after]
        turned.append(PairTurnedByMachine(one, other, *verdicts, sign * old, sign * new))
    return sorted(
        turned, key=lambda pair: (not pair.is_reversed, pair.first.place, pair.second.place)
    )


def states_family(run: Run, card: MachineCard) -> bool:
    """Whether a run states a model of the judge's family in its facts or its description."""
    family = find_family(card)
    if not family:
        return False
    # "ChatGPT" is of the family "gpt", but "colbert" is not of "bert".
    wanted = rf"(?<![a-z])(chat)?{re.escape(family)}(?![a-z])"
    stated = f"{run.facts.get('models', '')}\n{run.description}"
    return re.search(wanted, stated, re.IGNORECASE) is not None


def find_family(card: MachineCard) -> str:
    """Return the family of the judge: as stated, or else the first word of its model."""
    if card.family:
        return card.family.strip().lower()
    # Of "meta-llama/Llama-3" the part before the slash is who published it.
    words = re.findall(r"[a-z]+", card.model.lower().rpartition("/")[2])
    return words[0] if words else ""
