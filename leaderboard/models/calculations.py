"""Calculations: results that take a job, kept until what they are made of has changed."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q
from django.utils import timezone

from leaderboard.models.benchmarks import Benchmark
from leaderboard.models.tracks import Edition, Track

# How many results of one kind are kept for an edition, a track or a benchmark, the latest.
MOST_KEPT = 100
LONGEST_KEY = 250


class CalculationQuerySet(models.QuerySet["Calculation"]):
    def of(self, kind: str, owner: Owner) -> CalculationQuerySet:
        """Return the calculations of this kind for an edition, a track or a benchmark."""
        return self.filter(kind=kind, **owned_by(owner))

    def waiting(self) -> CalculationQuerySet:
        return self.filter(state=Calculation.State.ASKED)

    def failed(self) -> CalculationQuerySet:
        return self.filter(state=Calculation.State.FAILED)

    def made(self) -> CalculationQuerySet:
        """Return those with results, also where newer ones are asked for."""
        return self.exclude(computed_at=None)

    def ask_again(self) -> None:
        """Forget that jobs failed; each is made by a job that the caller queues."""
        self.update(state=Calculation.State.ASKED, failed_at=None)

    def mark_failed(self) -> None:
        """Record that the job failed which should have made these; the job keeps the reason."""
        self.waiting().update(state=Calculation.State.FAILED, failed_at=timezone.now())


class Calculation(models.Model):
    """A result that a request has no time for: it is asked for, and a job makes it or fails.

    It belongs to an edition, a track or a benchmark. `key` says what is asked for in a text that
    is unique there, `request` in a form that the job reads. Earlier results stay while newer ones
    are asked for; `basis` is a digest of what they depend on, where `key` does not say all of it.
    """

    class Kind(models.TextChoices):
        TESTS = "tests"
        CONTEST = "contest"
        JUDGES = "judges"
        ORDERS = "orders"
        CORRECTED = "corrected"
        BATTLES = "battles"
        ENTRANTS = "entrants"
        REPORTED = "reported"

    class State(models.TextChoices):
        ASKED = "asked"
        MADE = "made"
        FAILED = "failed"

    kind = models.CharField(max_length=10, choices=Kind)
    edition = models.ForeignKey(Edition, models.CASCADE, null=True, related_name="calculations")
    track = models.ForeignKey(Track, models.CASCADE, null=True, related_name="calculations")
    benchmark = models.ForeignKey(Benchmark, models.CASCADE, null=True, related_name="calculations")
    key = models.CharField(max_length=LONGEST_KEY)
    request = models.JSONField()
    basis = models.CharField(max_length=64, blank=True, default="")
    results = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.ASKED)
    # When the last job that should have made it failed.
    failed_at = models.DateTimeField(null=True, editable=False)
    computed_at = models.DateTimeField(null=True, editable=False)

    objects = CalculationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=[owner, "kind", "key"],
                condition=Q(**{f"{owner}__isnull": False}),
                name=f"a_calculation_of_this_{owner}_is_kept_once",
            )
            for owner in ("edition", "track", "benchmark")
        ] + [
            models.CheckConstraint(
                condition=Q(edition__isnull=False, track=None, benchmark=None)
                | Q(edition=None, track__isnull=False, benchmark=None)
                | Q(edition=None, track=None, benchmark__isnull=False),
                name="a_calculation_has_one_owner",
            )
        ]

    def __str__(self) -> str:
        return str(self.owner)

    @property
    def owner(self) -> Owner:
        owner = self.edition or self.track or self.benchmark
        assert owner is not None
        return owner

    def keep(self, results: dict[str, Any], basis: str = "") -> None:
        """Keep what a job made, and forget the oldest results of this kind."""
        Calculation.objects.filter(pk=self.pk).update(
            results=results,
            basis=basis,
            state=self.State.MADE,
            computed_at=timezone.now(),
            failed_at=None,
        )
        kept = Calculation.objects.of(self.kind, self.owner).filter(state=self.State.MADE)
        latest = kept.order_by("-computed_at", "-pk").values_list("pk", flat=True)[:MOST_KEPT]
        kept.exclude(pk__in=list(latest)).delete()


Owner = Edition | Track | Benchmark


def owned_by(owner: Owner) -> dict[str, Any]:
    """Return the column of a calculation that names its owner, with the owner."""
    return {owner._meta.model_name or "": owner}
