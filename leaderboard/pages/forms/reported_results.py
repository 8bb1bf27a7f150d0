"""The form for a file of results that others report."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile

from evaluation.problems import Refused
from evaluation.reading.results import read_groups_of_collections
from leaderboard.display.numbers import mebibytes
from leaderboard.models import Benchmark, ResultsFile
from leaderboard.pages.forms.fields import NewFileField

# A table of groups has a short line for each collection.
LARGEST_GROUPS = 4 * 1024 * 1024


class ResultsForm(forms.ModelForm):
    file = NewFileField(label="Results")
    table = NewFileField(label="Groups of collections", required=False)

    class Meta:
        model = ResultsFile
        fields = ["source"]
        labels = {"source": "Reported by"}
        help_texts = {"source": "Who reports these scores, or their URL."}

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.instance.benchmark = benchmark

    def clean_table(self) -> UploadedFile | None:
        """Give the file the groups that the table states."""
        table: UploadedFile | None = self.cleaned_data["table"]
        if table is None:
            return None
        if (table.size or 0) > LARGEST_GROUPS:
            raise ValidationError(f"The table is larger than {mebibytes(LARGEST_GROUPS)}.")
        try:
            self.instance.groups = read_groups_of_collections(table.read())
        except Refused as refusal:
            raise ValidationError(str(refusal)) from None
        return table
