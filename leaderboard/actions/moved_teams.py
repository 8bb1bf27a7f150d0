"""What becomes of the teams of a track that moves to another benchmark."""

from __future__ import annotations

from collections.abc import Iterator

from leaderboard.actions.conflicts import JudgesError, find_judges, lock_people
from leaderboard.actions.lone_tracks import ON_A_TRACK
from leaderboard.actions.submission_rules import ActionError
from leaderboard.models import (
    Benchmark,
    JoinRequest,
    Membership,
    System,
    Team,
)
from leaderboard.models.people import team_key


def merge_teams(source: Benchmark, target: Benchmark) -> None:
    """Make the teams of a benchmark teams of another one, with their members and all they have.

    Teams are one if they have a member in common, or if one without members has the name of the
    other. Raises ActionError where two teams of one benchmark would become one, or where a member
    judges a track of the other.
    """
    members = Membership.objects.filter(benchmark__in=[source, target])
    lock_people(members.values_list("user", flat=True))
    for group in _group_teams([*_load_teams(target), *_load_teams(source)]):
        _refuse_two_of_one_benchmark(group)
        kept = next((team for team in group if team.benchmark_id == target.pk), None)
        for team in group:
            if kept is None:
                _move_team(team, target)
            elif team is not kept:
                _merge_into(kept, team)
    asked = target.join_requests.values("user")
    JoinRequest.objects.filter(benchmark=source).exclude(user__in=asked).update(benchmark=target)
    for benchmark in (source, target):
        judging = find_judges(benchmark, target.memberships.values("user")).first()
        if judging is not None:
            raise JudgesError(judging)


def _load_teams(benchmark: Benchmark) -> list[Team]:
    return list(benchmark.teams.select_related("benchmark").prefetch_related("memberships"))


def _move_team(team: Team, target: Benchmark) -> None:
    team.name = _free_name(target, team.name)
    team.benchmark = target
    team.save()
    team.memberships.update(benchmark=target)
    team.systems.update(benchmark=target)


def _merge_into(kept: Team, team: Team) -> None:
    """Give a team everything of another one, and delete that."""
    known = {member.user_id: member for member in kept.memberships.all()}
    for member in team.memberships.all():
        same = known.get(member.user_id)
        if same is None:
            Membership.objects.filter(pk=member.pk).update(team=kept, benchmark=kept.benchmark)
        elif member.role == Membership.Role.LEADER:
            Membership.objects.filter(pk=same.pk).update(role=member.role)
    for rows in ON_A_TRACK:
        rows.objects.filter(team=team).update(team=kept)
    System.objects.filter(team=team).update(team=kept, benchmark=kept.benchmark)
    team.delete()


def _free_name(benchmark: Benchmark, name: str) -> str:
    """Return the name, numbered if another team of the benchmark has it."""
    taken = set(benchmark.teams.values_list("key", flat=True))
    if team_key(name) not in taken:
        return name
    numbered = (f"{name[:74]} {number}" for number in range(2, len(taken) + 3))
    return next(each for each in numbered if team_key(each) not in taken)


def _group_teams(teams: list[Team]) -> list[list[Team]]:
    """Return the teams in groups that are one team each."""
    group_of: dict[object, list[Team]] = {}
    groups: dict[int, list[Team]] = {}
    without_members = []
    for team in teams:
        traits = list(_traits(team))
        if not traits:
            without_members.append(team)
            continue
        group = [team]
        for same in {id(group_of[trait]): group_of[trait] for trait in traits if trait in group_of}:
            group = groups.pop(same) + group
        groups[id(group)] = group
        for trait in {trait for each in group for trait in _traits(each)}:
            group_of[trait] = group
    found = list(groups.values())
    for team in without_members:
        same_name = (
            group
            for group in found
            if any(each.key == team.key for each in group)
            and all(each.benchmark_id != team.benchmark_id for each in group)
        )
        alike = next(same_name, None)
        if alike is None:
            found.append([team])
        else:
            alike.append(team)
    return found


def _traits(team: Team) -> Iterator[tuple[str, int]]:
    """Yield what makes two teams one; nothing for a new team without members."""
    if team.of_organisers:
        yield "organisers", 0
    for member in team.memberships.all():
        yield "member", member.user_id


def _refuse_two_of_one_benchmark(group: list[Team]) -> None:
    """Raise ActionError if people who are one team in a benchmark are two in the other."""
    first: dict[int, Team] = {}
    for team in group:
        other = first.setdefault(team.benchmark_id, team)
        if other is not team:
            raise ActionError(
                f"Teams {other.name} and {team.name} of {team.benchmark} have members who are in "
                "one team on another track, so these tracks cannot share their teams."
            )
