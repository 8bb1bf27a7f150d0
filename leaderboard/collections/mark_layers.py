"""Layers of marks: read from a file, checked against runs and nuggets, and stored run by run.

`check_marks` and `import_marks` are the work of a job, like those of nuggets. Runs go by their
tag or id; marks of other runs are counted and left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from django.db.models import Q
from pydantic_core import to_json

from evaluation.answers.assignment_files import read_assignments
from evaluation.answers.labels import NAMES, UNJUDGED
from evaluation.answers.marks import PEOPLE, AssignmentLayer, AssignmentMark, SupportLayer
from evaluation.answers.nugget_changes import BankChanges
from evaluation.answers.nuggets import NuggetBank
from evaluation.answers.support_files import read_support
from evaluation.phrases import counted
from evaluation.problems import Problems
from evaluation.reading.judging.machine_replies import read_replies
from leaderboard.collections.checking import check_version
from leaderboard.collections.importing import (
    CHUNK_ROWS,
    delete_in_chunks,
    open_several,
    publish_imported,
)
from leaderboard.collections.machine_replies import keep_replies
from leaderboard.collections.nuggets import load_bank
from leaderboard.collections.preview import NAMES_SHOWN
from leaderboard.models import MarkedAnswer, MarkLayer, Run, Topic, Track
from leaderboard.models.jobs import Progress, Publish


@dataclass(frozen=True)
class MarksPreview:
    """What a check understood of a file of marks; `labels` counts marks by their label."""

    file: str
    about: str
    origin: str
    marks: int
    topics: int
    runs: list[str]
    labels: dict[str, int]


@dataclass
class ReadMarks:
    """The marks of a file that are of runs, topics and nuggets of a track, as rows."""

    layer: MarkLayer
    rows: list[MarkedAnswer] = field(default_factory=list)
    labels: Counter[int] = field(default_factory=Counter)
    runs: dict[str, str] = field(default_factory=dict)

    @property
    def num_topics(self) -> int:
        return len({row.topic_id for row in self.rows})

    @property
    def num_marks(self) -> int:
        return self.labels.total() - self.labels[UNJUDGED]


def read_marks(layer: MarkLayer) -> tuple[ReadMarks, Problems]:
    """Read the file of a layer. Raises Refused."""
    with open_several(layer.file.name) as file:
        if layer.about == MarkLayer.About.SUPPORT:
            support = read_support(file)
            check_origin(layer, support.origin, support.problems)
            names = {run for run, _ in support.by_place}
            return _with_support(layer, support, find_marked_runs(layer.track, names))
        assert layer.nuggets_id is not None
        bank = load_bank(layer.nuggets_id)
        assigned = read_assignments(file, bank)
    check_origin(layer, assigned.origin, assigned.problems)
    runs = find_marked_runs(layer.track, {run for run, _ in assigned.marks})
    return _with_assignments(layer, assigned, bank, runs)


def check_origin(layer: MarkLayer, origin: str, problems: Problems) -> None:
    """Add E_LAYER if a file says that a machine marked, where people were named."""
    if origin != PEOPLE and layer.made_by == MarkLayer.MadeBy.PEOPLE:
        message = f"the file has marks of the {origin}, and the layer is by people"
        problems.error("E_LAYER", None, message, hint="Import it as the layer of this machine.")


def find_marked_runs(track: Track, names: Iterable[str]) -> dict[str, list[str]]:
    """Return the ids of the runs that each name may mean: an id, or the tag of accepted runs."""
    found: dict[str, list[str]] = {name: [] for name in names}
    runs = track.runs.accepted().filter(withdrawn_at=None).order_by("received_at", "pk")
    for run_id, tag in runs.values_list("pk", "tag"):
        for name in {run_id, tag} & found.keys():
            found[name].append(run_id)
    return found


def _with_assignments(
    layer: MarkLayer, read: AssignmentLayer, bank: NuggetBank, runs: Mapping[str, list[str]]
) -> tuple[ReadMarks, Problems]:
    marks, topics = ReadMarks(layer), _topics_of(layer)
    marks.runs, problems = name_runs(runs, read.problems), read.problems
    named = {
        (topic, marks.runs[run], ""): of_answer
        for (run, topic), of_answer in read.marks.items()
        if run in marks.runs
    }
    by_key = {(topic, None, key.hex()): of for (topic, key), of in read.by_key.items()}
    unknown: Counter[str] = Counter()
    for (topic, run_id, key), of_answer in (named | by_key).items():
        if topic not in topics or bank.topics.get(topic) is None:
            unknown["topics"] += 1
            continue
        codes = np.full(len(bank.topics[topic]), UNJUDGED, np.uint8)
        said: dict[str, int] = {}
        for name, mark in of_answer.items():
            place = bank.place_of(topic, name)
            if place is None:
                unknown["nuggets"] += 1
                continue
            codes[place] = mark.code
            if mark.sentence:
                said[str(place)] = mark.sentence
        marks.labels.update(codes[codes != UNJUDGED].tolist())
        row = MarkedAnswer(layer=layer, topic_id=topics[topic], run_id=run_id, key=key)
        row.codes, row.said = codes.tobytes(), said
        marks.rows.append(row)
    _warn_of_unknown(unknown, problems)
    return marks, problems


def _with_support(
    layer: MarkLayer, read: SupportLayer, runs: Mapping[str, list[str]]
) -> tuple[ReadMarks, Problems]:
    marks, topics = ReadMarks(layer), _topics_of(layer)
    marks.runs, problems = name_runs(runs, read.problems), read.problems
    found: dict[tuple[str, str | None], dict[str, dict[str, int]]] = {}
    for (run, topic), pairs in read.by_place.items():
        if run in marks.runs:
            for (sentence, docno), code in pairs.items():
                of_answer = found.setdefault((topic, marks.runs[run]), {})
                of_answer.setdefault(str(sentence), {})[docno] = code
    for (topic, key), codes in read.by_text.items():
        found.setdefault((topic, None), {})[key.hex()] = {**codes}
    unknown: Counter[str] = Counter()
    for (topic, run_id), support in found.items():
        if topic not in topics:
            unknown["topics"] += 1
            continue
        marks.labels.update(code for codes in support.values() for code in codes.values())
        row = MarkedAnswer(layer=layer, topic_id=topics[topic], run_id=run_id, support=support)
        marks.rows.append(row)
    rows = {(row.run_id, row.topic_id): row for row in marks.rows if row.run_id is not None}
    for (run, topic), needed in read.needs.items():
        row = rows.get((marks.runs.get(run), topics.get(topic)))
        if row is not None:
            row.said = {str(number): value for number, value in needed.items()}
    _warn_of_unknown(unknown, problems)
    return marks, problems


def _topics_of(layer: MarkLayer) -> dict[str, int]:
    return dict(layer.track.collection.topics.values_list("number", "pk"))


def name_runs(runs: Mapping[str, list[str]], problems: Problems) -> dict[str, str]:
    """Return the run of each name; E_RUN where it may mean several, W_RUN where it means none."""
    named = {name: found[0] for name, found in runs.items() if found}
    for name in sorted(name for name, found in runs.items() if len(found) > 1):
        message = f"{counted(len(runs[name]), 'run')} of the track are called {name}"
        hint = "Name each by its id instead."
        problems.error("E_RUN", None, message, name, hint)
    if len(set(named.values())) < len(named):
        problems.error("E_RUN", None, "a run goes by its id and by its tag in one file")
    unknown = sorted(runs.keys() - named.keys())
    if unknown:
        message = f"marks of {counted(len(unknown), 'unknown run')} are ignored"
        problems.warn("W_RUN", None, message, unknown[0], count=len(unknown))
    if unknown and not named:
        message = "no run of the track has the name of a run in the file"
        problems.error("E_RUN", None, message, unknown[0])
    return named


def _warn_of_unknown(unknown: Counter[str], problems: Problems) -> None:
    if number := unknown["topics"]:
        message = f"marks of {counted(number, 'answer')} to topics without nuggets are ignored"
        problems.warn("W_UNKNOWN_TOPIC", None, message, count=number)
    if number := unknown["nuggets"]:
        message = f"{counted(number, 'mark')} of unknown nuggets are ignored"
        problems.warn("W_NUGGET", None, message, count=number)


def check_marks(layer_id: str, progress: Progress) -> Publish:
    """Check new marks and preview what was understood."""
    layer = _layer(layer_id)

    def read() -> tuple[MarksPreview, Problems]:
        marks, problems = read_marks(layer)
        preview = MarksPreview(
            file=layer.filename,
            about=layer.about,
            origin=layer.origin,
            marks=marks.num_marks,
            topics=marks.num_topics,
            runs=sorted(marks.runs)[:NAMES_SHOWN],
            labels={NAMES[code]: marks.labels[code] for code in NAMES if marks.labels[code]},
        )
        return preview, problems

    return check_version(layer, read)


def import_marks(layer_id: str, progress: Progress) -> Publish:
    """Write the marks of every answer; they can be used once the layer is published."""
    layer = _layer(layer_id)
    delete_in_chunks(layer.marked_answers.all())
    marks, problems = read_marks(layer)
    problems.raise_if_refused()
    if layer.joins is not None:
        join_marks(marks, layer.joins)
    MarkedAnswer.objects.bulk_create(marks.rows, batch_size=CHUNK_ROWS)
    if layer.made_by == MarkLayer.MadeBy.MACHINE:
        with open_several(layer.file.name) as file:
            keep_replies(layer, read_replies(file))
    counts = {
        "num_marks": marks.num_marks,
        "num_runs": len({row.run_id for row in marks.rows if row.run_id is not None}),
        "num_topics": marks.num_topics,
    }
    return lambda: publish_imported(layer, counts)


def join_marks(marks: ReadMarks, earlier: MarkLayer) -> None:
    """Add the marks of an earlier layer; where both mark a pair, the new mark counts."""
    new = {(row.topic_id, row.run_id, row.key): row for row in marks.rows}
    for before in earlier.marked_answers.all():
        row = new.get((before.topic_id, before.run_id, before.key))
        if row is not None:
            _join_rows(row, before)
            continue
        before.pk, before.layer = None, marks.layer
        before._state.adding = True
        marks.rows.append(before)
    marks.labels = sum(map(_count_codes, marks.rows), Counter())


def _join_rows(row: MarkedAnswer, before: MarkedAnswer) -> None:
    both = zip(bytes(row.codes), bytes(before.codes), strict=True)
    row.codes = bytes(old if code == UNJUDGED else code for code, old in both)
    row.said = {**before.said, **row.said}
    for sentence, codes in before.support.items():
        row.support[sentence] = {**codes, **row.support.get(sentence, {})}


def _count_codes(row: MarkedAnswer) -> Counter[int]:
    """Count the marks of a row by their codes."""
    supported = (code for codes in row.support.values() for code in codes.values())
    return Counter([*bytes(row.codes), *supported])


def _layer(layer_id: str) -> MarkLayer:
    return MarkLayer.objects.select_related("track__collection").get(pk=layer_id)


def _rows_of(
    layer: MarkLayer, run: Run | None, topic: Topic | None = None
) -> Iterator[tuple[MarkedAnswer, str]]:
    """Yield the marks of a run, or of all, and those of all that say the same, with their topic."""
    rows = layer.marked_answers.select_related("topic")
    if run is not None:
        rows = rows.filter(Q(run=run) | Q(run=None))
    for row in rows if topic is None else rows.filter(topic=topic):
        yield row, row.topic.number


def load_assignments(layer: MarkLayer, run: Run | None = None) -> AssignmentLayer:
    """Return the marks of a run, or of all runs, by the keys of nuggets, under its id."""
    assert layer.nuggets_id is not None
    bank = load_bank(layer.nuggets_id)
    found = AssignmentLayer(layer.origin, {}, Problems())
    by_run: dict[tuple[str, str], dict[str, AssignmentMark]] = {}
    by_key: dict[tuple[str, bytes], dict[str, AssignmentMark]] = {}
    for row, topic in _rows_of(layer, run):
        marks = {
            nugget.key: AssignmentMark(code, row.said.get(str(place), 0))
            for place, (nugget, code) in enumerate(
                zip(bank.topics[topic], bytes(row.codes), strict=True)
            )
            if code != UNJUDGED
        }
        if row.run_id is None:
            by_key[topic, bytes.fromhex(row.key)] = marks
        else:
            by_run[row.run_id, topic] = marks
    return replace(found, marks=by_run, by_key=by_key)


def load_support(
    layer: MarkLayer, run: Run | None = None, topic: Topic | None = None
) -> SupportLayer:
    """Return the marks of the sentences of a run, or of all, under its id, of all topics or one."""
    by_place: dict[tuple[str, str], dict[tuple[int, str], int]] = {}
    by_text: dict[tuple[str, bytes], Mapping[str, int]] = {}
    needs: dict[tuple[str, str], Mapping[int, bool]] = {}
    for row, number in _rows_of(layer, run, topic):
        if row.run_id is None:
            by_text |= {(number, bytes.fromhex(k)): codes for k, codes in row.support.items()}
            continue
        by_place[row.run_id, number] = {
            (int(sentence), docno): code
            for sentence, codes in row.support.items()
            for docno, code in codes.items()
        }
        needs[row.run_id, number] = {int(place): bool(value) for place, value in row.said.items()}
    return SupportLayer(layer.origin, by_place, by_text, Problems(), needs)


def render_carried(layer: MarkLayer, changes: BankChanges, keeps_reworded: bool) -> Iterator[bytes]:
    """Yield the marks of a layer as marks of the nuggets of another version, a line for each.

    What was said of a nugget that is gone is excluded, and what was said of one in other words
    unless it is to be kept. The lines are read as a file of marks is.
    """
    new_keys = {
        topic: {
            each.old_place: each.new.key for each in kept if keeps_reworded or not each.is_reworded
        }
        for topic, kept in changes.kept.items()
    }
    rows = layer.marked_answers.select_related("topic").order_by("pk")
    for row in rows.iterator(chunk_size=2_000):
        number, codes = row.topic.number, bytes(row.codes)
        marked = {"answer": row.key} if row.run_id is None else {"run": row.run_id}
        for place, key in new_keys.get(number, {}).items():
            if codes[place] == UNJUDGED:
                continue
            mark = {"topic": number, **marked, "nugget": key, "label": NAMES[codes[place]]}
            said = row.said.get(str(place))
            yield to_json(mark if said is None else mark | {"sentence": said}) + b"\n"
