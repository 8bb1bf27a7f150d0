"""Reading of answer runs: recognised, repaired, checked, and resolved, answer by answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import BinaryIO

from evaluation.answers.checks import AnswerChecks
from evaluation.answers.dialects import FoundDialect, recognise_lines, recognise_object
from evaluation.answers.drafts import Draft, ObjectReader
from evaluation.answers.findings import Findings
from evaluation.answers.line_drafts import question_drafts, r2c2_drafts
from evaluation.answers.objects import LONGEST_LINE, Item, read_objects
from evaluation.answers.repairs import AnswerRepairs, cut_sentences
from evaluation.answers.rules import AnswerRules
from evaluation.answers.runs import Answer, AnswerRun
from evaluation.problems import KEPT, Problems, Refused
from evaluation.reading.containers import ZIP
from evaluation.reading.lines import first_bytes, in_line_order, numbered_lines

SURROGATE = re.compile(r"[\ud800-\udfff]")
PEEKED_LINES = 5
SHOWN_FIELDS = 12


@dataclass
class AnswerReader:
    """What reads one file: `drafts` yields its answers, `finish` ends with all problems.

    Nothing is kept but what checks have to remember, so a long file needs little memory.
    """

    file: BinaryIO
    rules: AnswerRules = AnswerRules()
    findings: Findings = field(default_factory=lambda: Findings(KEPT + 1, most=KEPT))
    dialect: str = ""
    because: str = ""

    def __post_init__(self) -> None:
        self.checks = AnswerChecks(self.rules, self.findings)
        self.repairs = AnswerRepairs(self.rules)

    def drafts(self) -> Iterator[Draft]:
        """Yield the answers as they are read, checked, and each as the rules have it scored."""
        for draft in self._drafts():
            draft.run = draft.run or self.checks.run or self.rules.name
            if not self.repairs.repair(draft):
                continue
            self.checks.check(draft)
            if self.rules.over == "cut" and (cut := cut_sentences(draft, self.rules)):
                self.repairs.counts["cut"] += cut
            yield draft

    @property
    def repaired(self) -> Counter[str]:
        return self.repairs.counts

    def finish(self) -> Problems:
        """Return all problems, in the order of lines, after the last answer."""
        self.checks.finish(self.dialect)
        self.findings.fold()
        in_line_order(self.findings)
        return self.findings

    def _drafts(self) -> Iterator[Draft]:
        is_archive = first_bytes(self.file).startswith(ZIP)
        found = None if is_archive else self._by_lines()
        if found is not None:
            self._decide(found, 1, {})
            yield from self._drafts_of_lines()
            return
        items = read_objects(self.file, self.findings)
        first = next(items, None)
        if first is None:
            return
        self._decide(recognise_object(first.value, self.rules.dialect), first.line, first.value)
        reader = ObjectReader(self.dialect, self.rules, self.findings)
        for item in chain([first], items):
            self._check_dialect(item)
            yield from reader.drafts(item)

    def _by_lines(self) -> FoundDialect | None:
        """Return the dialect of a file that is not JSON."""
        head = first_bytes(self.file).splitlines()[:PEEKED_LINES]
        found = recognise_lines(iter(head))
        if found is not None and not found.names and self.rules.dialect in ("r2c2", "questions"):
            return FoundDialect((self.rules.dialect,), "The dialect was given.")
        return found

    def _decide(self, found: FoundDialect, line: int, fields: dict[str, object]) -> None:
        if len(found.names) == 1:
            self.dialect, self.because = found.names[0], found.because
            return
        if found.names:
            message = f"this fits two formats: {' and '.join(found.names)}"
        elif fields:
            keys = ", ".join(list(fields)[:SHOWN_FIELDS])
            message = f"no known format: the first object has the keys {keys}"
        else:
            message = "no known format: the file is neither JSON nor R2C2"
        self.findings.error("E_FORMAT", line, message)
        raise Refused(self.findings)

    def _check_dialect(self, item: Item) -> None:
        """Refuse a file in which an object is of another dialect than the first."""
        found = recognise_object(item.value, self.dialect).names
        if found and self.dialect not in found:
            both = f"{self.dialect} and {found[0]}"
            message = f"the file has objects of two formats: {both}"
            self.findings.error("E_FORMAT", item.line, message)
            raise Refused(self.findings)

    def _drafts_of_lines(self) -> Iterator[Draft]:
        lines = numbered_lines(self.file, self.findings, LONGEST_LINE)
        if self.dialect == "r2c2":
            return r2c2_drafts(lines, self.rules, self.findings)
        return question_drafts(lines, self.findings)


def read_answers(file: BinaryIO, rules: AnswerRules = AnswerRules()) -> AnswerRun:
    """Read a run of answers, which `objects.open_answers` has unpacked.

    The whole file is read; raises `Refused` with every problem: the codes are listed in
    `docs/reference/answers.md`.

    >>> from io import BytesIO
    >>> line = b'{"request_id": "t1", "run_id": "a", "sentences": []}'
    >>> run = read_answers(BytesIO(line))
    >>> run.name, run.dialect, list(run.answers)
    ('a', 'argue', ['t1'])
    """
    run = _read(file, rules)
    run.problems.raise_if_refused()
    return run


def read_answers_leniently(file: BinaryIO, rules: AnswerRules = AnswerRules()) -> AnswerRun:
    """Read what can be read: the first answer to each topic, without what is unresolved.

    Raises `Refused` only for a file without any answer.
    """
    run = _read(file, rules)
    answers = {topic: answer for topic, answer in run.answers.items() if _can_be_written(answer)}
    if not answers:
        run.problems.raise_if_refused()
    name = run.name.encode("utf-8", "replace").decode()
    return replace(run, name=name, answers=answers)


def _can_be_written(answer: Answer) -> bool:
    """Return whether no name in an answer has half of a pair of surrogates, which no file has."""
    references = [each.docno for each in answer.references or ()]
    contradicted = [each.docno for s in answer.sentences for each in s.contradicted]
    names = "".join([answer.topic, *answer.cited(), *references, *contradicted])
    return names.isascii() or not SURROGATE.search(names)


def _read(file: BinaryIO, rules: AnswerRules) -> AnswerRun:
    reader = AnswerReader(file, rules)
    answers: dict[str, Answer] = {}
    for draft in reader.drafts():
        if draft.topic and draft.topic not in answers:
            answers[draft.topic] = draft.answer()
    problems = reader.finish()
    name = reader.checks.run or rules.name
    repaired = dict(reader.repaired)
    return AnswerRun(name, reader.dialect, answers, problems, repaired, reader.because)


@dataclass(frozen=True)
class CheckedAnswers:
    """What a check says of an accepted run, whose answers were not kept."""

    name: str
    dialect: str
    num_answers: int
    problems: Problems
    repaired: Mapping[str, int]
    because: str


def check_answers(file: BinaryIO, rules: AnswerRules = AnswerRules()) -> CheckedAnswers:
    """Check a run without keeping its answers; raises `Refused` as `read_answers` does."""
    reader = AnswerReader(file, rules)
    count = sum(1 for _ in reader.drafts())
    problems = reader.finish()
    problems.raise_if_refused()
    name = reader.checks.run or rules.name
    repaired = dict(reader.repaired)
    return CheckedAnswers(name, reader.dialect, count, problems, repaired, reader.because)
