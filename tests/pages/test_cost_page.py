"""Effectiveness against cost: the values on the page are those of the tests and the facts."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.significance import interval_of_mean
from leaderboard.analysis.costs import build_cost_breakdown
from leaderboard.boards.disclosure import sight_of
from leaderboard.boards.standings import find_board
from leaderboard.display.charts.costs import LogAxis
from leaderboard.display.numbers import score
from leaderboard.models import Calculation, Run, Track, User
from leaderboard.runs.fact_changes import change_facts
from leaderboard.scoring import contest_tests
from tests.builders import make_track, work
from tests.pages.reading import num_queries, page_at, rows, words
from tests.pages.ten_topics import send, ten_track

ADDRESS = "/benchmarks/ten/cost/"
# By tag: the ranks of the one relevant document, and seconds a topic.
RUNS = {
    "best": ([1] * 10, 10.0),
    "near": ([1] * 9 + [2], 1.0),
    "poor": ([5] * 10, 0.1),
    "waste": ([5] * 9 + [6], 2.0),
}


def state(run: Run, user, seconds: float, origin: str = "tool", **facts: object) -> None:
    figure = {"what": "seconds_per_topic", "value": seconds, "unit": "s", "origin": origin}
    change_facts(run, user, {"efficiency": [figure], **facts})


def make_scene(ada: User, ben: User, cat: User) -> None:
    track = ten_track(ada)
    for tag, (ranks, seconds) in RUNS.items():
        user = ben if tag == "near" else cat
        state(send(track, user, tag, ranks), user, seconds)
    send(track, ben, "silent", [3] * 10)


@pytest.fixture
def ten(scene) -> Track:
    return Track.objects.get(slug="ten")


def found(track: Track, user):
    track.refresh_from_db()
    return build_cost_breakdown(find_board(sight_of(track, user)))


def test_the_cheapest_run_that_is_good_enough_is_named(ten, client):
    said = words(page_at(client, ADDRESS))
    assert (
        "The cheapest run that is not significantly worse than the best is near: "
        ".950 for 1 s. The best, best, has 1.000 for 10 s." in said
    )
    assert "4 runs report this cost; 1 run does not." in said


def test_the_runs_stand_from_cheap_to_dear_with_their_origin(ten, client):
    lines = rows(page_at(client, ADDRESS))
    assert [line.split()[0] for line in lines] == ["poor", "near", "waste", "best"]
    assert "1 s measured by a tool .950" in lines[1]


def test_the_axis_and_the_table_have_one_unit(ten, client):
    for tag, seconds in (("poor", 0.004), ("near", 0.02), ("waste", 0.05), ("best", 2.0)):
        run = Run.objects.get(tag=tag)
        state(run, run.submitted_by, seconds)
    page = page_at(client, ADDRESS)
    assert ">Time per topic, ms</text>" in page and ">1,000</text>" in page
    assert [line.split(" ms ")[0].split()[-1] for line in rows(page)] == ["4", "20", "50", "2,000"]


def test_no_run_on_the_front_is_beaten(ten, ada):
    front = [each.run.tag for each in found(ten, ada).lines if each.on_front]
    assert front == ["poor", "near", "best"]


def test_the_interval_is_that_of_the_mean_over_topics(ten, ada, client):
    interval = interval_of_mean(np.array([1.0] * 9 + [0.5]), (0, 1))
    line = found(ten, ada).lines[1]
    assert (line.low, line.high) == (interval.low, interval.high)
    assert (
        f"{score(interval.low, 3)}–{score(interval.high, 3)}" in rows(page_at(client, ADDRESS))[1]
    )


def test_where_every_cheaper_run_is_worse_the_best_is_worth_it(ten, cat, client):
    track = make_track(ten.collection, slug="two")
    for tag, rank, seconds in (("best", 1, 10.0), ("poor", 5, 0.1)):
        state(send(track, cat, tag, [rank] * 10), cat, seconds)
    page = page_at(client, "/benchmarks/two/cost/")
    assert "every cheaper run is significantly worse" in words(page)


def test_what_a_team_says_itself_is_a_square_and_says_so(ten, cat, client):
    state(Run.objects.get(tag="best"), cat, 20.0, origin="self-reported")
    page = page_at(client, ADDRESS)
    assert page.count('class="stated"') == 1
    assert "20 s self-reported" in rows(page)[3]


def test_figures_of_several_machines_are_told_apart(ten, cat, client):
    state(Run.objects.get(tag="best"), cat, 10.0, hardware="one core")
    state(Run.objects.get(tag="poor"), cat, 0.1, hardware="a large cluster")
    assert "The figures are from 2 machines" in page_at(client, ADDRESS)


def test_the_table_goes_to_other_programs_with_every_digit(ten, client):
    lines = client.get(f"{ADDRESS}?format=csv").content.decode().splitlines()
    run = Run.objects.get(tag="poor").pk
    assert lines[0].startswith("run,tag,team,cost,value,unit,origin,hardware,measure,mean,low,high")
    assert lines[1].startswith(f"{run},poor,cat,seconds_per_topic,0.1,s,tool,,AP,0.2,0.147")


def test_any_measure_and_any_cost_that_a_run_states(ten, ben, client):
    memory = {"what": "memory", "value": 2.0, "unit": "GB", "origin": "tool"}
    change_facts(Run.objects.get(tag="silent"), ben, {"efficiency": [memory]})
    page = page_at(client, f"{ADDRESS}?cost=memory&measure=P@5")
    assert "silent is the only run with this cost: .200 for 2 GB." in words(page)
    assert "seconds_per_topic" in page


def test_a_board_on_which_nobody_states_a_cost_says_so(track, client):
    assert "No cost figures yet" in page_at(client, "/benchmarks/bread/cost/")


@pytest.mark.parametrize("query", ["?cost=x", "?cost=%00", "?measure=x&baseline=%00"])
def test_an_address_that_asks_for_nothing_known_shows_the_usual(ten, client, query):
    assert page_at(client, ADDRESS + query).count("measured by a tool") == 4


@pytest.mark.parametrize("values", [[1.0], [1e-9, 1e9], [0.012, 0.5], [3.0, 3.0]])
def test_a_logarithmic_axis_holds_its_values_and_names_a_few(values):
    axis = LogAxis.over(values)
    assert all(0 < axis.at(value) < 100 for value in values)
    assert 2 <= len(axis.ticks) <= 10


def test_a_large_board_is_held_to_the_best_by_a_job(ten, ben, client, monkeypatch):
    monkeypatch.setattr(contest_tests, "IMMEDIATE_SCORES", 0)
    Calculation.objects.all().delete()
    said = words(page_at(client, ADDRESS))
    assert "The tests of all pairs are running." in said and "cheapest run that" not in said
    work()
    said = words(page_at(client, ADDRESS))
    assert "are running." not in said and "The cheapest run that is not significantly" in said


def test_queries_do_not_grow_with_the_board(ten, ben, client):
    asked = num_queries(client, ADDRESS)
    for rank in (2, 4):
        state(send(ten, ben, f"r{rank}", rank), ben, rank)
    assert num_queries(client, ADDRESS) == asked
