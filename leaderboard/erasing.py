"""What should never have been: a collection goes for good, with everything that stands on it.

Rows go in one transaction; their files belong to nothing then, and are swept.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction

from leaderboard.models import Collection, Edition, Job, Pool, Run, Snapshot, Track


@transaction.atomic
def erase_collection(collection: Collection) -> None:
    """Take away a collection, its tracks, and their runs; open jobs of theirs are cancelled."""
    tracks = Track.objects.filter(collection=collection)
    editions = Edition.objects.filter(track__in=tracks)
    runs = Run.objects.filter(track__in=tracks)
    _cancel("check_run", runs.values_list("pk", flat=True))
    for kind in ("build_edition", "compare"):
        _cancel(kind, editions.values_list("pk", flat=True))
    for kind in ("check_collection", "import_collection"):
        _cancel(kind, [collection.pk])
    for kind in ("check_judgments", "import_judgments"):
        _cancel(kind, collection.judgment_sets.values_list("pk", flat=True))
    # Those that protect others go before them.
    for rows in (Snapshot, Pool):
        rows.objects.filter(track__in=tracks).delete()
    for each in (runs, editions, tracks):
        each.delete()
    collection.delete()


def _cancel(kind: str, ids: Iterable[object]) -> None:
    targets = [str(each) for each in ids]
    Job.objects.open().filter(kind=kind, target_id__in=targets).update(state=Job.State.CANCELLED)
