"""Runs of a track become a pool, and its judgments come back."""

from __future__ import annotations

import json

import pytest

from leaderboard.actions import pools as pool_actions
from leaderboard.actions import uploads
from leaderboard.actions.refusals import ActionError
from leaderboard.collections import pools
from leaderboard.models import JudgmentSet, Pool
from tests.builders import OTHER_RUN, RUN, make_run, upload, work

pytestmark = pytest.mark.long


@pytest.fixture
def runs(track, ben, cat):
    return [make_run(track, ben), make_run(track, cat, OTHER_RUN)]


@pytest.fixture
def pool(track, ada, runs):
    return gathered(track, ada, runs)


def test_a_pool_is_gathered_from_the_tops_of_its_runs(pool):
    assert pool.state == Pool.State.PROPOSED
    pooled = sorted((each.number, each.docno) for each in pools.read_lines(pool, everything=True))
    assert pooled == [
        *[("1", "d1"), ("1", "d2"), ("1", "d3"), ("1", "d9")],
        *[("2", "d4"), ("2", "d5")],
        *[("3", "d10"), ("3", "d11"), ("3", "d6"), ("3", "d7")],
    ]


def test_what_is_judged_already_is_not_judged_again(pool):
    assert [each.docno for each in pools.read_lines(pool)] == ["d9", "d10", "d11"]
    assert (pool.summary["judged"], pool.summary["new"]) == (7, 3)


def test_a_run_is_credited_with_what_it_brought_and_what_nobody_else_did(pool):
    brought = {each.run.tag: (each.brought, each.alone) for each in pools.pooled_runs(pool)}
    assert brought == {"ben-bm25": (6, 5), "other": (5, 4)}


def test_a_team_is_credited_with_what_no_other_team_brought(track, ada, ben, runs):
    again = make_run(track, ben, RUN.replace("ben-bm25", "ben-again"))
    made = gathered(track, ada, [*runs, again])
    alone = {each.run.tag: (each.alone, each.alone_as_team) for each in pools.pooled_runs(made)}
    assert alone == {"ben-bm25": (0, 5), "ben-again": (0, 5), "other": (4, 4)}


def test_a_pool_says_how_many_runs_share_a_document(pool):
    assert pools.list_overlaps(pool) == [pools.PoolOverlap(1, 9), pools.PoolOverlap(2, 1)]


def test_other_depths_are_priced_without_what_is_judged(track, ada, runs):
    deep = gathered(track, ada, runs, 5)
    assert pools.list_depth_costs(deep, minutes=30) == [
        pools.DepthCost(depth=5, documents=11, new=3, hours=2)
    ]


def test_the_first_runs_of_each_team_are_pooled_by_their_priority(track, ada, ben, runs):
    make_run(track, ben, RUN.replace("ben-bm25", "second"), facts={"priority": 2})
    make_run(track, ben, RUN.replace("ben-bm25", "first"), facts={"priority": 1})
    made = gathered(track, ada, list(track.runs.all()), runs_per_team=2)
    pooled = {each.run.tag: each.priority for each in pools.pooled_runs(made)}
    assert pooled == {"first": 1, "second": 2, "other": None}


def test_without_a_priority_the_earliest_runs_of_a_team_are_pooled(track, ada, ben, runs):
    make_run(track, ben, RUN.replace("ben-bm25", "later"))
    made = gathered(track, ada, list(track.runs.all()), runs_per_team=1)
    assert set(made.runs.all()) == set(runs) and made.runs_per_team == 1


def gathered(track, ada, runs, size: int = 2, **choices) -> Pool:
    made = pool_actions.create_pool(track, ada, runs, "depth", size, **choices)
    work()
    made.refresh_from_db()
    return made


def test_judges_get_the_documents_and_not_their_runs(pool):
    first = json.loads(next(iter(pools.judging_lines(pool))))
    assert first == {
        "topic": "1",
        "topic_title": "sourdough bread",
        "docno": "d9",
        "title": "Document 9",
        "text": "Loaf 9 of twelve, baked slowly.",
    }


def test_a_kept_pool_is_never_discarded(pool, ada):
    pool_actions.approve_pool(pool, ada)
    with pytest.raises(ActionError):
        pool_actions.discard_pool(pool, ada)
    assert Pool.objects.get().kept_at is not None


def test_a_proposed_pool_goes_without_a_trace(pool, ada):
    pool_actions.discard_pool(pool, ada)
    assert not Pool.objects.exists()


def test_a_pool_after_a_discarded_one_has_a_name_of_its_own(track, ada, runs):
    first, second = (gathered(track, ada, runs, size) for size in (1, 2))
    pool_actions.discard_pool(first, ada)
    assert gathered(track, ada, runs, 3).name == "pool-3" and second.name == "pool-2"


def test_judgments_of_a_pool_know_its_runs(pool, track, ada, runs):
    pool_actions.approve_pool(pool, ada)
    made = send_judgments(track, ada, "v2", pool)
    assert set(made.pooled_runs.all()) == set(runs) and made.pool_depth == 2


def test_judgments_of_a_second_pool_keep_the_runs_of_the_first(pool, track, ada, runs):
    second = judged_again(pool, track, ada, runs[:1], "depth", 1)
    assert set(second.pooled_runs.all()) == set(runs) and second.pool_depth == 1


def test_what_a_second_pool_took_by_fusion_has_no_depth(pool, track, ada, runs):
    assert judged_again(pool, track, ada, runs[:1], "rrf", 1).pool_depth is None


def test_judgments_that_hold_those_of_a_pool_have_its_runs_whoever_sent_them(
    pool, track, ada, runs
):
    send_judgments(track, ada, "v2", pool)
    more = send_judgments(track, ada, "v3", None, "1 0 d12 0\n")
    assert set(more.pooled_runs.all()) == set(runs) and more.pool_depth == 2


def test_judgments_that_leave_some_of_a_pool_out_do_not_have_its_runs(pool, track, ada):
    send_judgments(track, ada, "v2", pool, "1 0 d12 0\n")
    fewer = send_judgments(track, ada, "v3", None)
    assert not fewer.pooled_runs.exists() and fewer.pool_depth is None


def test_two_pools_beside_the_same_judgments_both_count_once_both_are_judged(
    pool, track, ada, runs
):
    first, second = (gathered(track, ada, [run]) for run in runs)
    send_judgments(track, ada, "v2", first)
    both = send_judgments(track, ada, "v3", second)
    assert set(both.pooled_runs.all()) == set(runs)


def judged_again(pool, track, ada, runs, method: str, size: int) -> JudgmentSet:
    """The judgments of a second pool, made beside those of the first."""
    pool_actions.approve_pool(pool, ada)
    send_judgments(track, ada, "v2", pool)
    track.judgment_set = track.collection.judgment_sets.get(version="v2")
    second = pool_actions.create_pool(track, ada, runs, method, size)
    work()
    pool_actions.approve_pool(second, ada)
    return send_judgments(track, ada, "v3", second)


def send_judgments(track, ada, version: str, pool, more: str = "") -> JudgmentSet:
    file = upload(version, f"1 0 d9 1\n2 0 d5 0\n3 0 d10 {version[1:]}\n{more}")
    made = uploads.accept_judgments(
        track.collection, file, version, ada, pool=pool, asks_first=False
    )
    work()
    made.refresh_from_db()
    return made


def test_fusion_pools_the_documents_that_many_runs_have_high(track, ada, runs):
    made = pool_actions.create_pool(track, ada, runs, "rrf", 1)
    work()
    made.refresh_from_db()
    assert [each.docno for each in pools.read_lines(made, everything=True)] == ["d1", "d4", "d6"]
