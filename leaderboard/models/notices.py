"""Notices on the site, email, and webhook calls to other sites."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from leaderboard.models.jobs import Job
from leaderboard.models.people import User
from leaderboard.models.tracks import Track


class WebhookEvent(models.TextChoices):
    """An event of a track that webhooks can subscribe to."""

    RUN_SCORED = "run.scored", "A run is scored"
    RUN_REFUSED = "run.refused", "A run is rejected"
    RELEASED = "track.released", "Scores are released"
    VERSION_SCORED = "version.scored", "A version of a system is scored on its tracks"
    JUDGED = "judgments.released", "The board’s judgments change"


class WebhookFormat(models.TextChoices):
    """What a webhook is sent."""

    JSON = "json", "JSON with event, track and run"
    SLACK = "slack", "Text for Slack and similar programs"


class NoticeQuerySet(models.QuerySet["Notice"]):
    def unread_by(self, user: User) -> NoticeQuerySet:
        return self.filter(user=user, read_at=None)

    def about(self, address: str) -> NoticeQuerySet:
        """Return the notices that lead to a page, or to a place on it."""
        return self.filter(Q(address=address) | Q(address__startswith=f"{address}#"))


class Notice(models.Model):
    """A message to one user; `address` is a page of this site."""

    user = models.ForeignKey(User, models.CASCADE, related_name="notices")
    track = models.ForeignKey(Track, models.CASCADE, related_name="+")
    text = models.CharField(max_length=300)
    address = models.CharField(max_length=300)
    at = models.DateTimeField(default=timezone.now, editable=False)
    read_at = models.DateTimeField(null=True)
    # The whole text, where an organiser wrote it.
    message = models.ForeignKey("Message", models.CASCADE, null=True, related_name="notices")
    # The email of the day that has it, where it is not urgent.
    digest = models.ForeignKey("Digest", models.SET_NULL, null=True, related_name="notices")

    objects = NoticeQuerySet.as_manager()

    class Meta:
        ordering = ["-at", "-pk"]
        indexes = [
            models.Index(fields=["user"], condition=Q(read_at=None), name="notices_unread"),
        ]

    def __str__(self) -> str:
        return self.text


class Announcement(models.Model):
    """A text by the organisers of a track, for everyone who sees it."""

    track = models.ForeignKey(Track, models.CASCADE, related_name="announcements")
    text = models.TextField(max_length=2000)
    created_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.text


def new_secret() -> str:
    """Return a new random secret to sign calls with."""
    return secrets.token_urlsafe(32)


class Webhook(models.Model):
    """A URL of another site that is called at events of a track."""

    track = models.ForeignKey(Track, models.CASCADE, related_name="webhooks")
    url = models.URLField(max_length=500)
    secret = models.CharField(max_length=64, default=new_secret)
    format = models.CharField(
        max_length=10, choices=WebhookFormat, default=WebhookFormat.JSON, db_default="json"
    )
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

    def record_result(self, succeeded: bool) -> bool:
        """Record whether a call succeeded; return whether that switches the webhook off."""
        rows = Webhook.objects.filter(pk=self.pk)
        if succeeded:
            rows.exclude(failing_since=None).update(failing_since=None)
            return False
        rows.filter(failing_since=None).update(failing_since=Now())
        over = rows.filter(switched_off_at=None, failing_since__lte=Now() - self.PATIENCE)
        if not over.update(switched_off_at=Now()):
            return False
        waiting = self.deliveries.filter(state=OutgoingMessage.State.WAITING)
        waiting.update(state=OutgoingMessage.State.GIVEN_UP, answer=self.SWITCHED_OFF)
        return True

    SWITCHED_OFF = "The webhook was switched off."

    def switch_on(self) -> bool:
        """Switch the webhook on; return False if it was on."""
        off = Webhook.objects.filter(pk=self.pk).exclude(switched_off_at=None)
        return bool(off.update(switched_off_at=None, failing_since=None))


class OutgoingMessage(models.Model):
    """A message to another server: sent until it is accepted, at most `MAX_TRIES` times."""

    # The kind of the job that sends it once.
    KIND = ""
    MAX_TRIES = 6
    # The pause after each try that failed, in seconds: for about two days in total.
    PAUSES = (30, 300, 3600, 21600, 86400)

    class State(models.TextChoices):
        WAITING = "waiting"
        SENDING = "sending"
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

    def begin(self) -> bool:
        """Record that a try begins; False if one began whose end nobody recorded."""
        waiting = type(self)._default_manager.filter(pk=self.pk, state=self.State.WAITING)
        return bool(waiting.update(state=self.State.SENDING))

    def record_try(self, answer: str, succeeded: bool) -> None:
        """Record the result of a try; a failed one is repeated after a pause."""
        tries = self.tries + 1
        again = not succeeded and tries < self.MAX_TRIES
        failed = self.State.WAITING if again else self.State.GIVEN_UP
        type(self)._default_manager.filter(pk=self.pk).update(
            tries=tries,
            answer=answer[:200],
            state=self.State.DELIVERED if succeeded else failed,
            delivered_at=timezone.now() if succeeded else None,
        )
        if again:
            pause = timedelta(seconds=self.PAUSES[tries - 1])
            self.next_job(not_before=Now() + pause).save(force_insert=True)

    @classmethod
    def give_up(cls, sending_id: str, reason: str) -> None:
        """Stop trying, because a try failed with an error of ours."""
        given_up = cls._default_manager.filter(pk=sending_id)
        given_up.update(state=cls.State.GIVEN_UP, answer=reason[:200])

    def next_job(self, **fields: Any) -> Job:
        """Return the job of the next try, not yet saved."""
        priority = Job.PRIORITIES[self.KIND]
        return Job(kind=self.KIND, target_id=str(self.pk), priority=priority, **fields)


class Delivery(OutgoingMessage):
    """A call to a webhook."""

    KIND = "deliver"

    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    happening = models.CharField(max_length=20, choices=WebhookEvent)
    body = models.JSONField()

    def __str__(self) -> str:
        return f"{self.happening} to {self.webhook}"


class MailQuerySet(models.QuerySet["Mail"]):
    def enqueue(self, notices: Sequence[Notice]) -> None:
        """Enqueue an email of each notice to readers who want it at a confirmed address."""
        wanted = find_wanting({notice.user_id for notice in notices})
        mails = self.bulk_create(
            Mail(notice=notice) for notice in notices if notice.user_id in wanted
        )
        Job.objects.bulk_create(mail.next_job() for mail in mails)


def find_wanting(users: Iterable[int]) -> set[int]:
    """Return which of these users want email at a confirmed address."""
    wanting = User.objects.filter(is_active=True, mails=True, emailaddress__verified=True)
    return set(wanting.filter(pk__in=users).values_list("pk", flat=True))


class Mail(OutgoingMessage):
    """An email with an urgent notice to its reader."""

    KIND = "mail"

    notice = models.ForeignKey(Notice, models.CASCADE, related_name="mails")

    objects = MailQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.notice} to {self.notice.user}"


class DigestQuerySet(models.QuerySet["Digest"]):
    def enqueue(self, notices: Sequence[Notice], now: datetime | None = None) -> None:
        """Put notices into the next digest of each reader who wants email."""
        due_at = find_next_digest(now or timezone.now())
        wanted = find_wanting({notice.user_id for notice in notices})
        same = self.filter(due_at=due_at, user__in=wanted)
        known = set(same.values_list("user", flat=True))
        # Two acts at once may both make the first digest of a reader.
        self.bulk_create(
            [Digest(user_id=user, due_at=due_at) for user in wanted - known], ignore_conflicts=True
        )
        digests = {digest.user_id: digest for digest in same.all()}
        Job.objects.bulk_create(
            [digests[user].next_job(not_before=due_at + Digest.REST) for user in wanted - known],
            ignore_conflicts=True,
        )
        for notice in notices:
            notice.digest = digests.get(notice.user_id)
        Notice.objects.bulk_update(notices, ["digest"])


def find_next_digest(now: datetime) -> datetime:
    """Return when the next digests are due: once a day, at the same hour (UTC).

    >>> find_next_digest(datetime(2026, 11, 28, 6, 59, tzinfo=UTC)).isoformat()
    '2026-11-28T07:00:00+00:00'
    >>> find_next_digest(datetime(2026, 11, 28, 7, 0, tzinfo=UTC)).isoformat()
    '2026-11-29T07:00:00+00:00'
    """
    today = now.astimezone(UTC).replace(hour=Digest.HOUR, minute=0, second=0, microsecond=0)
    return today if now < today else today + timedelta(days=1)


class Digest(OutgoingMessage):
    """An email with the notices of one day to their reader, those left out that were urgent."""

    KIND = "digest"
    HOUR = 7
    # It is sent so long after its hour, when every act that wrote to it has ended.
    REST = timedelta(minutes=10)

    user = models.ForeignKey(User, models.CASCADE, related_name="digests")
    due_at = models.DateTimeField()

    objects = DigestQuerySet.as_manager()

    class Meta(OutgoingMessage.Meta):
        constraints = [
            models.UniqueConstraint(fields=["user", "due_at"], name="one_digest_a_reader_and_day")
        ]

    def __str__(self) -> str:
        return f"the digest of {self.user}"


class StoppedAddress(models.Model):
    """An address that gets no email: its server refused it, or its reader wants none."""

    class Reason(models.TextChoices):
        REFUSED = "refused", "the email server rejected it"
        UNWANTED = "unwanted", "its reader wants no email from this site"

    # In lower case.
    email = models.EmailField(unique=True)
    reason = models.CharField(max_length=10, choices=Reason)
    # What the server said.
    answer = models.CharField(max_length=200, blank=True)
    at = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self) -> str:
        return self.email
