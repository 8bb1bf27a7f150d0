"""Whom organisers can write to: groups of the people of a benchmark, and chosen teams."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any

from django.db.models import Count, QuerySet, Sum
from django.utils import timezone

from leaderboard.display.numbers import counted
from leaderboard.models import (
    Assessment,
    Assessor,
    AssignedDocument,
    Assignment,
    Benchmark,
    Membership,
    Registration,
    Run,
    Team,
    Track,
)
from leaderboard.models.assessments import DocumentState
from leaderboard.notifications.email import count_by_email

TEAMS, WITHOUT_RUN, NOT_SIGNED, BEHIND = "teams", "without_run", "not_signed", "behind"
# A benchmark of more tracks has no group for each: they would fill pages.
MOST_TRACKS = 20
# Before the short name of a track.
OF_TRACK = "track "
# Before the key of a team.
TEAM = "team "


@dataclass(frozen=True)
class MessageGroup:
    """People to whom organisers can write: teams or assessors; `key` is its name in a form."""

    key: str
    name: str
    users: frozenset[int]
    teams: frozenset[int] = frozenset()

    @property
    def label(self) -> str:
        """Its name and its size, for a form."""
        if self.key != BEHIND and not self.key.startswith(TEAM):
            return f"{self.name}: {counted(len(self.teams), 'team')}"
        return f"{self.name}: {counted(len(self.users), 'person,people')}"


@dataclass(frozen=True)
class Recipients:
    """Who gets a message, each once, and how many of them by email too."""

    groups: Sequence[MessageGroup]
    users: frozenset[int]
    num_teams: int
    num_by_email: int

    @property
    def names(self) -> list[str]:
        return [group.name for group in self.groups]


def find_groups(benchmark: Benchmark) -> list[MessageGroup]:
    """Return the groups of a benchmark, also those that are empty now."""
    teams = _participants(benchmark)
    members = _find_members(teams)
    registered = dict(Registration.objects.filter(team__in=teams).values_list("team", "answers"))
    active = Run.objects.active().filter(track__benchmark=benchmark)
    running = set(active.values_list("team", "track"))
    with_run = {team for team, _ in running}
    groups = [
        _group_of(TEAMS, "All teams", members, members),
        _group_of(WITHOUT_RUN, "Teams without a run", set(members) - with_run, members),
    ]
    if benchmark.agreement is not None:
        signed = benchmark.registrations.signed().values_list("team", flat=True)
        unsigned = set(registered) - set(signed)
        name = "Registered teams that have not signed"
        groups.append(_group_of(NOT_SIGNED, name, unsigned, members))
    tracks = list(benchmark.tracks.in_order()[: MOST_TRACKS + 1])
    if 1 < len(tracks) <= MOST_TRACKS:
        for track in tracks:
            named = {team for team, said in registered.items() if _names(said, track)}
            of_track = {team for team, where in running if where == track.pk} | named
            groups.append(
                _group_of(f"{OF_TRACK}{track.slug}", f"Teams of {track}", of_track, members)
            )
    behind = frozenset(find_behind(benchmark, timezone.now()))
    return [*groups, MessageGroup(BEHIND, "Assessors who are behind", behind)]


def _participants(benchmark: Benchmark) -> QuerySet[Team]:
    return benchmark.teams.filter(of_organisers=False)


def _find_members(teams: QuerySet[Team]) -> dict[int, list[int]]:
    """Return the users of each team that has some."""
    members: dict[int, list[int]] = defaultdict(list)
    for team, user in Membership.objects.filter(team__in=teams).values_list("team", "user"):
        members[team].append(user)
    return dict(members)


def _names(answers: Mapping[str, Any], track: Track) -> bool:
    """Whether a team named a track when it registered."""
    return track.slug in answers.get("tracks", [])


def _group_of(
    key: str, name: str, teams: Iterable[int], members: Mapping[int, Sequence[int]]
) -> MessageGroup:
    """Return a group of those of these teams that have members."""
    kept = [team for team in teams if team in members]
    users = frozenset(user for team in kept for user in members[team])
    return MessageGroup(key, name, users, frozenset(kept))


def find_chosen_teams(benchmark: Benchmark, keys: Iterable[int]) -> list[MessageGroup]:
    """Return each of these teams of a benchmark as a group."""
    teams = benchmark.teams.filter(pk__in=keys).order_by("name")
    members = _find_members(teams)
    return [
        _group_of(f"{TEAM}{team.pk}", f"Team {team.name}", [team.pk], members) for team in teams
    ]


def find_recipients(groups: Sequence[MessageGroup]) -> Recipients:
    """Return the people of these groups; whoever is in several is counted once."""
    users = frozenset[int]().union(*(group.users for group in groups))
    teams = frozenset[int]().union(*(group.teams for group in groups))
    return Recipients(groups, users, len(teams), count_by_email(users))


def find_behind(benchmark: Benchmark, now: datetime) -> set[int]:
    """Return the users who have judged a smaller share of theirs than of the time is over.

    Only judging that is open and has a day of its end has somebody behind.
    """
    open_now = Assessment.objects.filter(
        track__benchmark=benchmark, state=Assessment.State.OPEN, due_on__isnull=False
    )
    return {user for each in open_now for user in _find_behind(each, now)}


def _find_behind(assessment: Assessment, now: datetime) -> set[int]:
    begin = assessment.opened_at or assessment.created_at
    last = datetime.combine(assessment.due_on, time(), now.tzinfo) + timedelta(days=1)
    passed = min(1.0, (now - begin) / max(last - begin, timedelta(days=1)))
    assessors = Assessor.objects.available().filter(assessment=assessment)
    given = Assignment.objects.filter(assessor__in=assessors).values("assessor__user")
    assigned = given.annotate(number=Sum("num_documents"))
    answered = AssignedDocument.objects.filter(
        assignment__assessor__in=assessors,
        is_repeat=False,
        state__in=[DocumentState.JUDGED, DocumentState.CANNOT, DocumentState.PASSED],
    ).values("assignment__assessor__user")
    done = dict(
        answered.annotate(number=Count("pk")).values_list("assignment__assessor__user", "number")
    )
    shares = assigned.values_list("assessor__user", "number")
    return {user for user, number in shares if done.get(user, 0) < passed * number}
