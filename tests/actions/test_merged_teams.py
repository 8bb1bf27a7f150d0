"""Two teams of a benchmark become one."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.actions import people
from leaderboard.actions.merged_teams import merge_teams
from leaderboard.actions.refusals import ActionError
from leaderboard.models import AuditEvent, Participation, Run, System, Team, Track
from tests.benchmark_scene import BOTH, ROLLS_OTHER, make_benchmark, send
from tests.builders import OTHER_RUN, make_run


def make_scene(ada, ben, cat):
    return make_benchmark(ada, ben, cat)


def merge(benchmark, kept, team, user):
    merge_teams(benchmark.team_of(kept), benchmark.team_of(team), user)


def test_a_merged_team_has_members_runs_and_systems_of_both(scene, ada, ben, cat):
    send(scene, ben, BOTH)
    send(scene, cat, {"bread.run": OTHER_RUN, "rolls.run": ROLLS_OTHER})
    merge(scene, ben, cat, ada)
    team = scene.teams.get(of_organisers=False)
    assert scene.team_of(cat) == scene.team_of(ben) == team
    assert Run.objects.filter(team=team).count() == 4
    assert sorted(System.objects.values_list("team", "name")) == [
        (team.pk, "oven"),
        (team.pk, "oven 2"),
    ]


def test_a_merged_team_has_extra_runs_of_both_and_the_later_deadline(scene, ada, ben, cat):
    deadline = timezone.now() + timedelta(days=1)
    Track.objects.update(closes_at=deadline)
    bread = Track.objects.get(slug="bread")
    for user, days in ((ben, 1), (cat, 2)):
        team = scene.team_of(user)
        people.grant_runs(bread, team, ada, 3, today=False)
        people.extend_deadline(bread, team, ada, deadline + timedelta(days=days), "ill")
    merge(scene, ben, cat, ada)
    team = scene.team_of(ben)
    assert Track.objects.get(slug="bread").deadline_of(team) == deadline + timedelta(days=2)
    assert [grant.runs for grant in team.grants.all()] == [3, 3]


@pytest.mark.parametrize("days", [(2, 1), (None, 2), (2, None)])
def test_of_two_deadlines_on_a_track_the_later_one_is_left(scene, ada, ben, cat, days):
    bread, deadline = Track.objects.get(slug="bread"), timezone.now() + timedelta(days=1)
    Participation.objects.create(team=scene.team_of(ben), track=Track.objects.get(slug="rolls"))
    for user, later in zip((ben, cat), days, strict=True):
        closes_at = later and deadline + timedelta(days=later)
        Participation.objects.create(team=scene.team_of(user), track=bread, closes_at=closes_at)
    merge(scene, ben, cat, ada)
    (left,) = Participation.objects.filter(track=bread)
    assert (left.team, left.closes_at) == (scene.team_of(ben), deadline + timedelta(days=2))


def test_a_merged_team_has_one_primary_run_on_a_track(scene, ada, ben, cat):
    bread = Track.objects.get(slug="bread")
    runs = [make_run(bread, ben), make_run(bread, cat, OTHER_RUN)]
    Run.objects.filter(pk__in=[run.pk for run in runs]).update(is_primary=True)
    merge(scene, ben, cat, ada)
    assert list(Run.objects.filter(is_primary=True)) == runs[:1]


def test_teams_with_a_run_of_the_same_file_stay_two(scene, ada, ben, cat):
    for user in (ben, cat):
        make_run(Track.objects.get(slug="bread"), user)
    with pytest.raises(ActionError, match="Withdraw one of the two"):
        merge(scene, ben, cat, ada)
    assert scene.teams.count() == 2


def test_organisers_and_strangers_are_merged_with_nobody(scene, ada, ben, cat):
    organisers = people.get_or_create_organisers_team(scene)
    with pytest.raises(ActionError, match="stays a team of its own"):
        merge_teams(organisers, scene.team_of(ben), ada)
    with pytest.raises(ActionError, match="Choose two teams"):
        merge(scene, ben, ben, ada)


def test_the_activity_log_names_both_teams(scene, ada, ben, cat):
    merge(scene, ben, cat, ada)
    event = AuditEvent.objects.get(act="merge")
    assert (event.actor, event.before, event.after) == (ada, {"team": "cat"}, {"team": "ben"})
    assert Team.objects.count() == 1
