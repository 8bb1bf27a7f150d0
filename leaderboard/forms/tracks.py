"""What an organiser says of a track when it is made or changed."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.core.exceptions import ValidationError

from evaluation.reading.recognition import RUN_FORMATS
from leaderboard.facts import REQUIRABLE
from leaderboard.forms.fields import (
    LARGEST,
    ZONES,
    LocalTimeField,
    MeasuresField,
    Paragraphs,
    TopicsField,
    in_zone,
    known_measure,
    known_zone,
    no_larger,
)
from leaderboard.forms.names import SHORT_NAME, TAKEN, refuse_reserved, unused_slug
from leaderboard.models import Collection, JudgmentSet, Track
from leaderboard.models.collections import ImportState
from leaderboard.splitting import drawn_of

MEASURES = ["AP", "nDCG@10", "P@10", "RR", "R@1000"]
# What becomes of a run, in the words that the form and the page about a track use.
RULES = {
    "missing_topics": [("warn", "gets a warning; the topic counts 0"), ("refuse", "is refused")],
    "unknown_documents": [("refuse", "refuses the run"), ("drop", "is left out")],
    "duplicates": [("refuse", "refuses the run"), ("keep_best", "keeps its best place")],
    "repeated_tags": [("warn", "gets a warning"), ("refuse", "is refused")],
}
NUMBERS = ("relevance_threshold", "depth", "quota_per_day", "quota_total", "grace_minutes")
DATES = ("opens_at", "closes_at", "release_at")
# What is left empty is what a new track has.
HAVE_DEFAULTS = ("ladder_step", "grace_minutes", "late_runs", "attempts_per_day")


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
    ladder_step = forms.FloatField(
        label="Step of the ladder",
        required=False,
        min_value=0,
        max_value=0.5,
        help_text="Of a team a score shows only where it beats the last one by more than this, "
        "such as 0.005; at 0 every score shows.",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    public_topics = TopicsField(
        label="Public topics",
        required=False,
        help_text="Those that make the leaderboard until the release; nobody else reads which.",
    )
    public_share = forms.IntegerField(
        label="Or draw so many per cent",
        required=False,
        min_value=1,
        max_value=99,
        help_text="Drawn anew at each save with a number here.",
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
            "ladder_step",
            "public_topics",
            "pseudonyms",
            "shares_judgments",
            "visibility",
            "joining",
            "terms",
            "selection",
            "opens_at",
            "closes_at",
            "release_at",
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
            "release_at": "Release planned for",
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
            "pseudonyms": "Other names for teams and runs until the release",
            "shares_judgments": "The judgments as a file for all who see every score",
            "visibility": "Who sees the track",
            "joining": "Who takes part",
            "terms": "Terms",
            "selection": "Which runs stand on the board",
        }
        help_texts = {
            "slug": SHORT_NAME,
            "pseudonyms": "Organisers read both; a team reads its own name.",
            "shares_judgments": "Those behind the board, once topics and grades show; "
            "not of topics left out.",
            "terms": "Who takes part has to accept them first.",
            "relevance_threshold": "From this grade on a document is relevant to AP, P and R.",
            "depth": "A run with more for a topic is refused.",
            "release_at": "Shown with the track; the release itself stays an act of yours.",
            "grace_minutes": "After the deadline runs are taken for so long as if in time.",
            "exclusion_reason": "Everybody who sees the track reads it.",
            "quota_per_day": "Left empty, there is no limit.",
            "quota_total": "Left empty, there is no limit.",
        }
        error_messages = {"slug": {"unique": TAKEN}}
        widgets = {
            "description": Paragraphs(attrs={"rows": 4}),
            "terms": Paragraphs(attrs={"rows": 3}),
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
        for name in DATES:
            label, words = self.fields[name].label, self.fields[name].help_text
            self.fields[name] = LocalTimeField(label=label, help_text=words, required=False)
        for name, choices in RULES.items():
            self.fields[name].choices = choices

    def clean_slug(self) -> str:
        return refuse_reserved(self.cleaned_data["slug"])

    def clean_excluded_topics(self) -> list[str]:
        return self._known(self.cleaned_data["excluded_topics"])

    def clean_public_topics(self) -> list[str]:
        return self._known(self.cleaned_data["public_topics"])

    def _known(self, wanted: list[str]) -> list[str]:
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
        for name in DATES:
            self._place_in_zone(cleaned, name)
        if cleaned.get("excluded_topics") and not cleaned.get("exclusion_reason"):
            self.add_error("exclusion_reason", "Say why these topics are left out.")
        self._split(cleaned)
        opens, closes = cleaned.get("opens_at"), cleaned.get("closes_at")
        if opens and closes and closes <= opens:
            self.add_error("closes_at", "The track closes before it opens.")
        if closes and cleaned.get("release_at") and cleaned["release_at"] < closes:
            self.add_error("release_at", "The release is planned before the track closes.")
        return cleaned

    @property
    def changes(self) -> dict[str, Any]:
        """The fields of the track that were changed; the drawn topics are one of them."""
        names = set(self.changed_data)
        if "public_share" in names:
            names.add("public_topics")
        return {name: self.cleaned_data[name] for name in self.Meta.fields if name in names}

    def _split(self, cleaned: dict[str, Any]) -> None:
        """Draw the public topics; they and a ladder belong to a leaderboard."""
        share, left_out = cleaned.get("public_share"), cleaned.get("excluded_topics") or []
        if share:
            cleaned["public_topics"] = drawn_of(self.collection, left_out, share)
        for name in ("ladder_step", "public_topics"):
            if cleaned.get(name) and cleaned.get("disclosure") != Track.Disclosure.LEADERBOARD:
                self.add_error(name, "Only a leaderboard of rounded means has that.")

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
            placed = in_zone(local, zone)
        except (ValidationError, OverflowError):
            self.add_error(name, f"This time does not exist in {zone.key}.")
            return
        # Fractions of a second are not printed, so they are not taken away either.
        stored = getattr(self.instance, name)
        is_as_printed = stored is not None and placed == stored.replace(microsecond=0)
        cleaned[name] = stored if is_as_printed else placed
