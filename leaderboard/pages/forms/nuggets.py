"""Forms for nuggets and for layers of marks."""

from __future__ import annotations

from typing import Any

from django import forms

from leaderboard.models import MarkLayer, NuggetVersion, Track
from leaderboard.pages.forms.fields import NewFileField, TextareaWithPlainLineEnds


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
        self.initial.setdefault("nuggets", ready.last())

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
