"""The fields of a mark in JSON: each is read as what it has to be, or reported."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from evaluation.marks import HIGHEST_GRADE, KINDS, REASONS, Kind
from evaluation.problems import Problems
from evaluation.reading.columns import INTEGER

Answer: TypeAlias = tuple[int | None, Kind]

LARGEST = 2**31 - 1
LONGEST_KEY = 128
LABELS = ("label", "labels")
COMMENTS = ("Comments", "comments")
# "3 perfect", "2: relevant" or "1. related", and "Highly relevant (2)" or "grade 2"; not "1.5".
AT_BEGINNING = re.compile(r"\A\s*\(?([+-]?[0-9]{1,18})(?![\w%]|[.,][0-9])")
AT_END = re.compile(r"(?<!\w)(?<![0-9][.,])([+-]?[0-9]{1,18})\)?\s*\Z")


def read_grade(number: int, token: bytes, problems: Problems, hint: str = "") -> Answer:
    """Read a grade as written; -1 is unjudged, to be done later. E_REL for anything else.

    >>> read_grade(1, b"2", Problems()), read_grade(1, b"-1", Problems())
    ((2, 'grade'), (None, 'later'))
    """
    if INTEGER.fullmatch(token) and -1 <= int(token) <= HIGHEST_GRADE:
        grade = int(token)
        return (None, "later") if grade < 0 else (grade, "grade")
    message = f"the grade is not an integer from -1 to {HIGHEST_GRADE}"
    problems.error("E_REL", number, message, token, hint)
    return None, "grade"


@dataclass(frozen=True, slots=True)
class Fields:
    """The values of a line by name; null is no value. E_FIELD reports a value of a wrong kind."""

    number: int
    values: Mapping[str, object]
    problems: Problems

    def report(self, name: str, what: str) -> None:
        self.problems.error("E_FIELD", self.number, f'the field "{name}" {what}')

    def require(self, *names: str) -> None:
        """Report each of the names that has no value."""
        for name in names:
            if self.values.get(name) in (None, ""):
                self.report(name, "is missing")

    def first_of(self, names: Collection[str]) -> str:
        """Return the first of the names that has a value; report them if none has."""
        found = next((name for name in names if self.values.get(name) not in (None, "")), "")
        if not found:
            message = f"no field of {', '.join(names)} has a value"
            self.problems.error("E_FIELD", self.number, message)
        return found

    def text(self, name: str) -> str:
        """Return a text, or a whole number as text."""
        value = self.values.get(name)
        if value is None:
            return ""
        if _is_whole(value) or isinstance(value, str):
            return str(value)
        self.report(name, "is not a text")
        return ""

    def prose(self, name: str) -> str:
        """Return a text of any length that can be stored."""
        return self._storable(name, self.text(name))

    def key(self, name: str) -> str:
        """Return the identity of a mark, which programs choose: any text that is not long."""
        key = self.prose(name)
        if len(key) <= LONGEST_KEY:
            return key
        self.report(name, f"is longer than {LONGEST_KEY} characters")
        return ""

    def word(self, name: str, words: Collection[str]) -> str:
        """Return one of some words, or nothing."""
        text = self.text(name)
        if not text or text in words:
            return text
        self.report(name, f"is not one of: {', '.join(words)}")
        return ""

    def reason(self, kind: Kind) -> str:
        """Return why a document cannot be judged."""
        reason = self.word("reason", REASONS)
        if reason and kind != "cannot":
            self.report("reason", "is only for marks of the kind cannot")
        return reason

    def whole_number(self, name: str, lowest: int) -> int | None:
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, int) and _is_whole(value) and lowest <= value <= LARGEST:
            return value
        self.report(name, f"is not a whole number from {lowest} to {LARGEST:,}")
        return None

    def duration(self, name: str) -> float | None:
        """Return a number of seconds."""
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= LARGEST:
            return float(value)
        self.report(name, "is not a number of seconds from 0")
        return None

    def probability(self, name: str) -> float | None:
        """Return a number above 0, at most 1."""
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 1:
            return float(value)
        self.report(name, "is not a number above 0 and at most 1")
        return None

    def instant(self, name: str) -> datetime | None:
        """Return a date and time with a time zone."""
        text = self.text(name)
        try:
            found = datetime.fromisoformat(text) if text else None
        except ValueError:
            found = None
        if text and (found is None or found.utcoffset() is None):
            example = "2026-11-30T23:59:00+00:00"
            self.report(name, f"is not a date and time with a time zone, such as {example}")
            return None
        return found

    def flag(self, name: str) -> bool:
        value = self.values.get(name)
        if value is None or isinstance(value, bool):
            return bool(value)
        self.report(name, "is neither true nor false")
        return False

    def spans(self, name: str) -> tuple[tuple[int, int], ...]:
        """Return ranges of characters, [start, end) each."""
        value = self.values.get(name)
        parts = [] if value is None else value
        if isinstance(parts, list) and all(map(_is_span, parts)):
            return tuple((start, end) for start, end in parts)
        self.report(name, "is not a list of [start, end], each start before its end")
        return ()

    def answer(self) -> Answer:
        """Return grade and kind: one of them is enough, and they fit each other."""
        word = self.word("kind", KINDS)
        kind = next((each for each in KINDS if each == word), None)
        value = self.values.get("grade")
        if value is None:
            if kind in (None, "grade"):
                self.report("grade", "is missing")
            return None, kind or "grade"
        token = str(value).encode() if _is_whole(value) else repr(value).encode(errors="replace")
        grade, own_kind = read_grade(self.number, token, self.problems)
        if grade is not None and kind not in (None, "grade"):
            self.report("grade", f"does not go with the kind {kind}")
        return grade, own_kind if kind in (None, "grade") else kind

    def labelled_answer(self) -> Answer:
        """Return the grade that the only label of a document begins or ends with."""
        given = next((self.values[name] for name in LABELS if name in self.values), None)
        labels = given if isinstance(given, list) else [] if given in (None, "") else [given]
        if len(labels) != 1:
            count = f"{len(labels)} labels" if labels else "no label"
            hint = "Give it exactly one label, or remove the line."
            self.problems.error("E_LABEL", self.number, f"the document has {count}", hint=hint)
            return None, "grade"
        label = str(labels[0])
        tokens = {grade for pattern in (AT_BEGINNING, AT_END) for grade in pattern.findall(label)}
        if len(tokens) == 1:
            return read_grade(self.number, tokens.pop().encode(), self.problems)
        message = "the label does not begin or end with one grade"
        self.problems.error("E_LABEL", self.number, message, label)
        return None, "grade"

    def comments(self) -> str:
        """Return the comments on a document, one below the other."""
        given = (self.values.get(name) for name in COMMENTS)
        texts = (text for listed in given if isinstance(listed, list) for text in listed)
        return self._storable("comments", "\n".join(t for t in texts if isinstance(t, str)))

    def _storable(self, name: str, text: str) -> str:
        if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
            self.report(name, "has a character that cannot be stored")
            return ""
        return text


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_span(part: object) -> bool:
    if not isinstance(part, list) or len(part) != 2 or not all(map(_is_whole, part)):
        return False
    return bool(0 <= part[0] < part[1] <= LARGEST)
