"""Files of nuggets and marks for downloads and archives."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.answers.labels import NAMES, UNJUDGED
from evaluation.answers.nugget_writing import WRITERS, NuggetWriter
from leaderboard.collections.nuggets import load_bank
from leaderboard.models import MarkedAnswer, MarkLayer, NuggetVersion

NUGGET_FORMATS = tuple(WRITERS)


def render_nuggets(version: NuggetVersion, format: str) -> Iterator[bytes]:
    """Yield the nuggets of each topic in the form of a tool."""
    return NuggetWriter(load_bank(version.pk), format).lines()


def render_marks(layer: MarkLayer) -> Iterator[str]:
    """Yield the marks of runs in columns, as an import reads them; runs go by their id.

    Marks of all that say the same are no marks of a run, so the original file alone has them.
    """
    rows = layer.marked_answers.filter(run__isnull=False).select_related("topic")
    for row in rows.order_by("run", "topic__position").iterator(chunk_size=200):
        yield from _assigned(layer, row) if layer.nuggets_id else _supported(row)


def _assigned(layer: MarkLayer, row: MarkedAnswer) -> Iterator[str]:
    assert layer.nuggets_id is not None
    nuggets = load_bank(layer.nuggets_id).topics[row.topic.number]
    for number, code in enumerate(bytes(row.codes), 1):
        if code != UNJUDGED:
            name = number if " " in nuggets[number - 1].key else nuggets[number - 1].key
            yield f"{row.run_id} {row.topic.number} {name} {NAMES[code]}\n"


def _supported(row: MarkedAnswer) -> Iterator[str]:
    for sentence, codes in row.support.items():
        for docno, code in codes.items():
            yield f"{row.run_id} {row.topic.number} {sentence} {docno} {NAMES[code]}\n"
