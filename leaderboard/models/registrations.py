"""What teams say of themselves and sign before they take part, and who downloaded which file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from django.utils import timezone

from leaderboard.models.people import Team, User

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser


class Asked(models.TextChoices):
    """What organisers may ask of a team that registers, besides the person responsible."""

    AFFILIATION = "affiliation", "Affiliation"
    COUNTRY = "country", "Country"
    CONTACT = "contact", "Email"
    ADDRESS = "address", "Address of the institution"
    TRACKS = "tracks", "Tracks of interest"
    QUESTION = "question", "A question of your own"


class FileReaders(models.TextChoices):
    """Who may download a file, the fewest last."""

    EVERYONE = "everyone", "everyone who sees the collection"
    SIGNED_IN = "signed_in", "signed-in people"
    REGISTERED = "registered", "registered teams"
    SIGNED = "signed", "registered teams that signed the agreement"


def of_readers() -> models.CharField:
    """Return a field that says who may download a file."""
    everyone = FileReaders.EVERYONE
    return models.CharField(
        max_length=12, choices=FileReaders, default=everyone, db_default=everyone
    )


class Agreement(models.Model):
    """A version of what teams sign; it never changes, and a new one is signed again."""

    benchmark = models.ForeignKey("Benchmark", models.CASCADE, related_name="agreements")
    version = models.PositiveIntegerField()
    # Markdown.
    text = models.TextField(max_length=50_000)
    written_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    written_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["version"]
        constraints = [
            models.UniqueConstraint(
                fields=["benchmark", "version"], name="versions_of_an_agreement_differ"
            )
        ]

    def __str__(self) -> str:
        return f"version {self.version}"


class RegistrationQuerySet(models.QuerySet["Registration"]):
    def of_member(self, user: User | AnonymousUser) -> RegistrationQuerySet:
        """Return those of the user's teams."""
        if not user.is_authenticated:
            return self.none()
        return self.filter(team__memberships__user=user)

    def opening(self, collection: models.Model) -> RegistrationQuerySet:
        """Return those for a benchmark with a track on the collection."""
        return self.filter(benchmark__tracks__collection=collection)

    def signed(self) -> RegistrationQuerySet:
        """Return those with a signature under the latest version, or without anything to sign."""
        latest = Agreement.objects.filter(benchmark=models.OuterRef("benchmark"))
        newest = models.Subquery(latest.order_by("-version").values("pk")[:1])
        known = self.annotate(newest_agreement=newest)
        signatures = Signature.objects.filter(
            registration=models.OuterRef("pk"), agreement=models.OuterRef("newest_agreement")
        )
        return known.filter(models.Q(newest_agreement=None) | models.Exists(signatures))


class Registration(models.Model):
    """What a user said to register a team; `team` is None until the team takes part."""

    benchmark = models.ForeignKey("Benchmark", models.CASCADE, related_name="registrations")
    user = models.ForeignKey(User, models.CASCADE, related_name="registrations")
    team = models.OneToOneField(Team, models.CASCADE, null=True, related_name="registration")
    # Who is responsible for the team and signs for it.
    person = models.CharField(max_length=120)
    # By the names of Asked.
    answers = models.JSONField(default=dict)
    sent_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = RegistrationQuerySet.as_manager()

    class Meta:
        ordering = ["sent_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["benchmark", "user"],
                condition=models.Q(team=None),
                name="one_registers_one_new_team_a_benchmark",
            )
        ]

    def __str__(self) -> str:
        return self.person


class Signature(models.Model):
    """Who signed which version of an agreement for a team, when, and under which name."""

    registration = models.ForeignKey(Registration, models.CASCADE, related_name="signatures")
    agreement = models.ForeignKey(Agreement, models.CASCADE, related_name="signatures")
    user = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    name = models.CharField(max_length=120)
    signed_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-agreement__version"]
        constraints = [
            models.UniqueConstraint(
                fields=["registration", "agreement"], name="a_version_is_signed_once_for_a_team"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name}, {self.agreement}"


class Download(models.Model):
    """A download of a file that not everyone may have."""

    collection = models.ForeignKey("Collection", models.CASCADE, related_name="downloads")
    # What was downloaded, such as "topics.trec".
    file = models.CharField(max_length=120)
    user = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-at", "-pk"]

    def __str__(self) -> str:
        return self.file
