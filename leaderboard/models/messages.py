"""What organisers send: messages to groups, invitations by address, and reminders."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q
from django.utils import timezone

from leaderboard.models.assessments import Assessment
from leaderboard.models.notices import OutgoingMessage
from leaderboard.models.people import Team, User
from leaderboard.models.tracks import new_invitation

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser


class Message(models.Model):
    """A text by organisers of a benchmark to chosen people, each of whom has a notice of it."""

    benchmark = models.ForeignKey("Benchmark", models.CASCADE, related_name="messages")
    subject = models.CharField(max_length=120)
    # Markdown.
    text = models.TextField(max_length=10_000)
    # Whom it was for, in words, such as "Teams without a run".
    groups = models.JSONField(default=list)
    # Whether it is emailed at once, and not with the digest of a day.
    is_urgent = models.BooleanField(default=False)
    num_people = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.subject


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def usable(self, now: datetime | None = None) -> InvitationQuerySet:
        """Return those that nobody has accepted and no organiser has withdrawn, while they last."""
        since = (now or timezone.now()) - Invitation.LASTS
        return self.open().filter(created_at__gt=since)

    def open(self) -> InvitationQuerySet:
        return self.filter(accepted_at=None, withdrawn_at=None)

    def to_join(self) -> InvitationQuerySet:
        return self.filter(assessment=None)

    def to_judge(self) -> InvitationQuerySet:
        return self.exclude(assessment=None)

    def accept(self, code: str, user: User) -> bool:
        """Record who accepted the invitation with this code; False if it leads nowhere any more."""
        usable = self.usable().filter(code=code) if code else self.none()
        return bool(usable.update(accepted_at=timezone.now(), accepted_by=user))


class Invitation(OutgoingMessage):
    """An email to one address: take part as a team, or judge for `assessment`."""

    KIND = "invite"
    LASTS = timedelta(days=30)

    benchmark = models.ForeignKey("Benchmark", models.CASCADE, related_name="invitations")
    assessment = models.ForeignKey(
        Assessment, models.CASCADE, null=True, related_name="invitations"
    )
    # In lower case.
    email = models.EmailField()
    code = models.CharField(max_length=40, default=new_invitation, unique=True, editable=False)
    invited_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    accepted_at = models.DateTimeField(null=True, editable=False)
    accepted_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    withdrawn_at = models.DateTimeField(null=True, editable=False)

    objects = InvitationQuerySet.as_manager()

    class Meta(OutgoingMessage.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["benchmark", "email"],
                condition=Q(assessment=None, accepted_at=None, withdrawn_at=None),
                name="an_address_is_invited_once_to_a_benchmark",
            ),
            models.UniqueConstraint(
                fields=["assessment", "email"],
                condition=Q(accepted_at=None, withdrawn_at=None),
                name="an_address_is_invited_once_to_judge",
            ),
        ]

    def __str__(self) -> str:
        return self.email

    @property
    def ends_at(self) -> datetime:
        """When its link stops working."""
        return self.created_at + self.LASTS

    @property
    def is_usable(self) -> bool:
        is_open = self.accepted_at is None and self.withdrawn_at is None
        return is_open and self.ends_at > timezone.now()

    def is_accepted_by(self, user: User | AnonymousUser) -> bool:
        return self.accepted_by_id is not None and self.accepted_by_id == user.pk

    @property
    def standing(self) -> str:
        """What became of it: accepted, withdrawn, over, or how its email stands."""
        if self.accepted_at is not None:
            return "accepted"
        if self.withdrawn_at is not None:
            return "withdrawn"
        if not self.is_usable:
            return "expired"
        failed = self.state == self.State.GIVEN_UP
        return f"not delivered: {self.answer}" if failed else SENT[self.state]


SENT = {"waiting": "waiting", "sending": "waiting", "delivered": "sent"}


class Reminder(models.Model):
    """A team was reminded of a deadline, so many days before it."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="reminders")
    closes_at = models.DateTimeField()
    days = models.PositiveSmallIntegerField()
    sent_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["team", "closes_at", "days"], name="a_team_is_reminded_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.team}, {self.days} days before {self.closes_at}"
