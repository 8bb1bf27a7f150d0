"""Tied documents stand in trec_eval's order: by docno descending, byte by byte."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest

from evaluation.reading.docnos import words_of
from evaluation.reading.runs.rankings import Block, Ranking, order_in_groups

# Six bits each, seven, eight, and both sides of their borders.
ALPHABETS = [b"0123456789", b"AB-_9^", b"abcXYZ09_-", bytes(range(0x21, 0x7F)), b"!~_`a"]
ALPHABETS += [bytes(range(0x80, 0x100)), bytes(range(0x21, 0x60))]


@pytest.mark.parametrize("beginning", [b"", b"d", b"clueweb12-0033wb-25-"])
@pytest.mark.parametrize("alphabet", ALPHABETS)
def test_docnos_of_a_group_fall(alphabet, beginning):
    chance = random.Random(7)
    for longest in (1, 2, 6, 8, 9, 12, 20):
        docnos = [
            beginning + bytes(chance.choices(alphabet, k=chance.randint(1, longest)))
            for _ in range(60)
        ]
        group = np.cumsum([chance.random() < 0.3 for _ in docnos])
        order = order_in_groups(words_of(np.array(docnos, "S")), group)
        assert sorted(order) == list(range(60)) and (np.diff(group[order]) >= 0).all()
        for one, other in pairwise(order):
            assert group[one] < group[other] or docnos[one] >= docnos[other]


@pytest.mark.parametrize("share", [0.02, 0.9])
def test_few_and_many_ties_are_ordered_as_a_ranking_is(share):
    chance = random.Random(7)
    docnos = [b"FT%03d-%d" % (chance.randrange(999), n) for n in range(500)]
    scores = np.array(sorted(chance.randrange(int(500 * (1 - share)) + 1) for _ in docnos)[::-1])
    block = Block.of({b"1": Ranking(docnos, scores * 1.0)}).in_scoring_order()
    assert block.ranking(0).docnos == Ranking.in_scoring_order(docnos, scores * 1.0).docnos


def test_more_groups_than_a_word_can_number_are_ordered():
    docnos = words_of(np.array([b"d1", b"d2"] * 40_000, "S"))
    order = order_in_groups(docnos, np.repeat(np.arange(40_000) * 2, 2))
    assert order[:4].tolist() == [1, 0, 3, 2]


@pytest.mark.parametrize("asked", [1, 3, 200])
def test_few_and_many_documents_are_placed_as_sorting_all_places_them(asked):
    chance = random.Random(7)
    docnos = [b"FT%03d-%d" % (chance.randrange(999), n) for n in range(500)]
    scores = np.array(sorted((chance.randrange(40) for _ in docnos), reverse=True), float)
    block = Block.of({b"1": Ranking(docnos, scores)})
    sorted_block, rows = block.with_ties_by_docno(), np.array(chance.sample(range(500), asked))
    assert (sorted_block.docnos[block.places_by_docno(rows)] == block.docnos[rows]).all()
