"""Benchmarks, which are groups of tracks; and what a track presents on its home page."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from django.core.exceptions import ValidationError
from django.core.validators import EmailValidator, URLValidator
from django.db import models
from django.db.models import Q, QuerySet
from django.utils import timezone

from leaderboard.models.people import Team, User, find_organisers
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
        visible = Track.objects.visible_to(user).values("pk")
        known = Q(pk__in=BenchmarkTrack.objects.filter(track__in=visible).values("benchmark"))
        return self.filter(known | Q(pk__in=self.organised_by(user).values("pk")))


class Benchmark(models.Model):
    """An ordered group of tracks with one home, one set of teams, terms and organisers."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True, max_length=20000)
    owner = models.ForeignKey(User, models.PROTECT, related_name="benchmarks")
    co_organisers = models.ManyToManyField(User, blank=True, related_name="+")
    # What all its tracks share; the tracks hold copies, which nobody changes one by one.
    joining = models.CharField(max_length=12, choices=Track.Joining, default=Track.Joining.EVERYONE)
    invitation = models.CharField(max_length=40, default=new_invitation, editable=False)
    terms = models.TextField(blank=True, max_length=20000)
    # How many runs a team may submit to all tracks together; None for no limit.
    quota_per_day = models.PositiveIntegerField(null=True, blank=True)
    quota_total = models.PositiveIntegerField(null=True, blank=True)
    # One measure for the board; "" for the primary measure of each track.
    measure = models.CharField(max_length=80, blank=True)
    baseline = models.ForeignKey("System", models.SET_NULL, null=True, blank=True, related_name="+")
    # As for tracks: versions state commit and branch, and are compared with this branch.
    main_branch = models.CharField(max_length=80, blank=True)
    commit_url = models.CharField(max_length=300, blank=True)
    badge_code = models.CharField(max_length=40, blank=True, editable=False)
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
        ]

    def __str__(self) -> str:
        return self.name

    def is_organised_by(self, user: User | AnonymousUser) -> bool:
        return Benchmark.objects.organised_by(user).filter(pk=self.pk).exists()

    def organisers(self) -> QuerySet[User]:
        """Return the owner, then the co-organisers by name."""
        return find_organisers(self.owner_id, self.co_organisers)

    def tracks(self) -> QuerySet[Track]:
        """Return its tracks in order."""
        ordered = Track.objects.filter(benchmark_place__benchmark=self).select_related(
            "benchmark_place"
        )
        return ordered.order_by("benchmark_place__position", "pk")

    def link_of_commit(self, commit: str) -> str:
        """Return the URL of a commit; "" if the organisers gave no pattern."""
        return self.commit_url.replace("{commit}", quote(commit, safe="")) if commit else ""


class BenchmarkTrack(models.Model):
    """The place of a track in its benchmark.

    Tracks of one phase are side by side; phases come one after the other, and no mean is
    taken over them. Tracks of one group have a mean of their own, such as those of one language.
    """

    track = models.OneToOneField(
        Track, models.CASCADE, primary_key=True, related_name="benchmark_place"
    )
    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="places")
    position = models.PositiveSmallIntegerField()
    phase = models.CharField(max_length=60, blank=True)
    group = models.CharField(max_length=60, blank=True)

    class Meta:
        ordering = ["position", "pk"]

    def __str__(self) -> str:
        return f"{self.track} in {self.benchmark}"


class BenchmarkTeam(models.Model):
    """One team of a benchmark; it has a row of `Team` on every track, all of one name."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="teams")
    of_organisers = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["benchmark"],
                condition=Q(of_organisers=True),
                name="organisers_of_a_benchmark_are_one_team",
            )
        ]

    def __str__(self) -> str:
        return f"a team of {self.benchmark}"

    def on(self, track: Track) -> Team:
        """Return the team's row of a track."""
        return Team.objects.get(benchmark_team=self, track=track)


class SystemQuerySet(models.QuerySet["System"]):
    def sent_by(self, user: User) -> SystemQuerySet:
        """Return the systems of the user's teams."""
        own = Team.objects.filter(memberships__user=user).values("benchmark_team")
        return self.filter(team__in=own)


class System(models.Model):
    """What a team's runs on several tracks have in common; its facts are stated once."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="systems")
    team = models.ForeignKey(BenchmarkTeam, models.PROTECT, related_name="systems")
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
