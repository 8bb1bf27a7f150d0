"""The runs that are not yet on the board, and what they wait for."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Q

from leaderboard.boards.disclosure import Sight
from leaderboard.display.numbers import nth
from leaderboard.models import Job, Run
from leaderboard.models.runs import RunQuerySet

SHOWN = 12


@dataclass(frozen=True)
class WaitingRun:
    run: Run
    state: str
    detail: str
    is_own: bool
    has_place: bool


@dataclass(frozen=True)
class WaitingRuns:
    """The first waiting runs; `more` others are not listed."""

    runs: list[WaitingRun]
    more: int

    @property
    def have_places(self) -> bool:
        """Whether one of them has a place in the queue."""
        return any(run.has_place for run in self.runs)


def find_waiting_runs(sight: Sight) -> WaitingRuns:
    """Return runs not yet on the board, and the reader's own failed ones; newest first."""
    shows_as_valid = [] if sight.can_see_means else ["scored"]
    on_the_way = Q(state__in=["queued", "checking", "scoring", "valid", *shows_as_valid])
    # A rejected file never comes on the board; "My runs" lists it.
    stopped = Q(state="failed", team=sight.team) if sight.team else Q(pk__in=[])
    runs = sight.runs().filter(on_the_way | stopped, withdrawn_at=None, disqualified_at=None)
    first = [sight.with_shown_name(run) for run in _newest(runs)]
    jobs = _jobs_of(first)
    queue = _queue() if any(job.state == Job.State.QUEUED for job in jobs.values()) else []
    places = {run.pk: _place(jobs.get(run.pk), queue) for run in first}
    return WaitingRuns(
        runs=[
            WaitingRun(
                run=run,
                state=sight.state_of(run),
                detail=places[run.pk] or _detail(sight, run),
                is_own=sight.owns(run),
                has_place=places[run.pk] != "",
            )
            for run in first
        ],
        more=runs.count() - len(first) if len(first) == SHOWN else 0,
    )


def _newest(runs: RunQuerySet) -> list[Run]:
    """Return the newest runs; the first check is cheap, and mostly there are none."""
    return list(runs.order_by("-received_at", "pk")[:SHOWN]) if runs.exists() else []


def _jobs_of(runs: list[Run]) -> dict[str, Job]:
    """Return the last job of each run."""
    jobs = Job.objects.filter(kind="check_run", target_id__in=[run.pk for run in runs])
    return {job.target_id: job for job in jobs.order_by("pk")}


def _queue() -> list[int]:
    """Return the ids of all queued jobs in the order in which they will run."""
    queued = Job.objects.filter(state=Job.State.QUEUED).order_by("priority", "pk")
    return list(queued.values_list("pk", flat=True))


def _place(job: Job | None, queue: list[int]) -> str:
    """Return the place of a run in the queue, by its job; empty if it is not there."""
    waits = job is not None and job.pk in queue
    return f"{nth(queue.index(job.pk) + 1)} in the queue" if waits else ""


def _detail(sight: Sight, run: Run) -> str:
    """Return what a valid run waits for; empty otherwise."""
    if sight.state_of(run) != Run.State.VALID:
        return ""
    if not sight.can_see_means:
        return "waits for the release"
    return "waits for its scores" if sight.track.judgment_set_id else "waits for judgments"
