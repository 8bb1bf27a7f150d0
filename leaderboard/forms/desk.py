"""What an organiser does on a track that runs."""

from __future__ import annotations

from typing import Any

from django import forms

from leaderboard.forms.fields import Paragraphs
from leaderboard.models import Run, Team, Track


class BaselineForm(forms.Form):
    baseline = forms.ModelChoiceField(
        Run.objects.none(),
        label="The run that others are compared with",
        required=False,
        empty_label="no baseline",
    )

    def __init__(self, *args: Any, track: Track, **kwargs: Any) -> None:
        super().__init__(*args, initial={"baseline": track.baseline_id}, **kwargs)
        self.fields["baseline"].queryset = track.runs.on_the_board()


class TakeOffForm(forms.Form):
    how = forms.ChoiceField(
        label="How",
        choices=[
            ("disqualified", "Disqualify: its address says so, with the reason"),
            ("hidden", "Hide: only its team and organisers know of it"),
        ],
        widget=forms.RadioSelect,
        initial="disqualified",
    )
    reason = forms.CharField(label="Reason", max_length=500, widget=Paragraphs(attrs={"rows": 2}))


class SnapshotForm(forms.Form):
    name = forms.CharField(
        label="Name", max_length=120, help_text="Such as: as published in the overview paper."
    )
    note = forms.CharField(
        label="Note", max_length=2000, required=False, widget=Paragraphs(attrs={"rows": 2})
    )


class AnnouncementForm(forms.Form):
    text = forms.CharField(
        label="Announcement",
        max_length=2000,
        help_text="Stands on the pages of the track; whoever takes part gets a notice.",
        widget=Paragraphs(attrs={"rows": 3}),
    )


class GrantForm(forms.Form):
    """More runs for a team of the track."""

    team = forms.ModelChoiceField(Team.objects.none(), label="Team", empty_label=None)
    runs = forms.IntegerField(label="Runs more", min_value=1, max_value=10_000)
    today = forms.TypedChoiceField(
        label="When",
        choices=[("today", "today (UTC)"), ("in all", "in all")],
        coerce=lambda word: word == "today",
        widget=forms.RadioSelect,
        initial="today",
    )
    reason = forms.CharField(label="Reason", max_length=300, required=False)

    def __init__(self, *args: Any, track: Track, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["team"].queryset = track.teams.filter(of_organisers=False).order_by("name")
