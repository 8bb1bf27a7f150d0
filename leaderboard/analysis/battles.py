"""What the pages of battles show: both sides of a pair, blind, and the board of the votes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.shortcuts import get_object_or_404

from evaluation.answers.runs import Answer
from evaluation.battles import Kind
from evaluation.battles.boards import FEWEST_BATTLES
from evaluation.significance import Interval
from leaderboard.analysis.answers import (
    CitedSource,
    CitingSentence,
    cite_sources,
    list_documents,
    number_sources,
)
from leaderboard.analysis.rankings import load_listing
from leaderboard.analysis.snippets import cut_snippet
from leaderboard.boards.disclosure import Sight
from leaderboard.collections.documents import find_documents
from leaderboard.collections.topic_words import WordPiece, find_terms
from leaderboard.display.csv_tables import TEAM_COLUMNS, CsvTable, tabulate
from leaderboard.jobs import calculations
from leaderboard.jobs.calculations import Awaited, Wanted
from leaderboard.models import Battles, BattleVote, Calculation, Run, Topic
from leaderboard.runs.answers import load_answer
from leaderboard.scoring.battle_boards import LAYOUT, find_basis

# How many documents of a ranking are shown on a side.
SHOWN_DOCUMENTS = 10


def battles_or_404(sight: Sight) -> Battles:
    """Return the battles of a track with the track as it was looked up."""
    found = get_object_or_404(Battles, track=sight.track)
    found.track = sight.track
    return found


@dataclass(frozen=True)
class BattleDocument:
    """A document of a ranking at one side."""

    docno: str
    title: str
    snippet: list[WordPiece]


@dataclass(frozen=True)
class BattleSide:
    """What one run says or ranks on a topic, without anything that names it."""

    name: str
    sentences: list[CitingSentence] = field(default_factory=list)
    sources: list[CitedSource] = field(default_factory=list)
    documents: list[BattleDocument] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return not (self.sentences or self.documents)


def read_sides(vote: BattleVote) -> list[BattleSide]:
    """Return both sides of a pair, left first."""
    named = (("Left", vote.left), ("Right", vote.right))
    return [read_side(name, run, vote.topic) for name, run in named]


def read_side(name: str, run: Run, topic: Topic) -> BattleSide:
    if not run.answer_file:
        return BattleSide(name, documents=_read_documents(run, topic))
    answer = load_answer(run, topic.number) or Answer(topic.number)
    cited, _ = list_documents(answer)
    sources = number_sources(cited, [], find_documents(run.track.collection, cited), {})
    sentences = cite_sources(run, answer, sources, None)
    return BattleSide(name, sentences, list(sources.values()))


def _read_documents(run: Run, topic: Topic) -> list[BattleDocument]:
    docnos = load_listing(run, topic).docnos(SHOWN_DOCUMENTS)
    texts, terms = find_documents(run.track.collection, docnos), find_terms(topic)
    return [
        BattleDocument(
            docno,
            texts[docno].title if docno in texts else "",
            cut_snippet(texts[docno].text, terms) if docno in texts else [],
        )
        for docno in docnos
    ]


@dataclass(frozen=True)
class BattleStanding:
    """A run on the board of battles; no rank below thirty battles."""

    run: Run
    rank: int | None
    ranks: tuple[int, int] | None
    letters: str
    preferred: float
    interval: Interval | None
    strength: float
    battles: int
    won: float
    tied: float
    is_own: bool
    is_baseline: bool

    @property
    def kind(self) -> str:
        """How charts draw it."""
        return "own" if self.is_own else "baseline" if self.is_baseline else "other"


@dataclass(frozen=True)
class SideEffect:
    """What a difference of the sides does to votes: see `evaluation.battles.Effect`."""

    name: str
    odds: float
    interval: Interval | None
    share: float | None

    @property
    def is_shown(self) -> bool:
        """Whether its interval leaves 1, no effect."""
        return self.interval is not None and not self.interval.low <= 1 <= self.interval.high


@dataclass(frozen=True)
class DuelCell:
    """How often the run of the row was preferred to that of the column; None if never together."""

    share: float | None
    # "better", "worse" or "".
    verdict: str


@dataclass(frozen=True)
class BattleStandings:
    """The board of the votes of one kind of voter."""

    votes: int
    voters: int
    topics: int
    rows: list[BattleStanding]
    duels: list[list[DuelCell]]
    effects: list[SideEffect]
    keeps_order: bool | None
    has_half_games: bool
    both_bad: dict[str, int]
    # Pseudonyms with the side that each always chose and the number of votes.
    one_sided: list[tuple[str, str, int]]
    computed_at: datetime | None

    @property
    def num_both_bad(self) -> int:
        return sum(self.both_bad.values())

    @property
    def worst_topic(self) -> str:
        """The topic with most votes for both bad."""
        return max(self.both_bad, key=lambda number: self.both_bad[number], default="")

    @property
    def best(self) -> list[BattleStanding]:
        """The runs that may be the best."""
        return [row for row in self.rows if row.ranks is not None and row.ranks[0] == 1]

    @property
    def named(self) -> list[tuple[BattleStanding, list[DuelCell]]]:
        """The rows of who beats whom."""
        return list(zip(self.rows, self.duels, strict=True))

    @property
    def table(self) -> CsvTable:
        columns = [
            *TEAM_COLUMNS,
            *((name, name) for name in ("rank", "letters", "strength", "preferred")),
            *((f"preferred_{end}", f"interval.{end}") for end in ("low", "high")),
            ("best_rank", lambda row: row.ranks and row.ranks[0]),
            ("worst_rank", lambda row: row.ranks and row.ranks[1]),
            *((name, name) for name in ("battles", "won", "tied")),
        ]
        return tabulate(self.rows, columns)


@dataclass(frozen=True)
class FoundBattles:
    """The board as far as there is one, and whether a newer one follows."""

    kind: Kind
    standings: BattleStandings | None
    awaited: Awaited


def find_battle_standings(sight: Sight, battles: Battles, kind: Kind) -> FoundBattles:
    """Return the board of the votes of people or of machines, and have a job compute it again."""
    key = f"{kind} {LAYOUT}"
    wanted = Wanted(Calculation.Kind.BATTLES, sight.track, key, {"kind": kind})
    row, awaited = wanted.find(), Awaited.NOTHING
    has_votes = battles.votes.cast().of_runs_in_place().filter(kind=kind).exists()
    if has_votes and (row is None or row.basis != find_basis(battles, kind)):
        awaited = calculations.request(wanted)
    if not has_votes or row is None or not row.results.get("runs"):
        return FoundBattles(kind, None, awaited)
    return FoundBattles(kind, _read_standings(sight, row), awaited)


def _read_standings(sight: Sight, row: Calculation) -> BattleStandings:
    results = row.results
    found = sight.track.runs.not_removed().select_related("team", "track")
    runs = found.in_bulk([packed["id"] for packed in results["runs"]])
    kept = [place for place, packed in enumerate(results["runs"]) if packed["id"] in runs]
    standings = []
    for place in kept:
        packed = results["runs"][place]
        run = runs[packed["id"]]
        standings.append(_read_standing(sight, run, packed, place + 1))
    return BattleStandings(
        **{name: results[name] for name in ("votes", "voters", "topics", "both_bad")},
        **{name: results[name] for name in ("keeps_order", "has_half_games")},
        rows=standings,
        duels=[[_read_duel(results, a, b) for b in kept] for a in kept],
        effects=[
            SideEffect(each["name"], each["odds"], _interval(each["interval"]), each["share"])
            for each in results["effects"]
        ],
        one_sided=[(voter, side, votes) for voter, side, votes in results["one_sided"]],
        computed_at=row.computed_at,
    )


def _read_standing(sight: Sight, run: Run, packed: Mapping[str, Any], place: int) -> BattleStanding:
    has_rank = packed["battles"] >= FEWEST_BATTLES
    best, worst = packed["ranks"]
    return BattleStanding(
        run=sight.with_shown_name(run),
        rank=place if has_rank else None,
        ranks=(best, worst) if has_rank else None,
        letters=packed["letters"] if has_rank and packed["interval"] else "",
        interval=_interval(packed["interval"]),
        is_own=sight.owns(run),
        is_baseline=run.pk == sight.track.baseline_id,
        **{name: packed[name] for name in ("preferred", "strength", "battles", "won", "tied")},
    )


def _read_duel(results: Mapping[str, Any], row: int, column: int) -> DuelCell:
    is_better, is_worse = results["better"][row][column], results["better"][column][row]
    verdict = "better" if is_better else "worse" if is_worse else ""
    return DuelCell(results["shares"][row][column], verdict)


def _interval(ends: list[float] | None) -> Interval | None:
    return None if ends is None else Interval(*ends)
