"""Pools on the pages: choose runs, look, keep, download, send the judgments."""

from __future__ import annotations

import json

import pytest

from leaderboard.actions import uploads
from leaderboard.models import JudgmentSet, Pool
from tests.builders import OTHER_RUN, QRELS, RUN, make_run, upload, work

POOL = "/benchmarks/bread/pools/pool-1/"


@pytest.fixture
def runs(track, ben, cat):
    return [make_run(track, ben), make_run(track, cat, OTHER_RUN)]


@pytest.fixture
def pool(as_ada, runs):
    chosen = [run.pk for run in runs]
    as_ada.post("/benchmarks/bread/pools/", {"runs": chosen, "method": "depth", "size": 2})
    work()
    return Pool.objects.get()


def test_every_accepted_run_is_proposed_for_a_pool(as_ada, runs):
    page = as_ada.get("/benchmarks/bread/pools/").content.decode()
    assert page.count('name="runs"') == 2 and page.count(" checked") == 2


def test_a_pool_shows_its_size_before_it_is_kept(as_ada, pool):
    page = as_ada.get("/benchmarks/bread/pools/pool-1/").content.decode()
    assert "<b>10</b> documents of 3 topics: <b>3</b> to judge" in page
    assert "Approve pool" in page


def test_a_pool_says_its_rule_with_its_number(as_ada, pool):
    assert "<span>Top 2 documents of each run</span>" in as_ada.get(POOL).text
    assert Pool(method="rbp", size=1000).rule == "1,000 documents per topic, by RBP weight"


def test_a_pool_says_which_measures_its_judgments_can_give(as_ada, pool):
    page = as_ada.get(POOL).text
    assert f"measures with a cutoff up to {pool.size} are complete" in page
    Pool.objects.update(method="rrf")
    page = as_ada.get(POOL).text
    assert "no measure can estimate the whole pool" in page
    assert "xinfAP and infNDCG need a stratified sample" in page


def test_the_cost_of_a_pool_follows_the_minutes_that_a_document_takes(as_ada, pool):
    page = as_ada.get("/benchmarks/bread/pools/pool-1/?minutes=40").content.decode()
    assert "3 documents at 40 minutes each: about <b>2 hours</b>" in page


def test_minutes_that_are_no_number_count_as_one(as_ada, pool):
    page = as_ada.get("/benchmarks/bread/pools/pool-1/?minutes=long").content.decode()
    assert "at 1 minute each" in page and "Enter a number." in page


def test_the_form_names_the_teams_and_the_priorities_of_their_runs(as_ada, runs, ben):
    make_run(runs[0].track, ben, RUN.replace("ben-bm25", "first"), facts={"priority": 1})
    page = as_ada.get("/benchmarks/bread/pools/").content.decode()
    assert page.index("first, priority 1") < page.index("ben-bm25") < page.index(" other</label>")


def test_a_pool_of_so_many_runs_a_team_says_so(as_ada, runs):
    chosen = [run.pk for run in runs]
    choice = {"runs": chosen, "method": "depth", "size": 2, "runs_per_team": 1}
    page = as_ada.post("/benchmarks/bread/pools/", choice, follow=True).content.decode()
    assert "the first 1 run of each team, by priority" in page


def test_a_kept_pool_waits_for_its_judgments(as_ada, pool):
    page = as_ada.post("/benchmarks/bread/pools/pool-1/keep/", follow=True).content.decode()
    assert "<h2>Judgments</h2>" in page and "Approve pool" not in page


def test_a_pool_is_downloaded_with_the_texts_of_its_documents(as_ada, pool):
    lines = b"".join(as_ada.get("/benchmarks/bread/pools/pool-1/pool.jsonl")).splitlines()
    assert [json.loads(line)["title"] for line in lines] == [
        "Document 9",
        "Document 10",
        "Document 11",
    ]


def test_what_was_judged_before_is_handed_out_for_the_next_version(as_ada, pool):
    lines = b"".join(as_ada.get("/benchmarks/bread/pools/pool-1/pool.qrels")).decode()
    assert lines == QRELS


def test_a_pool_without_runs_is_asked_again(as_ada, runs):
    answer = as_ada.post("/benchmarks/bread/pools/", {"method": "depth", "size": 2})
    assert answer.status_code == 422
    assert "A pool needs at least one run." in answer.content.decode()


def test_judgments_of_a_pool_are_a_new_version(as_ada, pool):
    as_ada.post("/benchmarks/bread/pools/pool-1/keep/")
    body = {"version": "v2", "file": upload("v2.txt", "1 0 d9 1\n")}
    answer = as_ada.post("/benchmarks/bread/pools/pool-1/judgments/", body)
    assert answer.url == "/collections/bread/"
    assert JudgmentSet.objects.get(version="v2").pooled_runs.count() == 2


def test_a_version_that_exists_is_said_beside_the_form(as_ada, pool):
    as_ada.post("/benchmarks/bread/pools/pool-1/keep/")
    body = {"version": "v1", "file": upload("v1.txt", "1 0 d9 1\n")}
    answer = as_ada.post("/benchmarks/bread/pools/pool-1/judgments/", body)
    assert "Judgments v1 already exist." in answer.content.decode()


@pytest.fixture
def come_back(as_ada, pool, ada):
    """Judgments v2 of a kept pool, imported."""
    as_ada.post("/benchmarks/bread/pools/pool-1/keep/")
    collection = pool.track.collection
    file = upload("v2.txt", f"{QRELS}1 0 d9 1\n")
    uploads.accept_judgments(collection, file, "v2", ada, asks_first=False, pool=pool)
    work()


def test_a_pool_and_its_judgments_lead_to_each_other(as_ada, come_back):
    link = 'href="/benchmarks/bread/pools/pool-1/">pool-1</a>'
    assert link in as_ada.get("/benchmarks/bread/judgments/v2/impact/").text
    assert link in as_ada.get("/collections/bread/").text
    page = as_ada.get("/benchmarks/bread/pools/pool-1/").text
    assert 'href="/benchmarks/bread/judgments/v2/impact/"><bdi>v2</bdi></a>, imported' in page


def test_the_judgments_on_the_board_say_their_pool_to_its_organisers(as_ada, as_ben, come_back):
    as_ada.post("/benchmarks/bread/judgments/v2/switch/")
    work()
    told = [each.get("/benchmarks/bread/judgments/").text for each in (as_ada, as_ben)]
    assert [">pool-1</a>: the first 2 documents of 2 runs" in page for page in told] == [
        True,
        False,
    ]
    assert "the first 2 documents of 2 runs" in told[1]


def test_judgments_that_wait_to_be_looked_at_are_told_with_their_pool(as_ada, pool):
    as_ada.post("/benchmarks/bread/pools/pool-1/keep/")
    body = {"version": "v2", "file": upload("v2.txt", f"{QRELS}1 0 d9 1\n")}
    as_ada.post("/benchmarks/bread/pools/pool-1/judgments/", body)
    work()
    assert "/pools/pool-1/" in as_ada.get("/collections/bread/").text
    page = as_ada.get("/benchmarks/bread/pools/pool-1/").text
    assert 'href="/collections/bread/"><bdi>v2</bdi></a>' in page


def test_whoever_does_not_organise_the_track_reads_of_no_pool(as_cat, come_back):
    assert "pool-1" not in as_cat.get("/collections/bread/").text
