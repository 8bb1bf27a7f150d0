"""Reading and writing of assignments: which nuggets are in an answer, from files of many tools."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO, TypeAlias

from evaluation.answers.findings import Findings
from evaluation.answers.labels import (
    ASSIGNMENTS,
    CONTRADICTS,
    NAMES,
    NONE,
    QUESTIONS,
    plain_label,
    read_assignment,
)
from evaluation.answers.marks import (
    MACHINE,
    PEOPLE,
    AssignmentLayer,
    AssignmentMark,
    OfAnswer,
)
from evaluation.answers.nugget_files import stated
from evaluation.answers.nuggets import NuggetBank
from evaluation.answers.objects import read_objects
from evaluation.answers.opinions import KEY, Opinions, label_of, named_by_prompt, report_label
from evaluation.reading.columns import is_identifier
from evaluation.reading.containers import MIB
from evaluation.reading.lines import data_lines, first_bytes, in_line_order, numbered_lines, text_of
from evaluation.settlement import Rule

Fields: TypeAlias = Mapping[str, object]

TOPICS = ("topic_id", "topic", "qid", "query_id", "narrative_id", "qa_id", "q")
RUNS = ("run_id", "run_tag", "run")
QUESTION_COLUMNS = {"topic_id", "run_tag", "run_question_rank", "rubric_question_rank"}
QUESTION_COLUMNS |= {"annotation"}
WHOLE = re.compile(r"[1-9][0-9]{0,5}")
CONFIDENCE = re.compile(r"[0-9]{1,9}(\.[0-9]+)?")
MATCH = re.compile(r"(\w+?_\w+?)_([^_]+_[^_]+)_(.+)\t([01])\s*")
# nuggetizer has no word for a contradiction.
TOOL_NAMES = {0: "not_support", 1: "partial_support", 2: "support", 3: "not_support", 255: "failed"}


@dataclass
class AssignmentCollector:
    """The marks read so far, by (run, topic) and nugget; those given twice become problems."""

    findings: Findings
    bank: NuggetBank | None = None
    origin: str = ""
    marks: dict[OfAnswer, dict[str, AssignmentMark]] = field(default_factory=dict)
    by_key: dict[tuple[str, bytes], dict[str, AssignmentMark]] = field(default_factory=dict)
    opinions: Opinions = field(init=False)
    evidence: dict[tuple[str, str], int] = field(default_factory=dict)
    correct: dict[OfAnswer, bool] = field(default_factory=dict)
    confidence: dict[OfAnswer, float] = field(default_factory=dict)
    of_questions: bool = False

    def __post_init__(self) -> None:
        self.opinions = Opinions(self.findings, ASSIGNMENTS)

    def add(self, line: int, run: str, topic: str, nugget: str, label: object) -> None:
        """Add a mark; E_LABEL for an unknown label, E_DUP_MARK for a second one."""
        code = read_assignment(label)
        if code is None:
            report_label(self.findings, line, label)
        if code is None or not self.has_names(line, run, topic):
            return
        name = self._key(topic, nugget)
        of_answer = self.marks.setdefault((run, topic), {})
        if name in of_answer:
            message = f"nugget {nugget} of topic {topic} is marked twice for {run}"
            self.findings.error("E_DUP_MARK", line, message, topic=topic)
            return
        of_answer[name] = AssignmentMark(code)

    def add_opinion(
        self, line: int, run: str, topic: str, nugget: str, fields: Fields, label: object
    ) -> None:
        """Add a mark of ours, which may be one of several, about an answer of a run or a key."""
        if not self.has_names(line, run, topic):
            return
        key = stated(fields, "answer")
        is_key = bool(KEY.fullmatch(key)) and not stated(fields, *RUNS)
        pair = f"{f'key {key}' if is_key else run}\n{self._key(topic, nugget)}"
        self.opinions.add(line, topic, pair, fields, label)
        sentence = stated(fields, "sentence")
        if WHOLE.fullmatch(sentence):
            self.evidence[topic, pair] = int(sentence)

    def add_settled(self) -> None:
        """Add what counts of the opinions."""
        for topic, pair, code in self.opinions.settled():
            run, _, name = pair.partition("\n")
            mark = AssignmentMark(code, self.evidence.get((topic, pair), 0))
            _, is_key, key = run.partition("key ")
            if is_key:
                self.by_key.setdefault((topic, bytes.fromhex(key)), {})[name] = mark
            else:
                self.marks.setdefault((run, topic), {})[name] = mark
        self.origin = self.origin or self.opinions.origin

    def has_names(self, line: int, run: str, topic: str) -> bool:
        """Return whether run and topic can be written in columns; else collect E_CHAR."""
        names = [name.encode("utf-8", "surrogatepass") for name in (run or topic, topic)]
        if all(map(is_identifier, names)):
            return True
        message = "the name of the run or of the topic has a blank or cannot be printed"
        self.findings.error("E_CHAR", line, message, f"{run} {topic}")
        return False

    def _key(self, topic: str, nugget: str) -> str:
        """Return the key of a nugget that is named by its position."""
        place = self.bank.place_of(topic, nugget) if self.bank else None
        return nugget if self.bank is None or place is None else self.bank.topics[topic][place].key


def read_assignments(
    file: BinaryIO,
    bank: NuggetBank | None = None,
    *,
    run: str = "",
    compound: BinaryIO | None = None,
    rule: Rule = "first",
) -> AssignmentLayer:
    """Read the assignments of one layer: JSON lines, CSV of DRAGUN, columns, matches of CONE-RAG.

    `run` is the run where the file names none, `compound` the file of compound questions of
    DRAGUN. A mark without a run may name its answer by the key of the text, as prompts do. With a
    bank, nuggets may be named by their position from 1. Where assessors differ, the rule of
    settlement decides. Raises `Refused` with every problem: E_LABEL, E_DUP_MARK, E_LAYER, E_FIELD,
    E_COLUMNS and those of any file.

    >>> layer = read_assignments(io.BytesIO(b"oak t1 n1 support\\noak t1 n2 partial_support\\n"))
    >>> {name: mark.code for name, mark in layer.marks["oak", "t1"].items()}
    {'n1': 2, 'n2': 1}
    """
    collected = AssignmentCollector(Findings(), bank)
    collected.opinions.rule = rule
    head = first_bytes(file)
    if head.startswith((b"{", b"[")):
        for item in read_objects(file, collected.findings):
            _read_object(item.line, item.value, collected, run)
    elif head.startswith(b"topic_id,"):
        _read_csv(file, collected, compound)
    else:
        _read_columns(file, collected)
    collected.add_settled()
    findings = collected.findings
    if not (collected.marks or collected.by_key or collected.correct or findings.errors):
        findings.error("E_EMPTY", None, "the file has no marks")
    findings.fold()
    in_line_order(findings).raise_if_refused()
    return AssignmentLayer(
        collected.origin or PEOPLE,
        collected.marks,
        findings,
        collected.correct,
        collected.confidence,
        collected.of_questions,
        collected.by_key,
        collected.opinions.marks,
        collected.opinions.confidences,
    )


def _read_object(line: int, fields: Fields, collected: AssignmentCollector, run: str) -> None:
    """Read the marks of one object: of an answer, or a mark alone."""
    fields = named_by_prompt(fields)
    topic, name = stated(fields, *TOPICS), stated(fields, *RUNS) or run
    if not topic:
        collected.findings.error("E_FIELD", line, "the topic is missing")
        return
    correct = fields.get("correct", fields.get("ok"))
    if correct is not None:
        if (name, topic) in collected.correct:
            message = f"the answer to topic {topic} is marked twice for {name}"
            collected.findings.error("E_DUP_MARK", line, message, topic=topic)
        collected.correct[name, topic] = str(correct).lower() in ("1", "true", "yes")
        sure = str(fields.get("confidence", fields.get("c")))
        if CONFIDENCE.fullmatch(sure):
            collected.confidence[name, topic] = float(sure)
        return
    listed = fields.get("nuggets", fields.get("rubrics"))
    if isinstance(listed, list):
        collected.marks.setdefault((name, topic), {})
        for number, part in enumerate(listed, 1):
            label = part.get("assignment", part.get("grade")) if isinstance(part, dict) else None
            key = stated(part, "id", "nugget_id") or f"{topic}-{number}"
            if label is not None:
                collected.add(line, name, topic, key, label)
    elif stated(fields, "about") in ("", "nugget"):
        _read_opinions(line, name, topic, fields, collected)


def _read_opinions(
    line: int, run: str, topic: str, fields: Fields, collected: AssignmentCollector
) -> None:
    """Read a mark of ours: of one nugget, or of several by their keys."""
    nugget, labels = stated(fields, "nugget", "answer_id"), fields.get("labels")
    if isinstance(labels, dict):
        for key, label in labels.items():
            collected.add_opinion(line, run, topic, key, fields, label)
    elif nugget:
        collected.add_opinion(line, run, topic, nugget, fields, label_of(fields))
    else:
        collected.findings.error("E_FIELD", line, "the object has no marks")


def _read_csv(
    file: BinaryIO, collected: AssignmentCollector, compound: BinaryIO | None = None
) -> None:
    """Read the marks of DRAGUN: of accepted answers, or of questions."""
    findings = collected.findings
    rows = list(csv_rows(file, findings))
    names = rows[0][1].keys() if rows else set()
    label = next((name for name in ("annotation", "auto_assessment") if name in names), "")
    if rows and names >= QUESTION_COLUMNS:
        _read_questions(rows, collected, compound)
    elif rows and label and {"topic_id", "run_tag", "answer_id"} <= names:
        collected.origin = PEOPLE if label == "annotation" else MACHINE
        for line, row in rows:
            collected.add(line, row["run_tag"], row["topic_id"], row["answer_id"], row[label])
    elif rows:
        message = "columns are topic_id, run_tag, answer_id and annotation or auto_assessment"
        findings.error("E_COLUMNS", 1, message)


def csv_rows(file: BinaryIO, findings: Findings) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the line and the cells of every row by the names of the first line."""
    rows = csv.DictReader(io.TextIOWrapper(file, "utf-8-sig", newline=""))
    try:
        for row in rows:
            if None in row or None in row.values():
                message = "the row has not as many cells as the first line"
                findings.error("E_COLUMNS", rows.line_num, message)
            else:
                yield rows.line_num, row
    except UnicodeDecodeError as error:
        message = f"byte 0x{error.object[error.start]:02X} is not UTF-8"
        findings.error("E_ENCODING", None, message, hint="Save the file as UTF-8.")
    except csv.Error as error:
        findings.error("E_CSV", None, f"the file is not CSV: {error}")


def _read_questions(
    rows: Iterable[tuple[int, dict[str, str]]],
    collected: AssignmentCollector,
    compound: BinaryIO | None,
) -> None:
    """Keep for each question of a rubric the best of the run's; compound questions are none."""
    collected.of_questions = True
    excluded = _compound_questions(compound, collected.findings)
    best: dict[tuple[OfAnswer, str], int] = {}
    for line, row in rows:
        code = QUESTIONS.get(plain_label(row["annotation"]))
        if code is None:
            report_label(collected.findings, line, row["annotation"])
            continue
        of_answer = row["run_tag"], row["topic_id"]
        asked = (*of_answer, row["run_question_rank"])
        key = of_answer, row["rubric_question_rank"]
        best[key] = max(best.get(key, NONE), NONE if asked in excluded else code)
    for (of_answer, question), code in best.items():
        collected.marks.setdefault(of_answer, {})[question] = AssignmentMark(code)


def _compound_questions(file: BinaryIO | None, findings: Findings) -> set[tuple[str, str, str]]:
    rows = [] if file is None else [row for _, row in csv_rows(file, findings)]
    label = next((name for name in (rows[0] if rows else ()) if "compound" in name), "")
    if rows and not (label and {"run_tag", "topic_id", "run_question_rank"} <= rows[0].keys()):
        message = "columns are topic_id, run_tag, run_question_rank and one about compound"
        findings.error("E_COLUMNS", 1, message)
        return set()
    return {
        (row["run_tag"], row["topic_id"], row["run_question_rank"])
        for row in rows
        if plain_label(row[label]) == "compound"
    }


def _read_columns(file: BinaryIO, collected: AssignmentCollector) -> None:
    """Read `run topic nugget label`, or the matches of CONE-RAG, whose keys stay opaque."""
    for number, text in columns_of_marks(file, collected.findings):
        match = MATCH.fullmatch(text)
        columns = text.split()
        if match:
            topic, nugget, run, label = match.groups()
            collected.add(number, run, topic, nugget, label)
        elif len(columns) == 4:
            run, topic, nugget, label = columns
            collected.add(number, run, topic, nugget, label)
        else:
            message = "a mark has four columns: run topic nugget label"
            collected.findings.error("E_COLUMNS", number, message, text)


def columns_of_marks(file: BinaryIO, findings: Findings) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file of columns, without blank ones and comments."""
    for number, line in data_lines(numbered_lines(file, findings, MIB), findings):
        text = text_of(number, line, findings)
        if text is not None:
            yield number, text


def mark_lines(layer: AssignmentLayer, lost: Counter[str] | None = None) -> Iterator[bytes]:
    """Yield the marks as `run topic nugget label`; `lost` counts keys that no column can hold.

    >>> print(*mark_lines(read_assignments(io.BytesIO(b"oak t1 1 support\\n"))))
    b'oak t1 1 support\\n'
    """
    for (run, topic), marks in layer.marks.items():
        for nugget, mark in marks.items():
            name = nugget.encode("utf-8", "replace")
            if is_identifier(name):
                label = NAMES[mark.code]
                yield b"%b %b %b %b\n" % (run.encode(), topic.encode(), name, label.encode())
            elif lost is not None:
                lost["marks of nuggets with a blank in their key"] += 1
    if lost is not None and layer.by_key:
        lost["marks of answers that only their key names"] += sum(map(len, layer.by_key.values()))


def assigned_lines(layer: AssignmentLayer, bank: NuggetBank, lost: Counter[str]) -> Iterator[bytes]:
    """Yield the nuggets of every answer with their assignments, as nuggetizer writes them."""
    for run, topic in layer.marks:
        codes = layer.codes(run, topic, bank)
        if contradicted := int((codes == CONTRADICTS).sum()):
            lost["contradictions, written as not_support"] += contradicted
        nuggets = [
            {"text": n.text, "importance": n.importance or "okay", "assignment": TOOL_NAMES[code]}
            for n, code in zip(bank.topics.get(topic, ()), codes.tolist(), strict=True)
        ]
        yield json.dumps({"qid": topic, "run_id": run, "nuggets": nuggets}).encode() + b"\n"
