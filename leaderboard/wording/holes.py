"""What the documents that nobody judged could change, as a sentence."""

from __future__ import annotations

from leaderboard.breakdowns.holes import HoleLine, HoleTable
from leaderboard.models import Run
from leaderboard.templatetags.numbers import counted, signed
from leaderboard.wording.phrases import NAMED, Sentence, in_words, listed, named, say, strong


def holes_verdict(table: HoleTable, baseline: Run | None) -> Sentence:
    """How far scores and verdicts could move; empty where nothing bounds them."""
    if not table.lines or not table.bounds_hold:
        return []
    sentence = _scores(table)
    if baseline is None or not table.doubts:
        return sentence
    return say(sentence, " ", _verdicts(table, baseline))


def _scores(table: HoleTable) -> Sentence:
    most = max(table.lines, key=_room)
    if _room(most) < 0.0005:
        return say(
            f"Every document that decides {table.measure} was judged: no missing judgment "
            "could move a score by .001."
        )
    return say(
        "Documents that nobody judged could raise ",
        named(most.standing.run),
        " by up to ",
        strong(f"{signed(_room(most))} {table.measure}"),
        ", and no other run by more.",
    )


def _room(line: HoleLine) -> float:
    return line.high - line.low


def _verdicts(table: HoleTable, baseline: Run) -> Sentence:
    doubts, doubtful = len(table.doubts), [each.standing.run for each in table.doubtful]
    against = say(f" by {table.measure} against the baseline ", named(baseline))
    if not doubtful:
        which = "The verdict" if doubts == 1 else f"All {in_words(doubts)} verdicts"
        stand = "stands" if doubts == 1 else "stand"
        return say(which, against, f" {stand}, whatever the missing judgments are.")
    number = f"{len(doubtful)} of {counted(doubts, 'verdict')}"
    names = say(": ", listed(doubtful)) if len(doubtful) <= NAMED else []
    return say(strong(number), against, " could flip", names, ".")
