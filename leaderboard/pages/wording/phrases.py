"""The pieces of a sentence: words, names of runs, numbers, differences with their sign."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.display.numbers import count
from leaderboard.models import Run

# So many runs are named one by one; more are counted.
NAMED = 3
NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


@dataclass(frozen=True, slots=True)
class Phrase:
    """One piece: plain words, a stranger's `name`, a docno as `code`, a `strong` number, or a
    difference with what the test says of it."""

    words: str = ""
    name: str = ""
    code: str = ""
    strong: str = ""
    difference: float | None = None
    verdict: str = ""


Sentence = list[Phrase]


def say(*pieces: str | Phrase | Sequence[Phrase]) -> Sentence:
    """Words and phrases in one row.

    >>> say("a ", strong("b"), [Phrase("c")])[1].strong
    'b'
    """
    sentence: Sentence = []
    for piece in pieces:
        if isinstance(piece, str):
            sentence.append(Phrase(piece))
        elif isinstance(piece, Phrase):
            sentence.append(piece)
        else:
            sentence.extend(piece)
    return sentence


def strong(text: str) -> Phrase:
    return Phrase(strong=text)


def named(run: Run) -> Phrase:
    return Phrase(name=str(run))


def listed(runs: Sequence[Run]) -> Sentence:
    """Names in a row: "a", "a and b", "a, b and c"."""
    sentence: Sentence = []
    for place, run in enumerate(runs):
        if place:
            sentence.append(Phrase(" and " if place == len(runs) - 1 else ", "))
        sentence.append(named(run))
    return sentence


def in_words(number: int) -> str:
    """A small count as a word.

    >>> in_words(4), in_words(1400)
    ('four', '1,400')
    """
    return NUMBERS[number] if number < len(NUMBERS) else count(number)


def runs_in_words(runs: Sequence[Run], rest: bool = False, more: bool = False) -> Sentence:
    """Up to three runs by their names, others by their count.

    `rest`: nobody else is left; `more`: they come to one that was named.
    """
    if len(runs) <= NAMED and not (rest and len(runs) == NAMED):
        return listed(runs)
    number = in_words(len(runs))
    return say(f"the other {number}" if rest else f"{number} {'more ' if more else ''}runs")


def capitalised(sentence: Sentence) -> Sentence:
    """With a capital at its beginning, where that is not a name."""
    if not sentence or not sentence[0].words:
        return sentence
    first = sentence[0].words
    return [Phrase(first[0].upper() + first[1:]), *sentence[1:]]


def are(runs: Sequence[Run]) -> str:
    return "is" if len(runs) == 1 else "are"
