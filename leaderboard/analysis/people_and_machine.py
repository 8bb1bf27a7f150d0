"""The boards of a track by people and by a machine, side by side."""

from __future__ import annotations

import re
from dataclasses import dataclass

from django.db.models import QuerySet

from leaderboard.analysis.judge_agreement import JudgeAgreement, compute_version_agreement
from leaderboard.analysis.judge_boards import (
    BoardsByJudge,
    JudgedBoards,
    find_boards_of_versions,
)
from leaderboard.analysis.shifts import Move, OverturnedPair, Shift
from leaderboard.boards.disclosure import Sight
from leaderboard.display.csv_tables import RUN_COLUMNS, CsvTable, tabulate
from leaderboard.models import JudgmentSet, MachineCard, Run
from leaderboard.models.collections import ImportState
from leaderboard.sight.visible_rows import visible_versions_behind


@dataclass(frozen=True)
class PeopleBesideMachine:
    """The two boards by one measure, on the topics that people and the machine judged.

    The shift is from people to the machine. `family` are the runs that state a model of the
    judge's family.
    """

    judged: JudgedBoards
    shift: Shift
    family: frozenset[Run]

    @property
    def of_family(self) -> list[Move]:
        return [move for move in self.shift.by_rank_before if move.run in self.family]

    @property
    def turned(self) -> list[tuple[OverturnedPair, list[Run]]]:
        """The pairs that people and machine decide differently, with those of the family."""
        return [
            (pair, [run for run in (pair.first, pair.second) if run in self.family])
            for pair in self.judged.overturned
        ]

    @property
    def num_reversed(self) -> int:
        return sum(pair.is_reversed for pair in self.judged.overturned)

    @property
    def table(self) -> CsvTable:
        measure = self.shift.measure
        columns = [
            *RUN_COLUMNS,
            *(("rank_by_people", "before.rank"), ("rank_by_machine", "after.rank")),
            ("ranks_gained", "gained"),
            ("judges_family", lambda move: "yes" if move.run in self.family else "no"),
            *((f"{measure}_by_people", "before.mean"), (f"{measure}_by_machine", "after.mean")),
        ]
        return tabulate(self.shift.by_rank_before, columns)

    @property
    def turned_table(self) -> CsvTable:
        columns = [
            *(("first", "first.tag"), ("second", "second.tag")),
            *(("by_people", "before"), ("by_machine", "after")),
            ("difference_by_people", lambda pair: pair.differences[0]),
            ("difference_by_machine", lambda pair: pair.differences[1]),
        ]
        return tabulate(self.judged.overturned, columns)


@dataclass(frozen=True)
class PeopleAndMachine:
    """Two versions to compare; `boards` are None until a job has computed them."""

    people: JudgmentSet
    machine: JudgmentSet
    card: MachineCard | None
    by_judge: BoardsByJudge
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
    by_judge = find_boards_of_versions(sight, people, machine, asked)
    card = MachineCard.objects.filter(judgment_set=machine).first()
    return PeopleAndMachine(
        people=people,
        machine=machine,
        card=card,
        by_judge=by_judge,
        agreement=compute_version_agreement(people.pk, machine.pk),
        boards=_set_side_by_side(by_judge.boards, card) if by_judge.boards is not None else None,
    )


def _set_side_by_side(judged: JudgedBoards, card: MachineCard | None) -> PeopleBesideMachine:
    runs = [each.run for each in judged.runs]
    family = [run for run in runs if card is not None and states_family(run, card)]
    return PeopleBesideMachine(judged, judged.judges[-1].shift, frozenset(family))


def find_comparable_versions(sight: Sight) -> QuerySet[JudgmentSet]:
    """Return the imported versions; others than organisers have those of boards that they see."""
    collection = sight.track.collection
    known = collection.judgment_sets.all()
    if not sight.is_organiser:
        known = visible_versions_behind(sight.viewer, collection)
    return known.filter(state=ImportState.READY)


def find_versions_by_machine(sight: Sight) -> list[JudgmentSet]:
    """Return the versions that a machine alone judged, the latest first."""
    ready = find_comparable_versions(sight)
    return list(ready.filter(made_by=JudgmentSet.MadeBy.MACHINE).order_by("-ready_at", "-pk"))


def find_versions_by_people(sight: Sight) -> list[JudgmentSet]:
    """Return the versions without a machine: that of the board first, then the latest first."""
    ready = find_comparable_versions(sight)
    found = ready.filter(made_by__in=["", JudgmentSet.MadeBy.PEOPLE]).order_by("-ready_at", "-pk")
    board = sight.track.edition.judgment_set_id if sight.track.edition is not None else None
    return sorted(found, key=lambda each: each.pk != board)


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
