"""Runs, their scores and their comparisons."""

from __future__ import annotations

import secrets
from datetime import datetime
from itertools import islice
from typing import Any

import numpy as np
from django.db import models
from django.db.models import Exists, OuterRef, Q, Subquery, Value
from django.db.models.functions import Concat, Lower, Substr
from django.utils import timezone
from django.utils.functional import cached_property
from numpy.typing import NDArray

from leaderboard.models.fast_rows import FastRow
from leaderboard.models.people import Participation, Team, User
from leaderboard.models.tracks import Edition, Track

ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"


NOT_REMOVED = Q(withdrawn_at=None, disqualified_at=None, hidden_at=None)
ON_THE_BOARD = Q(state="scored") & NOT_REMOVED
ON_A_BLIND_TRACK = Q(track__disclosure=Track.Disclosure.BLIND, track__released_at=None)


def new_run_id() -> str:
    """Return ten random characters that can be read aloud."""
    return "".join(secrets.choice(ALPHABET) for _ in range(10))


class RunQuerySet(models.QuerySet["Run"]):
    def not_rejected(self) -> RunQuerySet:
        """Return runs that are neither rejected nor failed."""
        return self.exclude(state__in=[Run.State.REFUSED, Run.State.FAILED])

    def active(self) -> RunQuerySet:
        """Return runs that are not rejected, failed or withdrawn; they reserve file and tag."""
        return self.not_rejected().filter(withdrawn_at=None)

    def sent_by(self, user: User) -> RunQuerySet:
        """Return the runs of the user's teams, and those that the user submitted for others."""
        runs = Run.objects.order_by().values("pk")
        # Each part has its index; with `or` between them PostgreSQL would read all runs.
        own = runs.filter(team__memberships__user=user).union(runs.filter(submitted_by=user))
        return self.filter(pk__in=own)

    def using_quota(self) -> RunQuerySet:
        """Return runs that use quota; withdrawn runs too, except on a blind track.

        On a blind track a team learns nothing from a withdrawn run; elsewhere it sees the scores.
        A replaced run and its replacement count once.  Where scores show, a replacement that is
        replaced itself counts, or a team could try as many runs as it likes.
        """
        counted = self.not_rejected().exclude(ON_A_BLIND_TRACK, withdrawn_at__isnull=False)
        followers = Run.objects.not_rejected().filter(replaces=OuterRef("pk"))
        replaced = Exists(followers.filter(withdrawn_at=None)) | (
            Q(withdrawn_at__isnull=False) & Exists(followers)
        )
        return counted.exclude(Q(replaces=None) | ON_A_BLIND_TRACK, replaced)

    def replacement_of(self, run: Run) -> Run | None:
        """Return the active run that replaces this one, or will once it is checked."""
        return self.active().filter(replaces=run.pk).first()

    def not_removed(self) -> RunQuerySet:
        """Return runs that are not withdrawn, disqualified or hidden."""
        return self.filter(NOT_REMOVED)

    def removed(self) -> RunQuerySet:
        """Return runs that are withdrawn, disqualified or hidden, scored or not."""
        good = self.not_removed().values("pk")
        return self.not_rejected().exclude(pk__in=good)

    def on_the_board(self) -> RunQuerySet:
        """Return scored runs that are not removed."""
        return self.filter(ON_THE_BOARD)

    def with_pseudonyms(self) -> RunQuerySet:
        """Return runs that can be filtered by `shown_pseudonym`, which is their `pseudonym`."""
        there = Participation.objects.filter(team=OuterRef("team"), track=OuterRef("track"))
        alias = Lower(Subquery(there.values("alias")))
        return self.alias(shown_pseudonym=Concat(alias, Value("-"), Substr("pk", 1, 4)))

    def accepted(self) -> RunQuerySet:
        """Return runs whose file passed its checks, scored or waiting for judgments.

        A run that is being scored for the first time is excluded: it has no ranking file yet.
        """
        scored = self.filter(state__in=[Run.State.VALID, Run.State.SCORING, Run.State.SCORED])
        return scored.exclude(ranking_file="")

    def duplicates_of(self, run: Run) -> RunQuerySet:
        """Return the other accepted, active runs of its track with the same first documents."""
        if not run.fingerprint:
            return self.none()
        same = self.filter(track=run.track_id, fingerprint=run.fingerprint)
        return same.exclude(pk=run.pk).active().accepted().order_by("received_at")

    def replace_primary(self, primary: Run) -> None:
        """Make `primary` the only primary run of its team on its track."""
        same = self.filter(track=primary.track_id, team=primary.team_id, is_primary=True)
        same.exclude(pk=primary.pk).update(is_primary=False)

    def rejected_before(self, instant: datetime) -> RunQuerySet:
        """Return runs rejected before that time whose file is still stored."""
        return self.filter(state=Run.State.REFUSED, received_at__lt=instant).exclude(file="")

    def unfinished(self) -> RunQuerySet:
        return self.filter(state__in=[Run.State.QUEUED, Run.State.CHECKING, Run.State.SCORING])

    def change_state(self, run_id: str, to: str, *, only_from: list[str]) -> bool:
        """Change the state of a run; return False if it had none of the expected states."""
        return bool(self.filter(pk=run_id, state__in=only_from).update(state=to))


class Run(FastRow):
    class State(models.TextChoices):
        QUEUED = "queued"
        CHECKING = "checking"
        REFUSED = "refused"
        VALID = "valid"
        SCORING = "scoring"
        SCORED = "scored"
        FAILED = "failed"

    class Kind(models.TextChoices):
        AUTOMATIC = "automatic"
        FEEDBACK = "feedback"
        MANUAL = "manual"

    id = models.CharField(primary_key=True, max_length=12, default=new_run_id, editable=False)
    track = models.ForeignKey(Track, models.CASCADE, related_name="runs")
    team = models.ForeignKey(Team, models.PROTECT, related_name="runs")
    submitted_by = models.ForeignKey(User, models.PROTECT, related_name="runs")
    tag = models.CharField(max_length=128, blank=True)
    description = models.TextField(blank=True, max_length=5000)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.AUTOMATIC)
    is_primary = models.BooleanField(default=False, db_default=False)
    # The run of its team that is withdrawn once this one has passed its checks.
    replaces = models.ForeignKey(
        "self", models.SET_NULL, null=True, editable=False, related_name="replacements"
    )
    # The version of a system that made it, on a track of a benchmark.
    version = models.ForeignKey(
        "SystemVersion", models.SET_NULL, null=True, editable=False, related_name="runs"
    )
    facts = models.JSONField(default=dict, blank=True)

    file = models.FileField(max_length=200)
    filename = models.CharField(max_length=120, blank=True)
    size = models.BigIntegerField(default=0)
    sha256 = models.CharField(max_length=64)
    ranking_file = models.FileField(max_length=200, blank=True)
    # What a run of answers says; empty for other kinds.
    answer_file = models.FileField(max_length=200, blank=True, default="", db_default="")
    # Of a run of answers the means of an answer: `length` in the unit of its track, `citations`.
    lengths = models.JSONField(
        default=dict, db_default=Value({}, models.JSONField()), blank=True, editable=False
    )
    # Equal for runs with the same first documents on every topic; empty before the file is read.
    fingerprint = models.CharField(max_length=64, blank=True, default="", db_default="")
    # The format, of its kind, and the ir_metadata by path.
    format = models.CharField(max_length=10, blank=True, default="", db_default="")
    metadata = models.JSONField(default=dict, db_default=Value({}, models.JSONField()), blank=True)
    # Repairs applied while the file is read, of its kind; the stored file is unchanged.
    fixes = models.JSONField(default=list, db_default=Value([], models.JSONField()), blank=True)
    idempotency_key = models.CharField(max_length=80, blank=True)

    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    reason = models.TextField(blank=True)
    problems = models.JSONField(default=list, blank=True)
    problem_totals = models.JSONField(default=dict, blank=True)
    problems_file = models.FileField(max_length=200, blank=True)
    lenient = models.BooleanField(default=False)
    num_lines = models.PositiveBigIntegerField(default=0)
    num_answered = models.PositiveIntegerField(default=0)
    num_retrieved = models.PositiveBigIntegerField(default=0)

    received_at = models.DateTimeField(default=timezone.now, editable=False)
    checked_at = models.DateTimeField(null=True)
    scored_at = models.DateTimeField(null=True)
    withdrawn_at = models.DateTimeField(null=True)
    withdrawn_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    withdrawn_reason = models.CharField(max_length=500, blank=True)
    disqualified_at = models.DateTimeField(null=True)
    disqualified_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    disqualified_reason = models.CharField(max_length=500, blank=True)
    hidden_at = models.DateTimeField(null=True)
    hidden_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    hidden_reason = models.CharField(max_length=500, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        # The runs of a system are received at one moment.
        ordering = ["-received_at", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["track", "submitted_by", "idempotency_key"],
                condition=~Q(idempotency_key=""),
                name="an_idempotency_key_makes_one_run",
            ),
            models.UniqueConstraint(
                fields=["track", "team", "sha256"],
                # Versions of a system may well have the same run on some track.
                condition=~Q(state__in=["refused", "failed"]) & Q(withdrawn_at=None, version=None),
                name="the_same_bytes_are_one_run_of_a_team_on_a_track",
            ),
            models.UniqueConstraint(
                fields=["track", "team"],
                condition=Q(is_primary=True, state__in=["valid", "scored"], withdrawn_at=None),
                name="a_team_has_one_primary_run_on_a_track",
            ),
            models.UniqueConstraint(
                fields=["version", "track"],
                condition=~Q(state__in=["refused", "failed"]) & Q(withdrawn_at=None),
                name="a_version_has_one_run_on_a_track",
            ),
            models.UniqueConstraint(
                fields=["replaces"],
                condition=~Q(state__in=["refused", "failed"]) & Q(withdrawn_at=None),
                name="a_run_is_replaced_once",
            ),
            models.CheckConstraint(
                condition=Q(
                    state__in=[
                        "queued",
                        "checking",
                        "refused",
                        "valid",
                        "scoring",
                        "scored",
                        "failed",
                    ]
                ),
                name="run_state_is_known",
            ),
        ]
        indexes = [
            models.Index(fields=["track", "state"]),
            models.Index(fields=["track", "fingerprint"], name="runs_of_the_same_rankings"),
            models.Index(fields=["size"], condition=~Q(file=""), name="sizes_of_stored_runs"),
        ]

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self._state.adding:
            # From its first run on, a team has a pseudonym on the track.
            Participation.objects.get_or_create(team=self.team, track=self.track)
        super().save(*args, **kwargs)

    def __str__(self) -> str:
        return self.tag or self.filename or self.id

    @property
    def saved_as(self) -> str:
        """The name of its file for who downloads it: that of the upload, if there was one."""
        return self.filename or f"{self.pk}.run"

    @property
    def pseudonym(self) -> str:
        """Return the name of the run on a track with pseudonyms."""
        return f"{self.track.aliases[self.team_id].lower()}-{self.pk[:4]}"

    @property
    def team_pseudonym(self) -> str:
        """Return the name of its team on a track with pseudonyms."""
        return f"Team {self.track.aliases[self.team_id]}"

    # Whether this is a copy under a pseudonym, which knows only the days of its moments.
    has_pseudonym = False

    @cached_property
    def is_late(self) -> bool:
        """Return whether the run arrived late; runs of the organisers are never late."""
        return self.track.is_late(self.received_at, self.team) and not self.team.of_organisers

    @property
    def removal(self) -> str:
        """Return `hidden`, `disqualified` or `withdrawn`, or an empty string if not removed."""
        if self.hidden_at:
            return "hidden"
        if self.disqualified_at:
            return "disqualified"
        return "withdrawn" if self.withdrawn_at else ""

    @property
    def done(self) -> bool:
        """Return whether no job will change the state of this run."""
        return self.state in (
            Run.State.REFUSED,
            Run.State.VALID,
            Run.State.SCORED,
            Run.State.FAILED,
        )


class ScoreSet(models.Model):
    """The scores of one run in one edition, with a record to compute any measure from."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="score_sets")
    edition = models.ForeignKey(Edition, models.CASCADE, related_name="score_sets")
    record = models.BinaryField()
    num_relevant = models.PositiveIntegerField(default=0)
    num_relevant_retrieved = models.PositiveIntegerField(default=0)
    judged_at_10 = models.FloatField(default=0.0)
    # By measure: the lowest and highest mean that any order of equal scores gives.
    ties = models.JSONField(default=dict, db_default={}, blank=True)
    # Where marks are missing, by measure: the share of pairs with one, the bounds of the mean, and
    # where pairs were drawn the estimate of it with its margins, or why there is none.
    bounds = models.JSONField(default=dict, db_default={}, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "edition"], name="a_run_is_scored_once")
        ]

    def __str__(self) -> str:
        return f"{self.run} in {self.edition}"


class Score(models.Model):
    """One measure of one run: the mean, and one float64 per topic in the order of positions.

    The value is NaN if a topic is not evaluated or the measure is undefined.
    """

    score_set = models.ForeignKey(ScoreSet, models.CASCADE, related_name="scores")
    measure = models.CharField(max_length=80)
    resolved = models.CharField(max_length=80)
    mean = models.FloatField(null=True)
    num_undefined = models.PositiveIntegerField(default=0)
    by_topic = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["score_set", "measure"], name="a_measure_is_computed_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.measure} of {self.score_set}"

    @property
    def values(self) -> NDArray[np.float64]:
        return np.frombuffer(self.by_topic, dtype="<f8")


def select_problems(problems: list[dict], most: int) -> list[dict]:
    """Return at most `most` problems, errors first, with a fair share for each code."""
    by_code: dict[str, list[dict]] = {}
    for problem in problems:
        by_code.setdefault(problem["code"], []).append(problem)
    share = max(1, most // max(1, len(by_code)))
    first = [problem for same in by_code.values() for problem in same[:share]]
    rest = (problem for same in by_code.values() for problem in same[share:])
    chosen = [*first[:most], *islice(rest, max(0, most - len(first)))]
    return sorted(
        chosen, key=lambda problem: (problem["severity"] != "error", problem["line"] or 0)
    )
