"""Runs of a track become a pool, and its judgments come back."""

from __future__ import annotations

import json

import pytest

from leaderboard import organising, pooling, uploads
from leaderboard.models import Pool
from tests.builders import OTHER_RUN, make_run, upload, work


@pytest.fixture
def runs(track, ben, cat):
    return [make_run(track, ben), make_run(track, cat, OTHER_RUN)]


@pytest.fixture
def pool(track, ada, runs):
    made = organising.begin_pool(track, ada, runs, "depth", 2)
    work()
    made.refresh_from_db()
    return made


def test_a_pool_is_gathered_from_the_tops_of_its_runs(pool):
    assert pool.state == Pool.State.PROPOSED
    pooled = sorted((each.number, each.docno) for each in pooling.lines_of(pool, everything=True))
    assert pooled == [
        *[("1", "d1"), ("1", "d2"), ("1", "d3"), ("1", "d9")],
        *[("2", "d4"), ("2", "d5")],
        *[("3", "d10"), ("3", "d11"), ("3", "d6"), ("3", "d7")],
    ]


def test_what_is_judged_already_is_not_judged_again(pool):
    assert [each.docno for each in pooling.lines_of(pool)] == ["d9", "d10", "d11"]
    assert (pool.summary["judged"], pool.summary["new"]) == (7, 3)


def test_a_run_is_credited_with_what_it_alone_brought(pool):
    assert {each.run.tag: each.alone for each in pooling.pooled_runs(pool)} == {
        "ben-bm25": 5,
        "other": 4,
    }


def test_deeper_pools_are_priced(track, ada, runs):
    deep = organising.begin_pool(track, ada, runs, "depth", 5)
    work()
    deep.refresh_from_db()
    assert [(each.depth, each.documents) for each in pooling.depths_of(deep)] == [(5, 11)]


def test_judges_get_the_documents_and_not_their_runs(pool):
    first = json.loads(next(iter(pooling.judging_lines(pool))))
    assert first == {
        "topic": "1",
        "topic_title": "sourdough bread",
        "docno": "d9",
        "title": "Document 9",
        "text": "Loaf 9 of twelve, baked slowly.",
    }


def test_a_kept_pool_is_never_discarded(pool, ada):
    organising.keep_pool(pool, ada)
    with pytest.raises(organising.NotPossible):
        organising.discard_pool(pool, ada)
    assert Pool.objects.get().kept_at is not None


def test_a_proposed_pool_goes_without_a_trace(pool, ada):
    organising.discard_pool(pool, ada)
    assert not Pool.objects.exists()


def test_judgments_of_a_pool_know_its_runs(pool, track, ada, runs):
    organising.keep_pool(pool, ada)
    file = upload("v2", "1 0 d9 1\n2 0 d5 0\n3 0 d10 2\n")
    made = uploads.accept_judgments(track.collection, file, "v2", ada, pool=pool)
    work()
    made.refresh_from_db()
    assert set(made.pooled_runs.all()) == set(runs) and made.pool_depth == 2


def test_fusion_pools_the_documents_that_many_runs_have_high(track, ada, runs):
    made = organising.begin_pool(track, ada, runs, "rrf", 1)
    work()
    made.refresh_from_db()
    assert [each.docno for each in pooling.lines_of(made, everything=True)] == ["d1", "d4", "d6"]
