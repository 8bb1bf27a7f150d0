"""The organiser's desk: open work, failures and warnings of a track."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Count, Model, Q, QuerySet
from django.utils import timezone

from leaderboard.analysis.odd_topics import OddTopics, find_odd_topics
from leaderboard.assessments.progress import find_disputes, measure_share
from leaderboard.boards.disclosure import Sight
from leaderboard.boards.shared_judgments import find_conflicts
from leaderboard.boards.standings import Board, Standing, find_board
from leaderboard.models import (
    Assessment,
    Calculation,
    Collection,
    Delivery,
    Edition,
    Job,
    JoinRequest,
    JudgmentSet,
    Participation,
    Pool,
    Run,
    Team,
    Track,
    Webhook,
    Worker,
)
from leaderboard.models.calculations import CalculationQuerySet
from leaderboard.models.collections import ImportState
from leaderboard.runs.quotas import Quota, find_quotas
from leaderboard.scoring.duplicates import SimilarRuns, find_similar_runs
from leaderboard.scoring.editions import find_trial_edition
from leaderboard.scoring.kinds import kind_of

# The scores of a run with a lower Judged@10 are unreliable.
WELL_JUDGED = 0.5
LATEST_WORKERS = 8
# An open job that is older than this is stuck: workers answer within seconds.
STUCK = timedelta(minutes=15)

KINDS = {
    "check_run": "Reading and scoring the run",
    "build_edition": "Scoring all runs again:",
    "try_judgments": "Scoring all runs with the judgments",
    "score_again": "Scoring all runs again:",
    "compare": "Comparing the runs:",
    "compare_systems": "Testing the systems of",
    "judge_boards": "Computing the boards by judge of",
    "try_orders": "Trying orders of judging on",
    "make_baseline": "Making a baseline run:",
    "index_words": "Indexing the words of the documents",
    "gather_pool": "Gathering the pool",
    "check_judgments": "Reading the judgments",
    "import_judgments": "Importing the judgments",
    "check_nuggets": "Reading the nuggets",
    "import_nuggets": "Importing the nuggets",
    "check_marks": "Reading the marks",
    "import_marks": "Importing the marks",
}


@dataclass(frozen=True)
class FailedJob:
    """A failed job that was not repeated since, and its target."""

    job: Job
    target: Model

    @property
    def what(self) -> str:
        return KINDS[self.job.kind]


@dataclass(frozen=True)
class FailingWebhook:
    """A webhook with calls that were given up, and the last of them."""

    webhook: Webhook
    calls: int
    latest: Delivery


@dataclass(frozen=True)
class Queue:
    """The jobs of the whole site, and its workers."""

    waiting: int
    running: int
    workers: list[Worker]
    alive: int


@dataclass(frozen=True)
class JudgingDecision:
    """An assessment that waits for its organisers."""

    assessment: Assessment
    num_disputes: int
    is_complete: bool


@dataclass(frozen=True)
class JudgedShare:
    """How far the judging that is under way has come."""

    name: str
    share: float


@dataclass(frozen=True)
class Decision:
    """A thing that waits for an organiser: its kind, and what it is about."""

    kind: str
    subject: Any = None


@dataclass(frozen=True)
class Desk:
    # Whether the track accepts no more runs and only a release shows the rest.
    release_waits: bool
    failed: list[FailedJob]
    num_stuck: int
    # Editions that a job is scoring.
    rescoring: list[tuple[Edition, Job]]
    # A complete trial edition; the board does not change until an organiser switches.
    tried: Edition | None
    silent: list[FailingWebhook]
    previews: list[JudgmentSet]
    refused_judgments: list[JudgmentSet]
    pools: list[Pool]
    # Approved pools whose judgments are not uploaded yet.
    unjudged: list[Pool]
    judging: list[JudgingDecision]
    judged: JudgedShare | None
    requests: list[JoinRequest]
    # What shared judgments of other tracks show of this one.
    conflicts: list[str]
    num_refused: int
    num_valid: int
    names: list[Participation]
    teams: list[tuple[Team, Quota]]
    queue: Queue

    @property
    def decisions(self) -> list[Decision]:
        """What needs a decision of an organiser, the most urgent first."""
        waiting: list[tuple[str, Iterable[Any]]] = [
            ("failed", self.failed),
            ("release", [True] * self.release_waits),
            ("request", self.requests),
            ("judging", self.judging),
            ("refused", self.refused_judgments),
            ("preview", self.previews),
            ("tried", filter(None, [self.tried])),
            ("pool", self.pools),
            ("unjudged", self.unjudged),
            ("valid", filter(None, [self.num_valid])),
            ("silent", self.silent),
            ("stuck", filter(None, [self.num_stuck])),
        ]
        return [Decision(kind, each) for kind, found in waiting for each in found]


@dataclass(frozen=True)
class Findings:
    """What is unusual on a track, and perhaps harmless."""

    alike: list[SimilarRuns]
    little_judged: list[Standing]
    odd_topics: OddTopics

    def __len__(self) -> int:
        return sum(map(len, (self.alike, self.little_judged, self.odd_topics)))


def build_desk(sight: Sight) -> Desk:
    """Build the desk of a track, for its organisers."""
    track = sight.track
    waiting = track.benchmark.join_requests.waiting()
    return Desk(
        release_waits=waits_for_release(track),
        failed=find_failed_jobs(track),
        num_stuck=count_stuck_jobs(track),
        rescoring=_rescoring(track),
        tried=_find_trial(track),
        silent=find_failing_webhooks(track),
        previews=list(track.collection.judgment_sets.filter(state=ImportState.PREVIEW)),
        refused_judgments=list(track.collection.judgment_sets.filter(state=ImportState.REFUSED)),
        pools=list(track.pools.filter(state=Pool.State.PROPOSED)),
        unjudged=_pools_without_judging(track),
        judging=[] if sight.is_assessing else find_judging_decisions(track),
        judged=find_judged_share(track),
        requests=list(waiting.select_related("user")),
        conflicts=find_conflicts(track, sight.viewer),
        num_refused=track.runs.filter(state=Run.State.REFUSED).count(),
        num_valid=track.runs.not_removed().filter(state=Run.State.VALID).count(),
        names=_pseudonyms(track) if track.hides_names else [],
        teams=_teams(track),
        queue=_queue(),
    )


def find_findings(sight: Sight) -> Findings:
    """Return what is worth a check on a track, for its organisers."""
    track, board = sight.track, find_board(sight)
    return Findings(
        alike=find_similar_runs(
            kind_of(track), track.runs.not_removed().accepted().select_related("team")
        ),
        little_judged=_little_judged(board),
        odd_topics=find_odd_topics(board),
    )


def _pools_without_judging(track: Track) -> list[Pool]:
    judged_here = track.assessments.unfinished().values("pool")
    return list(track.pools.awaiting_judgments().exclude(pk__in=judged_here))


def find_judging_decisions(track: Track) -> list[JudgingDecision]:
    """Return the assessments with disagreements to settle, or with every document judged."""
    begun = track.assessments.unfinished().exclude(state=Assessment.State.DRAFT)
    found = [
        JudgingDecision(each, len(find_disputes(each)), measure_share(each) >= 1)
        for each in begun.select_related("pool")
    ]
    return [each for each in found if each.num_disputes or each.is_complete]


def find_judged_share(track: Track) -> JudgedShare | None:
    """Return how far the latest judging that is under way has come; None if there is none."""
    begun = track.assessments.unfinished().exclude(state=Assessment.State.DRAFT)
    latest = begun.select_related("pool").order_by("pk").last()
    return None if latest is None else JudgedShare(latest.name, measure_share(latest))


def find_failed_jobs(track: Track) -> list[FailedJob]:
    """Return the jobs of a track that failed and were not repeated."""
    return [
        FailedJob(job, targets[job.target_id])
        for kind, found in _targets_of_failed(track).items()
        if (targets := {str(row.pk): row for row in found})
        for job in _latest(kind, targets).values()
        if job.state == Job.State.FAILED
    ]


def _targets_of_failed(track: Track) -> dict[str, QuerySet]:
    failed_judgments = track.collection.judgment_sets.filter(state=ImportState.FAILED)
    return {
        "check_run": track.runs.filter(state=Run.State.FAILED),
        "build_edition": track.editions.filter(state=Edition.State.BUILDING),
        "try_judgments": track.collection.judgment_sets.ready(),
        "score_again": track.editions.filter(state=Edition.State.READY),
        "compare": track.editions.filter(pk=track.edition_id),
        **{kind: asked.failed() for kind, asked in _calculations(track).items()},
        "gather_pool": track.pools.filter(state=Pool.State.FAILED),
        "index_words": Collection.objects.filter(pk=track.collection_id, words=""),
        "check_judgments": failed_judgments,
        "import_judgments": failed_judgments,
        **{
            kind: rows.filter(state=ImportState.FAILED) for kind, rows in _of_answers(track).items()
        },
    }


def _of_answers(track: Track) -> dict[str, QuerySet]:
    """Return the nuggets and the layers of a track, by the kind of job that reads them."""
    return {
        f"{act}_{rows.model.noun}": rows.all()
        for rows in (track.nugget_versions, track.mark_layers)
        for act in ("check", "import")
    }


def _calculations(track: Track) -> dict[str, CalculationQuerySet]:
    """Return what is calculated for a track or its benchmark, by the kind of job."""
    every = Calculation.objects.select_related("edition__track", "track", "benchmark")
    return {
        "judge_boards": every.filter(track=track),
        "try_orders": every.filter(edition__track=track),
        "compare_systems": every.filter(benchmark__tracks=track),
    }


def waits_for_release(track: Track) -> bool:
    """Return whether the deadline has passed and a release would show more."""
    planned = track.planned_release is not None and not track.accepts_runs()
    return planned or (track.is_over and track.hides_something and not track.shows_scores)


def count_stuck_jobs(track: Track) -> int:
    """Count open jobs of a track that no worker has finished for a long time."""
    old = Job.objects.open().filter(kind__in=KINDS, created_at__lt=timezone.now() - STUCK)
    jobs = list(old.values_list("kind", "target_id"))
    if not jobs:
        return 0
    judgments = track.collection.judgment_sets
    rows = {"check_run": track.runs, "make_baseline": Track.objects.filter(pk=track.pk)}
    rows |= dict.fromkeys(("build_edition", "score_again", "compare"), track.editions)
    rows |= {"gather_pool": track.pools, **_calculations(track), **_of_answers(track)}
    rows |= {"index_words": Collection.objects.filter(pk=track.collection_id)}
    rows |= dict.fromkeys(("try_judgments", "check_judgments", "import_judgments"), judgments)
    known = {kind: {str(pk) for pk in rows[kind].values_list("pk", flat=True)} for kind, _ in jobs}
    return sum(target in known[kind] for kind, target in jobs)


def _latest(kind: str, targets: dict[str, Model]) -> dict[str, Job]:
    jobs = Job.objects.filter(kind=kind, target_id__in=targets)
    return {job.target_id: job for job in jobs.order_by("pk")}


def find_failing_webhooks(track: Track) -> list[FailingWebhook]:
    """Return the webhooks with calls that were given up."""
    given_up = Q(deliveries__state=Delivery.State.GIVEN_UP)
    silent = track.webhooks.annotate(calls=Count("deliveries", filter=given_up)).filter(calls__gt=0)
    return [FailingWebhook(webhook, webhook.calls, _last_given_up(webhook)) for webhook in silent]


def _last_given_up(webhook: Webhook) -> Delivery:
    return webhook.deliveries.filter(state=Delivery.State.GIVEN_UP)[0]


def _rescoring(track: Track) -> list[tuple[Edition, Job]]:
    editions = {
        str(edition.pk): edition for edition in track.editions.select_related("judgment_set")
    }
    kinds = ("build_edition", "score_again")
    jobs = Job.objects.open().filter(kind__in=kinds, target_id__in=editions)
    return [(editions[job.target_id], job) for job in jobs]


def _find_trial(track: Track) -> Edition | None:
    edition = find_trial_edition(track)
    return edition if edition is not None and edition.state == Edition.State.READY else None


def _little_judged(board: Board | None) -> list[Standing]:
    """Return the runs with a low Judged@10, the lowest first."""
    standings = board.standings if board is not None else []
    found = [standing for standing in standings if _judged(standing) < WELL_JUDGED]
    return sorted(found, key=_judged)


def _judged(standing: Standing) -> float:
    """Return the Judged@10 of a run, which organisers always see."""
    return standing.judged_at_10 or 0.0


def _teams(track: Track) -> list[tuple[Team, Quota]]:
    """Return every team with its remaining quota, or nothing if the track has no quota."""
    if track.quota_per_day is None and track.quota_total is None:
        return []
    teams = _competing_teams(track)
    quotas = find_quotas([(track, team) for team in teams])
    return [(team, quotas[track.pk, team.pk]) for team in teams]


def _pseudonyms(track: Track) -> list[Participation]:
    competing = track.participations.filter(team__of_organisers=False)
    return list(competing.select_related("team").order_by("team__name"))


def _competing_teams(track: Track) -> list[Team]:
    teams = track.benchmark.teams.filter(of_organisers=False)
    return list(teams.order_by("name"))


def _queue() -> Queue:
    return Queue(
        waiting=Job.objects.filter(state=Job.State.QUEUED).count(),
        running=Job.objects.filter(state=Job.State.RUNNING).count(),
        workers=list(Worker.objects.order_by("-last_seen")[:LATEST_WORKERS]),
        alive=Worker.objects.alive().count(),
    )
