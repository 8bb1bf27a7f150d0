"""The boards of systems that each judge of a track would make, beside that of people.

The systems are the runs of a track of rankings on the same collection, or the answers that judges
marked. A judge has its grades or marks alone: what it did not grade is unjudged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evaluation.agreement.judges import BoardOfJudge, compare_systems
from evaluation.answers.any_measure import parse_measure
from leaderboard.analysis.judge_boards import (
    BoardsByJudge,
    JudgeBoard,
    JudgedBoards,
    find_boards_of_entrants,
)
from leaderboard.analysis.shifts import Move, Shift
from leaderboard.boards.disclosure import Sight, sights_of
from leaderboard.display.csv_tables import RUN_COLUMNS, TEAM_COLUMNS, CsvTable, tabulate
from leaderboard.models import MarkLayer, Run, Track
from leaderboard.scoring.kinds import RANKED


@dataclass(frozen=True)
class EntrantBoard:
    """A judge, and what it would have done to the board; the shift is from people to the judge."""

    run: Run
    board: BoardOfJudge
    shift: Shift
    is_own: bool

    @property
    def leader(self) -> Run:
        return self.shift.leader.run


@dataclass(frozen=True)
class RankedSystem:
    """A system with its place by people, and by each judge in their order."""

    people: Move
    moves: list[Move]

    @property
    def run(self) -> Run:
        return self.people.run


@dataclass(frozen=True)
class RunFamily:
    """The runs of one team, and by how much each judge favours them.

    It is the mean of judge less people over these runs, less that over the runs of others.
    """

    team: str
    runs: int
    favours: list[float | None]


@dataclass(frozen=True)
class FoundEntrantBoards:
    """The boards by the judges as far as they are computed, the nearest to people first."""

    tracks: list[Track]
    systems: Track | None
    by_judge: BoardsByJudge
    rows: list[EntrantBoard]
    # Whether the teams of the systems go by pseudonyms.
    hides_teams: bool = False

    @property
    def boards(self) -> JudgedBoards | None:
        return self.by_judge.boards

    @cached_property
    def runs(self) -> list[RankedSystem]:
        """The systems by their rank by people."""
        if not self.rows:
            return []
        moves = [{move.run: move for move in row.shift.moves} for row in self.rows]
        return [
            RankedSystem(move, [of[move.run] for of in moves])
            for move in self.rows[0].shift.by_rank_before
        ]

    @cached_property
    def families(self) -> list[RunFamily]:
        """The teams of the systems, where there are several and their names are shown."""
        if self.hides_teams:
            return []
        teams = sorted({row.run.team.name for row in self.runs})
        return [self._find_family(team) for team in teams] if len(teams) > 1 else []

    def _find_family(self, team: str) -> RunFamily:
        own = [row.run.team.name == team for row in self.runs]
        changes = zip(*([move.change for move in row.moves] for row in self.runs), strict=True)
        return RunFamily(team, sum(own), [_compare_changes(each, own) for each in changes])

    @property
    def _family_table(self) -> CsvTable:
        cells = [
            [family.team, family.runs, row.run.pk, row.run.tag, favour]
            for family in self.families
            for row, favour in zip(self.rows, family.favours, strict=True)
        ]
        return CsvTable(["team", "runs", "judge", "tag", "favours"], cells)

    @property
    def tables(self) -> dict[str, CsvTable]:
        """The tables by the names that addresses use."""
        judges = [
            *TEAM_COLUMNS,
            *((name, f"board.{name}") for name in ("tau", "tau_ap", "top", "error", "bias")),
            *(("turned_verdicts", lambda row: len(row.shift.turned)), ("first", "leader.tag")),
            ("systems", "board.systems"),
        ]
        systems = [
            *RUN_COLUMNS,
            *(("rank_by_people", "people.before.rank"), ("mean_by_people", "people.before.mean")),
            *(
                (f"{what}_by_{row.run.pk}", _place_of(number, what))
                for number, row in enumerate(self.rows)
                for what in ("rank", "mean")
            ),
        ]
        return {
            "judges": tabulate(self.rows, judges),
            "systems": tabulate(self.runs, systems),
            "families": self._family_table,
        }


def _compare_changes(changes: Sequence[float | None], own: Sequence[bool]) -> float | None:
    """The mean change of the runs of one's own less that of all others; None without either."""
    both = [
        [change for change, is_own in zip(changes, own, strict=True) if is_own == side]
        for side in (True, False)
    ]
    ours, others = ([change for change in side if change is not None] for side in both)
    return sum(ours) / len(ours) - sum(others) / len(others) if ours and others else None


def _place_of(number: int, what: str) -> Callable[[RankedSystem], float | None]:
    return lambda row: getattr(row.moves[number].after, what)


def find_entrant_boards(sight: Sight, systems: str = "", measure: str = "") -> FoundEntrantBoards:
    """Return the boards that judges make of the runs of a track, by its short name.

    Without one it is the first; a job computes what is missing.
    """
    seen = find_system_sights(sight)
    tracks = [each.track for each in seen]
    chosen = next((each for each in seen if each.track.slug == systems), seen[0] if seen else None)
    edition = sight.edition
    if chosen is None or edition is None:
        return FoundEntrantBoards(tracks, None, BoardsByJudge([], ""), [])
    edition.track = sight.track
    by_judge = find_boards_of_entrants(chosen, edition, measure)
    rows = [] if by_judge.boards is None else _read_rows(sight, chosen, by_judge.boards)
    return FoundEntrantBoards(tracks, chosen.track, by_judge, rows, chosen.hides_names)


def find_system_sights(sight: Sight) -> list[Sight]:
    """Return the views of the tracks of rankings whose scores this viewer sees too.

    They are on the collection of the track of judges; those of its benchmark come first. Of judges
    that mark answers it is the track of these answers.
    """
    visible = Track.objects.visible_to(sight.viewer).filter(collection=sight.track.collection_id)
    if sight.track.judged_marks:
        judged = visible.filter(mark_layers__in=MarkLayer.objects.judged_by(sight.track)[:1])
    else:
        judged = visible.filter(run_kind=RANKED.name)
    judged = judged.select_related("benchmark", "collection")
    seen = [each for each in sights_of(list(judged.order_by("pk")), sight.viewer)]
    shown = [each for each in seen if each.can_see_scores and each.edition is not None]
    home = sight.track.benchmark_id
    return sorted(shown, key=lambda each: each.track.benchmark_id != home)


def _read_rows(sight: Sight, systems: Sight, boards: JudgedBoards) -> list[EntrantBoard]:
    judges = sight.runs().on_the_board().in_bulk([judge.name for judge in boards.judges])
    rows = [
        _read_row(sight, systems, judge, judges[judge.name])
        for judge in boards.judges
        if judge.name in judges
    ]
    return sorted(rows, key=_by_tau)


def _read_row(sight: Sight, systems: Sight, judge: JudgeBoard, run: Run) -> EntrantBoard:
    shift = judge.shift
    moves = [
        Move(systems.with_shown_name(move.run), move.before, move.after) for move in shift.moves
    ]
    known = [move for move in moves if None not in (move.before.mean, move.after.mean)]
    people, given = (
        np.array([getattr(move, side).mean for move in known], dtype=np.float64)
        for side in ("before", "after")
    )
    return EntrantBoard(
        run=sight.with_shown_name(run),
        board=compare_systems(people, given, parse_measure(shift.measure).direction),
        shift=Shift(shift.measure, moves),
        is_own=sight.owns(run),
    )


def _by_tau(row: EntrantBoard) -> tuple[float, float, str]:
    tau = row.board.tau
    return (2.0 if tau is None else -tau, row.board.error, row.run.pk)
