"""Notifications: notices to users, email and webhook calls.

A notice reveals only what its reader may see: on a blind track a scored run is called valid.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.db.models import Count, QuerySet
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone

from leaderboard.display.numbers import anywhere_on_earth, counted
from leaderboard.display.phases import phase_of
from leaderboard.models import (
    Announcement,
    Assessor,
    AuditEvent,
    Benchmark,
    Delivery,
    Digest,
    Edition,
    Grant,
    Job,
    JoinRequest,
    JudgmentSet,
    Mail,
    Message,
    Notice,
    Participation,
    Question,
    Run,
    SystemVersion,
    Team,
    Track,
    User,
    Webhook,
)
from leaderboard.models.notices import WebhookEvent, WebhookFormat
from leaderboard.notifications.email import count_by_email
from leaderboard.sight.tracks import TrackSight

# The longest text of a notice.
LONGEST_NOTICE = 300


@dataclass(frozen=True)
class Readers:
    """Whom an announcement reaches: people, their teams, and those who get it by email too."""

    people: int
    teams: int
    by_email: int


def count_readers(track: Track) -> Readers:
    """Count who gets an announcement of a track."""
    members = track.benchmark.memberships.all()
    counts = members.aggregate(people=Count("user"), teams=Count("team", distinct=True))
    return Readers(**counts, by_email=count_by_email(members.values("user")))


def notify_run_rejected(run: Run, errors: int) -> None:
    """Notify a team that its run was rejected."""
    words = counted(errors, "error")
    text = f"{run} was rejected: {words}. Open it to see the fixes."
    notify_team(run, text, is_urgent=True)
    enqueue_run_webhooks(
        run, WebhookEvent.RUN_REFUSED, f"{run} of {run.team} was rejected: {words}."
    )


def notify_run_accepted(run: Run, scored: bool, comparison: str = "") -> None:
    """Notify a team that its run was accepted; `scored` if the board's edition includes it.

    `comparison` says how it scored against another run, for tracks that show every score.
    """
    shows = scored and run.track.shows_means
    shows_scores = TrackSight.of_members(run.track, run.team.memberships.all()).can_see_scores
    comparison = comparison if shows_scores else ""
    notify_team(run, comparison or f"{run} was scored." if shows else f"{run} is valid.")
    if scored:
        text = comparison or f"{run} of {run.team} was scored."
        enqueue_run_webhooks(run, WebhookEvent.RUN_SCORED, text)


def notify_runs_scored(track: Track, runs: list[Run]) -> None:
    """Notify teams that runs which waited for judgments are scored."""
    for run in runs:
        if track.shows_means:
            notify_team(run, f"{run} is scored.")
        enqueue_run_webhooks(run, WebhookEvent.RUN_SCORED, f"{run} of {run.team} was scored.")


def notify_rescored(track: Track, judgments: JudgmentSet, runs: int, changed: int) -> None:
    """Notify the organisers that scores were computed again, and how many changed."""
    result = f"{changed:,} changed" if changed else "no scores changed"
    text = f"{counted(runs, 'run')} in {track} rescored with judgments {judgments}: {result}."
    _notify_organisers(track, text, reverse("desk", args=[track.address]))


def notify_released(track: Track) -> None:
    """Notify all members that the scores of a track are released."""
    address = reverse("board", args=[track.address])
    # The release was written by a conditional update, which leaves the object as it was.
    track.refresh_from_db(fields=["released_at"])
    text = f"The scores of {track} are out. {phase_of(track)}"
    _notify_members(track, text, address, is_urgent=True)
    enqueue_webhooks(track, WebhookEvent.RELEASED, {}, text, address)


def notify_deadline_changed(track: Track) -> None:
    """Notify all members of a new deadline, or that there is none."""
    text = f"The deadline of {track} has changed. {phase_of(track)}"
    address = reverse("overview", args=[track.address])
    _notify_members(track, text, address, is_urgent=True)


def notify_board_judgments_changed(track: Track, edition: Edition, is_first: bool = False) -> None:
    """Notify all members who see the board that its judgments changed.

    The first judgments need no notice: each team is notified of its scored runs.
    """
    version = edition.judgment_set.version
    text = f"The board of {track} now uses judgments {version}."
    address = reverse("board", args=[track.address])
    if track.shows_means and not is_first:
        _notify_members(track, text, address)
    enqueue_webhooks(track, WebhookEvent.JUDGED, {"judgments": version}, text, address)


def count_notified_of_judgments(track: Track) -> int:
    """Return how many members are notified when the board changes to other judgments."""
    return track.benchmark.memberships.count() if track.edition_id and track.shows_means else 0


def notify_trial_scored(track: Track, edition: Edition) -> None:
    """Notify the organisers that every run is scored with new judgments, before the board is."""
    version = edition.judgment_set.version
    text = f"All runs in {track} are scored with judgments {version}. See what changes."
    _notify_organisers(track, text, reverse("impact", args=[track.address, version]))


def notify_webhook_switched_off(webhook: Webhook) -> None:
    """Notify the organisers that a failing webhook was switched off."""
    track = webhook.track
    host = urlsplit(webhook.url).hostname or webhook.url
    text = f"The webhook to {host} failed for a day and is switched off in {track}."
    _notify_organisers(track, text, reverse("webhooks", args=[track.address]))


def notify_join_requested(request: JoinRequest) -> None:
    """Notify the organisers that a user asked to join."""
    benchmark = request.benchmark
    text = f"{request.user} asked to join {benchmark} as {request.team_name}."
    organisers = benchmark.organisers().values_list("pk", flat=True)
    _notify_of(benchmark, organisers, text, "people", "people")


def notify_appointed(benchmark: Benchmark, user: User) -> None:
    """Notify a user who was made an organiser."""
    text = f"You now organise {benchmark}."
    _notify_of(benchmark, [user.pk], text, "desk", "benchmark_home")


def notify_join_answered(request: JoinRequest, approved: bool) -> None:
    """Notify a user whether the request to join was approved."""
    words = "You joined" if approved else "The organisers declined your request to join"
    text = f"{words} {request.benchmark}."
    _notify_of(request.benchmark, [request.user_id], text, "board", "benchmark_home")


def notify_name_taken(request: JoinRequest) -> None:
    """Notify a user that another team has the requested name."""
    benchmark = request.benchmark
    text = f"The name {request.team_name} is taken in {benchmark}. Choose another."
    _notify_of(benchmark, [request.user_id], text, "join", "join")


def _notify_of(
    benchmark: Benchmark, users: Iterable[int], text: str, page: str, page_of_several: str
) -> None:
    """Notify users of a benchmark: on the page of its only track, or on that of the benchmark."""
    first, several = benchmark.first_track, benchmark.has_several_tracks
    page, home = (page_of_several, benchmark.slug) if several else (page, first.address)
    _notify(users, first, text, reverse(page, args=[home]), is_urgent=True)


def notify_announced(announcement: Announcement) -> None:
    """Notify all members of an announcement; the page has the end of a long one."""
    track = announcement.track
    text = f"{track}: {announcement.text}"
    if len(text) > LONGEST_NOTICE:
        text = f"{text[: LONGEST_NOTICE - 2]} …"
    address = f"{reverse('overview', args=[track.address])}#announcement-{announcement.pk}"
    _notify_members(track, text, address, is_urgent=True)


def notify_asked(question: Question) -> None:
    """Notify the organisers of a question; the page has its words."""
    benchmark = question.benchmark
    text = f"There is a new question about {benchmark}."
    _notify_of_question(question, benchmark.organisers().values_list("pk", flat=True), text)


def notify_answered(question: Question) -> None:
    """Notify who asked that there is an answer."""
    if question.user_id is not None:
        text = f"Your question about {question.benchmark} is answered."
        _notify_of_question(question, [question.user_id], text)


def _notify_of_question(question: Question, users: Iterable[int], text: str) -> None:
    address = f"{reverse('questions', args=[question.benchmark.slug])}#question-{question.pk}"
    _notify(users, question.benchmark.first_track, text, address)


def notify_granted(grant: Grant) -> None:
    """Notify a team that it may submit more runs."""
    team, track, runs = grant.team, grant.track, counted(grant.runs, "run")
    text = f"{team} can submit {runs} more {'today' if grant.day else 'in total'} to {track}."
    members = team.memberships.values_list("user", flat=True)
    _notify(members, track, text, reverse("submit", args=[track.address]), is_urgent=True)


def notify_extended(own: Participation) -> None:
    """Notify a team of its later deadline, or that this deadline has been removed."""
    team, track = own.team, own.track
    told = str(phase_of(track, team=team).lead)
    text = f"{team} has the deadline of all teams on {track} again. {told}"
    if own.closes_at is not None:
        reason = own.extension_reason
        text = f"{team} has a later deadline on {track}, for this reason: {reason}. {told}"
    members = team.memberships.values_list("user", flat=True)
    _notify(members, track, text, reverse("submit", args=[track.address]), is_urgent=True)


def notify_topics_assigned(assessor: Assessor, num_topics: int) -> None:
    """Notify an assessor of new topics to judge."""
    track = assessor.assessment.track
    if assessor.user_id is not None:
        text = f"You have {counted(num_topics, 'new topic')} to judge in {track}."
        _notify([assessor.user_id], track, text, reverse("my_judging"))


def notify_assessor_finished(assessor: Assessor) -> None:
    """Notify the organisers that an assessor has finished every topic."""
    assessment = assessor.assessment
    track = assessment.track
    address = reverse("assessment", args=[track.address, assessment.name])
    _notify_organisers(track, f"{assessor} has judged every topic given in {track}.", address)


def notify_version_done(version: SystemVersion, comparison: str) -> None:
    """Notify a team that all runs of a version are done, and how it compares with main.

    `comparison` counts only what every member of the team may see.
    """
    runs = list(version.runs.filter(withdrawn_at=None).select_related("track"))
    if not runs:
        return
    system = version.system
    rejected = sum(run.state in (Run.State.REFUSED, Run.State.FAILED) for run in runs)
    done = f"{counted(len(runs), 'run')} of {version} done"
    text = comparison or (f"{done}, {rejected} rejected." if rejected else f"{done}, all accepted.")
    address = reverse("benchmark_system", args=[system.benchmark.slug, system.pk])
    users = system.team.memberships.values_list("user", flat=True)
    _notify(users, runs[0].track, text, address)
    body = {"benchmark": system.benchmark.slug, "system": system.name, "version": version.label}
    called: set[str] = set()
    for track in {run.track_id: run.track for run in runs}.values():
        webhooks = track.webhooks.exclude(url__in=called)
        called.update(webhooks.values_list("url", flat=True))
        enqueue_webhooks(track, WebhookEvent.VERSION_SCORED, body, text, address, webhooks)


def notify_team(run: Run, text: str, *, is_urgent: bool = False) -> None:
    """Notify the members of the team of a run."""
    members = run.team.memberships.values_list("user", flat=True)
    _notify(members, run.track, text, reverse("run", args=[run.pk]), is_urgent=is_urgent)


def _notify_members(track: Track, text: str, address: str, *, is_urgent: bool = False) -> None:
    members = track.benchmark.memberships.values_list("user", flat=True)
    _notify(members, track, text, address, is_urgent=is_urgent)


def _notify_organisers(track: Track, text: str, address: str) -> None:
    _notify(track.organisers().values_list("pk", flat=True), track, text, address)


def notify_written(message: Message, users: Iterable[int]) -> None:
    """Notify the people to whom an organiser wrote."""
    benchmark = message.benchmark
    address = reverse("message", args=[benchmark.slug, message.pk])
    text = f"{benchmark}: {message.subject}"
    track = benchmark.first_track
    _notify(users, track, text, address, is_urgent=message.is_urgent, message=message)


def notify_deadline_near(team: Team, tracks: Sequence[Track], closes_at: datetime) -> None:
    """Remind the members of a team without a run on these tracks of their deadline."""
    names = ", ".join(str(track) for track in tracks)
    text = f"Runs to {names} close {anywhere_on_earth(closes_at)}. {team} has no run there yet."
    address = reverse("submit", args=[tracks[0].address])
    members = team.memberships.values_list("user", flat=True)
    _notify(members, tracks[0], text, address, is_urgent=True)


def _notify(
    users: Iterable[int],
    track: Track,
    text: str,
    address: str,
    *,
    is_urgent: bool = False,
    message: Message | None = None,
) -> None:
    """Notify users; an urgent notice is emailed at once, another with the digest of the day."""
    notices = Notice.objects.bulk_create(
        Notice(
            user_id=user, track=track, text=text[:LONGEST_NOTICE], address=address, message=message
        )
        for user in users
    )
    if settings.EMAIL_HOST:
        (Mail if is_urgent else Digest).objects.enqueue(notices)


def enqueue_run_webhooks(run: Run, event: WebhookEvent, text: str) -> None:
    """Enqueue calls about a run; their JSON has no scores, since those need a token."""
    details = {"run": {"id": run.pk, "tag": run.tag, "team": run.team.name}}
    enqueue_webhooks(run.track, event, details, text, reverse("run", args=[run.pk]))


def enqueue_webhooks(
    track: Track,
    event: WebhookEvent,
    details: dict[str, Any],
    text: str,
    address: str,
    webhooks: QuerySet[Webhook] | None = None,
) -> None:
    """Enqueue a call to every active webhook of the track that subscribes to the event."""
    webhooks = track.webhooks.all() if webhooks is None else webhooks
    body = {"event": event, "track": track.slug, "at": timezone.now().isoformat(), **details}
    bodies = {
        WebhookFormat.JSON: body,
        WebhookFormat.SLACK: {"text": f"{escape_slack(text)}\n{settings.SITE_URL}{address}"},
    }
    for webhook in webhooks.filter(switched_off_at=None):
        if event in webhook.happenings:
            sent = bodies[webhook.format]
            delivery = Delivery.objects.create(webhook=webhook, happening=event, body=sent)
            Job.objects.enqueue("deliver", delivery)


def escape_slack(text: str) -> str:
    """Return text in which Slack finds no link and no mention.

    >>> escape_slack("<!channel> R&D")
    '&lt;!channel&gt; R&amp;D'
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def mark_read(notices: QuerySet[Notice]) -> None:
    """Mark notices as read by their reader."""
    notices.update(read_at=Now())


@transaction.atomic
def announce(track: Track, user: User, text: str) -> Announcement:
    """Publish an announcement on the pages of a track and notify all members."""
    announcement = track.announcements.create(text=text, created_by=user)
    AuditEvent.objects.record(user, "announce", announcement, after={"text": text})
    notify_announced(announcement)
    return announcement
