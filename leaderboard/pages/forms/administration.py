"""Forms of administrators of the site."""

from __future__ import annotations

from django import forms


class ReasonForm(forms.Form):
    reason = forms.CharField(
        label="Reason",
        max_length=300,
        help_text="Kept in the activity log.",
        error_messages={"required": "Enter a reason. It is kept in the activity log."},
    )


class TestEmailForm(forms.Form):
    address = forms.EmailField(label="Send the test to")
