"""Runs become a pool: gather their tops, count what is judged, hand out what is not.

A pool's file is that of `python -m evaluation pool --format tsv`: topic, docno, where each run
has the document, its stratum and the probability with which it came in.
"""

from __future__ import annotations

import hashlib
import json
import math
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import groupby, islice, zip_longest
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from evaluation.correction import draw_sample
from evaluation.pooling import (
    Pool,
    Pooled,
    depth_pool,
    depth_table,
    rbp_pool,
    rrf_pool,
    take_pool,
)
from evaluation.pooling.pools import Grades
from evaluation.problems import Problems
from evaluation.reading.runs.reader import Run as ReadRun
from leaderboard import models
from leaderboard.collections import answer_pools
from leaderboard.collections.documents import find_documents
from leaderboard.collections.pool_frames import store_frame
from leaderboard.collections.pooled_texts import pack_texts
from leaderboard.collections.stored_judgments import render_qrels
from leaderboard.models import JudgmentSet, Run, User
from leaderboard.models.collections import load_grades
from leaderboard.models.jobs import Progress, Publish
from leaderboard.runs.rankings import Rankings

METHODS = {"take": take_pool, "rrf": rrf_pool, "rbp": rbp_pool}
# How deep the methods with a fixed number of documents read a run.
MOST_DEPTH = 1000
DEPTHS = (5, 10, 20, 50, 100)
COLUMNS = ("topic", "docno", "places", "stratum", "inclusion")


@dataclass(frozen=True)
class PoolLine:
    """One document of a pool, from the file of the pool."""

    number: str
    docno: str
    places: str
    stratum: str = "1"
    inclusion: str = "1.0"


@dataclass(frozen=True)
class Gathered:
    """A pool with judged lines, their grades, its sizes at other depths, and texts of answers."""

    pool: Pool
    grades: Grades
    depths: Mapping[int, int]
    depths_new: Mapping[int, int]
    texts: bytes = b""


@dataclass(frozen=True)
class DrawnPairs:
    """The pairs that are judged, the file of their frame, and what a summary says of it."""

    pool: Pool
    file: str
    facts: dict[str, Any]


def gather_pool(pool_id: str, progress: Progress) -> Publish:
    """Read what the pooled runs found or say, and store what is to be judged."""
    row = models.Pool.objects.select_related("track", "marked_in").get(pk=pool_id)
    runs = list(row.runs.order_by("pk"))
    gather = gather_documents if row.about == "documents" else gather_answers
    found = gather(row, runs, progress)
    pool = found.pool
    facts: dict[str, Any] = {
        **asdict(pool.summary(found.grades)),
        "method": pool.method,
        "runs": [run.pk for run in runs],
        "priorities": [find_priority(run) for run in runs],
        "alone_as_team": count_unique_by_team(pool, runs),
        "topics": len(pool.topics),
        "depths": depths_as_json(found.depths),
        "depths_new": depths_as_json(found.depths_new),
    }
    # Later judgments never change a pool of answers, which has no version of the collection.
    left = pool.without(found.grades) if found.texts else pool
    made: dict[str, object] = {}
    if row.drawn is not None and len(left):
        drawn = draw_pairs(row, left)
        left, made["frame_file"] = drawn.pool, drawn.file
        facts |= {"frame": drawn.facts, "new": len(left)}
    content = b"".join(render_pool(left))
    made |= {"summary": facts, "sha256": hashlib.sha256(content).hexdigest()}
    made["file"] = store_part(row, "pool", content)
    if found.texts:
        made["texts_file"] = store_part(row, "texts", found.texts)
    return lambda: publish_pool(row, **made)


def draw_pairs(row: models.Pool, whole: Pool) -> DrawnPairs:
    """Draw what is judged of a pool, and store every pair with its stratum and probability.

    A stratum has the pairs of few or of many runs: what many say counts in more scores.
    """
    assert row.drawn is not None
    seed = secrets.randbelow(2**31)
    sample, strata = draw_sample(whole, {}, row.drawn, seed)
    stored = store_frame(row, sample, strata, {})
    return DrawnPairs(sample, stored.name, {"seed": seed, **stored.facts})


def gather_documents(row: models.Pool, runs: Sequence[Run], progress: Progress) -> Gathered:
    """Read the tops of ranked runs."""
    depth = row.size if row.method == models.Pool.Method.DEPTH else MOST_DEPTH
    tops = []
    for done, run in enumerate(runs):
        progress(done, len(runs))
        tops.append(read_top(run, depth))
    grades = {} if row.judged_in_id is None else load_grades(row.judged_in_id)
    depths = [at for at in DEPTHS if at <= depth]
    return Gathered(
        build_pool(row, tops),
        grades,
        depth_table(tops, depths) if depths else {},
        depth_table(tops, depths, grades) if depths else {},
    )


def gather_answers(row: models.Pool, runs: Sequence[Run], progress: Progress) -> Gathered:
    """Pair answers with nuggets, or sentences with what they cite."""
    found = answer_pools.gather_pairs(row, runs, progress)
    is_deep = row.method == models.Pool.Method.CITATIONS
    method = f"{row.method}@{row.size}" if is_deep else row.method
    pool = found.pool(method, runs)
    depths = [at for at in answer_pools.DEPTHS if is_deep and at <= row.size]
    return Gathered(
        pool,
        found.marked,
        answer_pools.count_by_depth(pool, depths),
        answer_pools.count_by_depth(pool.without(found.marked), depths),
        pack_texts(found.texts),
    )


def store_part(row: models.Pool, part: str, content: bytes) -> str:
    """Store a file of a pool under a new name, and return it."""
    name = f"pools/{row.pk}/{part}-{secrets.token_hex(4)}"
    return default_storage.save(name, ContentFile(content))


def read_top(run: Run, depth: int) -> ReadRun:
    """Return the first `depth` documents of a run for every topic."""
    with default_storage.open(run.ranking_file.name) as file:
        rankings = Rankings(file)
        tops = {
            number.encode("utf-8", "surrogateescape"): ranking.cut(depth)
            for number in rankings
            if (ranking := rankings.ranking(number)) is not None
        }
    return ReadRun(run.tag or run.pk, tops, lines=0, problems=Problems())


def find_priority(run: Run) -> int | None:
    """Return the stated judging priority of a run; 1 is judged first."""
    return run.facts.get("priority")


def sort_by_turn(runs: Iterable[Run]) -> list[Run]:
    """Sort runs by team, then by priority, primary run and time of arrival."""
    return sorted(runs, key=_turn)


def _turn(run: Run) -> tuple[str, int, float, bool, datetime]:
    priority = find_priority(run) or math.inf
    return run.team.name, run.team_id, priority, not run.is_primary, run.received_at


def select_by_team(runs: Iterable[Run], most: int) -> list[Run]:
    """Return at most `most` runs of each team, those judged first."""
    teams = groupby(sort_by_turn(runs), key=lambda run: run.team_id)
    return [run for _, own in teams for run in list(own)[:most]]


def count_unique_by_team(pool: Pool, runs: Sequence[Run]) -> list[int]:
    """Return for each run how many documents only runs of its team have."""
    numbers: dict[int, list[int]] = {}
    for number, run in enumerate(runs):
        numbers.setdefault(run.team_id, []).append(number)
    alone = {
        team: sum(len(docnos) for docnos in pool.brought_only_by(own).values())
        for team, own in numbers.items()
    }
    return [alone[run.team_id] for run in runs]


def depths_as_json(table: Mapping[int, int]) -> dict[str, int]:
    """Return a table with its depths as text, since JSON keys are text."""
    return {str(depth): documents for depth, documents in table.items()}


def build_pool(row: models.Pool, tops: Sequence[ReadRun]) -> Pool:
    if row.method == models.Pool.Method.DEPTH:
        return depth_pool(tops, row.size)
    return METHODS[row.method](tops, row.size)


def render_pool(pool: Pool) -> Iterator[bytes]:
    yield "\t".join(COLUMNS).encode() + b"\n"
    for number, document in pool:
        places = format_places(document, pool)
        yield b"\t".join((number, document.docno, places, *format_sample(document))) + b"\n"


def format_places(document: Pooled, pool: Pool) -> bytes:
    return " ".join(f"{pool.runs[place.run]}:{place.rank}" for place in document.places).encode()


def format_sample(document: Pooled) -> tuple[bytes, bytes]:
    return str(document.stratum).encode(), str(document.inclusion).encode()


def publish_pool(row: models.Pool, **made: object) -> None:
    models.Pool.objects.filter(pk=row.pk, state=models.Pool.State.QUEUED).update(
        state=models.Pool.State.PROPOSED, **made
    )


def mark_pool_failed(pool_id: str, reason: str) -> None:
    models.Pool.objects.filter(pk=pool_id).update(state=models.Pool.State.FAILED, reason=reason)


@dataclass(frozen=True)
class PooledRun:
    """A run of a pool with its counts: documents brought, by it alone, by its team alone."""

    run: Run
    priority: int | None
    brought: int | None
    alone: int
    alone_as_team: int | None


def pooled_runs(pool: models.Pool) -> list[PooledRun]:
    """Return the runs of a pool in judging order, with their counts."""
    runs = pool.runs.select_related("team").in_bulk()
    names = ("runs", "priorities", "brought", "alone", "alone_as_team")
    counted = zip_longest(*(pool.summary.get(name, []) for name in names))
    found = [PooledRun(runs[run_id], *rest) for run_id, *rest in counted if run_id in runs]
    return sorted(found, key=lambda pooled: _turn(pooled.run))


@dataclass(frozen=True)
class PoolOverlap:
    """How many documents of a pool are in this many of its runs."""

    runs: int
    documents: int


def list_overlaps(pool: models.Pool) -> list[PoolOverlap]:
    """Return how many documents are in one run, in two runs, and so on, without zeros."""
    shared = enumerate(pool.summary.get("shared", []), 1)
    return [PoolOverlap(runs, documents) for runs, documents in shared if documents]


@dataclass(frozen=True)
class DepthCost:
    """A pool of the same runs at another depth, and the judging time."""

    depth: int
    documents: int
    new: int | None
    hours: int | None


def list_depth_costs(pool: models.Pool, minutes: float) -> list[DepthCost]:
    """Return the documents and judging hours at each depth, by minutes per judgment."""
    new = pool.summary.get("depths_new", {})
    return [
        DepthCost(int(depth), documents, new.get(depth), count_hours(new.get(depth), minutes))
        for depth, documents in pool.summary.get("depths", {}).items()
    ]


def count_hours(judgments: int | None, minutes: float) -> int | None:
    """Return the hours for this many judgments, rounded up."""
    return None if judgments is None else math.ceil(judgments * minutes / 60)


def record_pooled_runs(judgment_set: JudgmentSet, pool: models.Pool) -> None:
    """Record the runs of this pool, and of the version before it, as pooled."""
    judgment_set.add_pooled_runs(pool.runs.values_list("pk", flat=True), find_depth(pool))
    before = pool.judged_in
    if before is not None and before.pooled_runs.exists():
        judgment_set.add_pooled_runs(
            before.pooled_runs.values_list("pk", flat=True), before.pool_depth
        )


def find_pool(judgment_set: JudgmentSet, viewer: User | AnonymousUser) -> models.Pool | None:
    """Return the pool that the judgments are for, if the viewer organises its track."""
    pools = models.Pool.objects.organised_by(viewer).select_related("track")
    return pools.filter(pk=judgment_set.pool_id).first()


def find_depth(pool: models.Pool) -> int | None:
    """Return the depth to which every run was judged; None for methods without a depth."""
    return pool.size if pool.method == models.Pool.Method.DEPTH else None


def read_lines(pool: models.Pool, everything: bool = False) -> Iterator[PoolLine]:
    """Yield the unjudged documents of a pool by topic, or all with `everything`.

    Within a topic they are in docno order, which reveals nothing about the runs.
    """
    judged = {} if everything or pool.judged_in_id is None else load_grades(pool.judged_in_id)
    with default_storage.open(pool.file.name) as file:
        rows = iter(file)
        next(rows)
        for row in rows:
            number, docno, _ = row.split(b"\t", 2)
            if judged.get(number, {}).get(docno, -1) < 0:
                yield _read_line(row)


def read_topic_lines(pool: models.Pool, topic: models.Topic) -> Iterator[PoolLine]:
    """Yield the unjudged documents of one topic of a pool, in docno order."""
    before = models.Judgment.objects.filter(judgment_set=pool.judged_in_id, grade__gte=0)
    judged = set(before.filter(topic=topic).values_list("docno", flat=True))
    begins = f"{topic.number}\t".encode()
    with default_storage.open(pool.file.name) as file:
        rows = islice(file, 1, None)
        lines = (_read_line(row) for row in rows if row.startswith(begins))
        yield from (line for line in lines if line.docno not in judged)


def _read_line(row: bytes) -> PoolLine:
    cells = row.rstrip(b"\n").split(b"\t", 4)
    return PoolLine(*(cell.decode("utf-8", "replace") for cell in cells))


def trec_lines(pool: models.Pool, everything: bool = False) -> Iterator[bytes]:
    """Yield a TREC pool file: topic and docno on each line."""
    return (f"{line.number} {line.docno}\n".encode() for line in read_lines(pool, everything))


def table_lines(pool: models.Pool, everything: bool = False) -> Iterator[bytes]:
    """Yield a table of the documents with their places, run and rank; if drawn, by which chance."""
    columns = COLUMNS[:3] if pool.drawn is None else COLUMNS
    yield "\t".join(columns).encode() + b"\n"
    for line in read_lines(pool, everything):
        cells = (line.number, line.docno, line.places, line.stratum, line.inclusion)
        yield "\t".join(cells[: len(columns)]).encode() + b"\n"


def judged_lines(pool: models.Pool, everything: bool = False) -> Iterator[bytes]:
    """Yield the earlier judgments as qrels, which the next version must contain."""
    return iter(()) if pool.judged_in is None else render_qrels(pool.judged_in)


def judging_lines(pool: models.Pool, everything: bool = False) -> Iterator[bytes]:
    """Yield the documents to judge as JSON lines, with topic, docno, title and text."""
    topics = {topic.number: topic for topic in pool.track.collection.topics.all()}
    for number, lines in groupby(read_lines(pool, everything), key=lambda line: line.number):
        yield from _with_texts(topics[number], list(lines))


def _with_texts(topic: models.Topic, lines: list[PoolLine]) -> Iterator[bytes]:
    found = find_documents(topic.collection, [line.docno for line in lines])
    for line in lines:
        document = found.get(line.docno)
        row = {
            "topic": topic.number,
            "topic_title": topic.title or topic.description,
            "docno": line.docno,
            "title": document.title if document else None,
            "text": document.text if document else None,
        }
        yield json.dumps(row, ensure_ascii=False).encode() + b"\n"


# The files of a pool: what writes their lines, and their media type.
FILES: Mapping[str, tuple[Callable[..., Iterator[bytes]], str]] = {
    "txt": (trec_lines, "text/plain"),
    "tsv": (table_lines, "text/tab-separated-values"),
    "qrels": (judged_lines, "text/plain"),
    "jsonl": (judging_lines, "application/jsonl"),
}
