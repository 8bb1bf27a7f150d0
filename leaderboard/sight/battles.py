"""Who may vote on pairs of runs, and which of them."""

from __future__ import annotations

from leaderboard.models import Battles, BattleVoter
from leaderboard.models.runs import RunQuerySet
from leaderboard.sight.tracks import TrackSight


def can_vote(sight: TrackSight, battles: Battles) -> bool:
    """Whether the viewer is invited, organises the track, or is one of all who may vote.

    Without an invitation nobody sees by a vote what the scores do not show.
    """
    if not sight.viewer.is_authenticated:
        return False
    invited = BattleVoter.objects.filter(battles=battles, user=sight.viewer)
    if sight.is_organiser or invited.exists():
        return True
    return battles.voters == Battles.Voters.SIGNED_IN and sight.can_see_scores


def runs_for_voter(sight: TrackSight) -> RunQuerySet:
    """Return the runs that may stand in a pair: accepted ones of other teams than the viewer's."""
    runs = sight.track.runs.accepted().not_removed()
    return runs if sight.team is None else runs.exclude(team=sight.team)
