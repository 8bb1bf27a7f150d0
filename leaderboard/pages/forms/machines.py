"""Forms for judgments by machines."""

from __future__ import annotations

from typing import Any

from django import forms

from evaluation.reading.judging.machine_grades import HIGHEST_GRADE
from leaderboard.models import Collection, JudgmentSet, MachineCard
from leaderboard.pages.forms.fields import NewFileField, TextareaWithPlainLineEnds

CARD_FIELDS = [
    *("model", "revision", "family", "prompt_name", "prompt", "parameters"),
    *("judged_on", "cost", "parsing"),
]


class MachineAnswersForm(forms.ModelForm):
    """A file of answers, and the card of the machine that gave them."""

    file = NewFileField(label="Answers")
    format = forms.ChoiceField(
        label="Format",
        required=False,
        choices=[
            ("", "Recognise it"),
            ("jsonl", "JSON Lines, also of umbrela"),
            ("trec", "Four columns: topic, 0, docno, grade"),
            ("csv", "CSV with names in the first line"),
        ],
    )
    version = forms.SlugField(label="Version", max_length=40)
    highest_grade = forms.IntegerField(
        label="Highest grade",
        min_value=1,
        max_value=HIGHEST_GRADE,
        required=False,
        help_text="A higher grade counts as a failed answer.",
    )
    note = forms.CharField(
        label="Note",
        max_length=2000,
        required=False,
        widget=TextareaWithPlainLineEnds(attrs={"rows": 2}),
    )

    class Meta:
        model = MachineCard
        fields = CARD_FIELDS
        labels = {
            "prompt_name": "Name of the prompt",
            "judged_on": "Date of judging",
            "parsing": "How grades were read from answers",
            "parameters": "Settings",
        }
        help_texts = {
            "model": "Such as GPT-4o.",
            "revision": "The exact model, such as gpt-4o-2024-08-06.",
            "family": "Such as gpt. Runs that state a model of this family are flagged.",
            "prompt_name": "Such as umbrela.",
            "prompt": "The whole text. Its SHA-256 names it.",
            "parameters": "Such as temperature 0, top_p 1.",
            "cost": "Such as 31 USD.",
        }
        widgets = {
            "prompt": TextareaWithPlainLineEnds(attrs={"rows": 8}),
            "parsing": TextareaWithPlainLineEnds(attrs={"rows": 2}),
            "judged_on": forms.DateInput(attrs={"type": "date"}),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # The hash is that of the whole text.
        self.fields["prompt"].strip = False

    @property
    def card(self) -> dict[str, Any]:
        """The fields of the card."""
        return {name: self.cleaned_data[name] for name in CARD_FIELDS}

    @property
    def upload(self) -> dict[str, Any]:
        """The fields of the file and its version."""
        names = ("file", "format", "version", "highest_grade", "note")
        return {name: self.cleaned_data[name] for name in names}


class FillUnjudgedForm(forms.Form):
    """A version by people and one by a machine; both must be of the collection."""

    people = forms.ModelChoiceField(JudgmentSet.objects.none(), label="Judgments by people")
    machine = forms.ModelChoiceField(JudgmentSet.objects.none(), label="Judgments by a machine")
    version = forms.SlugField(label="New version", max_length=40, required=False)

    def __init__(self, *args: Any, collection: Collection, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        ready = collection.judgment_sets.ready()
        machines = ready.filter(made_by=JudgmentSet.MadeBy.MACHINE)
        others = [JudgmentSet.MadeBy.MACHINE, JudgmentSet.MadeBy.BOTH]
        for name, sets in {
            "people": ready.exclude(made_by__in=others),
            "machine": machines,
        }.items():
            self.fields[name].queryset = sets
            self.fields[name].to_field_name = "version"
            self.fields[name].empty_label = None
