"""Forms to submit, describe and withdraw systems of a benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from leaderboard.actions.run_files import RunFile, list_run_files, name_by_paths
from leaderboard.models import Benchmark, Run, System, SystemVersion, Track
from leaderboard.pages.forms.fields import (
    NewFilesField,
    SeveralFilesInput,
    TextareaWithPlainLineEnds,
)
from leaderboard.pages.forms.other_saves import SeesOtherSaves
from leaderboard.runs.facts.kinds import LONGEST


class FolderInput(SeveralFilesInput):
    """A choice of a whole folder, where the browser offers it; else of several files."""

    def __init__(self) -> None:
        super().__init__(attrs={"webkitdirectory": True})


class FolderField(NewFilesField):
    widget = FolderInput

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        return super().clean(data, initial) if data else []


NAMELESS = "Name the new system, or choose one of yours."


class SystemForm(forms.Form):
    """The files of a version, and which system they are of: a new one, or one of the team's."""

    files = NewFilesField(label="Run files", required=False, allow_empty_file=True)
    folder = FolderField(label="Or a folder", required=False, allow_empty_file=True)
    # Where a script knows them: the paths of the folder's files, a line each.
    paths = forms.CharField(required=False, widget=forms.HiddenInput)
    system = forms.ModelChoiceField(
        System.objects.none(), label="System", required=False, empty_label="A new system"
    )
    name = forms.CharField(
        label="Name of a new system", max_length=80, error_messages={"required": NAMELESS}
    )
    version = forms.CharField(
        label="Version",
        max_length=40,
        required=False,
        help_text="Default: the short commit, else the next number. Name an existing version to"
        " add files to it.",
    )
    commit = forms.CharField(label="Commit", max_length=64, required=False)
    branch = forms.CharField(label="Branch", max_length=80, required=False)
    configuration = forms.CharField(
        label="Configuration",
        max_length=min(500, LONGEST),
        required=False,
        help_text="Settings of this version, such as k1=0.9 b=0.4.",
    )
    description = forms.CharField(
        label="Description",
        max_length=5000,
        required=False,
        widget=TextareaWithPlainLineEnds(attrs={"rows": 3}),
    )
    idempotency_key = forms.CharField(max_length=80, required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, systems: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["system"].queryset = systems
        self.fields["name"].required = not systems.exists()

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not cleaned.get("files") and not cleaned.get("folder") and not self.errors:
            self.add_error("files", "Choose the run files, a zip or a folder.")
        if not (cleaned.get("system") or cleaned.get("name") or "name" in self.errors):
            self.add_error("name", NAMELESS)
        return cleaned

    @property
    def run_files(self) -> list[RunFile]:
        """The run files; those of a folder under their paths, which may name their tracks."""
        folder = self.cleaned_data["folder"]
        paths = self.cleaned_data["paths"].splitlines()
        known = dict(zip(folder, paths, strict=True)) if len(paths) == len(folder) else {}
        return name_by_paths(list_run_files([*self.cleaned_data["files"], *folder]), known)


class ChangeSystemForm(SeesOtherSaves, forms.ModelForm):
    class Meta:
        model = System
        fields = ["name", "description"]
        widgets = {"description": TextareaWithPlainLineEnds(attrs={"rows": 3})}


class WithdrawVersionForm(forms.Form):
    """Which version to withdraw, and why."""

    version = forms.ModelChoiceField(SystemVersion.objects.none(), label="Version")
    reason = forms.CharField(
        label="Reason", max_length=500, help_text="Shown on the page of each run."
    )

    def __init__(self, *args: Any, versions: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["version"].queryset = versions
        self.fields["version"].label_from_instance = lambda version: version.label


class AddRunForm(forms.Form):
    """An earlier run of the team, and the version that it belongs to."""

    run = forms.ModelChoiceField(Run.objects.none(), label="Run")
    version = forms.ModelChoiceField(SystemVersion.objects.none(), label="Version")

    def __init__(self, *args: Any, runs: Any, versions: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["run"].queryset = runs
        self.fields["run"].label_from_instance = lambda run: f"{run} ({run.track.slug})"
        self.fields["version"].queryset = versions
        self.fields["version"].label_from_instance = lambda version: version.label


def common_fact_rules(benchmark: Benchmark, tracks: Sequence[Track]) -> Track:
    """Return a track that asks for the facts that any of these tracks requires; never saved."""
    required = dict.fromkeys(name for track in tracks for name in track.required_facts)
    selections = {track.selection for track in tracks}
    primary = Track.Selection.PRIMARY in selections
    return Track(
        name=benchmark.name,
        benchmark=benchmark,
        required_facts=list(required),
        selection=Track.Selection.PRIMARY if primary else Track.Selection.ALL,
    )
