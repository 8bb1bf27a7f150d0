"""Nuggets of a track of answers, and layers of marks: what answers say, and what supports them."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone

from leaderboard.models.collections import ImportedVersion, ImportState, Topic
from leaderboard.models.people import User
from leaderboard.models.runs import Run
from leaderboard.models.tracks import Track

# Letters of the key of an answer, which is sixteen bytes.
LENGTH_OF_KEY = 32


class NuggetVersionQuerySet(models.QuerySet["NuggetVersion"]):
    def ready(self) -> NuggetVersionQuerySet:
        return self.filter(state=ImportState.READY)


class NuggetVersion(ImportedVersion):
    """One version of the nuggets of a track: those of every topic, from one file."""

    noun = "nuggets"

    track = models.ForeignKey(Track, models.CASCADE, related_name="nugget_versions")
    format = models.CharField(max_length=20, blank=True)
    num_topics = models.PositiveIntegerField(default=0)
    num_nuggets = models.PositiveIntegerField(default=0)
    num_vital = models.PositiveIntegerField(default=0)

    objects = NuggetVersionQuerySet.as_manager()

    class Meta(ImportedVersion.Meta):
        constraints = [
            models.UniqueConstraint(fields=["track", "version"], name="nuggets_version_once")
        ]


class NuggetDraftQuerySet(models.QuerySet["NuggetDraft"]):
    def unfrozen(self) -> NuggetDraftQuerySet:
        """Return the drafts that are still written."""
        return self.filter(frozen_at=None)


class NuggetDraft(models.Model):
    """Nuggets that organisers write, from those of a version or from none, until they freeze them.

    What is frozen is a version as an imported one is.
    """

    track = models.ForeignKey(Track, models.CASCADE, related_name="nugget_drafts")
    based_on = models.ForeignKey(NuggetVersion, models.CASCADE, null=True, related_name="+")
    created_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    frozen_at = models.DateTimeField(null=True, editable=False)
    version = models.ForeignKey(
        NuggetVersion, models.SET_NULL, null=True, editable=False, related_name="drafts"
    )

    objects = NuggetDraftQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["track"],
                condition=Q(frozen_at__isnull=True),
                name="a_track_has_one_open_draft",
            )
        ]

    def __str__(self) -> str:
        return f"draft of nuggets of {self.track}"


class WritingStep(models.Model):
    """One step of writing nuggets; rows are only ever added, so no text is lost.

    `ended` has the keys of the nuggets that it ends, `made` those that it makes, as
    `leaderboard.collections.nuggets` packs them.
    """

    class Act(models.TextChoices):
        PROPOSE = "propose", "proposed"
        REVISE = "revise", "revised"
        SPLIT = "split", "split"
        MERGE = "merge", "merged"
        REMOVE = "remove", "removed"
        UNDO = "undo", "undid a step"

    draft = models.ForeignKey(NuggetDraft, models.CASCADE, related_name="steps")
    topic = models.ForeignKey(Topic, models.CASCADE, related_name="+")
    act = models.CharField(max_length=10, choices=Act)
    ended = models.JSONField(default=list, blank=True)
    made = models.JSONField(default=list, blank=True)
    undoes = models.OneToOneField("self", models.RESTRICT, null=True, related_name="undone_by")
    by = models.ForeignKey(User, models.PROTECT, related_name="+")
    at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(act="undo", undoes__isnull=False)
                | (~Q(act="undo") & Q(undoes__isnull=True)),
                name="an_undoing_step_names_a_step",
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_act_display()} on {self.topic}"


class TopicNuggets(models.Model):
    """The nuggets of a topic, in the order in which marks count them; a topic may have none."""

    nugget_version = models.ForeignKey(NuggetVersion, models.CASCADE, related_name="topics")
    topic = models.ForeignKey(Topic, models.CASCADE, related_name="+")
    # As `leaderboard.collections.nuggets` packs them.
    nuggets = models.JSONField(default=list)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["nugget_version", "topic"], name="a_topic_has_its_nuggets_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.topic} in {self.nugget_version}"


class MarkLayerQuerySet(models.QuerySet["MarkLayer"]):
    def ready(self) -> MarkLayerQuerySet:
        return self.filter(state=ImportState.READY)

    def open_to(self, track: Track) -> MarkLayerQuerySet:
        """Return the ready layers that the settings of a track may name.

        They are the layers about its own runs. A track of judges that mark answers has those by
        people about these answers: on its collection, and in its benchmark, whose organisers may
        know them.
        """
        if not track.judged_marks:
            return self.ready().filter(track=track.pk)
        home = {"benchmark": track.benchmark_id, "collection": track.collection_id}
        beside = Track.objects.filter(**home, run_kind="answers")
        of_people = self.ready().filter(track__in=beside, made_by=MarkLayer.MadeBy.PEOPLE)
        return of_people.filter(about=track.judged_marks).order_by("track__position", "pk")

    def named_by(self, track: Track, setting: str) -> MarkLayerQuerySet:
        """Return the layer that a setting of a track names, first."""
        about, name = ABOUT_OF[setting], getattr(track, setting)
        return self.open_to(track).filter(about=about, version=name) if name else self.none()

    def judged_by(self, track: Track) -> MarkLayerQuerySet:
        """Return the layer of people that the judges of a track are compared with, first."""
        marks = track.judged_marks
        return self.named_by(track, SETTING_OF[marks]) if marks else self.none()


class MarkLayer(ImportedVersion):
    """All marks of one origin, people or one version of a machine; layers are never added up."""

    class About(models.TextChoices):
        NUGGETS = "nuggets", "which nuggets are in an answer"
        SUPPORT = "support", "whether documents support its sentences"

    noun = "marks"

    track = models.ForeignKey(Track, models.CASCADE, related_name="mark_layers")
    about = models.CharField(max_length=10, choices=About)
    # The nuggets that it marks; none where it is about support.
    nuggets = models.ForeignKey(NuggetVersion, models.RESTRICT, null=True, related_name="layers")
    # Which machine: its model and prompt; "" for people.
    machine = models.CharField(max_length=120, blank=True)
    # The assessment whose marks these are, if any.
    assessment = models.ForeignKey(
        "Assessment", models.SET_NULL, null=True, related_name="mark_layers"
    )
    # The layer by people to which an assessment added marks; it has all of these too.
    joins = models.ForeignKey("self", models.RESTRICT, null=True, related_name="+")
    num_marks = models.PositiveIntegerField(default=0)
    num_runs = models.PositiveIntegerField(default=0)
    num_topics = models.PositiveIntegerField(default=0)

    objects = MarkLayerQuerySet.as_manager()

    class Meta(ImportedVersion.Meta):
        constraints = [
            models.UniqueConstraint(fields=["track", "version"], name="a_layer_has_a_name_once"),
            models.CheckConstraint(
                condition=Q(about="nuggets", nuggets__isnull=False)
                | Q(about="support", nuggets__isnull=True),
                name="a_layer_of_nuggets_names_them",
            ),
            models.CheckConstraint(
                condition=Q(made_by="people", machine="") | (Q(made_by="machine") & ~Q(machine="")),
                name="a_layer_has_one_origin",
            ),
        ]

    @property
    def origin(self) -> str:
        """Who marked, as heads of columns and tables name it."""
        return f"machine {self.machine}" if self.machine else "people"


# What the layer is about that a setting of a track names, and the other way round.
ABOUT_OF = {"assignments": MarkLayer.About.NUGGETS, "support": MarkLayer.About.SUPPORT}
SETTING_OF = {about: setting for setting, about in ABOUT_OF.items()}


class MarkedAnswer(models.Model):
    """The marks of a layer on what a run says on a topic.

    `codes` has a byte for each nugget, and `said` the sentence of its evidence by its place.
    `support` has the code by sentence and docno; `said` then has whether a sentence without a
    citation needs one. A row without a run is about all that say the same: `key` is that of the
    answer, and sentences go by their keys instead of numbers.
    """

    layer = models.ForeignKey(MarkLayer, models.CASCADE, related_name="marked_answers")
    topic = models.ForeignKey(Topic, models.CASCADE, related_name="+")
    run = models.ForeignKey(Run, models.CASCADE, null=True, related_name="+")
    key = models.CharField(max_length=LENGTH_OF_KEY, blank=True)
    codes = models.BinaryField(default=b"")
    said = models.JSONField(default=dict, blank=True)
    support = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["layer", "topic", "run"],
                condition=Q(run__isnull=False),
                name="an_answer_is_marked_once",
            ),
            models.UniqueConstraint(
                fields=["layer", "topic", "key"],
                condition=Q(run__isnull=True),
                name="equal_answers_are_marked_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run or self.key} on {self.topic} in {self.layer}"
