"""What people may send: checked for shape here, for being allowed in uploads and organising."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from allauth.account import forms as allauth
from django import forms
from django.core.exceptions import ValidationError
from django.utils.text import slugify

from evaluation.measures import Measure, MeasureError, parse_measure
from evaluation.reading.recognition import RUN_FORMATS
from leaderboard.calling import NotCalled, checked_url
from leaderboard.facts import REQUIRABLE
from leaderboard.models import Collection, JudgmentSet, Pool, Run, Team, Track, User
from leaderboard.models.collections import ImportState
from leaderboard.models.notices import Happening

AOE = "Anywhere on Earth"
ZONES = {"UTC": "UTC", AOE: "Etc/GMT+12"}
MEASURES = "AP, nDCG@10, P@10, RR, R@1000"
MOST_MEASURES = 40
LARGEST = 2**31 - 1
# Words that stand after /tracks/ or /collections/ in an address.
RESERVED = {"new", "admin", "api", "account", "static", "tracks", "runs", "collections", "measures"}


def refuse_reserved(slug: str) -> str:
    if slug in RESERVED:
        raise ValidationError("This word is part of other addresses here; choose another.")
    return slug


def unused_slug(name: str, model: type[Collection] | type[Track]) -> str:
    """An address for a name, with a number where others have it already."""
    base = slugify(name)[:50] or "untitled"
    taken = {*model.objects.filter(slug__startswith=base).values_list("slug", flat=True), *RESERVED}
    numbered = (f"{base}-{number}" for number in range(2, len(taken) + 3))
    return base if base not in taken else next(slug for slug in numbered if slug not in taken)


SHORT_NAME = "Stands in addresses; made from the name where it is left empty."
TAKEN = "This short name is taken; choose another."


class CollectionForm(forms.ModelForm):
    topics = forms.FileField(label="Topics")
    documents = forms.FileField(label="Documents", required=False)
    judgments = forms.FileField(label="Judgments", required=False)
    version = forms.SlugField(
        label="Version of the judgments",
        initial="v1",
        max_length=40,
        help_text="Judgments that come later have another.",
    )

    class Meta:
        model = Collection
        fields = ["name", "slug", "description"]
        labels = {"slug": "Short name"}
        help_texts = {"slug": SHORT_NAME}
        error_messages = {"slug": {"unique": TAKEN}}
        widgets = {"description": forms.Textarea(attrs={"rows": 2})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["slug"].required = False
        self.fields["version"].required = False

    def clean_version(self) -> str:
        return self.cleaned_data["version"] or "v1"

    def clean_slug(self) -> str:
        return refuse_reserved(self.cleaned_data["slug"])

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not cleaned.get("slug") and cleaned.get("name"):
            self.instance.slug = cleaned["slug"] = unused_slug(cleaned["name"], Collection)
        return cleaned


class JudgmentsForm(forms.Form):
    version = forms.SlugField(label="Version", max_length=40)
    file = forms.FileField(label="File")
    note = forms.CharField(
        label="Note", max_length=2000, required=False, widget=forms.Textarea(attrs={"rows": 2})
    )


class MeasuresField(forms.CharField):
    """Measures as a list of words; `AP, nDCG@10` and one a line are both understood."""

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> list[str]:
        words = split_measures(super().to_python(value))
        if len(words) > MOST_MEASURES:
            raise ValidationError(f"A track has at most {MOST_MEASURES} measures.")
        asked = {str(known_measure(word)): word for word in reversed(words)}
        return [word for word in words if word in asked.values()]


def split_measures(text: str) -> list[str]:
    """Cut at commas that stand outside brackets: parameters have commas of their own.

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


def known_measure(text: str) -> Measure:
    try:
        return parse_measure(text)
    except MeasureError as error:
        raise ValidationError(str(error)) from None


# What becomes of a run, in the words that the form and the page about a track use.
RULES = {
    "missing_topics": [("warn", "gets a warning; the topic counts 0"), ("refuse", "is refused")],
    "unknown_documents": [("refuse", "refuses the run"), ("drop", "is left out")],
    "duplicates": [("refuse", "refuses the run"), ("keep_best", "keeps its best place")],
    "repeated_tags": [("warn", "gets a warning"), ("refuse", "is refused")],
}


NUMBERS = ("relevance_threshold", "depth", "quota_per_day", "quota_total", "grace_minutes")


# What is left empty is what a new track has.
HAVE_DEFAULTS = ("grace_minutes", "late_runs", "attempts_per_day")


class TopicsField(forms.CharField):
    """Topic numbers with commas or blanks between."""

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> list[str]:
        words = re.split(r"[,\s]+", super().to_python(value))
        return list(dict.fromkeys(word for word in words if word))


class TrackForm(forms.ModelForm):
    measures = MeasuresField(
        initial=MEASURES, help_text="The first is the one that ranks, unless you say another."
    )
    primary_measure = forms.CharField(
        label="Ranking measure",
        required=False,
        max_length=80,
        help_text="Left empty, the first of the measures.",
    )
    excluded_topics = TopicsField(
        label="Topics left out",
        required=False,
        help_text="Their numbers, with commas between. They count in no mean.",
    )
    zone = forms.CharField(
        label="Time zone of the dates",
        initial="UTC",
        required=False,
        widget=forms.TextInput(attrs={"list": "zones"}),
        help_text="Such as Europe/Berlin or Anywhere on Earth.",
    )
    zones = tuple(ZONES)
    run_formats = forms.MultipleChoiceField(
        label="Formats of a run",
        choices=list(RUN_FORMATS.items()),
        initial=["trec"],
        widget=forms.CheckboxSelectMultiple,
        help_text="A run in another format is refused by its name. Where a format has no tag, "
        "the tag is asked for beside the file.",
    )

    required_facts = forms.MultipleChoiceField(
        label="Facts that a run has to state",
        choices=[(fact.name, fact.label) for fact in REQUIRABLE],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="All facts can be stated; teams are asked for these first.",
    )

    class Meta:
        model = Track
        fields = [
            "name",
            "slug",
            "description",
            "judgment_set",
            "measures",
            "primary_measure",
            "relevance_threshold",
            "depth",
            "drop_empty_topics",
            "excluded_topics",
            "exclusion_reason",
            "test",
            "convention",
            "disclosure",
            "visibility",
            "joining",
            "terms",
            "selection",
            "opens_at",
            "closes_at",
            "grace_minutes",
            "late_runs",
            "quota_per_day",
            "quota_total",
            "attempts_per_day",
            "run_formats",
            "required_facts",
            "missing_topics",
            "unknown_documents",
            "duplicates",
            "repeated_tags",
        ]
        labels = {
            "slug": "Short name",
            "judgment_set": "Judgments",
            "relevance_threshold": "Relevant from grade",
            "depth": "Documents a topic",
            "drop_empty_topics": "Leave out topics without a relevant document",
            "test": "Test against the baseline",
            "opens_at": "Takes runs from",
            "closes_at": "Takes runs until",
            "grace_minutes": "Minutes of grace",
            "late_runs": "Runs after that",
            "exclusion_reason": "Why they are left out",
            "quota_per_day": "Runs a team and day",
            "quota_total": "Runs a team in all",
            "attempts_per_day": "Refused files a team and day",
            "missing_topics": "A run without some topic",
            "unknown_documents": "A document that is not in the collection",
            "duplicates": "A document twice for a topic",
            "repeated_tags": "A tag that the team has used",
            "disclosure": "Scores",
            "visibility": "Who sees the track",
            "joining": "Who takes part",
            "terms": "Terms",
            "selection": "Which runs stand on the board",
        }
        help_texts = {
            "slug": SHORT_NAME,
            "terms": "Who takes part has to accept them first.",
            "relevance_threshold": "From this grade on a document is relevant to AP, P and R.",
            "depth": "A run with more for a topic is refused.",
            "grace_minutes": "After the deadline runs are taken for so long as if in time.",
            "exclusion_reason": "Everybody who sees the track reads it.",
            "quota_per_day": "Left empty, there is no limit.",
            "quota_total": "Left empty, there is no limit.",
        }
        error_messages = {"slug": {"unique": TAKEN}}
        widgets = {
            "description": forms.Textarea(attrs={"rows": 4}),
            "terms": forms.Textarea(attrs={"rows": 3}),
            "disclosure": forms.RadioSelect,
            "visibility": forms.RadioSelect,
            "joining": forms.RadioSelect,
            "selection": forms.RadioSelect,
        }

    def __init__(self, *args: Any, collection: Collection, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.collection = collection
        self.instance.collection = collection
        self.fields["judgment_set"].queryset = JudgmentSet.objects.filter(
            collection=collection, state=ImportState.READY
        )
        newest = self.fields["judgment_set"].queryset.last()
        if self.instance.pk is None and newest is not None:
            self.initial["relevance_threshold"] = newest.relevant_from
        self.fields["judgment_set"].empty_label = "none yet: runs wait as valid"
        for name in ("slug", *HAVE_DEFAULTS):
            self.fields[name].required = False
        for name in NUMBERS:
            self.fields[name].max_value = LARGEST
            self.fields[name].validators.append(no_larger)
        for name in ("opens_at", "closes_at"):
            self.fields[name] = LocalTimeField(label=self.fields[name].label, required=False)
        for name, choices in RULES.items():
            self.fields[name].choices = choices

    def clean_slug(self) -> str:
        return refuse_reserved(self.cleaned_data["slug"])

    def clean_excluded_topics(self) -> list[str]:
        wanted = self.cleaned_data["excluded_topics"]
        known = self.collection.topics.filter(number__in=wanted)
        unknown = set(wanted) - set(known.values_list("number", flat=True))
        if unknown:
            raise ValidationError(f"Not in the collection: {', '.join(sorted(unknown))}.")
        return wanted

    def clean_zone(self) -> ZoneInfo:
        return known_zone(self.cleaned_data["zone"] or "UTC")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        for name in HAVE_DEFAULTS:
            if cleaned.get(name) in (None, ""):
                cleaned[name] = Track._meta.get_field(name).get_default()
        if not cleaned.get("slug") and cleaned.get("name"):
            cleaned["slug"] = unused_slug(cleaned["name"], Track)
        self._choose_primary(cleaned)
        for name in ("opens_at", "closes_at"):
            self._place_in_zone(cleaned, name)
        if cleaned.get("excluded_topics") and not cleaned.get("exclusion_reason"):
            self.add_error("exclusion_reason", "Say why these topics are left out.")
        opens, closes = cleaned.get("opens_at"), cleaned.get("closes_at")
        if opens and closes and closes <= opens:
            self.add_error("closes_at", "The track closes before it opens.")
        return cleaned

    def _choose_primary(self, cleaned: dict[str, Any]) -> None:
        measures = cleaned.get("measures") or []
        wanted = cleaned.get("primary_measure") or (measures[0] if measures else "")
        cleaned["primary_measure"] = wanted
        if not measures or wanted in measures:
            return
        try:
            known_measure(wanted)
        except ValidationError as error:
            self.add_error("primary_measure", error)
        else:
            cleaned["measures"] = [wanted, *measures]

    def _place_in_zone(self, cleaned: dict[str, Any], name: str) -> None:
        local, zone = cleaned.get(name), cleaned.get("zone")
        if local is None or zone is None or local.tzinfo is not None:
            return
        try:
            cleaned[name] = in_zone(local, zone)
        except (ValidationError, OverflowError):
            self.add_error(name, f"This time does not exist in {zone.key}.")


def no_larger(value: int) -> None:
    if value > LARGEST:
        raise ValidationError(f"At most {LARGEST:,}.")


class LocalTimeField(forms.DateTimeField):
    """A time as it was written: with its own zone, or to be placed in the form's."""

    widget = forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")

    def to_python(self, value: Any) -> datetime | None:
        if isinstance(value, str) and value.strip():
            try:
                return datetime.fromisoformat(value.strip())
            except ValueError:
                raise ValidationError("A time looks like 2026-11-30T23:59.") from None
        return super().to_python(value)


def known_zone(name: str) -> ZoneInfo:
    name = ZONES.get(name, name)
    if name not in available_timezones():
        raise ValidationError("A zone has a name like UTC, Europe/Berlin or Anywhere on Earth.")
    return ZoneInfo(name)


def in_zone(local: datetime, zone: ZoneInfo) -> datetime:
    """A local time in its zone; refused in the hour that a change to summer time skips."""
    placed = local.replace(tzinfo=zone)
    there_and_back = placed.astimezone(ZoneInfo("UTC")).astimezone(zone)
    if there_and_back.replace(tzinfo=None) != local:
        raise ValidationError("This time does not exist.")
    return placed


class RunForm(forms.ModelForm):
    file = forms.FileField(label="Run file", allow_empty_file=True)
    tag = forms.CharField(
        label="Tag",
        max_length=20,
        required=False,
        help_text="The tag that stands in the file; left empty, it is taken from there.",
    )
    format = forms.ChoiceField(label="Format", required=False)
    idempotency_key = forms.CharField(max_length=80, required=False, widget=forms.HiddenInput)

    class Meta:
        model = Run
        fields = ["tag", "format", "description"]
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}

    def __init__(self, *args: Any, track: Track, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        taken = [(name, RUN_FORMATS[name]) for name in track.run_formats]
        self.fields["format"].choices = [("", "told by the file itself"), *taken]
        if len(taken) == 1:
            del self.fields["format"]


class BaselineForm(forms.Form):
    baseline = forms.ModelChoiceField(
        Run.objects.none(),
        label="The run that others are compared with",
        required=False,
        empty_label="no baseline",
    )

    def __init__(self, *args: Any, track: Track, **kwargs: Any) -> None:
        super().__init__(*args, initial={"baseline": track.baseline_id}, **kwargs)
        self.fields["baseline"].queryset = track.runs.on_the_board()


class PoolForm(forms.Form):
    runs = forms.ModelMultipleChoiceField(
        Run.objects.none(),
        label="Runs",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "A pool needs at least one run."},
    )
    method = forms.ChoiceField(label="Method", choices=Pool.Method.choices)
    size = forms.IntegerField(
        label="N", min_value=1, max_value=1000, initial=100, help_text="From 1 to 1,000."
    )

    def __init__(self, *args: Any, track: Track, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        runs = track.runs.accepted().in_good_standing().select_related("team")
        self.fields["runs"].queryset = runs.order_by("team__name", "tag")
        self.fields["runs"].initial = [run.pk for run in runs]


class WebhookForm(forms.Form):
    url = forms.URLField(label="Address", max_length=500, assume_scheme="https")
    happenings = forms.MultipleChoiceField(
        label="When",
        choices=Happening.choices,
        widget=forms.CheckboxSelectMultiple,
        initial=Happening.values,
    )

    def clean_url(self) -> str:
        try:
            checked_url(self.cleaned_data["url"])
        except NotCalled as reason:
            raise ValidationError(str(reason)) from None
        return self.cleaned_data["url"]


class TakeOffForm(forms.Form):
    how = forms.ChoiceField(
        label="How",
        choices=[
            ("disqualified", "Disqualify: its address says so, with the reason"),
            ("hidden", "Hide: only its team and organisers know of it"),
        ],
        widget=forms.RadioSelect,
        initial="disqualified",
    )
    reason = forms.CharField(
        label="Reason", max_length=500, widget=forms.Textarea(attrs={"rows": 2})
    )


class SnapshotForm(forms.Form):
    name = forms.CharField(
        label="Name", max_length=120, help_text="Such as: as published in the overview paper."
    )
    note = forms.CharField(
        label="Note", max_length=2000, required=False, widget=forms.Textarea(attrs={"rows": 2})
    )


class JoinForm(forms.Form):
    team_name = forms.CharField(
        label="Name of your team",
        max_length=80,
        required=False,
        help_text="Left empty, your own name. It stands on the board.",
    )
    accepts_terms = forms.BooleanField(
        label="I accept the terms", error_messages={"required": "Accept the terms to take part."}
    )

    def __init__(self, *args: Any, track: Track, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not track.terms:
            del self.fields["accepts_terms"]


class TokenForm(forms.Form):
    name = forms.CharField(max_length=80, required=False, label="What it is for")
    scopes = forms.MultipleChoiceField(
        label="What it may do",
        choices=[
            ("read", "Read what I may see"),
            ("submit", "Submit runs"),
            ("organise", "Organise my collections and tracks"),
        ],
        widget=forms.CheckboxSelectMultiple,
        initial=["read", "submit"],
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not user.may_organise:
            self.fields["scopes"].choices = self.fields["scopes"].choices[:2]


GOOD_PASSWORD = "At least 8 characters; no common word, nothing like your name."


class Unprompted(forms.BaseForm):
    """A form of allauth without the words inside its fields: the labels say them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.widget.attrs.pop("placeholder", None)
        if "password1" in self.fields:
            self.fields["password1"].help_text = GOOD_PASSWORD


class SignInForm(Unprompted, allauth.LoginForm):
    pass


class SignUpForm(Unprompted, allauth.SignupForm):
    pass


class ChangePasswordForm(Unprompted, allauth.ChangePasswordForm):
    pass


class ResetPasswordForm(Unprompted, allauth.ResetPasswordForm):
    pass


class NewPasswordForm(Unprompted, allauth.ResetPasswordKeyForm):
    pass


class AnnouncementForm(forms.Form):
    text = forms.CharField(
        label="Announcement",
        max_length=2000,
        help_text="Stands on the pages of the track; whoever takes part gets a notice.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )


class GrantForm(forms.Form):
    """More runs for a team of the track."""

    team = forms.ModelChoiceField(Team.objects.none(), label="Team", empty_label=None)
    runs = forms.IntegerField(label="Runs more", min_value=1, max_value=10_000)
    today = forms.TypedChoiceField(
        label="When",
        choices=[("today", "today (UTC)"), ("in all", "in all")],
        coerce=lambda word: word == "today",
        widget=forms.RadioSelect,
        initial="today",
    )
    reason = forms.CharField(label="Reason", max_length=300, required=False)

    def __init__(self, *args: Any, track: Track, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["team"].queryset = track.teams.filter(of_organisers=False).order_by("name")
