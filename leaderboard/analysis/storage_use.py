"""What uses the disk: stored files by benchmark, collection and kind, and the rest of the site."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import connection
from django.db.models import Model, Sum
from django.db.models.functions import Length

from leaderboard.infrastructure.packed_files import is_packed
from leaderboard.infrastructure.storage import list_files_before
from leaderboard.models import (
    Benchmark,
    Collection,
    JudgmentSet,
    MarkLayer,
    NuggetVersion,
    PagesCopy,
    Pool,
    ResultsFile,
    Run,
    Score,
    ScoreSet,
    UploadPiece,
)
from leaderboard.runs.stored_bytes import bytes_of_benchmark, bytes_of_site, limit_of_benchmark


@dataclass(frozen=True)
class Kind:
    """A kind of what is stored, and when it may be deleted."""

    name: str
    deletion: str


RUNS = Kind("runs as submitted", "Never by hand. manage.py erase run ID deletes a run for good.")
PACKED_RUNS = Kind(
    "runs as submitted, packed after a year",
    "Never by hand. A download is what was submitted, to the byte.",
)
READINGS = Kind("rankings and answers as read", "Never: boards and pages of runs read them.")
PROBLEMS = Kind("problems of runs", "Never by hand. They go with the file of a rejected run.")
MARKS = Kind("nuggets and layers of marks", "Never: scores use them.")
RESULTS = Kind("results that others report", "Never by hand: scores are traced to them.")
POOLS = Kind("pools", "Never: judgments are traced to them.")
COPIES = Kind("copies of pages", "At any time: deleted after a day, and made again on request.")
SCORES = Kind("scores, in the database", "Never by hand. manage.py rescore replaces them.")
TEXTS = Kind(
    "topics and documents", "Never by hand. manage.py erase collection NAME deletes a collection."
)
INDEXES = Kind("indexes of words", "Never by hand: the search of documents reads them.")
JUDGMENTS = Kind("judgments", "Never: scores use them.")
PIECES = Kind("uploads in pieces", "Deleted a day after the last piece.")
STRAYS = Kind("files without a row", "Deleted by workers after an hour.")

KINDS = (
    RUNS,
    PACKED_RUNS,
    READINGS,
    PROBLEMS,
    MARKS,
    RESULTS,
    POOLS,
    COPIES,
    SCORES,
    TEXTS,
    INDEXES,
    JUDGMENTS,
)

# Where the files of a model are: the field, its kind, and the way to its benchmark or collection.
OF_BENCHMARKS: tuple[tuple[type[Model], str, Kind, str], ...] = (
    (Run, "file", RUNS, "track__benchmark"),
    (Run, "ranking_file", READINGS, "track__benchmark"),
    (Run, "answer_file", READINGS, "track__benchmark"),
    (Run, "problems_file", PROBLEMS, "track__benchmark"),
    (NuggetVersion, "file", MARKS, "track__benchmark"),
    (MarkLayer, "file", MARKS, "track__benchmark"),
    (ResultsFile, "file", RESULTS, "benchmark"),
    (Pool, "file", POOLS, "track__benchmark"),
    (Pool, "frame_file", POOLS, "track__benchmark"),
    (Pool, "texts_file", POOLS, "track__benchmark"),
    (PagesCopy, "file", COPIES, "track__benchmark"),
)
OF_COLLECTIONS: tuple[tuple[type[Model], str, Kind, str], ...] = (
    (Collection, "topics_file", TEXTS, "pk"),
    (Collection, "documents_file", TEXTS, "pk"),
    (Collection, "groups_file", TEXTS, "pk"),
    (Collection, "documents", TEXTS, "pk"),
    (Collection, "words", INDEXES, "pk"),
    (JudgmentSet, "file", JUDGMENTS, "collection"),
    (JudgmentSet, "intents_file", JUDGMENTS, "collection"),
    (JudgmentSet, "changes", JUDGMENTS, "collection"),
)
PLACES = OF_BENCHMARKS + OF_COLLECTIONS + ((UploadPiece, "file", PIECES, ""),)


@dataclass(frozen=True)
class KindUse:
    """What one kind takes: how many files or rows, and their bytes."""

    kind: Kind
    count: int
    size: int


@dataclass(frozen=True)
class OwnerUse:
    """What one benchmark or collection takes; `counted` is compared with its limit."""

    owner: Benchmark | Collection
    kinds: list[KindUse]
    counted: int = 0
    limit: int = 0

    @property
    def total(self) -> int:
        return sum(use.size for use in self.kinds)


@dataclass(frozen=True)
class StorageUse:
    """All that the site stores, in bytes; no limit is 0."""

    uploaded: int
    limit: int
    benchmarks: list[OwnerUse]
    collections: list[OwnerUse]
    rest: list[KindUse]

    @property
    def total(self) -> int:
        owned = (*self.benchmarks, *self.collections)
        return sum(use.total for use in owned) + sum(use.size for use in self.rest)


def measure_storage() -> StorageUse:
    """Return what is stored, the largest first; every stored file is looked at once."""
    sizes = dict(default_storage.stored_sizes())
    benchmarks = _share_out(OF_BENCHMARKS, sizes)
    for benchmark, size in _sizes_of_scores():
        benchmarks[benchmark][SCORES].append(size)
    collections = _share_out(OF_COLLECTIONS, sizes)
    pieces = _share_out(PLACES[-1:], sizes)
    return StorageUse(
        bytes_of_site(),
        settings.SITE_BYTES,
        [
            OwnerUse(
                each,
                _sum_up(benchmarks[each.pk]),
                bytes_of_benchmark(each),
                limit_of_benchmark(each),
            )
            for each in _largest_first(Benchmark.objects.all(), benchmarks)
        ],
        [
            OwnerUse(each, _sum_up(collections[each.pk]))
            for each in _largest_first(Collection.objects.only("name", "slug"), collections)
        ],
        # What no row named is left.
        [
            *_sum_up(pieces[None]),
            *_sum_up({STRAYS: list(sizes.values())}),
            *measure_home(),
        ],
    )


Sizes = dict[int | None, dict[Kind, list[int]]]


def _share_out(
    places: Iterable[tuple[type[Model], str, Kind, str]], sizes: dict[str, int]
) -> Sizes:
    """Take the sizes of the files that rows name, by their owner and kind."""
    found: Sizes = defaultdict(lambda: defaultdict(list))
    for model, field, kind, way in places:
        rows = model._default_manager.exclude(**{field: ""}).order_by()
        for row in rows.values_list(field, *filter(None, [way])).iterator():
            size = sizes.pop(row[0], None)
            if size is not None:
                stored = PACKED_RUNS if is_packed(row[0]) else kind
                found[row[1] if way else None][stored].append(size)
    return found


def _sizes_of_scores() -> Iterator[tuple[int, int]]:
    """Yield a benchmark and the bytes of its scores, of runs and of topics."""
    for model, field, way in (
        (ScoreSet, "record", "run__track__benchmark"),
        (Score, "by_topic", "score_set__run__track__benchmark"),
    ):
        totals = model._default_manager.order_by().values_list(way)
        yield from totals.annotate(size=Sum(Length(field)))


def _sum_up(sizes: Mapping[Kind, list[int]]) -> list[KindUse]:
    uses = [KindUse(kind, len(each), sum(each)) for kind, each in sizes.items() if each]
    return sorted(uses, key=lambda use: (-use.size, use.kind.name))


def _largest_first(
    rows: Iterable[Benchmark | Collection], sizes: Sizes
) -> list[Benchmark | Collection]:
    def total(row: Benchmark | Collection) -> int:
        return sum(sum(each) for each in sizes[row.pk].values()) if row.pk in sizes else 0

    return sorted(rows, key=lambda row: (-total(row), row.name, row.slug))


# The folders of RANKFIELD_HOME beside the stored files, and when they may be deleted.
FOLDERS = {
    "cache": "At any time: pages and copies of files are made again.",
    "uploads": "While web is stopped. Uploads that arrive are here.",
    "static": "While web is stopped: serve and web write it when they start.",
}


def measure_home() -> Iterator[KindUse]:
    """Yield what the database and the other folders of this host take."""
    kind = Kind("the database", "Never by hand. Back it up by manage.py backup.")
    yield KindUse(kind, 1, measure_database())
    for name, deletion in FOLDERS.items():
        kind = Kind(f"{name}/ of RANKFIELD_HOME", deletion)
        yield measure_folder(Path(settings.RANKFIELD_HOME) / name, kind)
    if settings.BACKUP_FOLDER:
        kept = f"Workers keep the last {settings.BACKUP_KEEP}. Keep one elsewhere."
        yield measure_folder(Path(settings.BACKUP_FOLDER), Kind("BACKUP_FOLDER", kept))


def measure_folder(folder: Path, kind: Kind) -> KindUse:
    """Return what the files of a folder take; a missing folder has none."""
    files = list(list_files_before(folder, float("inf")))
    size = sum(path.stat().st_size for path in files if path.exists())
    return KindUse(kind, len(files), size)


def measure_database() -> int:
    """Return the bytes of the database, with the log that SQLite keeps beside it."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(
                "select page_count * page_size from pragma_page_count(), pragma_page_size()"
            )
        else:
            cursor.execute("select pg_database_size(current_database())")
        size: int = cursor.fetchone()[0]
    return size
