"""Forms of battles: how they are held, and votes from a file."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from django import forms

from leaderboard.models import Battles
from leaderboard.pages.forms.fields import LocalTimeField, NewFileField, place_in_zone
from leaderboard.pages.forms.other_saves import SeesOtherSaves


class BattlesForm(SeesOtherSaves, forms.ModelForm):
    closes_at = LocalTimeField(
        label="Closes (UTC)", required=False, help_text="Leave empty to close by hand."
    )

    class Meta:
        model = Battles
        fields = ["question", "voters", "drawing", "closes_at", "is_open"]
        labels = {
            "question": "What voters are asked",
            "voters": "Who votes",
            "drawing": "Pairs are drawn",
            "is_open": "Accept votes",
        }
        help_texts = {
            "voters": "Invited people see what two runs say, also while scores are hidden.",
        }

    def clean_closes_at(self) -> datetime | None:
        closes_at: datetime | None = self.cleaned_data["closes_at"]
        if closes_at is None or closes_at.tzinfo is not None:
            return closes_at
        return place_in_zone(closes_at, ZoneInfo("UTC"))


class VotesForm(forms.Form):
    file = NewFileField(label="Votes")
