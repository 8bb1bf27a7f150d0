"""The organiser's desk: what waits on a track, what broke, and what looks odd."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Model, Q, QuerySet

from leaderboard.analysis.summaries import JudgedTopic, judged_topics
from leaderboard.analysis.topic_map import FEWEST_RUNS, MappedTopic, topic_map
from leaderboard.boards.disclosure import Sight
from leaderboard.boards.standings import Board, Standing, find_board
from leaderboard.models import (
    Delivery,
    Edition,
    Job,
    JudgmentSet,
    Pool,
    Run,
    Team,
    Track,
    Webhook,
    Worker,
)
from leaderboard.models.collections import ImportState
from leaderboard.runs.duplicates import SimilarRuns, find_similar_runs
from leaderboard.runs.quotas import Quota, find_quotas
from leaderboard.scoring.editions import tried_edition

# A topic with a larger share of relevant documents tells no runs apart.
MOSTLY_RELEVANT = 0.6
# Of a run with less of its first ten judged, the scores say little.
WELL_JUDGED = 0.5
LATEST_WORKERS = 8

KINDS = {
    "check_run": "Reading and scoring the run",
    "build_edition": "Scoring all runs anew:",
    "try_judgments": "Scoring all runs with the judgments",
    "score_again": "Scoring all runs again:",
    "compare": "Comparing the runs:",
    "gather_pool": "Gathering the pool",
    "check_judgments": "Reading the judgments",
    "import_judgments": "Importing the judgments",
}


@dataclass(frozen=True)
class FailedJob:
    """A job that failed and was not done since, with what it was about."""

    job: Job
    target: Model

    @property
    def what(self) -> str:
        return KINDS[self.job.kind]


@dataclass(frozen=True)
class Rescoring:
    """An edition whose runs are being scored, with how far that is."""

    edition: Edition
    job: Job


@dataclass(frozen=True)
class SilentWebhook:
    """A webhook with calls that were given up, and what was answered last."""

    webhook: Webhook
    calls: int
    latest: Delivery


@dataclass(frozen=True)
class OddTopics:
    """Topics whose judgments deserve a look."""

    empty: list[JudgedTopic]
    mostly_relevant: list[JudgedTopic]
    inverted: list[MappedTopic]

    def __bool__(self) -> bool:
        return bool(self.empty or self.mostly_relevant or self.inverted)


@dataclass(frozen=True)
class TeamQuota:
    team: Team
    quota: Quota


@dataclass(frozen=True)
class Queue:
    """The jobs of the whole installation, and who does them."""

    waiting: int
    running: int
    workers: list[Worker]
    alive: int


@dataclass(frozen=True)
class Desk:
    # It is planned, and no run is taken any more.
    release_waits: bool
    failed: list[FailedJob]
    rescoring: list[Rescoring]
    # Every run is scored in it; the board stays as it is until somebody switches.
    tried: Edition | None
    silent: list[SilentWebhook]
    previews: list[JudgmentSet]
    refused_judgments: list[JudgmentSet]
    pools: list[Pool]
    # What assessors have: their judgments are to come.
    unjudged: list[Pool]
    num_refused: int
    num_valid: int
    alike: list[SimilarRuns]
    little_judged: list[Standing]
    odd_topics: OddTopics
    names: list[Team]
    teams: list[TeamQuota]
    queue: Queue

    @property
    def waits(self) -> bool:
        """Whether anything here asks for an act, or will be done by itself."""
        broken = (self.failed, self.silent, self.refused_judgments)
        lists = (*broken, self.rescoring, self.previews, self.pools, self.unjudged)
        counts = self.num_refused or self.num_valid
        return any(lists) or bool(self.tried or counts or self.release_waits)


def desk_of(sight: Sight) -> Desk:
    """Everything on the desk of a track; for its organisers."""
    track = sight.track
    board = find_board(sight)
    return Desk(
        release_waits=track.planned_release is not None and not track.accepts_runs(),
        failed=failed_jobs(track),
        rescoring=_rescoring(track),
        tried=_tried(track),
        silent=silent_webhooks(track),
        previews=list(track.collection.judgment_sets.filter(state=ImportState.PREVIEW)),
        refused_judgments=list(track.collection.judgment_sets.filter(state=ImportState.REFUSED)),
        pools=list(track.pools.filter(state=Pool.State.PROPOSED)),
        unjudged=list(track.pools.awaiting_judgments()),
        num_refused=track.runs.filter(state=Run.State.REFUSED).count(),
        num_valid=track.runs.not_removed().filter(state=Run.State.VALID).count(),
        alike=find_similar_runs(track.runs.not_removed().accepted().select_related("team")),
        little_judged=_little_judged(board),
        odd_topics=odd_topics(board),
        names=_contenders(track) if track.hides_names else [],
        teams=_teams(track),
        queue=_queue(),
    )


def failed_jobs(track: Track) -> list[FailedJob]:
    """The latest job of each piece of work of a track, where it failed."""
    failed_judgments = track.collection.judgment_sets.filter(state=ImportState.FAILED)
    rows: dict[str, QuerySet] = {
        "check_run": track.runs.filter(state=Run.State.FAILED),
        "build_edition": track.editions.filter(state=Edition.State.BUILDING),
        "try_judgments": track.collection.judgment_sets.filter(state=ImportState.READY),
        "score_again": track.editions.filter(state=Edition.State.READY),
        "compare": track.editions.filter(pk=track.edition_id),
        "gather_pool": track.pools.filter(state=Pool.State.FAILED),
        "check_judgments": failed_judgments,
        "import_judgments": failed_judgments,
    }
    return [
        FailedJob(job, targets[job.target_id])
        for kind, found in rows.items()
        if (targets := {str(each.pk): each for each in found})
        for job in _latest(kind, targets).values()
        if job.state == Job.State.FAILED
    ]


def _latest(kind: str, targets: dict[str, Model]) -> dict[str, Job]:
    jobs = Job.objects.filter(kind=kind, target_id__in=targets)
    return {job.target_id: job for job in jobs.order_by("pk")}


def silent_webhooks(track: Track) -> list[SilentWebhook]:
    """The webhooks that did not answer calls until these were given up."""
    given_up = Q(deliveries__state=Delivery.State.GIVEN_UP)
    silent = track.webhooks.annotate(calls=Count("deliveries", filter=given_up)).filter(calls__gt=0)
    return [SilentWebhook(each, each.calls, _last_given_up(each)) for each in silent]


def _last_given_up(webhook: Webhook) -> Delivery:
    return webhook.deliveries.filter(state=Delivery.State.GIVEN_UP)[0]


def _rescoring(track: Track) -> list[Rescoring]:
    editions = {str(each.pk): each for each in track.editions.select_related("judgment_set")}
    kinds = ("build_edition", "score_again")
    jobs = Job.objects.open().filter(kind__in=kinds, target_id__in=editions)
    return [Rescoring(editions[job.target_id], job) for job in jobs]


def _tried(track: Track) -> Edition | None:
    edition = tried_edition(track)
    return edition if edition is not None and edition.state == Edition.State.READY else None


def _little_judged(board: Board | None) -> list[Standing]:
    """The runs of which most of the first ten was never judged, the least judged first."""
    standings = board.standings if board is not None else []
    found = [each for each in standings if _judged(each) < WELL_JUDGED]
    return sorted(found, key=_judged)


def _judged(standing: Standing) -> float:
    """Organisers always know it."""
    return standing.judged_at_10 or 0.0


def odd_topics(board: Board | None) -> OddTopics:
    if board is None:
        return OddTopics([], [], [])
    topics = judged_topics(board.edition, list(board.edition.track.collection.topics.all()))
    judged = [each for each in topics if each.judged]
    return OddTopics(
        empty=[each for each in judged if not each.relevant],
        mostly_relevant=[each for each in judged if each.relevant > MOSTLY_RELEVANT * each.judged],
        inverted=topic_map(board).inverted if len(board.ranked) >= FEWEST_RUNS else [],
    )


def _teams(track: Track) -> list[TeamQuota]:
    """Every team and what it has left, where the track has a quota."""
    if track.quota_per_day is None and track.quota_total is None:
        return []
    teams = _contenders(track)
    quotas = find_quotas(teams)
    return [TeamQuota(team, quotas[team.pk]) for team in teams]


def _contenders(track: Track) -> list[Team]:
    teams = track.teams.filter(of_organisers=False)
    return list(teams.order_by("name").select_related("track"))


def _queue() -> Queue:
    return Queue(
        waiting=Job.objects.filter(state=Job.State.QUEUED).count(),
        running=Job.objects.filter(state=Job.State.RUNNING).count(),
        workers=list(Worker.objects.order_by("-last_seen")[:LATEST_WORKERS]),
        alive=Worker.objects.alive().count(),
    )
