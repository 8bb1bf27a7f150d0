"""The form for the facts of a run; facts that a track requires come first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.forms import BoundField

from leaderboard.models import Track
from leaderboard.runs.facts.declared import BY_NAME, FACTS, OF_COMMITS
from leaderboard.runs.facts.figures import COSTS

NO_FIGURE = "Enter at least one figure."


@dataclass(frozen=True)
class FigureFields:
    """The three fields of one cost."""

    value: BoundField
    unit: BoundField
    origin: BoundField


class FactsForm(forms.Form):
    """The fields of every fact; `facts` has the cleaned values, None if not stated.

    Teams must state the facts that the track requires; organisers need not.
    """

    def __init__(
        self,
        *args: Any,
        track: Track,
        is_strict: bool = True,
        facts: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        stated = {name: value for name, value in (facts or {}).items() if name in BY_NAME}
        initial = {
            field: field_value
            for name, value in stated.items()
            for field, field_value in BY_NAME[name].initial(value).items()
        }
        super().__init__(*args, initial=initial, **kwargs)
        self.required = {*(track.required_facts if is_strict else ())}
        self.early = {"kind", *track.required_facts}
        asked = {*BY_NAME} if track.benchmark.main_branch else {*BY_NAME} - {*OF_COMMITS}
        asked |= {*track.required_facts, *stated}
        if track.benchmark.main_branch:
            self.early.update(OF_COMMITS)
        if track.selection == Track.Selection.PRIMARY:
            self.early.add("primary")
        self.facts: dict[str, Any] = {}
        for fact in (fact for fact in FACTS if fact.name in asked):
            for name, field in fact.fields().items():
                field.label = field.label or fact.label
                field.help_text = fact.hint if name == fact.name else ""
                field.required = name in self.required or name == "kind"
                self.fields[name] = field

    @property
    def first(self) -> list[BoundField]:
        """Return the fields that come first."""
        return [self[name] for name in self.fields if name in self.early]

    @property
    def further(self) -> list[BoundField]:
        return [self[name] for name in self.fields if name in BY_NAME and name not in self.early]

    @property
    def figures(self) -> list[FigureFields]:
        return [
            FigureFields(self[f"{cost}-value"], self[f"{cost}-unit"], self[f"{cost}-origin"])
            for cost in COSTS
        ]

    @property
    def shows_all(self) -> bool:
        """Return whether the further facts are open, because of errors or of requirements."""
        return bool(self.errors) or "efficiency" in self.early

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        for fact in FACTS:
            value = fact.read_form(cleaned)
            try:
                self.facts[fact.name] = None if value is None else fact.clean(value)
            except ValueError as problem:
                self.add_error(fact.name if fact.name in self.fields else None, str(problem))
        if "efficiency" in self.required and not self.facts.get("efficiency"):
            self.add_error(None, NO_FIGURE)
        return cleaned
