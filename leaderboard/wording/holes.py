"""What the documents that nobody judged could change, as a sentence."""

from __future__ import annotations

from leaderboard.analysis.holes import HoleLine, HoleTable
from leaderboard.boards.standings import Board
from leaderboard.display.numbers import counted, signed
from leaderboard.models import Run
from leaderboard.wording.phrases import NAMED, Sentence, in_words, listed, named, say, strong

# What three decimals do not show.
SMALL = 0.0005


def holes_verdict(table: HoleTable, board: Board) -> Sentence:
    """How far scores and verdicts could move, or why nothing tells that."""
    if not table.lines or not table.measure:
        return []
    if not table.bounds_hold:
        return say(
            f"There is no bound on how far judgments could move {table.measure}: a relevant "
            "document that a run misses lowers its score too."
        )
    sentence = _scores(table)
    if board.baseline is None or not table.doubts:
        return sentence
    others = [] if table.measure == board.measure else _of_another_measure(table, board)
    return say(sentence, " ", _verdicts(table, board.baseline), others)


def _of_another_measure(table: HoleTable, board: Board) -> str:
    return (
        f" Those by {board.measure}, which ranks the board, are others and cannot be bounded: "
        f"{board.measure} is no sum over documents, as {table.measure} is."
    )


def _scores(table: HoleTable) -> Sentence:
    most = max(table.lines, key=_room)
    if _room(most) < SMALL:
        return say(
            f"Every document that decides {table.measure} was judged: no new judgment "
            "could move a score by .001."
        )
    return say(
        "Unjudged documents could raise ",
        named(most.standing.run),
        " by up to ",
        strong(f"{signed(_room(most))} {table.measure}"),
        _no_other(table, most),
    )


def _no_other(table: HoleTable, most: HoleLine) -> str:
    rest = max((_room(each) for each in table.lines if each is not most), default=0.0)
    return ", and no other run." if rest < SMALL else ", and no other run by more."


def _room(line: HoleLine) -> float:
    return line.high - line.low


def _verdicts(table: HoleTable, baseline: Run) -> Sentence:
    doubts, doubtful = len(table.doubts), [each.standing.run for each in table.doubtful]
    against = say(f" by {table.measure} against the baseline ", named(baseline))
    if not doubtful:
        which = "The verdict" if doubts == 1 else f"All {in_words(doubts)} verdicts"
        stand = "is safe" if doubts == 1 else "are safe"
        return say(which, against, f" {stand}, whatever grades the missing judgments have.")
    number = f"{len(doubtful)} of {counted(doubts, 'verdict')}"
    names = say(": ", listed(doubtful)) if len(doubtful) <= NAMED else []
    return say(strong(number), against, " could flip", names, ".")
