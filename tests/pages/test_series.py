"""Systems of a benchmark on dates in their order: the page, its file and the API."""

from __future__ import annotations

import csv
import io

import pytest
from pytest import approx

from leaderboard.models import Benchmark, System, SystemVersion, User
from tests.boards.food_benchmark import make_food_benchmark
from tests.builders import work
from tests.pages.reading import page_at, rows, words

pytestmark = pytest.mark.long

PAGE = "/benchmarks/food/by-date/"
API = "/api/v1/benchmarks/food/by-date"
DATES = {"bread": "2023-02", "cheese": "2022-10", "wine": "2023-06"}
PLACES = "/benchmarks/food/manage/tracks/"


def make_scene(ada: User, ben: User, cat: User) -> None:
    benchmark = make_food_benchmark(ada, ben, cat)
    for slug, date in DATES.items():
        benchmark.tracks.filter(slug=slug).update(dated=date)
    benchmark.baseline = System.objects.get(name="dense")
    benchmark.save()


@pytest.fixture
def benchmark(scene) -> Benchmark:
    return Benchmark.objects.get(slug="food")


def table(client) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(client.get(f"{PAGE}?format=csv").content.decode())))


def test_tracks_are_in_the_order_of_their_dates(benchmark, client):
    lines = [line for line in table(client) if line["system"] == "bm25"]
    assert [line["date"] for line in lines] == ["2022-10", "2023-02", "2023-06"]
    assert [line["track"] for line in lines] == ["cheese", "bread", "wine"]


def test_a_change_is_that_from_the_first_date(benchmark, client):
    first, second, third = (line for line in table(client) if line["system"] == "bm25")
    assert first["result_delta"] == "" and float(first["score"]) == approx(19 / 36)
    assert float(second["result_delta"]) == approx(-1 / 6)
    assert float(third["relative_change"]) == approx(-6 / 19)


def test_the_pivot_is_the_baseline_and_has_no_loss_of_its_own(benchmark, client):
    answer = client.get(API).json()
    assert answer["pivot"] == SystemVersion.objects.get(system__name="dense").pk
    bm25, dense = (system["scores"][2] for system in answer["systems"][:2])
    lead, later = 19 / 36 - 25 / 36, 25 / 36 - 11 / 72
    assert bm25["loss"] == approx(later - lead) and bm25["effect_ratio"] == approx(later / lead)
    assert (dense["loss"], dense["effect_ratio"]) == (None, None)


def test_the_file_and_the_api_say_the_same(benchmark, client):
    lines, systems = iter(table(client)), client.get(API).json()["systems"]
    for system in systems:
        for score in system["scores"]:
            line = next(lines)
            numbers = {name: value for name, value in score.items() if isinstance(value, float)}
            assert numbers == {name: float(line[name]) for name in numbers}
            assert line["track"] == score["track"]


def test_three_topics_decide_nothing(benchmark, client):
    page = words(page_at(client, PAGE))
    assert "From 2022-10 to 2023-06, no loss can be tested: that takes six topics on each." in page


def test_a_reader_chooses_pivot_and_date(benchmark, client):
    bm25 = SystemVersion.objects.get(system__name="bm25").pk
    page = page_at(client, f"{PAGE}?baseline={bm25}&to=bread")
    assert "From 2022-10 to 2023-02" in words(page)
    assert any(row.startswith("bm25") and "–" in row for row in rows(page))


def test_a_system_without_a_date_is_shown_and_not_tested(benchmark, client):
    worst = client.get(API).json()["systems"][-1]
    assert (worst["name"], worst["mean"]) == ("worst", None)
    assert [score["loss"] for score in worst["scores"]] == [None, None, None]


def test_dates_of_several_phases_are_one_series(benchmark, client):
    benchmark.tracks.filter(slug="wine").update(phase="long term")
    assert len(client.get(API).json()["dates"]) == 3
    assert len(client.get(f"{API}?phase=long term").json()["dates"]) == 1


def test_a_hidden_date_is_left_out(benchmark, client):
    benchmark.tracks.filter(slug="bread").update(disclosure="blind")
    assert [each["track"] for each in client.get(API).json()["dates"]] == ["cheese", "wine"]


def test_tests_that_take_long_are_made_by_a_job(benchmark, client, monkeypatch):
    monkeypatch.setattr("leaderboard.scoring.contest_tests.IMMEDIATE_BENCHMARK_SCORES", 0)
    assert "The tests of losses are running" in words(page_at(client, PAGE))
    work()
    answer = client.get(API).json()
    assert answer["tests_ready"] and answer["systems"][0]["scores"][1]["loss"] is not None


def test_without_dates_organisers_see_how_and_there_is_no_view(benchmark, client):
    assert 'by-date/"' in page_at(client, "/benchmarks/food/board/")
    benchmark.tracks.update(dated="")
    assert "Organisers give two tracks the date" in words(page_at(client, PAGE))
    assert 'by-date/"' not in page_at(client, "/benchmarks/food/board/")


def place(client, date: str) -> str:
    sent = {f"{slug}-position": str(number) for number, slug in enumerate(DATES, 1)}
    sent |= {f"{slug}-dated": value for slug, value in DATES.items()}
    return client.post(PLACES, sent | {"wine-dated": date}).content.decode()


def test_organisers_give_a_track_its_date(benchmark, as_ada):
    place(as_ada, "2024")
    assert benchmark.tracks.get(slug="wine").dated == "2024"


def test_a_date_is_written_in_numbers(benchmark, as_ada):
    assert "Enter 2026, 2026-05, 2026-05-31 or a number such as 1." in place(as_ada, "June 2023")
    assert benchmark.tracks.get(slug="wine").dated == "2023-06"


AS_OF = "/benchmarks/food/board/"


@pytest.mark.parametrize(
    ("date", "tracks"), [("2022", ["cheese"]), ("2023-02", ["bread", "cheese"])]
)
def test_the_board_as_of_a_date_has_the_collections_up_to_it(benchmark, client, date, tracks):
    head = client.get(f"{AS_OF}?format=csv&until={date}").content.decode().splitlines()[0]
    assert [slug for slug in sorted(DATES) if slug in head] == tracks
    page = words(page_at(client, f"{AS_OF}?until={date}"))
    assert f"As of {date}. Only collections up to this date count." in page


def test_the_page_leads_to_each_board_and_names_who_is_first(benchmark, client):
    page = page_at(client, PAGE)
    assert 'href="/benchmarks/food/board/?until=2022-10"' in page
    assert rows(page, -1) == [
        "2022-10 1 2 dense 1",
        "2023-02 2 2 bm25 1 , dense 1",
        "2023-06 3 2 bm25 1",
    ]


def test_programs_get_the_board_as_of_a_date(benchmark, client):
    board = client.get("/api/v1/benchmarks/food/board?until=2023-02").json()
    assert [each["track"] for each in board["columns"]] == ["bread", "cheese"]
    boards = client.get(API).json()["boards"]
    assert [each["tracks"] for each in boards] == [1, 2, 3]
    assert client.get("/api/v1/benchmarks/food/board?until=soon").status_code == 422
