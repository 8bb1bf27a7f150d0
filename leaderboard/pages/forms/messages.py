"""What organisers write to people, and whom they invite by address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from leaderboard.actions.messages import MOST_ADDRESSES, read_addresses
from leaderboard.actions.refusals import ActionError
from leaderboard.boards.message_groups import MessageGroup
from leaderboard.models import Assessment, Benchmark
from leaderboard.pages.forms.fields import MarkdownField, TextareaWithPlainLineEnds


class MessageForm(forms.Form):
    groups = forms.MultipleChoiceField(
        label="To",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose whom to write to."},
    )
    subject = forms.CharField(label="Subject", max_length=120)
    text = MarkdownField(label="Text", max_length=10_000, help_text="Markdown.")
    is_urgent = forms.BooleanField(
        label="Email it at once",
        required=False,
        help_text="Otherwise it is in the email of the day. Everyone gets a notice on the site.",
    )

    def __init__(self, *args: Any, known: Sequence[MessageGroup], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.known = known
        self.fields["groups"].choices = [(group.key, group.label) for group in known]

    def clean_subject(self) -> str:
        """Return the subject on one line: a line end would begin a header."""
        return " ".join(self.cleaned_data["subject"].split())

    @property
    def chosen(self) -> list[MessageGroup]:
        return [group for group in self.known if group.key in self.cleaned_data["groups"]]


class InvitationForm(forms.Form):
    addresses = forms.CharField(
        label="Addresses",
        widget=TextareaWithPlainLineEnds(attrs={"rows": 6}),
        help_text=f"One per line, up to {MOST_ADDRESSES}.",
    )
    role = forms.ChoiceField(label="Invite them")

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        judging = Assessment.objects.unfinished().filter(track__benchmark=benchmark)
        self.assessments = {f"{each.pk}": each for each in judging.select_related("track")}
        self.fields["role"].choices = [
            ("team", "to take part as a team"),
            *(
                (key, f"to judge {each.name} of {each.track}")
                for key, each in self.assessments.items()
            ),
        ]

    def clean_addresses(self) -> list[str]:
        """Return the addresses, each once, in lower case."""
        try:
            return read_addresses(self.cleaned_data["addresses"])
        except ActionError as reason:
            raise ValidationError(str(reason)) from None

    @property
    def assessment(self) -> Assessment | None:
        return self.assessments.get(self.cleaned_data["role"])


class RemindersForm(forms.Form):
    on = forms.BooleanField(
        label="Remind teams without a run a week and a day before a deadline", required=False
    )
