"""Pools: documents to judge, with their runs and their method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.db import models
from django.utils import timezone

from leaderboard.models.collections import JudgmentSet
from leaderboard.models.nuggets import MarkLayer, NuggetVersion
from leaderboard.models.people import User
from leaderboard.models.runs import Run
from leaderboard.models.tracks import Track

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser


class PoolQuerySet(models.QuerySet["Pool"]):
    def organised_by(self, user: User | AnonymousUser) -> PoolQuerySet:
        return self.filter(track__in=Track.objects.organised_by(user))

    def framed(self) -> PoolQuerySet:
        """Return the samples whose documents have stored probabilities."""
        return self.filter(method=Pool.Method.SAMPLE).exclude(frame_file="")

    def awaiting_judgments(self) -> PoolQuerySet:
        """Return approved pools that have no judgments yet."""
        return self.filter(state=Pool.State.KEPT, judgment_sets=None)


class Pool(models.Model):
    """One pool of a track: proposed until an organiser approves it, then never changed.

    `size` is the depth, or the number of documents per topic, by method. A pool of answers has
    pairs instead of documents: an answer and a nugget, or a sentence and a document that it cites.
    """

    class Method(models.TextChoices):
        DEPTH = "depth", "Top N documents of each run"
        TAKE = "take", "N documents per topic, best rank first"
        RRF = "rrf", "N documents per topic, by reciprocal rank fusion"
        RBP = "rbp", "N documents per topic, by RBP weight"
        SAMPLE = "sample", "Sample of N documents that check a machine"
        ANSWERS = "answers", "Every answer with every nugget"
        CITATIONS = "citations", "First N documents that each sentence cites"

    class State(models.TextChoices):
        QUEUED = "queued"
        PROPOSED = "proposed"
        KEPT = "kept"
        FAILED = "failed"

    track = models.ForeignKey(Track, models.CASCADE, related_name="pools")
    name = models.SlugField(max_length=40)
    method = models.CharField(max_length=10, choices=Method, default=Method.DEPTH)
    size = models.PositiveIntegerField()
    runs = models.ManyToManyField(Run, related_name="pools")
    # How many runs of each team, by priority; None for all chosen runs.
    runs_per_team = models.PositiveIntegerField(null=True)
    # How many documents or pairs are drawn of it, with stored probabilities; None for all.
    drawn = models.PositiveIntegerField(null=True)
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    # The judgments by a machine that people check on these documents, if it is such a sample.
    checks = models.ForeignKey(JudgmentSet, models.SET_NULL, null=True, related_name="samples")
    judged_in = models.ForeignKey(JudgmentSet, models.SET_NULL, null=True, related_name="+")
    # Of a pool of answers: the nuggets that are looked for, and the layer whose pairs are left out.
    nuggets = models.ForeignKey(NuggetVersion, models.RESTRICT, null=True, related_name="pools")
    marked_in = models.ForeignKey(MarkLayer, models.RESTRICT, null=True, related_name="+")
    file = models.FileField(max_length=200, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    # Of a sample: every document from which it was drawn, with its stratum and probability.
    frame_file = models.FileField(max_length=200, blank=True, default="", db_default="")
    # Of a pool of answers: the texts of its answers or sentences, as they were when it was made.
    texts_file = models.FileField(max_length=200, blank=True, default="", db_default="")
    summary = models.JSONField(default=dict, blank=True)
    reason = models.TextField(blank=True)
    created_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    kept_at = models.DateTimeField(null=True)

    objects = PoolQuerySet.as_manager()

    class Meta:
        ordering = ["created_at", "pk"]
        constraints = [models.UniqueConstraint(fields=["track", "name"], name="a_pool_has_a_name")]

    def __str__(self) -> str:
        return self.name

    @property
    def rule(self) -> str:
        """Return the method with its size: "Top 100 documents of each run"."""
        rule = self.get_method_display().replace("N ", f"{self.size:,} ", 1)
        return rule if self.drawn is None else f"{rule}; {self.drawn:,} drawn"

    @property
    def about(self) -> str:
        """What is judged: documents, nuggets in answers, or support of sentences."""
        return ABOUT.get(self.method, "documents")

    @property
    def noun(self) -> str:
        """What one line of the pool is."""
        return "document" if self.about == "documents" else "pair"


# The methods that pool answers, by what is judged of them.
ABOUT: Mapping[str, str] = {
    Pool.Method.ANSWERS: MarkLayer.About.NUGGETS,
    Pool.Method.CITATIONS: MarkLayer.About.SUPPORT,
}
OF_ANSWERS = tuple(ABOUT)
