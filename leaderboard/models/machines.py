"""Machines as judges: their cards, and what they said."""

from __future__ import annotations

import hashlib

from django.db import models
from django.db.models import Q

from leaderboard.models.collections import JudgmentSet, Topic
from leaderboard.models.nuggets import MarkLayer


class MachineCardQuerySet(models.QuerySet["MachineCard"]):
    def behind(self, judgment_set: JudgmentSet) -> MachineCard | None:
        """Return the card of a version, or of the machine that filled it."""
        versions = [judgment_set.pk, judgment_set.machine_version_id]
        return self.filter(judgment_set__in=[pk for pk in versions if pk is not None]).first()


class MachineCard(models.Model):
    """What organisers state about the machine of a version, and what its answers show."""

    judgment_set = models.OneToOneField(
        JudgmentSet, models.CASCADE, primary_key=True, related_name="machine_card"
    )
    model = models.CharField(max_length=120)
    revision = models.CharField(max_length=120, blank=True)
    # The family of models, such as "gpt": runs that state a model of it are flagged.
    family = models.CharField(max_length=60, blank=True)
    prompt = models.TextField(max_length=50_000)
    # A short name of the prompt, such as "umbrela".
    prompt_name = models.CharField(max_length=60, blank=True)
    parameters = models.CharField(max_length=500, blank=True)
    judged_on = models.DateField(null=True, blank=True)
    cost = models.CharField(max_length=60, blank=True)
    # How the grade was found in the text of an answer.
    parsing = models.TextField(blank=True, max_length=2000)
    # From the file: how often the machine was asked about a document at most, for how many
    # documents it was asked, and for how many of them no answer had a grade.
    repeats = models.PositiveSmallIntegerField(default=1)
    num_asked = models.PositiveIntegerField(default=0)
    num_failed = models.PositiveIntegerField(default=0)
    # Of documents with two answers: their number, and how far the first two agree.
    num_repeated = models.PositiveIntegerField(default=0)
    self_agreement = models.FloatField(null=True)
    self_kappa = models.FloatField(null=True)

    objects = MachineCardQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """The model and its prompt: "GPT-4o (umbrela, prompt 3fa2)"."""
        prompt = f"prompt {self.prompt_hash[:4]}"
        named = f"{self.prompt_name}, {prompt}" if self.prompt_name else prompt
        return f"{self.model} ({named})"

    @property
    def num_graded(self) -> int:
        return self.num_asked - self.num_failed

    @property
    def has_replies(self) -> bool:
        """Whether what the machine said is kept."""
        return self.judgment_set.machine_replies.exists()

    @property
    def prompt_hash(self) -> str:
        """SHA-256 of the prompt, in hexadecimal."""
        return hashlib.sha256(self.prompt.encode()).hexdigest()


class MachineReplies(models.Model):
    """What a machine said about the documents or answers of a topic, beside its grades or marks.

    They belong to a version of the judgments or to a layer of marks, and never change.
    """

    judgment_set = models.ForeignKey(
        JudgmentSet, models.CASCADE, null=True, related_name="machine_replies"
    )
    layer = models.ForeignKey(MarkLayer, models.CASCADE, null=True, related_name="machine_replies")
    topic = models.ForeignKey(Topic, models.CASCADE, related_name="+")
    num_replies = models.PositiveIntegerField()
    # As `leaderboard.collections.machine_replies` packs them.
    packed = models.BinaryField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(judgment_set=None, layer__isnull=False)
                | Q(judgment_set__isnull=False, layer=None),
                name="replies_have_one_owner",
            ),
            *(
                models.UniqueConstraint(
                    fields=[owner, "topic"],
                    condition=Q(**{f"{owner}__isnull": False}),
                    name=f"a_topic_of_a_{owner}_has_its_replies_once",
                )
                for owner in ("judgment_set", "layer")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.topic} in {self.judgment_set or self.layer}"
