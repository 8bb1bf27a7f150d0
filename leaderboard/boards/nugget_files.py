"""Files of nuggets and marks for downloads and archives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from evaluation.answers.labels import NAMES, UNJUDGED
from evaluation.answers.nugget_writing import WRITERS, NuggetWriter
from evaluation.answers.nuggets import Nugget
from evaluation.reading.columns import is_identifier
from leaderboard.boards.disclosure import Sight
from leaderboard.collections.mark_layers import load_assignments, load_support
from leaderboard.collections.nuggets import load_bank
from leaderboard.models import MarkedAnswer, MarkLayer, NuggetVersion, Run
from leaderboard.runs.answers import read_answers

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

    Runs go by the tags that the viewer sees, or by their ids where tags are repeated. A mark of
    all that say the same stands at each run that does.
    """
    runs = {run.pk: sight.with_shown_name(run) for run in sight.runs().accepted()}
    times = Counter(run.tag for run in runs.values())
    names = {key: run.tag if times[run.tag] == 1 else key for key, run in runs.items()}
    if layer.marked_answers.filter(run=None).exists():
        for key, name in names.items():
            yield from _render_run(layer, runs[key], name)
        return
    rows = layer.marked_answers.filter(run__in=runs).select_related("topic")
    for row in rows.order_by("run", "topic__position").iterator(chunk_size=200):
        name = names[row.run_id]
        if layer.nuggets_id is None:
            yield from _supported(row, name)
            continue
        nuggets = load_bank(layer.nuggets_id).topics[row.topic.number]
        yield from _assigned(nuggets, bytes(row.codes), name, row.topic.number)


def _render_run(layer: MarkLayer, run: Run, name: str) -> Iterator[str]:
    """Yield the marks of one run, with those of its texts that other runs share."""
    if layer.nuggets_id is None:
        support = load_support(layer, run)
        for topic, answer in read_answers(run):
            for number in range(1, len(answer.sentences) + 1):
                for docno, code in support.of_sentence(run.pk, answer, number).items():
                    yield f"{name} {topic} {number} {docno} {NAMES[code]}\n"
        return
    bank, assigned = load_bank(layer.nuggets_id), load_assignments(layer, run)
    for topic, answer in read_answers(run):
        codes = assigned.codes(run.pk, topic, bank, answer).tolist()
        yield from _assigned(bank.topics.get(topic, ()), codes, name, topic)


def _assigned(
    nuggets: Sequence[Nugget], codes: Iterable[int], run: str, topic: str
) -> Iterator[str]:
    for number, code in enumerate(codes, 1):
        if code != UNJUDGED:
            key = nuggets[number - 1].key
            name = key if is_identifier(key.encode()) else number
            yield f"{run} {topic} {name} {NAMES[code]}\n"


def _supported(row: MarkedAnswer, run: str) -> Iterator[str]:
    for sentence, codes in row.support.items():
        for docno, code in codes.items():
            yield f"{run} {row.topic.number} {sentence} {docno} {NAMES[code]}\n"
