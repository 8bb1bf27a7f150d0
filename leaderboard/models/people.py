"""Users, teams, memberships and tokens."""

from __future__ import annotations

import hashlib
import secrets
import unicodedata
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import Case, Q, QuerySet, When
from django.utils import timezone

# Letters and digits that cannot be confused with each other.
ALIAS_LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"


class User(AbstractUser):
    can_organise = models.BooleanField(default=False)
    # Whether notices are sent by email too, if the site sends email.
    mails = models.BooleanField(default=True, db_default=True)
    # Of the person: where their names stand as authors, and the identifier at ORCID.
    affiliation = models.CharField(max_length=200, blank=True, default="", db_default="")
    orcid = models.CharField(max_length=19, blank=True, default="", db_default="")

    @property
    def display_name(self) -> str:
        """The name of the person, or of the account where none is stated."""
        return self.get_full_name() or self.username

    @property
    def may_organise(self) -> bool:
        """Return whether this user may create collections and tracks."""
        return self.is_staff or self.can_organise or settings.EVERYONE_ORGANISES


def find_organisers(owner_id: int, others: QuerySet[User]) -> QuerySet[User]:
    """Return the owner of a benchmark, then the co-organisers by name."""
    owner = User.objects.filter(pk=owner_id).values("pk")
    # With `or` between them PostgreSQL would read all users.
    found = User.objects.filter(pk__in=owner.union(others.values("pk")))
    return found.order_by(Case(When(pk=owner_id, then=0), default=1), "username")


class Team(models.Model):
    """A team of a benchmark: it takes part in all its tracks."""

    benchmark = models.ForeignKey("Benchmark", models.CASCADE, related_name="teams")
    name = models.CharField(max_length=80)
    key = models.CharField(max_length=160, editable=False)
    of_organisers = models.BooleanField(default=False)
    # Anyone who has it can join the team.
    invitation = models.CharField(max_length=40, default="", db_default="", editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["benchmark", "key"], name="team_names_differ_in_a_benchmark"
            ),
            models.UniqueConstraint(
                fields=["benchmark"],
                condition=Q(of_organisers=True),
                name="organisers_of_a_benchmark_are_one_team",
            ),
            models.UniqueConstraint(
                fields=["invitation"],
                condition=~Q(invitation=""),
                name="an_invitation_leads_to_one_team",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.key = team_key(self.name)
        self.invitation = self.invitation or secrets.token_urlsafe(12)
        super().save(*args, **kwargs)


class Participation(models.Model):
    """What a team has on one track: its pseudonym there, and perhaps a later deadline.

    It is made with the first run. A team has another pseudonym on each track, so that the names
    which one track shows tell nothing about another that hides them.
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="participations")
    track = models.ForeignKey("Track", models.CASCADE, related_name="participations")
    # Random, so that pseudonyms made from it do not reveal the team.
    alias = models.CharField(max_length=8, editable=False)
    # Its own deadline, if the organisers gave it a later one than the track has.
    closes_at = models.DateTimeField(null=True, editable=False)
    extension_reason = models.CharField(max_length=300, default="", db_default="", editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "track"], name="a_team_is_once_on_a_track"),
            models.UniqueConstraint(fields=["track", "alias"], name="aliases_differ_in_a_track"),
        ]

    def __str__(self) -> str:
        return f"{self.team} on {self.track}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.alias = self.alias or new_alias(self.track_id)
        super().save(*args, **kwargs)


def new_alias(track_id: int) -> str:
    """Return four random characters that no other team of the track has."""
    taken = set(Participation.objects.filter(track=track_id).values_list("alias", flat=True))
    while (alias := "".join(secrets.choice(ALIAS_LETTERS) for _ in range(4))) in taken:
        pass
    return alias


def team_key(name: str) -> str:
    """Return a key that is equal for names that a reader could confuse.

    >>> team_key("ＫＥＳＴＲＥＬ ") == team_key("kestrel") == team_key("k\u0435strel")
    True
    >>> team_key("TU–Al") == team_key("TU-AI"), team_key("Corn") == team_key("Com")
    (True, True)
    """
    # Before normalising too, since it turns some letters into others that look different.
    name = unicodedata.normalize("NFKC", "".join(map(latin_for, name)))
    key = " ".join("".join(map(latin_for, name)).casefold().split())
    key = "".join("-" if unicodedata.category(c) == "Pd" else c for c in key)
    # A capital I is an l, and in many faces rn is an m.
    return key.replace("i", "l").replace("rn", "m")


@lru_cache(maxsize=4096)
def latin_for(letter: str) -> str:
    """Return the Latin letter that looks the same in Unicode's table, or the letter itself."""
    # Its tables take longer to load than most commands take.
    from confusable_homoglyphs import confusables

    found = confusables.is_confusable(letter, preferred_aliases=["latin"]) or []
    alike = [glyph["c"] for glyph in (found[0]["homoglyphs"] if found else [])]
    return next((glyph for glyph in alike if glyph.isascii() and glyph.isalpha()), letter)


class Membership(models.Model):
    class Role(models.TextChoices):
        LEADER = "leader"
        MEMBER = "member"

    benchmark = models.ForeignKey("Benchmark", models.CASCADE, related_name="memberships")
    team = models.ForeignKey(Team, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role, default=Role.LEADER)
    joined_at = models.DateTimeField(default=timezone.now, editable=False)
    accepted_terms_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["benchmark", "user"], name="one_team_a_person_and_benchmark"
            )
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.team}"


class JoinRequestQuerySet(models.QuerySet["JoinRequest"]):
    def waiting(self) -> JoinRequestQuerySet:
        """Return the requests that organisers have not answered."""
        return self.filter(state=JoinRequest.State.WAITING)


class JoinRequest(models.Model):
    """A request for a team in a benchmark whose organisers approve teams."""

    class State(models.TextChoices):
        WAITING = "waiting"
        APPROVED = "approved"
        DECLINED = "declined"

    benchmark = models.ForeignKey("Benchmark", models.CASCADE, related_name="join_requests")
    user = models.ForeignKey(User, models.CASCADE, related_name="join_requests")
    team_name = models.CharField(max_length=80)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    asked_at = models.DateTimeField(default=timezone.now, editable=False)
    accepted_terms_at = models.DateTimeField(null=True, editable=False)
    decided_at = models.DateTimeField(null=True, editable=False)
    decided_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")

    objects = JoinRequestQuerySet.as_manager()

    class Meta:
        ordering = ["asked_at"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "user"], name="one_asks_once_a_benchmark")
        ]

    def __str__(self) -> str:
        return f"{self.user} for {self.team_name}"

    @property
    def name_is_taken(self) -> bool:
        """Return whether a team has the requested name by now."""
        return self.benchmark.has_team(self.team_name)


class Grant(models.Model):
    """Runs that a team may submit to a track beyond its quota: on one day (UTC), or in total."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="grants")
    track = models.ForeignKey("Track", models.CASCADE, related_name="grants")
    runs = models.PositiveIntegerField()
    day = models.DateField(null=True)
    reason = models.CharField(max_length=300, blank=True)
    granted_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    granted_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(condition=Q(runs__gt=0), name="a_grant_gives_something")
        ]

    def __str__(self) -> str:
        return f"{self.runs} for {self.team}"


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def usable(self, now: datetime | None = None) -> ApiTokenQuerySet:
        now = now or timezone.now()
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=now), revoked_at=None)

    def revoke(self) -> int:
        """Revoke the usable tokens and return their number."""
        return self.usable().update(revoked_at=timezone.now())

    def issue(
        self, user: User, scopes: list[str], name: str = "", expires_at: datetime | None = None
    ) -> tuple[ApiToken, str]:
        """Create a token and return it with its secret, which is not stored."""
        secret = "rf_" + secrets.token_urlsafe(32)
        token = self.create(
            user=user,
            name=name,
            prefix=secret[:8],
            digest=hash_secret(secret),
            scopes=scopes,
            expires_at=expires_at,
        )
        return token, secret

    def find(self, secret: str) -> ApiToken | None:
        return self.usable().filter(digest=hash_secret(secret), user__is_active=True).first()


def hash_secret(secret: str) -> str:
    # 256 random bits need no salt and no slow hash.
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


class ApiToken(models.Model):
    SCOPES = ("read", "submit", "organise")

    user = models.ForeignKey(User, models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=80, blank=True)
    prefix = models.CharField(max_length=8)
    digest = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = ApiTokenQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.prefix}… of {self.user}"


class SentForm(models.Model):
    """A form that was sent; sending it again redirects to the same page."""

    user = models.ForeignKey(User, models.CASCADE, related_name="+")
    # Of the key of the page and of the values in the form.
    digest = models.CharField(max_length=64)
    address = models.CharField(max_length=300, blank=True)
    sent_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "digest"], name="a_form_is_sent_once")
        ]

    def __str__(self) -> str:
        return self.address
