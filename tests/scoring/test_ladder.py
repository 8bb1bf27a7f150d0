"""On a leaderboard with a ladder a team's score moves only when it is clearly beaten."""

from __future__ import annotations

import numpy as np
import pytest

from leaderboard.actions import runs, tracks
from leaderboard.boards.disclosure import run_or_404, sight_of
from leaderboard.boards.standings import find_visible_board
from leaderboard.models import Score
from leaderboard.scoring.ladder import find_rising_runs, propose_step
from tests.api.conftest import Program
from tests.builders import RUN, make_run, make_track, signed_in
from tests.pages.reading import page_at, words


@pytest.fixture
def ladder(collection):
    """A leaderboard on which a team rises by more than a twentieth."""
    return make_track(collection, slug="lead", disclosure="leaderboard", ladder_step=0.05)


def shown(track, viewer):
    standings = find_visible_board(sight_of(track, viewer)).standings
    return {each.run.tag: each.scores["AP"] for each in standings}


def with_mean(track, user, tag, mean):
    run = make_run(track, user, RUN.replace("ben-bm25", tag))
    Score.objects.filter(score_set__run=run, measure="AP").update(mean=mean)
    return run


def test_a_score_is_rounded_to_the_step(ladder, ben, cat):
    with_mean(ladder, ben, "first", 0.6944)
    assert shown(ladder, cat) == {"first": 0.7}


def test_a_run_that_is_hardly_better_shows_nothing_to_anybody(ladder, ben, cat):
    with_mean(ladder, ben, "first", 0.50)
    second = with_mean(ladder, ben, "second", 0.549)
    assert shown(ladder, ben) == shown(ladder, cat) == {"first": 0.5}
    seen = run_or_404(ben, second.pk)
    assert not seen.sight.can_see_means_of(seen.run)
    assert "scores" not in Program(ben).get(f"/api/v1/runs/{second.pk}").json()


def test_a_run_that_is_clearly_better_takes_its_place(ladder, ben, cat):
    with_mean(ladder, ben, "first", 0.50)
    with_mean(ladder, ben, "second", 0.552)
    assert shown(ladder, cat) == {"second": 0.55}


def test_the_page_of_a_run_shows_a_value_where_it_once_rose(ladder, ben, cat):
    first = with_mean(ladder, ben, "first", 0.50)
    with_mean(ladder, ben, "second", 0.60)
    hardly = with_mean(ladder, ben, "hardly", 0.61)
    assert "The board shows the last run of each team to beat its previous one" in page_of(
        cat, first
    )
    assert "AP.50" in page_of(cat, first) and "AP." not in page_of(ben, hardly)


def page_of(user, run):
    return words(page_at(signed_in(user), f"/runs/{run.pk}/"))


def test_each_team_climbs_by_itself(ladder, ben, cat):
    with_mean(ladder, ben, "ben", 0.60)
    with_mean(ladder, cat, "cat", 0.20)
    assert shown(ladder, cat) == {"ben": 0.6, "cat": 0.2}


def test_a_withdrawal_does_not_ask_the_ladder_again(ladder, ben, cat):
    first = with_mean(ladder, ben, "first", 0.50)
    with_mean(ladder, ben, "second", 0.53)
    runs.withdraw_run(first, ben)
    assert shown(ladder, cat) == {}


def test_organisers_see_every_mean_and_their_runs_are_all_shown(ladder, ada, ben, cat):
    with_mean(ladder, ada, "one", 0.30)
    with_mean(ladder, ada, "two", 0.31)
    with_mean(ladder, ben, "ben", 0.4321)
    assert shown(ladder, ada)["ben"] == 0.4321
    assert shown(ladder, cat) == {"one": 0.3, "two": 0.3, "ben": 0.45}


def test_what_does_not_rise_changes_no_byte_of_an_answer(ladder, ben, cat):
    with_mean(ladder, ben, "first", 0.50)
    second = with_mean(ladder, ben, "second", 0.51)
    before = heard(ladder, second, ben, cat)
    Score.objects.filter(score_set__run=second).update(mean=0.02)
    assert heard(ladder, second, ben, cat) == before


def heard(track, run, *users):
    pages = ["/benchmarks/lead/board/?format=csv", f"/runs/{run.pk}/state/"]
    calls = [f"runs/{run.pk}", "tracks/lead/leaderboard", "tracks/lead/runs"]
    found = [signed_in(user).get(page).content for user in users for page in pages]
    return found + [
        Program(user).get(f"/api/v1/{call}").content for user in users for call in calls
    ]


def test_the_ladder_ends_with_the_release(ladder, ada, ben, cat):
    with_mean(ladder, ben, "first", 0.50)
    with_mean(ladder, ben, "second", 0.51)
    tracks.release_track(ladder, ada)
    ladder.refresh_from_db()
    assert shown(ladder, cat) == {"first": 0.5, "second": 0.51}


def test_only_a_leaderboard_has_a_ladder(collection, ada):
    page = signed_in(ada).post(
        "/collections/bread/tracks/new/",
        {"name": "Steps", "measures": "AP", "disclosure": "open", "ladder_step": "0.01"},
    )
    assert "Only available with rounded leaderboard means." in page.text


def test_what_many_noisy_runs_learn_is_a_few_steps():
    """A hundred runs about .5: without a ladder a hundred values show, with one some."""
    values = {str(n): 0.5 + ((n * 37) % 100 - 50) / 1000 for n in range(100)}
    assert len(find_rising_runs([(run, 1) for run in values], values, step=0.02)) <= 5


def with_scores(track, user, tag, values):
    run = make_run(track, user, RUN.replace("ben-bm25", tag))
    scores = Score.objects.filter(score_set__run=run, measure="AP")
    scores.update(mean=np.mean(values), by_topic=np.array(values, dtype="<f8").tobytes())
    return run


def test_a_step_is_proposed_that_equal_runs_rarely_pass(ladder, ben, as_ada):
    with_scores(ladder, ben, "first", [0.5, 0.5, 0.5])
    ladder.refresh_from_db()
    assert propose_step(ladder.edition) is None
    with_scores(ladder, ben, "second", [0.7, 0.6, 0.5])
    # The differences .2, .1 and 0 have the standard deviation .1.
    assert propose_step(ladder.edition) == pytest.approx(2 * 0.1 / 3**0.5)
    said = words(page_at(as_ada, "/benchmarks/lead/manage/section/scores/"))
    assert "an equal run passes .1155 once in 40 times. A smaller step" in said
