"""Pools of answers: every answer with every nugget, or every sentence with what it cites.

A pair is named by the key of its text and what is looked for: the place of the nugget from 1, or
the docno. Equal texts have one key, so what several runs say is judged once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from evaluation.answers.labels import UNJUDGED
from evaluation.answers.runs import Answer, Cited
from evaluation.pooling import Pool
from evaluation.pooling.pools import Place, Pooled
from leaderboard import models
from leaderboard.collections.mark_layers import load_assignments, load_support
from leaderboard.collections.nuggets import load_bank
from leaderboard.collections.pooled_texts import PooledText
from leaderboard.models import MarkLayer, Run
from leaderboard.models.collections import LONGEST_IDENTIFIER
from leaderboard.models.jobs import Progress
from leaderboard.runs.answers import read_answers

# How many sentences before and after a pooled one assessors read with it.
CONTEXT = 3
# Depths of citations whose price a pool of them shows.
DEPTHS = (1, 2, 3, 5, 10)


@dataclass(frozen=True, slots=True)
class PairName:
    """The name of a pair: the key of its text, and the place of a nugget or a docno."""

    key: str
    other: str

    def __str__(self) -> str:
        return f"{self.key}:{self.other}"


def read_pair(name: str) -> PairName:
    """Return what the name of a pair says.

    >>> read_pair("9a3e:doc:7")
    PairName(key='9a3e', other='doc:7')
    """
    key, _, other = name.partition(":")
    return PairName(key, other)


@dataclass(frozen=True)
class FoundPair:
    """A pair in one run: its text, its rank there, and the code of its mark; None without one."""

    topic: str
    name: PairName
    text: PooledText
    rank: int
    code: int | None


@dataclass
class GatheredPairs:
    """Pairs of several runs by topic and name, what is marked of them, and their texts.

    A pair that is marked for one run and not for another is not marked.
    """

    places: dict[str, dict[str, list[Place]]] = field(default_factory=dict)
    marked: dict[bytes, dict[bytes, int]] = field(default_factory=dict)
    unmarked: set[tuple[bytes, bytes]] = field(default_factory=set)
    texts: dict[str, dict[str, PooledText]] = field(default_factory=dict)

    def add(self, number: int, found: FoundPair) -> None:
        """Add a pair of the run with this number."""
        name = str(found.name)
        if len(name) > LONGEST_IDENTIFIER:
            return
        places = self.places.setdefault(found.topic, {}).setdefault(name, [])
        places.append(Place(number, found.rank))
        pair = found.topic.encode(), name.encode()
        if found.code is None:
            self.unmarked.add(pair)
            self.marked.get(pair[0], {}).pop(pair[1], None)
            self.texts.setdefault(found.topic, {}).setdefault(found.name.key, found.text)
        elif pair not in self.unmarked:
            self.marked.setdefault(pair[0], {})[pair[1]] = found.code

    def pool(self, method: str, runs: Sequence[Run]) -> Pool:
        """Return all pairs as a pool, marked ones too; topics as text, pairs by name."""
        topics = {
            number.encode(): tuple(
                Pooled(name.encode(), tuple(places)) for name, places in sorted(pairs.items())
            )
            for number, pairs in sorted(self.places.items())
        }
        return Pool(method, tuple(run.tag or run.pk for run in runs), topics)


def gather_pairs(row: models.Pool, runs: Sequence[Run], progress: Progress) -> GatheredPairs:
    """Read the answers of runs to the topics of a collection, and pair their texts."""
    find = pair_sentences if row.about == MarkLayer.About.SUPPORT else pair_answers
    gathered = GatheredPairs()
    for number, run in enumerate(runs):
        progress(number, len(runs))
        for found in find(row, run):
            gathered.add(number, found)
    return gathered


def pair_answers(row: models.Pool, run: Run) -> Iterator[FoundPair]:
    """Yield each answer of a run with each nugget of its topic."""
    assert row.nuggets_id is not None
    bank = load_bank(row.nuggets_id)
    layer = None if row.marked_in is None else load_assignments(row.marked_in, run)
    for topic, answer in read_answers(run):
        nuggets = bank.topics.get(topic, ())
        if not answer.text.strip():
            continue
        codes = layer.codes(run.pk, topic, bank, answer).tolist() if layer else ()
        codes = codes or [UNJUDGED] * len(nuggets)
        text, key = PooledText(tuple(answer.texts)), answer.key.hex()
        for place, code in enumerate(codes, 1):
            name = PairName(key, str(place))
            yield FoundPair(topic, name, text, 1, None if code == UNJUDGED else code)


def pair_sentences(row: models.Pool, run: Run) -> Iterator[FoundPair]:
    """Yield each sentence of a run with each of the first documents that it cites."""
    layer = None if row.marked_in is None else load_support(row.marked_in, run)
    for topic, answer in read_answers(run):
        for place, sentence in enumerate(answer.sentences):
            codes = layer.of_sentence(run.pk, answer, place + 1) if layer else {}
            for rank, docno in list_cited(sentence.citations, sentence.contradicted, row.size):
                code = codes.get(docno, UNJUDGED)
                yield FoundPair(
                    topic,
                    PairName(sentence.key.hex(), docno),
                    cut_context(answer, place),
                    rank,
                    None if code == UNJUDGED else code,
                )


def list_cited(
    citations: Sequence[Cited], contradicted: Sequence[Cited], depth: int
) -> Iterator[tuple[int, str]]:
    """Yield rank and docno of the first documents of both lists of citations, each once.

    >>> list(list_cited([Cited("a"), Cited("b")], [Cited("a"), Cited("c")], 2))
    [(1, 'a'), (2, 'b'), (2, 'c')]
    """
    seen = set()
    for cited in (citations, contradicted):
        for rank, (docno, _) in enumerate(cited[:depth], 1):
            if docno not in seen:
                seen.add(docno)
                yield rank, docno


def cut_context(answer: Answer, place: int) -> PooledText:
    """Return a sentence with its neighbours."""
    start = max(0, place - CONTEXT)
    return PooledText(tuple(answer.texts[start : place + CONTEXT + 1]), place - start)


def count_by_depth(pool: Pool, depths: Sequence[int]) -> dict[int, int]:
    """Return how many pairs of a pool have a place within each depth."""
    best = [pair.best_rank for _, pair in pool]
    return {depth: sum(rank <= depth for rank in best) for depth in depths}
