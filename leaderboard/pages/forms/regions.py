"""The region of equivalence that a reader sets for two runs; it is in the address."""

from __future__ import annotations

from django import forms
from django.http import QueryDict


class RegionForm(forms.Form):
    region = forms.FloatField(label="Equivalent within", min_value=0, max_value=1e6, required=False)

    def __init__(self, asked: QueryDict) -> None:
        super().__init__({"region": asked.get("region", "")})
        self.fields["region"].widget.attrs["step"] = "any"

    def read(self) -> float:
        """Return the region; 0 where none is set or the value is out of range."""
        return self.cleaned_data["region"] or 0.0 if self.is_valid() else 0.0
