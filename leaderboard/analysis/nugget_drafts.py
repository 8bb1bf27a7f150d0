"""A draft of nuggets for its writers: every topic, and one with a text to write from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from evaluation.answers.runs import Answer
from leaderboard.assessments.texts import ReadableText, read_texts
from leaderboard.boards.disclosure import Sight
from leaderboard.collections.nugget_drafts import WrittenTopic, read_topics
from leaderboard.models import NuggetDraft, Run, Topic
from leaderboard.runs.answers import load_answer

# How many answers and documents a page offers to read.
MOST_OFFERED = 50


@dataclass(frozen=True)
class DraftOverview:
    """The topics of a draft, and how many steps of each kind count."""

    topics: list[WrittenTopic]

    @property
    def acts(self) -> list[tuple[str, int]]:
        return list(sum((each.acts for each in self.topics), Counter[str]()).items())

    @property
    def num_nuggets(self) -> int:
        return sum(len(each.nuggets) for each in self.topics)


@dataclass(frozen=True)
class SaidSentence:
    """A sentence of an answer, counted from 1, with the documents that it cites."""

    number: int
    text: str
    docnos: list[str]


@dataclass(frozen=True)
class WritingSource:
    """What is read beside the nuggets of a topic: an answer, a document, or nothing yet."""

    docno: str = ""
    document: ReadableText | None = None
    run: Run | None = None
    sentences: tuple[SaidSentence, ...] = ()
    # What a proposal begins with.
    text: str = ""
    documents: str = ""


@dataclass(frozen=True)
class OfferedTexts:
    """The runs that answer a topic, and the documents that are judged relevant or cited there."""

    runs: list[Run]
    docnos: list[str]


def read_overview(draft: NuggetDraft) -> DraftOverview:
    """Return every topic of a draft."""
    return DraftOverview(read_topics(draft, draft.track.collection.topics.order_by("position")))


def find_source(
    sight: Sight, topic: Topic, run_id: str, docno: str, sentence: int | None
) -> WritingSource:
    """Return the text that is asked for; a sentence of an answer begins a proposal."""
    if docno:
        found = read_texts(topic, {docno})[docno]
        return WritingSource(docno=docno, document=found, documents=docno)
    run = sight.runs().accepted().filter(pk=run_id).first() if run_id else None
    answer = load_answer(run, topic.number) if run is not None else None
    if answer is None:
        return WritingSource()
    said = tuple(_say(answer))
    chosen = next((each for each in said if each.number == sentence), None)
    if chosen is None:
        return WritingSource(run=run, sentences=said)
    documents = " ".join(chosen.docnos)
    return WritingSource(run=run, sentences=said, text=chosen.text, documents=documents)


def _say(answer: Answer) -> Iterator[SaidSentence]:
    for number, sentence in enumerate(answer.sentences, 1):
        docnos = [cited.docno for cited in sentence.citations]
        yield SaidSentence(number, sentence.text, docnos)


def offer_texts(sight: Sight, topic: Topic) -> OfferedTexts:
    """Return what writers can read on a topic."""
    runs = list(sight.runs().accepted().not_removed().order_by("received_at", "pk")[:MOST_OFFERED])
    answers = {run: load_answer(run, topic.number) for run in runs}
    cited = (docno for answer in answers.values() if answer is not None for docno in answer.cited())
    judged = topic.judgments.filter(judgment_set=sight.track.judgment_set_id, grade__gt=0)
    relevant = judged.order_by("-grade", "docno").values_list("docno", flat=True)
    docnos = dict.fromkeys([*relevant[:MOST_OFFERED], *cited])
    return OfferedTexts([run for run in runs if answers[run] is not None], [*docnos][:MOST_OFFERED])
