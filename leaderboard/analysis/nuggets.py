"""Nuggets of a track for readers: the bank in use, who has which, and one nugget."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evaluation.answers.labels import CONTRADICTS, NONE, PARTIAL, SUPPORT, UNJUDGED
from evaluation.answers.nuggets import Nugget
from leaderboard.boards.disclosure import Sight
from leaderboard.boards.standings import Board
from leaderboard.collections.nuggets import load_bank, load_nuggets
from leaderboard.display.csv_tables import CsvTable, tabulate
from leaderboard.models import MarkedAnswer, MarkLayer, NuggetVersion, Run, Topic
from leaderboard.runs.answers import load_answer
from leaderboard.scoring.answer_marks import find_layer

# The mark of each cell of a matrix, in words; signs say the same without colour.
WORDS = {
    SUPPORT: "in full",
    PARTIAL: "in part",
    NONE: "not found",
    CONTRADICTS: "contradicts",
    UNJUDGED: "not judged",
}
FOUND = (SUPPORT, PARTIAL)


@dataclass(frozen=True)
class NuggetCell:
    """What a run has of a nugget; `said` is the sentence with it, None where none is named."""

    run: Run
    code: int
    said: int | None = None

    @property
    def words(self) -> str:
        return WORDS[self.code]


@dataclass(frozen=True)
class NuggetRow:
    """A nugget, counted from 1 within its topic, with what each run has of it."""

    number: int
    nugget: Nugget
    cells: list[NuggetCell] = field(default_factory=list)
    # How many runs have it, of how many, also where only some of their cells are shown.
    num_found: int = 0
    num_runs: int = 0


@dataclass(frozen=True)
class TopicOfBank:
    """The nuggets of one topic."""

    topic: Topic
    rows: list[NuggetRow]


# How the nuggets of a matrix may be sorted, the usual order first.
NUGGET_ORDERS: Mapping[str, Callable[[NuggetRow], tuple[Any, ...]]] = {
    "importance": lambda row: (not row.nugget.is_vital, -row.num_found),
    "found": lambda row: (-row.num_found,),
    "group": lambda row: (row.nugget.group, not row.nugget.is_vital, -row.num_found),
    "number": lambda row: (row.number,),
}


@dataclass(frozen=True)
class NuggetMatrix:
    """Nuggets by runs on one topic, by one layer of marks."""

    layer: MarkLayer
    runs: list[Run]
    rows: list[NuggetRow]

    def sorted_by(self, order: str) -> NuggetMatrix:
        """Return the same with its nuggets in one of the orders."""
        return replace(self, rows=sorted(self.rows, key=NUGGET_ORDERS[order]))

    @property
    def has_groups(self) -> bool:
        return any(row.nugget.group for row in self.rows)

    def of(self, runs: Collection[Run]) -> NuggetMatrix:
        """Return the same with the columns of these runs alone."""
        rows = [replace(r, cells=[c for c in r.cells if c.run in runs]) for r in self.rows]
        return replace(self, runs=[run for run in self.runs if run in runs], rows=rows)

    @property
    def table(self) -> CsvTable:
        """A line for each nugget and run."""
        return tabulate(
            [(row.nugget, cell) for row in self.rows for cell in row.cells],
            [
                ("nugget", lambda pair: pair[0].key),
                ("text", lambda pair: pair[0].text),
                ("importance", lambda pair: pair[0].importance),
                ("run", lambda pair: pair[1].run.pk),
                ("tag", lambda pair: pair[1].run.tag),
                ("mark", lambda pair: pair[1].words),
            ],
        )


def find_bank(sight: Sight) -> NuggetVersion | None:
    """Return the nuggets that a track uses, for who may read them; organisers see the newest."""
    if not sight.can_see_nuggets:
        return None
    layer = find_layer(sight.track, "assignments")
    if layer is not None:
        return layer.nuggets
    return sight.track.nugget_versions.ready().last()


def read_bank(version: NuggetVersion) -> list[TopicOfBank]:
    """Return every topic of a bank with its nuggets, in the order of the topics."""
    bank = load_bank(version.pk)
    topics = version.track.collection.topics.filter(number__in=bank.topics).order_by("position")
    return [TopicOfBank(topic, _number(bank.topics[topic.number])) for topic in topics]


def tabulate_bank(version: NuggetVersion) -> CsvTable:
    """Return a line for each nugget of a bank, with the texts that it had before people's."""
    rows = [row.nugget for of in read_bank(version) for row in of.rows]
    return tabulate(
        rows,
        [
            *((name, name) for name in ("topic", "key", "kind", "text", "importance")),
            ("group", lambda nugget: nugget.group or ""),
            ("made_by", "origin"),
            ("before", lambda nugget: " | ".join(nugget.originals)),
            ("documents", lambda nugget: " ".join(sorted(nugget.attesting))),
        ],
    )


def _number(nuggets: Sequence[Nugget]) -> list[NuggetRow]:
    return [NuggetRow(number, nugget) for number, nugget in enumerate(nuggets, 1)]


def build_matrix(board: Board, topic: Topic) -> NuggetMatrix | None:
    """Build the matrix of a topic for the runs of a board, None without nuggets or marks.

    Vital nuggets come first, then those that most runs have. Runs are in the order of the board.
    """
    return mark_nuggets(board.sight, topic, [standing.run for standing in board.shown])


def mark_nuggets(sight: Sight, topic: Topic, runs: list[Run]) -> NuggetMatrix | None:
    """Return what these runs have of the nuggets of a topic; the viewer sees their scores."""
    layer = find_layer(sight.track, "assignments") if sight.can_see_nuggets else None
    if layer is None or layer.nuggets is None:
        return None
    nuggets = load_nuggets(layer.nuggets, topic.pk)
    if not nuggets:
        return None
    marks = load_topic_marks(layer, topic, runs)
    rows = []
    for place, nugget in enumerate(nuggets):
        cells = [_cell(run, marks[run.pk], place) for run in runs]
        num_found = sum(cell.code in FOUND for cell in cells)
        rows.append(NuggetRow(place + 1, nugget, cells, num_found, len(runs)))
    return NuggetMatrix(layer, runs, rows).sorted_by("importance")


def _cell(run: Run, row: MarkedAnswer | None, place: int) -> NuggetCell:
    if row is None:
        return NuggetCell(run, UNJUDGED)
    return NuggetCell(run, bytes(row.codes)[place], row.said.get(str(place)))


def load_topic_marks(
    layer: MarkLayer, topic: Topic, runs: Sequence[Run]
) -> Mapping[str, MarkedAnswer | None]:
    """Return the marks of each run on a topic: its own, or those of all that say the same."""
    rows = layer.marked_answers.filter(topic=topic)
    own = {row.run_id: row for row in rows.filter(run__in=runs)}
    shared = rows.filter(run=None)
    others = [run for run in runs if run.pk not in own]
    if not others or not shared.exists():
        return {run.pk: own.get(run.pk) for run in runs}
    answers = {run.pk: load_answer(run, topic.number) for run in others}
    keys = {pk: answer.key.hex() for pk, answer in answers.items() if answer is not None}
    # Not all rows of the topic: the page of one answer needs one of hundreds.
    by_key = {row.key: row for row in shared.filter(key__in=set(keys.values()))}
    return {run.pk: own.get(run.pk) or by_key.get(keys.get(run.pk, "")) for run in runs}


@dataclass(frozen=True)
class SaidNugget:
    """What a run has of a nugget, with the words if a sentence is named as evidence."""

    cell: NuggetCell
    words: str = ""


@dataclass(frozen=True)
class NuggetPage:
    """One nugget with the runs that have it and those that do not."""

    topic: Topic
    row: NuggetRow
    said: list[SaidNugget]
    layer: MarkLayer | None
    num_teams: int = 0
    num_teams_found: int = 0


def build_nugget_page(
    sight: Sight, board: Board | None, version: NuggetVersion, topic: Topic, key: str
) -> NuggetPage | None:
    """Build the page of a nugget; runs appear only where their scores by topic do."""
    numbered = _number(load_nuggets(version, topic.pk) or ())
    row = next((row for row in numbered if row.nugget.key == key), None)
    if row is None:
        return None
    matrix = build_matrix(board, topic) if board is not None else None
    found = next((r for r in matrix.rows if r.nugget.key == key), None) if matrix else None
    if matrix is None or found is None or matrix.layer.nuggets_id != version.pk:
        return NuggetPage(topic, row, [], None)
    said = [SaidNugget(cell, _words(cell, topic)) for cell in found.cells]
    teams = {cell.run.team_id for cell in found.cells}
    with_it = {cell.run.team_id for cell in found.cells if cell.code in FOUND}
    return NuggetPage(topic, found, said, matrix.layer, len(teams), len(with_it))


def _words(cell: NuggetCell, topic: Topic) -> str:
    """Return the sentence that is the evidence, empty where none is named."""
    if cell.said is None or cell.code not in (*FOUND, CONTRADICTS):
        return ""
    answer = load_answer(cell.run, topic.number)
    sentences = answer.sentences if answer is not None else ()
    return sentences[cell.said - 1].text if cell.said <= len(sentences) else ""
