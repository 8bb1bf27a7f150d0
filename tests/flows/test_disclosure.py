"""Who sees what of a track."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import Http404

from leaderboard import organising
from leaderboard.disclosure import judgment_sets_seen, look, run_or_404, track_or_404
from leaderboard.models import JudgmentSet
from leaderboard.standings import find_board
from tests.builders import OTHER_RUN, make_collection, make_run, make_track


def test_an_open_track_shows_its_board_to_everybody(track, ben):
    run = make_run(track, ben)
    sight = track_or_404(AnonymousUser(), track.slug)
    assert find_board(sight).standings[0].run == run
    assert not sight.inside(run) and not sight.qrels


def test_a_blind_track_shows_nothing_but_ones_own_file(blind_track, ben, cat):
    run = make_run(blind_track, ben)
    sight = look(blind_track, ben)
    assert run.state == "scored"
    assert sight.state_of(run) == "valid" and sight.done(run)
    assert sight.edition is None and find_board(sight) is None
    with pytest.raises(Http404):
        run_or_404(cat, run.pk)


def test_other_teams_do_not_exist_while_blind(blind_track, ben, cat):
    make_run(blind_track, ben)
    other = make_run(blind_track, cat, OTHER_RUN)
    assert list(look(blind_track, cat).runs()) == [other]


def test_a_release_shows_everything_but_the_qrels(blind_track, ada, ben, cat):
    run = make_run(blind_track, ben)
    organising.release(blind_track, ada)
    sight = run_or_404(cat, run.pk).sight
    assert sight.everything and sight.scores_of(run)
    assert not sight.qrels


def test_organisers_see_a_blind_board(blind_track, ada, ben):
    make_run(blind_track, ben)
    assert len(find_board(look(blind_track, ada)).standings) == 1


def test_a_members_track_hides_from_strangers(collection, cat):
    track = make_track(collection, visibility="members", joining="invitation")
    with pytest.raises(Http404):
        track_or_404(cat, track.slug)


def test_counts_of_judgments_stay_with_the_organisers_while_blind(blind_track, ada, ben):
    assert judgment_sets_seen(ada, blind_track.collection).count() == 1
    assert not judgment_sets_seen(ben, blind_track.collection).exists()


def test_a_withdrawn_run_shows_its_scores_to_its_team_alone(track, ben, cat):
    run = make_run(track, ben)
    organising.withdraw(run, ben, "wrong file")
    own, foreign = run_or_404(ben, run.pk), run_or_404(cat, run.pk)
    assert foreign.run.withdrawn_reason == "wrong file"
    assert own.sight.scores_of(own.run) and not foreign.sight.scores_of(foreign.run)


def test_a_withdrawn_run_of_a_blind_track_never_was_for_others(blind_track, ben, cat):
    run = make_run(blind_track, ben)
    organising.withdraw(run, ben)
    with pytest.raises(Http404):
        run_or_404(cat, run.pk)


def test_organisers_of_another_collection_are_strangers(blind_track, cat, ben):
    make_collection(cat, slug="other")
    run = make_run(blind_track, ben)
    with pytest.raises(Http404):
        run_or_404(cat, run.pk)


def test_an_open_board_shows_the_judgments_behind_it_and_no_others(track, ada, ben):
    JudgmentSet.objects.create(
        collection=track.collection, version="v2", state="ready", created_by=ada, file="none"
    )
    seen = judgment_sets_seen(ben, track.collection)
    assert [each.version for each in seen] == ["v1"]
