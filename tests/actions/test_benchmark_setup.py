"""Benchmarks made of tracks, and one set of teams on all of them."""

from __future__ import annotations

import pytest

from leaderboard.actions import accounts, benchmark_setup, people, tracks
from leaderboard.actions.benchmark_setup import PlacedTrack
from leaderboard.actions.people import JoinDetails
from leaderboard.actions.refusals import ActionError
from leaderboard.actions.submissions import FilesRefusedError
from leaderboard.models import AuditEvent, Benchmark, Membership, Run, Track
from tests.benchmark_scene import BOTH, ROLLS_OTHER, make_rolls, send
from tests.builders import (
    RUN,
    make_assessment,
    make_collection,
    make_pool,
    make_run,
    make_track,
)


def make_scene(ada, ben, cat):
    return make_track(make_collection(ada), "bread"), make_track(make_rolls(ada), "rolls")


@pytest.fixture
def both(scene):
    return scene


def group(ada, *made):
    return benchmark_setup.make_benchmark(ada, Benchmark(slug="baking", name="Baking"), made)


def teams_of(user):
    """The user's team on each track, by the name of the track."""
    tracks = Track.objects.filter(benchmark__memberships__user=user).order_by("slug")
    return [(track.slug, track.team_of(user).name) for track in tracks]


def fresh(track):
    return Track.objects.get(pk=track.pk)


def test_joining_a_benchmark_makes_a_team_on_every_track(both, ada, ben):
    benchmark = group(ada, *both)
    people.admit(benchmark, ben, JoinDetails(team_name="Crumbs"))
    assert teams_of(ben) == [("bread", "Crumbs"), ("rolls", "Crumbs")]
    assert benchmark.teams.get().name == "Crumbs"


def test_joining_one_track_of_a_benchmark_joins_the_benchmark(both, ada, ben):
    group(ada, *both)
    people.admit(fresh(both[1]).benchmark, ben)
    assert teams_of(ben) == [("bread", "ben"), ("rolls", "ben")]


def test_a_member_joins_and_leaves_on_every_track(both, ada, ben, cat):
    benchmark = group(ada, *both)
    row = people.admit(benchmark, ben)
    people.admit(benchmark, cat, JoinDetails(team_code=row.invitation))
    assert teams_of(cat) == [("bread", "ben"), ("rolls", "ben")]
    people.leave_team(benchmark, cat)
    assert teams_of(cat) == []
    assert teams_of(ben) == [("bread", "ben"), ("rolls", "ben")]


def test_teams_that_exist_are_linked_by_their_members(both, ada, ben, cat):
    people.admit(both[0].benchmark, ben, JoinDetails(team_name="Crumbs"))
    people.admit(both[1].benchmark, ben, JoinDetails(team_name="Crusts"))
    people.admit(both[1].benchmark, cat, JoinDetails(team_name="Crumbs"))
    group(ada, *both)
    assert teams_of(ben) == [("bread", "Crumbs"), ("rolls", "Crumbs")]
    assert teams_of(cat) == [("bread", "Crumbs 2"), ("rolls", "Crumbs 2")]


def test_two_teams_of_a_track_never_become_one(both, ada, ben, cat):
    row = people.admit(both[0].benchmark, ben)
    people.admit(both[0].benchmark, cat, JoinDetails(team_code=row.invitation))
    people.admit(both[1].benchmark, ben)
    people.admit(both[1].benchmark, cat)
    with pytest.raises(ActionError, match="cannot share their teams"):
        group(ada, *both)
    assert not Benchmark.objects.filter(slug="baking").exists()


def test_a_team_name_is_taken_on_all_tracks(both, ada, ben, cat):
    people.admit(both[1].benchmark, cat, JoinDetails(team_name="Crumbs"))
    benchmark = group(ada, *both)
    with pytest.raises(people.NameTakenError):
        people.admit(benchmark, ben, JoinDetails(team_name="crumbs"))


def test_a_benchmark_has_the_strictest_joining_and_all_terms(both, ada):
    Benchmark.objects.filter(tracks=both[0]).update(joining="approval", terms="Be kind.")
    Benchmark.objects.filter(tracks=both[1]).update(terms="Share.")
    benchmark = group(ada, *Track.objects.order_by("slug"))
    assert (benchmark.joining, benchmark.terms) == ("approval", "Be kind.\n\nShare.")


def test_a_track_of_a_benchmark_keeps_the_terms_of_the_benchmark(both, ada):
    benchmark = group(ada, *both)
    with pytest.raises(ActionError, match="a setting of the benchmark Baking"):
        tracks.change_track(fresh(both[0]), ada, {}, rules={"terms": "Pay."})
    benchmark_setup.change_benchmark(benchmark, ada, {"terms": "Pay."})
    assert fresh(both[0]).benchmark.terms == "Pay."


def test_tracks_of_others_are_refused(both, ada, ben):
    with pytest.raises(ActionError, match="do not organise"):
        group(ben, *both)
    benchmark = group(ada, both[0])
    benchmark.co_organisers.add(ben)
    with pytest.raises(ActionError, match="do not organise"):
        benchmark_setup.add_track(benchmark, ben, PlacedTrack(both[1]))


def test_an_added_track_has_the_teams_of_the_benchmark(both, ada, ben):
    benchmark = group(ada, both[0])
    people.admit(benchmark, ben)
    benchmark_setup.add_track(benchmark, ada, PlacedTrack(both[1], "test", "small"))
    assert teams_of(ben) == [("bread", "ben"), ("rolls", "ben")]
    benchmark_setup.remove_track(benchmark, ada, both[1])
    assert teams_of(ben) == [("bread", "ben"), ("rolls", "ben")]
    assert [track.slug for track in benchmark.tracks.in_order()] == ["bread"]


def test_a_track_moves_from_one_benchmark_to_another(both, ada, ben):
    group(ada, *both)
    lunch = fresh(make_track(both[0].collection, "lunch")).benchmark
    people.admit(fresh(both[1]).benchmark, ben)
    benchmark_setup.add_track(lunch, ada, PlacedTrack(fresh(both[1])))
    assert [track.slug for track in lunch.tracks.in_order()] == ["lunch", "rolls"]
    assert teams_of(ben) == [("bread", "ben"), ("lunch", "ben"), ("rolls", "ben")]
    acts = AuditEvent.objects.filter(act__in=["remove track", "add track"])
    assert sorted(acts.values_list("act", "benchmark__slug")) == [
        ("add track", "lunch"),
        ("remove track", "baking"),
    ]


def test_a_copied_track_is_a_draft_beside_it_without_its_runs(both, ada, ben):
    Track.objects.filter(pk=both[0].pk).update(quota_per_day=3)
    make_run(fresh(both[0]), ben)
    copied = benchmark_setup.copy_track(fresh(both[0]), ada, "toast", "Toast")
    assert (copied.name, copied.quota_per_day, copied.is_draft) == ("Toast", 3, True)
    assert [track.slug for track in fresh(both[0]).benchmark.tracks.in_order()] == [
        "bread",
        "toast",
    ]
    assert copied.team_of(ben) == both[0].team_of(ben) and not copied.runs.exists()
    assert AuditEvent.objects.filter(act="copy", track=both[0]).exists()


def test_a_copy_on_another_collection_is_scored_by_its_newest_judgments(both, ada):
    rye = make_collection(ada, "rye")
    tracks.change_track(
        fresh(both[0]), ada, {"excluded_topics": ["1"], "exclusion_reason": "A slip."}
    )
    copied = benchmark_setup.copy_track(fresh(both[0]), ada, "toast", "Toast", rye)
    assert (copied.collection, copied.judgment_set) == (rye, rye.judgment_sets.get())
    assert copied.excluded_topics == []


def test_who_does_not_organise_a_track_copies_none(both, ben):
    with pytest.raises(ActionError, match="Only organisers"):
        benchmark_setup.copy_track(both[0], ben, "toast", "Toast")


def test_a_benchmark_keeps_its_last_track(both, ada):
    benchmark = group(ada, both[0])
    with pytest.raises(ActionError, match="has at least one track"):
        benchmark_setup.remove_track(benchmark, ada, fresh(both[0]))


def test_who_judges_a_track_is_in_no_team_of_an_added_one(both, ada, ben):
    people.admit(both[0].benchmark, ben)
    run = make_run(both[1], ada, ROLLS_OTHER)
    make_assessment(make_pool(both[1], ada, [run]), ada, ben)
    with pytest.raises(ActionError, match="cannot take part in it"):
        group(ada, *both)


def test_organisers_of_a_track_organise_its_benchmark(both, ada, cat):
    people.add_organiser(both[1].benchmark, ada, "cat")
    benchmark = group(ada, both[0])
    benchmark_setup.add_track(benchmark, ada, PlacedTrack(both[1]))
    assert fresh(both[0]).is_organised_by(cat)


def test_a_moved_track_keeps_what_its_teams_have_there(both, ada, ben):
    run = make_run(both[0], ben)
    people.grant_runs(both[0], run.team, ada, 2, today=False)
    alias = run.pseudonym
    benchmark = group(ada, *both)
    moved = Run.objects.get()
    assert (moved.team.benchmark, moved.pseudonym) == (benchmark, alias)
    assert moved.team.grants.get().track == both[0]


def test_members_know_of_a_draft_once_it_opens(both, ada, ben):
    Track.objects.filter(slug="rolls").update(is_draft=True)
    benchmark = group(ada, *Track.objects.order_by("slug"))
    people.admit(benchmark, ben)
    assert not Track.objects.visible_to(ben).filter(slug="rolls").exists()
    tracks.open_draft(Track.objects.get(slug="rolls"), ada)
    assert Track.objects.visible_to(ben).filter(slug="rolls").exists()


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
    people.add_organiser(benchmark, ada, "cat")
    assert all(fresh(track).is_organised_by(cat) for track in both)
    people.remove_organiser(benchmark, cat, ada)
    assert Benchmark.objects.get().owner == cat


def test_tracks_are_put_in_order(both, ada):
    benchmark = group(ada, *both)
    benchmark_setup.place_tracks(
        benchmark, ada, [PlacedTrack(both[1], "test"), PlacedTrack(both[0], "training")]
    )
    placed = benchmark.tracks.in_order().values_list("slug", "phase")
    assert list(placed) == [("rolls", "test"), ("bread", "training")]


def test_a_run_of_one_track_counts_for_the_benchmark(both, ada, ben):
    benchmark = group(ada, *both)
    people.admit(benchmark, ben)
    make_run(Track.objects.get(slug="bread"), ben)
    benchmark_setup.change_benchmark(benchmark, ada, {"quota_per_day": 1})
    with pytest.raises(FilesRefusedError, match="1 of 1 run of this benchmark for today"):
        send(benchmark, ben, {"rolls.run": ROLLS_OTHER})
