"""GET /api/v1/runs/{id} and /api/v1/tracks/{slug}/runs"""

from __future__ import annotations

from datetime import timedelta

import pytest
from pytest import approx

from leaderboard.actions.submissions import accept_run
from leaderboard.models import Run, Track
from tests.api.conftest import Program
from tests.builders import OTHER_RUN, RUN, make_run, upload, work

PUBLIC = {
    "id",
    "state",
    "done",
    "url",
    "tag",
    "team",
    "received_at",
    "late",
    "topics",
    "scores",
    "facts",
    "provenance",
    "verdict",
}
INSIDE = {
    "attempts",
    "fixes",
    "queue_position",
    "reason",
    "withdrawn_at",
    "withdrawn_reason",
    "problems",
    "problem_totals",
    "problems_url",
    "format",
    "metadata",
    "description",
}


def test_a_scored_run_shows_its_scores_by_the_measures_of_the_track(bens_run, ben_api):
    run = ben_api.get(f"/api/v1/runs/{bens_run.pk}").json()
    assert set(run["scores"]) == {"AP", "nDCG@10", "P@5"}
    assert run["scores"]["AP"] == approx((1 + 1 / 2 + 7 / 12) / 3, abs=1e-15)
    assert run["topics"] == {"judged": 3, "answered": 3}
    assert (run["state"], run["done"], run["attempts"]) == ("scored", True, 1)
    assert (run["tag"], run["team"], run["queue_position"]) == ("ben-bm25", "ben", None)


def test_a_run_says_how_its_numbers_were_computed(bens_run, ben_api):
    provenance = ben_api.get(f"/api/v1/runs/{bens_run.pk}").json()["provenance"]
    assert provenance["sha256"] == bens_run.sha256
    assert (provenance["judgments"], provenance["convention"]) == ("v1", "house")
    assert provenance["command"] == (
        "python -m evaluation score qrels.v1.txt ben-bm25.run"
        " -m AP -m nDCG@10 -m P@5 -M 1000 --top-grade 3"
    )


def test_a_run_says_whether_it_came_late(bens_run, ben_api):
    """That of a track with grace is in time until the last minute of it."""
    late = []
    for minutes in (10, 0):
        closes_at = bens_run.received_at - timedelta(minutes=5)
        Track.objects.update(closes_at=closes_at, grace_minutes=minutes)
        late.append(ben_api.get(f"/api/v1/runs/{bens_run.pk}").json()["late"])
    assert late == [False, True]


def test_a_queued_run_says_its_place(track, ben_api):
    first, second = ben_api.send_run(RUN).json(), ben_api.send_run(OTHER_RUN).json()
    places = [ben_api.get(each["url"]).json()["queue_position"] for each in (first, second)]
    assert places == [1, 2]


def test_a_run_without_scores_has_no_key_for_them(track, ben_api):
    url = ben_api.send_run(RUN).json()["url"]
    run = ben_api.get(url).json()
    assert "scores" not in run
    assert run["topics"] == {"answered": None}


def test_a_run_that_failed_says_why(track, ben, ben_api):
    run = make_run(track, ben)
    Run.objects.filter(pk=run.pk).update(state="failed", reason="The disk was full.")
    assert ben_api.get(f"/api/v1/runs/{run.pk}").json()["reason"] == "The disk was full."


def test_its_team_sees_the_inside_of_a_run_and_others_do_not(bens_run, ben_api, cat_api):
    path = f"/api/v1/runs/{bens_run.pk}"
    assert set(ben_api.get(path).json()) == PUBLIC | INSIDE
    assert set(cat_api.get(path).json()) == PUBLIC
    assert set(cat_api.get(path).json()["provenance"]) >= {"sha256", "command"}
    assert "filename" not in cat_api.get(path).json()["provenance"]


def test_a_blind_run_shows_nothing_of_the_judgments(blind_track, ben, ben_api):
    run = make_run(blind_track, ben)
    answer = ben_api.get(f"/api/v1/runs/{run.pk}").json()
    assert run.state == "scored"
    assert (answer["state"], answer["done"]) == ("valid", True)
    assert "scores" not in answer
    assert answer["topics"] == {"answered": 3}
    assert set(answer["provenance"]) == {
        "sha256",
        "filename",
        "size",
        "submitted_by",
        "checked_at",
    }


def test_another_teams_blind_run_does_not_exist(blind_track, ben, cat_api):
    run = make_run(blind_track, ben)
    assert cat_api.get(f"/api/v1/runs/{run.pk}").status_code == 404
    assert cat_api.get("/api/v1/tracks/blind/runs").json()["items"] == []


def test_an_organiser_sees_a_blind_run_whole(blind_track, ben, ada_api):
    run = make_run(blind_track, ben)
    answer = ada_api.get(f"/api/v1/runs/{run.pk}").json()
    assert answer["state"] == "scored"
    assert set(answer) == PUBLIC | INSIDE | {"same_rankings"}


def test_runs_are_listed_in_pages_the_newest_first(track, ben_api):
    ids = [ben_api.send_run(f"1 Q0 d{n} 1 1 run{n}\n").json()["id"] for n in range(1, 6)]
    work()
    seen, after = [], ""
    for _ in range(3):
        page = ben_api.get(f"/api/v1/tracks/bread/runs?limit=2&after={after}").json()
        seen += [run["id"] for run in page["items"]]
        after = page["next"]
    assert (seen, after) == (ids[::-1], None)


def test_a_list_shows_scores_and_takes_no_lookups(bens_run, anybody_api):
    plain = anybody_api.get("/api/v1/tracks/bread/runs")
    probing = anybody_api.get("/api/v1/tracks/bread/runs?track__judgment_set__judgments__grade=2")
    assert plain.json()["items"][0]["scores"]["P@5"] == approx((2 + 1 + 2) / 15)
    assert probing.content == plain.content


def test_a_page_begins_after_a_run_of_the_list_or_not_at_all(track, ben_api):
    answer = ben_api.get("/api/v1/tracks/bread/runs?after=nothing")
    assert answer.json()["message"] == "after: is not a run of this list"


def test_a_limit_out_of_range_is_a_wrong_field(track, ben_api):
    for limit in ("0", "201", "-1", "x", "9" * 30):
        answer = ben_api.get(f"/api/v1/tracks/bread/runs?limit={limit}")
        assert answer.status_code == 422
        assert answer.json()["message"].startswith("limit: ")


@pytest.mark.parametrize("kind", ["track", "blind_track"])
def test_only_organisers_read_which_teams_have_the_same_rankings(
    kind, request, ben, cat, ada_api, ben_api
):
    track = request.getfixturevalue(kind)
    mine, other = make_run(track, ben), make_run(track, cat, RUN.replace("ben-bm25", "twin"))
    path = f"/api/v1/runs/{mine.pk}"
    same = {"id": other.pk, "tag": "twin", "team": "cat"}
    assert ada_api.get(path).json()["same_rankings"] == [same]
    for reader in (ben_api, Program()):
        assert "same_rankings" not in reader.get(path).json()


def test_a_list_of_runs_names_no_same_rankings(bens_run, ada_api):
    [run] = ada_api.get("/api/v1/tracks/bread/runs").json()["items"]
    assert "same_rankings" not in run


def test_what_is_not_counted_yet_is_null(track, ben, ben_api):
    run = accept_run(track, ben, upload("a.run", RUN)).run
    assert ben_api.get(f"/api/v1/runs/{run.pk}").json()["topics"] == {"answered": None}
