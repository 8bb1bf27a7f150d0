"""The runs, judgments and frozen boards that exist for a viewer.

Whoever judges documents that are still open sees no grade of others, not even as an organiser.
"""

from __future__ import annotations

from datetime import datetime

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from leaderboard.models import (
    Assessment,
    Benchmark,
    BenchmarkSnapshot,
    Collection,
    JudgmentSet,
    MarkLayer,
    Run,
    Team,
    Track,
)
from leaderboard.models.runs import ON_A_BLIND_TRACK, RunQuerySet
from leaderboard.sight.readers import Viewer, is_reader
from leaderboard.sight.tracks import TrackSight


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
    shown &= ~(Q(track__topics_at__gt=Now()) | Q(track__documents_at__gt=Now()))
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


def visible_versions_behind(viewer: Viewer, collection: Collection) -> QuerySet[JudgmentSet]:
    """Return the judgments that the viewer may see, with those of which they are put together.

    What is said of the machine of a version, and what it said, is for the same readers.
    """
    seen = visible_judgment_sets(viewer, collection)
    parts = (seen.values(name) for name in ("pk", "people_version", "machine_version"))
    behind = Q(pk__in=[])
    for part in parts:
        behind |= Q(pk__in=part)
    return collection.judgment_sets.filter(behind)


def can_download_replies(viewer: Viewer, judgment_set: JudgmentSet) -> bool:
    """Whether what a machine said may be downloaded: where a board by its grades may be."""
    collection = judgment_set.collection
    if collection.is_organised_by(viewer):
        return True
    filled = judgment_set.pk
    tracks = Track.objects.visible_to(viewer).filter(
        Q(edition__judgment_set=filled) | Q(edition__judgment_set__machine_version=filled)
    )
    return any(sight.can_download_judgments for sight in TrackSight.of_each(list(tracks), viewer))


def can_see_prompts(viewer: Viewer, collection: Collection) -> bool:
    """Whether the prompts of a machine may be shown: they hold texts of documents."""
    return can_download_documents(viewer, collection)


def visible_layers_by_machines(sight: TrackSight) -> QuerySet[MarkLayer]:
    """Return the layers of a track whose machine's replies the viewer may read.

    They may name runs and quote nuggets, so both must be open to the viewer.
    """
    layers = sight.track.mark_layers.ready().filter(made_by=MarkLayer.MadeBy.MACHINE)
    if not sight.can_see_scores or sight.hides_names:
        return layers.none()
    if sight.is_organiser:
        return layers
    used = layers.filter(version__in=(sight.track.assignments, sight.track.support))
    return used if sight.can_see_nuggets else used.exclude(about=MarkLayer.About.NUGGETS)


def can_download_documents(viewer: Viewer, collection: Collection) -> bool:
    """Whether the documents may be downloaded: organisers of the collection always may."""
    if collection.is_organised_by(viewer):
        return True
    return collection.shares_documents and can_read_documents(viewer, collection)


def can_read_documents(viewer: Viewer, collection: Collection) -> bool:
    """Whether documents may be read on pages: after their date, by the readers of their file."""
    readers = collection.documents_readers
    return can_see_documents(viewer, collection) and is_reader(viewer, collection, readers)


def can_download_topics(viewer: Viewer, collection: Collection) -> bool:
    """Whether the files of topics may be downloaded: after their date, by their readers."""
    readers = collection.topics_readers
    return can_see_topics(viewer, collection) and is_reader(viewer, collection, readers)


def can_see_topics(viewer: Viewer, collection: Collection) -> bool:
    """Whether the topics may be shown: before their date only to organisers."""
    return find_coming_topics_date(collection) is None or _organises(viewer, collection)


def can_see_documents(viewer: Viewer, collection: Collection) -> bool:
    """Whether the documents may be shown: before their date only to organisers."""
    return find_coming_documents_date(collection) is None or _organises(viewer, collection)


def _organises(viewer: Viewer, collection: Collection) -> bool:
    """Whether the viewer organises a collection, or one of the tracks on it."""
    if collection.is_organised_by(viewer):
        return True
    return collection.tracks.organised_by(viewer).exists()


def find_coming_topics_date(collection: Collection) -> datetime | None:
    """Return when the topics of a collection will appear; None if they are out."""
    hiding = collection.tracks.hiding_topics()
    return hiding.values_list("topics_at", flat=True).order_by("-topics_at").first()


def find_hidden_documents(viewer: Viewer) -> set[int]:
    """Return the keys of the collections whose documents are not out for the viewer yet."""
    own = Track.objects.organised_by(viewer).values("collection")
    organised = Collection.objects.organised_by(viewer).values("pk")
    hiding = Track.objects.hiding_documents().exclude(collection__in=own)
    return set(hiding.exclude(collection__in=organised).values_list("collection", flat=True))


def find_coming_documents_date(collection: Collection) -> datetime | None:
    """Return when the documents of a collection will appear; None if they are out."""
    hiding = collection.tracks.hiding_documents()
    return hiding.values_list("documents_at", flat=True).order_by("-documents_at").first()


def can_see_marks(assessment: Assessment, viewer: Viewer) -> bool:
    """Whether an organiser may see grades: not while this organiser judges in the assessment."""
    return not Assessment.objects.judged_by(viewer).filter(pk=assessment.pk).exists()


def is_judging(viewer: Viewer, collection: Collection) -> bool:
    """Whether the viewer judges documents of a collection."""
    return Assessment.objects.judged_by(viewer).filter(track__collection=collection).exists()
