"""Judges as entrants: files of judgments are runs, and people are what they are compared with."""

from __future__ import annotations

import pytest

from leaderboard.analysis.entrant_boards import find_entrant_boards
from leaderboard.analysis.entrants import find_or_request_judges
from leaderboard.boards.disclosure import sight_of
from leaderboard.models import Run, Score, Track, User
from leaderboard.scoring.judge_runs import load_judge
from tests.builders import (
    OTHER_RUN,
    QRELS,
    make_collection,
    make_run,
    make_track,
    make_user,
    work,
)
from tests.pages.reading import page_at, rows, words

PAGE = "/benchmarks/bread/judges/"
BOARDS = "/benchmarks/bread/judges/boards/"
# One grade of eight is wrong, and one document is left out.
SLIPS = QRELS.replace("1 0 d2 1", "1 0 d2 2").replace("2 0 d5 0\n", "")


def make_scene(ada: User, ben: User, cat: User) -> None:
    """A judge with the grades of people, and one with slips."""
    track = make_track(make_collection(ada), run_kind="judgments")
    make_run(track, ben, QRELS, tag="exact")
    make_run(track, make_user("dan"), SLIPS, tag="slips")


@pytest.fixture
def track(scene: None) -> Track:
    return Track.objects.get()


def test_a_file_of_judgments_is_a_run(track):
    assert [run.state for run in Run.objects.all()] == ["scored", "scored"]
    exact = Run.objects.get(tag="exact")
    assert load_judge(exact).grades[b"3"] == {b"d6": 3, b"d7": 0, b"d8": 1}
    assert Score.objects.get(score_set__run=exact, measure="nDCG@10").mean == 1


def test_faults_of_judgments_are_told_by_line(track, ben):
    run = make_run(track, ben, QRELS.replace("1 0 d3 0", "1 0 d3 x").replace("2 0", "9 0"))
    assert run.state == "refused" and {"E_REL", "E_UNKNOWN_TOPIC"} <= set(run.problem_totals)


def test_a_run_of_rankings_is_no_judge(track, ben):
    assert make_run(track, ben, "1 Q0 d1 1 9.0 mine\n").state == "refused"


def test_judges_are_ranked_by_their_agreement_with_people(track, client):
    assert "The judges are being compared" in page_at(client, PAGE)
    work()
    page = words(page_at(client, PAGE))
    assert "exact agrees best with people: kappa, squared weights, 1.000" in page
    assert "Too few documents are judged by both for ranks" in page


def test_each_statistic_counts_what_both_graded(track, ada):
    sight = sight_of(track, ada)
    find_or_request_judges(sight, "kappa")
    work()
    exact, slips = find_or_request_judges(sight, "kappa").rows
    assert (exact.run.tag, exact.abstained, exact.bias) == ("exact", 0, 0)
    assert (slips.documents, slips.abstained, slips.error) == (7, 1, pytest.approx(1 / 7))
    assert slips.rank is None and slips.value.value < exact.value.value == pytest.approx(1)


def test_a_withdrawn_judge_is_compared_no_more(track, ada):
    sight = sight_of(track, ada)
    find_or_request_judges(sight)
    work()
    Run.objects.filter(tag="exact").update(hidden_at=track.created_at)
    assert [row.run.tag for row in find_or_request_judges(sight).rows] == ["slips"]


@pytest.mark.parametrize("disclosure", ["blind", "leaderboard"])
def test_judges_do_not_see_people_while_scores_are_hidden(track, as_ben, as_ada, disclosure):
    Track.objects.update(disclosure=disclosure)
    for address in (PAGE, BOARDS, "/api/v1/tracks/bread/judges"):
        assert as_ben.get(address).status_code == 404
        assert as_ada.get(address).status_code == 200


def test_the_numbers_are_a_table_as_csv(track, client):
    page_at(client, PAGE)
    work()
    head, first, _ = client.get(PAGE + "?format=csv").content.decode().splitlines()
    assert head.startswith("run,tag,team,rank,letters,kappa_quadratic,")
    assert first.split(",")[1:3] == ["exact", "ben"]
    found = client.get("/api/v1/tracks/bread/judges").json()
    assert not found["judges_follow"] and found["judges"][0]["kappa_quadratic"] == pytest.approx(1)


def test_judges_are_told_by_grade_and_by_topic(track, client):
    page_at(client, PAGE)
    work()
    page = page_at(client, PAGE)
    assert rows(page, 1)[1:3] == ["2 1 1.00 .00 1.00 .00", "1 3 1.00 .00 .67 +.33"]
    assert rows(page, 2)[0] == "1 3 1.00 .00 .67 +.33"
    found = client.get("/api/v1/tracks/bread/judges").json()
    (slip,) = [each for each in found["by_topic"] if each["same"] < 1]
    assert (slip["tag"], slip["topic"], slip["documents"]) == ("slips", "1", 3)
    assert {each["grade"] for each in found["by_grade"]} == {"0", "1", "2", "3"}


def test_a_track_of_rankings_has_no_judges(track, client):
    Track.objects.update(run_kind="ranked")
    assert client.get(PAGE).status_code == 404


@pytest.fixture
def systems(track: Track, ben: User) -> Track:
    """Two runs on the collection of the judges, of which the second is better."""
    ranked = make_track(track.collection, slug="rolls")
    make_run(ranked, ben)
    make_run(ranked, make_user("eve"), OTHER_RUN)
    return ranked


def test_each_judge_would_make_a_board_of_the_systems(track, systems, client):
    assert "boards by judge are being computed" in page_at(client, f"{BOARDS}?measure=nDCG@10")
    work()
    page = page_at(client, f"{BOARDS}?measure=nDCG@10")
    assert "exact orders the runs most like people: τ 1.000; the same run is first" in words(page)
    exact, _ = rows(page)
    assert exact.split()[:5] == ["exact", "ben", "1.000", "1.000", "1.000"]
    assert rows(page, 1)[0].split()[1] in exact


def test_the_board_of_an_exact_judge_is_that_of_people(track, systems, ada):
    sight = sight_of(track, ada)
    find_entrant_boards(sight, measure="nDCG@10")
    work()
    exact, slips = find_entrant_boards(sight, measure="nDCG@10").rows
    assert (exact.board.error, exact.board.bias, exact.board.systems) == (0, 0, 2)
    assert slips.board.error > 0 and exact.shift.num_moved == 0


def test_boards_by_judges_are_tables(track, systems, client):
    page_at(client, BOARDS)
    work()
    for table, head in (("judges", "run,tag,team,tau,tau_ap,top"), ("systems", "run,tag,rank_by")):
        assert client.get(f"{BOARDS}?format=csv&table={table}").text.startswith(head)
    assert client.get(f"{BOARDS}?format=csv&table=other").status_code == 404
    found = client.get("/api/v1/tracks/bread/judges/boards").json()
    assert (found["track"], found["measure"], found["boards_follow"]) == ("rolls", "AP", False)
    assert found["judges"][0]["tau"] == 1


def test_whose_runs_a_judge_favours_is_told_by_team(track, systems, client):
    page_at(client, f"{BOARDS}?measure=nDCG@10")
    work()
    page = page_at(client, f"{BOARDS}?measure=nDCG@10")
    ben, eve = rows(page, 2)
    assert ben.startswith("ben 1 .000") and eve.startswith("eve 1 .000")
    found = client.get("/api/v1/tracks/bread/judges/boards?measure=nDCG@10").json()["families"]
    favours = [each["favours"] for each in found if each["tag"] == "slips"]
    assert favours[0] == pytest.approx(-favours[1]) and favours[0]


def test_teams_with_pseudonyms_are_no_families(track, systems, client):
    Track.objects.filter(pk=systems.pk).update(pseudonyms=True)
    page_at(client, BOARDS)
    work()
    assert client.get("/api/v1/tracks/bread/judges/boards").json()["families"] == []


@pytest.mark.parametrize("disclosure", ["blind", "leaderboard"])
def test_boards_by_judges_need_the_scores_of_the_systems(track, systems, as_ben, disclosure):
    Track.objects.filter(pk=systems.pk).update(disclosure=disclosure)
    assert "No boards to compare" in page_at(as_ben, BOARDS)
    assert as_ben.get("/api/v1/tracks/bread/judges/boards").json()["systems"] == []


def test_the_cost_that_judges_state_stands_beside_them(track, client):
    price = {"what": "run_price", "value": 4.1, "unit": "USD", "origin": "self-reported"}
    Run.objects.filter(tag="exact").update(facts={"efficiency": [price]})
    page_at(client, PAGE)
    work()
    assert rows(page_at(client, PAGE))[0].endswith("4.1 USD")


@pytest.fixture
def sure(track: Track, ben: User) -> Run:
    """A judge that says of each grade how sure it is."""
    lines = [f"{line} 0.{place + 1}\n" for place, line in enumerate(SLIPS.splitlines())]
    return make_run(track, ben, "".join(lines), tag="sure")


def test_a_judge_that_says_how_sure_it_is_has_its_calibration(track, sure, client):
    assert (sure.state, sure.format) == ("scored", "confidence")
    page_at(client, PAGE)
    work()
    page = page_at(client, PAGE)
    assert "How sure they are" in words(page)
    (row,) = rows(page, 3)
    assert row.startswith("sure .")


def test_a_judge_can_be_a_file_of_json_lines(track, ben):
    line = '{"topic": "1", "docno": "d1", "probabilities": {"0": 0.2, "3": 0.8}}\n'
    run = make_run(track, ben, line, tag="lines")
    assert (run.state, run.format) == ("scored", "jsonl")
    judge = load_judge(run)
    assert (judge.grades, judge.confidences) == ({b"1": {b"d1": 3}}, {b"1": {b"d1": 0.8}})


def test_judges_that_do_not_say_it_show_none(track, client):
    page_at(client, PAGE)
    work()
    assert "How sure they are" not in words(page_at(client, PAGE))
    assert "brier" not in client.get(PAGE + "?format=csv").content.decode()


def test_calibration_is_a_table_and_in_the_api(track, sure, client):
    page_at(client, PAGE)
    work()
    table = client.get(PAGE + "?format=csv&table=calibration").content.decode()
    assert table.startswith("run,tag,team,low,high,documents,confidence,right")
    found = client.get("/api/v1/tracks/bread/judges").json()
    briers = {each["tag"]: each["brier"] for each in found["judges"]}
    assert briers["exact"] is None and 0 < briers["sure"] < 1
    assert sum(each["documents"] for each in found["calibration"]) == 7
    assert client.get(PAGE + "?format=csv&table=other").status_code == 404


def test_a_confidence_that_is_none_is_told_by_line(track, ben):
    run = make_run(track, ben, QRELS.replace("1 0 d2 1", "1 0 d2 1 0.5"))
    assert run.state == "refused" and "E_COLUMNS" in run.problem_totals
