"""The form that plans a collection; its values are in the address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.http import QueryDict

from leaderboard.analysis.planning import SMALLEST_VARIANCE, PlanRequest


class PlanForm(forms.Form):
    field_order = (
        *("difference", "power", "alpha", "hours", "seconds", "twice"),
        *("board", "variance", "width", "runs"),
    )
    difference = forms.FloatField(
        label="Smallest difference", min_value=1e-6, max_value=1e6, initial=0.05
    )
    width = forms.FloatField(label="Widest interval", min_value=1e-6, max_value=1e6, initial=0.1)
    runs = forms.IntegerField(label="Runs of the family", min_value=2, max_value=1000, initial=10)
    alpha = forms.FloatField(label="α", min_value=0.0001, max_value=0.5, initial=0.05)
    power = forms.FloatField(label="Power", min_value=0.5, max_value=0.999, initial=0.8)
    board = forms.ChoiceField(label="Take the variance from", required=False)
    variance = forms.FloatField(
        label="Variance",
        help_text="Within runs. Leave empty to use the variance of the board above.",
        min_value=SMALLEST_VARIANCE,
        max_value=1e9,
        required=False,
    )
    seconds = forms.FloatField(
        label="Seconds per document", min_value=0.1, max_value=36000, initial=60
    )
    twice = forms.FloatField(label="Judged twice (%)", min_value=0, max_value=100, initial=0)
    hours = forms.FloatField(
        label="Assessor hours available", min_value=0.01, max_value=1e6, required=False
    )

    def __init__(self, asked: QueryDict, sources: Sequence[tuple[str, str]], **kwargs: Any) -> None:
        """Fill in what the address does not name; `sources` are slugs and names of other boards."""
        fields = self.base_fields.items()
        usual = {name: field.initial for name, field in fields if field.initial is not None}
        named = {name: asked[name] for name, _ in fields if name in asked}
        super().__init__({**usual, **named}, **kwargs)
        board = self.fields["board"]
        assert isinstance(board, forms.ChoiceField)
        board.choices = [("", "this board"), *sources]

    def clean_alpha(self) -> float:
        """Refuse a test that is significant as often by chance as it is to be by an effect."""
        alpha: float = self.cleaned_data["alpha"]
        if alpha >= self.cleaned_data.get("power", 1.0):
            raise forms.ValidationError("α must be below the power.")
        return alpha

    def read(self) -> PlanRequest | None:
        """Return the request; None where a value is out of range."""
        if not self.is_valid():
            return None
        values = {name: value for name, value in self.cleaned_data.items() if name != "board"}
        return PlanRequest(**values)

    @property
    def source(self) -> str:
        """The slug of the chosen board; empty for that of the track."""
        return self.cleaned_data.get("board", "") if self.is_valid() else ""
