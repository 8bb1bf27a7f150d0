"""Reading of nuggets: whole, nuggetizer, NuggetBank, ARGUE, annotation, DRAGUN, CONE, rubrics."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import md5
from pathlib import PurePath
from typing import BinaryIO, TypeAlias

from evaluation.answers.findings import Findings
from evaluation.answers.marks import PEOPLE
from evaluation.answers.nugget_steps import EDITED
from evaluation.answers.nuggets import AcceptedAnswer, Kind, Nugget, NuggetBank, Span
from evaluation.answers.objects import Item, read_objects
from evaluation.phrases import counted
from evaluation.problems import Refused
from evaluation.reading.lines import in_line_order

Fields: TypeAlias = Mapping[str, object]
Read: TypeAlias = Iterator[Nugget]

# The nuggets of a topic with all that they have, as this program writes them.
WHOLE = "whole_nuggets"
KINDS_OF_NUGGETS: Mapping[str, Kind] = {
    "claim": "claim",
    "question": "question",
    "criterion": "criterion",
}
TOPICS = ("qid", "query_id", "topic_id")
COUNTED_OPERATORS = {"AND", "OR"}
WEIGHTS = {"A": 4.0, "B": 2.0, "C": 1.0}
OFFSET = re.compile(r"[0-9]{1,9}")
FILE_OF_TOPIC = re.compile(r"nuggets_(.+?)(?:\.(?:preload|revised))?\.json")


@dataclass(frozen=True)
class NuggetReader:
    """What reads the nuggets of one object; faulty parts become problems."""

    item: Item
    topic: str
    findings: Findings

    def error(self, code: str, message: str) -> None:
        self.findings.error(code, self.item.line, message, topic=self.topic)

    def objects(self, value: object, name: str) -> Iterator[tuple[int, Fields]]:
        """Yield the objects of a list with their numbers from 1."""
        if not isinstance(value, list):
            self.error("E_TYPE", f"{name} is not a list")
            return
        for number, part in enumerate(value, 1):
            if isinstance(part, dict):
                yield number, part
            else:
                self.error("E_TYPE", f"{name} {number} is not an object")

    def text(self, fields: Fields, name: str) -> str:
        value = fields.get(name)
        if isinstance(value, str):
            return value
        self.error("E_FIELD", f"{name} is missing or not a text")
        return ""

    def nuggetizer(self) -> Read:
        for number, part in self.objects(self.item.value["nuggets"], "nuggets"):
            yield Nugget(
                self.topic,
                stated(part, "id", "nugget_id") or f"{self.topic}-{number}",
                self.text(part, "text"),
                importance=stated(part, "importance") or "vital",
                group=stated(part, "mapped_sub_narrative") or None,
                origin=stated(part, "source"),
            )

    def rubric(self) -> Read:
        for number, part in self.objects(self.item.value["rubrics"], "rubrics"):
            weight = _weight(part.get("weight"))
            if weight is None:
                self.error("E_WEIGHT", f"the weight of criterion {number} is not a number")
                continue
            key, group = f"{self.topic}-{number}", stated(part, "axis") or None
            text = self.text(part, "criterion")
            yield Nugget(self.topic, key, text, "criterion", weight=weight, group=group)

    def dragun(self) -> Read:
        """Yield each accepted answer as a nugget of its question."""
        for number, part in self.objects(self.item.value["rubrics"], "rubrics"):
            importance = stated(part, "importance")
            parent = stated(part, "question_id") or f"{self.topic}-{number}"
            if importance[:1] not in WEIGHTS:
                self.error("E_WEIGHT", f"question {parent} has no importance A, B or C")
                continue
            for place, answer in self.objects(part.get("short_answers", []), "short_answers"):
                yield Nugget(
                    self.topic,
                    stated(answer, "answer_id") or f"{parent}-{place}",
                    self.text(answer, "answer"),
                    importance=importance,
                    weight=WEIGHTS[importance[:1]],
                    parent=parent,
                    question=stated(part, "question"),
                )

    def argue(self) -> Read:
        for number, part in self.objects(self.item.value["items"], "items"):
            info = part.get("info")
            importance = stated(info, "importance") if isinstance(info, dict) else ""
            gold = part.get("gold_answers", [])
            yield Nugget(
                self.topic,
                stated(part, "question_id") or f"{self.topic}_{number}",
                self.text(part, "question_text"),
                "question",
                importance="" if importance == "NA" else importance,
                answers=tuple(map(_gold, gold if isinstance(gold, list) else [])),
            )

    def annotation(self) -> Read:
        fields = self.item.value
        listed = fields.get("nugget_list", fields.get("nugget_dict"))
        pairs = [*listed.items()] if isinstance(listed, dict) else listed
        groups = fields.get("group_assignment")
        group_of = groups if isinstance(groups, dict) else {}
        for number, pair in enumerate(pairs if isinstance(pairs, list) else [], 1):
            if not _is_pair(pair):
                self.error("E_TYPE", f"nugget {number} is not a question with its answers")
                continue
            question, answers = pair
            accepted = answers.items() if isinstance(answers, dict) else ()
            yield Nugget(
                self.topic,
                f"{self.topic}-{number}",
                question,
                "question",
                group=stated(group_of, question) or None,
                answers=tuple(AcceptedAnswer(text, _docnos(docs)) for text, docs in accepted),
            )

    def cone(self) -> Read:
        for key, part in self.item.value.items():
            relevance = stated(part, "relevance") if isinstance(part, dict) else ""
            if not isinstance(part, dict):
                self.error("E_TYPE", f"nugget {key} is not an object")
                continue
            grade = int(relevance) if re.fullmatch(r"\d{1,3}", relevance) else None
            yield Nugget(self.topic, key, self.text(part, "text"), grade=grade)

    def whole(self) -> Read:
        """Yield nuggets with all that they have, as this program writes them."""
        for number, part in self.objects(self.item.value[WHOLE], WHOLE):
            kind, grade = stated(part, "kind"), stated(part, "grade")
            yield Nugget(
                self.topic,
                stated(part, "key") or f"{self.topic}-{number}",
                self.text(part, "text"),
                KINDS_OF_NUGGETS.get(kind, "claim"),
                importance=stated(part, "importance"),
                weight=_weight(part.get("weight")),
                group=stated(part, "group") or None,
                parent=stated(part, "parent"),
                question=stated(part, "question"),
                answers=tuple(_accepted(each) for _, each in self._answers(part)),
                operator=stated(part, "operator") or "OR",
                documents=_docnos(part.get("documents")),
                origin=stated(part, "origin"),
                grade=int(grade) if re.fullmatch(r"\d{1,3}", grade) else None,
                originals=_docnos(part.get("originals")),
            )

    def _answers(self, part: Fields) -> Iterator[tuple[int, Fields]]:
        return self.objects(part.get("answers", []), "answers")

    def nuggetbank(self) -> Read:
        fields = self.item.value
        questions, claims = fields.get("nugget_bank") or {}, fields.get("claim_bank") or {}
        for text, part in _members(questions):
            yield self._question(text, part)
        for text, part in _members(claims):
            references = part.get("references")
            yield Nugget(
                self.topic,
                stated(part, "claim_id") or _key_of(text),
                text,
                importance=stated(part, "importance"),
                documents=_docnos(references),
                origin=self._origin(part),
            )

    def _question(self, text: str, part: Fields) -> Nugget:
        operator = stated(part, "aggregator_type") or "OR"
        if operator.upper() not in COUNTED_OPERATORS:
            message = f"the operator {operator} is kept, and counted as OR"
            self.findings.warn("W_OPERATOR", self.item.line, message, topic=self.topic)
        accepted = [
            AcceptedAnswer(words, _docnos(answer.get("references")), _spans(answer))
            for words, answer in _members(part.get("answers") or {})
        ]
        return Nugget(
            self.topic,
            stated(part, "question_id") or _key_of(text),
            text,
            "question",
            importance=stated(part, "importance"),
            answers=tuple(accepted),
            operator=operator,
            origin=self._origin(part),
        )

    def _origin(self, part: Fields) -> str:
        """Return who made a nugget, or the bank that it is in."""
        creators = part.get("creator") or self.item.value.get("creator")
        first, *later = creators if isinstance(creators, list) and creators else [creators]
        if not isinstance(first, dict):
            return ""
        if first.get("is_human"):
            return PEOPLE
        machine = f"machine {stated(first, 'llm_model')}".strip()
        is_edited = any(isinstance(each, dict) and each.get("is_human") for each in later)
        return f"{machine}, {EDITED}" if is_edited else machine


def _is_pair(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and isinstance(value[0], str)


def _weight(value: object) -> float | None:
    """Return a weight, which may be negative; None where it is not a finite number."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    text = str(value) if is_number else ""
    return float(text) if text and math.isfinite(float(text)) else None


def stated(fields: object, *names: str) -> str:
    """Return the first of these fields that has a text or a number, as a text."""
    found = (fields.get(name) for name in names) if isinstance(fields, dict) else ()
    return next((str(v) for v in found if isinstance(v, str | int) and v != ""), "")


def _members(value: object) -> Iterator[tuple[str, Fields]]:
    for name, part in value.items() if isinstance(value, dict) else ():
        yield name, part if isinstance(part, dict) else {}


def _gold(answer: object) -> AcceptedAnswer:
    if isinstance(answer, dict):
        return AcceptedAnswer(stated(answer, "answer"), _docnos(answer.get("citations")))
    return AcceptedAnswer(str(answer))


def _accepted(answer: Fields) -> AcceptedAnswer:
    """Return an accepted answer as this program writes it."""
    listed = answer.get("spans")
    spans = [
        Span(str(each[0]), int(each[1]), int(each[2]))
        for each in (listed if isinstance(listed, list) else [])
        if isinstance(each, list) and len(each) == 3
        if all(OFFSET.fullmatch(str(number)) for number in each[1:])
    ]
    return AcceptedAnswer(stated(answer, "text"), _docnos(answer.get("documents")), tuple(spans))


def _docnos(references: object) -> tuple[str, ...]:
    """Return docnos, which may be texts or objects with a doc_id."""
    listed = references if isinstance(references, list) else []
    found = (stated(each, "doc_id") if isinstance(each, dict) else str(each) for each in listed)
    return tuple(docno for docno in found if docno)


def _spans(answer: Fields) -> tuple[Span, ...]:
    spans = []
    references = answer.get("references")
    for each in references if isinstance(references, list) else []:
        offsets = each.get("offsets") if isinstance(each, dict) else None
        start, end = stated(offsets, "start_offset"), stated(offsets, "end_offset")
        if OFFSET.fullmatch(start) and OFFSET.fullmatch(end):
            spans.append(Span(stated(each, "doc_id"), int(start), int(end)))
    return tuple(spans)


def _key_of(text: str) -> str:
    """Return the key that the library of nugget banks gives where there is none."""
    return md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


FORMATS: dict[str, Callable[[NuggetReader], Read]] = {
    "whole": NuggetReader.whole,
    "nuggetizer": NuggetReader.nuggetizer,
    "nuggetbank": NuggetReader.nuggetbank,
    "argue": NuggetReader.argue,
    "annotation": NuggetReader.annotation,
    "dragun": NuggetReader.dragun,
    "cone": NuggetReader.cone,
    "rubric": NuggetReader.rubric,
}


def recognise_nuggets(fields: Fields) -> str:
    """Return the format of an object of nuggets; empty where it is none.

    >>> recognise_nuggets({"qid": "t1", "nuggets": []})
    'nuggetizer'
    """
    if {"nugget_bank", "claim_bank"} & fields.keys():
        return "nuggetbank"
    if {"nugget_list", "nugget_dict"} & fields.keys():
        return "annotation"
    for name, holder in {"whole": WHOLE, "nuggetizer": "nuggets", "argue": "items"}.items():
        if isinstance(fields.get(holder), list):
            return name
    rubrics = fields.get("rubrics")
    if isinstance(rubrics, list):
        weighted = any(isinstance(part, dict) and "criterion" in part for part in rubrics)
        return "rubric" if weighted or "qid" in fields else "dragun"
    parts = [
        part for inner in fields.values() if isinstance(inner, dict) for part in inner.values()
    ]
    return "cone" if parts and all(isinstance(p, dict) and "text" in p for p in parts) else ""


def read_nuggets(
    file: BinaryIO, topics: Collection[str] | None = None, name: str = ""
) -> NuggetBank:
    """Read nuggets in any of the formats of `FORMATS`; topics that are not known are ignored.

    `name` is that of the file, which has the topic in the format of annotations. Raises `Refused`
    with every problem.

    >>> from io import BytesIO
    >>> line = b'{"qid": "t1", "nuggets": [{"text": "Cedar smells.", "importance": "okay"}]}'
    >>> bank = read_nuggets(BytesIO(line))
    >>> bank.format, bank.topics["t1"][0].key
    ('nuggetizer', 't1-1')
    """
    findings = Findings()
    found: dict[str, tuple[Nugget, ...]] = {}
    titles: dict[str, str] = {}
    formats: dict[str, int] = {}
    for item in read_objects(file, findings):
        format = recognise_nuggets(item.value)
        if not format:
            keys = ", ".join(list(item.value)[:12])
            message = f"no known format of nuggets: an object has the keys {keys}"
            findings.error("E_FORMAT", item.line, message)
            raise Refused(findings)
        formats.setdefault(format, item.line)
        for reader in _readers(item, format, name, findings):
            if reader.topic in found:
                message = f"topic {reader.topic} has nuggets twice"
                findings.error("E_DUP_TOPIC", item.line, message)
            found[reader.topic] = tuple(_with_own_keys(reader, FORMATS[format](reader)))
            titles[reader.topic] = stated(item.value, "query", "query_text", "title_query")
    if len(formats) > 1:
        first, second = list(formats)[:2]
        message = f"the file has nuggets in two formats: {first} and {second}"
        findings.error("E_FORMAT", formats[second], message)
    if not found and not findings.errors:
        findings.error("E_EMPTY", None, "the file has no nuggets")
    unknown = [topic for topic in found if topics is not None and topic not in topics]
    if unknown:
        message = f"nuggets of {counted(len(unknown), 'unknown topic')} are ignored"
        findings.warn("W_UNKNOWN_TOPIC", None, message, unknown[0], count=len(unknown))
    findings.fold()
    in_line_order(findings).raise_if_refused()
    kept = {topic: nuggets for topic, nuggets in found.items() if topic not in {*unknown}}
    return NuggetBank(kept, next(iter(formats)), findings, titles)


def _readers(item: Item, format: str, name: str, findings: Findings) -> Iterator[NuggetReader]:
    """Yield the reader of each topic of an object."""
    if format == "cone":
        for topic, inner in _members(item.value):
            yield NuggetReader(Item(item.line, {**inner}), topic, findings)
        return
    topic = stated(item.value, *TOPICS)
    if format == "annotation" and not topic:
        named = FILE_OF_TOPIC.fullmatch(PurePath(item.name or name).name)
        topic = named[1] if named else ""
    if topic:
        yield NuggetReader(item, topic, findings)
    else:
        findings.error("E_FIELD", item.line, "the nuggets have no topic")


def _with_own_keys(reader: NuggetReader, nuggets: Read) -> Read:
    """Yield the nuggets; a key that is repeated, as in some public files, gets a number."""
    times: Counter[str] = Counter()
    for nugget in nuggets:
        times[nugget.key] += 1
        if (again := times[nugget.key]) > 1:
            message = f"the key {nugget.key} is repeated; it is read as {nugget.key}#{again}"
            line, topic = reader.item.line, reader.topic
            reader.findings.warn("W_DUP_NUGGET", line, message, topic=topic)
            nugget = replace(nugget, key=f"{nugget.key}#{again}")
        yield nugget
