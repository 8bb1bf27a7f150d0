"""The naive models: what normalisation asks for, with the indexes that the pages need."""

from __future__ import annotations

from django.db import models


class Run(models.Model):
    board = models.CharField(max_length=20, db_index=True)
    tag = models.CharField(max_length=100)
    team = models.CharField(max_length=100)

    def __str__(self) -> str:
        return self.tag


class Score(models.Model):
    run = models.ForeignKey(Run, models.CASCADE, related_name="scores")
    measure = models.CharField(max_length=40)
    topic = models.PositiveIntegerField()
    value = models.FloatField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "measure", "topic"], name="a_value_once")
        ]

    def __str__(self) -> str:
        return f"{self.measure} {self.topic} of {self.run}"


class Mean(models.Model):
    """Kept beside the scores by who has seen how long averaging takes."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="means")
    measure = models.CharField(max_length=40)
    value = models.FloatField()
    low = models.FloatField()
    high = models.FloatField()

    def __str__(self) -> str:
        return f"{self.measure} of {self.run}"
