"""Forms for collections, judgments and pools."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from django import forms

from leaderboard.actions.names import unused_slug
from leaderboard.actions.uploads import JudgmentsPart
from leaderboard.collections.pools import find_priority, sort_by_turn
from leaderboard.collections.published import (
    UnavailableCollectionError,
    load_dataset,
    offers_datasets,
)
from leaderboard.models import Collection, JudgmentSet, Pool, Run, Track
from leaderboard.models.pools import OF_ANSWERS
from leaderboard.pages.forms.fields import (
    SHORT_NAME,
    TAKEN,
    NewFileField,
    TextareaWithPlainLineEnds,
    refuse_reserved,
)
from leaderboard.pages.forms.other_saves import SeesOtherSaves
from leaderboard.scoring.kinds import kind_of

FILES = ("topics", "documents", "judgments", "intents", "groups")


class CollectionWordsForm(SeesOtherSaves, forms.ModelForm):
    """What is said of a collection; its files and its short name never change."""

    source_url = forms.URLField(
        label="Where to get documents that may not be shared",
        required=False,
        max_length=300,
        assume_scheme="https",
    )

    class Meta:
        model = Collection
        fields = ["name", "description", "licence", "source_url", "source_note"]
        labels = {"source_note": "How to get them"}
        help_texts = {"licence": "Of documents and topics, such as CC BY 4.0."}
        widgets = {
            "description": TextareaWithPlainLineEnds(attrs={"rows": 4}),
            "source_note": TextareaWithPlainLineEnds(attrs={"rows": 2}),
        }


class CollectionForm(forms.ModelForm):
    dataset = forms.CharField(
        label="Dataset of ir_datasets",
        max_length=200,
        required=False,
        help_text="Instead of files, such as beir/scifact/test. It needs topics, documents and "
        "judgments.",
    )
    beir = NewFileField(label="Zip of BEIR", required=False)
    split = forms.CharField(
        label="Split",
        max_length=80,
        required=False,
        help_text="Whose judgments to import: test, or the only one, if left empty.",
    )
    # Unless they come with a zip of BEIR or from a dataset.
    topics = NewFileField(label="Topics", required=False)
    documents = NewFileField(label="Documents", required=False)
    judgments = NewFileField(label="Judgments", required=False)
    intents = NewFileField(label="Probabilities of subtopics", required=False)
    groups = NewFileField(label="Groups of topics", required=False)
    version = forms.SlugField(
        label="Judgments version",
        initial="v1",
        max_length=40,
        help_text="Later judgments get a new version.",
    )

    class Meta:
        model = Collection
        fields = ["name", "slug", "description"]
        labels = {"slug": "Short name"}
        help_texts = {"slug": SHORT_NAME}
        error_messages = {"slug": {"unique": TAKEN}}
        widgets = {"description": TextareaWithPlainLineEnds(attrs={"rows": 2})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["slug"].required = False
        self.fields["version"].required = False
        if not offers_datasets():
            del self.fields["dataset"]

    def clean_version(self) -> str:
        return self.cleaned_data["version"] or "v1"

    def clean_dataset(self) -> str:
        name: str = self.cleaned_data["dataset"]
        if not name:
            return ""
        if any(self.files.get(part) for part in (*FILES, "beir")):
            raise forms.ValidationError("Name a dataset or upload files, not both.")
        try:
            load_dataset(name)
        except UnavailableCollectionError as reason:
            raise forms.ValidationError(f"{reason}.") from None
        self.instance.dataset = name
        return name

    def clean_slug(self) -> str:
        return refuse_reserved(self.cleaned_data["slug"])

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        named = "dataset" in self.fields and self.data.get("dataset")
        if "beir" in self.files and any(part in self.files for part in FILES):
            self.add_error("beir", "Upload a zip of BEIR or single files, not both.")
        elif not (named or "beir" in self.files or "topics" in self.files):
            or_dataset = ", or name a dataset" if "dataset" in self.fields else ""
            self.add_error("topics", f"Upload topics, or a zip of BEIR{or_dataset}.")
        if not cleaned.get("slug") and cleaned.get("name"):
            self.instance.slug = cleaned["slug"] = unused_slug(cleaned["name"], Collection)
        return cleaned


class JudgmentsForm(forms.Form):
    version = forms.SlugField(label="Version", max_length=40)
    file = NewFileField(label="File")
    intents = NewFileField(
        label="Probabilities of subtopics",
        required=False,
        help_text="Only for judgments of subtopics. Lines: topic subtopic probability.",
    )
    joining = forms.ChoiceField(
        label="The file is",
        choices=[("", "decided after the check"), *JudgmentSet.Joining.choices],
        required=False,
    )
    conflict_rule = forms.ChoiceField(
        label="Where both have judged a document",
        choices=[("", "ask me"), *JudgmentSet.ConflictRule.choices],
        required=False,
    )
    note = forms.CharField(
        label="Note",
        max_length=2000,
        required=False,
        widget=TextareaWithPlainLineEnds(attrs={"rows": 2}),
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        joining, rule = (cleaned.pop(name, "") for name in ("joining", "conflict_rule"))
        return {**cleaned, "part": JudgmentsPart(joining, conflict_rule=rule)}


class PoolForm(forms.Form):
    """The runs and the method of a new pool; runs are grouped by team, by priority."""

    runs = forms.ModelMultipleChoiceField(
        Run.objects.none(),
        label="Runs",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "A pool needs at least one run."},
    )
    runs_per_team = forms.IntegerField(
        label="Runs per team",
        min_value=1,
        max_value=100,
        required=False,
        help_text="Maximum per team, by stated priority, otherwise earliest first. "
        "Leave empty for all chosen runs.",
    )
    method = forms.ChoiceField(label="Method")
    size = forms.IntegerField(
        label="N", min_value=1, max_value=1000, initial=100, help_text="1 to 1,000."
    )
    drawn = forms.IntegerField(
        label="Pairs to judge",
        min_value=10,
        max_value=1_000_000,
        required=False,
        help_text="Of all runs together, drawn at random with stored probabilities. Leave empty "
        "for every pair.",
    )

    def __init__(self, *args: Any, track: Track, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        has_texts = kind_of(track).has_texts
        self.fields["method"].choices = list_methods(has_texts)
        if has_texts:
            earlier = track.pools.filter(method=self.initial.get("method")).last()
            self.fields["size"].initial = earlier.size if earlier else 3
            self.fields["size"].help_text = "1 to 1,000. Every answer with every nugget needs none."
        else:
            del self.fields["drawn"]
        runs = track.runs.accepted().not_removed().select_related("team")
        in_turn = sort_by_turn(runs)
        self.fields["runs"].queryset = runs
        self.fields["runs"].initial = [run.pk for run in in_turn]
        teams = groupby(in_turn, key=lambda run: run.team.name)
        self.fields["runs"].choices = [
            (name, [(run.pk, label_with_priority(run)) for run in own]) for name, own in teams
        ]


def list_methods(has_texts: bool) -> list[tuple[str, str]]:
    """Return the methods that organisers choose from; those of answers come first."""
    chosen = [method for method in Pool.Method if method != Pool.Method.SAMPLE]
    if not has_texts:
        chosen = [method for method in chosen if method not in OF_ANSWERS]
    chosen.sort(key=lambda method: method not in OF_ANSWERS)
    return [(method.value, method.label) for method in chosen]


def label_with_priority(run: Run) -> str:
    """Return the name of a run with its priority."""
    priority = find_priority(run)
    return str(run) if priority is None else f"{run}, priority {priority}"


class CostForm(forms.Form):
    minutes = forms.FloatField(
        label="Minutes per document",
        min_value=0.1,
        max_value=600,
        step_size=0.1,
        initial=1,
    )
