"""Files of nuggets and marks for downloads and archives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from evaluation.answers.labels import NAMES, UNJUDGED
from evaluation.answers.nugget_writing import WRITERS, NuggetWriter
from evaluation.reading.columns import is_identifier
from leaderboard.boards.disclosure import Sight
from leaderboard.collections.nuggets import load_bank
from leaderboard.models import MarkedAnswer, MarkLayer, NuggetVersion

NUGGET_FORMATS = tuple(WRITERS)


def nuggets_name(slug: str, version: str) -> str:
    """Return the name of the downloaded file of nuggets."""
    return f"{slug}-nuggets-{version}.jsonl"


def marks_name(slug: str, layer: str) -> str:
    """Return the name of the downloaded file of marks."""
    return f"{slug}-marks-{layer}.txt"


def render_nuggets(version: NuggetVersion, format: str) -> Iterator[bytes]:
    """Yield the nuggets of each topic in the form of a tool."""
    return NuggetWriter(load_bank(version.pk), format).lines()


def render_marks(sight: Sight, layer: MarkLayer) -> Iterator[str]:
    """Yield the marks of runs in columns, as imports and `answers score` read them.

    Runs go by the tags that the viewer sees, or by their ids where tags are repeated. Marks of
    all that say the same are marks of no run, so the original file alone has them.
    """
    runs = {run.pk: sight.with_shown_name(run) for run in sight.runs().accepted()}
    times = Counter(run.tag for run in runs.values())
    names = {key: run.tag if times[run.tag] == 1 else key for key, run in runs.items()}
    rows = layer.marked_answers.filter(run__in=runs).select_related("topic")
    for row in rows.order_by("run", "topic__position").iterator(chunk_size=200):
        name = names[row.run_id]
        yield from _assigned(layer, row, name) if layer.nuggets_id else _supported(row, name)


def _assigned(layer: MarkLayer, row: MarkedAnswer, run: str) -> Iterator[str]:
    assert layer.nuggets_id is not None
    nuggets = load_bank(layer.nuggets_id).topics[row.topic.number]
    for number, code in enumerate(bytes(row.codes), 1):
        if code != UNJUDGED:
            key = nuggets[number - 1].key
            name = key if is_identifier(key.encode()) else number
            yield f"{run} {row.topic.number} {name} {NAMES[code]}\n"


def _supported(row: MarkedAnswer, run: str) -> Iterator[str]:
    for sentence, codes in row.support.items():
        for docno, code in codes.items():
            yield f"{run} {row.topic.number} {sentence} {docno} {NAMES[code]}\n"
