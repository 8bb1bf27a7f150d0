"""Questions about a benchmark, and their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q
from django.utils import timezone

from leaderboard.models.people import User

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser


class QuestionQuerySet(models.QuerySet["Question"]):
    def visible_to(self, user: User | AnonymousUser, is_organiser: bool) -> QuestionQuerySet:
        """Return public questions, and those that the user asked; all to organisers."""
        if is_organiser:
            return self
        own = Q(user=user) if user.is_authenticated else Q(pk__in=[])
        return self.filter(own | Q(is_public=True))

    def most_useful_first(self) -> QuestionQuerySet:
        """Return those that are asked often, then the rest, the latest first."""
        return self.order_by("-is_frequent", "-asked_at", "-pk")


class Question(models.Model):
    """What a user asks the organisers; others never see who asked."""

    benchmark = models.ForeignKey("Benchmark", models.CASCADE, related_name="questions")
    user = models.ForeignKey(User, models.SET_NULL, null=True, related_name="questions")
    text = models.TextField(max_length=2000)
    is_public = models.BooleanField()
    asked_at = models.DateTimeField(default=timezone.now, editable=False)
    # Markdown; "" until an organiser answers.
    answer = models.TextField(max_length=10_000, blank=True)
    answered_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    answered_at = models.DateTimeField(null=True)
    is_frequent = models.BooleanField(default=False)

    objects = QuestionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(is_frequent=False) | (Q(is_public=True) & ~Q(answer="")),
                name="a_frequent_question_is_public_and_answered",
            )
        ]

    def __str__(self) -> str:
        return self.text[:80]
