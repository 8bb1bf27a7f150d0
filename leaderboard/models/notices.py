"""What people and programs are told: notices on the site, and calls to other sites."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from leaderboard.models.jobs import Job
from leaderboard.models.people import User
from leaderboard.models.tracks import Track


class Happening(models.TextChoices):
    """What a track tells of."""

    RUN_SCORED = "run.scored", "A run is scored"
    RUN_REFUSED = "run.refused", "A run is rejected"
    RELEASED = "track.released", "Scores are released"
    JUDGED = "judgments.released", "The board’s judgments change"


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
    # The first failed call since the last one that was answered.
    failing_since = models.DateTimeField(null=True, editable=False)
    switched_off_at = models.DateTimeField(null=True, editable=False)

    MOST_PER_TRACK = 10
    # A webhook that fails this long is switched off.
    PATIENCE = timedelta(days=1)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["track", "url"], name="a_webhook_is_called_once")
        ]

    def __str__(self) -> str:
        return self.url

    def note(self, good: bool) -> bool:
        """Note whether a call was answered; True where that switches the webhook off."""
        rows = Webhook.objects.filter(pk=self.pk)
        if good:
            rows.exclude(failing_since=None).update(failing_since=None)
            return False
        rows.filter(failing_since=None).update(failing_since=Now())
        over = rows.filter(switched_off_at=None, failing_since__lte=Now() - self.PATIENCE)
        if not over.update(switched_off_at=Now()):
            return False
        waiting = self.deliveries.filter(state=Sending.State.WAITING)
        waiting.update(state=Sending.State.GIVEN_UP, answer=self.SWITCHED_OFF)
        return True

    SWITCHED_OFF = "The webhook was switched off."

    def switch_on(self) -> bool:
        """Call it again from now on; False where it was not switched off."""
        off = Webhook.objects.filter(pk=self.pk).exclude(switched_off_at=None)
        return bool(off.update(switched_off_at=None, failing_since=None))


class Sending(models.Model):
    """Something for another machine: tried until it is taken, at most `MAX_TRIES` times."""

    # The job that makes one try.
    KIND = ""
    MAX_TRIES = 6
    # The pause after each try that failed, in seconds: for about two days in all.
    PAUSES = (30, 300, 3600, 21600, 86400)

    class State(models.TextChoices):
        WAITING = "waiting"
        DELIVERED = "delivered"
        GIVEN_UP = "given up"

    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    tries = models.PositiveSmallIntegerField(default=0)
    answer = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    delivered_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True
        ordering = ["-pk"]

    def keep_answer(self, words: str, good: bool) -> None:
        """Note how a try went; one that failed is made again after a pause."""
        tries = self.tries + 1
        again = not good and tries < self.MAX_TRIES
        failed = self.State.WAITING if again else self.State.GIVEN_UP
        type(self)._default_manager.filter(pk=self.pk).update(
            tries=tries,
            answer=words[:200],
            state=self.State.DELIVERED if good else failed,
            delivered_at=timezone.now() if good else None,
        )
        if again:
            pause = timedelta(seconds=self.PAUSES[tries - 1])
            self.job(not_before=Now() + pause).save(force_insert=True)

    @classmethod
    def give_up(cls, sending_id: str, reason: str) -> None:
        """No try is made any more, because making one broke."""
        given_up = cls._default_manager.filter(pk=sending_id)
        given_up.update(state=cls.State.GIVEN_UP, answer=reason[:200])

    def job(self, **fields: Any) -> Job:
        """The job, not saved yet, that makes the next try."""
        priority = Job.PRIORITIES[self.KIND]
        return Job(kind=self.KIND, target_id=str(self.pk), priority=priority, **fields)


class Delivery(Sending):
    """One call to be made."""

    KIND = "deliver"

    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    happening = models.CharField(max_length=20, choices=Happening)
    body = models.JSONField()

    def __str__(self) -> str:
        return f"{self.happening} to {self.webhook}"


class MailQuerySet(models.QuerySet["Mail"]):
    def post(self, notices: Sequence[Notice]) -> None:
        """Queue a mail of each for a reader who wants it and has confirmed an address."""
        readers = User.objects.filter(pk__in={each.user_id for each in notices}, is_active=True)
        wanting = readers.filter(mails=True, emailaddress__verified=True)
        wanted = set(wanting.values_list("pk", flat=True))
        mails = self.bulk_create(Mail(notice=each) for each in notices if each.user_id in wanted)
        Job.objects.bulk_create(each.job() for each in mails)


class Mail(Sending):
    """A notice on its way to the mail address of its reader."""

    KIND = "mail"

    notice = models.ForeignKey(Notice, models.CASCADE, related_name="mails")

    objects = MailQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.notice} to {self.notice.user}"
