"""Who is told what: notices for teams, and calls for the webhooks of a track.

A notice says no more than its reader may see: on a blind track a scored run is a valid one.
"""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from django.utils import timezone

from leaderboard.models import Delivery, Job, Notice, Run, Track
from leaderboard.models.notices import Happening


def run_refused(run: Run, errors: int) -> None:
    words = "1 error" if errors == 1 else f"{errors:,} errors"
    notify_team(run, f"{run} was refused: {words}. The page says how to mend each.")
    call(run.track, Happening.RUN_REFUSED, about(run))


def run_accepted(run: Run, scored: bool) -> None:
    """Of a checked run; `scored` where it stands in the edition of the board."""
    shows = scored and run.track.shows_scores
    notify_team(run, f"{run} is scored." if shows else f"{run} is valid.")
    if scored:
        call(run.track, Happening.RUN_SCORED, about(run))


def runs_scored(track: Track, runs: list[Run]) -> None:
    """Of runs that waited for judgments."""
    for run in runs:
        if track.shows_scores:
            notify_team(run, f"{run} is scored.")
        call(track, Happening.RUN_SCORED, about(run))


def released(track: Track) -> None:
    """The scores of a blind track show from now on: everybody who takes part learns it."""
    address = reverse("board", args=[track.slug])
    text = f"The scores of {track} are released."
    Notice.objects.bulk_create(
        Notice(user_id=user, track=track, text=text, address=address)
        for user in track.memberships.values_list("user", flat=True)
    )
    call(track, Happening.RELEASED, {})


def notify_team(run: Run, text: str) -> None:
    address = reverse("run", args=[run.pk])
    users = run.team.memberships.values_list("user", flat=True)
    Notice.objects.bulk_create(
        Notice(user_id=user, track=run.track, text=text[:300], address=address) for user in users
    )


def about(run: Run) -> dict[str, Any]:
    """No score is in it: who may see those asks the API with a token."""
    return {"run": {"id": run.pk, "tag": run.tag, "team": run.team.name}}


def call(track: Track, happening: Happening, more: dict[str, Any]) -> None:
    """Queue a call for every webhook of the track that wants to hear of this."""
    body = {"event": happening, "track": track.slug, "at": timezone.now().isoformat(), **more}
    for webhook in track.webhooks.all():
        if happening in webhook.happenings:
            delivery = Delivery.objects.create(webhook=webhook, happening=happening, body=body)
            Job.objects.enqueue("deliver", delivery)
