"""Forms for running a track."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zoneinfo import ZoneInfo

from django import forms

from leaderboard.models import Run, Team, Track
from leaderboard.pages.forms.fields import (
    AOE,
    ZONES,
    LocalTimeField,
    TextareaWithPlainLineEnds,
    find_zone,
    place_times_in_zone,
)


class BaselineForm(forms.Form):
    baseline = forms.ModelChoiceField(
        Run.objects.none(),
        label="Baseline run for comparisons",
        required=False,
        empty_label="no baseline",
    )

    def __init__(self, *args: Any, track: Track, **kwargs: Any) -> None:
        super().__init__(*args, initial={"baseline": track.baseline_id}, **kwargs)
        self.fields["baseline"].queryset = track.runs.on_the_board()


class RemoveRunForm(forms.Form):
    how = forms.ChoiceField(
        label="How",
        choices=[
            ("disqualified", "Disqualify: the run page shows this and the reason"),
            ("hidden", "Hide: only its team and organisers see it"),
        ],
        widget=forms.RadioSelect,
        initial="disqualified",
    )
    reason = forms.CharField(
        label="Reason", max_length=500, widget=TextareaWithPlainLineEnds(attrs={"rows": 2})
    )


class FrozenBoardForm(forms.Form):
    """The name of a snapshot."""

    name = forms.CharField(
        label="Name", max_length=120, help_text="For example: as published in the overview."
    )
    note = forms.CharField(
        label="Note",
        max_length=2000,
        required=False,
        widget=TextareaWithPlainLineEnds(attrs={"rows": 2}),
    )


class SnapshotForm(FrozenBoardForm):
    """A snapshot of a track, and whom papers cite for it."""

    field_order = ("name", "authors", "note")
    authors = forms.CharField(
        label="Authors",
        max_length=2000,
        required=False,
        help_text="One per line, in the order of the citation. Default: those of the track.",
        widget=TextareaWithPlainLineEnds(attrs={"rows": 3}),
    )


class BenchmarkSnapshotForm(FrozenBoardForm):
    """A snapshot of a benchmark, and which of its phases is frozen."""

    field_order = ("name", "phase", "note")
    phase = forms.ChoiceField(label="Phase", required=False)

    def __init__(self, *args: Any, phases: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if len(phases) < 2:
            del self.fields["phase"]
            return
        shown = self.fields["phase"]
        assert isinstance(shown, forms.ChoiceField)
        shown.choices = [(phase, phase or "no phase") for phase in phases]
        shown.initial = phases[-1]


class AnnouncementForm(forms.Form):
    text = forms.CharField(
        label="Announcement",
        max_length=2000,
        help_text="Shown on all track pages.",
        widget=TextareaWithPlainLineEnds(attrs={"rows": 3}),
    )


class GrantForm(forms.Form):
    """More runs for a team of the track."""

    team = forms.ModelChoiceField(Team.objects.none(), label="Team", empty_label=None)
    runs = forms.IntegerField(label="Extra runs", min_value=1, max_value=10_000)
    today = forms.TypedChoiceField(
        label="When",
        choices=[("today", "today (UTC)"), ("in all", "in total")],
        coerce=lambda word: word == "today",
        widget=forms.RadioSelect,
        initial="today",
    )
    reason = forms.CharField(label="Reason", max_length=300, required=False)

    def __init__(self, *args: Any, track: Track, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["team"].queryset = track.benchmark.teams.filter(of_organisers=False).order_by(
            "name"
        )


class ExtensionForm(forms.Form):
    """A later deadline for one team of the track."""

    team = forms.ModelChoiceField(Team.objects.none(), label="Team", empty_label=None)
    closes_at = LocalTimeField(label="Closes")
    zone = forms.CharField(
        label="Time zone",
        initial=AOE,
        widget=forms.TextInput(attrs={"list": "zones"}),
        help_text="Such as Europe/Berlin or Anywhere on Earth.",
    )
    reason = forms.CharField(
        label="Reason", max_length=300, help_text="Shown to the team and in the activity log."
    )
    zones = tuple(ZONES)

    def __init__(self, *args: Any, track: Track, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["team"].queryset = track.benchmark.teams.filter(of_organisers=False).order_by(
            "name"
        )

    def clean_zone(self) -> ZoneInfo:
        return find_zone(self.cleaned_data["zone"])

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        place_times_in_zone(self, cleaned, ["closes_at"])
        return cleaned

    @property
    def details(self) -> dict[str, Any]:
        """The values that the action takes."""
        return {name: self.cleaned_data[name] for name in ("team", "closes_at", "reason")}
