"""Test collections: documents, topics, and versions of the judgments."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from django.apps import apps
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now
from django.utils import timezone

from leaderboard.models.fast_rows import FastRow
from leaderboard.models.people import User
from leaderboard.models.registrations import of_readers

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser


# Larger collections have no index of words, and no baseline is made for them.
MOST_INDEXED = 1_000_000
# Topic numbers and docnos; `evaluation.reading.columns` reads as many bytes.
LONGEST_IDENTIFIER = 1024


class ImportState(models.TextChoices):
    QUEUED = "queued"
    CHECKING = "checking"
    PREVIEW = "preview"
    IMPORTING = "importing"
    READY = "ready"
    REFUSED = "refused"
    FAILED = "failed"


class CollectionQuerySet(models.QuerySet["Collection"]):
    def ready(self) -> CollectionQuerySet:
        return self.filter(state=ImportState.READY)

    def searchable(self) -> CollectionQuerySet:
        """Return collections whose documents an index of words can cover."""
        return self.filter(num_documents__range=(1, MOST_INDEXED))

    def abandoned(self) -> CollectionQuerySet:
        """Return collections whose restoring was interrupted."""
        return self.filter(arrives_until__lt=Now())

    def organised_by(self, user: User | AnonymousUser) -> CollectionQuerySet:
        if not user.is_authenticated:
            return self.none()
        if user.is_staff:
            return self.all()
        return self.filter(Q(owner=user) | Q(co_organisers=user)).distinct()

    def visible_to(self, user: User | AnonymousUser) -> CollectionQuerySet:
        """Return collections of tracks that the user sees, and those the user organises."""
        if user.is_authenticated and user.is_staff:
            return self.all()
        seen = Q(tracks__visibility="public", tracks__is_draft=False, state=ImportState.READY)
        if user.is_authenticated:
            seen |= Q(owner=user) | Q(co_organisers=user)
            organised = apps.get_model("leaderboard", "Benchmark").objects.organised_by(user)
            seen |= Q(tracks__benchmark__in=organised.values("pk"))
            inside = Q(tracks__benchmark__in=user.memberships.values("benchmark")) | Q(
                tracks__visibility="members", tracks__benchmark__joining="everyone"
            )
            seen |= inside & Q(tracks__is_draft=False)
        return self.filter(seen).distinct()


class Collection(models.Model):
    """Documents and topics; immutable once ready.

    The documents are in the stored file `documents`, in compressed blocks, not in rows.
    """

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True, max_length=5000)
    owner = models.ForeignKey(User, models.PROTECT, related_name="collections")
    co_organisers = models.ManyToManyField(User, blank=True, related_name="+")
    state = models.CharField(max_length=10, choices=ImportState, default=ImportState.QUEUED)
    asks_first = models.BooleanField(default=True)
    # The name in ir_datasets of a collection whose files a job fetches; "" for uploads.
    dataset = models.CharField(
        max_length=200, blank=True, default="", db_default="", editable=False
    )
    topics_file = models.FileField(max_length=200)
    topics_filename = models.CharField(max_length=120, blank=True)
    documents_file = models.FileField(max_length=200, blank=True)
    documents_filename = models.CharField(max_length=120, blank=True)
    # Bytes of the uploaded topics and documents; 0 for collections of older versions.
    size = models.BigIntegerField(default=0, db_default=0, editable=False)
    # Lines `topic group`, and how topics are grouped; "" until it is known.
    groups_file = models.FileField(max_length=200, blank=True, default="", db_default="")
    groups_filename = models.CharField(max_length=120, blank=True, default="", db_default="")
    grouping = models.CharField(max_length=10, blank=True, default="", db_default="")
    formats = models.JSONField(default=dict, blank=True)
    renumber_topics = models.BooleanField(default=False)
    documents = models.FileField(max_length=200, blank=True)
    # The index of their words; "" until a job has made it.
    words = models.FileField(max_length=200, blank=True, default="", db_default="", editable=False)
    # Digests of the uploaded files; "" until a job has computed them.
    topics_sha256 = models.CharField(
        max_length=64, blank=True, default="", db_default="", editable=False
    )
    documents_sha256 = models.CharField(
        max_length=64, blank=True, default="", db_default="", editable=False
    )
    # Whether all who see the collection may download the documents.
    shares_documents = models.BooleanField(default=False, db_default=False)
    # Who may download the files, if they are shared.
    documents_readers = of_readers()
    topics_readers = of_readers()
    judgments_readers = of_readers()
    licence = models.CharField(max_length=120, blank=True, default="", db_default="")
    # Where to get documents that may not be shared, and how.
    source_url = models.URLField(max_length=300, blank=True, default="", db_default="")
    source_note = models.TextField(max_length=2000, blank=True, default="", db_default="")
    num_documents = models.PositiveIntegerField(default=0)
    num_topics = models.PositiveIntegerField(default=0)
    # How many groups the topics are in; 0 where each is by itself.
    num_groups = models.PositiveIntegerField(default=0, db_default=0)
    preview = models.JSONField(default=dict, blank=True)
    questions = models.JSONField(default=list, blank=True)
    problems = models.JSONField(default=list, blank=True)
    problem_totals = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    ready_at = models.DateTimeField(null=True, editable=False)
    # While an archive is being restored: when the restoring counts as interrupted.
    arrives_until = models.DateTimeField(null=True, editable=False)

    objects = CollectionQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def source_link(self) -> str:
        """Where to get the documents; empty unless it is an address of the web."""
        return self.source_url if self.source_url.startswith(("https://", "http://")) else ""

    @property
    def is_searchable(self) -> bool:
        """Whether an index of words can cover the documents; a job may still be making it."""
        return 0 < self.num_documents <= MOST_INDEXED

    def is_organised_by(self, user: User | AnonymousUser) -> bool:
        return Collection.objects.organised_by(user).filter(pk=self.pk).exists()


class TopicQuerySet(models.QuerySet["Topic"]):
    def about(self, words: str) -> TopicQuerySet:
        """Return the topics with these words in their number or one of their texts."""
        if not words:
            return self
        fields = ("number", "title", "description", "narrative")
        return self.filter(
            reduce(or_, (Q(**{f"{name}__icontains": words}) for name in fields)),
        )

    def in_group(self, group: str) -> TopicQuerySet:
        """Return the topics of a group; of every group without a name."""
        return self.filter(group=group) if group else self


class Topic(FastRow):
    """A topic; `position` never changes, as it is the index into each array of topic scores."""

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="topics")
    position = models.PositiveIntegerField()
    number = models.CharField(max_length=LONGEST_IDENTIFIER)
    title = models.TextField(blank=True)
    description = models.TextField(blank=True)
    narrative = models.TextField(blank=True)
    # What it shares its luck with, such as a conversation; "" where topics are by themselves.
    group = models.CharField(max_length=LONGEST_IDENTIFIER, blank=True, default="", db_default="")

    objects = TopicQuerySet.as_manager()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "number"], name="topic_number_once"),
            models.UniqueConstraint(fields=["collection", "position"], name="topic_position_once"),
        ]

    def __str__(self) -> str:
        return self.number

    @property
    def label(self) -> str:
        """The title, or the description of a topic that has none."""
        return self.title or self.description


class JudgmentSetQuerySet(models.QuerySet["JudgmentSet"]):
    def ready(self) -> JudgmentSetQuerySet:
        """Return the versions that have judgments of documents and can be used."""
        return self.filter(state=ImportState.READY, has_documents=True)

    def of_no_document(self) -> JudgmentSetQuerySet:
        """Return the versions by which marks alone score answers."""
        return self.filter(state=ImportState.READY, has_documents=False)

    def add_of_no_document(self, collection: Collection, user: User, version: str) -> JudgmentSet:
        """Add such a version to a collection; it counts every topic."""
        return self.create(
            collection=collection,
            version=version,
            created_by=user,
            has_documents=False,
            state=ImportState.READY,
            ready_at=timezone.now(),
            note="No document is judged. Marks of answers alone give the scores.",
            top_grade=1,
            num_topics=collection.num_topics,
        )

    def for_boards(self) -> JudgmentSetQuerySet:
        """Return the versions that boards can use: all but samples that check a machine."""
        return self.exclude(pool__checks__isnull=False)

    def contained_in(self, whole: JudgmentSet) -> JudgmentSetQuerySet:
        """Return earlier versions whose documents are all judged in `whole`, with any grade."""
        same = Judgment.objects.filter(
            judgment_set=whole, topic=OuterRef("topic"), docno=OuterRef("docno")
        )
        unjudged = Judgment.objects.filter(~Exists(same), judgment_set=OuterRef("pk"))
        earlier = self.filter(collection=whole.collection_id, created_at__lte=whole.created_at)
        ready = earlier.filter(state=ImportState.READY).exclude(pk=whole.pk)
        return ready.filter(~Exists(unjudged))


class MadeBy(models.TextChoices):
    PEOPLE = "people"
    MACHINE = "machine"
    BOTH = "both"


class ImportedVersion(models.Model):
    """What a file is read as under a version: checked, confirmed, imported, and then immutable.

    Its jobs are `check_` and `import_` with its `noun`.
    """

    MadeBy = MadeBy
    noun = ""

    version = models.SlugField(max_length=40)
    state = models.CharField(max_length=10, choices=ImportState, default=ImportState.QUEUED)
    asks_first = models.BooleanField(default=True)
    file = models.FileField(max_length=200)
    filename = models.CharField(max_length=120, blank=True)
    size = models.BigIntegerField(default=0, db_default=0, editable=False)
    sha256 = models.CharField(max_length=64)
    note = models.TextField(blank=True, max_length=2000)
    # Who judged: people or a machine; "" if nobody said so.
    made_by = models.CharField(max_length=10, choices=MadeBy, blank=True, default="", db_default="")
    preview = models.JSONField(default=dict, blank=True)
    problems = models.JSONField(default=list, blank=True)
    problem_totals = models.JSONField(default=dict, blank=True)
    created_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    ready_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        abstract = True
        ordering = ["created_at", "pk"]

    def __str__(self) -> str:
        return self.version


class JudgmentSet(ImportedVersion):
    """One version of the judgments; immutable once ready, so new judgments are a new set."""

    noun = "judgments"

    class Joining(models.TextChoices):
        REPLACE = "replace", "a whole version"
        JOIN = "join", "a part, joined with the latest version"

    class ConflictRule(models.TextChoices):
        NEWER = "newer", "the grade of the file"
        OLDER = "older", "the earlier grade"
        HIGHER = "higher", "the higher grade"

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="judgment_sets")
    # How to read the columns, if the organiser chose; otherwise they are recognised.
    format = models.CharField(max_length=60, blank=True, default="", db_default="")
    grade_map = models.JSONField(default=dict, blank=True)
    # Whether documents are judged. Answers can be scored by marks alone, then on every topic.
    has_documents = models.BooleanField(default=True, db_default=True)
    # From this grade on a document counts as relevant; tracks begin with it.
    relevant_from = models.PositiveSmallIntegerField(default=1, db_default=1)
    grade_counts = models.JSONField(default=dict, blank=True)
    top_grade = models.PositiveSmallIntegerField(null=True)
    num_judgments = models.PositiveIntegerField(default=0)
    num_topics = models.PositiveIntegerField(default=0)
    num_relevant = models.PositiveIntegerField(default=0)
    # Of a stratified sample the strata, of judgments of subtopics those, summed over the topics.
    num_strata = models.PositiveIntegerField(default=0, db_default=0)
    num_subtopics = models.PositiveIntegerField(default=0, db_default=0)
    # The probabilities of subtopics: a file of their own, and how many there are.
    intents_file = models.FileField(max_length=200, blank=True, default="", db_default="")
    intents_filename = models.CharField(max_length=120, blank=True, default="", db_default="")
    num_intents = models.PositiveIntegerField(default=0, db_default=0)
    # Whether the file counts the topics 1, 2, 3 in their order instead of naming them.
    counts_topics = models.BooleanField(default=False, db_default=False)
    # Whether the file is a part, and of what; "" asks if it lacks topics that were judged before.
    joining = models.CharField(
        max_length=10, choices=Joining, blank=True, default="", db_default=""
    )
    joined_to = models.ForeignKey("self", models.SET_NULL, null=True, related_name="+")
    # Whose grade counts where both have judged a document; "" asks if there is one.
    conflict_rule = models.CharField(
        max_length=10, choices=ConflictRule, blank=True, default="", db_default=""
    )
    pool_depth = models.PositiveIntegerField(null=True)
    pooled_runs = models.ManyToManyField("Run", blank=True, related_name="+")
    # The pool that these judgments are for, if any.
    pool = models.ForeignKey("Pool", models.SET_NULL, null=True, related_name="judgment_sets")
    # The assessment whose marks these judgments settle, if any.
    assessment = models.ForeignKey(
        "Assessment", models.SET_NULL, null=True, related_name="judgment_sets"
    )
    # Of judgments by both: those by people, and those by the machine that fill them.
    people_version = models.ForeignKey("self", models.PROTECT, null=True, related_name="+")
    machine_version = models.ForeignKey("self", models.PROTECT, null=True, related_name="+")
    questions = models.JSONField(
        default=list, blank=True, db_default=models.Value([], models.JSONField())
    )
    # A CSV file of the changes to the previous version.
    changes = models.FileField(max_length=200, blank=True, default="", db_default="")

    objects = JudgmentSetQuerySet.as_manager()

    class Meta(ImportedVersion.Meta):
        constraints = [
            models.UniqueConstraint(fields=["collection", "version"], name="judgments_version_once")
        ]

    @property
    def part_of(self) -> JudgmentSet | None:
        """The earlier version that the file is joined with, if it is not a whole version."""
        return self.joined_to if self.joining == self.Joining.JOIN else None

    def has_same_makers(self, other: JudgmentSet) -> bool:
        """Whether the means by both versions may be compared: both are by people.

        A machine shares no mean with people, nor with a machine of another card.
        """
        by_people = ("", self.MadeBy.PEOPLE)
        return self == other or (self.made_by in by_people and other.made_by in by_people)

    @property
    def num_graded(self) -> int:
        """How many documents have a grade; the others were pooled and are unjudged."""
        return sum(number for grade, number in self.grade_counts.items() if grade != "-1")

    @property
    def num_by_machine(self) -> int:
        """How many documents of a version by both the machine judged."""
        people = self.people_version
        return 0 if people is None else self.num_graded - people.num_graded

    @property
    def is_sample(self) -> bool:
        """Whether some documents of a stratified sample were not drawn."""
        return self.num_strata > 0 and any(int(grade) < 0 for grade in self.grade_counts)

    def add_pooled_runs(self, run_ids: Iterable[str], depth: int | None) -> None:
        """Record that these runs were pooled, to this depth if there is one.

        `pool_depth` applies to every pooled run, so it is the smallest depth.
        """
        if self.pooled_runs.exists():
            depth = None if None in (depth, self.pool_depth) else min(depth, self.pool_depth)
        self.pooled_runs.add(*run_ids)
        self.pool_depth = depth
        self.save(update_fields=["pool_depth"])


class Judgment(models.Model):
    """The grade of a document for a topic; -1 means pooled but unjudged."""

    judgment_set = models.ForeignKey(JudgmentSet, models.CASCADE, related_name="judgments")
    topic = models.ForeignKey(Topic, models.CASCADE, related_name="judgments")
    docno = models.CharField(max_length=LONGEST_IDENTIFIER)
    grade = models.SmallIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["judgment_set", "topic", "docno"], name="a_document_is_judged_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.topic} {self.docno} {self.grade}"


class Stratum(models.Model):
    """The stratum of a judged document in a stratified sample."""

    judgment = models.OneToOneField(
        Judgment, models.CASCADE, primary_key=True, related_name="stratum"
    )
    name = models.CharField(max_length=LONGEST_IDENTIFIER)

    def __str__(self) -> str:
        return self.name


class SubtopicGrade(models.Model):
    """The grade of a document for one subtopic; its `Judgment` has the highest of them."""

    judgment = models.ForeignKey(Judgment, models.CASCADE, related_name="subtopic_grades")
    subtopic = models.CharField(max_length=LONGEST_IDENTIFIER)
    grade = models.SmallIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["judgment", "subtopic"], name="a_subtopic_is_judged_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.judgment_id} {self.subtopic} {self.grade}"


class Intent(models.Model):
    """The probability of a subtopic of a topic."""

    judgment_set = models.ForeignKey(JudgmentSet, models.CASCADE, related_name="intents")
    topic = models.ForeignKey(Topic, models.CASCADE, related_name="intents")
    subtopic = models.CharField(max_length=LONGEST_IDENTIFIER)
    probability = models.FloatField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["judgment_set", "topic", "subtopic"], name="an_intent_is_given_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.topic} {self.subtopic} {self.probability}"


def load_grades(judgment_set_id: int) -> dict[bytes, dict[bytes, int]]:
    """Return the grades of a judgment set by topic number and docno."""
    grades: dict[bytes, dict[bytes, int]] = {}
    rows = Judgment.objects.filter(judgment_set=judgment_set_id).values_list(
        "topic__number", "docno", "grade"
    )
    for number, docno, grade in rows.iterator(chunk_size=10_000):
        grades.setdefault(number.encode(), {})[docno.encode()] = grade
    return grades
