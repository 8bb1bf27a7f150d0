"""The mapping of grades from a file to a track, with presets and its effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.utils.safestring import SafeString

from leaderboard.collections.preview import GradeSet, JudgmentsPreview
from leaderboard.display.charts import grade_bar
from leaderboard.display.numbers import MINUS, counted
from leaderboard.models import JudgmentSet

LEAST_CHOICES = 4
NAMED = 10


@dataclass(frozen=True)
class GradeChoice:
    value: int | str
    words: str
    is_chosen: bool


@dataclass(frozen=True)
class GradeRow:
    """One grade of a file, how often it occurs and how measures treat it."""

    grade: int
    bar: SafeString
    topics: int
    becomes: int
    choices: list[GradeChoice]
    meaning: str
    is_stray: bool
    is_relevant: bool

    @property
    def written(self) -> str:
        return str(self.grade).replace("-", MINUS)

    @property
    def shown(self) -> int | None:
        return self.becomes if self.becomes >= 0 else None

    @property
    def gain(self) -> int:
        return max(0, self.becomes)


@dataclass(frozen=True)
class GradePreset:
    """A common mapping of grades, offered as a button."""

    name: str
    words: str
    grade_map: dict[str, int]
    relevant_from: int = 1


@dataclass(frozen=True)
class Grading:
    """The grades of a file under the current mapping."""

    preview: JudgmentsPreview
    grade_map: Mapping[str, int]
    relevant_from: int
    earlier: JudgmentSet | None = None

    @classmethod
    def of(
        cls,
        judgment_set: JudgmentSet,
        preview: JudgmentsPreview,
        earlier: JudgmentSet | None = None,
    ) -> Grading:
        return cls(preview, judgment_set.grade_map, judgment_set.relevant_from, earlier)

    @property
    def counts(self) -> dict[int, int]:
        return self.preview.grades

    def becomes(self, grade: int) -> int:
        return self.grade_map.get(str(grade), grade)

    @property
    def has_strata(self) -> bool:
        """Whether a negative grade means a document of a stratum that was not drawn."""
        return self.preview.strata is not None

    @cached_property
    def top(self) -> int:
        return max(1, *map(self.becomes, self.counts))

    def rows(self) -> Iterator[GradeRow]:
        most = max(self.counts.values(), default=0)
        stray = {found.grade for found in self.preview.stray}
        for grade in sorted(self.counts, reverse=True):
            becomes = self.becomes(grade)
            bar = grade_bar(self.counts[grade], most, max(becomes, 0), self.top)
            topics = sum(found.topics for found in self.preview.grade_sets if grade in found.grades)
            yield GradeRow(
                grade,
                bar,
                topics,
                becomes,
                list(self._choices(grade, becomes)),
                self._meaning(becomes),
                grade in stray,
                becomes >= self.relevant_from,
            )

    def _choices(self, grade: int, becomes: int) -> Iterator[GradeChoice]:
        yield GradeChoice(-1, "not drawn" if self.has_strata else "not judged", becomes < 0)
        if self.has_strata and grade < 0:
            return
        yield GradeChoice(0, "judged, not relevant (0)", becomes == 0)
        for choice in range(1, self._highest_choice + 1):
            yield GradeChoice(choice, f"grade {choice}", becomes == choice)

    @cached_property
    def _highest_choice(self) -> int:
        return max(LEAST_CHOICES, self.top, *self.counts)

    def thresholds(self) -> Iterator[GradeChoice]:
        for grade in range(1, max(self._highest_choice, self.relevant_from) + 1):
            yield GradeChoice(grade, f"grade {grade}", grade == self.relevant_from)

    def _meaning(self, becomes: int) -> str:
        if becomes < 0 and self.has_strata:
            return "in its stratum, but not drawn"
        if becomes < 0:
            return "pooled, but not judged: treated as unjudged"
        if becomes == 0:
            return "judged, not relevant"
        if becomes < self.relevant_from:
            return "counts for nDCG, not for AP, P and R"
        return "relevant, the highest grade" if becomes == self.top > 1 else "relevant"

    def presets(self) -> Iterator[GradePreset]:
        """Yield the presets that fit this file, the unchanged grades first."""
        yield GradePreset("file", "As in the file", self._map(lambda grade: grade))
        highest = max(self.counts, default=0)
        positive = [grade for grade in self.counts if grade > 0]
        if len(positive) > 1:
            reversed_grades = self._map(lambda grade: highest + 1 - grade if grade > 0 else 0)
            yield GradePreset("reversed", "1 is the best", reversed_grades)
            own = self._map(lambda grade: grade)
            yield GradePreset("from-2", "Relevant from 2", own, relevant_from=2)
            binary = self._map(lambda grade: min(grade, 1))
            yield GradePreset("binary", "Relevant or not", binary)
        if min(self.counts, default=0) < 0 and not self.has_strata:
            yield GradePreset(
                "no-unjudged", "Negative is not relevant", self._map(lambda g: max(g, 0))
            )
        if self.earlier is not None and self.earlier.grade_map:
            as_before = self._map(lambda grade: self.earlier.grade_map.get(str(grade), grade))
            words = f"As in {self.earlier.version}"
            yield GradePreset("earlier", words, as_before, self.earlier.relevant_from)

    def _map(self, becomes: Any) -> dict[str, int]:
        return {str(grade): becomes(grade) for grade in self.counts}

    def is_chosen(self, preset: GradePreset) -> bool:
        chosen = self._map(self.becomes)
        return (preset.grade_map, preset.relevant_from) == (chosen, self.relevant_from)

    def buttons(self) -> list[GradeChoice]:
        """Return a button for each preset, without those that have the same effect."""
        once: dict[Any, GradePreset] = {}
        for preset in self.presets():
            once.setdefault((tuple(preset.grade_map.items()), preset.relevant_from), preset)
        return [GradeChoice(each.name, each.words, self.is_chosen(each)) for each in once.values()]

    def preset(self, name: str) -> GradePreset | None:
        return next((each for each in self.presets() if each.name == name), None)

    @property
    def effect(self) -> str:
        """Say how many judgments are relevant, not relevant or unjudged."""
        relevant = unjudged = 0
        for grade, number in self.counts.items():
            relevant += number if self.becomes(grade) >= self.relevant_from else 0
            unjudged += number if self.becomes(grade) < 0 else 0
        rest = sum(self.counts.values()) - relevant - unjudged
        words = f"{counted(relevant, 'judgment is,judgments are')} relevant, {rest:,} not"
        undone = "were not drawn" if self.has_strata else "count as unjudged"
        return f"{words}; {unjudged:,} {undone}." if unjudged else f"{words}."

    @property
    def num_without_relevant(self) -> int:
        return sum(found.topics for found in self._without_relevant)

    @property
    def without_relevant(self) -> list[str]:
        """The first topics without a relevant document under this mapping."""
        return [number for found in self._without_relevant for number in found.first][:NAMED]

    @cached_property
    def _without_relevant(self) -> list[GradeSet]:
        return [
            found
            for found in self.preview.grade_sets
            if all(self.becomes(grade) < self.relevant_from for grade in found.grades)
        ]
