"""Verdicts on sentences as ARGUE gives them: cited well, negative, in need of a citation."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, TypeAlias

from evaluation.answers.findings import Findings
from evaluation.answers.labels import SUPPORT, UNJUDGED
from evaluation.answers.marks import AssignmentMark
from evaluation.answers.nugget_files import stated
from evaluation.answers.nuggets import Nugget
from evaluation.answers.objects import read_objects
from evaluation.answers.runs import Answer, Sentence

Pair: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class SentenceVerdict:
    """What was found about one sentence.

    `fails` is true if any of its citations does not support it, `pairs` are the questions and
    accepted answers that it states. `given` is the score where only that is known.
    """

    is_cited: bool
    fails: bool = False
    is_negative: bool = False
    needs_citation: bool = False
    is_first: bool = False
    pairs: frozenset[Pair] = frozenset()
    given: int | None = None

    def score(self, known: Collection[Pair]) -> int:
        """Return the score of the sentence; `known` are the accepted answers of the topic.

        A cited sentence has -1 if a citation fails, else the number of its nuggets. An uncited
        one has +1 or -1 if it is negative, -1 if it needs a citation and says so first, else 0.

        >>> SentenceVerdict(True, pairs=frozenset({("who", "Ada")})).score({("who", "Ada")})
        1
        """
        if self.given is not None:
            return self.given
        found = sum(pair in known for pair in self.pairs)
        if self.is_cited:
            return -1 if self.fails else found
        if self.is_negative:
            return 1 if found else -1
        return -1 if self.needs_citation and self.is_first else 0


def read_verdicts(file: BinaryIO) -> dict[tuple[str, str], list[SentenceVerdict]]:
    """Read the sentence results of ARGUE's evaluator, by (run, topic); raises `Refused`."""
    findings = Findings()
    verdicts: dict[tuple[str, str], list[SentenceVerdict]] = {}
    for item in read_objects(file, findings):
        results = item.value.get("sentence_results")
        topic, run = stated(item.value, "request_id", "topic_id"), stated(item.value, "run_id")
        if not isinstance(results, list) or not topic:
            message = "the object has no request_id or no sentence_results"
            findings.error("E_FIELD", item.line, message)
            continue
        verdicts[run, topic] = [_verdict(each) for each in results if isinstance(each, dict)]
    findings.raise_if_refused()
    return verdicts


def _verdict(result: dict[str, object]) -> SentenceVerdict:
    score = result.get("score")
    details, matched = result.get("citation_details"), result.get("matched_nuggets")
    pairs = [
        (stated(each, "question_text"), stated(each, "matched_answer"))
        for each in (matched if isinstance(matched, list) else [])
    ]
    is_cited = isinstance(details, dict) and bool(details.get("has_citations"))
    given = score if isinstance(score, int) else None
    return SentenceVerdict(is_cited, pairs=frozenset(pairs), given=given)


@dataclass(frozen=True)
class AnswerMarks:
    """What is marked of one answer: its nuggets, and by sentence from 1 its citations.

    `needs` says which sentences without a citation need one and say it first.
    """

    nuggets: Mapping[str, AssignmentMark] = field(default_factory=dict)
    support: Mapping[int, Mapping[str, int]] = field(default_factory=dict)
    needs: Mapping[int, bool] = field(default_factory=dict)


def write_verdicts(
    run: str, answer: Answer, nuggets: Sequence[Nugget], marks: AnswerMarks
) -> dict[str, object]:
    """Return what is marked of an answer as a line of the results of ARGUE's evaluator.

    A nugget is matched by the sentence that a mark names as its evidence; one without a sentence
    has no place here. A citation fails unless it supports the sentence in full. Where a citation is
    not judged, the sentence has no score.
    """
    known = {pair_of(nugget) for nugget in nuggets}
    results = []
    for number, sentence in enumerate(answer.sentences, 1):
        matched = [each for each in nuggets if _is_said_in(number, marks.nuggets.get(each.key))]
        verdict = _judge(number, sentence, matched, marks)
        results.append(
            {
                "sentence": sentence.text,
                "sentence_index": number - 1,
                "matched_nuggets": [_match(nugget) for nugget in matched],
                "score": None if verdict is None else verdict.score(known),
                "citation_details": {
                    "has_citations": bool(sentence.citations),
                    "citation_relevance": None
                    if verdict is None or not verdict.is_cited
                    else not verdict.fails,
                },
                "evaluation_details": {"requires_citation": marks.needs.get(number)},
            }
        )
    return {"request_id": answer.topic, "run_id": run, "sentence_results": results}


def _judge(
    number: int, sentence: Sentence, matched: Sequence[Nugget], marks: AnswerMarks
) -> SentenceVerdict | None:
    """Return the verdict on a sentence, None where a citation is not judged."""
    codes = {marks.support.get(number, {}).get(each.docno, UNJUDGED) for each in sentence.citations}
    if UNJUDGED in codes:
        return None
    needed = marks.needs.get(number, False)
    return SentenceVerdict(
        is_cited=bool(codes),
        fails=bool(codes - {SUPPORT}),
        needs_citation=needed,
        is_first=needed,
        pairs=frozenset(map(pair_of, matched)),
    )


def _is_said_in(number: int, mark: AssignmentMark | None) -> bool:
    return mark is not None and mark.code == SUPPORT and mark.sentence == number


def pair_of(nugget: Nugget) -> Pair:
    """Return a question with its first accepted answer; a claim is its own answer."""
    return nugget.text, nugget.answers[0].text if nugget.answers else nugget.text


def _match(nugget: Nugget) -> dict[str, str]:
    question, answer = pair_of(nugget)
    importance = nugget.importance or "NA"
    return {"question_text": question, "matched_answer": answer, "importance": importance}
