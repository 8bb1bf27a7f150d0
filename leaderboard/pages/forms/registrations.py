"""What organisers ask of teams, and the versions of their agreement."""

from __future__ import annotations

from typing import Any

from django import forms

from leaderboard.models import Benchmark
from leaderboard.models.registrations import Asked
from leaderboard.pages.forms.fields import MarkdownField
from leaderboard.pages.forms.other_saves import SeesOtherSaves


class AskedForm(SeesOtherSaves, forms.Form):
    asked = forms.MultipleChoiceField(
        label="A team is asked for",
        choices=Asked,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="And for the person responsible. Nothing chosen: teams need not register.",
    )
    question = forms.CharField(label="Your own question", max_length=300, required=False)

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        initial = {"asked": benchmark.asked, "question": benchmark.question}
        super().__init__(*args, initial=initial, **kwargs)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if Asked.QUESTION in cleaned.get("asked", []) and not cleaned.get("question"):
            self.add_error("question", "Enter the question.")
        return cleaned


class AgreementForm(SeesOtherSaves, forms.Form):
    text = MarkdownField(
        label="Agreement",
        max_length=50_000,
        help_text="Markdown. A new version is signed again by every team.",
    )


class ApprovalForm(forms.Form):
    """The requests to join that are approved at once, each under the name that was read."""

    chosen = forms.MultipleChoiceField(error_messages={"required": "Choose a team."})

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        waiting = benchmark.join_requests.waiting()
        self.fields["chosen"].choices = [(f"{row.pk} {row.team_name}",) * 2 for row in waiting]
