"""All pairs of runs: the numbers are those of the test itself."""

from __future__ import annotations

import csv
import re

import numpy as np
import pytest

from evaluation.significance import compare_all_pairs
from leaderboard.actions import tracks
from leaderboard.display.numbers import p_value
from leaderboard.models import Calculation, Job, Run, Track, User
from leaderboard.pages.views import analysis
from leaderboard.scoring import contests
from tests.builders import make_run, signed_in, work
from tests.pages.reading import num_queries, page_at, rows, words
from tests.pages.ten_topics import send, ten_track

ADDRESS = "/benchmarks/ten/significance/"
TOPS = [1, 1, 1, 1, 1, 1, 1, 1, 1, 2]
NEAR = [1, 1, 1, 1, 1, 1, 1, 1, 2, 1]
LAST = [4, 5, 4, 5, 4, 5, 4, 5, 4, 5]


def make_scene(ada: User, ben: User, cat: User) -> None:
    """Two runs that are nearly equal, and one far behind both."""
    track = ten_track(ada)
    send(track, ben, "tops", TOPS)
    send(track, cat, "near", NEAR)
    send(track, cat, "last", LAST)


@pytest.fixture
def ten(scene) -> Track:
    return Track.objects.get(slug="ten")


def by_hand():
    """AP is 1 / rank; near and tops have equal means and stand in the order of their names."""
    return compare_all_pairs(1 / np.array([NEAR, TOPS, LAST], dtype=float))


def cells(page: str, row: int) -> list[str]:
    body = page.partition("<tbody>")[2]
    found = re.findall(r"<td.*?</td>", re.findall(r"<tr.*?</tr>", body, re.DOTALL)[row])
    return [words(cell) for cell in found]


def test_a_difference_stands_above_the_diagonal(ten, client):
    page = page_at(client, ADDRESS)
    assert by_hand().differences[0, 2] == pytest.approx(0.725)
    assert cells(page, 0) == ["a", "1–2", ".950", "", ".000", "+.725"]
    assert cells(page, 1)[-1] == "+.725"


def test_an_adjusted_p_stands_below_the_diagonal(ten, client):
    page, p = page_at(client, ADDRESS), by_hand().p
    assert cells(page, 2)[3:] == [p_value(p[2, 0]), p_value(p[2, 1]), ""]
    assert cells(page, 2)[3] == ".002"
    assert cells(page, 1)[3] == p_value(p[1, 0]) == "1.000"


def test_the_page_says_how_many_pairs_differ_and_by_which_test(ten, client):
    said = words(page_at(client, ADDRESS))
    assert "All pairs of 3 runs tested together, each with its own standard error" in said
    assert "2 of the 3 pairs of 3 runs differ significantly" in said


def test_a_verdict_has_a_sign_beside_its_wash(ten, client):
    page = page_at(client, ADDRESS)
    assert page.count('wash-better"><a') == page.count('<span class="better">+.725') == 2
    assert page.count('wash-worse"><span class="worse">.002') == 2


def test_a_difference_leads_to_the_two_runs(ten, client):
    page = page_at(client, ADDRESS)
    address = re.findall(r'href="([^"]*/compare/[^"]+)"', page)[-1].replace("&amp;", "&")
    assert "tops against last" in words(page_at(client, address))


def test_letters_and_ranks_stand_beside_the_names(ten, client):
    assert [row.split()[:3] for row in rows(page_at(client, ADDRESS))] == [
        ["near", "a", "1–2"],
        ["tops", "a", "1–2"],
        ["last", "b", "3"],
    ]


def test_the_pairs_are_a_table_for_other_programs(ten, client):
    answer = client.get(f"{ADDRESS}?format=csv")
    lines = list(csv.DictReader(answer.content.decode().splitlines()))
    assert [(each["tag"], each["other_tag"]) for each in lines][1:] == [
        ("near", "last"),
        ("tops", "last"),
    ]
    assert float(lines[1]["difference"]) == by_hand().differences[0, 2]
    assert float(lines[0]["p_adjusted"]) == by_hand().p[0, 1]
    assert "ten-pairs.csv" in answer["Content-Disposition"]


def test_letters_and_ranks_are_a_table_for_other_programs(ten, client):
    answer = client.get(f"{ADDRESS}?format=csv&table=runs").content.decode()
    lines = [line.split(",") for line in answer.splitlines()]
    assert lines[0] == ["run", "tag", "AP", "rank_from", "rank_to", "letters"]
    assert [line[3:] for line in lines[1:]] == [["1", "2", "a"], ["1", "2", "a"], ["3", "3", "b"]]
    assert float(lines[1][2]) == pytest.approx((1 / np.array(NEAR)).mean())


def test_another_measure_has_its_own_matrix(ten, client):
    page = page_at(client, f"{ADDRESS}?measure=P@5")
    assert 'aria-current="true">P@5' in page and "0 of the 3 pairs" in words(page)


def test_a_long_board_is_cut_and_says_so(ten, client, monkeypatch):
    monkeypatch.setattr(analysis, "RUNS", 2)
    page = page_at(client, ADDRESS)
    assert "The first 2 of 3 runs by AP." in words(page) and len(rows(page)) == 2
    assert cells(page, 1)[3] == p_value(by_hand().p[1, 0])


def test_more_runs_than_a_job_compares_have_no_pairs_and_the_page_says_so(ten, client, monkeypatch):
    monkeypatch.setattr(contests, "MOST_IN_ALL_PAIRS", 2)
    Calculation.objects.all().delete()
    Job.objects.enqueue("compare", ten.edition)
    work()
    page = words(page_at(client, ADDRESS))
    assert "This board has 3, so its runs have no possible ranks and no letters." in page
    assert "running" not in page and not Calculation.objects.exists()


def test_a_board_of_too_many_runs_answers_about_the_baseline_alone(ten, ada, client, monkeypatch):
    monkeypatch.setattr(contests, "MOST_IN_ALL_PAIRS", 2)
    near, tops, last = (Run.objects.get(tag=tag) for tag in ("near", "tops", "last"))
    tracks.choose_baseline(ten, ada, last)
    work()
    board = client.get("/api/v1/tracks/ten/leaderboard?family=all").json()
    assert (board["family"], len(board["tested"])) == ("baseline", 3)
    pair = words(page_at(client, f"/benchmarks/ten/compare/?a={near.pk}&b={tops.pk}"))
    assert "This pair is not tested: the board has too many runs to compare all pairs." in pair


def test_against_the_baseline_only_its_pairs_have_that_test(ten, ada, client):
    last = Run.objects.get(tag="last")
    tracks.choose_baseline(ten, ada, last)
    work()
    page = page_at(client, ADDRESS)
    assert "pairs with last are decided by that test" in words(page)
    assert "Letters" not in page and "Letters" in page_at(client, f"{ADDRESS}?family=all")


def test_few_topics_have_differences_and_no_p(track, ben, cat, client):
    make_run(track, ben)
    make_run(track, cat, "1 Q0 d1 1 9.0 c\n2 Q0 d4 1 9.0 c\n3 Q0 d6 1 9.0 c\n")
    page = page_at(client, "/benchmarks/bread/significance/")
    assert "nothing can be significant" in words(page) and "wash" not in page
    assert cells(page, 1)[3] == "–"


@pytest.mark.parametrize("tags", [[], ["tops"]])
def test_a_matrix_needs_two_runs(ten, client, tags):
    Run.objects.exclude(tag__in=tags).update(state="valid")
    assert "Two runs needed" in page_at(client, ADDRESS)


def test_own_runs_are_marked(ten, ben):
    assert page_at(signed_in(ben), ADDRESS).count('<tr class="own">') == 1


def test_a_tag_is_text(ten, client):
    Run.objects.filter(tag="last").update(tag="<script>x")
    assert "<script>x" not in page_at(client, ADDRESS)


def test_a_blind_track_has_no_matrix_and_no_tab(blind_track, as_ben, as_ada):
    assert as_ben.get("/benchmarks/blind/significance/").status_code == 404
    assert "/significance/" not in page_at(as_ben, "/benchmarks/blind/board/")
    assert "/benchmarks/blind/significance/" in page_at(as_ada, "/benchmarks/blind/board/")


def test_queries_do_not_grow_with_the_board(ten, ben, client):
    asked = num_queries(client, ADDRESS)
    for rank in (3, 4, 5):
        send(ten, ben, f"r{rank}", rank)
    assert num_queries(client, ADDRESS) == asked


def make_undefined(run: Run) -> None:
    """AP has no value on any topic of the run."""
    scores = run.score_sets.get().scores.filter(measure="AP")
    scores.update(mean=None, num_undefined=10, by_topic=np.full(10, np.nan).tobytes())


@pytest.mark.parametrize("is_stored", [False, True])
def test_a_run_without_a_value_takes_no_topic_from_the_others(ten, ada, client, is_stored):
    make_undefined(send(ten, ada, "none", 2))
    Calculation.objects.all().delete()
    if is_stored:
        Job.objects.enqueue("compare", ten.edition)
        work()
    page = page_at(client, ADDRESS)
    assert [row.split()[:3] for row in rows(page)] == [
        ["near", "a", "1–2"],
        ["tops", "a", "1–2"],
        ["last", "b", "3"],
    ]
    assert cells(page, 2)[3] == p_value(by_hand().p[2, 0])
    assert "All pairs of 3 runs tested together" in words(page)
    assert "none has no AP on any topic, so it has no rank and is not tested." in words(page)


def test_the_board_names_the_run_that_no_test_counts(ten, ada, client):
    make_undefined(send(ten, ada, "none", 2))
    Calculation.objects.all().delete()
    said = words(page_at(client, "/benchmarks/ten/board/"))
    assert "none has no AP on any topic, so it has no rank and is not tested." in said
    assert "2 of 3 pairs differ" in said
    board = client.get("/api/v1/tracks/ten/leaderboard").json()["standings"]
    assert [(each["rank_low"], each["rank_high"]) for each in board][-1] == (None, None)
    assert next((each["rank_low"], each["rank_high"]) for each in board) == (1, 2)
