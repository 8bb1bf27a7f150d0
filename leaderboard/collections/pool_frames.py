"""The frame of a sampled pool: every document or pair, drawn or not, kept for good.

Each has the machine's grade, if there is one, the number of runs that brought it, its stratum and
the probability with which it was drawn.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from evaluation.conventions import POOLED
from evaluation.correction import COVERS, FrameRow, SampledStratum
from evaluation.pooling import Pool
from leaderboard import models

COLUMNS = ("topic", "docno", "grade", "runs", "stratum", "inclusion", "drawn")

Grades = Mapping[bytes, Mapping[bytes, int]]


@dataclass(frozen=True)
class StoredFrame:
    """The name of the file of a frame, and what the summary of its pool says of it."""

    name: str
    facts: dict[str, Any]


@dataclass(frozen=True)
class DrawnStratum:
    """A stratum in words: which runs have its pairs, how many there are, and how many are drawn."""

    cover: str
    size: int
    drawn: int

    @property
    def inclusion(self) -> float:
        """The probability with which each was drawn."""
        return self.drawn / self.size


def list_strata(row: models.Pool) -> list[DrawnStratum]:
    """Return the strata of a drawn pool; none of one that is judged whole."""
    strata = row.summary.get("frame", {}).get("strata", []) if row.drawn is not None else []
    return [DrawnStratum(COVERS[each["cover"]], each["size"], each["drawn"]) for each in strata]


def store_frame(
    row: models.Pool, sample: Pool, strata: Sequence[SampledStratum], machine: Grades
) -> StoredFrame:
    """Store the frame of a pool under a new name. The runs are those of the pool."""
    content = b"".join(render_frame(sample, machine))
    name = f"pools/{row.pk}/frame-{secrets.token_hex(4)}"
    facts = {
        "documents": len(sample) + sum(map(len, sample.undrawn.values())),
        "drawn": len(sample),
        "strata": [asdict(stratum) for stratum in strata],
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    return StoredFrame(default_storage.save(name, ContentFile(content)), facts)


def render_frame(sample: Pool, machine: Grades) -> Iterator[bytes]:
    """Yield the lines of the file, by topic and docno."""
    yield "\t".join(COLUMNS).encode() + b"\n"
    for topic in sample.topics:
        graded = machine.get(topic, {})
        both = ((False, sample.undrawn[topic]), (True, sample.topics[topic]))
        rows = [(found, is_drawn) for is_drawn, of in both for found in of]
        for found, is_drawn in sorted(rows, key=lambda row: row[0].docno):
            numbers = (found.stratum, found.inclusion, int(is_drawn))
            grade, runs = graded.get(found.docno, POOLED), len(found.places)
            cells = "\t".join(map(str, (grade, runs, *numbers)))
            yield b"%b\t%b\t%b\n" % (topic, found.docno, cells.encode())


def read_frame(row: models.Pool) -> tuple[list[FrameRow], dict[bytes, dict[bytes, int]]]:
    """Return the documents of a frame, and the machine's grades of them."""
    with default_storage.open(row.frame_file.name) as file:
        lines = file.read().splitlines()[1:]
    rows: list[FrameRow] = []
    grades: dict[bytes, dict[bytes, int]] = {}
    for line in lines:
        topic, docno, grade, runs, stratum, _, drawn = line.split(b"\t")
        grades.setdefault(topic, {})[docno] = int(grade)
        rows.append(FrameRow(topic, docno, int(runs), int(stratum), drawn == b"1"))
    return rows, grades
