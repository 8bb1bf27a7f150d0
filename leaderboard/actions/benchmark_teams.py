"""The teams of a benchmark: each has a row on every open track of it, with the same members."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.db import transaction
from django.db.models import QuerySet

from leaderboard.actions.conflicts import JudgesError, find_judges, lock_people
from leaderboard.actions.submission_rules import ActionError
from leaderboard.models import (
    Benchmark,
    BenchmarkTeam,
    BenchmarkTrack,
    Membership,
    Team,
    Track,
    User,
)
from leaderboard.models.people import team_key


def rows_of(team: Team) -> QuerySet[Team]:
    """Return the rows of a team on all tracks of its benchmark, or its only one."""
    if team.benchmark_team_id is None:
        return Team.objects.filter(pk=team.pk)
    return Team.objects.filter(benchmark_team=team.benchmark_team_id)


def find_row(track: Track, user: User) -> Team | None:
    """Return the row of the user's team of the benchmark of a track, made if it is missing."""
    teams = BenchmarkTeam.objects.filter(
        benchmark__places__track=track, teams__memberships__user=user
    )
    for benchmark_team in teams[:1]:
        spread_team(benchmark_team)
    return track.team_of(user)


def enlist(team: Team) -> None:
    """Make a new team of a track a team of the track's benchmark, if there is one.

    The team of the organisers gets its row of another track once it is needed there.
    """
    place = BenchmarkTrack.objects.filter(track=team.track_id).select_related("benchmark").first()
    if place is None or team.benchmark_team_id is not None:
        return
    if team.of_organisers:
        team.benchmark_team, _ = BenchmarkTeam.objects.get_or_create(
            benchmark=place.benchmark, of_organisers=True
        )
    else:
        team.benchmark_team = BenchmarkTeam.objects.create(benchmark=place.benchmark)
    Team.objects.filter(pk=team.pk).update(benchmark_team=team.benchmark_team)
    if not team.of_organisers:
        spread_team(team.benchmark_team)


@transaction.atomic
def spread(benchmark: Benchmark) -> None:
    """Give every team of a benchmark a row on each of its open tracks, with the same members.

    Teams that exist on its tracks are linked first; raises ActionError if they contradict.
    """
    _link_teams(benchmark)
    for benchmark_team in benchmark.teams.filter(of_organisers=False):
        spread_team(benchmark_team)


def spread_team(benchmark_team: BenchmarkTeam) -> None:
    """Make the rows that a team lacks, and give all its rows the same members.

    A draft gets its rows once it opens, because a row would tell the members of it.
    """
    rows = {row.track_id: row for row in benchmark_team.teams.order_by("pk")}
    if not rows:
        return
    name = next(iter(rows.values())).name
    for track in benchmark_team.benchmark.tracks().filter(is_draft=False):
        if track.pk not in rows:
            named = _free_name(track, name)
            rows[track.pk] = Team.objects.create(
                track=track, name=named, benchmark_team=benchmark_team
            )
    _share_members(rows.values())


def _free_name(track: Track, name: str) -> str:
    """Return the name, numbered if another team of the track has it."""
    taken = set(track.teams.values_list("key", flat=True))
    if team_key(name) not in taken:
        return name
    numbered = (f"{name[:74]} {number}" for number in range(2, len(taken) + 3))
    return next(each for each in numbered if team_key(each) not in taken)


def _share_members(rows: Iterable[Team]) -> None:
    """Give all rows the members of each.  Raises ActionError for somebody who judges there."""
    rows = list(rows)
    known: dict[int, Membership] = {}
    for member in Membership.objects.filter(team__in=rows).order_by("joined_at", "pk"):
        first = known.setdefault(member.user_id, member)
        if member.role == Membership.Role.LEADER:
            first.role = member.role
    tracks = [row.track_id for row in rows]
    present = Membership.objects.filter(track__in=tracks, user__in=known)
    taken = set(present.values_list("track", "user"))
    lock_people(known)
    judging = find_judges(tracks, known).first()
    if judging is not None:
        raise JudgesError(judging)
    Membership.objects.bulk_create(
        Membership(
            track_id=row.track_id,
            team=row,
            user_id=member.user_id,
            role=member.role,
            joined_at=member.joined_at,
            accepted_terms_at=member.accepted_terms_at,
        )
        for row in rows
        for member in known.values()
        if (row.track_id, member.user_id) not in taken
    )


def _link_teams(benchmark: Benchmark) -> None:
    """Link the teams of its tracks that are one: by a member, or by name where one has none."""
    rows = Team.objects.filter(track__benchmark_place__benchmark=benchmark).select_related("track")
    ordered = rows.prefetch_related("memberships").order_by(
        "track__benchmark_place__position", "pk"
    )
    for group in _group_teams(list(ordered)):
        _refuse_two_on_one_track(group)
        if not any(row.benchmark_team_id for row in group):
            made = _make_benchmark_team(benchmark, group)
            linked: int | None = made.pk
        else:
            linked = next(row.benchmark_team_id for row in group if row.benchmark_team_id)
        Team.objects.filter(pk__in=[row.pk for row in group]).update(benchmark_team=linked)


def _make_benchmark_team(benchmark: Benchmark, group: list[Team]) -> BenchmarkTeam:
    if not group[0].of_organisers:
        return BenchmarkTeam.objects.create(benchmark=benchmark)
    return BenchmarkTeam.objects.get_or_create(benchmark=benchmark, of_organisers=True)[0]


def _group_teams(rows: list[Team]) -> list[list[Team]]:
    """Return the teams in groups that are one team each."""
    group_of: dict[object, list[Team]] = {}
    groups: dict[int, list[Team]] = {}
    without_members = []
    for row in rows:
        traits = list(_traits(row))
        if not traits:
            without_members.append(row)
            continue
        group = [row]
        for same in {id(group_of[trait]): group_of[trait] for trait in traits if trait in group_of}:
            group = groups.pop(same) + group
        groups[id(group)] = group
        for trait in {trait for each in group for trait in _traits(each)}:
            group_of[trait] = group
    found = list(groups.values())
    for row in without_members:
        same_name = (
            group
            for group in found
            if any(each.key == row.key for each in group)
            and all(each.track_id != row.track_id for each in group)
        )
        alike = next(same_name, None)
        if alike is None:
            found.append([row])
        else:
            alike.append(row)
    return found


def _traits(row: Team) -> Iterator[tuple[str, int]]:
    """Yield what makes two rows one team; nothing for a new team without members."""
    if row.of_organisers:
        yield "organisers", 0
    if row.benchmark_team_id is not None:
        yield "team", row.benchmark_team_id
    for member in row.memberships.all():
        yield "member", member.user_id


def _refuse_two_on_one_track(group: list[Team]) -> None:
    """Raise ActionError if people who are one team on a track are two teams on another."""
    by_track: dict[int, Team] = {}
    for row in group:
        other = by_track.setdefault(row.track_id, row)
        if other is not row:
            raise ActionError(
                f"Teams {other.name} and {row.name} of {row.track} have members who are in one "
                "team on another track, so these tracks cannot share their teams."
            )
