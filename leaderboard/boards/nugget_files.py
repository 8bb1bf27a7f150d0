"""Files of nuggets and marks for downloads and archives."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from evaluation.answers.labels import NAMES, UNJUDGED
from evaluation.answers.marks import AssignmentLayer, SupportLayer
from evaluation.answers.nugget_writing import WRITERS, NuggetWriter
from evaluation.answers.nuggets import Nugget
from evaluation.answers.runs import Answer
from evaluation.answers.verdicts import AnswerMarks, write_verdicts
from evaluation.reading.columns import is_identifier
from leaderboard.boards.disclosure import Sight
from leaderboard.collections.mark_layers import load_assignments, load_support
from leaderboard.collections.nuggets import load_bank
from leaderboard.models import MarkedAnswer, MarkLayer, NuggetVersion, Run
from leaderboard.runs.answers import read_answers
from leaderboard.scoring.answer_marks import find_layer

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


def results_name(slug: str, layer: str) -> str:
    """Return the name of the downloaded results of ARGUE."""
    return f"{slug}-marks-{layer}.argue.jsonl"


def render_results(sight: Sight, layer: MarkLayer) -> Iterator[bytes]:
    """Yield the marks of nuggets, with those of support on the board, as ARGUE's evaluator does.

    An answer without a mark of either is left out.
    """
    assert layer.nuggets_id is not None
    bank, support = load_bank(layer.nuggets_id), find_layer(sight.track, "support")
    for run, name in name_runs(sight).items():
        assigned = load_assignments(layer, run)
        supported = load_support(support, run) if support is not None else None
        for topic, answer in read_answers(run):
            marks = mark_answer(run, answer, assigned, supported)
            if marks.nuggets or any(marks.support.values()):
                verdicts = write_verdicts(name, answer, bank.topics.get(topic, ()), marks)
                yield json.dumps(verdicts, ensure_ascii=False).encode() + b"\n"


def mark_answer(
    run: Run, answer: Answer, assigned: AssignmentLayer, supported: SupportLayer | None
) -> AnswerMarks:
    """Return what two layers say of one answer."""
    nuggets = assigned.of_answer(run.pk, answer.topic, answer)
    if supported is None:
        return AnswerMarks(nuggets)
    numbers = range(1, len(answer.sentences) + 1)
    support = {number: supported.of_sentence(run.pk, answer, number) for number in numbers}
    return AnswerMarks(nuggets, support, supported.needs.get((run.pk, answer.topic), {}))


def name_runs(sight: Sight) -> dict[Run, str]:
    """Return runs with the tags that the viewer sees, or their ids where tags are repeated."""
    runs = [sight.with_shown_name(run) for run in sight.runs().accepted()]
    times = Counter(run.tag for run in runs)
    return {run: run.tag if times[run.tag] == 1 else run.pk for run in runs}


def render_marks(sight: Sight, layer: MarkLayer) -> Iterator[str]:
    """Yield the marks of runs in columns, as imports and `answers score` read them.

    A mark of all that say the same stands at each run that does.
    """
    named = name_runs(sight)
    if layer.marked_answers.filter(run=None).exists():
        for run, name in named.items():
            yield from _render_run(layer, run, name)
        return
    names = {run.pk: name for run, name in named.items()}
    rows = layer.marked_answers.filter(run__in=names).select_related("topic")
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
