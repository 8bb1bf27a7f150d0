"""Forms to submit and withdraw a run; uploads check the file itself."""

from __future__ import annotations

from typing import Any

from django import forms

from evaluation.reading.repairs import LONGEST_TAG, TAG, TAG_RULE
from leaderboard.display.numbers import counted
from leaderboard.models import Run, Track
from leaderboard.pages.forms.fields import NewFilesField, TextareaWithPlainLineEnds
from leaderboard.pages.forms.other_saves import SeesOtherSaves
from leaderboard.runs.facts.kinds import LARGEST
from leaderboard.scoring.kinds import kind_of


class WithdrawForm(forms.Form):
    reason = forms.CharField(
        label="Reason",
        max_length=500,
        widget=TextareaWithPlainLineEnds(attrs={"rows": 2}),
        help_text="Shown on the run page.",
    )


class PriorityForm(forms.Form):
    priority = forms.IntegerField(
        label="Priority",
        min_value=1,
        max_value=LARGEST,
        initial=1,
        help_text="Pools by priority take runs with 1 first.",
    )


class DescriptionForm(SeesOtherSaves, forms.ModelForm):
    """Tag and description of a run, and whether other runs with the same text get it too."""

    of_all = forms.BooleanField(required=False)

    class Meta:
        model = Run
        fields = ["tag", "description"]
        help_texts = {"tag": "On boards and in files from now on. Snapshots keep the earlier one."}
        widgets = {"description": TextareaWithPlainLineEnds(attrs={"rows": 3})}

    def __init__(self, *args: Any, num_alike: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields[
            "of_all"
        ].label = (
            f"Also change {counted(num_alike, 'other run')} of the team with the same description"
        )
        if not num_alike:
            del self.fields["of_all"]

    def clean_tag(self) -> str:
        """Leave it as it is where a program sent only facts."""
        sent: str = self.cleaned_data["tag"]
        return sent if "tag" in self.data else str(self.initial["tag"])

    def clean_description(self) -> str:
        """Leave it as it is where a program sent only facts."""
        sent: str = self.cleaned_data["description"]
        return sent if "description" in self.data else str(self.initial["description"])


class RunForm(forms.ModelForm):
    file = NewFilesField(label="Run files", allow_empty_file=True)
    tag = forms.CharField(
        label="Tag",
        max_length=LONGEST_TAG,
        required=False,
        help_text="Must match the tag in the file unless you replace that tag. Leave empty to"
        " use the tag in the file.",
    )
    replaces_tag = forms.BooleanField(
        label="Replace the tag in the file",
        required=False,
        help_text="We use the tag above on every line. Your file stays unchanged.",
    )
    format = forms.ChoiceField(label="Format", required=False)
    idempotency_key = forms.CharField(max_length=80, required=False, widget=forms.HiddenInput)
    replaces = forms.CharField(max_length=12, required=False, widget=forms.HiddenInput)

    class Meta:
        model = Run
        fields = ["tag", "format", "description"]
        widgets = {"description": TextareaWithPlainLineEnds(attrs={"rows": 3})}

    def clean_tag(self) -> str:
        tag = self.cleaned_data["tag"]
        if tag and not TAG.fullmatch(tag.encode()):
            raise forms.ValidationError(f"{TAG_RULE[0].upper()}{TAG_RULE[1:]}")
        return tag

    def __init__(self, *args: Any, track: Track, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        taken = list(kind_of(track).formats_of(track).items())
        self.fields["format"].choices = [("", "detect automatically"), *taken]
        if self.initial.get("replaces"):
            self.fields["file"].label = "Run file"
            self.fields["file"].widget.attrs["multiple"] = False
        if len(taken) == 1:
            del self.fields["format"]
