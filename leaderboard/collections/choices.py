"""What organisers choose where an import asks: formats, grades, numbers and groups of topics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms

from evaluation.problems import Refused
from evaluation.reading.documents import READERS as DOCUMENT_READERS
from evaluation.reading.judging.qrels import HIGHEST_GRADE
from evaluation.reading.judging.qrels_lines import layout_of
from evaluation.reading.recognition import JUDGMENT_FORMATS
from evaluation.reading.topics import READERS as TOPIC_READERS
from leaderboard.collections.groups import GROUPINGS
from leaderboard.collections.preview import CONFLICTS, FORMATS, GRADES, GROUPING, JOINING
from leaderboard.models import JudgmentSet

FORMATS_OF = {
    "topics": tuple(TOPIC_READERS),
    "documents": tuple(DOCUMENT_READERS),
    "judgments": tuple(JUDGMENT_FORMATS),
}


def is_format(part: str, format: str) -> bool:
    """Return whether a part can have a format; for judgments also a list of columns.

    >>> is_format("topics", "trec"), is_format("judgments", "docno topic grade")
    (True, True)
    """
    if part != "judgments":
        return format in FORMATS_OF[part]
    try:
        layout_of(format)
    except Refused:
        return False
    return True


@dataclass(frozen=True)
class ImportChoices:
    """Answers about the files of a collection; None for a question not answered."""

    formats: dict[str, str] | None = None
    grade_map: dict[str, int] | None = None
    relevant_from: int | None = None
    renumber_topics: bool | None = None
    joining: str | None = None
    conflict_rule: str | None = None
    grouping: str | None = None

    def is_open(self, question: Mapping[str, Any]) -> bool:
        """Return whether a question is not answered."""
        if question["name"] == FORMATS:
            return question["of"] not in (self.formats or {})
        if question["name"] == GRADES:
            return self.grade_map is None
        if question["name"] == JOINING:
            return self.joining is None
        if question["name"] == CONFLICTS:
            return self.conflict_rule is None
        if question["name"] == GROUPING:
            return self.grouping is None
        return not self.renumber_topics

    def first_open_question(self, questions: Iterable[Mapping[str, Any]]) -> str:
        """Return the first open question in words; empty if there is none."""
        question = next((question for question in questions if self.is_open(question)), None)
        if question is None:
            return ""
        if question["name"] == FORMATS:
            return f"The {question['of']} can be read in more than one way: choose which is meant."
        return OPEN_QUESTIONS[question["name"]]


OPEN_QUESTIONS = {
    GRADES: "Choose what the grades mean: whether 1 is the best grade or the worst.",
    JOINING: "Say whether the file is a whole version, or is added to the judgments before it.",
    CONFLICTS: "Say whose grade counts for documents that both parts have judged.",
    GROUPING: "Choose whether topics with one prefix are tested as a group or each alone.",
    "renumber_topics": (
        "Nothing is imported: some judged topics are not in the topics file under their numbers. "
        "Number the topics by their order, or upload another file."
    ),
}


def complete_grade_map(grade_map: Mapping[str, int], grades: Iterable[str]) -> dict[str, int]:
    """Return the map with every grade of the file, including unchanged grades.

    >>> complete_grade_map({"3": 1}, ["0", "3"])
    {'0': 0, '3': 1}
    """
    return {**{grade: int(grade) for grade in grades}, **grade_map}


class ImportChoicesForm(forms.Form):
    """The form of the choices: a field for each file and for each grade found."""

    renumber_topics = forms.TypedChoiceField(
        choices=[("yes", "by order"), ("no", "unchanged")],
        coerce=lambda value: value == "yes",
        empty_value=None,
        required=False,
    )
    grouping = forms.TypedChoiceField(
        choices=[(each, each) for each in GROUPINGS], empty_value=None, required=False
    )
    relevant_from = forms.IntegerField(min_value=1, max_value=HIGHEST_GRADE, required=False)
    joining = forms.ChoiceField(choices=JudgmentSet.Joining, required=False)
    conflict_rule = forms.ChoiceField(choices=JudgmentSet.ConflictRule, required=False)

    def __init__(self, data: Any, grades: Iterable[str]) -> None:
        super().__init__(data)
        self.grades = list(grades)
        for part in FORMATS_OF:
            self.fields[f"format_{part}"] = forms.CharField(required=False, max_length=60)
        for grade in self.grades:
            self.fields[f"grade_{grade}"] = forms.IntegerField(
                min_value=-HIGHEST_GRADE, max_value=HIGHEST_GRADE, required=False
            )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        for part in FORMATS_OF:
            format = cleaned.get(f"format_{part}")
            if format and not is_format(part, format):
                self.add_error(f"format_{part}", "This format is not known.")
        return cleaned

    def choices(self) -> ImportChoices:
        """Return the cleaned choices."""
        cleaned = self.cleaned_data
        formats = {
            part: cleaned[f"format_{part}"] for part in FORMATS_OF if cleaned[f"format_{part}"]
        }
        grades = {
            grade: cleaned[f"grade_{grade}"]
            for grade in self.grades
            if cleaned[f"grade_{grade}"] is not None
        }
        return ImportChoices(
            formats=formats or None,
            grade_map=grades or None,
            relevant_from=cleaned["relevant_from"],
            renumber_topics=cleaned["renumber_topics"],
            joining=cleaned["joining"] or None,
            conflict_rule=cleaned["conflict_rule"] or None,
            grouping=cleaned["grouping"],
        )
