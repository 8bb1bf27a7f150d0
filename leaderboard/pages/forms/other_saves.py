"""Forms that several people may have open at once: nobody's save is lost without a word."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.boundfield import BoundField
from django.http import QueryDict
from django.utils.html import format_html
from django.utils.safestring import SafeString

# A value with more characters, or more lines, has a box of its own that scrolls.
LONGEST_SHOWN, MOST_LINES = 200, 5
ASKED = "Someone else changed this while your page was open. Choose which value to keep."


@dataclass(frozen=True)
class BothValues:
    """What two people want a field to be, and the digest of the saved one of them."""

    theirs: str
    mine: str
    saved: str

    @property
    def values(self) -> dict[str, str]:
        """The two values by whose they are."""
        return {"theirs": self.theirs, "mine": self.mine}

    @property
    def is_long(self) -> bool:
        values = (self.theirs, self.mine)
        return any(len(each) > LONGEST_SHOWN or each.count("\n") >= MOST_LINES for each in values)


class SeesOtherSaves(forms.BaseForm):
    """A form that says which values it was opened with, so that a later save overwrites no other.

    A field that its sender left alone keeps what someone else saved meanwhile. A field that both
    changed is an error that shows both values, as `both_values` of the field. A choice between
    them names the saved value that its sender saw: if that changed again, it is asked again.
    """

    @property
    def seen(self) -> SafeString:
        """The hidden field with a digest of each value that the form shows before it is changed."""
        digests = {name: digest(saved_words(self[name])) for name in self.fields}
        if self.is_bound:
            # What is not decided yet is as open as it was.
            undecided = {name for name in digests if hasattr(self[name], "both_values")}
            digests |= {name: seen for name, seen in self._read_seen().items() if name in undecided}
        return format_html(
            '<input type="hidden" name="{}" value="{}">', self._seen_name, json.dumps(digests)
        )

    @property
    def _seen_name(self) -> str:
        return f"seen-{type(self).__name__.lower()}"

    def _read_seen(self) -> dict[str, str]:
        try:
            seen = json.loads(self.data.get(self._seen_name, ""))
        except ValueError:
            return {}
        return seen if isinstance(seen, dict) else {}

    def full_clean(self) -> None:
        others = self._take_over_other_saves() if self.is_bound else []
        super().full_clean()
        for field in others:
            self.add_error(field.name, ValidationError(ASKED))

    def _take_over_other_saves(self) -> list[BoundField]:
        """Put what others saved where it counts; return the fields that are still to be decided."""
        seen, conflicts = self._read_seen(), []
        for name in seen.keys() & self.fields.keys():
            field = self[name]
            saved, sent, theirs = saved_words(field), sent_words(field), self.list_theirs(field)
            if field.field.disabled or digest(saved) == seen[name] or sent == theirs:
                continue
            chosen = self.data.get(f"keep-{field.html_name}")
            if chosen == f"mine-{digest(saved)}":
                continue
            if chosen == f"theirs-{digest(saved)}" or digest(sent) == seen[name]:
                self.data = replace_sent(self.data, field, theirs)
            else:
                both = BothValues(show(field, theirs), show(field, sent), digest(saved))
                field.both_values = both
                conflicts.append(field)
        return conflicts

    def list_theirs(self, field: BoundField) -> list[str]:
        """Return the saved value as the words that this form would send for it."""
        return saved_words(field)


def saved_words(field: BoundField) -> list[str]:
    """Return what the field shows of the saved value."""
    return list_words(field, field.initial)


def sent_words(field: BoundField) -> list[str]:
    return list_words(field, field.value())


def list_words(field: BoundField, value: Any) -> list[str]:
    """Return a value as the words that a browser sends for it, one per chosen option.

    The line ends and the space around a text are not compared.
    """
    if isinstance(field.field, forms.BooleanField):
        return ["on"] if value else []
    shown = field.field.widget.format_value(field.field.prepare_value(value))
    words = shown if isinstance(shown, list) else [shown]
    texts = ["\n".join(str(word).splitlines()).strip() for word in words if word is not None]
    return list(filter(None, texts))


def digest(words: list[str]) -> str:
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()[:12]


def replace_sent(data: QueryDict, field: BoundField, words: list[str]) -> QueryDict:
    """Return what was sent with these words in a field."""
    replaced = data.copy()
    replaced.setlist(field.html_name, words)
    return replaced


def show(field: BoundField, words: list[str]) -> str:
    """Return a value as its reader knows it, with the labels of choices; "" if there is none."""
    if isinstance(field.field, forms.BooleanField):
        return "on" if words else "off"
    labels = {str(value): str(label) for value, label in getattr(field.field, "choices", ())}
    return ", ".join(labels.get(word, word) for word in words)
