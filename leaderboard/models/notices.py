"""What people and programs are told: notices on the site, and calls to other sites."""

from __future__ import annotations

import secrets

from django.db import models
from django.db.models import Q
from django.utils import timezone

from leaderboard.models.people import User
from leaderboard.models.tracks import Track


class Happening(models.TextChoices):
    """What a track tells of."""

    RUN_SCORED = "run.scored", "A run is scored"
    RUN_REFUSED = "run.refused", "A run is refused"
    RELEASED = "track.released", "The scores are released"


class NoticeQuerySet(models.QuerySet["Notice"]):
    def unread_by(self, user: User) -> NoticeQuerySet:
        return self.filter(user=user, read_at=None)


class Notice(models.Model):
    """One thing that one user should know; `address` is a page of this site."""

    user = models.ForeignKey(User, models.CASCADE, related_name="notices")
    track = models.ForeignKey(Track, models.CASCADE, related_name="+")
    text = models.CharField(max_length=300)
    address = models.CharField(max_length=300)
    at = models.DateTimeField(default=timezone.now, editable=False)
    read_at = models.DateTimeField(null=True)

    objects = NoticeQuerySet.as_manager()

    class Meta:
        ordering = ["-at", "-pk"]
        indexes = [
            models.Index(fields=["user"], condition=Q(read_at=None), name="notices_unread"),
        ]

    def __str__(self) -> str:
        return self.text


class Announcement(models.Model):
    """What the organisers of a track tell everybody who sees it."""

    track = models.ForeignKey(Track, models.CASCADE, related_name="announcements")
    text = models.TextField(max_length=2000)
    created_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.text


def new_secret() -> str:
    return secrets.token_urlsafe(32)


class Webhook(models.Model):
    """An address of another site that is called when something happens on a track."""

    track = models.ForeignKey(Track, models.CASCADE, related_name="webhooks")
    url = models.URLField(max_length=500)
    secret = models.CharField(max_length=64, default=new_secret)
    happenings = models.JSONField(default=list)
    created_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["track", "url"], name="a_webhook_is_called_once")
        ]

    def __str__(self) -> str:
        return self.url


class Delivery(models.Model):
    """One call to be made: tried until it is answered, at most `MAX_TRIES` times."""

    MAX_TRIES = 6

    class State(models.TextChoices):
        WAITING = "waiting"
        DELIVERED = "delivered"
        GIVEN_UP = "given up"

    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    happening = models.CharField(max_length=20, choices=Happening)
    body = models.JSONField()
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    tries = models.PositiveSmallIntegerField(default=0)
    answer = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    delivered_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.happening} to {self.webhook}"
