"""GET /api/v1/tracks/{slug}/gate"""

from __future__ import annotations

from pytest import approx

from tests.pages.ten_topics import send, ten_track, with_baseline

PATH = "/api/v1/tracks/ten/gate"


def test_a_run_is_held_against_the_baseline(ada, ben, anybody_api):
    track = ten_track(ada)
    with_baseline(track, ada, 1)
    new = send(track, ben, "new", 2)
    answer = anybody_api.get(f"{PATH}?run={new.pk}&margin=.1").json()
    assert (answer["answer"], answer["changed"], answer["builds"]) == ("worse", 10, 50)
    assert answer["difference"] == approx(-0.5) and answer["high"] < 0
    assert answer["moved"][0] == {"topic": "1", "reference": 1.0, "new": 0.5, "difference": -0.5}
    assert answer["sentences"][-1] == "new is worse than base."


def test_any_run_on_the_board_is_a_reference(ada, ben, anybody_api):
    track = ten_track(ada)
    one, other = send(track, ben, "one", 2), send(track, ben, "other", 1)
    path = f"{PATH}?run={other.pk}&reference={one.pk}"
    assert anybody_api.get(f"{path}&margin=.1").json()["answer"] == "pass"
    assert anybody_api.get(path).status_code == 422
    for margin in ("0", "-1", "nan", ""):
        assert anybody_api.get(f"{path}&margin={margin}").status_code == 422


def test_without_main_branch_and_baseline_a_reference_is_named(ada, ben, anybody_api):
    new = send(ten_track(ada), ben, "new", 2)
    answer = anybody_api.get(f"{PATH}?run={new.pk}&margin=.1")
    assert "reference: is needed" in answer.json()["message"]


def test_the_track_says_the_margin_and_builds_are_counted(ada, ben, anybody_api):
    track = ten_track(ada, main_branch="main", gate_margin=0.2, gate_builds=2)
    main = send(track, ben, "main", 1)
    same, _, second = (send(track, ben, f"b{n}", rank) for n, rank in enumerate((1, 2, 2)))
    answer = anybody_api.get(f"{PATH}?run={second.pk}&reference={main.pk}").json()
    assert (answer["margin"], answer["builds"], answer["build"]) == (0.2, 2, 2)
    answer = anybody_api.get(f"{PATH}?run={same.pk}&reference={main.pk}").json()
    assert answer["build"] == 0


def test_used_up_builds_are_said(ada, ben, anybody_api):
    track = ten_track(ada, main_branch="main", gate_margin=0.2, gate_builds=1)
    main, _, second = (send(track, ben, f"b{n}", rank) for n, rank in enumerate((1, 2, 3)))
    answer = anybody_api.get(f"{PATH}?run={second.pk}&reference={main.pk}").json()
    assert "This is build 2 of 1 for one reference." in answer["sentences"][-1]
