"""Sentences of a benchmark's board: who leads, how broad the lead is, and what is not averaged."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.significance import Lead
from leaderboard.boards.benchmark_boards import BenchmarkBoard, BenchmarkColumn, SystemRow
from leaderboard.boards.standings import FEWEST_TOPICS
from leaderboard.display.numbers import count, counted, difference_text
from leaderboard.models import JudgmentSet
from leaderboard.pages.wording.boards import describe_first, describe_leaders, describe_only
from leaderboard.pages.wording.phrases import (
    MOST_NAMED_RUNS,
    Phrase,
    Sentence,
    count_or_none,
    join_phrases,
    strong,
)

# A lead comes from one track if less than this share of it is left without that track.
SHARE_LEFT = 0.5
WITHOUT_MEAN = {
    "phases": "Phases are beside each other here; no mean, rank or point is taken over them.",
    "sums": "There is no mean, since a measure adds up over topics: tracks with more topics would"
    " decide. Systems are ranked by Borda points.",
    "ranges": "There is no mean, since the measures have different ranges. Systems are ranked by"
    " Borda points.",
    "directions": "There is no mean, since of some measures more is better and of others less."
    " Systems are ranked by Borda points.",
}
JUDGES = {
    JudgmentSet.MadeBy.PEOPLE: "people",
    JudgmentSet.MadeBy.MACHINE: "a machine",
    JudgmentSet.MadeBy.BOTH: "people and a machine",
}


def benchmark_verdict(board: BenchmarkBoard) -> Sentence:
    """Summarise the board of a benchmark in a sentence; empty if no system is ranked."""
    ranked = [row for row in board.rows if row.rank is not None]
    if not ranked:
        return []
    if len(ranked) == 1:
        return describe_only(board, ranked[0], "two complete systems")
    if board.tests is None or board.compares_all:
        return describe_first(board)
    return _judge_against_baseline(board, describe_leaders(board))


def _name(row: SystemRow) -> Phrase:
    return Phrase(name=row.name)


def name_first_systems(rows: Sequence[SystemRow]) -> Sentence:
    """Name up to three systems and count the others: "a, b, c and 2 more"."""
    sentence: Sentence = []
    for row in rows[:MOST_NAMED_RUNS]:
        sentence += [Phrase(", "), _name(row)] if sentence else [_name(row)]
    more = len(rows) - MOST_NAMED_RUNS
    return [*sentence, Phrase(f" and {more} more")] if more > 0 else sentence


def _judge_against_baseline(board: BenchmarkBoard, opening: Sentence) -> Sentence:
    baseline, leader = board.baseline, board.rows[0]
    if baseline is None:
        return join_phrases(opening, ".")
    others = [row for row in board.rows if not row.is_baseline]
    better, worse = (
        sum(row.verdict == verdict for row in others) for verdict in ("better", "worse")
    )
    counts = f" {count_or_none(better)} of {counted(len(others), 'system')} {_is(better)}"
    counts += f" significantly better than the baseline, {count_or_none(worse)} worse."
    if leader.is_baseline:
        return join_phrases("The baseline ", opening, ".", _capital(counts))
    difference = Phrase(
        difference=leader.against.difference if leader.against is not None else None,
        verdict=leader.verdict or "none",
        unit=leader.against.unit if leader.against is not None else "mean",
    )
    how = {
        "better": "; it is significantly better than the baseline ",
        "worse": "; the baseline is significantly better: ",
    }.get(leader.verdict, "; it cannot be told apart from the baseline ")
    return join_phrases(opening, how, _name(baseline), " ", difference, ".", _capital(counts))


def _capital(words: str) -> str:
    return " " + words.strip()[0].upper() + words.strip()[1:]


def _is(number: int) -> str:
    return "are" if number > 1 else "is"


def describe_lead(board: BenchmarkBoard) -> Sentence:
    """Say on how many tracks the leader is ahead, and whether one track makes its lead."""
    found = board.lead
    if found is None or len(board.columns) < 2:
        return []
    leader, other = board.row_named(found.row), board.row_named(found.other)
    against = "the baseline " if other.is_baseline else "the second, "
    return describe_lead_of(board.columns, found.lead, leader, other, against)


def describe_lead_of(
    columns: Sequence[BenchmarkColumn],
    lead: Lead,
    leader: SystemRow,
    other: SystemRow,
    against: str = "",
) -> Sentence:
    """Say on how many of these tracks a system is ahead of another, and what makes its lead."""
    said = f" on {lead.ahead} of {counted(len(columns), 'track')}"
    ahead = lead.significantly_ahead
    said += f", significantly on {ahead}" if ahead else ", significantly on none"
    said += f", and behind on {lead.behind}" if lead.behind else ""
    if lead.significantly_behind:
        said += f", significantly on {lead.significantly_behind}"
    if not against:
        return join_phrases(
            _name(leader), f" is ahead{said}.", _describe_support(columns, lead, other)
        )
    return join_phrases(
        "Against ",
        against,
        _name(other),
        ", ",
        _name(leader),
        " is ahead",
        f"{said}.",
        _describe_support(columns, lead, other),
    )


def _describe_support(columns: Sequence[BenchmarkColumn], lead: Lead, other: SystemRow) -> Sentence:
    """Say what is left of a lead without the track that makes most of it; empty if it is broad."""
    if lead.relies_on is None:
        return join_phrases(" No single track makes this lead.")
    rest = lead.without[lead.relies_on]
    track = Phrase(name=columns[lead.relies_on].name)
    neutral = 1.0 if lead.unit == "ratio" else 0.0
    if rest == neutral:
        return join_phrases(" Without ", track, " the means are equal.")
    printed = difference_text(rest, lead.unit)
    if lead.is_turned:
        return join_phrases(" Without ", track, " ", _name(other), f" leads: {printed}.")
    if lead.unit == "mean" and abs(rest) < SHARE_LEFT * abs(lead.difference):
        of = difference_text(lead.difference, lead.unit)
        return join_phrases(" Without ", track, f" {printed} is left of the lead of {of}.")
    return join_phrases(" No single track makes this lead.")


def explain_benchmark_mean(board: BenchmarkBoard) -> str:
    """Say what the mean counts, or why there is none."""
    if board.no_mean:
        return WITHOUT_MEAN[board.no_mean]
    if len(board.columns) < 2:
        return ""
    measures = list(dict.fromkeys(column.measure for column in board.columns))
    by = f" of {measures[0]}" if len(measures) == 1 else ""
    groups = " Means of groups count their own tracks." if board.groups else ""
    return f"The mean{by} counts every track the same, regardless of its number of topics.{groups}"


def describe_benchmark_family(board: BenchmarkBoard) -> str:
    """Say which question the tests answer; empty without tests."""
    if board.tests is None:
        return ""
    systems = counted(len(board.rows), "complete system")
    topics = counted(_count_topics(board), "topic")
    if board.tests.pairs is None or board.tests.pairs.critical is None:
        return (
            f"With {topics} nothing can be significant: the tracks need {FEWEST_TOPICS} topics,"
            " or groups of topics, together, and two each."
        )
    if board.compares_all:
        return (
            f"Possible ranks: all pairs of {systems} tested together on {topics}, by the mean over"
            " tracks of their mean differences. All ranks hold jointly with 95 % confidence."
        )
    return (
        f"Signs: each of {systems} compared with the baseline on {topics}, by the mean over tracks"
        " of the mean differences; maximum t, adjusted for all comparisons."
    )


def _count_topics(board: BenchmarkBoard) -> int:
    """Return how many topics the columns have; tracks of one collection share theirs."""
    against = [row.against for row in board.rows if row.against is not None]
    if against:
        return against[0].topics
    largest: dict[int, int] = {}
    for column in board.columns:
        collection = column.sight.track.collection_id
        largest[collection] = max(largest.get(collection, 0), column.edition.num_evaluated)
    return sum(largest.values())


def describe_benchmark_judges(board: BenchmarkBoard) -> str:
    """Say that tracks are judged by different kinds of judges; empty if they are not."""
    kinds = {kind: columns for kind, columns in board.judges.items() if kind}
    if len(kinds) < 2:
        return ""
    groups = [
        f"{JUDGES[JudgmentSet.MadeBy(kind)]} judged {_list_tracks(columns)}"
        for kind, columns in kinds.items()
    ]
    mean = "" if board.no_mean else " The mean counts both."
    return f"Different judges: {'; '.join(groups)}. Their scores have different levels.{mean}"


def _list_tracks(columns: Sequence[BenchmarkColumn]) -> str:
    if len(columns) > MOST_NAMED_RUNS:
        return counted(len(columns), "track")
    return " and ".join(column.name for column in columns)


def describe_benchmark_selection(board: BenchmarkBoard) -> Sentence:
    """State which systems are on the board, and in which order."""
    shown, ranked = len(board.shown), len(board.rows)
    number = (
        counted(ranked, "complete system")
        if shown == ranked
        else f"{count(shown)} of {counted(ranked, 'complete system')}"
    )
    versions = "all versions" if board.choice.versions else "the newest version of each"
    rest = f", {versions}"
    if shown != ranked:
        rest += "; ranks and tests cover the whole board"
    return join_phrases(strong(number), f"{rest}.")


def describe_unmeasured(board: BenchmarkBoard) -> str:
    """Name the tracks that lack the measure that was asked for; empty if none does."""
    if not board.unmeasured:
        return ""
    measure = board.choice.measure or board.sight.benchmark.measure
    names = ", ".join(str(sight.track.name) for sight in board.unmeasured)
    return f"Without {measure}, and so not on this board: {names}."
