"""Battles of a track: two of its runs side by side, who votes, and every vote."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from leaderboard.models.collections import Topic
from leaderboard.models.people import User
from leaderboard.models.runs import Run
from leaderboard.models.tracks import Track, new_invitation

# What a vote says, as `evaluation.battles` has it, which no model imports: commands begin sooner.
CHOICES = ("left", "right", "tie", "both bad")
# What stands in place of a choice that a voter put off.
LATER = "later"
QUESTION = "Which would you rather give to a reader who asked this?"


class Battles(models.Model):
    """The battles of a track: what is asked, of whom, and how pairs are drawn."""

    class Voters(models.TextChoices):
        INVITED = "invited", "People with the invitation link"
        SIGNED_IN = "signed in", "Everyone who is signed in and sees the scores"

    class Drawing(models.TextChoices):
        RANDOM = "random", "At random"
        INFORMATION = "information", "Prefer pairs whose votes tell more"

    track = models.OneToOneField(Track, models.CASCADE, related_name="battles")
    question = models.CharField(max_length=200, default=QUESTION)
    voters = models.CharField(max_length=10, choices=Voters, default=Voters.INVITED)
    drawing = models.CharField(max_length=12, choices=Drawing, default=Drawing.RANDOM)
    is_open = models.BooleanField(default=True)
    closes_at = models.DateTimeField(null=True, blank=True)
    invitation = models.CharField(
        max_length=40, default=new_invitation, unique=True, editable=False
    )

    def __str__(self) -> str:
        return f"battles of {self.track}"

    @property
    def accepts_votes(self) -> bool:
        """Whether it is open and its last moment has not come."""
        return self.is_open and (self.closes_at is None or timezone.now() < self.closes_at)


class BattleVoter(models.Model):
    """A user who accepted the invitation to vote."""

    battles = models.ForeignKey(Battles, models.CASCADE, related_name="invited")
    user = models.ForeignKey(User, models.CASCADE, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["battles", "user"], name="a_voter_accepts_once")
        ]

    def __str__(self) -> str:
        return str(self.user)


class BattleVoteQuerySet(models.QuerySet["BattleVote"]):
    def cast(self) -> BattleVoteQuerySet:
        """Return the votes that were given, without the pairs that wait for one."""
        return self.filter(choice__in=CHOICES)

    def waiting(self) -> BattleVoteQuerySet:
        """Return the pairs that voters have before them."""
        return self.filter(choice="")

    def put_off(self) -> BattleVoteQuerySet:
        """Return the pairs that voters kept for later."""
        return self.filter(choice=LATER)

    def of_runs_in_place(self) -> BattleVoteQuerySet:
        """Return the votes on runs that are not withdrawn, disqualified or hidden."""
        there = Run.objects.not_removed().values("pk")
        return self.filter(first__in=there, second__in=there)


class BattleVote(models.Model):
    """A pair as one voter saw it, and the vote on it; `choice` is empty or "later" until then.

    The first run has the smaller id, and is at the left unless `is_turned`. Votes from a file have
    no user, but the name of who voted there.
    """

    class Kind(models.TextChoices):
        PERSON = "person"
        MACHINE = "machine"

    battles = models.ForeignKey(Battles, models.CASCADE, related_name="votes")
    topic = models.ForeignKey(Topic, models.CASCADE, related_name="+")
    first = models.ForeignKey(Run, models.CASCADE, related_name="+")
    second = models.ForeignKey(Run, models.CASCADE, related_name="+")
    is_turned = models.BooleanField(default=False)
    kind = models.CharField(max_length=7, choices=Kind, default=Kind.PERSON)
    user = models.ForeignKey(User, models.SET_NULL, null=True, related_name="battle_votes")
    name = models.CharField(max_length=128, blank=True)
    choice = models.CharField(max_length=8, blank=True)
    reason = models.CharField(max_length=1000, blank=True)
    # That of drawing this pair and topic among those the voter had not seen.
    probability = models.FloatField(null=True)
    # Of the sides as they were shown; unknown for rankings.
    left_words = models.PositiveIntegerField(null=True)
    right_words = models.PositiveIntegerField(null=True)
    left_citations = models.PositiveIntegerField(null=True)
    right_citations = models.PositiveIntegerField(null=True)
    shown_at = models.DateTimeField(default=timezone.now)
    voted_at = models.DateTimeField(null=True)

    objects = BattleVoteQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["battles", "user", "topic", "first", "second"],
                condition=Q(user__isnull=False),
                name="a_user_votes_on_a_pair_once",
            ),
            models.UniqueConstraint(
                fields=["battles", "kind", "name", "topic", "first", "second"],
                condition=Q(user=None),
                name="a_named_voter_votes_on_a_pair_once",
            ),
            models.UniqueConstraint(
                fields=["battles", "user"],
                condition=Q(choice="", user__isnull=False),
                name="a_voter_has_one_open_pair",
            ),
            models.CheckConstraint(
                condition=Q(first__lt=F("second")), name="the_first_of_a_pair_has_the_smaller_id"
            ),
            models.CheckConstraint(
                condition=Q(choice__in=["", LATER, *CHOICES]), name="a_vote_is_one_of_four"
            ),
        ]
        indexes = [models.Index(fields=["user", "-voted_at"], name="votes_by_their_time")]

    def __str__(self) -> str:
        return f"{self.first} and {self.second} on {self.topic}"

    @property
    def left(self) -> Run:
        return self.second if self.is_turned else self.first

    @property
    def right(self) -> Run:
        return self.first if self.is_turned else self.second
