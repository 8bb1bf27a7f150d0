"""Tracks: one board on a collection; scores of one edition are comparable."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q, QuerySet, Value
from django.utils import timezone
from django.utils.functional import cached_property

from leaderboard.models.collections import Collection, JudgmentSet
from leaderboard.models.people import Team, User
from leaderboard.models.track_settings import setting

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser


class TrackQuerySet(models.QuerySet["Track"]):
    def ranked_by(self, track: Track) -> TrackQuerySet:
        """Return the tracks whose systems the runs of a track may rank: those beside it."""
        if track.benchmark_id is None:
            return self.none()
        beside = self.filter(benchmark=track.benchmark_id, collection=track.collection_id)
        return beside.filter(run_kind__in=HAS_SYSTEMS).exclude(pk=track.pk).in_order()

    def organised_by(self, user: User | AnonymousUser) -> TrackQuerySet:
        if not user.is_authenticated:
            return self.none()
        if user.is_staff:
            return self.all()
        return self.filter(self._organised(user))

    def in_order(self) -> TrackQuerySet:
        """Return the tracks of a benchmark in its order."""
        return self.order_by("position", "pk")

    def hiding_topics(self) -> TrackQuerySet:
        """Return the tracks whose topics only organisers see yet."""
        return self.filter(topics_at__gt=timezone.now())

    def hiding_documents(self) -> TrackQuerySet:
        """Return the tracks whose documents only organisers see yet."""
        return self.filter(documents_at__gt=timezone.now())

    def opened(self) -> TrackQuerySet:
        """Return every track but drafts."""
        return self.filter(is_draft=False)

    def visible_to(self, user: User | AnonymousUser) -> TrackQuerySet:
        """Return public tracks, tracks of the user, and tracks that the user may join.

        Drafts are visible to their organisers alone.
        """
        if not user.is_authenticated:
            return self.filter(visibility=Track.Visibility.PUBLIC, is_draft=False)
        if user.is_staff:
            return self.all()
        seen = (
            Q(visibility=Track.Visibility.PUBLIC)
            | Q(benchmark__in=user.memberships.values("benchmark"))
            | Q(benchmark__joining="everyone")
        )
        return self.filter(self._organised(user) | (seen & Q(is_draft=False)))

    def _organised(self, user: User) -> Q:
        # Ids, because a join with eight other tables costs PostgreSQL 50 ms of planning.
        benchmark = Track._meta.get_field("benchmark").related_model
        return Q(benchmark__in=benchmark.objects.organised_by(user).values("pk"))


def trec_alone() -> list[str]:
    """Return the run formats that a track accepts by default."""
    return ["trec"]


# How long organisers can undo a change that everyone sees. Members are notified afterwards.
UNDO_TIME = timedelta(minutes=10)
# When a collection was made: a year, a month, a day, or a place in an order.
DATE_PATTERN = r"^[0-9]{1,4}(-[0-9]{2}){0,2}$"


def key_of_date(date: str) -> tuple[int, ...]:
    """Return what a date or a place in an order is sorted by.

    >>> key_of_date("2026-05") < key_of_date("2026-05-31")
    True
    """
    return tuple(map(int, re.findall("[0-9]+", date)))


# With fewer topics a third decimal of a mean reveals a single judgment.
MANY_TOPICS = 50
# What the marks are about where the runs of a track are marks of judges, by its kind of runs.
JUDGED_MARKS = {"nugget_marks": "nuggets", "support_marks": "support"}
# The kind of runs that rank the systems of another track, and the kinds of these.
RANKS_SYSTEMS = "system_rankings"
HAS_SYSTEMS = ("ranked", "answers")


def new_invitation() -> str:
    """Return a new random code of an invitation link."""
    return secrets.token_urlsafe(12)


class Track(models.Model):
    """One board on one collection: its settings, dates and runs. It is in one benchmark."""

    class Disclosure(models.TextChoices):
        OPEN = "open", "Open: everyone sees all scores immediately"
        LEADERBOARD = (
            "leaderboard",
            "Leaderboard: rounded means, everything else after the deadline",
        )
        BLIND = "blind", "Blind: no scores before release"

    class Visibility(models.TextChoices):
        PUBLIC = "public", "Everyone, signed in or not"
        MEMBERS = "members", "Participants and people who can join"

    class Selection(models.TextChoices):
        ALL = "all", "Every scored run"
        BEST = "best", "The best run of each team"
        PRIMARY = "primary", "Each team’s primary run, or its first if none is named"

    class Refusal(models.TextChoices):
        WARN = "warn"
        REFUSE = "refuse"

    class LateRuns(models.TextChoices):
        REFUSE = "refuse", "rejected"
        MARK = "mark", "accepted and marked late"

    class NuggetTexts(models.TextChoices):
        ALWAYS = "always", "shown at once"
        DEADLINE = "deadline", "shown after the deadline"
        RELEASE = "release", "shown with the scores of topics"
        NEVER = "never", "never shown"

    class UnknownDocuments(models.TextChoices):
        REFUSE = "refuse"
        DROP = "drop"

    class Duplicates(models.TextChoices):
        REFUSE = "refuse"
        KEEP_BEST = "keep_best"

    class Test(models.TextChoices):
        MAX_T = "max_t", "Maximum-t test (sign flips)"
        SIGN_FLIP = "sign_flip", "Sign-flip randomisation test"
        T = "t", "Paired t test"
        WILCOXON = "wilcoxon", "Wilcoxon signed-rank test"
        SIGN = "sign", "Sign test"
        BOOTSTRAP = "bootstrap", "Studentised bootstrap test"

    class Convention(models.TextChoices):
        HOUSE = "house", "trec_eval 10: scores compared as 64-bit floats"
        TREC_EVAL_9 = "trec_eval-9", "trec_eval 9: scores compared as 32-bit floats"

    class State(models.TextChoices):
        DRAFT = "draft"
        PLANNED = "planned"
        OPEN = "open"
        CLOSED = "closed"

    slug = models.SlugField(max_length=60, unique=True)
    # Where its pages are below /benchmarks/: "news" if it is alone in the benchmark news, else
    # "news/tracks/first". `Benchmark.renew_addresses` alone writes it.
    address = models.CharField(max_length=140, default="", db_default="", editable=False)
    # Only organisers know of a draft.
    is_draft = models.BooleanField(default=False, db_default=False, editable=False)
    # Whether its dates are last year's moved by a year, until someone saves its settings.
    has_moved_dates = models.BooleanField(default=False, db_default=False, editable=False)
    # Who takes part, who organises it and how it is joined are of the benchmark.
    benchmark = models.ForeignKey("Benchmark", models.PROTECT, related_name="tracks")
    position = models.PositiveSmallIntegerField(default=0, editable=False)
    # Tracks of one phase are side by side; phases come one after the other, and no mean is taken
    # over them. Tracks of one group have a mean of their own, such as those of one language.
    phase = models.CharField(max_length=60, blank=True, default="", editable=False)
    group = models.CharField(max_length=60, blank=True, default="", editable=False)
    # When the collection was made, among others in an order: a date, a month, a year or a place.
    dated = models.CharField(max_length=10, blank=True, default="", db_default="", editable=False)
    # Whether participants have no judgments of its collection, and cannot have trained on it.
    is_private = models.BooleanField(default=False, db_default=False, editable=False)
    collection = models.ForeignKey(Collection, models.PROTECT, related_name="tracks")
    edition = models.ForeignKey(
        "Edition", models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )
    public_edition = models.ForeignKey(
        "Edition", models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )
    baseline = models.ForeignKey("Run", models.SET_NULL, null=True, blank=True, related_name="+")
    # The judgments last announced to members. A change is announced some minutes later.
    announced_judgments = models.ForeignKey(
        JudgmentSet, models.SET_NULL, null=True, editable=False, related_name="+"
    )
    # Shows the badge of a track that is not public to anyone who has it.
    badge_code = models.CharField(max_length=40, default="", db_default="", editable=False)
    released_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    # The settings, in the order of the API.
    name = setting(models.CharField(max_length=120))
    description = setting(models.TextField(blank=True, max_length=20000))
    judgment_set = setting(
        models.ForeignKey(
            JudgmentSet, models.PROTECT, null=True, blank=True, related_name="tracks"
        ),
        "Judgments",
        description="A version, or null if none.",
    )
    measures = setting(
        models.JSONField(default=list),
        hint="The first ranks the board unless you choose another.",
    )
    primary_measure = setting(
        models.CharField(max_length=80), "Ranking measure", hint="Default: the first measure."
    )
    relevance_threshold = setting(
        models.PositiveSmallIntegerField(default=1),
        "Lowest relevant grade",
        hint="This grade and above is relevant for AP, P and R.",
        description="Default: the level of its judgments.",
        least=1,
        most=127,
    )
    depth = setting(
        models.PositiveIntegerField(default=1000),
        "Documents per topic",
        hint="Runs with more per topic are rejected.",
        least=1,
    )
    convention = setting(
        models.CharField(max_length=20, choices=Convention, default=Convention.HOUSE)
    )
    drop_empty_topics = setting(
        models.BooleanField(default=False), "Exclude topics with no relevant document"
    )
    test = setting(
        models.CharField(max_length=20, choices=Test, default=Test.MAX_T),
        "Test against the baseline",
    )
    opens_at = setting(models.DateTimeField(null=True, blank=True), "Opens")
    closes_at = setting(models.DateTimeField(null=True, blank=True), "Closes")
    # The topics of a collection have one date: all its tracks have it, which actions see to.
    topics_at = setting(
        models.DateTimeField(null=True, blank=True),
        "Topics appear",
        hint="Until then only organisers see the topics, and runs are rejected. On all tracks of "
        "the collection.",
        description="When the topics of the collection appear and runs are accepted, on all its "
        "tracks; null for at once.",
    )
    # As the topics have.
    documents_at = setting(
        models.DateTimeField(null=True, blank=True),
        "Documents appear",
        hint="Until then only organisers see the documents, and runs are rejected. On all tracks "
        "of the collection.",
        description="When the documents of the collection appear and runs are accepted, on all "
        "its tracks; null for at once.",
    )
    judgments_at = setting(
        models.DateTimeField(null=True, blank=True),
        "Judgments as a file",
        hint="If they are offered. Until then no one else downloads them; grades on pages follow "
        "the scores.",
        description="From when the judgments are offered as a file; null for once scores are "
        "visible.",
    )
    baseline_at = setting(
        models.DateTimeField(null=True, blank=True),
        "Baseline as a file",
        hint="If it is offered. Until then no one else downloads it; what pages show of it follows "
        "the scores.",
        description="From when the organisers' baseline run is offered as a file; null for at "
        "once.",
    )
    # The announced date; the organisers release the scores themselves.
    release_at = setting(
        models.DateTimeField(null=True, blank=True),
        "Planned release",
        hint="Shown on the track. You still release the scores yourself.",
        description="Planned release. It does not happen automatically.",
    )
    grace_minutes = setting(
        models.PositiveIntegerField(default=0, db_default=0),
        "Grace period (minutes)",
        hint="Runs within this time after the deadline count as on time.",
        may_be_empty=True,
    )
    late_runs = setting(
        models.CharField(
            max_length=10, choices=LateRuns, default=LateRuns.REFUSE, db_default=LateRuns.REFUSE
        ),
        "Late runs",
        may_be_empty=True,
    )
    excluded_topics = setting(
        models.JSONField(default=list, blank=True),
        "Excluded topics",
        hint="Topic numbers, separated by commas. Excluded from all means.",
    )
    exclusion_reason = setting(
        models.CharField(max_length=500, blank=True, default="", db_default=""),
        "Reason for exclusion",
        hint="Visible to everyone who sees the track.",
    )
    disclosure = setting(
        models.CharField(max_length=12, choices=Disclosure, default=Disclosure.BLIND), "Scores"
    )
    # Teams and their runs have other names for others until the release.
    pseudonyms = setting(
        models.BooleanField(default=False, db_default=False),
        "Use pseudonyms for teams and runs until release",
        hint="Organisers see both names. Teams see their own.",
        description="Show pseudonyms until release.",
    )
    # Once all scores are shown, the judgments can be downloaded too. Pages of topics show their
    # grades in any case: who must not know those may not see all scores either.
    shares_judgments = setting(
        models.BooleanField(default=False, db_default=False),
        "Offer the judgments as a file to everyone who sees all scores",
        hint="Without the file, the pages of topics still show them every grade. Excluded topics "
        "are not part of it.",
        description="Offer the judgments as a file to everyone who sees all scores. Without it, "
        "rankings and topics still show their grades.",
    )
    # On a leaderboard, how much better a run must be than the one its team shows; 0 shows all.
    ladder_step = setting(
        models.FloatField(default=0.0, db_default=0.0),
        "Ladder step",
        hint="Shows a team’s score only if it beats its last one by more than this, "
        "such as 0.005. 0 shows all scores.",
        description="Margin to beat the team's shown score; 0: no ladder.",
        most=0.5,
        may_be_empty=True,
    )
    # The topics of a leaderboard until the release; empty for all topics.
    public_topics = setting(
        models.JSONField(default=list, blank=True, db_default=Value([], models.JSONField())),
        "Public topics",
        hint="Used for the leaderboard until release. Only organisers see which.",
        description="Leaderboard topics. Only organisers see them.",
    )
    visibility = setting(
        models.CharField(max_length=10, choices=Visibility, default=Visibility.PUBLIC),
        "Who sees the track",
    )
    selection = setting(
        models.CharField(max_length=10, choices=Selection, default=Selection.ALL),
        "Runs shown on the board",
    )
    quota_per_day = setting(
        models.PositiveIntegerField(null=True, blank=True),
        "Runs per team per day",
        hint="Leave empty for no limit.",
        site_setting="RUNS_PER_DAY",
    )
    quota_total = setting(
        models.PositiveIntegerField(null=True, blank=True),
        "Runs per team in total",
        hint="Leave empty for no limit.",
    )
    attempts_per_day = setting(
        models.PositiveIntegerField(default=20),
        "Rejected files per team per day",
        may_be_empty=True,
        site_setting="ATTEMPTS_PER_DAY",
    )
    # Of evaluation.reading.recognition.RUN_FORMATS.
    run_formats = setting(
        models.JSONField(default=trec_alone, db_default=Value(["trec"], models.JSONField())),
        "Run formats",
        hint="Other formats are rejected. If a format has no tag, the upload form asks for one.",
        description="Accepted run formats.",
    )
    # Of leaderboard.runs.facts.REQUIRABLE, by name.
    required_facts = setting(
        models.JSONField(default=list, blank=True, db_default=Value([], models.JSONField())),
        "Required facts",
        hint="Other facts are optional. The form asks for these first.",
        description="Facts required for every team run.",
    )
    # Of leaderboard.scoring.kinds.KINDS.
    run_kind = setting(
        models.CharField(max_length=20, default="ranked", db_default="ranked"),
        "Kind of runs",
        hint="Of answers, what they cite is scored as a ranking. It is fixed once a track is made.",
        description="Kind of runs; fixed once a track is made.",
        may_be_empty=True,
    )
    # The rules for answers: of evaluation.answers.rules.PRESETS, and what differs from it.
    answer_rules = setting(
        models.CharField(max_length=20, default="common", db_default="common"),
        "Rules for answers",
        hint="Those of a shared task, for length, citations and references.",
        description="Rules for answers: those of a shared task.",
        may_be_empty=True,
    )
    answer_limit = setting(
        models.PositiveIntegerField(null=True, blank=True),
        "Longest answer",
        hint="Leave empty for that of the rules.",
        description="Longest answer, or null for that of its rules.",
        least=1,
    )
    answer_unit = setting(
        models.CharField(max_length=20, blank=True, default="", db_default=""),
        "Counted in",
        description="Unit of the longest answer; empty for that of its rules.",
        may_be_empty=True,
    )
    answer_over = setting(
        models.CharField(max_length=10, blank=True, default="", db_default=""),
        "Longer answers",
        description="What happens to longer answers; empty for what its rules say.",
        may_be_empty=True,
    )
    answer_ranking = setting(
        models.CharField(max_length=20, default="cited", db_default="cited"),
        "Ranking of an answer",
        hint="Which of its documents measures of rankings score. Fixed once a track is made.",
        description="Documents of an answer that are its ranking; fixed once a track is made.",
        may_be_empty=True,
    )
    # The layers of marks that measures of answers read, by name; "" for none.
    assignments = setting(
        models.CharField(max_length=40, blank=True, default="", db_default=""),
        "Marks of nuggets",
        hint="Measures of nuggets read this layer. Another layer makes another board.",
        description="Layer of marks that measures of nuggets read; empty for none.",
        may_be_empty=True,
    )
    support = setting(
        models.CharField(max_length=40, blank=True, default="", db_default=""),
        "Marks of support",
        hint="Measures of support read this layer.",
        description="Layer of marks that measures of support read; empty for none.",
        may_be_empty=True,
    )
    # The track whose runs are ranked, by its short name, and the measure of its board; the first
    # is of the same benchmark and collection, "" for none; the second is "" for what ranks it.
    systems = setting(
        models.CharField(max_length=60, blank=True, default="", db_default=""),
        "Systems of",
        hint="Rankings are compared with the scores of this track, and nothing is shown of them "
        "before its scores are.",
        description="Track of the benchmark whose runs are ranked, by short name; empty for none.",
        may_be_empty=True,
    )
    systems_measure = setting(
        models.CharField(max_length=80, blank=True, default="", db_default=""),
        "By its measure",
        hint="Leave empty for the one that ranks its board.",
        description="Measure of that track; empty for the one that ranks its board.",
        may_be_empty=True,
    )
    shares_nuggets = setting(
        models.CharField(
            max_length=10,
            choices=NuggetTexts,
            default=NuggetTexts.RELEASE,
            db_default=NuggetTexts.RELEASE,
        ),
        "Nuggets",
        hint="When others than organisers read them. On a blind track not before its release.",
        description="When others than organisers read the nuggets.",
        may_be_empty=True,
    )
    # A loss of up to this against the run of the main branch is accepted; 0 for no gate.
    gate_margin = setting(
        models.FloatField(default=0.0, db_default=0.0),
        "Margin of the gate",
        hint="If set, each run passes if it is shown to lose less than this against main, and is "
        "stopped if it is shown to lose. 0 for no gate.",
        description="Loss in the primary measure that the gate accepts; 0: no gate.",
        most=1e6,
        may_be_empty=True,
    )
    gate_builds = setting(
        models.PositiveIntegerField(default=50, db_default=50),
        "Builds per run of main",
        hint="The more runs are held against one run of main, the surer a loss has to be.",
        description="The budget of runs that the gate holds against one reference.",
        least=1,
        most=10_000,
        may_be_empty=True,
    )
    missing_topics = setting(
        models.CharField(max_length=10, choices=Refusal, default=Refusal.WARN),
        "Missing topics",
        hint="Until all scores are visible, all topics are checked; after that, only judged ones.",
        choices={"warn": "warning; judged topics score 0", "refuse": "run rejected"},
    )
    unknown_documents = setting(
        models.CharField(max_length=10, choices=UnknownDocuments, default=UnknownDocuments.REFUSE),
        "Unknown documents",
        hint="Documents that are not in the collection.",
        choices={"refuse": "run rejected", "drop": "ignored"},
    )
    duplicates = setting(
        models.CharField(max_length=10, choices=Duplicates, default=Duplicates.REFUSE),
        "Duplicate documents",
        choices={"refuse": "run rejected", "keep_best": "best score kept"},
    )
    repeated_tags = setting(
        models.CharField(max_length=10, choices=Refusal, default=Refusal.WARN),
        "Repeated tags",
        hint="Tags that the team has used before.",
        choices={"warn": "warning", "refuse": "run rejected"},
    )

    objects = TrackQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(opens_at=None)
                | Q(closes_at=None)
                | Q(closes_at__gt=models.F("opens_at")),
                name="a_track_closes_after_it_opens",
            ),
            models.CheckConstraint(
                condition=Q(topics_at=None)
                | Q(closes_at=None)
                | Q(closes_at__gt=models.F("topics_at")),
                name="a_track_closes_after_its_topics_appear",
            ),
            models.CheckConstraint(
                condition=Q(documents_at=None)
                | Q(closes_at=None)
                | Q(closes_at__gt=models.F("documents_at")),
                name="a_track_closes_after_its_documents_appear",
            ),
            models.CheckConstraint(
                condition=Q(closes_at=None)
                | Q(release_at=None)
                | Q(release_at__gte=models.F("closes_at")),
                name="a_release_follows_the_deadline",
            ),
            models.CheckConstraint(
                condition=Q(ladder_step=0) | Q(ladder_step__gt=0, disclosure="leaderboard"),
                name="a_ladder_is_of_a_leaderboard",
            ),
            models.UniqueConstraint(
                fields=["address"],
                condition=~Q(address=""),
                name="an_address_leads_to_one_track",
            ),
            models.UniqueConstraint(
                fields=["badge_code"],
                condition=~Q(badge_code=""),
                name="a_badge_code_leads_to_one_track",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def date_key(self) -> tuple[int, ...]:
        """What the date of its collection is sorted by: a month comes before the days in it."""
        return key_of_date(self.dated)

    def is_by(self, date: str) -> bool:
        """Whether its collection has a date up to this one; all days of a month are in it."""
        until = key_of_date(date)
        return bool(self.dated) and self.date_key[: len(until)] <= until

    def state(self, now: datetime | None = None, team: Team | None = None) -> State:
        """Return draft, planned, open or closed; all but a draft are computed from the dates."""
        now = now or timezone.now()
        if self.is_draft:
            return Track.State.DRAFT
        if self.starts_at and now < self.starts_at:
            return Track.State.PLANNED
        return Track.State.CLOSED if self.is_late(now, team) else Track.State.OPEN

    @property
    def judged_marks(self) -> str:
        """What its runs are marks about, as a layer of marks says it; "" for all other runs."""
        return JUDGED_MARKS.get(self.run_kind, "")

    @property
    def ranks_systems(self) -> bool:
        """Whether its runs rank the systems of another track."""
        return self.run_kind == RANKS_SYSTEMS

    @property
    def reads_judgments(self) -> bool:
        """Whether its runs are measured by judgments of documents, and not by another track."""
        return not self.judged_marks and not self.ranks_systems

    @property
    def truth(self) -> Track | None:
        """The track whose systems its runs rank; read once for its settings."""
        wanted = (self.systems, self.benchmark_id, self.collection_id)
        if not self.ranks_systems or not self.systems or self.benchmark_id is None:
            return None
        if self.__dict__.get("_truth", (None,))[0] != wanted:
            named = Track.objects.ranked_by(self).filter(slug=self.systems)
            self.__dict__["_truth"] = (wanted, named.select_related("edition", "benchmark").first())
        found: Track | None = self.__dict__["_truth"][1]
        return found

    @property
    def hides_systems(self) -> bool:
        """Whether some readers of this track cannot see the scores of the systems it ranks."""
        if not self.ranks_systems:
            return False
        truth, members = self.truth, Track.Visibility.MEMBERS
        if truth is None or truth.is_draft or not truth.shows_scores:
            return True
        return truth.visibility == members and self.visibility != members

    @property
    def is_alone(self) -> bool:
        """Whether it is the only track of its benchmark, whose pages are then its own."""
        return "/" not in self.address

    @property
    def starts_at(self) -> datetime | None:
        """Return since when runs are accepted: not before topics and documents appear."""
        dates = (self.opens_at, self.topics_at, self.documents_at)
        return max(filter(None, dates), default=None)

    @property
    def hides_topics(self) -> bool:
        """Return whether only organisers see the topics yet."""
        return self.topics_at is not None and timezone.now() < self.topics_at

    @property
    def hides_documents(self) -> bool:
        """Return whether only organisers see the documents yet."""
        return self.documents_at is not None and timezone.now() < self.documents_at

    @property
    def hides_data(self) -> bool:
        """Return whether topics or documents are not out yet; then nothing is shown of runs."""
        return self.hides_topics or self.hides_documents

    @property
    def baseline_readers(self) -> str:
        """Return who may download the organisers' baseline run; "" where they alone may."""
        overview = getattr(self, "overview", None)
        return overview.baseline_readers if overview and overview.shares_baseline else ""

    @property
    def hides_baseline_file(self) -> bool:
        """Return whether only organisers may download their baseline run yet."""
        return self.baseline_at is not None and timezone.now() < self.baseline_at

    @property
    def offers_judgments(self) -> bool:
        """Return whether those who see all scores may download the judgments as a file."""
        is_out = self.judgments_at is None or self.judgments_at <= timezone.now()
        return self.shares_judgments and is_out

    @cached_property
    def own_deadlines(self) -> dict[int, datetime]:
        """The later deadlines of teams, by the id of the team."""
        extended = self.participations.exclude(closes_at=None)
        return dict(extended.values_list("team", "closes_at"))

    @cached_property
    def aliases(self) -> dict[int, str]:
        """The aliases of the teams with runs on this track, by the id of the team."""
        return dict(self.participations.values_list("team", "alias"))

    def deadline_of(self, team: Team | None) -> datetime | None:
        """Return when runs of a team are due: at its own later deadline, or at the track's."""
        if team is None or self.closes_at is None:
            return self.closes_at
        return max(self.closes_at, self.own_deadlines.get(team.pk, self.closes_at))

    def is_late(self, instant: datetime, team: Team | None = None) -> bool:
        """Return whether that time is after the team's deadline and the minutes of grace."""
        last = instant - timedelta(minutes=self.grace_minutes)
        # Most runs are in time for all teams.
        if self.closes_at is None or last < self.closes_at:
            return False
        return last >= self.deadline_of(team)

    def accepts_runs(self, now: datetime | None = None, team: Team | None = None) -> bool:
        state = self.state(now, team)
        late = state == Track.State.CLOSED and self.late_runs == Track.LateRuns.MARK
        return state == Track.State.OPEN or late

    @property
    def counts_late_runs_last(self) -> bool:
        """Return whether a late run counts only where its team has none on time."""
        accepts_late = self.closes_at is not None and self.late_runs == Track.LateRuns.MARK
        return accepts_late and self.selection != Track.Selection.ALL

    @property
    def is_over(self) -> bool:
        """Return whether the track accepts no more runs."""
        return self.is_over_at(timezone.now())

    def is_over_at(self, instant: datetime) -> bool:
        """Return whether the track accepts no runs from this time on."""
        return self.state(instant) == Track.State.CLOSED and not self.accepts_runs(instant)

    @property
    def shows_means(self) -> bool:
        """Return whether everyone who sees the track sees a board, perhaps with rounded means."""
        return not self.is_blind and not self.hides_data and not self.hides_systems

    @property
    def is_blind(self) -> bool:
        """Return whether nothing but a release will show scores."""
        return self.disclosure == Track.Disclosure.BLIND and self.released_at is None

    @property
    def shows_scores(self) -> bool:
        """Return whether everyone who sees the track sees all scores, topic by topic."""
        if self.hides_data or self.hides_systems:
            return False
        if self.released_at is not None or self.disclosure == Track.Disclosure.OPEN:
            return True
        return self.shows_by_date and self.is_over

    @property
    def shows_by_date(self) -> bool:
        """Return whether the deadline shows all scores, without a release."""
        dated = self.disclosure == Track.Disclosure.LEADERBOARD and self.closes_at is not None
        return dated and self.late_runs == Track.LateRuns.REFUSE and not self.is_split

    @property
    def shows_scores_since(self) -> datetime | None:
        """Return since when everyone sees all scores; None if only a release will show them."""
        moments = [] if self.released_at is None else [self.released_at]
        if self.disclosure == Track.Disclosure.OPEN:
            moments.append(self.disclosed_since)
        if self.shows_by_date and self.closes_at is not None:
            closed = self.closes_at + timedelta(minutes=self.grace_minutes)
            moments.append(max(closed, self.disclosed_since))
        since = min(moments, default=None)
        if since is None or self.hides_systems:
            return None
        if self.truth is not None and self.truth.shows_scores_since is not None:
            since = max(since, self.truth.shows_scores_since)
        return max(filter(None, (since, self.topics_at, self.documents_at)))

    @property
    def disclosed_since(self) -> datetime:
        """Return when the disclosure was last changed."""
        for change in self.events.filter(after__has_key="disclosure").latest_first():
            if change.before["disclosure"] != change.after["disclosure"]:
                return change.at
        return self.created_at

    @property
    def is_split(self) -> bool:
        """Return whether the leaderboard has only some topics until the release."""
        return self.disclosure == Track.Disclosure.LEADERBOARD and bool(self.public_topics)

    @property
    def live_edition(self) -> Edition | None:
        """Return the edition of the board that everyone sees before the release."""
        return self.public_edition if self.is_split else self.edition

    @property
    def hides_something(self) -> bool:
        """Return whether a release would show more to anyone."""
        is_open = self.disclosure == Track.Disclosure.OPEN
        return self.released_at is None and (self.pseudonyms or not is_open)

    @property
    def shows_everything(self) -> bool:
        """Return whether everyone who sees the track sees all of it without a release."""
        return self.released_at is None and not self.hides_something

    @property
    def planned_release(self) -> datetime | None:
        """Return the planned release date while something is hidden."""
        return self.release_at if self.hides_something else None

    @property
    def hides_names(self) -> bool:
        """Return whether other teams see pseudonyms of teams and runs."""
        return self.pseudonyms and self.released_at is None

    @property
    def scores_wait_for(self) -> str:
        """Return what shows all scores, in words: the deadline, the release, or other scores."""
        if self.hides_systems:
            return "the scores of its systems"
        return "the deadline" if self.shows_by_date else "the release"

    def is_organised_by(self, user: User | AnonymousUser) -> bool:
        return Track.objects.organised_by(user).filter(pk=self.pk).exists()

    def organisers(self) -> QuerySet[User]:
        """Return the owner of its benchmark, then the co-organisers by name."""
        return self.benchmark.organisers()

    def team_of(self, user: User | AnonymousUser) -> Team | None:
        if not user.is_authenticated:
            return None
        return Team.objects.filter(benchmark=self.benchmark_id, memberships__user=user).first()


class EditionQuerySet(models.QuerySet["Edition"]):
    def other_scored(self, track: Track) -> EditionQuerySet:
        """Return the editions with scores besides that of the board, the latest first.

        An edition older than a measure of the track has no scores of that measure.
        """
        scored = Edition.objects.filter(score_sets__isnull=False)
        whole = self.filter(track=track, state=Edition.State.READY, is_part=False)
        others = whole.exclude(pk=track.edition_id).filter(pk__in=scored.values("pk"))
        return others.select_related("judgment_set").order_by("-ready_at")

    def formerly_public(self, track: Track) -> EditionQuerySet:
        """Return editions that were on the board while everyone could see all scores."""
        since = track.shows_scores_since
        return self.none() if since is None else self.filter(left_at__gte=since)


class Edition(models.Model):
    """A track with judgments, convention, code and settings; scores in it are comparable."""

    class State(models.TextChoices):
        BUILDING = "building"
        READY = "ready"

    track = models.ForeignKey(Track, models.CASCADE, related_name="editions")
    judgment_set = models.ForeignKey(JudgmentSet, models.PROTECT, related_name="editions")
    convention = models.CharField(max_length=20)
    scoring_version = models.PositiveIntegerField()
    settings = models.JSONField()
    digest = models.CharField(max_length=64)
    # One byte per topic in the order of positions: 1 if it is evaluated.
    mask = models.BinaryField()
    num_evaluated = models.PositiveIntegerField()
    # Has only the public topics of a leaderboard.
    is_part = models.BooleanField(default=False, db_default=False)
    state = models.CharField(max_length=10, choices=State, default=State.BUILDING)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    ready_at = models.DateTimeField(null=True)
    # When it was last put on the board; None if never.
    shown_at = models.DateTimeField(null=True)
    # When another edition replaced it on the board; None if it is there or never was.
    left_at = models.DateTimeField(null=True)

    objects = EditionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["track", "judgment_set", "convention", "scoring_version", "digest"],
                name="an_edition_is_built_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.track} on {self.judgment_set}"

    @property
    def safe_decimals(self) -> int:
        """Return how many decimals of a mean reveal little about any document."""
        return 3 if self.num_evaluated >= MANY_TOPICS else 2


def settings_digest(settings: dict[str, object]) -> str:
    """Return the SHA-256 of settings."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
