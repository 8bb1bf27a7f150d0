"""What the front page says: each track with its board in a line, and the reader's latest runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from django.utils.safestring import SafeString

from leaderboard.charts import Mark, dot_line
from leaderboard.disclosure import Sight, Viewer, look
from leaderboard.limits import Quota, quota_of
from leaderboard.models import Run, Track
from leaderboard.standings import Board, Standing, find_means
from leaderboard.templatetags.numbers import counted, span

LATEST = 5
OWN_RANKS = 3


@dataclass(frozen=True)
class TrackLine:
    """One track as this reader may see it; `board` is None where there is none to see."""

    sight: Sight
    board: Board | None
    state: str
    quota: Quota | None

    @property
    def track(self) -> Track:
        return self.sight.track

    @property
    def num_teams(self) -> int:
        return len(self.board.teams) if self.board is not None else 0

    @property
    def dots(self) -> SafeString:
        """Every ranked run on a line of the measure that ranks."""
        standings = self.board.standings if self.board is not None else []
        marks = [
            Mark(value, each.run.tag, _kind(each))
            for each in standings
            if (value := each.scores[self.track.primary_measure]) is not None
        ]
        return dot_line(marks, f"{self.track.primary_measure} of the runs of {self.track.name}")

    @property
    def leader(self) -> Standing | None:
        standings = self.board.standings if self.board is not None else []
        return standings[0] if standings and standings[0].rank is not None else None

    @property
    def leading_score(self) -> float | None:
        return self.leader.scores[self.track.primary_measure] if self.leader else None

    @property
    def how_sure(self) -> str:
        """What the tests allow to say of the leader."""
        leader = self.leader
        if leader is None:
            return ""
        if leader.is_baseline:
            return "the baseline"
        if leader.verdict == "better":
            return "better than the baseline"
        others = leader.interval[1] - 1 if leader.interval is not None else 0
        return f"not told apart from {counted(others, 'other')}" if others else ""

    @property
    def own(self) -> list[Standing]:
        return self._own[:OWN_RANKS]

    @property
    def more_own(self) -> int:
        """How many own runs stand below those that are named."""
        return len(self._own[OWN_RANKS:])

    @cached_property
    def _own(self) -> list[Standing]:
        standings = self.board.standings if self.board is not None else []
        return [each for each in standings if each.is_own and each.rank is not None]


def _kind(standing: Standing) -> str:
    return "own" if standing.is_own else "baseline" if standing.is_baseline else "other"


@dataclass(frozen=True)
class Group:
    title: str
    lines: list[TrackLine]


def track_line(track: Track, reader: Viewer) -> TrackLine:
    sight = look(track, reader)
    return TrackLine(
        sight=sight,
        board=find_means(sight),
        state=track.state(),
        quota=quota_of(track, sight.team) if sight.team is not None else None,
    )


def in_groups(lines: list[TrackLine]) -> list[Group]:
    """Open tracks first; groups without a track are left out."""
    closed = [line for line in lines if line.state == Track.State.CLOSED]
    groups = [
        Group("Open", [line for line in lines if line.state == Track.State.OPEN]),
        Group("Not open yet", [line for line in lines if line.state == Track.State.PLANNED]),
        Group("Waiting for scores", [line for line in closed if line.board is None]),
        Group("Closed", [line for line in closed if line.board is not None]),
    ]
    return [group for group in groups if group.lines]


@dataclass(frozen=True)
class LatestRun:
    """One of the reader's own runs, and what became of it."""

    run: Run
    state: str
    detail: str


def latest_runs(reader: Viewer, lines: list[TrackLine]) -> list[LatestRun]:
    if not reader.is_authenticated:
        return []
    by_track = {line.track.pk: line for line in lines}
    runs = Run.objects.filter(team__memberships__user=reader, withdrawn_at=None)
    return [
        LatestRun(run, line.sight.state_of(run), _detail(run, line))
        for run in runs.order_by("-received_at")[:LATEST]
        if (line := by_track.get(run.track_id)) is not None
    ]


def _detail(run: Run, line: TrackLine) -> str:
    if run.state == Run.State.REFUSED:
        errors = [code for code in run.problem_totals if code.startswith("E_")]
        return counted(len(errors), "kind") + " of error"
    standing = line.board.standing_of(run) if line.board is not None else None
    if line.board is None or standing is None or standing.rank is None:
        return ""
    place = f"rank {standing.rank} of {len(line.board.standings)}"
    return place if standing.interval is None else f"{place}, interval {span(*standing.interval)}"
