"""Delete a run, a track, a collection or a benchmark for good, with everything that depends on it.

The rows are deleted in one transaction; the cleanup then deletes their orphaned files.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from leaderboard.infrastructure.logs import log_failure
from leaderboard.jobs.calculations import JOBS, Kind
from leaderboard.models import (
    Assessment,
    Benchmark,
    BenchmarkSnapshot,
    Calculation,
    Collection,
    Edition,
    Job,
    MarkLayer,
    NuggetVersion,
    PagesCopy,
    Pool,
    Run,
    Snapshot,
    SystemVersion,
    Track,
)

log = logging.getLogger(__name__)


@transaction.atomic
def erase_collection(collection: Collection) -> None:
    """Delete a collection, its tracks and their runs, and cancel their open jobs."""
    _erase_tracks(Track.objects.filter(collection=collection))
    for kind in ("fetch_dataset", "check_collection", "import_collection", "index_words"):
        _cancel_jobs(kind, [collection.pk])
    for kind in ("check_judgments", "import_judgments", "try_judgments"):
        _cancel_jobs(kind, collection.judgment_sets.values_list("pk", flat=True))
    # Filled judgments protect the two versions that they are made of.
    collection.judgment_sets.exclude(people_version=None).delete()
    collection.delete()


@transaction.atomic
def erase_track(track: Track) -> None:
    """Delete a track with its runs and boards; its collection stays."""
    _erase_tracks(Track.objects.filter(pk=track.pk))


def _erase_tracks(tracks: QuerySet[Track]) -> None:
    editions = Edition.objects.filter(track__in=tracks)
    runs = Run.objects.filter(track__in=tracks)
    _cancel_jobs_of_tracks(tracks, runs, editions)
    # Protected rows can be deleted only after the rows that protect them.
    BenchmarkSnapshot.objects.filter(editions__in=editions).delete()
    for rows in (Snapshot, Assessment, Pool):
        rows.objects.filter(track__in=tracks).delete()
    of = Benchmark.objects.filter(pk__in=list(tracks.values_list("benchmark", flat=True)))
    for queryset in (runs, editions, tracks):
        queryset.delete()
    for benchmark in of.exclude(tracks=None).distinct():
        benchmark.renew_addresses()
    for benchmark in of.filter(tracks=None):
        erase_benchmark(benchmark)


def _cancel_jobs_of_tracks(
    tracks: QuerySet[Track], runs: QuerySet[Run], editions: QuerySet[Edition]
) -> None:
    _cancel_jobs("check_run", runs.values_list("pk", flat=True))
    for kind in ("make_baseline", "announce_judgments"):
        _cancel_jobs(kind, tracks.values_list("pk", flat=True))
    for kind in ("build_edition", "score_again", "compare"):
        _cancel_jobs(kind, editions.values_list("pk", flat=True))
    for model in (NuggetVersion, MarkLayer):
        for kind in ("check", "import"):
            versions = model.objects.filter(track__in=tracks)
            _cancel_jobs(f"{kind}_{model.noun}", versions.values_list("pk", flat=True))
    asked = Calculation.objects.filter(Q(track__in=tracks) | Q(edition__in=editions))
    for made, kind in JOBS.items():
        # The job of tests has the key of an edition.
        if made != Kind.TESTS:
            _cancel_jobs(kind, asked.values_list("pk", flat=True))
    copies = PagesCopy.objects.filter(track__in=tracks)
    _cancel_jobs("copy_pages", copies.values_list("pk", flat=True))


@transaction.atomic
def erase_run(run: Run) -> None:
    """Delete a run with its scores; snapshots keep what they printed of it."""
    _cancel_jobs("check_run", [run.pk])
    Calculation.objects.filter(request__baseline=run.pk).delete()
    run.delete()
    for edition in Edition.objects.filter(pk=run.track.edition_id):
        Job.objects.enqueue("compare", edition)


@transaction.atomic
def erase_benchmark(benchmark: Benchmark) -> None:
    """Delete a benchmark without tracks, its systems and snapshots.

    Of equal runs that a team submitted as several versions, the first one stays on the board.
    """
    versions = SystemVersion.objects.filter(system__benchmark=benchmark)
    _cancel_jobs("announce_version", versions.values_list("pk", flat=True))
    _cancel_jobs("invite", benchmark.invitations.values_list("pk", flat=True))
    _cancel_jobs("compare_systems", benchmark.calculations.values_list("pk", flat=True))
    _withdraw_repetitions(Run.objects.filter(version__in=versions))
    for kind in ("check_results", "import_results"):
        _cancel_jobs(kind, benchmark.results_files.values_list("pk", flat=True))
    # Systems protect their teams.
    benchmark.systems.all().delete()
    benchmark.delete()


def _withdraw_repetitions(runs: QuerySet[Run]) -> None:
    """Withdraw what a track alone would have refused: a file that the team submitted before."""
    counted = Run.objects.active().exclude(state__in=[Run.State.REFUSED, Run.State.FAILED])
    alone = counted.filter(team__in=runs.values("team"), version=None)
    seen: dict[tuple[int, int, str], str] = {
        (run.track_id, run.team_id, run.sha256): run.pk for run in alone
    }
    for run in counted.filter(pk__in=runs.values("pk")).order_by("received_at", "pk"):
        first = seen.setdefault((run.track_id, run.team_id, run.sha256), run.pk)
        if first != run.pk:
            reason = f"The same file as {first}; the benchmark of its system was deleted."
            Run.objects.filter(pk=run.pk).update(
                withdrawn_at=timezone.now(), withdrawn_reason=reason, is_primary=False
            )


def erase_abandoned_imports() -> None:
    """Delete collections whose import was killed in the middle."""
    for collection in Collection.objects.abandoned():
        with log_failure(f"erasing collection {collection.slug}"):
            erase_collection(collection)
            log.info("erased collection %s: its import was broken off", collection.slug)


def _cancel_jobs(kind: str, ids: Iterable[object]) -> None:
    targets = [str(target_id) for target_id in ids]
    Job.objects.open().filter(kind=kind, target_id__in=targets).update(state=Job.State.CANCELLED)
