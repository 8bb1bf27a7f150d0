"""Nuggets of a track of answers, and layers of marks: what answers say, and what supports them."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from leaderboard.models.collections import ImportedVersion, ImportState, Topic
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
