"""Forms of an assessment: its plan, its guideline with the grades, practice documents, closing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms import BoundField

from leaderboard.assessments.designs import DESIGNS, DESIGNS_BY_NAME
from leaderboard.assessments.distribution import find_topics
from leaderboard.assessments.guidelines import USUAL_SCALE
from leaderboard.assessments.kinds import kind_of_judging, kind_of_pool
from leaderboard.assessments.pool_documents import topics_to_judge
from leaderboard.collections.documents import open_documents
from leaderboard.display.numbers import counted
from leaderboard.models import Assessment, PracticeDocument, Topic
from leaderboard.models.assessments import HIGHEST_GRADE, GradeText
from leaderboard.models.collections import LONGEST_IDENTIFIER
from leaderboard.pages.forms.fields import NewFilesField, TextareaWithPlainLineEnds
from leaderboard.pages.forms.other_saves import SeesOtherSaves, replace_sent, saved_words

USUAL_TEXT = """\
Imagine the person who asked. Would this document, on its own, help them? Judge each document \
separately: it does not matter that an earlier one had the same content.

- Judge what is written, not what you know.
- A single sentence can be enough.
- If you hesitate between two grades, choose the lower one and write down why.
"""
LABELS = {"name": "Name", "line": "Meaning", "example": "Example"}
# The largest number of opinions per document.
MOST_OPINIONS = 9


@dataclass(frozen=True)
class GradeFields:
    """The three fields of one grade."""

    grade: int
    key: str
    name: BoundField
    line: BoundField
    example: BoundField

    @property
    def fields(self) -> tuple[BoundField, ...]:
        return self.name, self.line, self.example


class GuidelineForm(SeesOtherSaves, forms.Form):
    """The words that tell assessors how to judge, with a name, a line and an example per grade."""

    num_grades = forms.TypedChoiceField(
        label="Number of grades",
        choices=[(number, number) for number in range(2, HIGHEST_GRADE + 2)],
        coerce=int,
    )
    text = forms.CharField(
        label="Guideline",
        max_length=20_000,
        required=False,
        widget=TextareaWithPlainLineEnds(attrs={"rows": 10}),
        help_text="Markdown. Assessors read it once per topic and after every new version.",
    )

    def __init__(
        self,
        *args: Any,
        scale: Sequence[GradeText] = USUAL_SCALE,
        text: str = USUAL_TEXT,
        keeps_grades: bool = False,
        **kwargs: Any,
    ) -> None:
        """`keeps_grades` says that only the words can change."""
        super().__init__(*args, **kwargs)
        self.fields["num_grades"].initial = len(scale)
        self.fields["num_grades"].disabled = keeps_grades
        self.fields["text"].initial = text
        self.known = {each.grade: each for each in scale}
        self.keys = {each.grade: each.key or str(each.grade) for each in scale}
        self.grades = list(self.known) if keeps_grades else self._asked_grades()
        for grade in self.grades:
            self._add_fields(grade)

    def _asked_grades(self) -> list[int]:
        """Return the grades of a scale with as many as the form asks for, the highest first."""
        asked = self["num_grades"].value()
        try:
            number = int(asked)
        except (TypeError, ValueError):
            number = self.fields["num_grades"].initial
        return list(range(min(max(number, 2), HIGHEST_GRADE + 1)))[::-1]

    def _take_over_other_saves(self) -> list[BoundField]:
        """Take over a number of grades with what is said of the grades that it adds."""
        others = super()._take_over_other_saves()
        asked = self.grades if self["num_grades"].field.disabled else self._asked_grades()
        for grade in {*asked} - {*self.grades}:
            for name in self._add_fields(grade):
                self.data = replace_sent(self.data, self[name], saved_words(self[name]))
        for grade in {*self.grades} - {*asked}:
            for part in LABELS:
                del self.fields[f"{part}_{grade}"]
        self.grades = asked
        return [field for field in others if field.name in self.fields]

    def _add_fields(self, grade: int) -> list[str]:
        """Add the fields of a grade; return their names."""
        words = self.known.get(grade, GradeText(grade, ""))
        texts = {
            "name": (words.name, 60),
            "line": (words.line, 200),
            "example": (words.example, 300),
        }
        for part, (initial, most) in texts.items():
            self.fields[f"{part}_{grade}"] = forms.CharField(
                label=f"{LABELS[part]} of grade {grade}",
                widget=forms.TextInput(
                    attrs={
                        "aria-label": f"{LABELS[part]} of grade {grade}",
                        "placeholder": LABELS[part],
                    }
                ),
                max_length=most,
                initial=initial,
                required=part == "name",
            )
        return [f"{part}_{grade}" for part in texts]

    @property
    def rows(self) -> list[GradeFields]:
        """The fields of each grade, the highest first."""
        return [
            GradeFields(
                grade,
                self.keys.get(grade, str(grade)),
                *(self[f"{part}_{grade}"] for part in ("name", "line", "example")),
            )
            for grade in self.grades
        ]

    @property
    def scale(self) -> list[GradeText]:
        """The grades of a valid form."""
        given = self.cleaned_data
        return [
            GradeText(grade, *(given[f"{part}_{grade}"] for part in ("name", "line", "example")))
            for grade in self.grades
        ]


class AssessmentForm(SeesOtherSaves, forms.ModelForm):
    """How a pool is judged; what assessors have relied on is fixed once the judging is open."""

    FIXED_ONCE_OPEN = (
        *("seed", "order", "budget", "random_part"),
        *("overlap", "overlap_size", "allows_participants"),
    )
    seed = forms.IntegerField(min_value=0, max_value=2**31 - 1, widget=forms.HiddenInput)

    class Meta:
        model = Assessment
        fields = [
            *("overlap", "overlap_size", "topics_per_assessor", "due_on"),
            *("order", "budget", "random_part", "rule", "allows_participants", "shows_progress"),
        ]
        labels = {
            "overlap": "Second opinions",
            "overlap_size": "How many",
            "topics_per_assessor": "Topics per assessor",
            "due_on": "Finished by",
            "order": "Order of documents",
            "budget": "Documents per topic",
            "random_part": "Of these at random",
            "rule": "Where assessors differ",
            "allows_participants": "Members of teams may judge",
            "shows_progress": "Everyone sees which share of the pool is judged",
        }
        help_texts = {
            "order": "Thompson sampling and MaxMean learn from the grades so far and find more "
            "with fewer documents. “What decides” looks at the scores of the board. All three "
            "have one opinion per document, and the version names them.",
            "budget": "For the last three orders. Empty: the whole pool. Learning orders keep "
            "40 % for topics that still have relevant documents.",
            "random_part": "For learning orders: drawn from the whole pool before the order "
            "starts. Only they show what it missed. Fewer if the budget is small.",
            "overlap_size": "Percent of each topic, number of topics, or opinions per document.",
            "topics_per_assessor": "Up to this many.",
            "allows_participants": "Under a pseudonym, and never what only their team found. "
            "The version names how many did.",
            "shows_progress": "Nothing else about the judging is shown to teams.",
        }
        widgets = {"due_on": forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["seed"].initial = self.instance.seed
        self.fields["topics_per_assessor"].min_value = 1
        if kind_of_judging(self.instance).is_of_answers:
            self._fit_answers()
        self.fields["budget"].widget.attrs["min"] = 1
        self.fields["random_part"].required = False
        if self.instance.state != Assessment.State.DRAFT:
            for name in self.FIXED_ONCE_OPEN:
                self.fields[name].disabled = True

    def _fit_answers(self) -> None:
        """Leave out what answers are not judged by: another order, and a middle grade."""
        order, rule = self.fields["order"], self.fields["rule"]
        order.choices = [(Assessment.Order.RANDOM.value, "Random; nuggets of an answer together")]
        rule.choices = [each for each in rule.choices if each[0] != Assessment.Rule.MEDIAN]
        for name in ("budget", "random_part"):
            self.fields[name].disabled = True

    def clean_seed(self) -> int:
        self.instance.seed = self.cleaned_data["seed"]
        return self.instance.seed

    def clean_budget(self) -> int | None:
        number: int | None = self.cleaned_data["budget"]
        if number == 0:
            raise ValidationError("Use 1 or more, or leave it empty.")
        return number

    def clean_random_part(self) -> int:
        return self.cleaned_data["random_part"] or 0

    def clean_topics_per_assessor(self) -> int:
        number: int = self.cleaned_data["topics_per_assessor"]
        if number < 1:
            raise ValidationError("Use 1 or more.")
        return number

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if Assessment(order=cleaned.get("order", "")).chooses:
            if cleaned.get("overlap") not in (None, Assessment.Overlap.NONE):
                self.add_error("overlap", "This order has one opinion per document: choose none.")
        else:
            cleaned["budget"] = None
        wrong = self._find_wrong_size(cleaned.get("overlap"), cleaned.get("overlap_size"))
        if wrong:
            self.add_error("overlap_size", wrong)
        return cleaned

    def _find_wrong_size(self, overlap: str | None, size: int | None) -> str:
        """Return what is wrong with the amount of second opinions, or nothing."""
        if overlap is None or size is None:
            return ""
        if overlap == Assessment.Overlap.SAMPLE and not 1 <= size <= 100:
            return "A sample has 1 to 100 percent."
        if overlap == Assessment.Overlap.TOPICS:
            most = len(find_topics(self.instance))
            return "" if 1 <= size <= most else f"The pool has {counted(most, 'topic')}."
        if overlap == Assessment.Overlap.ALL and not 2 <= size <= MOST_OPINIONS:
            return f"Use 2 to {MOST_OPINIONS} opinions per document."
        return ""


class AssessmentPlanForm(AssessmentForm):
    """The plan of a new assessment: a design by name, or every answer by itself."""

    OWN = "own"
    design = forms.ChoiceField(
        label="Design",
        choices=[*((each.name, each.title) for each in DESIGNS), (OWN, "Another design")],
        required=False,
        initial="sample",
    )
    percent = forms.IntegerField(
        label="Percent of the documents", min_value=1, max_value=100, required=False, initial=10
    )
    opinions = forms.IntegerField(
        label="Opinions per document",
        min_value=2,
        max_value=MOST_OPINIONS,
        required=False,
        initial=3,
    )

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        chosen = DESIGNS_BY_NAME.get(cleaned.get("design") or self.OWN)
        if chosen is not None:
            size = cleaned.get(chosen.asks) or chosen.size
            answers = {"overlap": chosen.overlap, "overlap_size": size, "rule": chosen.rule}
            cleaned.update(answers)
        return super().clean()

    @property
    def chosen_design(self) -> str:
        return str(self["design"].value() or self.OWN)

    @property
    def opens_rest(self) -> bool:
        """Whether something in the fold of the page needs an answer."""
        folded = ("order", "budget", "rule", "overlap", "overlap_size")
        return any(name in self.errors for name in folded)

    @property
    def sizes(self) -> dict[str, int]:
        """What is asked beside designs, as far as it is known."""
        given = self.cleaned_data if self.is_bound and self.is_valid() else {}
        return {name: given[name] for name in ("percent", "opinions") if given.get(name)}


class PracticeForm(forms.Form):
    """A document with a settled grade, on which assessors practise."""

    topic = forms.CharField(label="Topic", max_length=LONGEST_IDENTIFIER)
    docno = forms.CharField(label="Docno", max_length=LONGEST_IDENTIFIER)
    grade = forms.TypedChoiceField(label="Grade", coerce=int)
    why = forms.CharField(
        label="Why", max_length=300, required=False, help_text="Shown after the answer."
    )

    def __init__(self, *args: Any, assessment: Assessment, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.assessment = assessment
        self.fields["grade"].choices = [
            (grade.grade, f"{grade.grade}, {grade.name}") for grade in assessment.guideline.scale
        ]

    def clean_topic(self) -> Topic:
        topics = self.assessment.track.collection.topics
        topic = topics.filter(number=self.cleaned_data["topic"].strip()).first()
        if topic is None:
            raise ValidationError("The collection has no such topic.")
        return topic

    def clean_docno(self) -> str:
        docno: str = self.cleaned_data["docno"].strip()
        pool, topic = self.assessment.pool, self.cleaned_data.get("topic")
        if kind_of_pool(pool).is_of_answers:
            pooled = topics_to_judge(pool).get(topic.number, ()) if topic else ()
            if docno not in {pair.docno for pair in pooled}:
                raise ValidationError("The pool has no such pair for this topic.")
            return docno
        stored = self.assessment.track.collection.documents.name
        if not stored or open_documents(stored).find(docno) is None:
            raise ValidationError("The collection has no such document.")
        return docno

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        same = PracticeDocument.objects.filter(
            assessment=self.assessment, topic=cleaned.get("topic"), docno=cleaned.get("docno", "")
        )
        if same.exists():
            raise ValidationError("This document is in the list already.")
        return cleaned


class CloseForm(forms.Form):
    """The name of the version that closing makes."""

    version = forms.SlugField(label="Version", max_length=40)
    is_early = forms.BooleanField(label="Close early", required=False)


class MarksForm(forms.Form):
    """Files of marks that were made elsewhere."""

    files = NewFilesField(label="Files")
    format = forms.ChoiceField(
        label="Format",
        required=False,
        choices=[
            ("", "Recognise it"),
            ("jsonl", "JSON Lines, one mark per line"),
            ("trec", "Qrels: topic, assessor, docno, grade"),
            ("doccano", "Export of Doccano"),
        ],
    )
