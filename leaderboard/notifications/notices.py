"""Notifications: notices to teams, email and webhook calls.

A notice says no more than its reader may see: on a blind track a scored run is a valid one.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from leaderboard.display.numbers import counted
from leaderboard.models import (
    Announcement,
    AuditEvent,
    Delivery,
    Edition,
    Grant,
    Job,
    JoinRequest,
    JudgmentSet,
    Mail,
    Notice,
    Run,
    Track,
    User,
    Webhook,
)
from leaderboard.models.notices import Happening
from leaderboard.notifications import notices


def run_refused(run: Run, errors: int) -> None:
    words = counted(errors, "error")
    notify_team(run, f"{run} was rejected: {words}. Open it to see the fixes.")
    call(run.track, Happening.RUN_REFUSED, about(run))


def run_accepted(run: Run, scored: bool) -> None:
    """Of a checked run; `scored` where it stands in the edition of the board."""
    shows = scored and run.track.shows_means
    notify_team(run, f"{run} was scored." if shows else f"{run} is valid.")
    if scored:
        call(run.track, Happening.RUN_SCORED, about(run))


def runs_scored(track: Track, runs: list[Run]) -> None:
    """Of runs that waited for judgments."""
    for run in runs:
        if track.shows_means:
            notify_team(run, f"{run} is scored.")
        call(track, Happening.RUN_SCORED, about(run))


def scored_again(track: Track, judgments: JudgmentSet, runs: int, changed: int) -> None:
    """Of values computed anew: the organisers learn whether any is another."""
    result = f"{changed:,} changed" if changed else "no scores changed"
    text = f"{counted(runs, 'run')} in {track} rescored with judgments {judgments}: {result}."
    _notify_organisers(track, text, reverse("desk", args=[track.slug]))


def released(track: Track) -> None:
    """The scores of a blind track show from now on: everybody who takes part learns it."""
    address = reverse("board", args=[track.slug])
    text = f"Scores for {track} are released."
    _notify_members(track, text, address)
    call(track, Happening.RELEASED, {})


def deadline_moved(track: Track) -> None:
    """Whoever takes part learns until when runs are taken now."""
    text = f"{track} no longer has a deadline."
    if track.closes_at is not None:
        text = f"{track} now closes on {track.closes_at.astimezone(UTC):%d %b %Y, %H:%M} UTC."
    address = reverse("about", args=[track.slug])
    _notify_members(track, text, address)


def judged(track: Track, edition: Edition, before: Edition | None) -> None:
    """The board has become one of other judgments: whoever may see it learns that it changed.

    Of the first ones every team is told by its runs, which are scored with them.
    """
    version = edition.judgment_set.version
    if before is not None and track.shows_means:
        text = f"The board of {track} now uses judgments {version}."
        address = reverse("board", args=[track.slug])
        _notify_members(track, text, address)
    call(track, Happening.JUDGED, {"judgments": version})


def judgments_tried(track: Track, edition: Edition) -> None:
    """Every run is scored in the edition; its organisers may look, and switch the board."""
    version = edition.judgment_set.version
    text = f"All runs in {track} are scored with judgments {version}. See what changes."
    _notify_organisers(track, text, reverse("impact", args=[track.slug, version]))


def webhook_switched_off(webhook: Webhook) -> None:
    track = webhook.track
    host = urlsplit(webhook.url).hostname or webhook.url
    text = f"The webhook to {host} failed for a day and is switched off in {track}."
    _notify_organisers(track, text, reverse("webhooks", args=[track.slug]))


def asked_to_join(request: JoinRequest) -> None:
    track = request.track
    text = f"{request.user} asked to join {track} as {request.team_name}."
    _notify_organisers(track, text, reverse("manage", args=[track.slug]))


def appointed(track: Track, user: User) -> None:
    """Of somebody who organises a track from now on."""
    _notify([user.pk], track, f"You now organise {track}.", reverse("desk", args=[track.slug]))


def answered_to_join(request: JoinRequest, approved: bool) -> None:
    track = request.track
    words = "You joined" if approved else "The organisers declined your request to join"
    _notify([request.user_id], track, f"{words} {track}.", reverse("board", args=[track.slug]))


def name_taken(request: JoinRequest) -> None:
    """Another team got the name first: the request waits for another one."""
    track = request.track
    text = f"The name {request.team_name} is taken in {track}. Choose another."
    _notify([request.user_id], track, text, reverse("join", args=[track.slug]))


def announced(announcement: Announcement) -> None:
    track = announcement.track
    _notify_members(track, f"{track}: {announcement.text}", reverse("about", args=[track.slug]))


def granted(grant: Grant) -> None:
    team, runs = grant.team, counted(grant.runs, "run")
    text = f"{team} can submit {runs} more {'today' if grant.day else 'in total'} to {team.track}."
    members = team.memberships.values_list("user", flat=True)
    _notify(members, team.track, text, reverse("submit", args=[team.track.slug]))


def notify_team(run: Run, text: str) -> None:
    address = reverse("run", args=[run.pk])
    _notify(run.team.memberships.values_list("user", flat=True), run.track, text, address)


def _notify_members(track: Track, text: str, address: str) -> None:
    _notify(track.memberships.values_list("user", flat=True), track, text, address)


def _notify_organisers(track: Track, text: str, address: str) -> None:
    _notify(track.organisers().values_list("pk", flat=True), track, text, address)


def _notify(users: Iterable[int], track: Track, text: str, address: str) -> None:
    notices = Notice.objects.bulk_create(
        Notice(user_id=user, track=track, text=text[:300], address=address) for user in users
    )
    if settings.EMAIL_HOST:
        Mail.objects.post(notices)


def about(run: Run) -> dict[str, Any]:
    """No score is in it: who may see those asks the API with a token."""
    return {"run": {"id": run.pk, "tag": run.tag, "team": run.team.name}}


def call(track: Track, happening: Happening, more: dict[str, Any]) -> None:
    """Queue a call for every webhook of the track that wants to hear of this and is on."""
    body = {"event": happening, "track": track.slug, "at": timezone.now().isoformat(), **more}
    for webhook in track.webhooks.filter(switched_off_at=None):
        if happening in webhook.happenings:
            delivery = Delivery.objects.create(webhook=webhook, happening=happening, body=body)
            Job.objects.enqueue("deliver", delivery)


@transaction.atomic
def announce(track: Track, user: User, text: str) -> Announcement:
    """It stands on the pages of the track, and whoever takes part gets a notice."""
    announcement = track.announcements.create(text=text, created_by=user)
    AuditEvent.objects.record(user, "announce", announcement, after={"text": text})
    notices.announced(announcement)
    return announcement
