"""Who takes part goes by another name until the release."""

from __future__ import annotations

import pytest
from django.db import IntegrityError

from leaderboard.actions import runs, tracks
from leaderboard.boards.disclosure import run_or_404, sight_of
from leaderboard.boards.standings import find_board
from leaderboard.models import Track
from tests.benchmark_scene import join_tracks
from tests.builders import OTHER_RUN, RUN, make_run, make_track, signed_in


@pytest.fixture
def masked(collection):
    """An open track whose teams go by pseudonyms."""
    return make_track(collection, slug="masked", pseudonyms=True)


def names_on(sight):
    return {(each.run.team.name, each.run.tag) for each in find_board(sight).standings}


def test_others_read_a_pseudonym_and_a_team_reads_its_own_name(masked, ada, ben, cat):
    run = make_run(masked, ben)
    assert names_on(sight_of(masked, cat)) == {(run.team_pseudonym, run.pseudonym)}
    assert (
        names_on(sight_of(masked, ben)) == names_on(sight_of(masked, ada)) == {("ben", "ben-bm25")}
    )


def test_a_pseudonym_stays_the_same_and_tells_nothing_of_the_team(masked, ben, cat):
    first = make_run(masked, ben)
    second = make_run(masked, cat, OTHER_RUN)
    again = make_run(masked, ben, RUN.replace("9.0", "9.5"))
    assert first.team_pseudonym == again.team_pseudonym != second.team_pseudonym
    assert "ben" not in first.team_pseudonym.casefold()


def test_two_teams_of_a_track_never_share_a_pseudonym(masked, ben, cat):
    make_run(masked, ben)
    taken, other = masked.participations.get().alias, masked.benchmark.teams.create(name="cat")
    with pytest.raises(IntegrityError):
        masked.participations.create(team=other, alias=taken)


def test_a_team_has_another_pseudonym_on_each_track(masked, collection, ben):
    bread = make_track(collection, pseudonyms=True)
    join_tracks([masked, bread], slug="baking", name="Baking")
    for track in Track.objects.all():
        make_run(track, ben)
    [one, other] = ben.memberships.get().team.participations.values_list("alias", flat=True)
    assert one != other


def test_a_release_gives_the_names_back(masked, ada, ben, cat):
    make_run(masked, ben)
    tracks.release_track(masked, ada)
    masked.refresh_from_db()
    assert names_on(sight_of(masked, cat)) == {("ben", "ben-bm25")}


def test_what_tells_of_people_is_left_out_and_figures_stay(masked, ben, cat):
    figures = [{"what": "memory", "value": 2, "unit": "GB", "origin": "tool"}]
    told = {"models": "BenBERT", "code": "https://ben.example/", "llm": True}
    run = make_run(masked, ben, description="by Ben", facts={**told, "efficiency": figures})
    seen = run_or_404(cat, run.pk).run
    assert seen.facts == {"llm": True, "efficiency": figures}
    assert seen.description == seen.filename == "" and seen.metadata == {}


def test_what_a_team_says_of_a_withdrawal_stays_with_it(masked, ben, client):
    run = make_run(masked, ben)
    runs.withdraw_run(run, ben, "Ben's slip")
    page = client.get(f"/runs/{run.pk}/")
    assert page.status_code == 410 and "slip" not in page.text
    assert "slip" in signed_in(ben).get(f"/runs/{run.pk}/").text


def test_the_runs_of_the_organisers_keep_their_names(masked, ada, cat):
    run = make_run(masked, ada)
    assert run_or_404(cat, run.pk).run.tag == "ben-bm25"


def test_nobody_finds_a_run_by_the_name_that_is_hidden(masked, ben, cat):
    run = make_run(masked, ben)
    as_cat = signed_in(cat)
    assert run.pk not in as_cat.get("/search/?q=bm25").content.decode()
    assert run.pk in as_cat.get(f"/search/?q={run.pseudonym}").content.decode()
    assert run.pk in signed_in(ben).get("/search/?q=bm25").content.decode()


def test_a_filter_and_a_badge_know_the_pseudonym_alone(masked, ben, client):
    run = make_run(masked, ben)
    badge = "/benchmarks/masked/badge.svg?team="
    assert client.get(f"{badge}ben").status_code == 404
    assert client.get(f"{badge}{run.team_pseudonym}").status_code == 200
    assert (
        f"/runs/{run.pk}/" not in client.get("/benchmarks/masked/board/?team=ben").content.decode()
    )


def test_snapshots_hold_names_and_wait_for_the_release(masked, ada, ben, client):
    make_run(masked, ben)
    assert client.get("/benchmarks/masked/snapshots/").status_code == 404
    assert signed_in(ada).get("/benchmarks/masked/snapshots/").status_code == 200
    tracks.release_track(masked, ada)
    assert client.get("/benchmarks/masked/snapshots/").status_code == 200


def test_a_team_reads_what_others_call_it_and_the_desk_all_of_them(masked, ada, ben):
    pseudonym = make_run(masked, ben).team_pseudonym
    assert pseudonym in signed_in(ben).get("/benchmarks/masked/team/").content.decode()
    assert pseudonym in signed_in(ada).get("/benchmarks/masked/desk/").content.decode()
