"""What organisers present on the home page of a track: people, dates, questions, citation."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from leaderboard.models.tracks import Track


class TaskPage(models.Model):
    """The texts of a track's home page that no setting contains."""

    track = models.OneToOneField(
        Track, models.CASCADE, primary_key=True, related_name="task_page", editable=False
    )
    # One person per line: "Inês Moura, University of Porto".
    authors = models.TextField(blank=True, max_length=2000)
    # An email address or a URL.
    contact = models.CharField(blank=True, max_length=200)
    citation = models.TextField(blank=True, max_length=2000)
    # Whether all who see the track may download the organisers' baseline run.
    shares_baseline = models.BooleanField(default=True, db_default=True)
    questions = models.TextField(blank=True, max_length=20000)

    def __str__(self) -> str:
        return f"the home page of {self.track}"


class Milestone(models.Model):
    """A date of the schedule besides those that the track computes with; days end AoE."""

    track = models.ForeignKey(Track, models.CASCADE, related_name="milestones")
    label = models.CharField(max_length=60)
    day = models.DateField()
    # The last day, if it takes longer than one.
    until = models.DateField(null=True, blank=True)

    class Meta:
        ordering = ["day", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(until=None) | Q(until__gt=models.F("day")),
                name="a_milestone_ends_after_it_begins",
            )
        ]

    def __str__(self) -> str:
        return self.label
