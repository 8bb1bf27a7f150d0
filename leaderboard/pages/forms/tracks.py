"""The form that creates a track or changes its settings."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.core.exceptions import ValidationError
from django.db import models
from django.forms.boundfield import BoundField
from django.utils.text import capfirst

from evaluation.answers.lengths import NAMES
from evaluation.answers.rules import PRESETS
from evaluation.reading.recognition import RUN_FORMATS
from leaderboard.actions.default_tracks import MEASURES
from leaderboard.actions.names import clean_commit_url, unused_slug
from leaderboard.actions.track_settings import FIXED, SHARED_DATES, check, match_spelling
from leaderboard.display.numbers import score
from leaderboard.models import Benchmark, Collection, JudgmentSet, MarkLayer, Track
from leaderboard.models.collections import ImportState
from leaderboard.models.nuggets import ABOUT_OF
from leaderboard.models.track_settings import setting_fields
from leaderboard.pages.forms.fields import (
    AOE,
    SHORT_NAME,
    TAKEN,
    ZONES,
    LocalTimeField,
    MeasuresField,
    TextareaWithPlainLineEnds,
    TopicsField,
    find_zone,
    place_times_in_zone,
    refuse_larger,
    refuse_reserved,
)
from leaderboard.pages.forms.other_saves import SeesOtherSaves, list_words
from leaderboard.pages.forms.track_sections import (
    ANSWERED,
    GROUPS,
    FieldRow,
    Section,
    list_rows,
    rows_of_group,
)
from leaderboard.runs.facts import REQUIRABLE
from leaderboard.scoring.editions import draw_public_topics
from leaderboard.scoring.kinds import KINDS
from leaderboard.scoring.ladder import propose_step

SETTINGS = {model_field.name: model_field for model_field in setting_fields(Track)}
# Who can join and how runs name their code, of a benchmark with one track.
RULES = {model_field.name: model_field for model_field in setting_fields(Benchmark)}
DATES = [
    name for name, model_field in SETTINGS.items() if isinstance(model_field, models.DateTimeField)
]
EMPTY_FOR_DEFAULT = [
    name for name, model_field in SETTINGS.items() if model_field.setting.may_be_empty
]
COMPARED = (
    "Judges are compared with these marks of people. They are of a track of answers on this "
    "collection, in this benchmark."
)
AS_THE_RULES = "as the rules say"
OVER = {
    "refuse": "run rejected",
    "cut": "cut by whole sentences",
    "warn": "warning",
}
VIEWS = {
    "cited": "cited documents, by first citation",
    "references": "references",
}
# Settings whose form field does not follow from the type of the model field.
FORM_FIELDS: dict[str, Callable[..., forms.Field]] = {
    "measures": partial(MeasuresField, initial=MEASURES),
    "primary_measure": partial(forms.CharField, required=False, max_length=80),
    "excluded_topics": partial(TopicsField, required=False),
    "public_topics": partial(TopicsField, required=False),
    "run_formats": partial(
        forms.MultipleChoiceField,
        choices=list(RUN_FORMATS.items()),
        initial=["trec"],
        widget=forms.CheckboxSelectMultiple,
    ),
    "run_kind": partial(
        forms.ChoiceField, choices=[(kind.name, kind.label) for kind in KINDS.values()]
    ),
    "answer_rules": partial(
        forms.ChoiceField, choices=[(name, name) for name in PRESETS], initial="common"
    ),
    "answer_unit": partial(forms.ChoiceField, choices=[("", AS_THE_RULES), *NAMES.items()]),
    "answer_over": partial(forms.ChoiceField, choices=[("", AS_THE_RULES), *OVER.items()]),
    "answer_ranking": partial(forms.ChoiceField, choices=list(VIEWS.items())),
    # The layers are those of the track.
    "assignments": forms.ChoiceField,
    "support": forms.ChoiceField,
    # The tracks are those beside it.
    "systems": forms.ChoiceField,
    "required_facts": partial(
        forms.MultipleChoiceField,
        choices=[(fact.name, fact.label) for fact in REQUIRABLE],
        required=False,
        widget=forms.CheckboxSelectMultiple,
    ),
}


def build_form_field(model_field: models.Field, **options: Any) -> forms.Field:
    """Build the form field of a model field; a setting brings its words and bounds."""
    if model_field.name not in SETTINGS | RULES:
        return model_field.formfield(**options)
    setting = model_field.setting
    words = {"help_text": setting.hint} | ({"label": setting.label} if setting.label else {})
    if model_field.name in FORM_FIELDS:
        may_be_empty = {"required": False} if setting.may_be_empty else {}
        return FORM_FIELDS[model_field.name](**words, **may_be_empty)
    if isinstance(model_field, models.DateTimeField):
        return LocalTimeField(required=False, **words)
    if isinstance(model_field, models.FloatField):
        bounds = {"min_value": setting.least, "max_value": setting.most}
        widget = forms.NumberInput(attrs={"step": "any"})
        return forms.FloatField(required=False, widget=widget, **bounds, **words)
    form_field = model_field.formfield(**options, **words)
    if isinstance(model_field, models.IntegerField):
        form_field.max_value = setting.most
        form_field.validators.append(partial(refuse_larger, most=setting.most))
    if setting.choices:
        form_field.choices = list(setting.choices.items())
    if setting.may_be_empty:
        form_field.required = False
    return form_field


class TrackForm(SeesOtherSaves, forms.ModelForm):
    """All settings of a new track, or those of a section of one that exists."""

    public_share = forms.IntegerField(
        label="Or draw at random (%)",
        required=False,
        min_value=1,
        max_value=99,
        help_text="If set, topics are drawn again on each save.",
    )
    zone = forms.CharField(
        label="Time zone for dates",
        initial=AOE,
        required=False,
        widget=forms.TextInput(attrs={"list": "zones"}),
        help_text="Such as Europe/Berlin or Anywhere on Earth.",
    )
    zones = tuple(ZONES)
    joining = build_form_field(RULES["joining"], widget=forms.RadioSelect)
    terms = build_form_field(RULES["terms"], widget=TextareaWithPlainLineEnds(attrs={"rows": 3}))
    main_branch = build_form_field(RULES["main_branch"])
    commit_url = build_form_field(RULES["commit_url"])

    class Meta:
        model = Track
        fields = ["slug", *SETTINGS]
        labels = {"slug": "Short name"}
        help_texts = {"slug": SHORT_NAME}
        formfield_callback = build_form_field
        error_messages = {"slug": {"unique": TAKEN}}
        widgets = {
            "description": TextareaWithPlainLineEnds(attrs={"rows": 4}),
            "disclosure": forms.RadioSelect,
            "visibility": forms.RadioSelect,
            "selection": forms.RadioSelect,
        }

    def __init__(
        self, *args: Any, collection: Collection, section: Section | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.collection, self.section = collection, section
        self.instance.collection = collection
        self.fields["judgment_set"].queryset = JudgmentSet.objects.filter(
            collection=collection, state=ImportState.READY
        )
        newest = self.fields["judgment_set"].queryset.last()
        if self.instance.pk is None and newest is not None:
            self.initial["relevance_threshold"] = newest.relevant_from
        for name in DATES:
            stored = self.initial.get(name)
            if isinstance(stored, datetime) and stored.tzinfo is not None:
                self.initial[name] = stored.astimezone(find_zone(AOE)).replace(tzinfo=None)
        self.fields["slug"].required = False
        if self.instance.pk is not None:
            self._show_rules(self.instance.benchmark)
        for name, about in ABOUT_OF.items():
            ready = MarkLayer.objects.open_to(self.instance).filter(about=about)
            choices = [(each.version, f"{each.version}, {each.origin}") for each in ready]
            self.fields[name].choices = [("", "none"), *choices]
            if self.instance.judged_marks == about:
                self.fields[name].help_text = COMPARED
        beside = Track.objects.ranked_by(self.instance)
        self.fields["systems"].choices = [
            ("", "none"),
            *((each.slug, each.name) for each in beside),
        ]
        for name in FIXED:
            self.fields[name].disabled = self.instance.pk is not None
        self.fields["judgment_set"].empty_label = "none yet (valid runs will wait)"
        self._warn_of_small_step()
        if section is not None:
            self.fields = {name: self.fields[name] for name in section.names}

    def _show_rules(self, benchmark: Benchmark) -> None:
        for name in RULES:
            self.initial[name] = getattr(benchmark, name)
            if benchmark.has_several_tracks:
                self.fields[name].disabled = True
                self.fields[name].help_text = "A setting of its benchmark."

    def _warn_of_small_step(self) -> None:
        """Propose a step that equal runs rarely pass, and say so if the step is smaller."""
        edition = self.instance.edition if self.instance.pk is not None else None
        least = propose_step(edition) if edition is not None else None
        if least is None:
            return
        words = f" On this board an equal run passes {score(least)} once in 40 times."
        if 0 < self.instance.ladder_step < least:
            words += " A smaller step, such as yours, shows luck."
        self.fields["ladder_step"].help_text += words

    def list_theirs(self, field: BoundField) -> list[str]:
        """Return a saved date in the zone in which this form was sent."""
        saved = self.initial.get(field.name)
        if field.name not in DATES or saved is None:
            return super().list_theirs(field)
        try:
            zone = find_zone(self.data.get("zone") or AOE)
        except ValidationError:
            zone = find_zone(AOE)
        there = saved.replace(tzinfo=find_zone(AOE)).astimezone(zone).replace(tzinfo=None)
        return list_words(field, there)

    def clean_slug(self) -> str:
        return refuse_reserved(self.cleaned_data["slug"])

    def clean_commit_url(self) -> str:
        try:
            return clean_commit_url(self.cleaned_data["commit_url"])
        except ValueError as reason:
            raise ValidationError(f"This {reason}.") from None

    def clean_zone(self) -> ZoneInfo:
        return find_zone(self.cleaned_data["zone"] or AOE)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        for name in EMPTY_FOR_DEFAULT:
            if name in self.fields and cleaned.get(name) in (None, ""):
                cleaned[name] = Track._meta.get_field(name).get_default()
        if "slug" in self.fields and not cleaned.get("slug") and cleaned.get("name"):
            cleaned["slug"] = unused_slug(cleaned["name"], Track)
        self._choose_ranking_measure(cleaned)
        if "zone" in self.fields:
            place_times_in_zone(self, cleaned, DATES)
            self._keep_fractions(cleaned)
        if share := cleaned.get("public_share"):
            left_out = cleaned.get("excluded_topics", self.instance.excluded_topics) or []
            cleaned["public_topics"] = draw_public_topics(self.collection, left_out, share)
        self._check_together(cleaned)
        return cleaned

    @property
    def rows(self) -> list[FieldRow]:
        """The rows of its section, or what everybody answers of a new track."""
        return list_rows(self, ANSWERED if self.section is None else self.section.rows)

    @property
    def groups(self) -> dict[str, list[FieldRow]]:
        """The rows of the closed groups of a new track."""
        return {name: list_rows(self, rows_of_group(name)) for name in GROUPS}

    @property
    def open_groups(self) -> set[str]:
        """The closed groups in which something is wrong."""
        wrong = set(self.errors)
        rows = {name: rows_of_group(name) for name in GROUPS}
        return {name for name in GROUPS if any(wrong & {*row.names} for row in rows[name])}

    def refuse(self, reason: str) -> None:
        """Say at the field that was changed why it cannot be saved."""
        places = [name for name in (*SHARED_DATES, "disclosure") if name in self.changed_data]
        self.add_error(places[0] if places else None, reason)

    @property
    def touched(self) -> dict[str, Any]:
        """What a reader entered besides the initial values, to show it in another form."""
        return {name: self[name].value() for name in self.changed_data}

    @property
    def changes(self) -> dict[str, Any]:
        """The changed fields of the track, with public topics if new ones are drawn."""
        names = set(self.changed_data)
        if "public_share" in names:
            names.add("public_topics")
        if "zone" in names:
            names.update(DATES)
        return {name: self.cleaned_data[name] for name in self.Meta.fields if name in names}

    @property
    def rules(self) -> dict[str, Any]:
        """The rules of the benchmark: all of a new one, else those that changed."""
        names = RULES if self.section is None else RULES.keys() & set(self.changed_data)
        return {name: self.cleaned_data[name] for name in names}

    def _choose_ranking_measure(self, cleaned: dict[str, Any]) -> None:
        """Rank by the first measure if none is named; one that is not listed becomes the first."""
        measures = cleaned.get("measures")
        if not measures:
            return
        wanted = cleaned.get("primary_measure") or measures[0]
        try:
            cleaned["primary_measure"] = match_spelling(wanted, measures)
        except ValueError as error:
            self.add_error("primary_measure", str(error))
        else:
            if cleaned["primary_measure"] not in measures:
                cleaned["measures"] = [wanted, *measures]

    def _check_together(self, cleaned: dict[str, Any]) -> None:
        """Add what is wrong with fields that are right by themselves."""
        asked = [name for name in SETTINGS if name in self.fields]
        for problem in check(self.instance, {name: cleaned.get(name) for name in asked}):
            if problem.field not in self.fields:
                setting = SETTINGS[problem.field]
                label = setting.setting.label or capfirst(setting.verbose_name)
                self.add_error(None, f"{label}: {problem.message}")
            elif not self.has_error(problem.field):
                self.add_error(problem.field, problem.message)

    def _keep_fractions(self, cleaned: dict[str, Any]) -> None:
        """Keep the stored dates that are unchanged: the form shows no fractions of a second."""
        for name in DATES:
            stored = getattr(self.instance, name)
            if stored is not None and cleaned.get(name) == stored.replace(microsecond=0):
                cleaned[name] = stored
