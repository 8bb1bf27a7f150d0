"""What everybody, and what all members of a team, may see of a track."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser

from leaderboard.models import Track
from leaderboard.sight.tracks import TrackSight
from tests.builders import make_assessment, make_pool, make_run


def test_everybody_sees_an_open_track_and_nothing_of_a_blind_one(track, blind_track):
    assert TrackSight.of_everybody(track).can_see_scores
    assert not TrackSight.of_everybody(blind_track).can_see_means


def test_a_team_sees_no_score_while_one_of_its_members_judges(track, ada, ben):
    pool = make_pool(track, ada, [make_run(track, ben)])
    members = track.team_of(ben).memberships.all()
    assert TrackSight.of_members(track, members).can_see_scores
    make_assessment(pool, ada, ben, allows_participants=True)
    assert not TrackSight.of_members(track, members).can_see_scores
    assert TrackSight.of_everybody(track).can_see_scores


def test_a_blind_track_shows_its_organiser_what_it_hides_from_everybody(blind_track, ada, ben):
    seen = {user: TrackSight.of(blind_track, user).can_see_scores for user in (ada, ben)}
    assert seen == {ada: True, ben: False}


def test_many_tracks_are_seen_like_each_of_them(track, blind_track, ada, ben, dan):
    make_assessment(make_pool(track, ada, [make_run(track, ben)]), ada, dan)
    tracks = list(Track.objects.order_by("pk"))
    for viewer in (ada, ben, dan, AnonymousUser()):
        each = [TrackSight.of(track, viewer) for track in tracks]
        assert TrackSight.of_each(tracks, viewer) == each
