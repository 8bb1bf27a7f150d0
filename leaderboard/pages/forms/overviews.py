"""The form of a track’s overview: texts, schedule, and how its data may be had."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from leaderboard.actions.overviews import Day, find_overview, list_days
from leaderboard.models import Collection, Milestone, Track
from leaderboard.models.benchmarks import check_contact
from leaderboard.models.registrations import FileReaders
from leaderboard.pages.forms.fields import TextareaWithPlainLineEnds
from leaderboard.pages.forms.other_saves import SeesOtherSaves

DATE = r"(\d{4}-\d{2}-\d{2}|\d{1,2} [A-Za-z]{3,9} \d{4})"
LINE = re.compile(rf"{DATE}(?:\s*(?:to|–|-)\s*{DATE})?[\s:,]+(\S.*)")
DATE_FORMS = ("%Y-%m-%d", "%d %b %Y", "%d %B %Y")
MOST_DAYS = 20
LONGEST_LABEL = Milestone._meta.get_field("label").max_length
TEXTS = ("authors", "contact", "citation", "questions", "shares_baseline", "baseline_readers")


class DaysField(forms.CharField):
    """A schedule as text: a date or two, then what happens, one entry per line."""

    widget = TextareaWithPlainLineEnds(attrs={"rows": 4})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(map(str, value)) if isinstance(value, list) else value

    def to_python(self, value: Any) -> list[Day]:
        lines = enumerate(super().to_python(value).splitlines(), start=1)
        days = [parse_day(line.strip(), number) for number, line in lines if line.strip()]
        if len(days) > MOST_DAYS:
            raise ValidationError(f"Use {MOST_DAYS} dates or fewer.")
        return sorted(days, key=lambda day: day.day)


def parse_day(line: str, number: int) -> Day:
    """Return the entry of a line.  Raises ValidationError with the line's number.

    >>> str(parse_day("1 Sep 2026: Documents out", 1))
    '2026-09-01 Documents out'
    >>> str(parse_day("2026-12-02 to 2027-01-18 Judging", 2))
    '2026-12-02 to 2027-01-18 Judging'
    """
    found = LINE.fullmatch(line)
    if found is None:
        raise ValidationError(
            f"Line {number}: start with a date, such as 2026-09-01 or 1 Sep 2026, then the event."
        )
    first, last, label = found.groups()
    day, until = _parse_date(first, number), _parse_date(last, number) if last else None
    if until is not None and until <= day:
        raise ValidationError(f"Line {number}: the last day must follow the first.")
    if len(label) > LONGEST_LABEL:
        raise ValidationError(f"Line {number}: use {LONGEST_LABEL} characters or fewer.")
    return Day(label, day, until)


def _parse_date(text: str, number: int) -> date:
    for form in DATE_FORMS:
        try:
            return datetime.strptime(text, form).date()
        except ValueError:
            continue
    raise ValidationError(f"Line {number}: {text} is not a date.")


class OverviewForm(SeesOtherSaves, forms.Form):
    description = forms.CharField(
        label="About this track",
        required=False,
        max_length=20000,
        help_text="Markdown: headings, lists, tables and links. No images, no HTML.",
        widget=TextareaWithPlainLineEnds(attrs={"rows": 6}),
    )
    schedule = DaysField(
        label="Further dates",
        required=False,
        help_text="One per line: 2026-09-01 Documents out, or 2027-03-22 to 2027-03-23 Workshop. "
        "Opening, deadline and release are added automatically.",
    )
    authors = forms.CharField(
        label="Organisers, as cited in papers",
        required=False,
        max_length=2000,
        help_text="One per line: Inês Moura, University of Porto.",
        widget=TextareaWithPlainLineEnds(attrs={"rows": 3}),
    )
    contact = forms.CharField(
        required=False,
        max_length=200,
        help_text="An email address or a URL, such as a mailing list.",
    )
    citation = forms.CharField(
        label="How to cite",
        required=False,
        max_length=2000,
        help_text="The overview paper in words. This page also offers BibTeX.",
        widget=TextareaWithPlainLineEnds(attrs={"rows": 2}),
    )
    questions = forms.CharField(
        label="Frequently asked questions",
        required=False,
        max_length=20000,
        help_text="Markdown. Use a heading per question.",
        widget=TextareaWithPlainLineEnds(attrs={"rows": 4}),
    )
    shares_baseline = forms.BooleanField(
        label="Offer the organisers’ baseline run for download", required=False
    )
    baseline_readers = forms.ChoiceField(
        label="Who may download the baseline run",
        choices=FileReaders.choices,
        required=False,
        help_text="From its date on, if it has one.",
    )

    def __init__(self, *args: Any, track: Track, **kwargs: Any) -> None:
        page = find_overview(track)
        known = {name: getattr(page, name) for name in TEXTS}
        initial = {"description": track.description, "schedule": list_days(track), **known}
        super().__init__(*args, initial=initial, **kwargs)

    def clean_baseline_readers(self) -> str:
        """Leave the readers as they are where none are sent."""
        return self.cleaned_data["baseline_readers"] or self.initial["baseline_readers"]

    def clean_contact(self) -> str:
        contact: str = self.cleaned_data["contact"].strip()
        if contact:
            check_contact(contact)
        return contact

    @property
    def texts(self) -> dict[str, Any]:
        """The values of the Overview."""
        return {name: self.cleaned_data[name] for name in TEXTS}


# Who may download each kind of file.
READERS = ("documents_readers", "topics_readers", "judgments_readers")


class DataForm(SeesOtherSaves, forms.ModelForm):
    source_url = forms.URLField(
        label="Where to get documents that may not be shared",
        required=False,
        max_length=300,
        assume_scheme="https",
    )

    class Meta:
        model = Collection
        fields = [
            *("shares_documents", *READERS),
            *("licence", "source_url", "source_note"),
        ]
        labels = {
            "shares_documents": "The documents can be downloaded",
            "documents_readers": "Who may download the documents",
            "topics_readers": "Who may download the topics",
            "judgments_readers": "Who may download the judgments",
            "source_note": "How to get them",
        }
        help_texts = {
            "topics_readers": "Pages of the track show topics to everyone who sees it.",
            "judgments_readers": "If the track offers them as a file.",
            "licence": "Of documents and topics, such as CC BY 4.0.",
            "source_note": "For example: sign the agreement, then ask for the 2024 edition.",
        }
        widgets = {"source_note": TextareaWithPlainLineEnds(attrs={"rows": 2})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in READERS:
            self.fields[name].required = False

    def clean(self) -> dict[str, Any]:
        """Leave the readers of a file as they are where none are sent."""
        cleaned = super().clean() or {}
        stored = {name: self.initial[name] for name in READERS if not cleaned.get(name)}
        return cleaned | stored

    @property
    def terms(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in self.Meta.fields}
