"""The form that creates a track or changes its settings."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.core.exceptions import ValidationError

from evaluation.reading.recognition import RUN_FORMATS
from leaderboard.actions.names import LARGEST_INTEGER
from leaderboard.models import Collection, JudgmentSet, Track
from leaderboard.models.collections import ImportState
from leaderboard.pages.forms.fields import (
    ZONES,
    LocalTimeField,
    MeasuresField,
    TextareaWithPlainLineEnds,
    TopicsField,
    find_zone,
    parse_known_measure,
    place_in_zone,
    refuse_larger,
)
from leaderboard.pages.forms.names import SHORT_NAME, TAKEN, refuse_reserved, unused_slug
from leaderboard.runs.facts import REQUIRABLE
from leaderboard.scoring.editions import draw_public_topics
from leaderboard.scoring.judgments import explain_first_missing

MEASURES = ["AP", "nDCG@10", "P@10", "RR", "R@1000"]
# What happens to a run, as the form and the About page say it.
RULE_CHOICES = {
    "missing_topics": [
        ("warn", "gets a warning; judged topics score 0"),
        ("refuse", "is rejected"),
    ],
    "unknown_documents": [("refuse", "rejects the run"), ("drop", "is ignored")],
    "duplicates": [("refuse", "rejects the run"), ("keep_best", "keeps its best score")],
    "repeated_tags": [("warn", "gets a warning"), ("refuse", "is rejected")],
}
NUMBER_FIELDS = ("relevance_threshold", "depth", "quota_per_day", "quota_total", "grace_minutes")
DATE_FIELDS = ("opens_at", "closes_at", "release_at")
# If these are empty, the track gets the default.
OPTIONAL_WITH_DEFAULT = ("ladder_step", "grace_minutes", "late_runs", "attempts_per_day")


class TrackForm(forms.ModelForm):
    measures = MeasuresField(
        initial=MEASURES, help_text="The first ranks the board unless you choose another."
    )
    primary_measure = forms.CharField(
        label="Ranking measure",
        required=False,
        max_length=80,
        help_text="Default: the first measure.",
    )
    excluded_topics = TopicsField(
        label="Excluded topics",
        required=False,
        help_text="Topic numbers, separated by commas. Excluded from all means.",
    )
    ladder_step = forms.FloatField(
        label="Ladder step",
        required=False,
        min_value=0,
        max_value=0.5,
        help_text="Shows a team’s score only if it beats its last one by more than this, "
        "such as 0.005. 0 shows all scores.",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    public_topics = TopicsField(
        label="Public topics",
        required=False,
        help_text="Used for the leaderboard until release. Only organisers see which.",
    )
    public_share = forms.IntegerField(
        label="Or draw at random (%)",
        required=False,
        min_value=1,
        max_value=99,
        help_text="Drawn again on each save while set.",
    )
    zone = forms.CharField(
        label="Time zone for dates",
        initial="UTC",
        required=False,
        widget=forms.TextInput(attrs={"list": "zones"}),
        help_text="Such as Europe/Berlin or Anywhere on Earth.",
    )
    zones = tuple(ZONES)
    run_formats = forms.MultipleChoiceField(
        label="Run formats",
        choices=list(RUN_FORMATS.items()),
        initial=["trec"],
        widget=forms.CheckboxSelectMultiple,
        help_text="Other formats are rejected. If a format has no tag, "
        "the upload form asks for one.",
    )

    required_facts = forms.MultipleChoiceField(
        label="Required facts",
        choices=[(fact.name, fact.label) for fact in REQUIRABLE],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Other facts are optional. The form asks for these first.",
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
            "relevance_threshold": "Lowest relevant grade",
            "depth": "Documents per topic",
            "drop_empty_topics": "Exclude topics with no relevant document",
            "test": "Test against the baseline",
            "opens_at": "Opens",
            "closes_at": "Closes",
            "release_at": "Planned release",
            "grace_minutes": "Grace (minutes)",
            "late_runs": "Late runs",
            "exclusion_reason": "Reason for exclusion",
            "quota_per_day": "Runs per team per day",
            "quota_total": "Runs per team in total",
            "attempts_per_day": "Rejected files per team per day",
            "missing_topics": "A run with missing topics",
            "unknown_documents": "A document not in the collection",
            "duplicates": "A duplicate document",
            "repeated_tags": "A tag the team has used before",
            "disclosure": "Scores",
            "pseudonyms": "Use pseudonyms for teams and runs until release",
            "shares_judgments": "Judgments download for all who see every score",
            "visibility": "Who sees the track",
            "joining": "Who can join",
            "terms": "Terms",
            "selection": "Runs shown on the board",
        }
        help_texts = {
            "slug": SHORT_NAME,
            "missing_topics": "All topics count; once everyone sees all scores, judged topics.",
            "pseudonyms": "Organisers see both names. Teams see their own.",
            "shares_judgments": "The board’s judgments, once topics and grades show, "
            "without excluded topics.",
            "terms": "Teams must accept these to join.",
            "relevance_threshold": "This grade and above is relevant for AP, P and R.",
            "depth": "Runs with more per topic are rejected.",
            "release_at": "Shown on the track. You still release the scores yourself.",
            "grace_minutes": "Runs within this time after the deadline count as on time.",
            "exclusion_reason": "Visible to everyone who sees the track.",
            "quota_per_day": "Leave empty for no limit.",
            "quota_total": "Leave empty for no limit.",
        }
        error_messages = {"slug": {"unique": TAKEN}}
        widgets = {
            "description": TextareaWithPlainLineEnds(attrs={"rows": 4}),
            "terms": TextareaWithPlainLineEnds(attrs={"rows": 3}),
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
        self.fields["judgment_set"].empty_label = "none yet (valid runs will wait)"
        for name in ("slug", *OPTIONAL_WITH_DEFAULT):
            self.fields[name].required = False
        for name in NUMBER_FIELDS:
            self.fields[name].max_value = LARGEST_INTEGER
            self.fields[name].validators.append(refuse_larger)
        for name in DATE_FIELDS:
            label, words = self.fields[name].label, self.fields[name].help_text
            self.fields[name] = LocalTimeField(label=label, help_text=words, required=False)
        for name, choices in RULE_CHOICES.items():
            self.fields[name].choices = choices

    def clean_slug(self) -> str:
        return refuse_reserved(self.cleaned_data["slug"])

    def clean_excluded_topics(self) -> list[str]:
        return self._check_topics(self.cleaned_data["excluded_topics"])

    def clean_public_topics(self) -> list[str]:
        return self._check_topics(self.cleaned_data["public_topics"])

    def _check_topics(self, wanted: list[str]) -> list[str]:
        known = self.collection.topics.filter(number__in=wanted)
        unknown = set(wanted) - set(known.values_list("number", flat=True))
        if unknown:
            raise ValidationError(f"Not in the collection: {', '.join(sorted(unknown))}.")
        return wanted

    def clean_zone(self) -> ZoneInfo:
        return find_zone(self.cleaned_data["zone"] or "UTC")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        for name in OPTIONAL_WITH_DEFAULT:
            if cleaned.get(name) in (None, ""):
                cleaned[name] = Track._meta.get_field(name).get_default()
        if not cleaned.get("slug") and cleaned.get("name"):
            cleaned["slug"] = unused_slug(cleaned["name"], Track)
        self._choose_ranking_measure(cleaned)
        self._check_judgments(cleaned)
        for name in DATE_FIELDS:
            self._place_in_zone(cleaned, name)
        if cleaned.get("excluded_topics") and not cleaned.get("exclusion_reason"):
            self.add_error("exclusion_reason", "Enter a reason for excluding topics.")
        self._draw_public_topics(cleaned)
        opens, closes = cleaned.get("opens_at"), cleaned.get("closes_at")
        if opens and closes and closes <= opens:
            self.add_error("closes_at", "Must be after the opening time.")
        if closes and cleaned.get("release_at") and cleaned["release_at"] < closes:
            self.add_error("release_at", "Set the release on or after the closing time.")
        return cleaned

    @property
    def changes(self) -> dict[str, Any]:
        """The changed fields of the track, with public topics if new ones are drawn."""
        names = set(self.changed_data)
        if "public_share" in names:
            names.add("public_topics")
        return {name: self.cleaned_data[name] for name in self.Meta.fields if name in names}

    def _draw_public_topics(self, cleaned: dict[str, Any]) -> None:
        """Draw the public topics; they and a ladder step need leaderboard disclosure."""
        share, left_out = cleaned.get("public_share"), cleaned.get("excluded_topics") or []
        if share:
            cleaned["public_topics"] = draw_public_topics(self.collection, left_out, share)
        for name in ("ladder_step", "public_topics"):
            if cleaned.get(name) and cleaned.get("disclosure") != Track.Disclosure.LEADERBOARD:
                self.add_error(name, "Only available with rounded leaderboard means.")

    def _choose_ranking_measure(self, cleaned: dict[str, Any]) -> None:
        measures = cleaned.get("measures") or []
        wanted = cleaned.get("primary_measure") or (measures[0] if measures else "")
        cleaned["primary_measure"] = wanted
        if not measures or wanted in measures:
            return
        try:
            parse_known_measure(wanted)
        except ValidationError as error:
            self.add_error("primary_measure", error)
        else:
            cleaned["measures"] = [wanted, *measures]

    def _check_judgments(self, cleaned: dict[str, Any]) -> None:
        """Refuse measures that the chosen judgments cannot give."""
        judgment_set, measures = cleaned.get("judgment_set"), cleaned.get("measures") or []
        reason = explain_first_missing(measures, judgment_set) if judgment_set is not None else ""
        if reason:
            self.add_error("measures", f"{reason}.")

    def _place_in_zone(self, cleaned: dict[str, Any], name: str) -> None:
        local, zone = cleaned.get(name), cleaned.get("zone")
        if local is None or zone is None or local.tzinfo is not None:
            return
        try:
            placed = place_in_zone(local, zone)
        except (ValidationError, OverflowError):
            self.add_error(name, f"This time does not exist in {zone.key}.")
            return
        # The form shows no fractions of a second, so saving must not remove them.
        stored = getattr(self.instance, name)
        is_as_printed = stored is not None and placed == stored.replace(microsecond=0)
        cleaned[name] = stored if is_as_printed else placed
