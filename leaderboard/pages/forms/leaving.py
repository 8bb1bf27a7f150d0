"""The form that asks to type a name before something is deleted for good."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError


class TypedNameForm(forms.Form):
    name = forms.CharField(label="Name", widget=forms.TextInput(attrs={"autocomplete": "off"}))

    def __init__(self, *args: Any, name: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.expected = name

    def clean_name(self) -> str:
        typed: str = self.cleaned_data["name"]
        if typed != self.expected:
            raise ValidationError("Type the name exactly as it is shown.")
        return typed
