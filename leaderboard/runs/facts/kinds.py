"""Kinds of facts: how each is checked, asked for in a form and shown.

Values come from JSON, from forms and from the text of ir_metadata; `clean` takes all three.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from django import forms

from leaderboard.infrastructure.whole_numbers import read_whole_number

LONGEST = 1000
LARGEST = 999
TRUE, FALSE = ("true", "yes"), ("false", "no")


def is_storable(text: str) -> bool:
    """Return whether a text is short enough and every database can store it."""
    return len(text) <= LONGEST and not any(c == "\0" or "\ud800" <= c <= "\udfff" for c in text)


@dataclass(frozen=True)
class Fact:
    """One fact of a run; `paths` are its paths in ir_metadata, and it is written to the first.

    Forms, tables and the API show the same label and hint.
    """

    name: str
    label: str
    hint: str = ""
    paths: tuple[str, ...] = ()

    def clean(self, value: Any) -> Any:
        """Return the value to store; raise ValueError with a message for the user."""
        raise NotImplementedError

    def format(self, value: Any) -> str:
        """Return a value as text."""
        return str(value)

    @property
    def options(self) -> list[str]:
        """Return the values that runs can be filtered by; none for free text."""
        return []

    def matches(self, value: Any, word: str) -> bool:
        """Return whether a value, None if not stated, passes a filter."""
        return value is not None and self.format(value) == word

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the value."""
        raise NotImplementedError

    def fields(self) -> dict[str, forms.Field]:
        """Return its form fields by name."""
        return {self.name: self.field()}

    def field(self) -> forms.Field:
        raise NotImplementedError

    def read_form(self, cleaned: Mapping[str, Any]) -> Any:
        """Return the value in a cleaned form; None if it is empty."""
        value = cleaned.get(self.name)
        return None if value in ("", []) else value

    def initial(self, value: Any) -> dict[str, Any]:
        """Return the initial values of its form fields."""
        return {self.name: value}

    def documented_schema(self) -> dict[str, Any]:
        return {"description": f"{self.label}. {self.hint}".strip(), **self.schema()}


@dataclass(frozen=True)
class TextFact(Fact):
    """A text of at most 1,000 characters."""

    rows: int = 2

    def clean(self, value: Any) -> str:
        if not isinstance(value, str) or not is_storable(value):
            raise ValueError(f"must be text of at most {LONGEST:,} characters")
        return value.strip()

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "maxLength": LONGEST}

    def field(self) -> forms.Field:
        widget = forms.Textarea(attrs={"rows": self.rows}) if self.rows > 1 else forms.TextInput
        return forms.CharField(max_length=LONGEST, widget=widget)


@dataclass(frozen=True)
class LinkFact(Fact):
    """An address that begins with https."""

    def clean(self, value: Any) -> str:
        text = value.strip() if isinstance(value, str) else ""
        try:
            parts = urlsplit(text)
        except ValueError:
            parts = urlsplit("")
        plain = text.isprintable() and " " not in text and len(text) <= LONGEST
        if parts.scheme != "https" or not parts.hostname or parts.username or not plain:
            raise ValueError("must be a URL starting with https://")
        return text

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "format": "uri", "pattern": "^https://", "maxLength": LONGEST}

    def field(self) -> forms.Field:
        return forms.CharField(
            max_length=LONGEST, widget=forms.URLInput(attrs={"placeholder": "https://"})
        )


@dataclass(frozen=True)
class ChoiceFact(Fact):
    """One of a few words, each with an explanation where it needs one."""

    choices: Mapping[str, str] = field(default_factory=dict)
    default: str = ""

    def clean(self, value: Any) -> str:
        if not isinstance(value, str) or value not in self.choices:
            raise ValueError(f"must be one of {', '.join(self.choices)}")
        return value

    @property
    def options(self) -> list[str]:
        return list(self.choices)

    @property
    def form_choices(self) -> list[tuple[str, str]]:
        """Return the choices of the form field."""
        return [
            (word, f"{word}: {means}" if means else word) for word, means in self.choices.items()
        ]

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "enum": list(self.choices)}

    def field(self) -> forms.Field:
        unstated = [] if self.default else [("", "not stated")]
        return forms.ChoiceField(choices=[*unstated, *self.form_choices], initial=self.default)


@dataclass(frozen=True)
class ChoicesFact(ChoiceFact):
    """Any number of a few words, in their own order."""

    def clean(self, value: Any) -> list[str]:  # type: ignore[override]
        given = value.split(",") if isinstance(value, str) else value
        listed = given if isinstance(given, list) else [None]
        words = {word.strip() for word in listed if isinstance(word, str)}
        if len(words) < len(listed) or not words <= {*self.choices}:
            raise ValueError(f"must be a list of {', '.join(self.choices)}")
        return [word for word in self.choices if word in words]

    def format(self, value: Any) -> str:
        return ", ".join(value)

    def matches(self, value: Any, word: str) -> bool:
        return word in (value or ())

    def schema(self) -> dict[str, Any]:
        return {"type": "array", "items": super().schema(), "uniqueItems": True}

    def field(self) -> forms.Field:
        return forms.MultipleChoiceField(
            choices=self.form_choices, widget=forms.CheckboxSelectMultiple
        )


@dataclass(frozen=True)
class YesNoFact(Fact):
    """A declaration of yes or no; not stated does not mean no."""

    def clean(self, value: Any) -> bool:
        word = str(value).lower()
        if word not in (*TRUE, *FALSE):
            raise ValueError("must be true or false")
        return word in TRUE

    @property
    def options(self) -> list[str]:
        return ["yes", "no"]

    def format(self, value: Any) -> str:
        return "yes" if value else "no"

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}

    def field(self) -> forms.Field:
        return forms.ChoiceField(choices=[("", "not stated"), ("yes", "yes"), ("no", "no")])

    def initial(self, value: Any) -> dict[str, Any]:
        return {self.name: self.format(value)}


@dataclass(frozen=True)
class MarkFact(YesNoFact):
    """A mark that is set or not set."""

    def field(self) -> forms.Field:
        return forms.BooleanField()

    def initial(self, value: Any) -> dict[str, Any]:
        return {self.name: value}


@dataclass(frozen=True)
class IntegerFact(Fact):
    """A whole number from 1."""

    def clean(self, value: Any) -> int:
        if isinstance(value, str):
            value = read_whole_number(value.strip())
        if type(value) is not int or not 1 <= value <= LARGEST:
            raise ValueError(f"must be an integer from 1 to {LARGEST}")
        return value

    def schema(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": 1, "maximum": LARGEST}

    def field(self) -> forms.Field:
        return forms.IntegerField(min_value=1, max_value=LARGEST)
