"""Orders of judging beside the plain ones of `plain_orders`, and their guards and logs."""

import random

import pytest
from pytest import approx

from evaluation.pooling import (
    ORDERS,
    Candidates,
    Guards,
    HandedOut,
    Marked,
    OrderSettings,
    Place,
    Pooled,
    ReplayError,
    estimate_relevant,
    replay,
    resume,
    rrf_pool,
    start_order,
)
from tests.evaluation.plain_orders import PLAIN_ORDERS, Judged, Topic, chance_of_first
from tests.evaluation.test_pooling import run_of


def candidates_of(*rankings: str) -> Candidates:
    """The documents of rankings, `candidates_of("d1 d2", "d2 d3")`, one per run."""
    places = {}
    for run, ranking in enumerate(rankings):
        for rank, docno in enumerate(ranking.split(), 1):
            places.setdefault(docno.encode(), []).append(Place(run, rank))
    pooled = [Pooled(docno, tuple(found)) for docno, found in places.items()]
    return Candidates.of(b"7", pooled, len(rankings))


def random_rankings(rng: random.Random, runs: int = 4, documents: int = 12) -> list[str]:
    docnos = [f"d{number}" for number in range(documents)]
    return [" ".join(rng.sample(docnos, rng.randint(1, documents))) for _ in range(runs)]


def judge_next(order, is_relevant=True):
    """Judge the next document and return its docno."""
    draw = order.next_draw()
    order.hand_out(draw)
    order.take_grade(draw.document, is_relevant)
    return order.candidates.docnos[draw.document]


def docnos_of(order, relevant=()):
    """Judge everything and return the docnos in the order of judging."""
    docnos = []
    while (draw := order.next_draw()) is not None:
        docno = order.candidates.docnos[draw.document].decode()
        docnos.append(docno)
        judge_next(order, docno in relevant)
    return " ".join(docnos)


class TestOrders:
    @pytest.mark.parametrize("name", ORDERS)
    @pytest.mark.parametrize("seed", range(25))
    def test_every_draw_is_one_that_the_paper_allows(self, name, seed):
        rng = random.Random(seed)
        rankings = random_rankings(rng)
        order = start_order(name, candidates_of(*rankings), seed)
        topic = Topic([ranking.encode().split() for ranking in rankings], [])
        while topic.open():
            draw = order.next_draw()
            docno = order.candidates.docnos[draw.document]
            assert (docno, draw.run) in PLAIN_ORDERS[name](topic)
            topic.history.append(Judged(docno, draw.run, rng.random() < 0.4))
            order.hand_out(draw)
            order.take_grade(draw.document, topic.history[-1].is_relevant)
        assert order.next_draw() is None

    def test_depth_goes_down_rank_by_rank_and_run_by_run(self):
        order = start_order("depth", candidates_of("d5 d1 d2", "d3 d5 d4"))
        assert docnos_of(order) == "d5 d3 d1 d2 d4"

    def test_fusion_has_the_order_of_the_pool_of_that_name(self):
        rankings = random_rankings(random.Random(3))
        order = start_order("fusion", candidates_of(*rankings))
        first = {judge_next(order) for _ in range(5)}
        runs = [run_of(f"r{number}", t=ranking) for number, ranking in enumerate(rankings)]
        assert first == {each.docno for each in rrf_pool(runs, 5).topics[b"t"]}

    def test_move_to_front_follows_a_run_until_a_miss(self):
        order = start_order("mtf", candidates_of("a1 a2 a3", "b1 b2 b3"), seed=1)
        docnos = docnos_of(order, relevant="b1 b2")
        assert "b1 b2 b3" in docnos

    def test_a_run_without_hits_loses_its_turn(self):
        order = start_order("maxmean", candidates_of("a1 a2 a3", "b1 b2 b3"))
        docnos = docnos_of(order, relevant="b1 b2 b3")
        assert docnos in {"b1 b2 b3 a1 a2 a3", "a1 b1 b2 b3 a2 a3"}

    def test_a_judged_document_counts_for_every_run_that_has_it(self):
        order = start_order("maxmean", candidates_of("x a", "x b", "c d"))
        order.take_grade(order.candidates.docnos.index(b"x"), is_relevant=False)
        assert order.next_draw().run == 2

    def test_thompson_draws_a_run_as_often_as_its_posterior_wins(self):
        candidates = candidates_of("a1 a2 a3 a4", "b1 b2 b3 b4")
        drawn = []
        for seed in range(2000):
            order = start_order("thompson", candidates, seed)
            for document, is_relevant in ((0, True), (1, False), (2, False), (4, True)):
                order.take_grade(document, is_relevant)
            drawn.append(order.next_draw().run)
        # One hit and two misses against one hit.
        assert drawn.count(0) / 2000 == approx(chance_of_first(2, 3, 2, 1), abs=0.03)

    @pytest.mark.parametrize("name", ["mtf", "maxmean", "thompson"])
    def test_the_seed_decides_between_equals(self, name):
        candidates = candidates_of(*random_rankings(random.Random(1), runs=8))
        once, again, *others = (
            docnos_of(start_order(name, candidates, seed)) for seed in (1, 1, 2, 3, 4)
        )
        assert once == again and set(others) != {once}

    @pytest.mark.parametrize("name", ["maxmean", "hedge", "thompson"])
    def test_a_corrected_grade_counts_as_if_it_had_been_the_first(self, name):
        candidates = candidates_of(*random_rankings(random.Random(2)))
        corrected, right = start_order(name, candidates), start_order(name, candidates)
        for document in (0, 3, 5):
            corrected.take_grade(document, is_relevant=True)
            corrected.take_grade(document, is_relevant=False)
            right.take_grade(document, is_relevant=False)
        assert docnos_of(corrected) == docnos_of(right)

    def test_a_document_judged_before_is_not_handed_out(self):
        order = start_order("depth", candidates_of("d1 d2"))
        order.take_grade(0, is_relevant=False)
        assert docnos_of(order) == "d2"

    @pytest.mark.parametrize("name", ORDERS)
    def test_a_topic_without_documents_has_no_next_one(self, name):
        assert start_order(name, Candidates.of(b"7", [], runs=2)).next_draw() is None


TEAMS = ("ada", "ada", "ada", "ben", "ben", "cat")
RANKINGS = random_rankings(random.Random(7), runs=6, documents=60)
RELEVANT = {b"d%d" % number for number in range(0, 60, 3)}
SETTINGS = OrderSettings("thompson", seed=5, teams=TEAMS)


def judge_in_batches(settings, sizes, marked_late=0):
    """Judge all candidates in batches; of each batch, some marks come after the next draw."""
    order = settings.start(candidates_of(*RANKINGS))
    late = []
    for size in sizes:
        batch = order.draw_batch(size)
        docnos = late + [each.docno for each in batch]
        late = docnos[len(docnos) - marked_late :]
        for docno in docnos[: len(docnos) - marked_late]:
            order.take_mark(docno, docno in RELEVANT)
    return order


def draws_of(log):
    return [event for event in log if isinstance(event, HandedOut)]


class TestGuards:
    @pytest.mark.parametrize("name", ORDERS)
    def test_a_topic_begins_with_documents_of_a_depth_pool(self, name):
        candidates = candidates_of(*RANKINGS)
        settings = OrderSettings(name, seed=1, teams=("ada",) * 6)
        drawn = [each.docno for each in settings.start(candidates).draw_batch(20)]
        by_depth = start_order("depth", candidates)
        assert drawn == [judge_next(by_depth) for _ in range(20)]

    @pytest.mark.parametrize("name", ORDERS)
    def test_every_fifth_document_is_from_the_run_seen_least(self, name):
        candidates = candidates_of(*RANKINGS)
        order = OrderSettings(name, seed=1, teams=TEAMS, guards=Guards(in_a_row=60)).start(
            candidates
        )
        drawn = order.draw_batch(35)
        reasons = [each.reason for each in drawn]
        assert reasons == ["warm-up"] * 20 + (["order"] * 4 + ["least seen"]) * 3
        for place in (24, 29, 34):
            before = {each.docno for each in drawn[:place]}
            seen = [len(before & set(ranking.encode().split())) for ranking in RANKINGS]
            assert seen[drawn[place].run] == min(seen)

    @pytest.mark.parametrize("name", ORDERS)
    def test_no_team_has_three_documents_in_a_row_while_another_has_any(self, name):
        order = judge_in_batches(OrderSettings(name, seed=3, teams=TEAMS), [4] * 15)
        drawn = draws_of(order.log)
        for place in range(2, len(drawn)):
            teams = {TEAMS[each.run] for each in drawn[place - 2 : place + 1]}
            left = {each.docno for each in drawn[place:]}
            others = [r for r, team in zip(RANKINGS, TEAMS, strict=True) if team not in teams]
            assert len(teams) > 1 or not left & set(" ".join(others).encode().split())

    @pytest.mark.parametrize("name", ORDERS)
    def test_every_document_is_handed_out_once(self, name):
        order = judge_in_batches(OrderSettings(name, seed=3, teams=TEAMS), [7] * 20)
        docnos = [each.docno for each in draws_of(order.log)]
        assert sorted(docnos) == sorted(order.order.candidates.docnos)

    def test_move_to_front_follows_its_run_across_documents_that_a_guard_chose(self):
        guards = Guards(warm_up=0, every=2, in_a_row=9)
        candidates = candidates_of("a1 a2 a3 a4", "b1 b2 b3 b4", "c1 c2 c3 c4")
        order = OrderSettings("mtf", 1, teams=("ada", "ben", "cat"), guards=guards).start(
            candidates
        )
        drawn = order.draw_batch(6)
        assert [each.reason for each in drawn] == ["order", "least seen"] * 3
        assert len({each.run for each in drawn if each.reason == "order"}) == 1

    def test_a_document_that_is_judged_already_is_not_handed_out(self):
        order = SETTINGS.start(candidates_of(*RANKINGS))
        first = candidates_of(*RANKINGS).docnos[0]
        order.take_mark(first, is_relevant=True)
        assert first not in {each.docno for each in order.draw_batch(100)}


class TestLogs:
    @pytest.mark.parametrize("name", ORDERS)
    def test_the_log_replays_exactly_with_marks_that_come_late(self, name):
        settings = OrderSettings(name, seed=5, teams=TEAMS)
        log = judge_in_batches(settings, [3, 1, 8, 5, 2] * 4, marked_late=2).log
        assert replay(settings, candidates_of(*RANKINGS), log).log == log

    @pytest.mark.parametrize("name", ORDERS)
    def test_judging_goes_on_after_a_log_as_if_it_had_not_stopped(self, name):
        settings = OrderSettings(name, seed=5, teams=TEAMS)
        whole = judge_in_batches(settings, [5] * 8).log
        half = judge_in_batches(settings, [5] * 5).log
        resumed = resume(settings, candidates_of(*RANKINGS), half)
        assert resumed.draw_batch(5) == draws_of(whole)[25:30]

    def test_two_batches_without_marks_between_them_equal_a_larger_one(self):
        one, two = (
            SETTINGS.start(candidates_of(*RANKINGS)),
            SETTINGS.start(candidates_of(*RANKINGS)),
        )
        assert one.draw_batch(30) == two.draw_batch(12) + two.draw_batch(18)

    def test_a_log_of_another_seed_does_not_replay(self):
        log = judge_in_batches(SETTINGS, [5] * 8).log
        other = OrderSettings("thompson", seed=6, teams=TEAMS)
        with pytest.raises(ReplayError, match=r"event \d+ of the log"):
            replay(other, candidates_of(*RANKINGS), log)

    def test_a_log_with_another_grade_does_not_replay(self):
        log = judge_in_batches(SETTINGS, [1] * 60).log
        turned = [
            Marked(event.docno, not event.is_relevant) if isinstance(event, Marked) else event
            for event in log
        ]
        with pytest.raises(ReplayError):
            replay(SETTINGS, candidates_of(*RANKINGS), turned)


class TestRandomPart:
    def start(self, sample=4, seed=3):
        guards = Guards(warm_up=3, every=4, in_a_row=60, sample=sample)
        settings = OrderSettings("thompson", seed, TEAMS, guards)
        return settings, candidates_of(*RANKINGS)

    def test_it_is_drawn_before_any_grade_and_handed_out_in_between(self):
        settings, candidates = self.start()
        order = settings.start(candidates)
        drawn = order.draw_batch(len(candidates.docnos))
        found = [each.docno for each in drawn if each.reason == "random"]
        assert found and set(found) <= set(order.sample) and len(order.sample) == 4
        assert drawn[4].reason == "random"

    def test_its_members_depend_on_the_seed_only(self):
        settings, candidates = self.start()
        again = settings.start(candidates)
        again.take_mark(candidates.docnos[0], True)
        assert settings.start(candidates).sample == again.sample
        assert self.start(seed=4)[0].start(candidates).sample != again.sample

    def test_a_log_with_random_documents_is_replayed(self):
        settings, candidates = self.start()
        order = settings.start(candidates)
        order.draw_batch(9)
        assert replay(settings, candidates, order.log).log == order.log


@pytest.mark.parametrize(("relevant", "ends"), [(3, (30, 8, 73)), (0, (0, 0, 32))])
def test_a_random_part_says_how_many_relevant_documents_there_are(relevant, ends):
    found = estimate_relevant(200, 20, relevant)
    assert (found.estimate, found.low, found.high) == ends


@pytest.mark.parametrize("counts", [(10, 0, 0), (10, 5, 6), (10, 11, 1), (10, 5, -1)])
def test_counts_that_cannot_be_have_no_estimate(counts):
    with pytest.raises(ValueError, match="of the candidates"):
        estimate_relevant(*counts)
