"""The sentence of a desk: where a track is now."""

from __future__ import annotations

from leaderboard.analysis.desk import Desk
from leaderboard.boards.disclosure import Sight
from leaderboard.display.numbers import counted, percent
from leaderboard.display.phases import Phase

WHERE = {
    Phase.DRAFT: "Only organisers see this track",
    Phase.PLANNED: "The track is not open yet",
    Phase.OPEN: "The track accepts runs",
    Phase.JUDGING: "The track is closed, and judging follows",
    Phase.CLOSED: "The track is closed",
    Phase.RELEASED: "All scores are released",
}


def describe_place(sight: Sight, desk: Desk) -> str:
    """Say where a track is, with what is there so far; the sentence goes on."""
    if desk.judged is not None:
        return f"Judging of {desk.judged.name} is {percent(desk.judged.share)} done"
    phase = sight.phase.phase
    if phase != Phase.OPEN:
        return WHERE[phase]
    runs = sight.track.runs.not_removed().accepted()
    teams = runs.values("team").distinct().count()
    return f"{WHERE[phase]}: {counted(runs.count(), 'run')} of {counted(teams, 'team')} so far"
