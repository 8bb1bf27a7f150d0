"""Forms that several people may have open at once: nobody's save is lost without a word."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.boundfield import BoundField
from django.http import QueryDict
from django.utils.html import format_html
from django.utils.safestring import SafeString

LONGEST_SHOWN = 200


class SeesOtherSaves(forms.BaseForm):
    """A form that says which values it was opened with, so that a later save overwrites no other.

    A field that its sender left alone keeps what someone else saved meanwhile. A field that both
    changed is an error that shows the other value; sent again, it replaces it.
    """

    @property
    def seen(self) -> SafeString:
        """The hidden field with a digest of each value that the form shows before it is changed."""
        digests = {name: digest(saved_words(self[name])) for name in self.fields}
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
            self.add_error(field.name, ValidationError(describe_conflict(field)))

    def _take_over_other_saves(self) -> list[BoundField]:
        """Put what others saved into fields that were left alone; return those that were not."""
        seen, conflicts = self._read_seen(), []
        changed = [self[name] for name in seen.keys() & self.fields.keys()]
        for field in changed:
            saved, sent = saved_words(field), sent_words(field)
            if field.field.disabled or digest(saved) == seen[field.name] or sent == saved:
                continue
            if digest(sent) == seen[field.name]:
                self.data = replace_sent(self.data, field, saved)
            else:
                conflicts.append(field)
        return conflicts


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


def describe_conflict(field: BoundField) -> str:
    """Return the sentence that shows what someone else saved."""
    words = saved_words(field)
    if isinstance(field.field, forms.BooleanField):
        shown = "on" if words else "off"
    else:
        labels = {str(value): str(label) for value, label in getattr(field.field, "choices", ())}
        shown = ", ".join(labels.get(word, word) for word in words)
    if len(shown) > LONGEST_SHOWN:
        shown = f"{shown[:LONGEST_SHOWN]}…"
    now = f"It is now: {shown}." if shown else "It is now empty."
    return f"Someone else changed this while your page was open. {now} Save again to keep yours."
