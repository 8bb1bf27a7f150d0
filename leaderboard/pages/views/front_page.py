"""The front page: a summary of each track and the reader's latest runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.utils.safestring import SafeString

from leaderboard.boards.disclosure import Sight, sights_of
from leaderboard.boards.summaries import BoardSummary, RankedPlace, summarise_boards
from leaderboard.display.charts import ChartMark, dot_line
from leaderboard.display.charts.drawing import Kind
from leaderboard.display.numbers import count, counted, span
from leaderboard.display.phases import WORDS, Phase, find_phase
from leaderboard.models import Run, Track
from leaderboard.runs.quotas import Quota, find_quotas
from leaderboard.sight.tracks import Viewer

LATEST = 5
OWN_RANKS = 3
# Rows of the front page for readers who are not signed in.
LIVE = 8
FIRST_PLACES = 5
GROUP_ORDER = (
    Phase.DRAFT,
    Phase.OPEN,
    Phase.PLANNED,
    Phase.JUDGING,
    Phase.CLOSED,
    Phase.RELEASED,
)


@dataclass(frozen=True)
class TrackLine:
    """One track as this reader may see it; `board` is None if the reader sees none."""

    sight: Sight
    board: BoardSummary | None
    state: str
    quota: Quota | None

    @property
    def track(self) -> Track:
        return self.sight.track

    @cached_property
    def phase(self) -> Phase:
        """The phase of the track for the reader's team, which may have its own deadline."""
        return find_phase(self.track, team=self.sight.team)

    @property
    def places(self) -> list[RankedPlace]:
        return self.board.places if self.board is not None else []

    @property
    def dots(self) -> SafeString:
        """Draw every ranked run on an axis of the ranking measure."""
        marks = [
            ChartMark(each.mean, str(each.run), _mark_kind(each))
            for each in self.places
            if each.mean is not None
        ]
        return dot_line(marks, f"{self.track.primary_measure} of the runs of {self.track.name}")

    @property
    def how_sure(self) -> str:
        """Say how the tests compare the leader with the baseline or the other runs."""
        leader = self.board.leader if self.board is not None else None
        if leader is None:
            return ""
        if leader.is_baseline:
            return "the baseline"
        if leader.verdict == "better":
            return "significantly better than the baseline"
        if leader.interval is None:
            return "cannot be told apart from the baseline" if leader.verdict else ""
        best = [each for each in self.places if each.interval and each.interval[0] == 1]
        return f"{count(len(best))} runs may be the best" if len(best) > 1 else ""

    @property
    def own(self) -> list[RankedPlace]:
        return self._own[:OWN_RANKS]

    @property
    def more_own(self) -> int:
        """The number of own runs that are not listed."""
        return len(self._own[OWN_RANKS:])

    @cached_property
    def _own(self) -> list[RankedPlace]:
        return [each for each in self.places if each.is_own and each.rank is not None]


def _mark_kind(place: RankedPlace) -> Kind:
    return "own" if place.is_own else "baseline" if place.is_baseline else "other"


def track_lines(tracks: Sequence[Track], reader: Viewer) -> list[TrackLine]:
    sights = sights_of(tracks, reader)
    boards = summarise_boards(sights)
    quotas = find_quotas([(sight.track, sight.team) for sight in sights if sight.team is not None])
    return [
        TrackLine(
            sight=sight,
            board=boards.get(sight.track.pk),
            state=sight.state,
            quota=quotas[sight.track.pk, sight.team.pk] if sight.team is not None else None,
        )
        for sight in sights
    ]


def group_tracks(lines: list[TrackLine]) -> dict[str, list[TrackLine]]:
    """Group tracks by the name of their phase, drafts and open ones first, no group empty."""
    groups = {
        WORDS[phase]: [line for line in lines if line.phase == phase] for phase in GROUP_ORDER
    }
    return {name: found for name, found in groups.items() if found}


def build_front_page(lines: list[TrackLine]) -> dict[str, object]:
    """Return what the front page shows a reader who is not signed in.

    Live tracks come first by their next date; one board with scores is shown as an example.
    """
    live = [line for line in lines if line.state != Track.State.CLOSED or line.sight.accepts_runs]
    live.sort(key=_next_date)
    boards = [line for line in lines if line.board is not None and line.board.leader is not None]
    example = max(boards, key=lambda line: len(line.places), default=None)
    return {
        "live": live[:LIVE],
        "num_live": len(live),
        "num_tracks": len(lines),
        "groups": group_tracks(lines),
        "example": example,
        "first_places": example.places[:FIRST_PLACES] if example is not None else [],
    }


def _next_date(line: TrackLine) -> tuple[bool, datetime]:
    """Order by the next date of a track; tracks without dates come last."""
    track = line.track
    date = track.starts_at if line.state == Track.State.PLANNED else line.sight.deadline
    return date is None, date or track.created_at


def latest_runs(reader: Viewer, lines: list[TrackLine]) -> list[tuple[Run, Track, str, str]]:
    """Return the reader's latest runs, each with its track, its state and its result."""
    if not reader.is_authenticated:
        return []
    by_track = {line.track.pk: line for line in lines}
    runs = Run.objects.sent_by(reader).filter(withdrawn_at=None)
    return [
        (run, line.track, line.sight.state_of(run), _describe_result(run, line))
        for run in runs.order_by("-received_at", "pk")[:LATEST]
        if (line := by_track.get(run.track_id)) is not None
    ]


def _describe_result(run: Run, line: TrackLine) -> str:
    if run.state == Run.State.REFUSED:
        errors = [code for code in run.problem_totals if code.startswith("E_")]
        return counted(len(errors), "kind") + " of error"
    place = line.board.by_run.get(run.pk) if line.board is not None else None
    if place is None or place.rank is None:
        return ""
    rank = f"rank {place.rank} of {len(line.places)}"
    return rank if place.interval is None else f"{rank}, possible ranks {span(*place.interval)}"
