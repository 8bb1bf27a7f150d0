"""Assessments: a kept pool, the people who judge it, and every mark that they make."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.functional import cached_property

from leaderboard.models.collections import LONGEST_IDENTIFIER, JudgmentSet, Topic
from leaderboard.models.nuggets import MarkLayer
from leaderboard.models.people import User
from leaderboard.models.pools import Pool
from leaderboard.models.tracks import Track, new_invitation

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

# A grade is one digit, so that one key gives it.
HIGHEST_GRADE = 9


def new_seed() -> int:
    """Return a random seed for the order of judging."""
    return secrets.randbelow(2**31)


class AssessmentQuerySet(models.QuerySet["Assessment"]):
    def unfinished(self) -> AssessmentQuerySet:
        """Return the assessments that are not closed."""
        return self.exclude(state=Assessment.State.CLOSED)

    def judged_by(self, user: User | AnonymousUser) -> AssessmentQuerySet:
        """Return the unfinished assessments in which the user is an assessor."""
        return self.judged_by_any([user]) if user.is_authenticated else self.none()

    def judged_by_any(self, users: Sequence[User] | models.QuerySet[Any]) -> AssessmentQuerySet:
        """Return the unfinished assessments in which one of these users is an assessor."""
        theirs = Assessor.objects.active().filter(user__in=users)
        return self.unfinished().filter(pk__in=theirs.values("assessment"))


class Assessment(models.Model):
    """The judging of one approved pool of a track.

    `overlap_size` is a share in percent for `sample`, a number of topics for `topics`, and a
    number of opinions for `all`.
    """

    class State(models.TextChoices):
        DRAFT = "draft"
        OPEN = "open"
        PAUSED = "paused"
        CLOSED = "closed"

    class Order(models.TextChoices):
        RANDOM = "random", "Random; near-duplicates one after the other"
        DOCNO = "docno", "By docno, as TREC does"
        THOMPSON = "thompson", "Thompson sampling: from the runs that found relevant documents"
        MAXMEAN = "maxmean", "MaxMean: from the run with the largest share of relevant documents"
        DECIDES = "decides", "What decides: documents that could still change a verdict first"

    class Overlap(models.TextChoices):
        NONE = "none", "None: one opinion per document"
        SAMPLE = "sample", "A random sample of each topic"
        TOPICS = "topics", "Whole topics"
        ALL = "all", "Every document"

    class Rule(models.TextChoices):
        FIRST = "first", "The first opinion counts, as in TREC"
        MAJORITY = "majority", "The most frequent grade"
        MEDIAN = "median", "The middle grade"
        SINGLE = "single", "An organiser settles each disagreement"
        AGREED = "agreed", "What most agree on; an organiser settles the rest"

    track = models.ForeignKey(Track, models.CASCADE, related_name="assessments")
    pool = models.ForeignKey(Pool, models.PROTECT, related_name="assessments")
    name = models.SlugField(max_length=40)
    state = models.CharField(max_length=10, choices=State, default=State.DRAFT)
    order = models.CharField(max_length=10, choices=Order, default=Order.RANDOM)
    seed = models.PositiveIntegerField(default=new_seed, editable=False)
    # How many documents of each topic an order that chooses hands out; None for all of them.
    budget = models.PositiveIntegerField(null=True, blank=True)
    # How many documents of each topic an order that learns draws at random before it starts.
    random_part = models.PositiveSmallIntegerField(default=10, db_default=0)
    # When the rest of the budgets went to the topics that still have relevant documents.
    second_round_at = models.DateTimeField(null=True, editable=False)
    overlap = models.CharField(max_length=10, choices=Overlap, default=Overlap.SAMPLE)
    overlap_size = models.PositiveSmallIntegerField(default=10)
    rule = models.CharField(max_length=10, choices=Rule, default=Rule.FIRST)
    topics_per_assessor = models.PositiveSmallIntegerField(default=8)
    # When the organisers want the judging to be finished.
    due_on = models.DateField(null=True, blank=True)
    allows_participants = models.BooleanField(default=False)
    # Whether participants see which share of the pool is judged.
    shows_progress = models.BooleanField(default=False)
    # Anyone who has it can become an assessor.
    invitation = models.CharField(max_length=40, default=new_invitation, editable=False)
    created_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    opened_at = models.DateTimeField(null=True, editable=False)
    closed_at = models.DateTimeField(null=True, editable=False)
    # What closing made: judgments, or a layer of marks.
    version = models.ForeignKey(
        JudgmentSet, models.SET_NULL, null=True, editable=False, related_name="+"
    )
    layer = models.ForeignKey(
        MarkLayer, models.SET_NULL, null=True, editable=False, related_name="+"
    )

    objects = AssessmentQuerySet.as_manager()

    class Meta:
        ordering = ["created_at", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["track", "name"], name="an_assessment_has_a_name"),
            models.UniqueConstraint(
                fields=["pool"],
                condition=~Q(state="closed"),
                name="a_pool_has_one_open_assessment",
            ),
            models.UniqueConstraint(
                fields=["invitation"], name="an_invitation_leads_to_one_assessment"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @cached_property
    def guideline(self) -> Guideline:
        """The guideline that assessors see when they ask."""
        return self.guidelines.latest("number")

    @property
    def made(self) -> models.QuerySet[Any]:
        """The judgments or the layers of marks that were made of its marks, the latest first."""
        made = self.judgment_sets if self.pool.about == "documents" else self.mark_layers
        return made.order_by("-created_at")

    @property
    def has_marks(self) -> bool:
        """Whether anybody has judged; from then on the grades stay as they are."""
        return Mark.objects.filter(assessor__assessment=self).exists()

    @property
    def learns(self) -> bool:
        """Whether the next documents depend on the grades so far."""
        return self.order in LEARNING

    @property
    def chooses(self) -> bool:
        """Whether the order chooses which documents are judged at all."""
        return self.learns or self.order == Assessment.Order.DECIDES

    @property
    def accepts_marks(self) -> bool:
        return self.state == Assessment.State.OPEN


# The orders whose next documents depend on the grades so far.
LEARNING = (Assessment.Order.THOMPSON, Assessment.Order.MAXMEAN)


@dataclass(frozen=True)
class GradeText:
    """One grade of the scale: its number, its name, what it means, and an example.

    `key` gives a label of answers; a grade of documents is its own key.
    """

    grade: int
    name: str
    line: str = ""
    example: str = ""
    key: str = ""


class Guideline(models.Model):
    """One version of the words that tell assessors how to judge; it never changes.

    `grades` holds a `GradeText` as JSON for each grade, the highest first.
    """

    assessment = models.ForeignKey(Assessment, models.CASCADE, related_name="guidelines")
    number = models.PositiveSmallIntegerField()
    text = models.TextField(blank=True, max_length=20_000)
    grades = models.JSONField()
    created_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["assessment", "number"], name="guideline_number_once")
        ]

    def __str__(self) -> str:
        return f"{self.assessment}, guideline {self.number}"

    @property
    def scale(self) -> list[GradeText]:
        """The grades, the highest first."""
        return [GradeText(**grade) for grade in self.grades]


class PracticeDocument(models.Model):
    """A document with a settled grade, on which assessors practise; its marks never count."""

    assessment = models.ForeignKey(Assessment, models.CASCADE, related_name="practice_documents")
    topic = models.ForeignKey(Topic, models.CASCADE, related_name="+")
    docno = models.CharField(max_length=LONGEST_IDENTIFIER)
    grade = models.PositiveSmallIntegerField()
    why = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["assessment", "topic", "docno"], name="a_practice_document_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.topic} {self.docno} {self.grade}"


class AssessorQuerySet(models.QuerySet["Assessor"]):
    def active(self) -> AssessorQuerySet:
        """Return the assessors whom the organisers have not removed."""
        return self.filter(removed_at=None)

    def available(self) -> AssessorQuerySet:
        """Return the active assessors with an account; those of imported marks have none."""
        return self.active().exclude(user=None)


class Assessor(models.Model):
    """A user under a pseudonym in one assessment; the pseudonym outlives the account."""

    assessment = models.ForeignKey(Assessment, models.CASCADE, related_name="assessors")
    user = models.ForeignKey(User, models.SET_NULL, null=True, related_name="assessors")
    name = models.CharField(max_length=20)
    joined_at = models.DateTimeField(default=timezone.now, editable=False)
    last_seen_at = models.DateTimeField(null=True, editable=False)
    removed_at = models.DateTimeField(null=True, editable=False)

    objects = AssessorQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["assessment", "user"], name="one_assessor_per_user"),
            models.UniqueConstraint(fields=["assessment", "name"], name="pseudonyms_differ"),
        ]

    def __str__(self) -> str:
        return self.name


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def of_user(self, user: User | AnonymousUser) -> AssignmentQuerySet:
        """Return what the user is to judge, or has judged, in assessments that have begun."""
        if not user.is_authenticated:
            return self.none()
        mine = self.filter(assessor__user=user, assessor__removed_at=None)
        return mine.exclude(assessor__assessment__state=Assessment.State.DRAFT)

    def of(self, assessment: Assessment) -> AssignmentQuerySet:
        return self.filter(assessor__assessment=assessment)

    def unfinished(self) -> AssignmentQuerySet:
        return self.filter(finished_at=None)

    def of_topic(self, assessment: Assessment, topic: Topic) -> AssignmentQuerySet:
        """Return the first opinions on a topic: several once it was reassigned."""
        return self.filter(assessor__assessment=assessment, topic=topic, turn=1)


class Assignment(models.Model):
    """A topic that an assessor judges, as the first opinion (turn 1), the second, and so on."""

    assessor = models.ForeignKey(Assessor, models.CASCADE, related_name="assignments")
    topic = models.ForeignKey(Topic, models.CASCADE, related_name="+")
    turn = models.PositiveSmallIntegerField(default=1)
    # How many documents it has, repeats not counted.
    num_documents = models.PositiveIntegerField()
    # The documents of an assignment that continues another one; empty if the rule says which.
    docnos = models.JSONField(default=list, blank=True)
    # Whether it has only what others differ on: it settles, and says nothing of agreement.
    settles = models.BooleanField(default=False, db_default=False)
    # The documents drawn at random before an order that learns started, and out of how many.
    random_part = models.JSONField(
        default=list, blank=True, db_default=models.Value([], models.JSONField())
    )
    num_candidates = models.PositiveIntegerField(null=True)
    # The assessor's own notes on the topic.
    notes = models.TextField(blank=True, max_length=5000)
    # The guideline that the assessor has read before judging this topic.
    read_guideline = models.ForeignKey(Guideline, models.SET_NULL, null=True, related_name="+")
    # When its documents were put in order, at the first look.
    drawn_at = models.DateTimeField(null=True, editable=False)
    finished_at = models.DateTimeField(null=True, editable=False)

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        ordering = ["topic__position", "turn", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["assessor", "topic"], name="an_assessor_judges_a_topic_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.assessor} on {self.topic}"

    @property
    def accepts_marks(self) -> bool:
        return self.assessor.assessment.accepts_marks and self.finished_at is None

    @property
    def learns(self) -> bool:
        """Whether its documents are drawn in batches, by the grades so far."""
        return self.turn == 1 and self.assessor.assessment.learns


class AssignedDocumentQuerySet(models.QuerySet["AssignedDocument"]):
    def of(self, assessment: Assessment) -> AssignedDocumentQuerySet:
        return self.filter(assignment__assessor__assessment=assessment)

    def graded(self) -> AssignedDocumentQuerySet:
        """Return documents with a grade, those left out that came back to the same assessor."""
        return self.filter(state=DocumentState.JUDGED, is_repeat=False)

    def unjudged(self) -> AssignedDocumentQuerySet:
        """Return documents without an answer, those kept for later included."""
        return self.filter(state__in=[DocumentState.WAITING, DocumentState.LATER])

    def kept(self) -> AssignedDocumentQuerySet:
        """Return the documents that nobody judges instead, without repeats."""
        return self.filter(is_repeat=False).exclude(state=DocumentState.PASSED)

    def free_for(self, tab: str) -> AssignedDocumentQuerySet:
        """Return documents that no other tab of the assessor has on its screen."""
        return self.filter(Q(tab=tab) | Q(leased_until=None) | Q(leased_until__lte=Now()))


class DocumentState(models.TextChoices):
    WAITING = "waiting"
    LATER = "later"
    JUDGED = "judged"
    CANNOT = "cannot"
    # Another assessor judges it instead.
    PASSED = "passed"


class AssignedDocument(models.Model):
    """A document in its place among those that an assessor judges for a topic.

    Pages name it by its key; the assessor never learns the docno.
    """

    State = DocumentState

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="documents")
    docno = models.CharField(max_length=LONGEST_IDENTIFIER)
    place = models.PositiveIntegerField()
    # Whether it came back to the same assessor, to see whether the grade is the same.
    is_repeat = models.BooleanField(default=False)
    # Documents of a topic with nearly the same text share a number.
    lookalikes = models.PositiveIntegerField(null=True)
    state = models.CharField(max_length=10, choices=DocumentState, default=DocumentState.WAITING)
    # In an order that learns: the run from which it was drawn, the guard or order that drew it,
    # and how many marks on the topic were known then.
    drawn_from = models.ForeignKey("Run", models.SET_NULL, null=True, related_name="+")
    drawn_by = models.CharField(max_length=10, blank=True, default="", db_default="")
    marks_before = models.PositiveIntegerField(null=True)
    # The mark that stands.
    mark = models.ForeignKey("Mark", models.SET_NULL, null=True, related_name="+")
    # The tab of a browser that shows it, and until when it may.
    tab = models.CharField(max_length=32, blank=True, default="")
    leased_until = models.DateTimeField(null=True)

    objects = AssignedDocumentQuerySet.as_manager()

    class Meta:
        ordering = ["place"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "place"], name="places_differ"),
            models.UniqueConstraint(
                fields=["assignment", "docno", "is_repeat"], name="a_document_is_assigned_once"
            ),
        ]
        indexes = [models.Index(fields=["assignment", "state", "place"], name="next_to_judge")]

    def __str__(self) -> str:
        return f"{self.assignment}: {self.place}"


class MarkQuerySet(models.QuerySet["Mark"]):
    def standing(self) -> MarkQuerySet:
        """Return the marks that no later mark replaces, undone ones left out."""
        return self.filter(replaced_by=None).exclude(kind=Mark.Kind.UNDO)

    def of(self, assessment: Assessment) -> MarkQuerySet:
        return self.filter(assessor__assessment=assessment)


class Mark(models.Model):
    """One answer of an assessor about a document; rows are only ever added.

    The marks of a document are a chain: each names the one that it replaces.
    """

    class Kind(models.TextChoices):
        GRADE = "grade"
        CANNOT = "cannot"
        LATER = "later"
        UNDO = "undo"

    class Reason(models.TextChoices):
        UNREADABLE = "unreadable", "The text cannot be read"
        LANGUAGE = "language", "I do not know the language"
        TOPIC = "topic", "The topic is not clear"
        MISSING = "missing", "The document cannot be opened"

    class By(models.TextChoices):
        KEY = "key"
        CLICK = "click"

    document = models.ForeignKey(AssignedDocument, models.RESTRICT, related_name="marks")
    assessor = models.ForeignKey(Assessor, models.CASCADE, related_name="marks")
    # Its identity, which the browser chooses: a mark that is sent twice is one mark.
    key = models.CharField(max_length=40)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.GRADE)
    grade = models.PositiveSmallIntegerField(null=True)
    reason = models.CharField(max_length=12, choices=Reason, blank=True, default="")
    rationale = models.CharField(max_length=2000, blank=True, default="")
    # Pairs of character positions in the text of the document.
    spans = models.JSONField(default=list, blank=True)
    # Seconds that the assessor looked at the document, pauses left out.
    seconds = models.FloatField(null=True)
    by = models.CharField(max_length=5, choices=By, default=By.CLICK)
    guideline = models.ForeignKey(Guideline, models.RESTRICT, related_name="+")
    replaces = models.OneToOneField("self", models.RESTRICT, null=True, related_name="replaced_by")
    at = models.DateTimeField(default=timezone.now, editable=False)

    objects = MarkQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["assessor", "key"], name="a_mark_is_made_once"),
            models.UniqueConstraint(
                fields=["document"], condition=Q(replaces=None), name="a_document_has_a_first_mark"
            ),
            models.CheckConstraint(
                condition=Q(kind="grade", grade__isnull=False)
                | (~Q(kind="grade") & Q(grade__isnull=True)),
                name="a_grade_mark_has_a_grade",
            ),
            models.CheckConstraint(
                condition=~Q(kind="undo") | Q(replaces__isnull=False),
                name="an_undo_undoes_a_mark",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.assessor} {self.kind} {self.grade}"


class Settlement(models.Model):
    """The grade that an organiser gave to a document on which assessors differ."""

    assessment = models.ForeignKey(Assessment, models.CASCADE, related_name="settlements")
    topic = models.ForeignKey(Topic, models.CASCADE, related_name="+")
    docno = models.CharField(max_length=LONGEST_IDENTIFIER)
    grade = models.PositiveSmallIntegerField()
    note = models.CharField(max_length=500, blank=True)
    settled_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    settled_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["assessment", "topic", "docno"], name="a_document_is_settled_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.topic} {self.docno} {self.grade}"
