"""Form fields for measures, topics, times, numbers and short names."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import ProhibitNullCharactersValidator

from leaderboard.actions.names import LARGEST_INTEGER, MOST_MEASURES, RESERVED
from leaderboard.actions.track_settings import drop_repeated_measures
from leaderboard.display.markdown import find_excess

SHORT_NAME = "Used in URLs. Leave empty to create it from the name."
TAKEN = "This short name is taken. Choose another."
AOE = "Anywhere on Earth"
ZONES = {"UTC": "UTC", AOE: "Etc/GMT+12"}


def refuse_reserved(slug: str) -> str:
    if slug in RESERVED:
        raise ValidationError("This word is reserved for site URLs. Choose another.")
    return slug


class TextareaWithPlainLineEnds(forms.Textarea):
    """A text area that turns CR LF into LF, so that unchanged text stays unchanged."""

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        value = super().value_from_datadict(data, files, name)
        return value.replace("\r\n", "\n") if isinstance(value, str) else value


class MarkdownField(forms.CharField):
    """A text in Markdown; one that would take seconds to render is refused."""

    def __init__(self, *args: Any, rows: int = 8, **kwargs: Any) -> None:
        kwargs.setdefault("widget", TextareaWithPlainLineEnds(attrs={"rows": rows}))
        super().__init__(*args, **kwargs)

    def clean(self, value: Any) -> str:
        text: str = super().clean(value)
        if excess := find_excess(text):
            raise forms.ValidationError(f"This text {excess}. Shorten it.")
        return text


class NewFileField(forms.FileField):
    """A file field without an option to clear, because there is no earlier file."""

    widget = forms.FileInput


class SeveralFilesInput(forms.FileInput):
    allow_multiple_selected = True


class NewFilesField(NewFileField):
    """A field for one file or several; its value is a list."""

    widget = SeveralFilesInput

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        files = data or []
        if not files:
            super().clean(None, initial)
        return [super(NewFilesField, self).clean(file, initial) for file in files]


class MeasuresField(forms.CharField):
    """A list of measures, separated by commas or line breaks."""

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> list[str]:
        words = split_measures(super().to_python(value))
        if len(words) > MOST_MEASURES:
            raise ValidationError(f"Use {MOST_MEASURES} measures or fewer.")
        try:
            return drop_repeated_measures(words)
        except ValueError as error:
            raise ValidationError(str(error)) from None


def split_measures(text: str) -> list[str]:
    """Split a list of measures at commas, but not inside brackets.

    >>> split_measures("AP, nDCG(gains={1:3,2:9})@10")
    ['AP', 'nDCG(gains={1:3,2:9})@10']
    """
    words, depth = [""], 0
    for c in text.replace("\n", ",").replace(";", ","):
        depth += (c in "({") - (c in ")}")
        if c == "," and depth <= 0:
            words.append("")
        else:
            words[-1] += c
    return [word.strip() for word in words if word.strip()]


class TopicsField(forms.CharField):
    """Topic numbers, separated by commas or blanks."""

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> list[str]:
        text = super().to_python(value)
        # We check the text: in a list NUL is an escape, which the field's own check accepts.
        ProhibitNullCharactersValidator()(text)
        words = re.split(r"[,\s]+", text)
        return list(dict.fromkeys(word for word in words if word))


class LocalTimeInput(forms.DateTimeInput):
    """A time input that accepts seconds and shows them if they are not zero."""

    input_type = "datetime-local"

    def __init__(self) -> None:
        super().__init__(attrs={"step": 1})

    def format_value(self, value: Any) -> str | None:
        if isinstance(value, datetime):
            return value.isoformat(timespec="seconds" if value.second else "minutes")
        return super().format_value(value)


class LocalTimeField(forms.DateTimeField):
    """A time with its own zone, or without one for the zone of the form."""

    widget = LocalTimeInput

    def to_python(self, value: Any) -> datetime | None:
        if isinstance(value, str) and value.strip():
            try:
                return datetime.fromisoformat(value.strip())
            except ValueError:
                raise ValidationError("Enter a time like 2026-11-30T23:59.") from None
        return super().to_python(value)


def find_zone(name: str) -> ZoneInfo:
    name = ZONES.get(name, name)
    if name not in available_timezones():
        raise ValidationError("Enter a zone such as UTC, Europe/Berlin or Anywhere on Earth.")
    return ZoneInfo(name)


def place_in_zone(local: datetime, zone: ZoneInfo) -> datetime:
    """Place a local time in a zone; refuse times that a change to summer time skips."""
    placed = local.replace(tzinfo=zone)
    there_and_back = placed.astimezone(ZoneInfo("UTC")).astimezone(zone)
    if there_and_back.replace(tzinfo=None) != local:
        raise ValidationError("This local time does not exist.")
    return placed


def place_times_in_zone(form: forms.BaseForm, cleaned: dict[str, Any], names: list[str]) -> None:
    """Place the local times of a form in its zone; a time that does not exist is an error there."""
    zone = cleaned.get("zone")
    for name in names:
        local = cleaned.get(name)
        if local is None or zone is None or local.tzinfo is not None:
            continue
        try:
            cleaned[name] = place_in_zone(local, zone)
        except (ValidationError, OverflowError):
            form.add_error(name, f"This time does not exist in {zone.key}.")


class SeveralRowsField(forms.ModelMultipleChoiceField):
    """Several rows; the number of none is larger than the database's numbers."""

    def clean(self, value: Any) -> Any:
        try:
            return super().clean(value)
        except OverflowError:
            raise ValidationError("Choose from the list.") from None


def refuse_larger(value: int, most: int = LARGEST_INTEGER) -> None:
    if value > most:
        raise ValidationError(f"Use {most:,} or less.")
