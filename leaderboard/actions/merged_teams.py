"""Make teams one: two of a benchmark, or those of a track that moves to another benchmark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, count

from django.db import transaction
from django.db.models import Exists, OuterRef

from leaderboard.actions.conflicts import JudgesError, find_judges, lock_people
from leaderboard.actions.lone_tracks import ON_A_TRACK
from leaderboard.actions.refusals import ActionError
from leaderboard.models import (
    AuditEvent,
    Benchmark,
    JoinRequest,
    Membership,
    Participation,
    Registration,
    Run,
    System,
    Team,
    User,
)
from leaderboard.models.people import team_key


@transaction.atomic
def merge_teams(kept: Team, team: Team, user: User) -> None:
    """Give a team everything of another one of its benchmark, and delete that; for organisers.

    Members, runs, systems and extra runs are those of one team then, and on each track the later
    deadline is its own. Raises ActionError, also where both have a run of the same file.
    """
    both = Team.objects.filter(pk__in=[kept.pk, team.pk], benchmark=kept.benchmark_id)
    if len(both.order_by("pk").select_for_update(no_key=True)) < 2:
        raise ActionError("Choose two teams of this benchmark.")
    if kept.of_organisers or team.of_organisers:
        raise ActionError("The team of the organisers stays a team of its own.")
    _refuse_equal_runs(kept, team)
    AuditEvent.objects.record(user, "merge", kept, {"team": team.name}, {"team": kept.name})
    _merge_registrations(kept, team)
    _merge_into(kept, team)


def _merge_registrations(kept: Team, team: Team) -> None:
    """Give a team the registration of another one, or what that signed beyond its own."""
    other = Registration.objects.filter(team=team).first()
    own = Registration.objects.filter(team=kept).first()
    if other is not None and own is None:
        Registration.objects.filter(pk=other.pk).update(team=kept)
    elif other is not None and own is not None:
        known = own.signatures.values("agreement")
        other.signatures.exclude(agreement__in=known).update(registration=own)


def _refuse_equal_runs(kept: Team, team: Team) -> None:
    """Raise ActionError if both teams have an active run of the same file on a track."""
    alone = Run.objects.active().exclude(state__in=[Run.State.REFUSED, Run.State.FAILED])
    alone = alone.filter(version=None)
    same = alone.filter(team=kept, track=OuterRef("track"), sha256=OuterRef("sha256"))
    for run in alone.filter(Exists(same), team=team).select_related("track"):
        raise ActionError(
            f"Both teams submitted the file of run {run} to {run.track}. Withdraw one of the two."
        )


def move_teams(source: Benchmark, target: Benchmark) -> None:
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
    for own in team.participations.all():
        _merge_participation(kept, own)
    first = kept.runs.filter(is_primary=True).values("track")
    team.runs.filter(is_primary=True, track__in=first).update(is_primary=False)
    for rows in ON_A_TRACK:
        rows.objects.filter(team=team).update(team=kept)
    names = set(kept.systems.values_list("name", flat=True))
    for system in team.systems.all():
        name = _number_name(system.name, names.__contains__)
        names.add(name)
        System.objects.filter(pk=system.pk).update(team=kept, benchmark=kept.benchmark, name=name)
    team.delete()


def _merge_participation(kept: Team, own: Participation) -> None:
    """Leave one participation where both teams have one: with the later deadline."""
    same = kept.participations.filter(track=own.track_id).first()
    if same is None:
        return
    if own.closes_at is not None and (same.closes_at is None or own.closes_at > same.closes_at):
        same.closes_at, same.extension_reason = own.closes_at, own.extension_reason
        same.save()
    own.delete()


def _free_name(benchmark: Benchmark, name: str) -> str:
    """Return the name, numbered if another team of the benchmark has it."""
    taken = set(benchmark.teams.values_list("key", flat=True))
    return _number_name(name, lambda numbered: team_key(numbered) in taken)


def _number_name(name: str, is_taken: Callable[[str], bool]) -> str:
    """Return the name, with the first number that makes it free if it is taken."""
    numbered = (f"{name[:74]} {number}" for number in count(2))
    return next(each for each in chain([name], numbered) if not is_taken(each))


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
