"""What the stored files of users take: by collection and by benchmark."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db.models import Count, Max, Sum

from leaderboard.models import Benchmark, Collection, JudgmentSet, Run
from leaderboard.runs.stored_bytes import bytes_of_site


@dataclass(frozen=True)
class CollectionUse:
    """The bytes of the files of a collection, and of its versions of judgments."""

    collection: Collection
    size: int
    judgments: int

    @property
    def total(self) -> int:
        return self.size + self.judgments


@dataclass(frozen=True)
class RunsUse:
    """The stored runs of a benchmark, or of a track outside benchmarks, and their bytes."""

    name: str
    address: str
    num_runs: int
    size: int
    last: datetime


@dataclass(frozen=True)
class StorageUse:
    """All stored files of users in bytes; no limit is 0."""

    total: int
    limit: int
    collections: list[CollectionUse]
    runs: list[RunsUse]


def measure_storage() -> StorageUse:
    """Return what is stored, the largest first."""
    return StorageUse(
        bytes_of_site(),
        settings.SITE_BYTES,
        sorted(_collections(), key=lambda use: (-use.total, use.collection.name)),
        sorted(_runs(), key=lambda use: (-use.size, use.name)),
    )


def _collections() -> list[CollectionUse]:
    totals = JudgmentSet.objects.order_by().values_list("collection").annotate(total=Sum("size"))
    judgments = dict(totals)
    return [
        CollectionUse(each, each.size, judgments.get(each.pk, 0))
        for each in Collection.objects.only("name", "slug", "size")
    ]


def _runs() -> list[RunsUse]:
    stored = Run.objects.exclude(file="").order_by()
    figures = {"runs": Count("pk"), "bytes": Sum("size"), "last": Max("received_at")}
    several = Benchmark.objects.of_several_tracks().values("pk")
    inside = stored.filter(track__benchmark__in=several)
    outside = stored.exclude(track__benchmark__in=several)
    of_benchmarks = inside.values_list("track__benchmark__name", "track__benchmark__slug")
    of_tracks = outside.values_list("track__name", "track__address")
    return [
        RunsUse(*row) for rows in (of_benchmarks, of_tracks) for row in rows.annotate(**figures)
    ]
