"""Verdicts on sentences as ARGUE gives them: cited well, negative, in need of a citation."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import BinaryIO, TypeAlias

from evaluation.answers.findings import Findings
from evaluation.answers.nugget_files import stated
from evaluation.answers.objects import read_objects

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
