"""Sentences about where the systems of a task differ."""

from __future__ import annotations

from leaderboard.analysis.task_differences import TaskDifferences
from leaderboard.display.numbers import counted, score
from leaderboard.pages.wording.phrases import Phrase, Sentence, join_phrases, spell_number

WITHOUT_MARKS = "The mean of systems is no system, so nothing is tested against it."


def describe_turns(found: TaskDifferences) -> Sentence:
    """Say on how many tracks the order of the first systems turns; empty without an order."""
    if not found.orders:
        return []
    turned = [order for order in found.orders if order.pairs]
    number, tracks = len(found.board.columns), counted(len(found.board.columns), "track")
    first = min(found.first, len(found.board.rows))
    among = "both systems" if first == 2 else f"the first {spell_number(first)} systems"
    if not turned:
        return join_phrases(f"On all {tracks} {among} are in the order of the task.")
    how = f"The order of {among} turns on {len(turned)} of {tracks}"
    furthest = found.orders[0]
    if number < 2 or furthest.tau is None:
        return join_phrases(f"{how}.")
    name = Phrase(name=furthest.column.name)
    return join_phrases(f"{how}, most on ", name, f" (tau {score(furthest.tau, 2)}).")


def describe_colours(found: TaskDifferences) -> str:
    """Say what the colours and the signs of the heat map mean."""
    share = "over all tracks" if found.shares_colours else "on its own track"
    words = (
        "Each cell is a difference from the first row: blue is better, orange worse, full colour"
        f" from the largest twentieth {share}."
    )
    if found.baseline is None:
        return f"{words} {WITHOUT_MARKS}"
    if not found.has_marks:
        return words
    return (
        f"{words} ▲ and ▼ mark significant ones: each track's own test of a system against the"
        " baseline, adjusted over the tracks (Holm); under Mean the test of the task, adjusted over"
        " all systems."
    )
