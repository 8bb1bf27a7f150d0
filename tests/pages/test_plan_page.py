"""A plan of topics and pools: the page has the numbers of the functions and of the command."""

from __future__ import annotations

import pytest

from evaluation.significance import topics_needed, variances_of
from leaderboard.analysis import rescoring
from leaderboard.models import Track, User
from leaderboard.scoring.comparisons import score_matrix
from tests.builders import make_track
from tests.pages.commands import commands, printed_by
from tests.pages.reading import num_queries, page_at, rows, words
from tests.pages.ten_topics import QRELS, run_of, send, ten_track

ADDRESS = "/tracks/ten/plan/"
RUNS = {
    "one": [1, 2, 1, 3, 1, 2, 5, 1, 2, 4],
    "two": [2, 2, 3, 1, 4, 2, 5, 2, 1, 6],
    "deep": [7, 8, 9, 7, 8, 9, 7, 8, 9, 7],
}


def make_scene(ada: User, ben: User, cat: User) -> None:
    track = ten_track(ada)
    for tag, ranks in RUNS.items():
        send(track, ben, tag, ranks)


@pytest.fixture
def ten(scene) -> Track:
    return Track.objects.get(slug="ten")


@pytest.fixture
def files(ten, tmp_path):
    (tmp_path / "qrels.v1.txt").write_text(QRELS)
    for tag, ranks in RUNS.items():
        (tmp_path / f"{tag}.run").write_text(run_of(tag, ranks))
    return tmp_path


def test_a_typed_variance_needs_the_topics_of_the_literature(ten, client):
    """Sakai 2016: variance .0462 and difference .1 need 74, 91 and 146 topics."""
    for runs, topics in ((2, 74), (3, 91), (10, 146)):
        page = page_at(client, f"{ADDRESS}?variance=.0462&difference=.1&runs={runs}")
        assert rows(page)[1].split()[-1] == str(topics)


def test_without_one_the_variance_is_that_of_the_measure_on_the_board(ten, client):
    runs = [run.pk for run in ten.runs.all()]
    found = variances_of(score_matrix(ten.edition, "RR", runs))
    page = page_at(client, f"{ADDRESS}?measure=RR&difference=.2")
    assert rows(page)[0].split()[-1] == str(topics_needed(0.2 / found.paired**0.5))
    assert "Variances of RR on this board, of 3 runs:" in words(page)
    assert "To find a difference of 0.2 between two runs with power 0.8" in words(page)


def test_a_pool_is_shown_with_its_documents_hours_and_order(ten, client):
    """To depth 5 the run `deep` finds nothing, so it is last in both orders."""
    first, second, *_ = rows(page_at(client, f"{ADDRESS}?seconds=360"), 1)
    documents = first.split()[1]
    assert first.split()[0] == "5" and second.split()[0] == "10"
    assert first.split()[4] == f"{int(documents) / 10:.1f}"
    assert second.split()[-2:] == ["1.000", "1.000"]


def test_the_printed_command_gives_the_topics_and_pools_of_the_page(ten, client, files):
    page = page_at(client, f"{ADDRESS}?difference=.2&runs=3&seconds=30")
    [command] = commands(page_at(client, linked(page)))
    printed = printed_by(command, files)
    topics = [row.split()[-1].replace(",", "") for row in rows(page)]
    assert [line.split()[-1] for line in printed.splitlines()[1:4]] == topics
    for row in rows(page, 1):
        depth, documents, judged, relevant, hours, *_ = row.split()
        line = next(each for each in printed.splitlines() if each.split()[:1] == [depth])
        assert line.split()[1:5] == [documents, judged, relevant, hours]


def test_the_command_of_a_typed_variance_needs_no_files(ten, client, tmp_path):
    page = page_at(client, f"{ADDRESS}?variance=.0462&difference=.1&runs=10")
    [command] = commands(page_at(client, linked(page)))
    assert "146" in printed_by(command, tmp_path)


def linked(page: str) -> str:
    """The address of how a plan is computed."""
    start = page.index("/tracks/ten/computed/planning/")
    return page[start : page.index('"', start)].replace("&amp;", "&")


@pytest.mark.parametrize("asked", ["difference=0", "alpha=1", "runs=x", "power=nan", "seconds="])
def test_a_value_out_of_range_is_refused_beside_its_field(ten, client, asked):
    page = page_at(client, f"{ADDRESS}?{asked}")
    assert "Some values are out of range." in page and 'class="error' in page


@pytest.mark.parametrize("asked", ["difference=1e-6", "difference=1e6&width=1e6", "width=1e-6"])
def test_extreme_plans_are_answered(ten, client, asked):
    assert len(rows(page_at(client, f"{ADDRESS}?{asked}"))) == 3


def test_an_organiser_plans_before_there_is_a_board(collection, as_ada, client):
    make_track(collection, judgment_set=None)
    address = "/tracks/bread/plan/"
    assert "A variance is needed" in page_at(as_ada, address)
    page = page_at(as_ada, f"{address}?variance=.0462&difference=.1&runs=2")
    assert rows(page)[1].endswith("74")
    assert client.get(address).status_code == 404


def test_large_boards_leave_the_pools_to_the_command(ten, client, monkeypatch):
    monkeypatch.setattr(rescoring, "MOST_DOCUMENTS", 10)
    assert "too many documents to compare pools here" in page_at(client, ADDRESS)


def test_both_tables_go_to_other_programs(ten, client):
    topics = client.get(f"{ADDRESS}?format=csv&variance=.0462&difference=.1").text.splitlines()
    assert (
        topics[0] == "design,runs,detects,size,topics" and "ANOVA,10,difference,0.1,146" in topics
    )
    pools = client.get(f"{ADDRESS}?format=csv&table=pools").text.splitlines()
    assert pools[0] == "depth,documents,judged,relevant,hours,tau_b,tau_ap" and len(pools) == 6


def test_the_significance_page_leads_here(ten, client):
    assert f'href="{ADDRESS}"' in page_at(client, "/tracks/ten/significance/")


def test_strangers_of_a_blind_track_see_nothing(blind_track, client, as_ada):
    assert client.get("/tracks/blind/plan/?variance=1").status_code == 404
    assert as_ada.get("/tracks/blind/plan/").status_code == 200


def test_queries_do_not_grow_with_the_board(ten, ben, client):
    asked = num_queries(client, ADDRESS)
    for rank in (2, 4):
        send(ten, ben, f"r{rank}", rank)
    assert num_queries(client, ADDRESS) == asked
