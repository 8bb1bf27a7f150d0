"""Open, change, score and release a track, and manage its badge and webhooks."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from evaluation.answers.any_measure import is_of_rankings
from leaderboard.actions.lone_tracks import make_own_benchmark
from leaderboard.actions.names import unused_slug
from leaderboard.actions.people import get_or_create_organisers_team
from leaderboard.actions.refusals import ActionError
from leaderboard.actions.track_settings import SHARED_DATES, find_shared_date, with_changes
from leaderboard.assessments.samples import explain_unchecked
from leaderboard.infrastructure.whole_numbers import next_name
from leaderboard.jobs import queue
from leaderboard.jobs.erasure import erase_track
from leaderboard.models import (
    AuditEvent,
    Benchmark,
    Collection,
    Edition,
    Job,
    JudgmentSet,
    MarkLayer,
    Run,
    Track,
    User,
    Webhook,
)
from leaderboard.models.collections import MOST_INDEXED
from leaderboard.models.notices import WebhookFormat
from leaderboard.models.nuggets import SETTING_OF
from leaderboard.notifications import notices
from leaderboard.scoring import editions
from leaderboard.scoring.answer_marks import find_marks
from leaderboard.scoring.judgments import explain_first_missing
from leaderboard.scoring.kinds import kind_of

# Changes of these can make a board public, or put other judgments on a public one.
CHECKED_WITH = {"judgment_set", "visibility", "disclosure", "is_draft"}


# What a board of answers is measured by first, by the setting that names the layer.
FIRST_MEASURES = {"assignments": "Nuggets", "support": "SupportP"}


@transaction.atomic
def open_track(track: Track, user: User, **rules: Any) -> Track:
    """Save a new track and queue its scoring.

    Without a benchmark it gets its own with these rules. Raises ActionError for measures that its
    judgments cannot give.
    """
    return _save_new(track, user, "open", rules)


@transaction.atomic
def create_draft(track: Track, user: User, **rules: Any) -> Track:
    """Save a new track that only organisers see until they open it; raises as `open_track`."""
    track.is_draft = True
    return _save_new(track, user, "create", rules)


def _save_new(track: Track, user: User, act: str, rules: Mapping[str, Any]) -> Track:
    _refuse_missing_judgments(track, track.measures, track.judgment_set)
    _refuse_unchecked(track)
    if track.benchmark_id is None:
        track.benchmark = make_own_benchmark(track, user, **rules)
    for name in SHARED_DATES:
        if getattr(track, name) is None:
            setattr(track, name, find_shared_date(track, name))
    track.save(force_insert=True)
    _renew_address(track)
    AuditEvent.objects.record(user, act, track, after={"slug": track.slug})
    renew_edition(track)
    return track


def _renew_address(track: Track) -> None:
    track.benchmark.renew_addresses()
    track.refresh_from_db(fields=["address"])


def open_draft(track: Track, user: User) -> None:
    """Show a draft to everyone who may see the track.

    Raises ActionError for a public board by a machine that people have not checked.
    """
    _refuse_unchecked(with_changes(track, {"is_draft": False}))
    with transaction.atomic():
        if Track.objects.filter(pk=track.pk, is_draft=True).update(is_draft=False):
            AuditEvent.objects.record(user, "open", track)


@transaction.atomic
def delete_draft(track: Track, user: User) -> None:
    """Delete a track that never opened, with its runs; its collection stays."""
    AuditEvent.objects.record(user, "delete", track, before={"slug": track.slug})
    erase_track(track)


def make_baseline(track: Track, user: User) -> None:
    """Queue a baseline run by BM25.

    Raises ActionError without documents, with too many, or where runs are no rankings.
    """
    if not kind_of(track).takes_rankings:
        raise ActionError("BM25 ranks documents. Upload a run of this track as the baseline.")
    if not track.collection.is_searchable:
        raise ActionError(
            f"A baseline can be made from up to {MOST_INDEXED:,} documents on this site. "
            "Upload a run instead."
        )
    with transaction.atomic():
        if not Job.objects.of("make_baseline", track).open().exists():
            get_or_create_organisers_team(track.benchmark)
            AuditEvent.objects.record(user, "make baseline", track)
            queue.enqueue("make_baseline", track)


@transaction.atomic
def change_track(
    track: Track,
    user: User,
    changes: Mapping[str, Any],
    act: str = "change",
    rules: Mapping[str, Any] = MappingProxyType({}),
) -> Track:
    """Change fields of a track; a change that affects scores makes new editions.

    `rules` are those of its benchmark, which has no other track. Unchanged fields, which a form
    also sends, are ignored.  Raises ActionError if a setting would reveal what only a release may,
    or if the judgments cannot give a measure.
    """
    _refuse_showing_unreleased(track, changes.get("disclosure", track.disclosure))
    tried, deadline = editions.find_trial_judgments(track), track.closes_at
    after = {name: value for name, value in changes.items() if value != getattr(track, name)}
    if track.judgment_set is None and any(after.get(setting) for setting in FIRST_MEASURES):
        after.setdefault("judgment_set", _find_judgments_of_no_document(track.collection, user))
    if {"measures", "judgment_set"} & after.keys():
        measures = after.get("measures", track.measures)
        judgment_set = after.get("judgment_set", track.judgment_set)
        _refuse_missing_judgments(track, measures, judgment_set)
    if CHECKED_WITH & after.keys():
        _refuse_unchecked(with_changes(track, after))
    Track.objects.filter(pk=track.pk, has_moved_dates=True).update(has_moved_dates=False)
    for name in SHARED_DATES.keys() & after.keys():
        _share_date(track, user, name, after[name])
    former = track.slug
    save_changes(track, user, after, act)
    if "slug" in after:
        _rename_benchmark(track)
        Track.objects.filter(benchmark=track.benchmark, systems=former).update(systems=track.slug)
    _change_rules(track.benchmark, user, rules)
    if track.closes_at != deadline:
        notices.notify_deadline_changed(track)
    renew_edition(track)
    if tried is not None and tried != track.judgment_set:
        renew_edition(editions.with_judgments(track, tried))
    return track


def _share_date(track: Track, user: User, name: str, date: datetime | None) -> None:
    """Give the other tracks of the collection the same date; each has it in its activity log.

    Raises ActionError for those who do not organise the collection.
    """
    if not track.collection.is_organised_by(user):
        raise ActionError(
            f"Only organisers of the collection can change when its {SHARED_DATES[name]} appear."
        )
    for other in track.collection.tracks.exclude(pk=track.pk):
        save_changes(other, user, {name: date})


def _rename_benchmark(track: Track) -> None:
    """Let the benchmark of a track that is alone have its new short name, if that is free."""
    benchmark = track.benchmark
    if not benchmark.has_several_tracks:
        benchmark.slug = unused_slug(track.slug, Benchmark)
        benchmark.save(update_fields=["slug"])
    _renew_address(track)


def save_changes(
    changed: Track | Benchmark, user: User, changes: Mapping[str, Any], act: str = "change"
) -> None:
    """Save the fields that differ; the activity log has both values."""
    after = {name: value for name, value in changes.items() if value != getattr(changed, name)}
    before = {name: plain_value(getattr(changed, name)) for name in after}
    for name, value in after.items():
        setattr(changed, name, value)
    if after:
        changed.save(update_fields=list(after))
        plain = {name: plain_value(value) for name, value in after.items()}
        AuditEvent.objects.record(user, act, changed, before, plain)


def _change_rules(benchmark: Benchmark, user: User, rules: Mapping[str, Any]) -> None:
    """Change the rules of a benchmark with one track; raises ActionError for that of several."""
    if all(value == getattr(benchmark, name) for name, value in rules.items()):
        return
    if benchmark.has_several_tracks:
        raise ActionError(
            f"Who can join and on which terms is a setting of the benchmark {benchmark}."
        )
    save_changes(benchmark, user, rules)


def _refuse_missing_judgments(
    track: Track, measures: list[str], judgment_set: JudgmentSet | None
) -> None:
    # Judges of answers are measured by marks of people, and rankings of systems by scores.
    if judgment_set is None or not track.reads_judgments:
        return
    if reason := explain_first_missing(measures, judgment_set):
        raise ActionError(f"{reason}. Change the measures of the track or choose other judgments.")


def _refuse_unchecked(track: Track) -> None:
    """Raise ActionError for a public board by a machine that people have not checked enough."""
    is_public = track.visibility == Track.Visibility.PUBLIC and not track.is_draft
    if track.judgment_set is None or not is_public or track.is_blind:
        return
    if reason := explain_unchecked(track.judgment_set):
        raise ActionError(reason)


def _refuse_showing_unreleased(track: Track, disclosure: str) -> None:
    """Raise ActionError if a setting would reveal the runs of a blind track.

    Only a release may do that: it shows beforehand who will see what, and notifies everyone.
    """
    if disclosure == Track.Disclosure.BLIND or not track.is_blind:
        return
    if track.runs.not_rejected().exists():
        page = reverse("release", args=[track.address])
        raise ActionError(
            "This would reveal all runs of a blind track. Release it instead: "
            f"{page} shows who will see what."
        )


def plain_value(value: Any) -> Any:
    """Return a value of a setting as the activity log stores it."""
    return value if isinstance(value, str | int | float | bool | list | None) else str(value)


def renew_edition(track: Track) -> None:
    """Queue the scoring of the edition that the track's settings ask for."""
    if editions.start_edition(track) is not None:
        transaction.on_commit(queue.wake_workers)


def renew_editions(track: Track) -> None:
    """Queue the scoring of the board's edition and of the trial's."""
    renew_edition(track)
    tried = editions.find_trial_judgments(track)
    if tried is not None:
        renew_edition(editions.with_judgments(track, tried))


@transaction.atomic
def rescore_track(track: Track, user: User) -> None:
    """Compute every score of the board and of a trial again, while both stay shown.

    Raises ActionError.
    """
    if track.judgment_set is None and editions.find_trial_judgments(track) is None:
        raise ActionError("There are no judgments to score with yet.")
    AuditEvent.objects.record(user, "score again", track)
    # Incomplete editions are built; only complete ones can be scored again.
    renew_editions(track)
    for edition in editions.find_wanted_editions(track).filter(state=Edition.State.READY):
        queue.enqueue("score_again", edition)


def try_judgments(track: Track, user: User, judgment_set: JudgmentSet) -> None:
    """Score every run of the track with these judgments too; the board does not change.

    Raises ActionError if they cannot give a measure of the track.
    """
    _refuse_missing_judgments(track, track.measures, judgment_set)
    with transaction.atomic():
        AuditEvent.objects.record(user, "try", track, after={"judgments": judgment_set.version})
        renew_edition(editions.with_judgments(track, judgment_set))


@transaction.atomic
def try_layer(track: Track, user: User, layer: MarkLayer) -> None:
    """Score every run of the track by another layer of marks too; the board does not change.

    Raises ActionError while there is no board.
    """
    if track.judgment_set is None:
        raise ActionError("There is no board to compare these marks with yet. Use them on it.")
    AuditEvent.objects.record(user, "try", track, after={"marks": layer.version})
    renew_edition(editions.with_layer(track, layer))


def use_layer(track: Track, user: User, layer: MarkLayer) -> None:
    """Let the measures of a track read this layer.

    A board of rankings that has no such measure gets one, and is ranked by it. Without judgments
    of documents rankings cannot be measured, so only measures of marks stay.
    """
    setting = SETTING_OF[layer.about]
    changes: dict[str, Any] = {setting: layer.version}
    measures = track.measures
    if track.judgment_set is None:
        measures = [text for text in measures if not is_of_rankings(text)]
    if not any(setting in find_marks(text) for text in measures):
        measures = [FIRST_MEASURES[setting], *measures]
    if measures != track.measures:
        changes["measures"] = measures
        if is_of_rankings(track.primary_measure):
            changes["primary_measure"] = measures[0]
    change_track(track, user, changes)


def _find_judgments_of_no_document(collection: Collection, user: User) -> JudgmentSet:
    """Return judgments by which marks alone score answers, made if there are none."""
    versions = collection.judgment_sets
    name = next_name("marks-alone-", versions.values_list("version", flat=True))
    return versions.of_no_document().first() or versions.add_of_no_document(collection, user, name)


def choose_baseline(track: Track, user: User, run: Run | None) -> None:
    """Choose the track's baseline and queue the tests against it."""
    change_track(track, user, {"baseline": run})
    if track.edition is not None:
        queue.enqueue("compare", track.edition)


def release_track(track: Track, user: User) -> None:
    """Release the scores of a track; this cannot be undone.

    Raises ActionError for a public board by a machine that people have not checked.
    """
    _refuse_unchecked(with_changes(track, {"released_at": timezone.now()}))
    with transaction.atomic():
        if Track.objects.filter(pk=track.pk, released_at=None).update(released_at=timezone.now()):
            AuditEvent.objects.record(user, "release", track)
            notices.notify_released(track)


@transaction.atomic
def renew_badge(subject: Track | Benchmark, user: User) -> None:
    """Give the badge of a track or benchmark a new URL; the old one stops working."""
    same = type(subject)._default_manager.filter(pk=subject.pk)
    same.update(badge_code=secrets.token_urlsafe(16))
    AuditEvent.objects.record(user, "renew badge", subject)


@transaction.atomic
def remove_badge(subject: Track | Benchmark, user: User) -> None:
    """Remove the badge of a track or benchmark."""
    type(subject)._default_manager.filter(pk=subject.pk).update(badge_code="")
    AuditEvent.objects.record(user, "remove badge", subject)


def add_webhook(
    track: Track, user: User, url: str, happenings: list[str], format: str = WebhookFormat.JSON
) -> Webhook:
    """Add a URL to call when one of these happens.  Raises ActionError."""
    try:
        with transaction.atomic():
            # The lock makes the second of two concurrent requests count the first.
            Track.objects.select_for_update(no_key=True).get(pk=track.pk)
            if track.webhooks.count() >= Webhook.MOST_PER_TRACK:
                most = Webhook.MOST_PER_TRACK
                raise ActionError(f"A track has up to {most} webhooks. Remove one first.")
            webhook = track.webhooks.create(
                url=url, happenings=happenings, format=format, created_by=user
            )
            AuditEvent.objects.record(user, "add", webhook, after={"url": url})
            return webhook
    except IntegrityError:
        raise ActionError("This webhook already exists.") from None


def remove_webhook(track: Track, user: User, webhook_id: int) -> None:
    """Remove a webhook of the track."""
    with transaction.atomic():
        for webhook in track.webhooks.filter(pk=webhook_id):
            AuditEvent.objects.record(user, "remove", webhook, before={"url": webhook.url})
            webhook.delete()


def switch_on_webhook(track: Track, user: User, webhook_id: int) -> None:
    """Switch a webhook on again."""
    with transaction.atomic():
        for webhook in track.webhooks.filter(pk=webhook_id):
            if webhook.switch_on():
                AuditEvent.objects.record(user, "switch on", webhook, after={"url": webhook.url})


def enqueue_comparison(track: Track) -> None:
    """Queue the tests of the board."""
    if track.edition is not None:
        queue.enqueue("compare", track.edition)
