"""Benchmarks made of tracks, and one set of teams on all of them."""

from __future__ import annotations

import pytest

from leaderboard.actions import accounts, benchmark_setup, people, tracks
from leaderboard.actions.benchmark_setup import PlacedTrack
from leaderboard.actions.people import JoinDetails
from leaderboard.actions.submission_rules import ActionError
from leaderboard.actions.systems import FilesRefusedError
from leaderboard.models import Benchmark, BenchmarkTeam, Membership, Run, Team, Track
from tests.benchmark_scene import BOTH, ROLLS_OTHER, make_rolls, send
from tests.builders import RUN, make_collection, make_run, make_track


def make_scene(ada, ben, cat):
    return make_track(make_collection(ada), "bread"), make_track(make_rolls(ada), "rolls")


@pytest.fixture
def both(scene):
    return scene


def group(ada, *made):
    return benchmark_setup.make_benchmark(ada, Benchmark(slug="baking", name="Baking"), made)


def teams_of(user):
    rows = Team.objects.filter(memberships__user=user).order_by("track__slug")
    return [(team.track.slug, team.name) for team in rows]


def test_joining_a_benchmark_makes_a_team_on_every_track(both, ada, ben):
    benchmark = group(ada, *both)
    people.admit(benchmark, ben, JoinDetails(team_name="Crumbs"))
    assert teams_of(ben) == [("bread", "Crumbs"), ("rolls", "Crumbs")]
    assert BenchmarkTeam.objects.get().teams.count() == 2


def test_joining_one_track_of_a_benchmark_joins_the_benchmark(both, ada, ben):
    group(ada, *both)
    people.admit(both[1], ben)
    assert teams_of(ben) == [("bread", "ben"), ("rolls", "ben")]


def test_a_member_joins_and_leaves_on_every_track(both, ada, ben, cat):
    benchmark = group(ada, *both)
    row = people.admit(benchmark, ben)
    people.admit(benchmark, cat, JoinDetails(team_code=row.invitation))
    assert teams_of(cat) == [("bread", "ben"), ("rolls", "ben")]
    people.leave_team(both[1], cat)
    assert teams_of(cat) == []
    assert teams_of(ben) == [("bread", "ben"), ("rolls", "ben")]


def test_teams_that_exist_are_linked_by_their_members(both, ada, ben, cat):
    people.admit(both[0], ben, JoinDetails(team_name="Crumbs"))
    people.admit(both[1], ben, JoinDetails(team_name="Crusts"))
    people.admit(both[1], cat, JoinDetails(team_name="Crumbs"))
    group(ada, *both)
    assert teams_of(ben) == [("bread", "Crumbs"), ("rolls", "Crusts")]
    assert teams_of(cat) == [("bread", "Crumbs 2"), ("rolls", "Crumbs")]
    assert BenchmarkTeam.objects.count() == 2


def test_two_teams_of_a_track_never_become_one(both, ada, ben, cat):
    row = people.admit(both[0], ben)
    people.admit(both[0], cat, JoinDetails(team_code=row.invitation))
    people.admit(both[1], ben)
    people.admit(both[1], cat)
    with pytest.raises(ActionError, match="cannot share their teams"):
        group(ada, *both)
    assert not Benchmark.objects.exists()


def test_a_team_name_is_taken_on_all_tracks(both, ada, ben, cat):
    people.admit(both[1], cat, JoinDetails(team_name="Crumbs"))
    benchmark = group(ada, *both)
    with pytest.raises(people.NameTakenError):
        people.admit(benchmark, ben, JoinDetails(team_name="crumbs"))


def test_a_benchmark_has_the_strictest_joining_and_all_terms(both, ada):
    Track.objects.filter(slug="bread").update(joining="approval", terms="Be kind.")
    Track.objects.filter(slug="rolls").update(terms="Share.")
    benchmark = group(ada, *Track.objects.order_by("slug"))
    assert (benchmark.joining, benchmark.terms) == ("approval", "Be kind.\n\nShare.")
    shared = set(Track.objects.values_list("joining", "terms", "invitation"))
    assert shared == {("approval", "Be kind.\n\nShare.", benchmark.invitation)}


def test_a_track_of_a_benchmark_keeps_the_terms_of_the_benchmark(both, ada):
    benchmark = group(ada, *both)
    track = Track.objects.get(slug="bread")
    with pytest.raises(ActionError, match="a setting of the benchmark Baking"):
        tracks.change_track(track, ada, {"terms": "Pay."})
    benchmark_setup.change_benchmark(benchmark, ada, {"terms": "Pay."})
    assert set(Track.objects.values_list("terms", flat=True)) == {"Pay."}


def test_tracks_of_others_are_refused(both, ada, ben):
    with pytest.raises(ActionError, match="do not organise"):
        group(ben, *both)
    benchmark = group(ada, both[0])
    benchmark.co_organisers.add(ben)
    with pytest.raises(ActionError, match="do not organise"):
        benchmark_setup.add_track(benchmark, ben, PlacedTrack(both[1]))
    with pytest.raises(ActionError, match="do not organise"):
        benchmark_setup.change_benchmark(benchmark, ben, {"terms": "Mine."})


def test_an_added_track_has_the_teams_of_the_benchmark(both, ada, ben):
    benchmark = group(ada, both[0])
    people.admit(benchmark, ben)
    benchmark_setup.add_track(benchmark, ada, PlacedTrack(both[1], "test", "small"))
    assert teams_of(ben) == [("bread", "ben"), ("rolls", "ben")]
    benchmark_setup.remove_track(benchmark, ada, both[1])
    people.leave_team(both[1], _lead_too(both[1], ada))
    assert [track.slug for track in benchmark.tracks()] == ["bread"]


def _lead_too(track, user):
    team = track.teams.get()
    Membership.objects.create(track=track, team=team, user=user, role="member")
    return user


def test_a_draft_gets_its_teams_once_it_opens(both, ada, ben):
    Track.objects.filter(slug="rolls").update(is_draft=True)
    benchmark = group(ada, *Track.objects.order_by("slug"))
    people.admit(benchmark, ben)
    assert teams_of(ben) == [("bread", "ben")]
    tracks.open_draft(Track.objects.get(slug="rolls"), ada)
    assert teams_of(ben) == [("bread", "ben"), ("rolls", "ben")]


def test_the_quota_of_a_benchmark_counts_runs_on_all_tracks(both, ada, ben):
    benchmark = group(ada, *both)
    benchmark_setup.change_benchmark(benchmark, ada, {"quota_total": 3})
    send(benchmark, ben, BOTH)
    with pytest.raises(FilesRefusedError, match="3 of 3 runs of this benchmark"):
        send(benchmark, ben, {"bread.run": RUN.replace("d9", "d11"), "rolls.run": ROLLS_OTHER}, "b")
    assert Run.objects.count() == 2


def test_organisers_submit_without_a_team(both, ada):
    benchmark = group(ada, *both)
    sent = send(benchmark, ada, BOTH)
    assert sent.version.system.team.of_organisers
    assert not sent.missing


def test_a_deleted_benchmark_leaves_its_tracks(both, ada, ben):
    benchmark = group(ada, *both)
    send(benchmark, ben, BOTH)
    benchmark_setup.delete_benchmark(benchmark, ada)
    assert Run.objects.filter(version=None).count() == 2
    assert teams_of(ben) == [("bread", "ben"), ("rolls", "ben")]


def test_an_account_leaves_its_teams_of_a_benchmark(both, ada, ben):
    benchmark = group(ada, *both)
    send(benchmark, ben, BOTH)
    accounts.delete_account(ben)
    assert not Membership.objects.exists()
    assert Run.objects.count() == 2
    with pytest.raises(ActionError, match="your benchmarks"):
        accounts.delete_account(ada)


def test_a_co_organiser_organises_the_tracks_too(both, ada, cat):
    benchmark = group(ada, *both)
    benchmark_setup.add_benchmark_organiser(benchmark, ada, "cat")
    assert all(track.is_organised_by(cat) for track in both)
    benchmark_setup.remove_benchmark_organiser(benchmark, cat, ada)
    assert Benchmark.objects.get().owner == cat


def test_tracks_are_put_in_order(both, ada):
    benchmark = group(ada, *both)
    benchmark_setup.place_tracks(
        benchmark, ada, [PlacedTrack(both[1], "test"), PlacedTrack(both[0], "training")]
    )
    placed = benchmark.places.values_list("track__slug", "phase")
    assert list(placed) == [("rolls", "test"), ("bread", "training")]


def test_a_run_of_one_track_counts_for_the_benchmark(both, ada, ben):
    benchmark = group(ada, *both)
    people.admit(benchmark, ben)
    make_run(Track.objects.get(slug="bread"), ben)
    benchmark_setup.change_benchmark(benchmark, ada, {"quota_per_day": 1})
    with pytest.raises(FilesRefusedError, match="1 of 1 run of this benchmark for today"):
        send(benchmark, ben, {"rolls.run": ROLLS_OTHER})


def test_a_row_that_a_team_lacks_is_made_once_it_is_needed(both, ada, ben):
    benchmark = group(ada, *both)
    people.admit(benchmark, ben)
    both[1].teams.all().delete()
    assert people.admit(both[1], ben).name == "ben"
