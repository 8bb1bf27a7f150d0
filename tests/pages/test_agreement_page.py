"""One board by each of its measures: the correlations are those of `evaluation`."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import numpy as np
import pytest

from evaluation.agreement import tau_ap, tau_matrix
from leaderboard.display.charts.slopes import rank_chart
from leaderboard.display.numbers import score
from leaderboard.models import Run, Score, Track, User
from leaderboard.pages.views import analysis
from tests.builders import signed_in
from tests.pages.reading import num_queries, page_at, rows, words
from tests.pages.ten_topics import send, ten_track

ADDRESS = "/benchmarks/ten/measures/"
RANKS = {
    "even": [2] * 10,
    "wild": [1, 1, 1, 1, 8, 8, 8, 8, 8, 8],
    "deep": [5] * 10,
    "last": [5] * 9 + [6],
}


def make_scene(ada: User, ben: User, cat: User) -> None:
    """By AP wild and even are near each other, by P@5 wild is last."""
    track = ten_track(ada)
    for tag, ranks in RANKS.items():
        send(track, ben if tag == "even" else cat, tag, ranks)


@pytest.fixture
def ten(scene) -> Track:
    return Track.objects.get(slug="ten")


def boards() -> np.ndarray:
    """AP and RR are 1 / rank, P@5 is 1/5 where the rank is at most five."""
    at = np.array(list(RANKS.values()), dtype=float)
    precision = np.where(at <= 5, 0.2, 0.0).mean(axis=1)
    return np.array([(1 / at).mean(axis=1), (1 / at).mean(axis=1), precision])


def cells(page: str) -> list[list[str]]:
    """The matrix: the cells of each measure, the diagonal among them."""
    body = page.partition("<tbody>")[2].partition("</tbody>")[0]
    found = re.findall(r"<tr.*?</tr>", body, re.DOTALL)
    return [[words(cell) for cell in re.findall(r"<td.*?</td>", row)] for row in found]


def test_tau_stands_above_the_diagonal(ten, client):
    tau = tau_matrix(boards())
    assert cells(page_at(client, ADDRESS))[0] == ["", score(tau[0, 1], 3), score(tau[0, 2], 3)]
    assert score(tau[0, 2], 3) == ".183"


def test_tau_ap_stands_below_the_diagonal_with_the_column_as_reference(ten, client):
    ap, _, precision = boards()
    assert cells(page_at(client, ADDRESS))[2][:2] == [score(tau_ap(precision, ap), 3)] * 2
    assert score(tau_ap(precision, ap), 3) == ".222"


def test_the_table_has_the_rank_by_every_measure(ten, client):
    assert rows(page_at(client, ADDRESS), table=1) == [
        "even 1 1 1 0 few 2",
        "wild 2 2 4 2 5.2",
        "deep 3 3 1 2 5",
        "last 4 4 3 1 5.1",
    ]


def test_the_verdict_names_leader_and_the_measures_furthest_apart(ten, client):
    said = words(page_at(client, ADDRESS))
    assert "Which run leads depends on the measure." in said
    assert "The boards by AP and P@5 agree least: τ" in said


def test_the_ranks_are_a_table_for_other_programs(ten, client):
    lines = client.get(f"{ADDRESS}?format=csv").content.decode().splitlines()
    run = Run.objects.get(tag="wild").pk
    assert lines[0] == ("run,tag,AP,rank by AP,RR,rank by RR,P@5,rank by P@5,documents_a_topic")
    assert lines[2] == f"{run},wild,0.475,2,0.475,2,{boards()[2, 1]},4,5.2"


def test_a_run_of_few_documents_is_flagged(ten, cat, client):
    page = page_at(client, ADDRESS)
    assert "even retrieves few documents:" in words(page)
    assert rows(page, table=1)[0].endswith("few 2") and page.count(">few<") == 1


def test_runs_of_like_length_are_not_flagged(ten, client):
    Run.objects.filter(tag="even").update(num_retrieved=26)
    assert "few documents" not in page_at(client, ADDRESS)


def test_the_chart_leads_to_the_runs_and_marks_ones_own(ten, ben):
    page = page_at(signed_in(ben), ADDRESS)
    assert page.count('class="curve climb own"') == 1
    assert f'/runs/{Run.objects.get(tag="even").pk}/" tabindex="-1"><title>even: 1, 1, 1' in page


def test_on_a_long_board_the_first_runs_are_drawn(ten, client, monkeypatch):
    monkeypatch.setattr(analysis, "RUNS", 2)
    page = page_at(client, ADDRESS)
    assert "the first 2 by AP are drawn" in words(page)
    assert "<title>wild: 2, 2, 2</title>" in page and len(rows(page, table=1)) == 4


def test_one_measure_has_nothing_to_agree_with(ten, client):
    Track.objects.update(measures=["AP"])
    assert "The track has one measure, AP." in page_at(client, ADDRESS)


def test_a_board_without_runs_has_no_chart(ten, client):
    Run.objects.update(state="valid")
    assert "Two runs needed." in page_at(client, ADDRESS)


def test_an_undefined_mean_has_no_rank(ten, client):
    Score.objects.filter(measure="P@5", score_set__run__tag="even").update(mean=None)
    assert rows(page_at(client, ADDRESS), table=1)[0] == "even 1 1 – 0 few 2"


def test_a_tag_is_text(ten, client):
    Run.objects.filter(tag="deep").update(tag="<script>x")
    assert "<script>x" not in page_at(client, ADDRESS)


def test_a_blind_track_does_not_compare_measures(blind_track, as_ben):
    assert as_ben.get("/benchmarks/blind/measures/").status_code == 404


def test_queries_do_not_grow_with_the_board(ten, ben, client):
    asked = num_queries(client, ADDRESS)
    for rank in (3, 4):
        send(ten, ben, f"r{rank}", rank)
    assert num_queries(client, ADDRESS) == asked


def drawn_run(name, places):
    """What the chart draws of a run."""
    return SimpleNamespace(name=name, places=places, kind="")


def test_a_line_goes_through_the_places_of_its_run():
    drawn = ET.fromstring(
        rank_chart(["AP", "RR"], [drawn_run("a", [1, 2]), drawn_run("b", [2, 1])], "Two")
    )
    paths = [path.get("d") for path in drawn.iter("path")]
    assert paths == ["M0 34L100 54", "M0 54L100 34"]


def test_a_long_name_is_cut_and_stands_whole_in_the_title():
    chart = rank_chart(["AP"], [drawn_run("a-name-of-more-than-fifteen", [1])], "One")
    assert "a-name-of-more-t…" in chart and "<title>a-name-of-more-than-fifteen: 1" in chart


def test_measure_against_measure_is_a_table_for_other_programs(ten, client):
    found = client.get("/benchmarks/ten/measures/?format=csv&table=agreement").content.decode()
    lines = found.splitlines()
    assert lines[0] == "measure,other,tau_b,tau_ap"
    assert {line.split(",")[0] for line in lines[1:]} == {"AP", "RR", "P@5"} and len(lines) == 7
