"""What organisers do: confirm a collection, open and change a track, release, withdraw."""

from __future__ import annotations

import secrets
from typing import Any

from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from leaderboard.actions.submission_rules import (
    NotPossible,
)
from leaderboard.jobs import queue
from leaderboard.models import (
    AuditEvent,
    Edition,
    JudgmentSet,
    Run,
    Track,
    User,
    Webhook,
)
from leaderboard.models.tracks import new_invitation
from leaderboard.notifications import notices
from leaderboard.scoring import editions


@transaction.atomic
def open_track(track: Track, user: User) -> Track:
    """Save a new track and score what there is."""
    track.owner = user
    track.save(force_insert=True)
    AuditEvent.objects.record(user, "open", track, after={"slug": track.slug})
    renew_edition(track)
    return track


@transaction.atomic
def change_track(track: Track, user: User, changes: dict[str, Any]) -> Track:
    """Set fields of a track; what changes a value makes new editions: of the board, of a trial.

    A form sends what stays as it is too: nobody is told of that.  Raises NotPossible where a
    setting would show what only a release may.
    """
    _refuse_showing_unreleased(track, changes.get("disclosure", track.disclosure))
    tried, deadline = editions.judgments_on_trial(track), track.closes_at
    after = {name: value for name, value in changes.items() if value != getattr(track, name)}
    before = {name: _plain(getattr(track, name)) for name in after}
    for name, value in after.items():
        setattr(track, name, value)
    if after:
        track.save(update_fields=list(after))
        plain = {name: _plain(value) for name, value in after.items()}
        AuditEvent.objects.record(user, "change", track, before, plain)
    if track.closes_at != deadline:
        notices.notify_deadline_changed(track)
    renew_edition(track)
    if tried is not None and tried != track.judgment_set:
        renew_edition(editions.with_judgments(track, tried))
    return track


def _refuse_showing_unreleased(track: Track, disclosure: str) -> None:
    """The runs of a blind track show by its release: that says before what it shows to whom, and
    tells everybody who takes part."""
    if disclosure == Track.Disclosure.BLIND or track.shows_means:
        return
    if track.runs.not_rejected().exists():
        page = reverse("release", args=[track.slug])
        raise NotPossible(
            "This would reveal all runs of a blind track. Release it instead: "
            f"{page} shows who will see what."
        )


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | list | None) else str(value)


def renew_edition(track: Track) -> None:
    if editions.start_edition(track) is not None:
        transaction.on_commit(queue.ring)


def renew_editions(track: Track) -> None:
    """That of the board, and that of the judgments on trial."""
    renew_edition(track)
    tried = editions.judgments_on_trial(track)
    if tried is not None:
        renew_edition(editions.with_judgments(track, tried))


@transaction.atomic
def score_again(track: Track, user: User) -> None:
    """Compute every value of the board and of a trial anew; both stand meanwhile.

    Raises NotPossible.
    """
    if track.judgment_set is None and editions.judgments_on_trial(track) is None:
        raise NotPossible("There are no judgments to score with yet.")
    AuditEvent.objects.record(user, "score again", track)
    # What is not complete is built; only what is can be computed again.
    renew_editions(track)
    for edition in editions.editions_wanted(track).filter(state=Edition.State.READY):
        queue.enqueue("score_again", edition)


def try_judgments(track: Track, user: User, judgment_set: JudgmentSet) -> None:
    """Score every run of the track with these judgments too; the board stays as it is."""
    with transaction.atomic():
        AuditEvent.objects.record(user, "try", track, after={"judgments": judgment_set.version})
        renew_edition(editions.with_judgments(track, judgment_set))


def choose_baseline(track: Track, user: User, run: Run | None) -> None:
    change_track(track, user, {"baseline": run})
    if track.edition is not None:
        queue.enqueue("compare", track.edition)


def release(track: Track, user: User) -> None:
    """Show everything that the disclosure of the track shows after release; once, and for good."""
    with transaction.atomic():
        if Track.objects.filter(pk=track.pk, released_at=None).update(released_at=timezone.now()):
            AuditEvent.objects.record(user, "release", track)
            notices.notify_released(track)


@transaction.atomic
def renew_invitation(track: Track, user: User) -> None:
    """Another invitation link; the one before lets nobody in from now on."""
    Track.objects.filter(pk=track.pk).update(invitation=new_invitation())
    AuditEvent.objects.record(user, "renew invitation", track)


@transaction.atomic
def renew_badge(track: Track, user: User) -> None:
    """A new address for the badge; the one before leads nowhere from now on."""
    Track.objects.filter(pk=track.pk).update(badge_code=secrets.token_urlsafe(16))
    AuditEvent.objects.record(user, "renew badge", track)


@transaction.atomic
def remove_badge(track: Track, user: User) -> None:
    Track.objects.filter(pk=track.pk).update(badge_code="")
    AuditEvent.objects.record(user, "remove badge", track)


def add_webhook(track: Track, user: User, url: str, happenings: list[str]) -> Webhook:
    """An address to call when one of these happens.  Raises NotPossible."""
    try:
        with transaction.atomic():
            # Of two that are added at once the second one counts the first.
            Track.objects.select_for_update(no_key=True).get(pk=track.pk)
            if track.webhooks.count() >= Webhook.MOST_PER_TRACK:
                most = Webhook.MOST_PER_TRACK
                raise NotPossible(f"A track has up to {most} webhooks. Remove one first.")
            webhook = track.webhooks.create(url=url, happenings=happenings, created_by=user)
            AuditEvent.objects.record(user, "add", webhook, after={"url": url})
            return webhook
    except IntegrityError:
        raise NotPossible("This webhook already exists.") from None


def remove_webhook(track: Track, user: User, webhook_id: int) -> None:
    with transaction.atomic():
        for webhook in track.webhooks.filter(pk=webhook_id):
            AuditEvent.objects.record(user, "remove", webhook, before={"url": webhook.url})
            webhook.delete()


def switch_on_webhook(track: Track, user: User, webhook_id: int) -> None:
    """Call a webhook again that was switched off."""
    with transaction.atomic():
        for webhook in track.webhooks.filter(pk=webhook_id):
            if webhook.switch_on():
                AuditEvent.objects.record(user, "switch on", webhook, after={"url": webhook.url})


def _compare_again(track: Track) -> None:
    if track.edition is not None:
        queue.enqueue("compare", track.edition)
