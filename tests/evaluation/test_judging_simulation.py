"""Judging simulated with known judgments: boards, endings, and what the command prints."""

import gzip
from io import BytesIO

import numpy as np
import pytest
from pytest import approx

from evaluation.__main__ import main
from evaluation.agreement import kendall_tau_b, tau_ap
from evaluation.conventions import CONVENTIONS, HOUSE
from evaluation.judging import judge, prepare
from evaluation.measures import parse_measure
from evaluation.pooling import ORDERS, Budget, Guards, MissesInARow, Simulation, start_order
from evaluation.problems import Problems
from evaluation.reading.judging.qrels import Qrels, read_qrels_leniently
from evaluation.reading.runs.reader import read_run_leniently
from tests.evaluation.test_pooling import qrels_of, run_of

MEASURES = [parse_measure(text) for text in ("AP", "nDCG@10", "MR", "Bpref")]
RUNS = [
    run_of("ada", t1="d1 d2 d3 d4 d9", t2="e1 e2 e3"),
    run_of("ben", t1="d5 d1 d6 d2", t2="e4 e1"),
    run_of("cat", t1="d6 d7 d5 d1", t2="e3 e5 e4 x"),
]
QRELS = qrels_of(
    t1="d1=2 d2=0 d3=1 d4=0 d5=0 d6=-1 d7=1 d8=2", t2="e1=0 e2=1 e3=0 e4=2 e5=0", t3="f=1"
)


def simulation_of(**options) -> Simulation:
    return Simulation(RUNS, prepare(QRELS), MEASURES, **options)


def board_by(grades, measure, convention=HOUSE, cutoff=None, is_condensed=False):
    """A board scored from the files again: nothing is shared with the simulation."""
    judgments = prepare(Qrels(grades, Problems()), top_grade=2)
    records = [judge(run, judgments, cutoff, convention) for run in RUNS]
    records = [record.condensed() if is_condensed else record for record in records]
    return np.array([measure.aggregate(measure.scores(record)) for record in records])


def judged_first(name, number, simulation, seed=0):
    """The grades of the first documents of each topic, judged one at a time."""
    kept = {topic: {} for topic in QRELS.grades}
    for candidates in simulation.candidates:
        order = start_order(name, candidates, seed)
        for _ in range(number):
            if (draw := order.next_draw()) is not None:
                docno = candidates.docnos[draw.document]
                grade = QRELS.grades[candidates.topic][docno]
                order.hand_out(draw)
                order.take_grade(draw.document, grade >= simulation.rel)
                kept[candidates.topic][docno] = grade
    return kept


class TestSimulations:
    def test_candidates_are_the_judged_documents_of_the_pool(self):
        first, second, third = simulation_of(depth=3).candidates
        assert first.docnos == (b"d1", b"d2", b"d3", b"d5", b"d7")
        assert second.docnos == (b"e1", b"e2", b"e3", b"e4", b"e5")
        assert third.docnos == ()

    @pytest.mark.parametrize("name", ORDERS)
    @pytest.mark.parametrize("budget", [1, 2, 4])
    def test_boards_are_those_of_the_documents_judged_first(self, name, budget):
        simulation = simulation_of(depth=4)
        (outcome,) = simulation.simulate([name], [Budget(budget)], seeds=1)
        kept, full = (judged_first(name, number, simulation) for number in (budget, 99))
        for measure, found in zip(MEASURES, outcome.boards, strict=True):
            board, reference = board_by(kept, measure), board_by(full, measure)
            assert found.tau == kendall_tau_b(board, reference)
            assert found.tau_ap == tau_ap(measure.direction * board, measure.direction * reference)

    def test_shares_are_of_the_candidates_of_all_topics(self):
        # By depth at two documents: d1 and d5 of t1, e1 and e4 of t2; 5 candidates each.
        (outcome,) = simulation_of(depth=3).simulate(["depth"], [Budget(2)])
        assert outcome.judged == approx(4 / 10)
        # Relevant are d1, d3, d7, e2 and e4: d8 and f are in no run.
        assert outcome.found == approx(2 / 5)

    def test_documents_are_relevant_from_a_grade(self):
        (outcome,) = simulation_of(depth=3, rel=2).simulate(["depth"], [Budget(1)])
        assert outcome.found == approx(1 / 2)

    @pytest.mark.parametrize("name", ORDERS)
    def test_all_candidates_judged_give_the_full_board(self, name):
        (outcome,) = simulation_of().simulate([name], [Budget(100)], seeds=2)
        assert (outcome.judged, outcome.found) == (1, 1)
        assert [board.tau for board in outcome.boards] == approx([1] * len(MEASURES))

    @pytest.mark.parametrize(
        "options",
        [{"cutoff": 2}, {"is_condensed": True}, {"convention": CONVENTIONS["trec_eval-9"]}],
    )
    def test_boards_are_scored_under_the_options(self, options):
        simulation = simulation_of(depth=100, **options)
        grades = judged_first("depth", 99, simulation)
        expected = [board_by(grades, measure, **options) for measure in MEASURES]
        assert simulation.full_boards.tolist() == approx(np.array(expected), nan_ok=True)

    def test_seeds_are_averaged(self):
        simulation = simulation_of(rel=2)
        kept = [judged_first("thompson", 1, simulation, seed) for seed in range(6)]
        hits = [sum(g >= 2 for grades in each.values() for g in grades.values()) for each in kept]
        (outcome,) = simulation.simulate(["thompson"], [Budget(1)], seeds=6)
        assert len(set(hits)) > 1 and outcome.found == approx(np.mean(hits) / 2)

    def test_guards_begin_with_the_depth_pool(self):
        simulation = simulation_of()
        by_depth, guarded = (
            next(simulation.simulate([name], [Budget(2)], guards=guards))
            for name, guards in (("depth", None), ("hedge", Guards()))
        )
        assert (guarded.found, guarded.boards) == (by_depth.found, by_depth.boards)

    def test_judgments_of_subtopics_are_rejected(self):
        qrels = Qrels({b"t1": {b"d1": 1}}, Problems(), subtopics={b"t1": {b"d1": {b"1": 1}}})
        with pytest.raises(ValueError, match="one grade per document"):
            Simulation(RUNS, prepare(qrels), MEASURES)


@pytest.mark.parametrize(
    ("relevant", "judged"),
    [("1000", 4), ("0000001", 4), ("00010001", 7), ("101010001", 8), ("10110", 5), ("", 0)],
)
def test_misses_in_a_row_end_a_topic_once_enough_is_judged(relevant, judged):
    hits = np.array([each == "1" for each in relevant], bool)
    assert MissesInARow(3, at_least=4).count_judged(hits) == judged


class TestCommand:
    @pytest.fixture(autouse=True)
    def files(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "qrels").write_bytes(b"1 0 a 1\n1 0 b 1\n1 0 c 0\n1 0 d 1\n2 0 a 1\n2 0 e 1\n")
        (tmp_path / "one").write_bytes(b"1 Q0 a 1 9 one\n1 Q0 b 2 8 one\n2 Q0 a 1 9 one\n")
        (tmp_path / "two").write_bytes(b"1 Q0 c 1 9 two\n1 Q0 b 2 8 two\n2 Q0 e 1 9 two\n")

    def printed(self, capfd, *options):
        assert main(["simulate", "qrels", "one", "two", "--format", "tsv", *options]) == 0
        lines = capfd.readouterr().out.splitlines()
        return [line.split("\t") for line in lines if line and not line.startswith("#")]

    def test_it_prints_a_line_per_order_and_budget(self, capfd):
        header, *rows = self.printed(capfd, "--order", "depth", "--budget", "1", "2", "-m", "P@2")
        assert header == ["order", "until", "judged", "found", "P@2 tau", "P@2 tau_AP"]
        # Of a, b, c and a, e: first a and a, then c and e.
        assert rows[0][:4] == ["depth", "1 document", "0.4000", "0.5000"]
        assert rows[1][:4] == ["depth", "2 documents", "0.8000", "0.7500"]

    def test_without_an_ending_there_is_a_table_of_budgets_and_one_of_misses(self, capfd):
        rows = self.printed(capfd, "--order", "hedge", "--seeds", "1")
        untils = [row[1] for row in rows if row[0] == "hedge"]
        assert untils == [
            *("25 documents", "50 documents", "100 documents"),
            *("10 misses in a row", "20 misses in a row", "30 misses in a row"),
        ]

    def test_without_an_order_all_are_simulated_with_both_measures(self, capfd):
        header, *rows = self.printed(capfd, "--stop", "10", "--seeds", "1")
        assert header[4:] == ["AP tau", "AP tau_AP", "nDCG@10 tau", "nDCG@10 tau_AP"]
        assert [row[0] for row in rows] == list(ORDERS)

    def test_the_note_names_documents_and_seeds(self, capfd):
        main(["simulate", "qrels", "one", "two", "--order", "thompson", "--guards"])
        last = capfd.readouterr().out.splitlines()[-1]
        assert last == (
            "2 runs, 2 topics; 5 judged documents in the pool of depth 100, 4 relevant (from grade"
            " 1); 5 seeds of thompson; with guards"
        )

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--team", "ada=one"], "--team needs --guards"),
            (["--guards", "--team", "ada=none"], "no run has the tag none"),
            (["--budget", "0"], "expected an integer of at least 1"),
            (["--order", "alphabet"], "invalid choice: 'alphabet'"),
            (["--subtopics"], "one grade per document"),
        ],
    )
    def test_a_wrong_option_is_explained(self, capfd, options, message):
        with pytest.raises(SystemExit):
            main(["simulate", "qrels", "one", "two", *options])
        assert message in capfd.readouterr().err

    def test_a_file_that_is_not_there_is_reported(self, capfd):
        assert main(["simulate", "qrels", "none"]) == 2
        assert "none: error: No such file" in capfd.readouterr().err


@pytest.fixture(scope="module")
def dl19(request):
    """All orders on TREC Deep Learning 2019 with one seed, by order and ending."""
    folder = request.getfixturevalue("data") / "data" / "dl19"
    paths = sorted((folder / "runs").glob("*.gz"))
    runs = [read_run_leniently(BytesIO(gzip.decompress(path.read_bytes()))) for path in paths]
    with (folder / "nist.qrels").open("rb") as file:
        judgments = prepare(read_qrels_leniently(file))
    simulation = Simulation(runs, judgments, [parse_measure("AP(rel=2)")], rel=2)
    endings = [*map(Budget, (25, 50, 100)), *map(MissesInARow, (10, 20, 30))]
    outcomes = simulation.simulate(list(ORDERS), endings, seeds=1)
    return {(each.order, str(each.ending)): each for each in outcomes}


@pytest.mark.data
class TestDeepLearning2019:
    @pytest.mark.parametrize("name", ["maxmean", "thompson", "mtf", "hedge"])
    @pytest.mark.parametrize("budget", ["25 documents", "50 documents", "100 documents"])
    def test_orders_that_learn_find_more_than_depth(self, dl19, name, budget):
        assert dl19[name, budget].found > dl19["depth", budget].found + 0.03

    @pytest.mark.parametrize("name", ["maxmean", "thompson"])
    @pytest.mark.parametrize("budget", ["25 documents", "50 documents"])
    def test_bandits_order_the_runs_better_than_depth_early(self, dl19, name, budget):
        assert dl19[name, budget].boards[0].tau_ap > dl19["depth", budget].boards[0].tau_ap

    @pytest.mark.parametrize("budget", ["25 documents", "50 documents"])
    def test_fusion_finds_more_than_depth_but_orders_the_runs_worse(self, dl19, budget):
        fusion, depth = dl19["fusion", budget], dl19["depth", budget]
        assert fusion.found > depth.found
        assert fusion.boards[0].tau_ap < depth.boards[0].tau_ap

    def test_twenty_misses_in_a_row_leave_few_relevant_documents(self, dl19):
        stopped = dl19["maxmean", "20 misses in a row"]
        assert stopped.judged < 0.85 and stopped.found > 0.95
        assert stopped.boards[0].tau_ap == approx(0.95, abs=0.02)
