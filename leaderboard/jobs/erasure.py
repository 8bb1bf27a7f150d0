"""What should never have been goes for good: a run, a track, a collection and what stands on it.

Rows go in one transaction; their files belong to nothing then, and are swept.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from django.db import transaction
from django.db.models import QuerySet

from leaderboard.models import Collection, Edition, Job, Pool, Run, Snapshot, Track

log = logging.getLogger(__name__)


@transaction.atomic
def erase_collection(collection: Collection) -> None:
    """Take away a collection, its tracks, and their runs; open jobs of theirs are cancelled."""
    _erase_tracks(Track.objects.filter(collection=collection))
    for kind in ("check_collection", "import_collection"):
        _cancel(kind, [collection.pk])
    for kind in ("check_judgments", "import_judgments", "try_judgments"):
        _cancel(kind, collection.judgment_sets.values_list("pk", flat=True))
    collection.delete()


@transaction.atomic
def erase_track(track: Track) -> None:
    """Take away a track with its runs and boards; its collection stays."""
    _erase_tracks(Track.objects.filter(pk=track.pk))


def _erase_tracks(tracks: QuerySet[Track]) -> None:
    editions = Edition.objects.filter(track__in=tracks)
    runs = Run.objects.filter(track__in=tracks)
    _cancel("check_run", runs.values_list("pk", flat=True))
    for kind in ("build_edition", "score_again", "compare"):
        _cancel(kind, editions.values_list("pk", flat=True))
    # Those that protect others go before them.
    for rows in (Snapshot, Pool):
        rows.objects.filter(track__in=tracks).delete()
    for each in (runs, editions, tracks):
        each.delete()


@transaction.atomic
def erase_run(run: Run) -> None:
    """Take away a run with its scores; what a snapshot printed of it stays printed."""
    _cancel("check_run", [run.pk])
    run.delete()
    for edition in Edition.objects.filter(pk=run.track.edition_id):
        Job.objects.enqueue("compare", edition)


def erase_abandoned() -> None:
    """An import that was killed in the middle leaves nothing behind."""
    for collection in Collection.objects.abandoned():
        log.info("erased collection %s: its import was broken off", collection.slug)
        erase_collection(collection)


def _cancel(kind: str, ids: Iterable[object]) -> None:
    targets = [str(each) for each in ids]
    Job.objects.open().filter(kind=kind, target_id__in=targets).update(state=Job.State.CANCELLED)
