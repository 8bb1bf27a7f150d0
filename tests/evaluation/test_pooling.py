"""Pools, budgets, strata, holes, and teams left out, on runs small enough to follow by hand."""

from io import BytesIO
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx

from evaluation.judging import judge, prepare
from evaluation.measures import MeasureError, parse_measure
from evaluation.pooling import (
    DepthStratum,
    Place,
    TeamRuns,
    compare_with_holes,
    depth_pool,
    depth_table,
    holes,
    leave_one_team_out,
    order_for_judging,
    rbp_pool,
    rrf_pool,
    stratified_pool,
    take_pool,
    without_judgments,
    worth,
)
from evaluation.reading.judging.qrels import read_qrels_leniently
from evaluation.reading.runs.reader import read_run_leniently

DOCNOS = st.permutations([b"d1", b"d2", b"d3", b"d4", b"d5"])


def run_of(tag, **rankings):
    """A run from its rankings, `run_of("ada", t1="d1 d2")`, best first."""
    lines = [
        f"{topic} Q0 {docno} 0 {-place} {tag}\n"
        for topic, docnos in rankings.items()
        for place, docno in enumerate(docnos.split())
    ]
    return read_run_leniently(BytesIO("".join(lines).encode()))


def qrels_of(**topics):
    """Judgments, `qrels_of(t1="d1=2 d2=0")`."""
    lines = [
        "{} 0 {} {}\n".format(topic, *judgment.split("="))
        for topic, judgments in topics.items()
        for judgment in judgments.split()
    ]
    return read_qrels_leniently(BytesIO("".join(lines).encode()))


def docnos_of(pool, topic=b"t1"):
    return [each.docno.decode() for each in pool.topics[topic]]


ADA = run_of("ada", t1="d1 d2 d3 d4", t2="d9")
BEN = run_of("ben", t1="d5 d1 d6 d2")


class TestDepthPools:
    def test_a_pool_is_the_union_of_the_tops_with_where_each_came_from(self):
        pool = depth_pool([ADA, BEN], 2)
        assert docnos_of(pool) == ["d1", "d2", "d5"]
        assert pool.topics[b"t1"][0].places == (Place(0, 1), Place(1, 2))
        assert (pool.method, pool.runs, len(pool)) == ("depth@2", ("ada", "ben"), 4)

    def test_ties_go_into_the_pool_in_the_order_of_scoring(self):
        tied = read_run_leniently(BytesIO(b"t1 Q0 a 1 5 x\nt1 Q0 c 2 5 x\nt1 Q0 b 3 5 x\n"))
        assert docnos_of(depth_pool([tied], 1)) == ["c"]

    def test_the_topics_asked_for_are_pooled_and_no_others(self):
        pool = depth_pool([ADA, BEN], 1, topics=[b"t1", b"t7"])
        assert {topic: len(each) for topic, each in pool.topics.items()} == {b"t1": 2, b"t7": 0}

    def test_the_table_of_depths_counts_the_documents_of_every_pool(self):
        table = depth_table([ADA, BEN], (1, 2, 3, 100))
        assert table == {k: len(depth_pool([ADA, BEN], k)) for k in (1, 2, 3, 100)}

    def test_the_table_of_depths_leaves_out_what_is_judged(self):
        grades = {b"t1": {b"d1": 0, b"d5": -1}}
        table = depth_table([ADA, BEN], (1, 2), grades)
        assert table == {k: len(depth_pool([ADA, BEN], k).without(grades)) for k in (1, 2)}

    def test_a_summary_says_how_the_runs_overlap(self):
        summary = depth_pool([ADA, BEN], 3).summary()
        assert (summary.brought, summary.alone, summary.shared) == ((4, 3), (3, 2), (5, 1))

    def test_a_summary_counts_what_is_new_and_what_came_from_one_run_alone(self):
        summary = depth_pool([ADA, BEN], 3).summary({b"t1": {b"d1": 0, b"d5": -1, b"d99": 1}})
        assert (summary.documents, summary.judged, summary.new) == (6, 1, 5)
        assert (summary.smallest, summary.middle, summary.largest) == (1, 3, 5)

    def test_judged_documents_can_be_taken_out_and_negative_grades_are_no_judgments(self):
        pool = depth_pool([ADA, BEN], 2).without({b"t1": {b"d1": 0, b"d5": -1}})
        assert docnos_of(pool) == ["d2", "d5"]

    def test_a_pool_is_written_as_topic_and_docno(self):
        assert b"".join(depth_pool([ADA], 1).lines()) == b"t1 d1\nt2 d9\n"

    def test_no_runs_make_an_empty_pool_and_depth_zero_is_refused(self):
        assert depth_pool([], 5).summary().documents == 0
        with pytest.raises(ValueError, match="at least 1 deep"):
            depth_pool([ADA], 0)

    def test_judges_see_docno_order_random_order_or_what_many_runs_have_high(self):
        pool = depth_pool([ADA, BEN], 4)
        by_docno, shuffled, by_priority = (
            [each.docno for each in order_for_judging(pool, b"t1", order)]
            for order in ("docno", "random", "priority")
        )
        assert by_docno == sorted(shuffled) != shuffled
        assert by_priority == [b"d1", b"d2", b"d5", b"d3", b"d6", b"d4"]

    def test_random_order_follows_the_seed_and_moves_nothing_when_a_document_joins(self):
        shallow, deep = depth_pool([ADA, BEN], 2), depth_pool([ADA, BEN], 4)
        before = [each.docno for each in order_for_judging(shallow, b"t1", "random", seed=7)]
        after = [each.docno for each in order_for_judging(deep, b"t1", "random", seed=7)]
        assert [docno for docno in after if docno in before] == before
        other = [each.docno for each in order_for_judging(deep, b"t1", "random", seed=8)]
        assert sorted(other) == sorted(after) and other != after


class TestBudgets:
    def test_take_goes_down_the_ranks_and_prefers_what_more_runs_have(self):
        # d1 and d5 both have rank 1 as their best, d1 is in two runs; then d2, rank 2.
        assert docnos_of(take_pool([ADA, BEN], 1)) == ["d1"]
        assert docnos_of(take_pool([ADA, BEN], 3)) == ["d1", "d2", "d5"]

    def test_reciprocal_ranks_are_added_over_the_runs(self):
        # 1/61 + 1/62 > 1/62 + 1/64 > 1/61 > 1/63 of d3 and d6.
        pool = rrf_pool([ADA, BEN], 2)
        assert (docnos_of(pool), pool.method) == (["d1", "d2"], "RRF(k=60)@2")
        assert docnos_of(rrf_pool([ADA, BEN], 2, k=0)) == ["d1", "d5"]

    def test_persistence_weighs_the_first_ranks_more(self):
        # p = .5: d1 .75, d5 .5, d2 .3125; p = .9: d1 .19, d2 .1629, d5 .1.
        assert docnos_of(rbp_pool([ADA, BEN], 2, p=0.5)) == ["d1", "d5"]
        assert docnos_of(rbp_pool([ADA, BEN], 2, p=0.9)) == ["d1", "d2"]

    def test_equal_documents_are_taken_by_docno(self):
        runs = [run_of("ada", t1="d8"), run_of("ben", t1="d7")]
        assert [docnos_of(make(runs, 1)) for make in (take_pool, rrf_pool, rbp_pool)] == [
            ["d7"]
        ] * 3

    @pytest.mark.parametrize("make", [take_pool, rrf_pool, rbp_pool])
    @given(rankings=st.lists(DOCNOS, min_size=1, max_size=4), size=st.integers(1, 6))
    def test_a_larger_budget_contains_the_smaller_and_the_order_of_runs_is_nothing(
        self, make, rankings, size
    ):
        runs = [run_of(f"r{n}", t1=b" ".join(r).decode()) for n, r in enumerate(rankings)]
        chosen = docnos_of(make(runs, size))
        assert len(chosen) == min(size, 5)
        assert set(chosen) <= set(docnos_of(make(runs, size + 1)))
        assert chosen == docnos_of(make(runs[::-1], size))

    def test_a_budget_of_nothing_is_refused(self):
        with pytest.raises(ValueError, match="at least one document"):
            take_pool([ADA], 0)


class TestStrata:
    RUN = run_of("ada", t1=" ".join(f"d{n:03}" for n in range(100)))
    STRATA = (DepthStratum(10, 1.0), DepthStratum(40, 0.1), DepthStratum(100, 0.05))

    def test_each_stratum_gives_its_share_with_its_probability(self):
        drawn = stratified_pool([self.RUN], self.STRATA).topics[b"t1"]
        shares = [(each.stratum, each.inclusion) for each in drawn]
        assert {share: shares.count(share) for share in shares} == {
            (1, 1.0): 10, (2, 3 / 30): 3, (3, 3 / 60): 3,
        }  # fmt: skip

    def test_a_documents_stratum_is_that_of_its_best_rank(self):
        other = run_of("ben", t1="d050 d051")
        pool = stratified_pool([self.RUN, other], [DepthStratum(2, 1.0), DepthStratum(100, 0.01)])
        assert [each.docno for each in pool.topics[b"t1"] if each.stratum == 1] == [
            b"d000", b"d001", b"d050", b"d051",
        ]  # fmt: skip

    def test_the_draw_is_fixed_by_the_seed(self):
        drawn = [docnos_of(stratified_pool([self.RUN], self.STRATA, seed)) for seed in (1, 1, 2)]
        assert drawn[0] == drawn[1] != drawn[2]

    def test_over_seeds_a_document_is_drawn_as_often_as_its_probability_says(self):
        drawn = [docnos_of(stratified_pool([self.RUN], self.STRATA, seed)) for seed in range(600)]
        assert sum("d020" in pool for pool in drawn) / 600 == approx(0.1, abs=0.04)

    @pytest.mark.parametrize(
        "strata",
        [[(10, 1.0), (10, 0.5)], [(0, 1.0)], [(5, 0.0)], [(5, 1.5)], []],
    )
    def test_strata_that_make_no_sense_are_refused(self, strata):
        with pytest.raises(ValueError, match=r"strat"):
            stratified_pool([self.RUN], [DepthStratum(*stratum) for stratum in strata])


class TestHoles:
    QRELS = qrels_of(t1="D1=2 D2=1 D3=0 D4=1 D5=0 D9=2")
    RUN = run_of("ada", t1="D1 U1 D3 D2 U2 D5 D4")

    def test_the_worked_example_is_judged_to_sixty_percent_at_five(self):
        found = holes(judge(self.RUN, prepare(self.QRELS)))
        assert found.judged_at == approx({5: 0.6, 10: 0.8, 20: 0.9, 100: 0.98})
        assert found.unjudged.tolist() == [2]

    def test_negative_grades_are_holes_and_a_judged_ranking_has_none(self):
        qrels = qrels_of(t1="d1=1 d2=-1", t2="d1=0", t3="d1=1")
        run = run_of("ada", t1="d1 d2", t2="d1")
        found = holes(judge(run, prepare(qrels)), cutoffs=(2,))
        assert (found.unjudged.tolist(), found.judged_at) == ([1, 0, 0], {2: approx(2.5 / 3)})

    def test_the_worth_of_a_document_comes_from_the_formula_of_its_measure(self):
        assert worth(parse_measure("DCG@2"), 3, 3) == approx([3.0, 3 / np.log2(3), 0.0])
        assert worth(parse_measure("RBP(p=0.8)"), 3, 2) == approx([0.2, 0.16])
        assert worth(parse_measure("DCG(gain=exp)"), 2, 1) == approx([3.0])

    @pytest.mark.parametrize("text", ["AP", "nDCG@10", "RR", "P(holes=condensed)@5"])
    def test_measures_that_are_no_sums_are_refused(self, text):
        with pytest.raises(MeasureError, match="not a sum"):
            worth(parse_measure(text), 1, 5)

    def test_documents_that_both_runs_have_at_one_rank_cancel(self):
        qrels = qrels_of(t1="d1=1 d2=0")
        one, other = run_of("ada", t1="d1 u1"), run_of("ben", t1="d2 u1")
        bounds = compare_with_holes(parse_measure("P@2"), one, other, prepare(qrels))
        assert (bounds.low.tolist(), bounds.high.tolist(), bounds.swings) == ([0.5], [0.5], ())
        assert bounds.robust

    def test_a_verdict_that_hangs_on_one_judgment_says_so(self):
        qrels = qrels_of(t1="d1=1 d2=0", t2="d1=1")
        one, other = run_of("ada", t1="d1 d2", t2="d1"), run_of("ben", t1="u1 u2", t2="d1")
        bounds = compare_with_holes(parse_measure("P@2"), one, other, prepare(qrels))
        assert (bounds.needed, bounds.among, bounds.robust) == (1, 2, False)
        assert [(each.docno, each.swing) for each in bounds.swings] == [
            (b"u1", -0.5),
            (b"u2", -0.5),
        ]
        assert (bounds.low.tolist(), bounds.high.tolist()) == ([-0.5, 0.0], [0.5, 0.0])

    def test_a_verdict_that_nothing_can_turn_is_robust(self):
        qrels = qrels_of(t1="d1=1 d2=1")
        one, other = run_of("ada", t1="d1 d2"), run_of("ben", t1="d3 u1")
        bounds = compare_with_holes(parse_measure("P@3"), one, run_of("x", t1="u1"), prepare(qrels))
        assert (bounds.robust, bounds.needed, bounds.among) == (True, None, 1)
        tied = compare_with_holes(parse_measure("P@3"), other, other, prepare(qrels))
        assert (tied.robust, tied.needed, tied.among) == (False, None, 0)

    def test_what_rbp_has_not_seen_counts_for_both_sides(self):
        qrels = qrels_of(t1="d1=1")
        one, other = run_of("ada", t1="d1"), run_of("ben", t2="d1")
        bounds = compare_with_holes(parse_measure("RBP(p=0.5)"), one, other, prepare(qrels))
        assert (bounds.low.tolist(), bounds.high.tolist()) == ([-0.5], [1.0])

    @pytest.mark.parametrize("text", ["P@3", "P(rel=2)@2", "CG@4", "DCG@3", "DCG(gain=exp)@5"])
    @given(one=DOCNOS, other=DOCNOS, shared=st.integers(1, 5))
    @settings(max_examples=15, deadline=None)
    def test_the_bounds_are_reached_by_the_best_and_the_worst_judgments(
        self, text, one, other, shared
    ):
        measure, judged = parse_measure(text), {b"d1": 2, b"d2": 0}
        runs = [run_of("ada", t1=b" ".join(one).decode()),
                run_of("ben", t1=b" ".join(other[:shared]).decode())]  # fmt: skip
        differences = []
        for grades in product((0, 2), repeat=3):
            filled = judged | dict(zip((b"d3", b"d4", b"d5"), grades, strict=True))
            text_of = " ".join(f"{docno.decode()}={grade}" for docno, grade in filled.items())
            judgments = prepare(qrels_of(t1=text_of), top_grade=2)
            ours, theirs = (measure.scores(judge(run, judgments))[0] for run in runs)
            differences.append(ours - theirs)
        bounds = compare_with_holes(measure, *runs, prepare(qrels_of(t1="d1=2 d2=0")))
        assert bounds.low[0] == approx(min(differences), abs=1e-12)
        assert bounds.high[0] == approx(max(differences), abs=1e-12)


class TestLeavingOneTeamOut:
    RUNS = (
        run_of("ada-1", t1="d1 d2 d3"),
        run_of("ada-2", t1="d2 d1 d4"),
        run_of("ben-1", t1="d1 d5 d6"),
    )
    QRELS = qrels_of(t1="d1=1 d2=1 d3=0 d5=1 d9=1")
    TEAMS = {"Ada": TeamRuns((0, 1), (0, 1)), "Ben": TeamRuns((2,), (2,))}

    def rescore(self, qrels, runs):
        judgments = prepare(qrels, top_grade=1)
        measure = parse_measure("P@2")
        return np.array([measure.scores(judge(self.RUNS[n], judgments)).mean() for n in runs])

    def leave_out(self, depth=2):
        pool = depth_pool(self.RUNS, depth)
        return leave_one_team_out(self.QRELS, pool, self.TEAMS, self.rescore)

    def test_a_team_loses_what_only_its_runs_brought(self):
        ada, ben = self.leave_out().teams
        assert (ada.unique, ada.unique_relevant) == (1, 1)
        assert (ada.before.tolist(), ada.after.tolist()) == ([1.0, 1.0], [0.5, 0.5])
        assert (ben.before.tolist(), ben.after.tolist(), ben.drop.tolist()) == ([1.0], [0.5], [0.5])

    def test_judged_documents_outside_the_pool_stay_and_non_relevant_ones_count_as_unique(self):
        ada = self.leave_out(depth=3).teams[0]
        assert (ada.unique, ada.unique_relevant) == (2, 1)

    def test_the_ranks_are_those_among_the_other_teams_full_scores(self):
        ada, ben = self.leave_out().teams
        assert (ada.ranks_lost.tolist(), ben.ranks_lost.tolist()) == ([1, 1], [2])

    def test_the_summary_takes_all_runs_together(self):
        result = self.leave_out()
        assert (result.mean_error, result.mean_drop, result.largest_drop) == (0.5, 0.5, 0.5)
        assert (result.most_ranks_lost, result.lowest_tau) == (2, None)

    def test_a_board_that_is_turned_round_has_a_low_tau(self):
        runs = (run_of("ada", t1="d1 d2"), run_of("ben", t1="d3 d4"))
        qrels = qrels_of(t1="d1=1 d2=1 d3=1 d4=0")

        def rescore(judgments, numbers):
            prepared = prepare(judgments, top_grade=1)
            measure = parse_measure("P@2")
            return np.array([measure.scores(judge(runs[n], prepared)).mean() for n in numbers])

        teams = {"Ada": TeamRuns((0,), (0,)), "Ben": TeamRuns((1,), (1,))}
        result = leave_one_team_out(qrels, depth_pool(runs, 2), teams, rescore)
        assert ([team.tau for team in result.teams], result.lowest_tau) == ([-1.0, 1.0], -1.0)

    def test_a_team_without_pooled_runs_loses_nothing(self):
        teams = {"Ada": TeamRuns((0, 1, 2), ())}
        result = leave_one_team_out(self.QRELS, depth_pool(self.RUNS, 2), teams, self.rescore)
        assert (result.teams[0].unique, result.mean_error) == (0, 0.0)

    def test_no_teams_leave_nothing_to_say(self):
        result = leave_one_team_out(self.QRELS, depth_pool([], 2), {}, self.rescore)
        assert (result.teams, result.mean_drop, result.lowest_tau) == ((), 0.0, None)

    def test_a_topic_that_loses_all_its_judgments_stays(self):
        left = without_judgments(qrels_of(t1="d1=1", t2="d2=1"), {b"t1": {b"d1"}})
        assert left.grades == {b"t1": {}, b"t2": {b"d2": 1}}
