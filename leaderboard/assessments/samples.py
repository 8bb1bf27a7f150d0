"""The sample on which people check judgments by a machine: drawn by the site, judged blind.

It is drawn with known probabilities from the first documents of the runs, so that it corrects the
means of a board by the machine (`sample_frames`).  Where these are too few, or before there are
runs, it is filled evenly over the machine's other grades, first from topics with few documents so
far: those say how far people agree with the machine, but nothing of means.
"""

from __future__ import annotations

import hashlib
import random
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db.models import Count

from evaluation.agreement import Estimate, count_opinions
from evaluation.conventions import POOLED
from evaluation.pooling import Pool, Pooled
from evaluation.pooling.pools import in_docno_order
from leaderboard import models
from leaderboard.assessments.judgments import settle_marks
from leaderboard.assessments.sample_frames import (
    choose_depth,
    draw_framed,
    find_seed,
)
from leaderboard.collections.groups import number_names
from leaderboard.collections.pool_frames import store_frame
from leaderboard.collections.pools import (
    count_unique_by_team,
    find_priority,
    read_lines,
    render_pool,
)
from leaderboard.display.numbers import MISSING, counted, score
from leaderboard.models import Assessment, Judgment, JudgmentSet, Run, Topic
from leaderboard.models.collections import load_grades

# A public board by a machine needs at least this many documents that people judged.
LEAST_DOCUMENTS, LEAST_TOPICS = 200, 20
# How many are drawn: some documents cannot be judged.
NUM_DRAWN = 240
Grades = Mapping[bytes, Mapping[bytes, int]]


@dataclass(frozen=True)
class Size:
    """A number of documents and of topics."""

    documents: int
    topics: int

    def __str__(self) -> str:
        return f"{counted(self.documents, 'document')} of {counted(self.topics, 'topic')}"


@dataclass(frozen=True)
class SampleCheck:
    """How far settled marks of people agree with the machine on its samples."""

    needed: Size
    judged: Size
    share: float | None = None
    kappa: Estimate | None = None

    @property
    def is_enough(self) -> bool:
        """Whether people judged enough for a public board."""
        enough = self.judged.documents >= self.needed.documents
        return enough and self.judged.topics >= self.needed.topics

    @property
    def text(self) -> str:
        """The agreement in words; "" before any sample is closed."""
        if self.share is None or self.kappa is None:
            return ""
        kappa = score(self.kappa.value, 2)
        if MISSING not in (low := score(self.kappa.low, 2), high := score(self.kappa.high, 2)):
            kappa = f"{kappa} [{low}, {high}]"
        return (
            f"checked by people on {counted(self.judged.documents, 'document')}: "
            f"same grade {100 * self.share:.0f} %, kappa {kappa}"
        )


def find_machine_version(judgment_set: JudgmentSet) -> JudgmentSet | None:
    """Return the judgments by the machine: these, or those that fill what people left."""
    if judgment_set.made_by == JudgmentSet.MadeBy.BOTH:
        return judgment_set.machine_version
    return judgment_set if judgment_set.made_by == JudgmentSet.MadeBy.MACHINE else None


def check_machine(by_machine: JudgmentSet) -> SampleCheck:
    """Return how far people agree with a machine on the closed samples of its judgments."""
    closed = find_closed(by_machine)
    if not closed:
        return SampleCheck(_find_needed(by_machine.pk), Size(0, 0))
    return check_closed_samples(by_machine.pk, closed)


def describe_check(by_machine: JudgmentSet) -> str:
    """Return the agreement with people in words; "" before any sample is closed."""
    closed = find_closed(by_machine)
    return check_closed_samples(by_machine.pk, closed).text if closed else ""


def find_closed(by_machine: JudgmentSet) -> tuple[int, ...]:
    """Return the closed assessments of its samples, the first one first."""
    samples = Assessment.objects.filter(pool__checks=by_machine)
    closed = samples.filter(state=Assessment.State.CLOSED).order_by("pk")
    return tuple(closed.values_list("pk", flat=True))


# Neither a version nor a closed assessment ever changes.
@lru_cache(maxsize=64)
def check_closed_samples(machine_id: int, closed: tuple[int, ...]) -> SampleCheck:
    """Return how far people agree with a machine in these closed assessments."""
    needed = _find_needed(machine_id)
    by_people = load_settled(closed)
    grades = load_grades(machine_id)
    both = {
        (topic, docno): (grade, grades[topic][docno])
        for (topic, docno), grade in by_people.items()
        if grades.get(topic, {}).get(docno, POOLED) != POOLED
    }
    numbers = {topic: place for place, topic in enumerate(dict.fromkeys(t for t, _ in both))}
    if not both:
        return SampleCheck(needed, Size(0, 0))
    pairs = count_opinions(
        np.array(list(both.values()), dtype=np.float64).T,
        np.array([numbers[topic] for topic, _ in both]),
    )
    topics = Topic.objects.filter(collection__judgment_sets=machine_id)
    group_of = dict(topics.values_list("number", "group"))
    kappa = pairs.kappa(groups=number_names([group_of[topic.decode()] for topic in numbers]))
    return SampleCheck(needed, Size(len(both), len(numbers)), pairs.share, kappa)


def load_settled(closed: Sequence[int]) -> dict[tuple[bytes, bytes], int]:
    """Return the grades by people of these assessments, by topic and docno."""
    return {
        (settled.topic.encode(), settled.docno.encode()): settled.grade
        for assessment in Assessment.objects.filter(pk__in=closed).order_by("pk")
        for settled in settle_marks(assessment)
        if settled.grade is not None
    }


def _find_needed(machine_id: int) -> Size:
    """Return what a sample must have: all documents or topics where there are fewer."""
    graded = Judgment.objects.filter(judgment_set=machine_id, grade__gte=0)
    found = graded.aggregate(documents=Count("pk"), topics=Count("topic", distinct=True))
    return Size(min(LEAST_DOCUMENTS, found["documents"]), min(LEAST_TOPICS, found["topics"]))


def explain_unchecked(judgment_set: JudgmentSet) -> str:
    """Return what a public board by a machine still lacks; "" if nothing."""
    by_machine = find_machine_version(judgment_set)
    if by_machine is None or (check := check_machine(by_machine)).is_enough:
        return ""
    return (
        f"A machine made judgments {by_machine}. A public board with them needs a sample that "
        f"people judge: {check.needed}; {check.judged} are judged. "
        f"Draw a sample on the page of judgments {by_machine}, judge it, and close its judging."
    )


def allocate(available: Mapping[int, int], size: int) -> dict[int, int]:
    """Share out a sample evenly over grades; what a rare grade lacks goes to the others.

    >>> allocate({0: 500, 1: 100, 2: 10}, 90)
    {0: 40, 1: 40, 2: 10}
    """
    shares: dict[int, int] = {}
    left = size
    rarest_first = sorted(available, key=lambda grade: (available[grade], -grade))
    for place, grade in enumerate(rarest_first):
        shares[grade] = min(available[grade], left // (len(rarest_first) - place))
        left -= shares[grade]
    return dict(sorted(shares.items()))


def draw_documents(grades: Grades, size: int, seed: int) -> dict[bytes, list[bytes]]:
    """Draw documents evenly over grades, by topic; the same seed draws the same ones."""
    chance = random.Random(seed)
    strata: dict[int, dict[bytes, list[tuple[float, bytes]]]] = {}
    for topic, docno, grade in sorted((t, d, g) for t, of in grades.items() for d, g in of.items()):
        strata.setdefault(grade, {}).setdefault(topic, []).append((chance.random(), docno))
    quota = allocate({grade: sum(map(len, of.values())) for grade, of in strata.items()}, size)
    drawn: dict[bytes, list[bytes]] = {topic: [] for topic in grades}
    for grade, of_topic in sorted(strata.items()):
        waiting = {topic: sorted(keyed) for topic, keyed in of_topic.items()}
        for _ in range(quota[grade]):
            topic = min(waiting, key=lambda each: (len(drawn[each]), -waiting[each][-1][0]))
            drawn[topic].append(waiting[topic].pop()[1])
            if not waiting[topic]:
                del waiting[topic]
    return {topic: sorted(docnos) for topic, docnos in drawn.items() if docnos}


def fill_sample(row: models.Pool, runs: Sequence[Run], seed: int | None = None) -> None:
    """Draw the documents of a sample, and store them in the pool with its frame and summary.

    The frame has the first documents of these runs.  A document that people judged in an earlier
    sample keeps its grade and is not judged again.
    """
    assert row.checks is not None
    seed = find_seed(row.checks) if seed is None else seed
    machine, depth = load_machine(row.checks), choose_depth(row.track)
    framed, strata = draw_framed(runs, machine, depth, row.size, seed)
    frame: dict[str, Any] = {}
    if strata:
        stored = store_frame(row, framed, strata, machine)
        row.frame_file.name = stored.name
        frame = {"depth": depth, "machine": row.checks.version, **stored.facts}
    pool = _find_to_judge(row, framed, seed)
    content = b"".join(render_pool(pool))
    name = f"pools/{row.pk}/pool-{secrets.token_hex(4)}"
    row.file.name = default_storage.save(name, ContentFile(content))
    row.sha256 = hashlib.sha256(content).hexdigest()
    row.summary = {
        **asdict(pool.summary()),
        "method": pool.method,
        "runs": [run.pk for run in runs],
        "priorities": [find_priority(run) for run in runs],
        "alone_as_team": count_unique_by_team(pool, runs),
        "topics": len(pool.topics),
        "depths": {},
        "depths_new": {},
        "seed": seed,
        "frame": frame,
    }
    row.save(update_fields=["file", "frame_file", "sha256", "summary"])


def _find_to_judge(row: models.Pool, framed: Pool, seed: int) -> Pool:
    """Return the drawn documents that people have not judged, and others up to the size."""
    assert row.checks is not None
    known = load_settled(find_closed(row.checks))
    documents = {
        topic: [found for found in of if (topic, found.docno) not in known]
        for topic, of in framed.topics.items()
    }
    in_frame = {
        (topic, found.docno)
        for of in (framed.topics, framed.undrawn)
        for topic, founds in of.items()
        for found in founds
    }
    outside = {
        topic: {docno: grade for docno, grade in of.items() if (topic, docno) not in in_frame}
        for topic, of in _load_undrawn(row.checks).items()
    }
    others = draw_documents(outside, max(0, row.size - len(framed)), seed)
    for topic, docnos in others.items():
        documents.setdefault(topic, []).extend(Pooled(docno, ()) for docno in docnos)
    topics = {topic: in_docno_order(of) for topic, of in documents.items() if of}
    return Pool(f"sample@{row.size}", framed.runs, topics)


def _load_undrawn(by_machine: JudgmentSet) -> dict[bytes, dict[bytes, int]]:
    """Return the machine's grades without the documents of earlier samples."""
    earlier = by_machine.samples.exclude(file="")
    drawn = {
        (line.number.encode(), line.docno.encode())
        for pool in earlier
        for line in read_lines(pool, everything=True)
    }
    return {
        topic: {docno: grade for docno, grade in of.items() if (topic, docno) not in drawn}
        for topic, of in load_machine(by_machine).items()
    }


def load_machine(by_machine: JudgmentSet) -> dict[bytes, dict[bytes, int]]:
    """Return the machine's grades, without documents that it was only given."""
    return {
        topic: {docno: grade for docno, grade in judged.items() if grade != POOLED}
        for topic, judged in load_grades(by_machine.pk).items()
    }
