"""What assessors read of an item: a document, an answer with its nuggets, or a sentence's source.

Nothing here says which run, team or document it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evaluation.answers.nuggets import Nugget
from leaderboard.assessments.texts import ReadableText, make_readable, read_texts
from leaderboard.collections.answer_pools import PairName, read_pair
from leaderboard.collections.documents import find_documents
from leaderboard.collections.nuggets import load_bank
from leaderboard.collections.pooled_texts import PooledText, load_texts
from leaderboard.collections.topic_words import find_stems
from leaderboard.models import Assignment, Pool, Topic

# How many nuggets stand beside an answer at once.
MOST_LISTED = 12
MISSING = ReadableText([], [], exists=False)


@dataclass(frozen=True)
class ListedNugget:
    """A nugget of the topic beside an answer; without a document it is not asked for here."""

    number: int
    nugget: Nugget
    document: int | None
    grade: int | None
    is_current: bool

    @property
    def accepted(self) -> list[str]:
        return [answer.text for answer in self.nugget.answers]


@dataclass(frozen=True)
class JudgedItem:
    """One item: the text to read, and what is asked about it; both empty for a document."""

    text: ReadableText
    nuggets: Sequence[ListedNugget] = ()
    num_nuggets: int = 0
    sentence: PooledText | None = None

    @property
    def beginning(self) -> str:
        """What lists call the item."""
        current = [each.nugget.text for each in self.nuggets if each.is_current]
        if current:
            return current[0]
        return self.sentence.sentence if self.sentence else self.text.beginning


# Items by their names: docnos, or names of pairs.
Items = Mapping[str, JudgedItem]


@dataclass(frozen=True)
class OwnPair:
    """A pair of an assessor: the key of its row, and the label that it has so far."""

    document: int
    grade: int | None


# What an assessor has of the same answers, by the names of pairs.
Beside = Mapping[str, OwnPair]


def read_document_items(pool: Pool, topic: Topic, names: Iterable[str], beside: Beside) -> Items:
    """Return documents with the words of the topic marked."""
    return {docno: JudgedItem(text) for docno, text in read_texts(topic, {*names}).items()}


def read_answer_items(pool: Pool, topic: Topic, names: Iterable[str], beside: Beside) -> Items:
    """Return answers with the words of the nugget marked, and the nuggets of the topic."""
    assert pool.nuggets_id is not None
    nuggets = load_bank(pool.nuggets_id).topics.get(topic.number, ())
    texts = load_texts(pool, topic.number)
    found = {}
    for name in names:
        pair = read_pair(name)
        nugget = nuggets[int(pair.other) - 1]
        accepted = " ".join(answer.text for answer in nugget.answers)
        said = texts.get(pair.key)
        text = MISSING
        if said is not None:
            text = make_readable(
                "", " ".join(said.sentences), find_stems(f"{nugget.text} {accepted}")
            )
        found[name] = JudgedItem(text, list_nuggets(nuggets, pair, beside), len(nuggets))
    return found


def list_nuggets(nuggets: Sequence[Nugget], pair: PairName, beside: Beside) -> list[ListedNugget]:
    """Return the nuggets around that of the pair, with what the assessor gave for this answer.

    They come in the order of the topic, twelve at a time.
    """
    listed = []
    for number in list_places(pair):
        if number > len(nuggets):
            break
        own = beside.get(str(PairName(pair.key, str(number))))
        document, grade = (None, None) if own is None else (own.document, own.grade)
        is_current = str(number) == pair.other
        listed.append(ListedNugget(number, nuggets[number - 1], document, grade, is_current))
    return listed


def list_places(pair: PairName) -> range:
    """Return the places of the nuggets that stand together, which may be after the last one.

    >>> list_places(PairName("9a3e", "14"))
    range(13, 25)
    """
    first = (int(pair.other) - 1) // MOST_LISTED * MOST_LISTED + 1
    return range(first, first + MOST_LISTED)


def find_beside(assignment: Assignment, names: Iterable[str]) -> Beside:
    """Return what the assessor judges of the nuggets that stand beside these pairs."""
    pairs = map(read_pair, names)
    shown = {str(PairName(pair.key, str(at))) for pair in pairs for at in list_places(pair)}
    rows = assignment.documents.filter(docno__in=shown, is_repeat=False)
    found = rows.values_list("docno", "pk", "mark__grade")
    return {docno: OwnPair(document, grade) for docno, document, grade in found}


def read_sentence_items(pool: Pool, topic: Topic, names: Iterable[str], beside: Beside) -> Items:
    """Return cited documents with the words of the sentence marked, and the sentence."""
    texts = load_texts(pool, topic.number)
    pairs = {name: read_pair(name) for name in names}
    documents = find_documents(topic.collection, {pair.other for pair in pairs.values()})
    found = {}
    for name, pair in pairs.items():
        sentence = texts.get(pair.key, PooledText(("",), 0))
        document, text = documents.get(pair.other), MISSING
        if document is not None:
            stems = find_stems(sentence.sentence)
            text = make_readable(document.title, document.text, stems)
        found[name] = JudgedItem(text, sentence=sentence)
    return found
