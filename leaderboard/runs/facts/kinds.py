"""The kinds of facts: what each takes, and how it stands in a form, a schema and a row.

Values come from JSON, from forms and from the text of ir_metadata; `clean` takes all three.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from django import forms

LONGEST = 1000
LARGEST = 999
TRUE, FALSE = ("true", "yes"), ("false", "no")


def is_storable(text: str) -> bool:
    """Short enough, and made of characters that every database takes."""
    return len(text) <= LONGEST and not any(c == "\0" or "\ud800" <= c <= "\udfff" for c in text)


@dataclass(frozen=True)
class Fact:
    """One fact: its name, what a form asks, what a row calls it.

    `paths` are its places in ir_metadata; it is written to the first.
    """

    name: str
    label: str
    called: str
    hint: str = ""
    paths: tuple[str, ...] = ()

    def clean(self, value: Any) -> Any:
        """The value as it is kept; raises ValueError with words for whoever sent it."""
        raise NotImplementedError

    def words(self, value: Any) -> str:
        return str(value)

    @property
    def options(self) -> list[str]:
        """The words by which runs can be filtered; none where values are anything."""
        return []

    def holds(self, value: Any, word: str) -> bool:
        """Whether a value, None where nothing is said, is what a filter asks for."""
        return value is not None and self.words(value) == word

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the value."""
        raise NotImplementedError

    def fields(self) -> dict[str, forms.Field]:
        """What asks for it in a form, by name."""
        return {self.name: self.field()}

    def field(self) -> forms.Field:
        raise NotImplementedError

    def answer(self, cleaned: Mapping[str, Any]) -> Any:
        """The value that the fields of a form hold; None where nothing was said."""
        value = cleaned.get(self.name)
        return None if value in ("", []) else value

    def asked(self, value: Any) -> dict[str, Any]:
        """A value as the fields of a form show it."""
        return {self.name: value}

    def described(self) -> dict[str, Any]:
        return {"description": f"{self.label}. {self.hint}".strip(), **self.schema()}


@dataclass(frozen=True)
class Words(Fact):
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
class Link(Fact):
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
class Choice(Fact):
    """One of a few words, each with what it means where it does not say so itself."""

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
    def told(self) -> list[tuple[str, str]]:
        """The choices of a form."""
        return [
            (word, f"{word}: {means}" if means else word) for word, means in self.choices.items()
        ]

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "enum": list(self.choices)}

    def field(self) -> forms.Field:
        unsaid = [] if self.default else [("", "not said")]
        return forms.ChoiceField(choices=[*unsaid, *self.told], initial=self.default)


@dataclass(frozen=True)
class Choices(Choice):
    """Any number of a few words, in their own order."""

    def clean(self, value: Any) -> list[str]:  # type: ignore[override]
        given = value.split(",") if isinstance(value, str) else value
        listed = given if isinstance(given, list) else [None]
        words = {each.strip() for each in listed if isinstance(each, str)}
        if len(words) < len(listed) or not words <= {*self.choices}:
            raise ValueError(f"must be a list of {', '.join(self.choices)}")
        return [word for word in self.choices if word in words]

    def words(self, value: Any) -> str:
        return ", ".join(value)

    def holds(self, value: Any, word: str) -> bool:
        return word in (value or ())

    def schema(self) -> dict[str, Any]:
        return {"type": "array", "items": super().schema(), "uniqueItems": True}

    def field(self) -> forms.Field:
        return forms.MultipleChoiceField(choices=self.told, widget=forms.CheckboxSelectMultiple)


@dataclass(frozen=True)
class YesNo(Fact):
    """A declaration; nothing said is not no."""

    def clean(self, value: Any) -> bool:
        word = str(value).lower()
        if word not in (*TRUE, *FALSE):
            raise ValueError("must be true or false")
        return word in TRUE

    @property
    def options(self) -> list[str]:
        return ["yes", "no"]

    def words(self, value: Any) -> str:
        return "yes" if value else "no"

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}

    def field(self) -> forms.Field:
        return forms.ChoiceField(choices=[("", "not said"), ("yes", "yes"), ("no", "no")])

    def asked(self, value: Any) -> dict[str, Any]:
        return {self.name: self.words(value)}


@dataclass(frozen=True)
class Mark(YesNo):
    """Said or not: there is no third."""

    def field(self) -> forms.Field:
        return forms.BooleanField()

    def asked(self, value: Any) -> dict[str, Any]:
        return {self.name: value}


@dataclass(frozen=True)
class Whole(Fact):
    """A whole number from 1."""

    def clean(self, value: Any) -> int:
        text = value.strip() if isinstance(value, str) else ""
        if text.isascii() and text.isdigit() and len(text) <= len(str(LARGEST)):
            value = int(text)
        if type(value) is not int or not 1 <= value <= LARGEST:
            raise ValueError(f"must be an integer from 1 to {LARGEST}")
        return value

    def schema(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": 1, "maximum": LARGEST}

    def field(self) -> forms.Field:
        return forms.IntegerField(min_value=1, max_value=LARGEST)
