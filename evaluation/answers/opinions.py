"""Marks of ours, one a line: opinions of assessors about a pair, and which of them counts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from evaluation.answers.findings import Findings
from evaluation.answers.labels import CONTRADICTS, FITTING, UNJUDGED, plain_label
from evaluation.answers.marks import MACHINE, PEOPLE
from evaluation.answers.nugget_files import stated
from evaluation.marks import KINDS, Kind, Mark, replay
from evaluation.reading.judging.confidences import read_confidence
from evaluation.settlement import Rule, settle

Fields = Mapping[str, object]

_KEY = r"(?:[0-9a-f]{2}){1,16}"
KEY = re.compile(_KEY)
# How a prompt that went out names what it asks about; a reply may have nothing else.
PROMPT = re.compile(rf"assign (\S+) ({_KEY})|support (\S+) ({_KEY}) (\S+)")
LABELS = ("label", "assignment", "support", "judgment", "grade")
# Grades order opinions, and a contradiction is less than no support.
BELOW_NONE = -1


def report_label(findings: Findings, line: int, label: object) -> None:
    """Collect E_LABEL with the labels that fit."""
    hint = f"Labels are: {FITTING}."
    findings.error("E_LABEL", line, "this is no label", str(label), hint)


@dataclass
class Opinions:
    """The marks of one layer: of people, or of one machine.

    A mark may replace an earlier one by its key. Two assessors may differ, then the rule of
    settlement decides; one assessor may not, which is E_DUP_MARK.
    """

    findings: Findings
    table: Mapping[str, int]
    rule: Rule = "first"
    origin: str = ""
    marks: list[Mark] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    num_failed: int = 0
    # How sure the one who marked is, by topic and pair, where a line says so.
    confidences: dict[tuple[str, str], float] = field(default_factory=dict)
    num_unclear: int = 0

    def add(self, line: int, topic: str, pair: str, fields: Fields, label: object) -> None:
        """Add the mark of a line about a pair."""
        code = self.table.get(plain_label(label))
        if code is None:
            report_label(self.findings, line, label)
            return
        kind: Kind = next((each for each in KINDS if each == stated(fields, "kind")), "grade")
        grade = BELOW_NONE if code == CONTRADICTS else code
        is_judged = kind == "grade" and code != UNJUDGED
        self.num_failed += kind == "grade" and not is_judged
        # A line may mark several nuggets under one key.
        key, replaced = (
            f"{name} {pair}" if (name := stated(fields, field)) else ""
            for field in ("key", "replaces")
        )
        assessor = stated(fields, "assessor")
        self._check_origin(line, assessor)
        self._keep_confidence(topic, pair, fields)
        self.lines.append(line)
        self.marks.append(
            Mark(
                topic,
                pair,
                assessor,
                grade if is_judged else None,
                kind,
                key=key,
                replaces=replaced,
            )
        )

    def _keep_confidence(self, topic: str, pair: str, fields: Fields) -> None:
        if fields.get("confidence") is None:
            return
        sure = read_confidence(str(fields["confidence"]).encode("utf-8", "replace"))
        if sure is None:
            self.num_unclear += 1
        else:
            self.confidences[topic, pair] = sure

    def _check_origin(self, line: int, assessor: str) -> None:
        """Collect E_LAYER where a file has marks of people and of a machine, or of two."""
        origin = f"{MACHINE} {assessor}" if "/" in assessor else PEOPLE
        if self.origin and origin != self.origin:
            message = f"marks of two layers are in one file: {self.origin} and {origin}"
            self.findings.error("E_LAYER", line, message)
        self.origin = self.origin or origin

    def settled(self) -> Iterator[tuple[str, str, int]]:
        """Yield the topic, the pair and the code of what is settled; warn of what failed."""
        if self.num_failed:
            message = f"marks without a label, which stay unjudged: {self.num_failed:,}"
            self.findings.warn("W_FAILED", None, message)
        if self.num_unclear:
            message = f"confidences that are no numbers from 0 to 1, not read: {self.num_unclear:,}"
            self.findings.warn("W_CONFIDENCE", None, message)
        lines = {id(mark): line for mark, line in zip(self.marks, self.lines, strict=True)}
        valid = replay(self.marks)
        seen: set[tuple[str, str, str]] = set()
        for mark in valid:
            of_assessor = mark.topic, mark.docno, mark.assessor
            if of_assessor in seen:
                message = f"topic {mark.topic}: one assessor has marked a pair twice"
                self.findings.error("E_DUP_MARK", lines[id(mark)], message, topic=mark.topic)
            seen.add(of_assessor)
        for found in settle(valid, self.rule):
            code = UNJUDGED if found.grade is None else found.grade
            yield found.topic, found.docno, CONTRADICTS if code == BELOW_NONE else code


def named_by_prompt(fields: Fields) -> Fields:
    """Return the fields of a mark, with what the `id` of a prompt names if it has one.

    >>> named_by_prompt({"id": "support t1 9a3e d2", "label": "full"})["sentence"]
    '9a3e'
    """
    found = PROMPT.fullmatch(stated(fields, "id"))
    if found is None:
        return fields
    topic, answer, topic_of_sentence, sentence, docno = found.groups()
    if topic is None:
        named = {"topic": topic_of_sentence, "sentence": sentence, "docno": docno}
        return {**fields, "about": "support", **named}
    asked = fields.get("nuggets")
    keys = [stated(each, "key") for each in asked] if isinstance(asked, list) else []
    nugget = {"nugget": keys[0]} if len(keys) == 1 and "nugget" not in fields else {}
    rest = {name: value for name, value in fields.items() if name != "nuggets"}
    return {**rest, "about": "nugget", "topic": topic, "answer": answer, **nugget}


def label_of(fields: Fields) -> object:
    """Return the label of a line; a reply that failed or has none is unjudged."""
    if fields.get("failed") or fields.get("error"):
        return "failed"
    return next((fields[name] for name in LABELS if fields.get(name) is not None), "failed")
