"""Machine cards: which model judged, with what prompt, and how its answers were read."""

from __future__ import annotations

import hashlib

from django.db import models

from leaderboard.models.collections import JudgmentSet


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
    def prompt_hash(self) -> str:
        """SHA-256 of the prompt, in hexadecimal."""
        return hashlib.sha256(self.prompt.encode()).hexdigest()
