"""Who judges a track is in no team of it, unless its organisers allow both."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Q, QuerySet

from leaderboard.actions.refusals import ActionError
from leaderboard.models import Assessor, Benchmark, Membership, User


class JudgesError(ActionError):
    """An assessor would become a member of a team."""

    def __init__(self, assessor: Assessor) -> None:
        track = assessor.assessment.track
        super().__init__(f"Assessors of {track} cannot take part in it. Ask its organisers.")


def lock_people(users: Iterable[int]) -> None:
    """Lock users until the end of the transaction, so that each joins one thing at a time."""
    list(User.objects.filter(pk__in=users).order_by("pk").select_for_update(no_key=True))


def find_judges(benchmark: Benchmark, users: Iterable[int]) -> QuerySet[Assessor]:
    """Return those of the users who judge one of the benchmark's tracks, where teams may not.

    Who was taken off still counts after a topic was begun: its documents and grades are known.
    """
    strict = Assessor.objects.filter(
        user__in=users,
        assessment__track__benchmark=benchmark,
        assessment__allows_participants=False,
    )
    judging = strict.filter(Q(removed_at=None) | Q(assignments__drawn_at__isnull=False))
    return judging.select_related("user", "assessment__track").distinct()


def find_members(benchmark_id: int, users: Iterable[int]) -> QuerySet[Membership]:
    """Return the memberships of users in teams of a benchmark, save those of organisers."""
    return Membership.objects.filter(
        benchmark=benchmark_id, user__in=users, team__of_organisers=False
    )
