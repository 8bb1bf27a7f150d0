"""The runs, judgments and frozen boards that exist for a viewer.

Whoever judges documents that are still open sees no grade of others, not even as an organiser.
"""

from __future__ import annotations

from django.db.models import Q, QuerySet

from leaderboard.models import (
    Assessment,
    Benchmark,
    BenchmarkSnapshot,
    Collection,
    JudgmentSet,
    Run,
    Team,
    Track,
)
from leaderboard.models.runs import ON_A_BLIND_TRACK, RunQuerySet
from leaderboard.sight.tracks import TrackSight, Viewer


def visible_benchmark_snapshots(
    viewer: Viewer, benchmark: Benchmark
) -> QuerySet[BenchmarkSnapshot]:
    """Return the frozen boards of a benchmark on which a viewer sees every track's snapshots."""
    of_editions = BenchmarkSnapshot.editions.through.objects.filter(
        benchmarksnapshot__benchmark=benchmark
    )
    frozen = Track.objects.filter(editions__in=of_editions.values("edition")).distinct()
    known = frozen.filter(pk__in=Track.objects.visible_to(viewer).values("pk"))
    sights = TrackSight.of_each(list(known), viewer)
    shown = [sight.track.pk for sight in sights if sight.can_see_snapshots]
    hidden = of_editions.exclude(edition__track__in=shown)
    return benchmark.snapshots.exclude(pk__in=hidden.values("benchmarksnapshot"))


def visible_runs(viewer: Viewer) -> RunQuerySet:
    """Return every run that a viewer may see, and no run of a blind track of others.

    A hidden run and a missing one cost the same single query, so the response time does not
    distinguish them.  The view of its track still decides what of a run is shown.
    """
    organised = Q(track__in=Track.objects.organised_by(viewer).values("pk"))
    own = Q(pk__in=[])
    if viewer.is_authenticated:
        own = Q(team__in=Team.objects.filter(memberships__user=viewer).values("pk"))
    shown = Q(hidden_at=None, state=Run.State.SCORED) & ~ON_A_BLIND_TRACK
    shown &= ~Q(track__in=Assessment.objects.judged_by(viewer).values("track"))
    visible = Run.objects.filter(track__in=Track.objects.visible_to(viewer).values("pk"))
    return visible.filter(organised | own | shown)


def visible_judgment_sets(viewer: Viewer, collection: Collection) -> QuerySet[JudgmentSet]:
    """Return the judgments of boards that the viewer may see; organisers see all.

    An assessor sees none of a collection with documents that are still to be judged.
    """
    if is_judging(viewer, collection):
        return collection.judgment_sets.none()
    if collection.is_organised_by(viewer):
        return collection.judgment_sets.all()
    tracks = Track.objects.visible_to(viewer).filter(collection=collection)
    sights = TrackSight.of_each(list(tracks), viewer)
    shown = [sight.track.edition_id for sight in sights if sight.can_see_scores]
    return collection.judgment_sets.filter(editions__in=filter(None, shown)).distinct()


def can_download_documents(viewer: Viewer, collection: Collection) -> bool:
    """Whether the documents may be downloaded: organisers of the collection always may."""
    return collection.shares_documents or collection.is_organised_by(viewer)


def can_see_marks(assessment: Assessment, viewer: Viewer) -> bool:
    """Whether an organiser may see grades: not while this organiser judges in the assessment."""
    return not Assessment.objects.judged_by(viewer).filter(pk=assessment.pk).exists()


def is_judging(viewer: Viewer, collection: Collection) -> bool:
    """Whether the viewer judges documents of a collection."""
    return Assessment.objects.judged_by(viewer).filter(track__collection=collection).exists()
