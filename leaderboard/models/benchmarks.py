"""Benchmarks: the people of one or several tracks, and what a track presents on its overview."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from django.core.exceptions import ValidationError
from django.core.validators import EmailValidator, URLValidator
from django.db import models
from django.db.models import Count, Q, QuerySet, Value
from django.db.models.functions import Concat
from django.utils import timezone
from django.utils.functional import cached_property

from leaderboard.models.people import Team, User, find_organisers, team_key
from leaderboard.models.registrations import Agreement, of_readers
from leaderboard.models.track_settings import setting
from leaderboard.models.tracks import Track, new_invitation

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser


class BenchmarkQuerySet(models.QuerySet["Benchmark"]):
    def organised_by(self, user: User | AnonymousUser) -> BenchmarkQuerySet:
        if not user.is_authenticated:
            return self.none()
        if user.is_staff:
            return self.all()
        appointed = Benchmark.objects.filter(co_organisers=user).values("pk")
        return self.filter(Q(owner=user) | Q(pk__in=appointed))

    def visible_to(self, user: User | AnonymousUser) -> BenchmarkQuerySet:
        """Return the benchmarks of the user, and those with a track that the user may see."""
        visible = Track.objects.visible_to(user)
        known = Q(pk__in=visible.values("benchmark"))
        return self.filter(known | Q(pk__in=self.organised_by(user).values("pk")))

    def latest_first(self) -> BenchmarkQuerySet:
        return self.order_by("-created_at", "-pk")

    def of_several_tracks(self) -> BenchmarkQuerySet:
        """Return the benchmarks that have a board of their own besides that of a track."""
        return self.alias(num_tracks=Count("tracks")).filter(num_tracks__gt=1)


class Benchmark(models.Model):
    """One or several tracks with their people: organisers, teams, and how they join."""

    class Joining(models.TextChoices):
        EVERYONE = "everyone", "Any user; a first run creates the team"
        INVITATION = "invitation", "Anyone with the invitation link"
        APPROVAL = "approval", "Teams approved by the organisers"

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True, max_length=20000)
    owner = models.ForeignKey(User, models.PROTECT, related_name="benchmarks")
    co_organisers = models.ManyToManyField(User, blank=True, related_name="+")
    invitation = models.CharField(max_length=40, default=new_invitation, editable=False)
    joining = setting(
        models.CharField(max_length=12, choices=Joining, default=Joining.EVERYONE), "Who can join"
    )
    terms = setting(
        models.TextField(blank=True, max_length=20000),
        "Terms",
        hint="Teams must accept these to join.",
    )
    # What a team that registers is asked, of Asked; and the organisers' own question.
    asked = models.JSONField(
        default=list, blank=True, db_default=Value([], models.JSONField()), editable=False
    )
    question = models.CharField(max_length=300, blank=True, default="", db_default="")
    # How many runs a team may submit to all tracks together; None for no limit.
    quota_per_day = models.PositiveIntegerField(null=True, blank=True)
    quota_total = models.PositiveIntegerField(null=True, blank=True)
    # How many bytes its files may take, if administrators set another limit than BENCHMARK_BYTES.
    max_bytes = models.BigIntegerField(null=True, blank=True, editable=False)
    # One measure for the board; "" for the primary measure of each track.
    measure = models.CharField(max_length=80, blank=True)
    baseline = models.ForeignKey("System", models.SET_NULL, null=True, blank=True, related_name="+")
    main_branch = setting(
        models.CharField(max_length=80, blank=True),
        "Main branch",
        hint="If set, runs state their commit, branch and configuration. Each is compared with its "
        "team’s last run of this branch.",
    )
    commit_url = setting(
        models.CharField(max_length=300, blank=True),
        "Commit link",
        hint="An https URL with {commit}, such as https://example.org/ranker/commit/{commit}.",
    )
    badge_code = models.CharField(max_length=40, blank=True, editable=False)
    # Whether teams without a run are reminded before a deadline.
    reminds_teams = models.BooleanField(default=True, db_default=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = BenchmarkQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(commit_url="")
                | Q(commit_url__startswith="https://", commit_url__contains="{commit}"),
                name="a_commit_link_of_a_benchmark_has_its_commit",
            ),
            models.UniqueConstraint(
                fields=["badge_code"],
                condition=~Q(badge_code=""),
                name="a_badge_code_leads_to_one_benchmark",
            ),
            models.CheckConstraint(
                condition=Q(max_bytes=None) | Q(max_bytes__gt=0),
                name="a_storage_limit_of_a_benchmark_is_something",
            ),
        ]

    @property
    def needs_invitation(self) -> bool:
        """Whether nobody may join, or ask to, without an invitation link."""
        return self.joining == Benchmark.Joining.INVITATION

    def __str__(self) -> str:
        return self.name

    @cached_property
    def has_several_tracks(self) -> bool:
        return self.tracks.count() > 1

    @cached_property
    def has_reported_scores(self) -> bool:
        """Whether it has scores that others report, on a board of their own."""
        return self.reported_scores.exists()

    @property
    def first_track(self) -> Track | None:
        """The first track in order; a benchmark that is not being made or deleted has one."""
        return self.tracks.in_order().first()

    @property
    def agreement(self) -> Agreement | None:
        """The latest version of what teams sign."""
        return self.agreements.order_by("-version").first()

    @property
    def registers_teams(self) -> bool:
        """Whether a team says who it is, or signs, before it takes part."""
        return bool(self.asked) or self.agreements.exists()

    def renew_addresses(self) -> None:
        """Write where the pages of its tracks are, after tracks came, left or were renamed.

        The pages of a track that is alone are those of the benchmark; several have theirs beneath.
        """
        several = Concat(Value(f"{self.slug}/tracks/"), "slug")
        self.tracks.update(address=several if self.tracks.count() > 1 else self.slug)

    def is_organised_by(self, user: User | AnonymousUser) -> bool:
        return Benchmark.objects.organised_by(user).filter(pk=self.pk).exists()

    def organisers(self) -> QuerySet[User]:
        """Return the owner, then the co-organisers by name."""
        return find_organisers(self.owner_id, self.co_organisers)

    def team_of(self, user: User | AnonymousUser) -> Team | None:
        if not user.is_authenticated:
            return None
        return self.teams.filter(memberships__user=user).first()

    def has_team(self, name: str) -> bool:
        """Return whether a team has this name, or one that looks alike."""
        return self.teams.filter(key=team_key(name)).exists()

    def link_of_commit(self, commit: object) -> str:
        """Return the URL of a commit; "" if the organisers gave no pattern."""
        return self.commit_url.replace("{commit}", quote(str(commit), safe="")) if commit else ""


class SystemQuerySet(models.QuerySet["System"]):
    def sent_by(self, user: User) -> SystemQuerySet:
        """Return the systems of the user's teams."""
        return self.filter(team__memberships__user=user)


class System(models.Model):
    """What a team's runs on several tracks have in common; its facts are stated once."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="systems")
    team = models.ForeignKey(Team, models.PROTECT, related_name="systems")
    name = models.CharField(max_length=80)
    description = models.TextField(blank=True, max_length=5000)
    facts = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = SystemQuerySet.as_manager()

    class Meta:
        ordering = ["name", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["team", "name"], name="systems_of_a_team_differ_in_name"
            )
        ]

    def __str__(self) -> str:
        return self.name


class SystemVersion(models.Model):
    """One version of a system: at most one active run on each track. Nothing replaces it."""

    system = models.ForeignKey(System, models.CASCADE, related_name="versions")
    label = models.CharField(max_length=40)
    commit = models.CharField(max_length=64, blank=True)
    branch = models.CharField(max_length=80, blank=True)
    configuration = models.CharField(max_length=500, blank=True)
    created_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    # When its team was notified that all its runs are done; None again once it has more runs.
    announced_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["system", "label"], name="versions_differ_in_label")
        ]

    def __str__(self) -> str:
        return f"{self.system} {self.label}"


class Overview(models.Model):
    """The texts of a track’s overview that no setting contains."""

    track = models.OneToOneField(
        Track, models.CASCADE, primary_key=True, related_name="overview", editable=False
    )
    # One person per line: "Inês Moura, University of Porto".
    authors = models.TextField(blank=True, max_length=2000)
    # An email address or a URL.
    contact = models.CharField(blank=True, max_length=200)
    citation = models.TextField(blank=True, max_length=2000)
    # Whether all who see the track may download the organisers' baseline run.
    shares_baseline = models.BooleanField(default=True, db_default=True)
    # And which of them, if it is offered.
    baseline_readers = of_readers()
    questions = models.TextField(blank=True, max_length=20000)

    def __str__(self) -> str:
        return f"the home page of {self.track}"

    @property
    def contact_link(self) -> str:
        """The link that reaches the organisers; empty if the contact is neither of both."""
        try:
            check_contact(self.contact)
        except ValidationError:
            return ""
        return f"mailto:{self.contact}" if "@" in self.contact else self.contact


def check_contact(contact: str) -> None:
    """Raise ValidationError unless this is an email address, or a URL of the web."""
    check = EmailValidator() if "@" in contact else URLValidator(["http", "https"])
    try:
        check(contact)
    except ValidationError:
        raise ValidationError("Enter an email address or a URL.") from None


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
