"""Runs become a pool: gather their tops, count what is judged, hand out what is not.

A pool's file is that of `python -m evaluation pool --format tsv`: topic, docno, where each run
has the document, its stratum and the probability with which it came in.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import groupby, zip_longest

from django.contrib.auth.models import AnonymousUser
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from evaluation.pooling import (
    Pool,
    Pooled,
    depth_pool,
    depth_table,
    rbp_pool,
    rrf_pool,
    take_pool,
)
from evaluation.problems import Problems
from evaluation.reading.runs import Run as ReadRun
from leaderboard import models
from leaderboard.collections.documents import Documents, open_documents
from leaderboard.models import JudgmentSet, Run, User
from leaderboard.models.collections import load_grades
from leaderboard.models.jobs import Progress, Publish
from leaderboard.runs.rankings import Rankings

METHODS = {"take": take_pool, "rrf": rrf_pool, "rbp": rbp_pool}
# How deep the methods that take a number of documents look into a run.
REACH = 1000
DEPTHS = (5, 10, 20, 50, 100)
COLUMNS = ("topic", "docno", "places", "stratum", "inclusion")


@dataclass(frozen=True)
class Line:
    """One document of a pool as its file has it."""

    number: str
    docno: str
    places: str


def gather_pool(pool_id: str, progress: Progress) -> Publish:
    """Read the tops of the pooled runs and write down what is to be judged."""
    row = models.Pool.objects.select_related("track").get(pk=pool_id)
    runs = list(row.runs.order_by("pk"))
    depth = row.size if row.method == models.Pool.Method.DEPTH else REACH
    tops = []
    for done, run in enumerate(runs):
        progress(done, len(runs))
        tops.append(top_of(run, depth))
    pool = gathered(row, tops)
    grades = {} if row.judged_in_id is None else load_grades(row.judged_in_id)
    content = b"".join(file_of(pool))
    depths = [at for at in DEPTHS if at <= depth]
    facts = {
        **asdict(pool.summary(grades)),
        "method": pool.method,
        "runs": [run.pk for run in runs],
        "priorities": [priority_of(run) for run in runs],
        "alone_as_team": alone_as_team(pool, runs),
        "topics": len(pool.topics),
        "depths": by_depth(depth_table(tops, depths) if depths else {}),
        "depths_new": by_depth(depth_table(tops, depths, grades) if depths else {}),
    }
    name = default_storage.save(f"pools/{row.pk}/pool-{secrets.token_hex(4)}", ContentFile(content))
    digest = hashlib.sha256(content).hexdigest()
    return lambda: publish_pool(row, name, digest, facts)


def top_of(run: Run, depth: int) -> ReadRun:
    """The first `depth` documents of a run for every topic; the rest of its file stays packed."""
    with default_storage.open(run.ranking_file.name) as file:
        rankings = Rankings(file)
        tops = {
            number.encode("utf-8", "surrogateescape"): ranking.cut(depth)
            for number in rankings
            if (ranking := rankings.ranking(number)) is not None
        }
    return ReadRun(run.tag or run.pk, tops, lines=0, problems=Problems())


def priority_of(run: Run) -> int | None:
    """The priority for judging that is stated of a run; 1 is judged first."""
    return run.facts.get("priority")


def by_turn(runs: Iterable[Run]) -> list[Run]:
    """Team by team: by priority, then the primary run, then as they arrived."""
    return sorted(runs, key=_turn)


def _turn(run: Run) -> tuple[str, int, float, bool, datetime]:
    priority = priority_of(run) or math.inf
    return run.team.name, run.team_id, priority, not run.is_primary, run.received_at


def unused_name(track: models.Track) -> str:
    """One number after the last, whatever was discarded between."""
    found = (re.fullmatch(r"pool-([0-9]+)", pool.name) for pool in track.pools.all())
    return f"pool-{max((int(each[1]) for each in found if each), default=0) + 1}"


def first_of_each_team(runs: Iterable[Run], most: int) -> list[Run]:
    """So many runs of each team, those whose turn is first."""
    teams = groupby(by_turn(runs), key=lambda run: run.team_id)
    return [run for _, own in teams for run in list(own)[:most]]


def alone_as_team(pool: Pool, runs: Sequence[Run]) -> list[int]:
    """For every run how many documents no run of another team has."""
    numbers: dict[int, list[int]] = {}
    for number, run in enumerate(runs):
        numbers.setdefault(run.team_id, []).append(number)
    alone = {
        team: sum(len(docnos) for docnos in pool.brought_only_by(own).values())
        for team, own in numbers.items()
    }
    return [alone[run.team_id] for run in runs]


def by_depth(table: Mapping[int, int]) -> dict[str, int]:
    """As JSON keeps it."""
    return {str(depth): documents for depth, documents in table.items()}


def gathered(row: models.Pool, tops: Sequence[ReadRun]) -> Pool:
    if row.method == models.Pool.Method.DEPTH:
        return depth_pool(tops, row.size)
    return METHODS[row.method](tops, row.size)


def file_of(pool: Pool) -> Iterator[bytes]:
    yield "\t".join(COLUMNS).encode() + b"\n"
    for number, each in pool:
        yield b"\t".join((number, each.docno, places_of(each, pool), *drawn(each))) + b"\n"


def places_of(document: Pooled, pool: Pool) -> bytes:
    return " ".join(f"{pool.runs[place.run]}:{place.rank}" for place in document.places).encode()


def drawn(document: Pooled) -> tuple[bytes, bytes]:
    return str(document.stratum).encode(), str(document.inclusion).encode()


def publish_pool(row: models.Pool, name: str, digest: str, facts: dict[str, object]) -> None:
    models.Pool.objects.filter(pk=row.pk, state=models.Pool.State.QUEUED).update(
        state=models.Pool.State.PROPOSED, file=name, sha256=digest, summary=facts
    )


def pool_failed(pool_id: str, reason: str) -> None:
    models.Pool.objects.filter(pk=pool_id).update(state=models.Pool.State.FAILED, reason=reason)


@dataclass(frozen=True)
class PooledRun:
    """A run of a pool: what it has of it, what it alone brought, what its team alone did."""

    run: Run
    priority: int | None
    brought: int | None
    alone: int
    alone_as_team: int | None


def pooled_runs(pool: models.Pool) -> list[PooledRun]:
    """The runs of a pool in their turn, with what was counted when it was gathered."""
    runs = pool.runs.select_related("team").in_bulk()
    names = ("runs", "priorities", "brought", "alone", "alone_as_team")
    counted = zip_longest(*(pool.summary.get(name, []) for name in names))
    found = [PooledRun(runs[run_id], *rest) for run_id, *rest in counted if run_id in runs]
    return sorted(found, key=lambda each: _turn(each.run))


@dataclass(frozen=True)
class Shared:
    """How many documents of a pool so many of its runs have."""

    runs: int
    documents: int


def overlap_of(pool: models.Pool) -> list[Shared]:
    """How many documents one run has, how many two, and so on; numbers nobody has left out."""
    shared = enumerate(pool.summary.get("shared", []), 1)
    return [Shared(runs, documents) for runs, documents in shared if documents]


@dataclass(frozen=True)
class AtDepth:
    """A pool of the same runs at another depth, and what judging it takes."""

    depth: int
    documents: int
    new: int | None
    hours: int | None


def depths_of(pool: models.Pool, minutes: float) -> list[AtDepth]:
    """How many documents a pool of these runs has at each depth, at so many minutes each."""
    new = pool.summary.get("depths_new", {})
    return [
        AtDepth(int(depth), documents, new.get(depth), hours_for(new.get(depth), minutes))
        for depth, documents in pool.summary.get("depths", {}).items()
    ]


def hours_for(judgments: int | None, minutes: float) -> int | None:
    """The whole hours that so many judgments take."""
    return None if judgments is None else math.ceil(judgments * minutes / 60)


def remember_pool(judgment_set: JudgmentSet, pool: models.Pool) -> None:
    """These judgments are of that pool, and of those before it: their runs are the pooled ones."""
    judgment_set.add_pooled_runs(pool.runs.values_list("pk", flat=True), depth_of(pool))
    before = pool.judged_in
    if before is not None and before.pooled_runs.exists():
        judgment_set.add_pooled_runs(
            before.pooled_runs.values_list("pk", flat=True), before.pool_depth
        )


def pool_of(judgment_set: JudgmentSet, viewer: User | AnonymousUser) -> models.Pool | None:
    """The pool that these judgments came back from, for those who organise its track."""
    pools = models.Pool.objects.organised_by(viewer).select_related("track")
    return pools.filter(pk=judgment_set.pool_id).first()


def depth_of(pool: models.Pool) -> int | None:
    """How deep every run of the pool was judged; None where its method gives no such depth."""
    return pool.size if pool.method == models.Pool.Method.DEPTH else None


def lines_of(pool: models.Pool, everything: bool = False) -> Iterator[Line]:
    """The documents of a pool by topic, those without a grade unless all are asked for.

    Within a topic they stand in docno order, which says nothing of the runs.
    """
    judged = {} if everything or pool.judged_in_id is None else load_grades(pool.judged_in_id)
    with default_storage.open(pool.file.name) as file:
        rows = iter(file)
        next(rows)
        for row in rows:
            number, docno, places, _ = row.rstrip(b"\n").split(b"\t", 3)
            if judged.get(number, {}).get(docno, -1) < 0:
                yield Line(*(each.decode("utf-8", "replace") for each in (number, docno, places)))


def trec_lines(pool: models.Pool, everything: bool = False) -> Iterator[bytes]:
    """A TREC pool file: topic and docno on each line."""
    return (f"{each.number} {each.docno}\n".encode() for each in lines_of(pool, everything))


def table_lines(pool: models.Pool, everything: bool = False) -> Iterator[bytes]:
    """The same with the places of each document: run and rank."""
    yield b"topic\tdocno\tplaces\n"
    for each in lines_of(pool, everything):
        yield f"{each.number}\t{each.docno}\t{each.places}\n".encode()


def judged_lines(pool: models.Pool, everything: bool = False) -> Iterator[bytes]:
    """The judgments that were there before, as qrels: the next version has to hold them too."""
    if pool.judged_in_id is None:
        return
    for number, grades in load_grades(pool.judged_in_id).items():
        for docno, grade in grades.items():
            yield b"%b 0 %b %d\n" % (number, docno, grade)


def judging_lines(pool: models.Pool, everything: bool = False) -> Iterator[bytes]:
    """What a judge needs, as JSON lines: the topic, the docno, and the document's words."""
    topics = {topic.number: topic for topic in pool.track.collection.topics.all()}
    stored = pool.track.collection.documents.name
    documents = open_documents(stored) if stored else None
    for number, lines in groupby(lines_of(pool, everything), key=lambda line: line.number):
        yield from _with_texts(topics[number], list(lines), documents)


def _with_texts(
    topic: models.Topic, lines: list[Line], documents: Documents | None
) -> Iterator[bytes]:
    found = documents.find_many(line.docno for line in lines) if documents else {}
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
