"""Forms for nuggets and for layers of marks."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms

from evaluation.answers.nuggets import OKAY, VITAL
from leaderboard.actions.nugget_writing import LONGEST_TEXT, NuggetWords
from leaderboard.models import MarkLayer, NuggetVersion, Track
from leaderboard.pages.forms.fields import NewFileField, TextareaWithPlainLineEnds

IMPORTANCES = [(VITAL, "vital: a good answer must say it"), (OKAY, "okay: good to have")]


class NuggetsForm(forms.ModelForm):
    file = NewFileField(label="File")

    class Meta:
        model = NuggetVersion
        fields = ["version", "note"]
        widgets = {"note": TextareaWithPlainLineEnds(attrs={"rows": 2})}

    def __init__(self, *args: Any, track: Track, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.instance.track = track
        self.initial["version"] = f"v{track.nugget_versions.count() + 1}"


class FreezeForm(NuggetsForm):
    """The version that is made of a draft."""

    file = None


class DraftForm(forms.Form):
    based_on = forms.ModelChoiceField(
        NuggetVersion.objects.none(),
        label="Begin with the nuggets of",
        required=False,
        empty_label="no version: write all of it",
        to_field_name="version",
    )

    def __init__(self, *args: Any, track: Track, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        ready = track.nugget_versions.ready()
        self.fields["based_on"].queryset = ready
        self.initial.setdefault("based_on", ready.last())


class ProposeForm(forms.Form):
    """A nugget in words; `documents` attest it."""

    text = forms.CharField(label="Nugget", max_length=LONGEST_TEXT)
    importance = forms.ChoiceField(choices=IMPORTANCES, initial=VITAL)
    group = forms.CharField(required=False, max_length=120)
    documents = forms.CharField(
        required=False,
        max_length=2000,
        help_text="Docnos of documents that say it, separated by blanks.",
    )

    @property
    def act(self) -> dict[str, Any]:
        """What the action takes."""
        said = self.cleaned_data
        docnos = tuple(dict.fromkeys(said.get("documents", "").split()))
        words = NuggetWords(said["text"], said["importance"], said["group"] or None, docnos)
        return {"words": words}


class ReviseForm(ProposeForm):
    documents = None
    key = forms.CharField(widget=forms.HiddenInput)
    seen = forms.CharField(widget=forms.HiddenInput, strip=False)

    @property
    def act(self) -> dict[str, Any]:
        said = self.cleaned_data
        return {**super().act, "key": said["key"], "seen": said["seen"]}


class SplitForm(forms.Form):
    key = forms.CharField(widget=forms.HiddenInput)
    texts = forms.CharField(
        label="Split into",
        max_length=5 * LONGEST_TEXT,
        widget=TextareaWithPlainLineEnds(attrs={"rows": 3}),
        help_text="One nugget per line.",
    )

    @property
    def act(self) -> dict[str, Any]:
        lines = (line.strip() for line in self.cleaned_data["texts"].splitlines())
        return {"key": self.cleaned_data["key"], "texts": [line for line in lines if line]}


class MergeForm(forms.Form):
    text = forms.CharField(label="Merge the chosen nuggets into", max_length=LONGEST_TEXT)

    @property
    def act(self) -> dict[str, Any]:
        return {"keys": self.data.getlist("keys"), "text": self.cleaned_data["text"]}


class RemoveForm(forms.Form):
    key = forms.CharField(widget=forms.HiddenInput)

    @property
    def act(self) -> dict[str, Any]:
        return {"key": self.cleaned_data["key"]}


class UndoForm(forms.Form):
    act: ClassVar[dict[str, Any]] = {}


class LayerForm(forms.ModelForm):
    file = NewFileField(label="File")
    made_by = forms.ChoiceField(
        label="Marked by", choices=[("people", "people"), ("machine", "a machine")]
    )

    class Meta:
        model = MarkLayer
        fields = ["version", "about", "nuggets", "made_by", "machine", "note"]
        labels = {"version": "Name", "about": "What is marked", "machine": "Machine"}
        help_texts = {"machine": "Its model and prompt, such as gpt-x/p3."}
        widgets = {"note": TextareaWithPlainLineEnds(attrs={"rows": 2})}

    def __init__(self, *args: Any, track: Track, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.instance.track = track
        ready = track.nugget_versions.ready()
        self.fields["nuggets"].queryset = ready
        self.fields["nuggets"].required = False
        latest = ready.last()
        self.initial.setdefault("nuggets", latest)
        about = MarkLayer.About.SUPPORT if latest is None else MarkLayer.About.NUGGETS
        self.initial["about"] = self.initial.get("about") or about

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("about") == MarkLayer.About.SUPPORT:
            cleaned["nuggets"] = self.instance.nuggets = None
        elif cleaned.get("about") and not cleaned.get("nuggets"):
            self.add_error("nuggets", "Choose the nuggets that are marked.")
        is_machine = cleaned.get("made_by") == MarkLayer.MadeBy.MACHINE
        if is_machine and not cleaned.get("machine"):
            self.add_error("machine", "Name the machine: its model and prompt.")
        if not is_machine:
            cleaned["machine"] = ""
        return cleaned
