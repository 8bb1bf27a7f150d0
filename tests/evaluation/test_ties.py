"""What equal scores leave open."""

from __future__ import annotations

from io import BytesIO
from itertools import permutations

import pytest

from evaluation.judging import judge, prepare
from evaluation.measures import parse_measure
from evaluation.reading.judging.qrels import read_qrels
from evaluation.reading.runs.reader import read_run
from evaluation.ties import tie_interval, turned

QRELS = b"1 0 a 2\n1 0 b 0\n1 0 c 1\n2 0 e 1\n"
# Of topic 1 a is above a tie of b, c and x, which nobody judged.
TIED = b"".join(b"1 Q0 %b 1 %d t\n" % line for line in ((b"a", 9), (b"b", 5), (b"c", 5), (b"x", 5)))
RUN = TIED + b"2 Q0 d 1 3 t\n2 Q0 e 2 2 t\n"


def means_of_every_order(measure):
    """The means of all runs in which the tie is broken by scores."""
    judgments = prepare(read_qrels(BytesIO(QRELS)))
    for order in permutations((b"b", b"c", b"x")):
        ranked = [(b"a", 9), *((docno, 5 - place) for place, docno in enumerate(order))]
        broken = b"".join(b"1 Q0 %b 1 %d t\n" % line for line in ranked)
        run = read_run(BytesIO(broken + b"2 Q0 d 1 3 t\n2 Q0 e 2 2 t\n"))
        yield measure.aggregate(measure.scores(judge(run, judgments)))


@pytest.mark.parametrize("text", ["AP", "nDCG@2", "nDCG@10", "P@2", "RR", "R@3", "RBP(p=0.8)"])
def test_the_interval_is_that_of_all_orders(text):
    measure, judgments = parse_measure(text), prepare(read_qrels(BytesIO(QRELS)))
    run = read_run(BytesIO(RUN))
    found = tie_interval(
        measure, *(judge(turned(run, judgments, first), judgments) for first in (-1, 1))
    )
    every = list(means_of_every_order(measure))
    assert found == pytest.approx((min(every), max(every)))


def test_a_run_without_ties_stays_as_it_is():
    judgments = prepare(read_qrels(BytesIO(QRELS)))
    run = read_run(BytesIO(b"1 Q0 b 1 9 t\n1 Q0 a 2 8 t\n"))
    assert turned(run, judgments, 1).rankings[b"1"].docnos == [b"b", b"a"]
