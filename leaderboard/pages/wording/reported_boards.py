"""Sentences of a board of reported scores: whose they are, and what is compared."""

from __future__ import annotations

from leaderboard.boards.reported_boards import ReportedBoard
from leaderboard.display.numbers import count, counted
from leaderboard.pages.wording.phrases import (
    Phrase,
    Sentence,
    count_or_none,
    join_phrases,
    strong,
)

RULES = {
    "largest": "most scores",
    "systems": "every collection",
    "collections": "every system",
}


def describe_part(board: ReportedBoard) -> Sentence:
    """Say which systems and collections are ranked, and by which rule."""
    systems = counted(len(board.rows), "system")
    asked = counted(len(board.systems), "system")
    collections = count(len(board.part.collections))
    of = counted(len(board.collections), "collection")
    if board.choice.rule == "systems":
        return join_phrases(
            strong(f"{count(len(board.rows))} of {asked}"), f" with a score on each of the {of}."
        )
    if board.choice.rule == "collections":
        return join_phrases(
            strong(f"{collections} of {of}"), f" on which each of the {asked} has a score."
        )
    return join_phrases(
        strong(f"{systems} on {collections} collections"),
        f" without a missing score, of {asked} and {of}. To find them, the collection that most"
        " systems have is taken first, then each time the one that most of the systems left have;"
        " the part with most scores is kept. There may be larger parts.",
    )


def describe_leader(board: ReportedBoard) -> Sentence:
    """Name the system with most points; empty if nothing is ranked."""
    leaders = [row for row in board.rows if row.rank == 1]
    if len(board.rows) < 2 or len(leaders) != 1:
        return []
    [leader] = leaders
    of = counted(len(board.rows), "system")
    return join_phrases(Phrase(name=leader.name), f" has the most Borda points of {of}.")


def describe_ranks(board: ReportedBoard) -> Sentence:
    """Say how many neighbours can be told apart, and what that is a claim about."""
    if board.ranks is None:
        return []
    if not board.ranks.decides:
        return join_phrases("The collections are too few to tell systems apart.")
    neighbours = len(board.rows) - 1
    told = count_or_none(board.ranks.told_apart)
    return join_phrases(
        "Of ",
        strong(counted(neighbours, "comparison")),
        f" of a system with the next, {told} can be told apart. All pairs are tested together by"
        " the studentised maximum of their points, with whole collections as the units. So the"
        " claim is about other collections of this kind, if these are independent: several"
        " collections of one source make ranks look surer than they are. No scores by topic are"
        " reported, so chance within a collection is unknown.",
    )


def explain_empty_part(board: ReportedBoard) -> str:
    """Say why nothing is ranked; empty if something is."""
    if board.rows and len(board.part.collections):
        return ""
    if board.choice.rule == "systems":
        return "No system has a score on every collection. Choose fewer groups, or another rule."
    if board.choice.rule == "collections":
        return "No collection has a score of every system. Choose fewer systems by their name."
    return "No two systems have a score on the same collection."
