"""Who judged a version: how many people, and how many of them have an interest."""

from __future__ import annotations

from dataclasses import dataclass

from leaderboard.models import Assessment, Mark, Membership


@dataclass(frozen=True)
class Judges:
    """Numbers of assessors: all with a grade, those in teams of the track, and organisers."""

    number: int
    in_teams: int
    organisers: int


def count_judges(assessment: Assessment) -> Judges:
    """Count the assessors who gave a grade."""
    graded = Mark.objects.of(assessment).standing().filter(kind=Mark.Kind.GRADE)
    judges = assessment.assessors.filter(pk__in=graded.values("assessor"))
    users = set(judges.exclude(user=None).values_list("user", flat=True))
    members = Membership.objects.filter(
        track=assessment.track_id, user__in=users, team__of_organisers=False
    )
    organisers = assessment.track.organisers().filter(pk__in=users)
    return Judges(judges.count(), members.values("user").distinct().count(), organisers.count())
