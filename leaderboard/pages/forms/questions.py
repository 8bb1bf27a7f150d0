"""A question to the organisers, and its answer."""

from __future__ import annotations

from django import forms

from leaderboard.pages.forms.fields import MarkdownField


class QuestionForm(forms.Form):
    text = forms.CharField(
        label="Your question",
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="Others never see who asked.",
    )
    is_public = forms.BooleanField(
        label="Show it to everyone who sees the benchmark", required=False, initial=True
    )


class AnswerForm(forms.Form):
    text = MarkdownField(
        label="Answer",
        max_length=10_000,
        help_text="Markdown.",
    )
    is_frequent = forms.BooleanField(label="List it first, as asked often", required=False)
