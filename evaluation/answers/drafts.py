"""Drafts: answers as a file has them, before positions become docnos.

A reader of objects collects what is missing or of another type, and reads on. What stays is a
draft, which repairs change and checks examine, and from which an answer is made.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from evaluation.answers.findings import Findings
from evaluation.answers.objects import Item
from evaluation.answers.rules import AnswerRules
from evaluation.answers.runs import Answer, Cited, QuotedNugget, Reference, Sentence
from evaluation.answers.topics import NUMBERS

Fields: TypeAlias = Mapping[str, object]

RUN_NAMES = ("run_id", "run_name")
TOPIC_TEXTS = ("topic", "narrative", "question", "title")
RUN_TYPES = ("type", "run_type")
# Fields of an object that a draft has elsewhere; everything else is kept beside the answer.
KNOWN = {"metadata", "documents", "references", "response_length", *NUMBERS, *RUN_NAMES}
KNOWN |= {"answer", "responses", "sentences", "result", "status", "retrieved_docids", "confidence"}
MOST_EXTRA = 4096
POSITIONS, DOCNOS, WEIGHTS = "positions", "docnos", "weights"
ALLOWED = {
    "rag24": {POSITIONS},
    "rag": {POSITIONS, DOCNOS},
    "common": {POSITIONS, DOCNOS, WEIGHTS},
    "argue": {DOCNOS},
    "ikat25": {WEIGHTS},
}
# The fields that have the sentences, where it is not `answer`.
HOLDERS = {"argue": "sentences", "ikat25": "responses"}
# What a repair would do, as a question.
HINTS = {"docnos": "Is it a position?", "empty": "Add an empty list?"}
DIGITS = re.compile(r"[0-9]{1,9}")
BRACKETS = re.compile(r"[\[【]([^\[\]【】]*)[\]】]")
CONFIDENCE = re.compile(r"confidence\s*:\s*\**\s*(\d+(?:\.\d+)?)\s*%", re.I)


class Pointer(NamedTuple):
    """A citation as written: a position from 0 (a number) or a docno (a text)."""

    target: int | str
    weight: float | None = None


@dataclass(slots=True)
class DraftSentence:
    """A sentence whose citations are still as written."""

    text: str
    citations: list[Pointer] = field(default_factory=list)
    contradicted: list[Pointer] = field(default_factory=list)
    existing: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Draft:
    """An answer as a file has it; `has_texts` where the file has texts of documents beside it.

    `lacks_references` is true where they are missing or of another type, which is a problem of
    its own: then no position is checked.
    """

    line: int
    topic: str
    run: str = ""
    dialect: str = ""
    sentences: list[DraftSentence] = field(default_factory=list)
    references: list[Reference] | None = None
    topic_text: str | None = None
    run_type: str | None = None
    length: int | None = None
    confidence: float | None = None
    status: str = ""
    quoted: list[QuotedNugget] = field(default_factory=list)
    has_texts: bool = False
    lacks_references: bool = False
    extra: dict[str, object] = field(default_factory=dict)

    @property
    def texts(self) -> list[str]:
        return [sentence.text for sentence in self.sentences]

    def docno_of(self, target: int | str) -> str | None:
        """Return the docno of a citation; None for a position without a reference."""
        if isinstance(target, str):
            return target
        references = self.references or []
        return references[target].docno if 0 <= target < len(references) else None

    def cited(self, sentence: DraftSentence) -> Iterator[str]:
        """Yield the docnos that a sentence cites, as far as there are any."""
        for pointer in sentence.citations:
            docno = self.docno_of(pointer.target)
            if docno is not None:
                yield docno

    def answer(self) -> Answer:
        """Return the answer, without what cannot be resolved."""
        references = self.references
        sentences = [
            Sentence(
                sentence.text,
                self._resolved(sentence.citations),
                self._resolved(sentence.contradicted),
                tuple(sentence.existing),
            )
            for sentence in self.sentences
        ]
        return Answer(
            self.topic,
            tuple(sentences),
            None if references is None else tuple(references),
            self.confidence,
            self.status,
            tuple(self.quoted),
            self.extra,
            self.line,
        )

    def _resolved(self, pointers: Iterable[Pointer]) -> tuple[Cited, ...]:
        found = ((self.docno_of(pointer.target), pointer.weight) for pointer in pointers)
        return tuple(Cited(docno, weight) for docno, weight in found if docno is not None)


@dataclass
class ObjectReader:
    """What reads the drafts of objects in one dialect."""

    dialect: str
    rules: AnswerRules
    findings: Findings
    topic: str = ""
    line: int = 0

    def drafts(self, item: Item) -> Iterator[Draft]:
        """Yield the drafts of an object: one, or the turns of a whole run."""
        self.line, self.topic = item.line, ""
        fields = item.value
        if self.dialect == "ikat24":
            yield from self._turns(fields)
            return
        self.topic = self._topic(fields)
        draft = self._begin(fields)
        reading = {
            "browsecomp": self._browsecomp,
            "biogen-a": self._biogen,
            "ikat25": self._ikat25,
        }
        reading.get(self.dialect, self._plain)(draft, fields)
        yield draft

    # Parts that all dialects share.

    def _error(
        self,
        code: str,
        message: str,
        found: object = "",
        sentence: int | None = None,
        fix: str = "",
    ) -> None:
        # A list or an object may be as long as its line, and as deep.
        text = "" if isinstance(found, list | dict) else str(found)
        hint = HINTS.get(fix, "")
        self.findings.error(
            code, self.line, message, text, hint, fix=fix, topic=self.topic, sentence=sentence
        )

    def _begin(self, fields: Fields) -> Draft:
        """Return a draft with what stands beside the sentences."""
        metadata = self._metadata(fields)
        self._require(fields, metadata)
        draft = Draft(self.line, self.topic, self._run_name(fields, metadata), self.dialect)
        draft.topic_text = self._stated(fields, metadata, TOPIC_TEXTS, self.rules.echo != "ignore")
        draft.run_type = self._stated(fields, metadata, RUN_TYPES, bool(self.rules.run_types))
        draft.length = self._length(fields)
        draft.has_texts = "documents" in fields
        draft.lacks_references = not isinstance(fields.get("references"), list | dict) and (
            "references" in fields or self.rules.references != "optional"
        )
        draft.extra = self._extra(metadata, fields)
        confidence = fields.get("confidence")
        if confidence is not None and self.rules.confidence != "none":
            draft.confidence = self._number(confidence, "E_CONFIDENCE", "the confidence")
        return draft

    def _extra(self, *parts: Fields) -> dict[str, object]:
        """Return the fields that no rule knows, up to 4 KiB."""
        kept: dict[str, object] = {}
        size = 0
        for name, value in (pair for part in parts for pair in part.items()):
            if name not in KNOWN:
                size += len(name) + _size(value)
                if size > MOST_EXTRA:
                    message = f"other fields have more than 4 KiB, so {name} is ignored"
                    self.findings.warn("W_EXTRA", self.line, message, topic=self.topic)
                    break
                kept[name] = value
        return kept

    def _metadata(self, fields: Fields) -> Fields:
        metadata = fields.get("metadata", {})
        if isinstance(metadata, dict):
            return metadata
        self._error("E_TYPE", f"metadata is {kind(metadata)}, not an object", metadata)
        return {}

    def _require(self, fields: Fields, metadata: Fields) -> None:
        """Collect the fields of the track that are missing, as one problem."""
        named = {*metadata, *fields}
        asked = [*self.rules.metadata]
        if self.rules.references != "optional" and self.dialect in ALLOWED:
            asked.append("references")
        if missing := [name for name in asked if name not in named and name not in RUN_NAMES]:
            self._missing(missing)
        if "run_id" in asked and not named.intersection(RUN_NAMES):
            self._missing(["run_id"])

    def _missing(self, names: Sequence[str], sentence: int | None = None, fix: str = "") -> None:
        what = f"field {names[0]} is" if len(names) == 1 else f"fields {', '.join(names)} are"
        self._error("E_FIELD", f"the {what} missing", "", sentence, fix)

    def _topic(self, fields: Fields) -> str:
        """Return the topic number; the first of its names counts, and others must be equal."""
        metadata = fields.get("metadata")
        parts = [metadata if isinstance(metadata, dict) else {}, fields]
        found = [
            (name, self._name(part[name], name))
            for part in parts
            for name in NUMBERS
            if part.get(name) is not None
        ]
        if not found:
            self._missing(["topic_id"])
            return ""
        (first, number), *others = found
        for name, other in others:
            if other != number:
                self._error("E_FIELD", f"{first} {number} and {name} {other} differ")
        return number

    def _name(self, value: object, name: str) -> str:
        """Return a name as a text; whole numbers become texts."""
        if isinstance(value, str):
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        self._error("E_TYPE", f"{name} is {kind(value)}, not a text", value)
        return ""

    def _run_name(self, fields: Fields, metadata: Fields) -> str:
        for part in (metadata, fields):
            for name in RUN_NAMES:
                if name in part:
                    return self._name(part[name], name)
        return ""

    def _stated(
        self, fields: Fields, metadata: Fields, names: Iterable[str], is_checked: bool
    ) -> str | None:
        """Return the first text under these names; another type is a problem where it matters."""
        for name in names:
            for part in (metadata, fields):
                value = part.get(name)
                if isinstance(value, str):
                    return value
                if value is not None and is_checked:
                    self._error("E_TYPE", f"{name} is {kind(value)}, not a text", value)
        return None

    def _length(self, fields: Fields) -> int | None:
        length = fields.get("response_length")
        if isinstance(length, int) and not isinstance(length, bool):
            return length
        if "response_length" in fields:
            message = f"response_length is {kind(length)}, not a whole number"
            self._error("E_TYPE", message, length)
        return None

    def _number(
        self, value: object, code: str, what: str, sentence: int | None = None
    ) -> float | None:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        try:
            number = float(value) if is_number else math.nan  # type: ignore[arg-type]
        except OverflowError:
            number = math.nan
        if math.isfinite(number):
            return number
        self._error(code, f"{what} is not a number", value, sentence)
        return None

    def _list(self, value: object, name: str, sentence: int | None = None) -> list[object]:
        if isinstance(value, list):
            return value
        self._error("E_TYPE", f"{name} is {kind(value)}, not a list", value, sentence)
        return []

    def _parts(self, fields: Fields, name: str) -> Iterator[tuple[int, Fields, str]]:
        """Yield the number, the fields and the text of every sentence."""
        if name not in fields:
            self._missing([name])
            return
        for number, part in enumerate(self._list(fields[name], name), 1):
            if not isinstance(part, dict):
                self._error("E_TYPE", f"a sentence is {kind(part)}, not an object", part, number)
            elif "text" not in part:
                self._missing(["text"], number)
            elif not isinstance(part["text"], str):
                message = f"the text is {kind(part['text'])}, not a text"
                self._error("E_TYPE", message, part["text"], number)
            else:
                yield number, part, part["text"]

    # Sentences and citations of each dialect.

    def _plain(self, draft: Draft, fields: Fields) -> None:
        """Read sentences with `citations`, and `references` beside them."""
        draft.references = self._references(fields)
        is_common = self.dialect == "common" and "responses" in fields
        name = "responses" if is_common else HOLDERS.get(self.dialect, "answer")
        for number, part, text in self._parts(fields, name):
            draft.sentences.append(DraftSentence(text, self._citations(part, number)))

    def _references(self, fields: Fields) -> list[Reference] | None:
        value = fields.get("references")
        if "references" not in fields or (value is None and self.rules.references == "optional"):
            return None
        if isinstance(value, dict) and (self.dialect == "common" or self._are_scored):
            return self._scored(value)
        if self._are_scored and not isinstance(value, dict):
            message = f"references are {kind(value)}, not an object of docnos and scores"
            self._error("E_TYPE", message, value)
        elif not isinstance(value, list):
            self._error("E_TYPE", f"references is {kind(value)}, not a list", value)
        elif wrong := [docno for docno in value if not isinstance(docno, str)]:
            self._error("E_TYPE", f"a reference is {kind(wrong[0])}, not a text", wrong[0])
        else:
            return [Reference(docno) for docno in value if isinstance(docno, str)]
        return None

    @property
    def _are_scored(self) -> bool:
        return self.dialect == "ikat25"

    def _scored(self, value: Mapping[str, object]) -> list[Reference]:
        """Return scored documents, the highest first; those with equal scores as listed."""
        scored = [
            (docno, self._number(score, "E_WEIGHT", f"the score of {docno}"))
            for docno, score in value.items()
        ]
        return sorted((Reference(d, s) for d, s in scored), key=lambda each: -(each.score or 0))

    def _citations(self, part: Fields, number: int) -> list[Pointer]:
        may_lack = self.rules.may_lack_citations and self.dialect == "common"
        value = part.get("citations")
        if value is None and (may_lack or ("citations" not in part and "empty" in self.rules.fix)):
            return []
        if "citations" not in part:
            self._missing(["citations"], number, fix="empty")
            return []
        allowed = ALLOWED[self.dialect]
        if isinstance(value, dict) and WEIGHTS in allowed:
            return self._weighted(value, number)
        if allowed == {WEIGHTS}:
            message = f"citations are {kind(value)}, not an object of docnos and weights"
            self._error("E_TYPE", message, value, number)
            return []
        listed = self._list(value, "citations", number)
        found = (self._pointer(each, allowed, number) for each in listed)
        return [pointer for pointer in found if pointer is not None]

    def _weighted(self, value: Mapping[str, object], number: int) -> list[Pointer]:
        weighted = [
            Pointer(docno, self._number(weight, "E_WEIGHT", f"the weight of {docno}", number))
            for docno, weight in value.items()
        ]
        return sorted(weighted, key=lambda pointer: -(pointer.weight or 0))

    def _pointer(self, value: object, allowed: set[str], number: int) -> Pointer | None:
        is_text = isinstance(value, str)
        if isinstance(value, int) and not isinstance(value, bool) and POSITIONS in allowed:
            return Pointer(value)
        if isinstance(value, str) and DOCNOS in allowed:
            return Pointer(value)
        as_position = isinstance(value, str) and DIGITS.fullmatch(value) and POSITIONS in allowed
        if isinstance(value, str) and as_position and "docnos" in self.rules.fix:
            return Pointer(int(value))
        meant = "neither a number nor a text"
        if is_text or (isinstance(value, int) and not isinstance(value, bool)):
            meant = f"{kind(value)}; {' or '.join(sorted(allowed))} are expected"
        fix = "docnos" if as_position else ""
        self._error("E_CITATION_TYPE", f"a citation is {meant}", value, number, fix)
        return None

    def _ikat25(self, draft: Draft, fields: Fields) -> None:
        """Read plain sentences, and keep which statements about the user they come from."""
        self._plain(draft, fields)
        parts = fields.get("responses")
        provenance = [
            part.get("ptkb_provenance")
            for part in (parts if isinstance(parts, list) else [])
            if isinstance(part, dict)
        ]
        if any(provenance):
            draft.extra["ptkb_provenance"] = provenance

    def _biogen(self, draft: Draft, fields: Fields) -> None:
        for number, part, text in self._parts(fields, "answer"):
            lists = [
                self._docnos(part, f"{which}_citations", number)
                for which in ("supported", "contradicted", "existing_supported")
            ]
            supported, contradicted, existing = lists
            draft.sentences.append(
                DraftSentence(text, _pointers(supported), _pointers(contradicted), existing)
            )

    def _docnos(self, part: Fields, name: str, number: int) -> list[str]:
        """Return a list of docnos, which may be numbers; existing ones may be absent or null."""
        value = part.get(name)
        if value is None and name.startswith("existing"):
            return []
        if name not in part:
            self._missing([name], number, fix="empty")
            return []
        docnos = []
        for each in self._list(value, name, number):
            if isinstance(each, str | int) and not isinstance(each, bool):
                docnos.append(str(each))
            else:
                message = "a citation is neither a number nor a text"
                self._error("E_CITATION_TYPE", message, each, number)
        return docnos

    def _browsecomp(self, draft: Draft, fields: Fields) -> None:
        retrieved = fields.get("retrieved_docids", [])
        names = [self._name(d, "a document") for d in self._list(retrieved, "retrieved_docids")]
        draft.references = [Reference(name) for name in dict.fromkeys(names)]
        draft.status = str(fields.get("status", ""))
        outputs = [
            part["output"]
            for part in self._list(fields.get("result", []), "result")
            if isinstance(part, dict) and isinstance(part.get("output"), str)
        ]
        text = outputs[-1] if outputs else ""
        if not text.strip():
            return
        found = CONFIDENCE.search(text)
        draft.confidence = float(found[1]) if found else None
        known = {*names}
        docnos = [d for d in numbers_in_brackets(text) if d in known or self._is_known(d)]
        draft.sentences = [DraftSentence(text, _pointers(docnos))]

    def _is_known(self, docno: str) -> bool:
        known = self.rules.docnos
        if known is None or docno.encode() in known:
            return True
        message = f"the number {docno} in brackets is no document, so it is not a citation"
        self.findings.warn("W_UNRESOLVED", self.line, message, topic=self.topic, sentence=1)
        return False

    def _turns(self, fields: Fields) -> Iterator[Draft]:
        """Yield the turns of a whole run; of several responses the one of the lowest rank."""
        run = self._name(fields["run_name"], "run_name")
        shared = {name: fields[name] for name in ("eval_response",) if name in fields}
        for number, turn in enumerate(self._list(fields.get("turns"), "turns"), 1):
            self.topic = ""
            if not isinstance(turn, dict) or "turn_id" not in turn:
                self._error("E_FIELD", f"turn {number} has no turn_id")
                continue
            self.topic = self._name(turn["turn_id"], "turn_id")
            draft = Draft(self.line, self.topic, run, self.dialect, extra={**shared})
            kept = fields.get("run_type")
            draft.run_type = kept if isinstance(kept, str) else None
            responses = self._list(turn.get("responses", []), f"responses of {self.topic}")
            ranked = [each for each in responses if isinstance(each, dict)]
            if ranked:
                self._response(draft, min(ranked, key=_rank_of), ranked)
            yield draft

    def _response(self, draft: Draft, response: Fields, others: Sequence[Fields]) -> None:
        for other in others:
            if other is not response:
                self._passages(other)
        references, used = self._passages(response)
        draft.references = references
        text = response.get("text")
        if not isinstance(text, str):
            self._error("E_TYPE", f"the text is {kind(text)}, not a text", text, 1)
            return
        draft.sentences = [DraftSentence(text, used)]
        if response.get("ptkb_provenance"):
            draft.extra["ptkb_provenance"] = [response["ptkb_provenance"]]

    def _passages(self, response: Fields) -> tuple[list[Reference], list[Pointer]]:
        """Return the passages by score, and those that were used."""
        found: list[tuple[Reference, bool]] = []
        for part in self._list(response.get("passage_provenance", []), "passage_provenance"):
            if not isinstance(part, dict) or not isinstance(part.get("id"), str):
                self._error("E_FIELD", "a passage has no id", part)
                continue
            docno = part["id"]
            score = self._number(part.get("score"), "E_WEIGHT", f"the score of {docno}")
            found.append((Reference(docno, score), part.get("used") is True))
        found.sort(key=lambda each: -(each[0].score or 0))
        return [r for r, _ in found], [Pointer(r.docno, r.score) for r, used in found if used]


def _size(value: object) -> int:
    """Return how many characters a value takes as JSON; one that is too deep takes too many."""
    try:
        return len(json.dumps(value))
    except RecursionError:
        return MOST_EXTRA + 1


def _rank_of(response: Fields) -> float:
    rank = response.get("rank")
    return rank if isinstance(rank, int | float) else math.inf


def _pointers(docnos: Iterable[str]) -> list[Pointer]:
    return [Pointer(docno) for docno in docnos]


def numbers_in_brackets(text: str) -> list[str]:
    """Return every number in square brackets once, in order: what may be a citation.

    >>> numbers_in_brackets("see [12], [13, 14] and [12]")
    ['12', '13', '14']
    """
    inside = (number for part in BRACKETS.findall(text) for number in re.findall(r"\d+", part))
    return list(dict.fromkeys(inside))


def kind(value: object) -> str:
    """Return what a value of JSON is, in words.

    >>> kind(None), kind("7"), kind([7])
    ('null', 'a text', 'a list')
    """
    kinds = {
        "NoneType": "null",
        "str": "a text",
        "bool": "true or false",
        "int": "a number",
        "float": "a number",
        "list": "a list",
        "dict": "an object",
    }
    return kinds.get(type(value).__name__, "another value")
