"""One answer: its sentences with what they cite, and a cited passage of the collection.

Texts of documents come from the collection alone, never from the file of a run.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from evaluation.answers.any_measure import parse_measure
from evaluation.answers.lengths import NAMES, UNITS
from evaluation.answers.marks import SupportLayer
from evaluation.answers.rankings import rank_cited, rank_references
from evaluation.answers.runs import Answer, Cited
from evaluation.reading.documents import Document
from leaderboard.analysis.nuggets import NuggetMatrix, mark_nuggets
from leaderboard.analysis.rankings import find_visible_grades
from leaderboard.analysis.snippets import cut_snippet
from leaderboard.analysis.topics import TopicBreakdown
from leaderboard.boards.columns import OF_ANSWERS
from leaderboard.boards.disclosure import Sight
from leaderboard.boards.few_marked import FewMarked
from leaderboard.boards.standings import Board
from leaderboard.collections.documents import find_documents
from leaderboard.collections.mark_layers import load_support
from leaderboard.collections.topic_words import WordPiece, find_stems
from leaderboard.models import Run, Topic, Track
from leaderboard.runs.answers import load_answer
from leaderboard.scoring.answer_marks import find_layer
from leaderboard.scoring.answer_runs import find_answer_rules

PASSAGE = 700
SUPPORT_WORDS = {
    0: "does not support it",
    1: "supports it in part",
    2: "supports it",
    3: "contradicts it",
    255: "not judged",
}
# Below this number of runs, a correlation says nothing.
FEWEST_RUNS = 3
# How many answers are read side by side.
BESIDE = 2


@dataclass(frozen=True)
class CitedSource:
    """A document that an answer cites or lists; the cited ones are numbered first."""

    number: int
    docno: str
    title: str
    # None if unjudged, or if grades may not be shown.
    grade: int | None
    is_cited: bool
    has_text: bool
    # Whether it supports the sentence, by the code of its mark; None where there is no mark.
    mark: int | None = None

    @property
    def mark_words(self) -> str:
        return "" if self.mark is None else SUPPORT_WORDS[self.mark]


@dataclass(frozen=True)
class CitingSentence:
    """A sentence, counted from 1, with the sources that it cites, and those said to contradict."""

    number: int
    text: str
    sources: list[CitedSource]
    contradicted: list[CitedSource]


@dataclass(frozen=True)
class OpenedCitation:
    """A source of a sentence, with the passage that has most words of the sentence."""

    sentence: CitingSentence
    source: CitedSource
    passage: list[WordPiece]


@dataclass(frozen=True)
class AnswerLength:
    """How long an answer is, in the unit of its track; `limit` is None where there is none."""

    length: int
    unit: str
    limit: int | None


@dataclass(frozen=True)
class LengthTrust:
    """How the score of a board goes with the length and the citations of its answers.

    `correlations` are Pearson's, by the column; none of fewer than three runs, or of equal ones.
    """

    measure: str
    correlations: dict[str, float]
    few: list[FewMarked]
    # Those whose pairs were drawn, by measure and then the best estimate first.
    drawn: list[FewMarked]
    # Why several of them have no estimate, each reason once.
    without: list[str]


def read_length_trust(board: Board) -> LengthTrust:
    """Return what to know of the scores of a board of answers; it has every run of the board."""
    correlations = {}
    for column in OF_ANSWERS:
        pairs = [(column.order(row), row.scores[board.measure]) for row in board.standings]
        known = np.array([pair for pair in pairs if None not in pair], np.float64).reshape(-1, 2)
        if len(known) >= FEWEST_RUNS and known.std(axis=0).all():
            correlations[column.title.lower()] = float(np.corrcoef(known.T)[0, 1])
    few = board.few_marked
    drawn = sorted(board.drawn, key=partial(_place_drawn, board))
    reasons = Counter(each.why_none for each in drawn if each.why_none)
    without = [reason for reason, count in reasons.items() if count > 1]
    return LengthTrust(
        board.measure,
        correlations,
        [each for each in few if not each.is_drawn],
        [each for each in drawn if each.why_none not in without],
        without,
    )


def _place_drawn(board: Board, each: FewMarked) -> tuple[int, float]:
    value = -math.inf if each.estimate is None else each.estimate.value
    return board.measures.index(each.measure), -parse_measure(each.measure).direction * value


@dataclass(frozen=True)
class AnswerPage:
    """What a run answers to a topic; without sentences if it does not."""

    run: Run
    topic: Topic
    sentences: list[CitingSentence]
    sources: list[CitedSource]
    length: AnswerLength
    opened: OpenedCitation | None
    # What it has of each nugget, for who may see marks; None without marks.
    nuggets: NuggetMatrix | None = None

    @property
    def num_found(self) -> int:
        return sum(row.num_found for row in self.nuggets.rows) if self.nuggets else 0

    @property
    def num_citations(self) -> int:
        return sum(len(each.sources) for each in self.sentences)


def build_answer_page(
    sight: Sight, run: Run, topic: Topic, asked: tuple[str, str] = ("", "")
) -> AnswerPage:
    """Build the page of an answer; `asked` is the opened citation: a sentence and a docno."""
    answer = load_answer(run, topic.number) or Answer(topic.number)
    cited, others = list_documents(answer)
    texts = find_documents(sight.track.collection, [*cited, *others])
    sources = number_sources(cited, others, texts, find_visible_grades(sight, topic))
    sentences = cite_sources(run, answer, sources, find_support(sight, run, topic))
    return AnswerPage(
        run=run,
        topic=topic,
        sentences=sentences,
        sources=list(sources.values()),
        length=measure_length(answer, sight.track),
        opened=open_citation(sentences, texts, *asked),
        nuggets=mark_nuggets(sight, topic, [run]) if sight.can_see_scores_of(run) else None,
    )


def find_support(sight: Sight, run: Run, topic: Topic) -> SupportLayer | None:
    """Return the marks of the sentences of an answer, for who may see its scores by topic."""
    layer = find_layer(sight.track, "support") if sight.can_see_scores_of(run) else None
    return load_support(layer, run, topic) if layer is not None else None


def build_answers_beside(
    sight: Sight, breakdown: TopicBreakdown, asked: Iterable[str]
) -> list[AnswerPage]:
    """Build the answers of two runs to a topic: those asked for, else own ones, else the best."""
    own_first = sorted(breakdown.answers, key=lambda each: not each.is_own)
    runs = {each.run.pk: each.run for each in own_first}
    chosen = list(dict.fromkeys([*filter(runs.__contains__, asked), *runs]))[:BESIDE]
    return [build_answer_page(sight, runs[run_id], breakdown.topic) for run_id in chosen]


def list_documents(answer: Answer) -> tuple[list[str], list[str]]:
    """Return the docnos that an answer cites, by first citation, and its other references."""
    contradicted = (each.docno for s in answer.sentences for each in s.contradicted)
    cited = list(dict.fromkeys([*rank_cited(answer), *contradicted]))
    return cited, [docno for docno in rank_references(answer) if docno not in cited]


def number_sources(
    cited: Sequence[str],
    others: Sequence[str],
    texts: Mapping[str, Document],
    grades: Mapping[str, int],
) -> dict[str, CitedSource]:
    """Return documents by docno, the cited ones numbered first."""
    return {
        docno: CitedSource(
            number,
            docno,
            texts[docno].title if docno in texts else "",
            grades.get(docno),
            is_cited=number <= len(cited),
            has_text=docno in texts,
        )
        for number, docno in enumerate([*cited, *others], 1)
    }


def cite_sources(
    run: Run, answer: Answer, sources: Mapping[str, CitedSource], support: SupportLayer | None
) -> list[CitingSentence]:
    """Return the sentences of an answer, each with its sources in the order of its citations."""

    def sources_of(cited: tuple[Cited, ...], marks: Mapping[str, int]) -> list[CitedSource]:
        docnos = dict.fromkeys(each.docno for each in cited)
        return [replace(sources[docno], mark=marks.get(docno)) for docno in docnos]

    found = []
    for number, s in enumerate(answer.sentences, 1):
        marks = support.of_sentence(run.pk, answer, number) if support is not None else {}
        cited, contradicted = sources_of(s.citations, marks), sources_of(s.contradicted, marks)
        found.append(CitingSentence(number, s.text, cited, contradicted))
    return found


def measure_length(answer: Answer, track: Track) -> AnswerLength:
    rules = find_answer_rules(track)
    return AnswerLength(UNITS[rules.unit](answer.texts), NAMES[rules.unit], rules.limit)


def open_citation(
    sentences: list[CitingSentence], texts: Mapping[str, Document], number: str, docno: str
) -> OpenedCitation | None:
    """Return the citation of a document by a sentence, None if there is none."""
    for sentence in sentences:
        for source in (*sentence.sources, *sentence.contradicted):
            if (str(sentence.number), source.docno) == (number, docno):
                text = texts[docno].text if docno in texts else ""
                passage = cut_snippet(text, find_stems(sentence.text), PASSAGE) if text else []
                return OpenedCitation(sentence, source, passage)
    return None
