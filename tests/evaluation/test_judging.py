"""Judging: what of a run and of judgments reaches the measures."""

from io import BytesIO
from random import Random

import pytest

from evaluation.conventions import HOUSE, TREC_EVAL_9
from evaluation.judging import JudgedRun, Judgments, join_plainly, judge, prepare
from evaluation.measures import parse_measure
from evaluation.problems import Problems, Refused
from evaluation.reading.judging.qrels import Qrels, read_qrels_leniently
from evaluation.reading.runs.rankings import StoredRankings
from evaluation.reading.runs.reader import Run, read_run, read_run_leniently

QRELS = b"1 0 a 2\n1 0 b 0\n1 0 c -1\n1 0 d 1\n2 0 a 1\n10 0 z 0\n"
RUN = b"1 Q0 d 1 9 t\n1 Q0 x 2 8 t\n1 Q0 c 3 7 t\n1 Q0 a 4 6 t\n10 Q0 y 1 1 t\n3 Q0 a 1 1 t\n"


def judgments(text: bytes = QRELS) -> Judgments:
    return prepare(read_qrels_leniently(BytesIO(text)))


def judged(run: bytes = RUN, qrels: bytes = QRELS, **options) -> JudgedRun:
    return judge(read_run_leniently(BytesIO(run)), judgments(qrels), **options)


def test_topics_are_those_of_the_judgments_in_byte_order():
    assert judgments().topics == (b"1", b"10", b"2")


def test_the_record_holds_the_judged_documents_only():
    run = judged()
    assert run.topic.tolist() == [0, 0, 0]
    assert run.rank.tolist() == [1, 3, 4]
    assert run.grade.tolist() == [1, -1, 2]


def test_a_judged_topic_that_the_run_skips_is_an_empty_ranking():
    assert judged().retrieved.tolist() == [4, 1, 0]


def test_the_depth_cuts_every_ranking():
    run = judged(depth=3)
    assert run.rank.tolist() == [1, 3]
    assert run.retrieved.tolist() == [3, 1, 0]


def test_negative_grades_count_neither_as_relevant_nor_as_nonrelevant():
    assert judgments().num_relevant(1).tolist() == [2, 0, 1]
    assert judgments().num_nonrelevant(1).tolist() == [1, 1, 0]


def test_junk_is_judged_and_what_was_only_pooled_is_not():
    run = judged(
        b"1 Q0 a 1 4 t\n1 Q0 b 2 3 t\n1 Q0 c 3 2 t\n1 Q0 d 4 1 t\n",
        b"1 0 a -2\n1 0 b -1\n1 0 c 1\n",
    )
    assert [parse_measure(f"Judged@{k}").scores(run)[0] for k in (1, 4)] == [1, 0.5]


def test_condensing_removes_holes_and_moves_the_others_up():
    run = judged().condensed()
    assert run.rank.tolist() == [1, 2]
    assert run.grade.tolist() == [1, 2]
    assert run.retrieved.tolist() == [2, 0, 0]


def test_the_depth_cuts_before_condensing_removes():
    assert judged(depth=3).condensed().grade.tolist() == [1]


def test_filling_gives_every_hole_a_grade_and_a_place_in_the_ideal():
    run = judged().filled(2)
    assert run.grade.tolist() == [1, 2, 2, 2, 2]
    assert run.judgments.num_relevant(2).tolist() == [3, 1, 0]


def test_a_packed_record_comes_back_as_it_was():
    run = judged(depth=3, convention=TREC_EVAL_9)
    back = JudgedRun.unpack(run.pack(), run.judgments)
    for column in ("topic", "rank", "grade", "retrieved"):
        assert getattr(back, column).tolist() == getattr(run, column).tolist()
    assert (back.depth, back.convention) == (3, TREC_EVAL_9)


def test_a_record_without_judged_documents_packs_too():
    run = judged(b"99 Q0 a 1 1 t\n")
    back = JudgedRun.unpack(run.pack(), run.judgments)
    assert (back.rank.tolist(), back.retrieved.tolist()) == ([], [0, 0, 0])


def test_a_record_does_not_unpack_with_other_judgments():
    with pytest.raises(ValueError, match="3 topics"):
        JudgedRun.unpack(judged().pack(), judgments(b"1 0 a 1\n"))


def test_chosen_topics_keep_the_order_in_which_they_are_named():
    qrels = read_qrels_leniently(BytesIO(QRELS))
    assert prepare(qrels, [b"2", b"1"]).topics == (b"2", b"1")
    with pytest.raises(ValueError, match="no judgments"):
        prepare(qrels, [b"9"])


def test_a_grade_above_the_scale_is_refused():
    with pytest.raises(Refused, match="E_TOP_GRADE"):
        prepare(read_qrels_leniently(BytesIO(QRELS)), top_grade=1)


def test_the_convention_decides_whether_scores_tie_as_32_bit_floats():
    run = b"1 Q0 a 1 16777217 t\n1 Q0 d 2 16777216 t\n"
    assert judged(run, convention=HOUSE).grade.tolist() == [2, 1]
    assert judged(run, convention=TREC_EVAL_9).grade.tolist() == [1, 2]


def test_a_run_of_no_judged_topic_scores_zero():
    run = judged(b"99 Q0 a 1 1 t\n")
    assert parse_measure("AP").scores(run).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("convention", [HOUSE, TREC_EVAL_9], ids=lambda each: each.name)
@pytest.mark.parametrize("depth", [None, 3])
def test_many_documents_at_once_are_judged_as_one_by_one(convention, depth):
    random = Random(3)
    for _ in range(30):
        topics = [b"%d" % number for number in range(random.randint(1, 12))]
        qrels, run = random_qrels(random, topics), random_run(random, topics)
        judged = judge(run, qrels, depth, convention)
        for some, other in zip(
            (judged.topic, judged.rank, judged.grade, judged.retrieved),
            join_plainly(run, qrels, depth, convention),
            strict=True,
        ):
            assert some.tolist() == other.tolist()


def random_qrels(random: Random, topics: list[bytes]) -> Judgments:
    judged = {t: {d: random.randint(-1, 3) for d in random_docnos(random)} for t in [*topics, b"x"]}
    return prepare(Qrels(judged, Problems()), [t for t in judged if random.random() < 0.8])


def random_run(random: Random, topics: list[bytes]) -> Run:
    """Scores with ties, some of them only as 32-bit floats."""
    text = b"".join(
        b"%b Q0 %b 1 %.10f t\n" % (topic, docno, random.choice((0.25, 1, 1.0000000001, 7)))
        for topic in topics
        for docno in random_docnos(random)
    )
    run = read_run(BytesIO(text))
    assert isinstance(run.rankings, StoredRankings)
    return run


def random_docnos(random: Random) -> set[bytes]:
    names = (b"D%d", b"clueweb09-en0040-83-%05d")
    return {random.choice(names) % random.randint(1, 40) for _ in range(random.randint(1, 30))}
