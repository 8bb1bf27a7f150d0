"""The organiser's desk: what waits on a track, what broke, and what looks odd."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Model, QuerySet

from leaderboard.breakdowns.summaries import JudgedTopic, judged_topics
from leaderboard.breakdowns.topic_map import FEWEST_RUNS, MappedTopic, topic_map
from leaderboard.disclosure import Sight
from leaderboard.models import Edition, Job, JudgmentSet, Pool, Run, Team, Track, Worker
from leaderboard.models.collections import ImportState
from leaderboard.quotas import Quota, quotas_of
from leaderboard.repeats import Alike, alike_across_teams
from leaderboard.standings import Board, Standing, find_board

# A topic with a larger share of relevant documents tells no runs apart.
MOSTLY_RELEVANT = 0.6
# Of a run with less of its first ten judged, the scores say little.
WELL_JUDGED = 0.5
LATEST_WORKERS = 8


KINDS = {
    "check_run": "Reading and scoring the run",
    "build_edition": "Scoring all runs anew:",
    "compare": "Comparing the runs:",
    "gather_pool": "Gathering the pool",
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
    """An edition that is being built; `job` is None where none is open."""

    edition: Edition
    job: Job | None


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
    previews: list[JudgmentSet]
    pools: list[Pool]
    num_refused: int
    num_valid: int
    alike: list[Alike]
    little_judged: list[Standing]
    odd_topics: OddTopics
    names: list[Team]
    teams: list[TeamQuota]
    queue: Queue

    @property
    def waits(self) -> bool:
        """Whether anything here asks for an act, or will be done by itself."""
        lists = (self.failed, self.rescoring, self.previews, self.pools)
        return any(lists) or bool(self.num_refused or self.num_valid or self.release_waits)


def desk_of(sight: Sight) -> Desk:
    """Everything on the desk of a track; for its organisers."""
    track = sight.track
    board = find_board(sight)
    return Desk(
        release_waits=track.planned_release is not None and not track.takes_runs(),
        failed=failed_jobs(track),
        rescoring=_rescoring(track),
        previews=list(track.collection.judgment_sets.filter(state=ImportState.PREVIEW)),
        pools=list(track.pools.filter(state=Pool.State.PROPOSED)),
        num_refused=track.runs.filter(state=Run.State.REFUSED).count(),
        num_valid=track.runs.in_good_standing().filter(state=Run.State.VALID).count(),
        alike=alike_across_teams(track.runs.in_good_standing().accepted().select_related("team")),
        little_judged=_little_judged(board),
        odd_topics=odd_topics(board),
        names=_contenders(track) if track.hides_names else [],
        teams=_teams(track),
        queue=_queue(),
    )


def failed_jobs(track: Track) -> list[FailedJob]:
    """The latest job of each piece of work of a track, where it failed."""
    rows: dict[str, QuerySet] = {
        "check_run": track.runs.filter(state=Run.State.FAILED),
        "build_edition": track.editions.filter(state=Edition.State.BUILDING),
        "compare": track.editions.filter(pk=track.edition_id),
        "gather_pool": track.pools.filter(state=Pool.State.FAILED),
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


def _rescoring(track: Track) -> list[Rescoring]:
    building = track.editions.filter(state=Edition.State.BUILDING).select_related("judgment_set")
    editions = {str(edition.pk): edition for edition in building}
    jobs = Job.objects.open().filter(kind="build_edition", target_id__in=editions)
    return [Rescoring(editions[job.target_id], job) for job in jobs]


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
    quotas = quotas_of(teams)
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
