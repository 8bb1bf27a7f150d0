"""Who sees what of a track."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db.models import F
from django.http import Http404
from django.utils import timezone

from leaderboard.actions import runs, tracks
from leaderboard.boards.disclosure import run_or_404, sight_of, track_or_404
from leaderboard.boards.standings import find_board, find_visible_board
from leaderboard.models import JudgmentSet, Score, Track
from leaderboard.sight.visible_rows import visible_judgment_sets
from tests.builders import OTHER_RUN, RUN, make_collection, make_run, make_track


def test_an_open_track_shows_its_board_to_everybody(track, ben):
    run = make_run(track, ben)
    sight = track_or_404(AnonymousUser(), track.slug)
    assert find_board(sight).standings[0].run == run
    assert not sight.can_see_file(run) and not sight.can_download_judgments


def test_a_blind_track_shows_nothing_but_ones_own_file(blind_track, ben, cat):
    run = make_run(blind_track, ben)
    sight = sight_of(blind_track, ben)
    assert run.state == "scored"
    assert sight.state_of(run) == "valid" and sight.is_finished(run)
    assert sight.edition is None and find_board(sight) is None
    with pytest.raises(Http404):
        run_or_404(cat, run.pk)


def test_a_blind_run_is_being_checked_until_it_is_valid(blind_track, ben):
    """One that is being scored has no tag yet, and not all of its problems: it is not done."""
    run = make_run(blind_track, ben)
    run.state = "scoring"
    sight = sight_of(blind_track, ben)
    assert sight.state_of(run) == "checking" and not sight.is_finished(run)


def test_other_teams_do_not_exist_while_blind(blind_track, ben, cat):
    make_run(blind_track, ben)
    other = make_run(blind_track, cat, OTHER_RUN)
    assert list(sight_of(blind_track, cat).runs()) == [other]


def test_a_release_shows_everything_but_the_qrels(blind_track, ada, ben, cat):
    run = make_run(blind_track, ben)
    tracks.release_track(blind_track, ada)
    sight = run_or_404(cat, run.pk).sight
    assert sight.can_see_scores and sight.can_see_scores_of(run)
    assert not sight.can_download_judgments


def test_a_leaderboard_shows_rounded_means_and_nothing_behind_them(leaderboard_track, ben, cat):
    make_run(leaderboard_track, ben)
    sight = sight_of(leaderboard_track, cat)
    standing = find_visible_board(sight).standings[0]
    assert standing.scores == {"AP": 0.69, "nDCG@10": 0.76, "P@5": 0.33}
    assert standing.judged_at_10 is standing.against is standing.interval is None
    assert find_board(sight) is None and sight.edition is None


def test_means_over_fifty_topics_have_a_third_decimal(leaderboard_track, ben):
    leaderboard_track.edition.num_evaluated = 50
    assert sight_of(leaderboard_track, ben).round_mean("AP", 0.12345) == 0.123


@pytest.mark.parametrize("measure", ["Judged@10", "NumRelRet", "Bpref", "AP(holes=condensed)"])
def test_a_measure_that_tells_what_is_judged_is_not_rounded_but_hidden(
    leaderboard_track, ben, measure
):
    assert sight_of(leaderboard_track, ben).round_mean(measure, 0.5) is None


def test_equal_rounded_means_share_a_rank(leaderboard_track, ben, cat):
    make_run(leaderboard_track, ben)
    make_run(leaderboard_track, cat, RUN.replace("ben-bm25", "cat-bm25"))
    Score.objects.filter(score_set__run__tag="cat-bm25").update(mean=F("mean") + 1e-4)
    ranks = [each.rank for each in find_visible_board(sight_of(leaderboard_track, ben)).standings]
    assert ranks == [1, 1]


def test_a_leaderboard_shows_its_topics_after_the_deadline(leaderboard_track, ben, cat):
    run = make_run(leaderboard_track, ben)
    Track.objects.update(closes_at=timezone.now() - timedelta(minutes=1))
    sight = run_or_404(cat, run.pk).sight
    assert sight.can_see_scores and sight.can_see_scores_of(run)


def test_a_leaderboard_that_takes_late_runs_waits_for_the_release(leaderboard_track, ada, ben):
    closed = {"closes_at": timezone.now() - timedelta(minutes=1), "late_runs": "mark"}
    Track.objects.update(**closed)
    assert not track_or_404(ben, "lead").can_see_scores
    tracks.release_track(leaderboard_track, ada)
    assert track_or_404(ben, "lead").can_see_scores


def test_the_run_of_a_team_on_a_leaderboard_is_chosen_by_rounded_means(leaderboard_track, ada, ben):
    first = make_run(leaderboard_track, ben)
    tracks.change_track(leaderboard_track, ada, {"selection": "best"})
    better = make_run(leaderboard_track, ben, RUN.replace("ben-bm25", "again"))
    Score.objects.filter(score_set__run=better).update(mean=F("mean") + 1e-4)
    chosen = find_visible_board(sight_of(leaderboard_track, ben)).standings[0].run
    assert chosen.pk == min(first.pk, better.pk)


def test_organisers_see_a_blind_board(blind_track, ada, ben):
    make_run(blind_track, ben)
    assert len(find_board(sight_of(blind_track, ada)).standings) == 1


def test_a_members_track_hides_from_strangers(collection, cat):
    track = make_track(collection, visibility="members", joining="invitation")
    with pytest.raises(Http404):
        track_or_404(cat, track.slug)


def test_counts_of_judgments_stay_with_the_organisers_while_blind(blind_track, ada, ben):
    assert visible_judgment_sets(ada, blind_track.collection).count() == 1
    assert not visible_judgment_sets(ben, blind_track.collection).exists()


def test_a_withdrawn_run_shows_its_scores_to_its_team_alone(track, ben, cat):
    run = make_run(track, ben)
    runs.withdraw_run(run, ben, "wrong file")
    own, foreign = run_or_404(ben, run.pk), run_or_404(cat, run.pk)
    assert foreign.run.withdrawn_reason == "wrong file"
    assert own.sight.can_see_scores_of(own.run) and not foreign.sight.can_see_scores_of(foreign.run)


def test_a_withdrawn_run_of_a_blind_track_never_was_for_others(blind_track, ben, cat):
    run = make_run(blind_track, ben)
    runs.withdraw_run(run, ben)
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
    seen = visible_judgment_sets(ben, track.collection)
    assert [each.version for each in seen] == ["v1"]
