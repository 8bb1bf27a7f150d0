"""Forms of administrators of the site."""

from __future__ import annotations

from django import forms

from leaderboard.models import Benchmark


class ReasonForm(forms.Form):
    reason = forms.CharField(
        label="Reason",
        max_length=300,
        help_text="Kept in the activity log.",
        error_messages={"required": "Enter a reason. It is kept in the activity log."},
    )


class TestEmailForm(forms.Form):
    address = forms.EmailField(label="Send the test to")


class StorageLimitForm(forms.Form):
    benchmark = forms.ModelChoiceField(
        Benchmark.objects.order_by("name"), to_field_name="slug", empty_label=None
    )
    mebibytes = forms.IntegerField(
        label="MiB",
        required=False,
        min_value=1,
        max_value=2**30,
        help_text="Leave empty for the limit of the site. What is stored stays.",
    )

    @property
    def max_bytes(self) -> int | None:
        """The limit in bytes."""
        entered = self.cleaned_data["mebibytes"]
        return None if entered is None else entered * 2**20
