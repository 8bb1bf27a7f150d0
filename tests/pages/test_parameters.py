"""What runs state in one flat value: columns, filters and order of a board, files and the API."""

from __future__ import annotations

import re

import pytest

from leaderboard.actions import people as membership
from leaderboard.models import Track, User
from leaderboard.runs.fact_changes import change_facts
from tests.builders import make_run, make_track, signed_in
from tests.pages.reading import page_at, rows, words
from tests.pages.ten_topics import run_of, ten_track, with_baseline

BOARD = "/benchmarks/ten/board/"
COLUMNS = "column=fact.negatives&column=fact.encoder"
# By tag: the rank of the one relevant document, and what its team states.
RUNS = {
    "wide": (1, {"negatives": 15, "encoder": "large", "lr": "1e-5"}),
    "fast": (2, {"negatives": 8, "encoder": "large", "lr": 2e-05}),
    "poor": (5, {"negatives": 1, "encoder": "small", "lr": "1e-5", "stage": "rerank"}),
    "silent": (3, {}),
}


def make_scene(ada: User, ben: User, cat: User) -> None:
    track = ten_track(ada)
    for tag, (rank, facts) in RUNS.items():
        make_run(track, ben, run_of(tag, rank), facts=facts)
    with_baseline(track, ada)


def tags(page: str) -> list[str]:
    return re.findall(r'<th scope="row"><a [^>]*><bdi>(\w+)', page)


def test_a_parameter_is_a_column_once_a_reader_chooses_it(scene, client):
    assert "negatives" not in words(page_at(client, BOARD).split("<tbody")[1])
    page = page_at(client, f"{BOARD}?{COLUMNS}")
    assert "encoderparameter" in words(page) and "large 15" in rows(page)[0]
    assert "– –" in next(row for row in rows(page) if "silent" in row)


@pytest.mark.parametrize(
    ("asked", "left"),
    [
        ("fact.encoder=large", ["wide", "fast"]),
        ("from.negatives=2", ["wide", "fast"]),
        ("from.negatives=2&to.negatives=8", ["fast"]),
        ("fact.lr=2e-5", ["fast"]),
        ("text=encoder=small", ["poor"]),
        ("fact.secret=x", ["wide", "base", "fast", "silent", "poor"]),
        ("sort=fact.negatives", ["poor", "fast", "wide", "base", "silent"]),
        ("sort=-fact.negatives", ["wide", "fast", "poor", "base", "silent"]),
        ("sort=fact.lr", ["wide", "poor", "fast", "base", "silent"]),
    ],
)
def test_a_parameter_filters_and_sorts_the_runs(scene, client, asked, left):
    assert tags(page_at(client, f"{BOARD}?{asked}")) == left


def test_the_form_offers_the_values_of_a_shown_parameter(scene, client):
    page = page_at(client, f"{BOARD}?{COLUMNS}&fact.encoder=large&from.negatives=2")
    assert "<option selected>large</option>" in page and 'name="from.negatives"' in page
    assert "encoder large, negatives from 2" in words(page)


def test_files_and_the_api_carry_parameters(scene, client):
    file = client.get(f"{BOARD}?{COLUMNS}&format=csv").text
    assert "fact.encoder,fact.negatives" in file and "large,15" in file
    assert "fact.lr" in client.get("/api/v1/tracks/ten/leaderboard?format=csv").text
    first = client.get("/api/v1/tracks/ten/leaderboard").json()["standings"][0]
    assert first["facts"] == {
        "kind": "automatic",
        "encoder": "large",
        "lr": "1e-5",
        "negatives": 15,
    }


def test_a_name_that_says_it_is_a_measure_is_marked_as_a_parameter(scene, client, ben):
    run = Track.objects.get(slug="ten").runs.get(tag="poor")
    change_facts(run, ben, {"AP": 0.99})
    page = words(page_at(client, f"{BOARD}?column=fact.AP"))
    assert "APparameter" in page and "0.99" in page


def test_a_pseudonym_hides_names_and_values_of_parameters(collection, ben, cat):
    track = make_track(collection, slug="masked", pseudonyms=True)
    membership.admit(track.benchmark, cat, membership.JoinDetails(team_name="cats"))
    make_run(track, ben, facts={"ben_tuned": "by Ben", "llm": True})
    for address in ("/benchmarks/masked/board/?column=all", "/api/v1/tracks/masked/leaderboard"):
        assert "ben_tuned" not in signed_in(cat).get(address).text
        assert "ben_tuned" in signed_in(ben).get(address).text


PLOT = "/benchmarks/ten/parameters/"


def test_runs_are_drawn_against_a_parameter_with_intervals(scene, client):
    page = page_at(client, f"{PLOT}?across=fact.negatives")
    assert "3 runs of 5 state negatives." in words(page)
    assert page.count('class="whisker"') >= 2 and "wide 15, 1.000" in page


def test_two_measures_have_their_front(scene, client):
    page = words(page_at(client, f"{PLOT}?across=P@5"))
    assert "AP against P@5" in page and "5 runs of 5 have both measures." in page


def test_groups_have_medians_and_say_what_they_cannot_tell_apart(scene, client):
    page = page_at(client, f"{PLOT}?across=fact.negatives")
    assert rows(page)[0].startswith("1 1 .200 .200 .200 poor")
    assert "their effects cannot be separated: encoder" in words(page)
    file = client.get(f"{PLOT}?across=fact.encoder&format=csv&table=groups").text
    assert "large,2,0.75,0.5,1" in file


def test_two_chosen_runs_are_compared_and_more_lie_side_by_side(scene, client):
    page = page_at(client, f"{BOARD}?{COLUMNS}")
    runs = Track.objects.get(slug="ten").runs
    wide, fast, poor = (runs.get(tag=tag).pk for tag in ("wide", "fast", "poor"))
    assert f'name="run" value="{wide}"' in page
    two = client.get(f"{PLOT}?compare=1&run={wide}&run={fast}")
    assert two.status_code == 302 and f"compare/?a={wide}&b={fast}" in two["Location"]
    three = page_at(client, f"{PLOT}?compare=1&run={wide}&run={fast}&run={poor}")
    assert "large 1e-5 15" in rows(three)[0] and "small 1e-5 1 rerank" in rows(three)[2]
