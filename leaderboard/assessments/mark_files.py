"""Files of marks: the log of an assessment, and marks made elsewhere with all their problems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import BinaryIO, Literal, TypeAlias, get_args

from evaluation.marks import Mark
from evaluation.problems import Problem, Problems, Refused
from evaluation.reading.containers import unpacked
from evaluation.reading.judging.marks import MarkLog, assessor_of, write_marks, write_trec_marks
from evaluation.reading.lines import in_line_order
from leaderboard.assessments.judgments import load_marks
from leaderboard.assessments.pool_documents import topics_to_judge
from leaderboard.models import Assessment, Assessor, Guideline
from leaderboard.models import Mark as StoredMark

ExportFormat: TypeAlias = Literal["jsonl", "trec"]
# The names of the formats that are read, and what the readers call them.
IMPORT_FORMATS = {"jsonl": "marks.jsonl", "trec": "trec", "doccano": "doccano"}

LONGEST_NAME = Assessor._meta.get_field("name").max_length
LONGEST_RATIONALE = StoredMark._meta.get_field("rationale").max_length
# Opinions are counted in a small column.
MOST_TURNS = 1000


def render_marks(assessment: Assessment, format: ExportFormat) -> Iterator[bytes]:
    """Yield the marks of an assessment: the whole log, or the grades that stand as qrels."""
    write = write_marks if format == get_args(ExportFormat)[0] else write_trec_marks
    return write(load_marks(assessment))


@dataclass(frozen=True)
class MarkSource:
    """A file with marks; its name names the assessor of lines that name none."""

    name: str
    file: BinaryIO


@dataclass(frozen=True, order=True)
class WorkPlace:
    """A document in the work of an assessor; one that came back is a place of its own."""

    assessor: str
    topic: str
    docno: str
    is_repeat: bool


def place_of(mark: Mark) -> WorkPlace:
    return WorkPlace(mark.assessor, mark.topic, mark.docno, mark.is_repeat)


@dataclass(frozen=True)
class CheckedMarks:
    """The marks of some files, which can all be stored, and what is worth knowing of them."""

    marks: list[Mark]
    notes: list[Problem]


def read_mark_files(
    assessment: Assessment, sources: Sequence[MarkSource], format: str = ""
) -> CheckedMarks:
    """Read marks made elsewhere for an assessment.

    `format` is one of `IMPORT_FORMATS`, found out if it is empty.  All files are read as one log.
    Raises `Refused` with the problems of all of them: those of `evaluation.reading.judging.marks`,
    E_UNKNOWN_TOPIC, E_NOT_POOLED, E_REL (not a grade of the scale), E_ASSESSOR, E_TURN, E_REPLACES,
    E_DUP_MARK and E_FIELD.
    """
    log, rules, every = MarkLog(), Rules.of(assessment), Problems()
    for source in sources:
        start = len(log.marks)
        try:
            file = unpacked(source.file)
            own = assessor_of(source.name)
            found = log.read(file, IMPORT_FORMATS.get(format), own, source.name).problems
        except Refused as refusal:
            found = refusal.problems
        for line, mark in zip(log.lines[start:], log.marks[start:], strict=True):
            rules.check(line, mark, found)
        _add_problems(found, every, source.name if len(sources) > 1 else "")
    every.raise_if_refused()
    return CheckedMarks(log.marks, list(every))


def _add_problems(found: Problems, every: Problems, name: str) -> None:
    """Add the problems of a file to those of all files, with its name if there are several."""
    every.counts.update(found.counts)
    every.errors += found.errors
    for problem in in_line_order(found):
        message = f"{name}: {problem.message}" if name else problem.message
        every.kept.append(replace(problem, message=message))


@dataclass
class Rules:
    """What marks need to be of an assessment, and what the marks before said.

    `turns` has the turn of each assessor and topic, `last` the last mark of each place, and `keys`
    assessor, topic, docno and key of each mark.
    """

    pooled: dict[str, frozenset[str]]
    grades: list[int]
    guidelines: frozenset[int]
    known: frozenset[str]
    turns: dict[tuple[str, str], int] = field(default_factory=dict)
    last: dict[WorkPlace, Mark] = field(default_factory=dict)
    keys: set[tuple[str, str, str, str]] = field(default_factory=set)

    @classmethod
    def of(cls, assessment: Assessment) -> Rules:
        return cls(
            {
                number: frozenset(document.docno for document in documents)
                for number, documents in topics_to_judge(assessment.pool).items()
            },
            sorted(grade.grade for grade in assessment.guideline.scale),
            frozenset(assessment.guidelines.values_list("number", flat=True)),
            frozenset(assessment.assessors.values_list("name", flat=True)),
        )

    def check(self, line: int, mark: Mark, problems: Problems) -> None:
        """Report every reason why a mark cannot be stored."""
        self._check_document(line, mark, problems)
        self._check_assessor(line, mark, problems)
        self._check_fields(line, mark, problems)
        self._check_order(line, mark, problems)

    def _check_document(self, line: int, mark: Mark, problems: Problems) -> None:
        pooled = self.pooled.get(mark.topic)
        if pooled is None:
            message = "the pool has nothing to judge for this topic"
            problems.error("E_UNKNOWN_TOPIC", line, message, mark.topic)
        elif mark.docno not in pooled:
            message = f"the document is not to be judged for topic {mark.topic}"
            hint = "Only documents of the pool without a judgment are judged."
            problems.error("E_NOT_POOLED", line, message, mark.docno, hint)

    def _check_assessor(self, line: int, mark: Mark, problems: Problems) -> None:
        if len(mark.assessor) > LONGEST_NAME:
            message = f"the name of an assessor has more than {LONGEST_NAME} characters"
            problems.error("E_ASSESSOR", line, message, mark.assessor)
        elif mark.assessor in self.known:
            message = "this assessment has an assessor of this name already"
            hint = "Import all marks of an assessor at once, or use another name."
            problems.error("E_ASSESSOR", line, message, mark.assessor, hint)
        turn = self.turns.setdefault((mark.assessor, mark.topic), mark.turn)
        if turn != mark.turn or turn > MOST_TURNS:
            message = "an assessor has one turn for each topic"
            problems.error("E_TURN", line, message, str(mark.turn))

    def _check_fields(self, line: int, mark: Mark, problems: Problems) -> None:
        if mark.grade is not None and mark.grade not in self.grades:
            message = f"the grades are {', '.join(map(str, self.grades))}"
            problems.error("E_REL", line, message, str(mark.grade))
        if len(mark.rationale) > LONGEST_RATIONALE:
            message = f"the rationale has more than {LONGEST_RATIONALE:,} characters"
            problems.error("E_FIELD", line, message, mark.rationale)
        if mark.guideline is not None and mark.guideline not in self.guidelines:
            message = "the guideline with this number is not here; the newest one counts"
            problems.warn("W_GUIDELINE", line, message, str(mark.guideline))

    def _check_order(self, line: int, mark: Mark, problems: Problems) -> None:
        """The marks of a place are a chain: each names the one before it, except after an undo."""
        last = self.last.get(place_of(mark))
        self.last[place_of(mark)] = mark
        self.keys.add((mark.assessor, mark.topic, mark.docno, mark.key))
        if mark.replaces and (last is None or last.key != mark.replaces):
            # The reader has reported a key that no earlier mark of the document has.
            if (mark.assessor, mark.topic, mark.docno, mark.replaces) in self.keys:
                message = "the mark that this one replaces is not the last one of its document"
                problems.error("E_REPLACES", line, message, mark.replaces)
        elif mark.is_repeat and last is not None and not mark.replaces and last.kind != "undo":
            message = f"{mark.assessor} has marked this repeated document already"
            problems.error("E_DUP_MARK", line, message, mark.docno)


def choose_guidelines(assessment: Assessment) -> dict[int | None, Guideline]:
    """Return the guidelines by number; None has the newest, for marks that name none."""
    by_number: dict[int | None, Guideline] = {
        guideline.number: guideline for guideline in assessment.guidelines.all()
    }
    return {**by_number, None: assessment.guideline}
