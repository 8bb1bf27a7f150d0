"""Nobody judges a track and takes part in it, in either order, unless organisers allow it."""

from __future__ import annotations

import pytest
from django.utils import timezone

from leaderboard.actions import assessments, people
from leaderboard.actions.benchmark_setup import PlacedTrack, add_track
from leaderboard.actions.refusals import ActionError, NotAccepted
from leaderboard.models import (
    Assessment,
    Assignment,
    Benchmark,
    Membership,
    Team,
    Track,
    User,
)
from tests.benchmark_scene import join_tracks
from tests.builders import make_assessment, make_run, make_track, signed_in


def make_benchmark(owner: User, *tracks: Track) -> Benchmark:
    """A benchmark of these tracks."""
    benchmark = join_tracks(tracks, slug="baking", name="Baking")
    for track in tracks:
        track.refresh_from_db()
    return benchmark


def test_an_assessor_cannot_make_a_team(assessment, unjudged_track, dan):
    with pytest.raises(people.JoinError, match="Assessors of Bread track cannot take part"):
        people.admit(unjudged_track.benchmark, dan)


def test_an_assessor_cannot_follow_a_link_of_a_team(assessment, unjudged_track, ben, dan):
    asking = people.JoinDetails(team_code=Team.objects.get(name="ben").invitation)
    with pytest.raises(people.JoinError, match="cannot take part"):
        people.admit(unjudged_track.benchmark, dan, asking)
    assert not Membership.objects.filter(user=dan).exists()


def test_an_assessor_cannot_ask_for_a_team_nor_be_let_in(assessment, unjudged_track, ada, dan, eve):
    Benchmark.objects.update(joining="approval")
    benchmark = Benchmark.objects.get()
    with pytest.raises(people.JoinError, match="cannot take part"):
        people.request_to_join(benchmark, dan, people.JoinDetails())
    request = people.request_to_join(benchmark, eve, people.JoinDetails())
    assessments.add_assessor(assessment, eve)
    with pytest.raises(people.JoinError, match="cannot take part"):
        people.approve_request(request, ada)


def test_the_page_says_why_an_assessor_cannot_join(assessment, dan):
    page = signed_in(dan).post("/benchmarks/bread/join/", {"team_name": "Dan"}, follow=True)
    assert "Assessors of Bread track cannot take part in it. Ask its organisers." in page.text


def test_the_first_run_of_an_assessor_is_refused(assessment, unjudged_track, dan):
    with pytest.raises(NotAccepted, match="Assessors of Bread track"):
        make_run(unjudged_track, dan)


def test_a_member_cannot_become_an_assessor_of_any_track_of_the_benchmark(
    assessment, unjudged_track, ada, eve
):
    other = make_track(unjudged_track.collection, "beer")
    make_benchmark(ada, unjudged_track, other)
    people.admit(other.benchmark, eve)
    with pytest.raises(ActionError, match="Teams of this track cannot judge it"):
        assessments.add_assessor(assessment, eve)


def test_an_assessor_of_one_track_takes_part_in_none_of_its_benchmark(
    assessment, unjudged_track, ada, dan
):
    other = make_track(unjudged_track.collection, "beer")
    make_benchmark(ada, unjudged_track, other)
    with pytest.raises(people.JoinError, match="Assessors of Bread track"):
        people.admit(other.benchmark, dan)


def test_a_track_joins_no_benchmark_whose_members_judge_it(assessment, unjudged_track, ada, dan):
    other = make_track(unjudged_track.collection, "beer")
    people.admit(other.benchmark, dan)
    benchmark = make_benchmark(ada, other)
    with pytest.raises(ActionError, match="Assessors of Bread track"):
        add_track(benchmark, ada, PlacedTrack(unjudged_track))
    assert benchmark.tracks.in_order().count() == 1


def test_who_was_taken_off_before_a_topic_began_may_join(assessment, unjudged_track, ada, dan):
    assessments.remove_assessor(assessment.assessors.get(), ada)
    assert people.admit(unjudged_track.benchmark, dan).name == "dan"


def test_who_was_taken_off_after_a_topic_began_may_not(assessment, unjudged_track, ada, dan):
    Assignment.objects.update(drawn_at=timezone.now())
    assessments.remove_assessor(assessment.assessors.get(), ada)
    with pytest.raises(people.JoinError, match="cannot take part"):
        people.admit(unjudged_track.benchmark, dan)


def test_organisers_who_allow_both_cannot_take_it_back_while_someone_does_both(pool, ada, ben):
    assessment = make_assessment(pool, ada, ben, allows_participants=True)
    with pytest.raises(ActionError, match="1 assessor of this judging take"):
        assessments.change_assessment(assessment, ada, {"allows_participants": False})
    assert Assessment.objects.get().allows_participants
