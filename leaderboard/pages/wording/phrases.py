"""The parts of a sentence: words, run names, numbers and differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.display.numbers import count
from leaderboard.models import Run

# A sentence names up to this many runs; more are counted.
MOST_NAMED_RUNS = 3
NUMBER_WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


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
    unit: str = "mean"


Sentence = list[Phrase]


def join_phrases(*pieces: str | Phrase | Sequence[Phrase]) -> Sentence:
    """Join words and phrases into one sentence.

    >>> join_phrases("a ", strong("b"), [Phrase("c")])[1].strong
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


def run_phrase(run: Run) -> Phrase:
    return Phrase(name=str(run))


def list_names(names: Sequence[str]) -> Sentence:
    """List names of runs or systems: "a", "a and b", "a, b and c"."""
    sentence: Sentence = []
    for place, name in enumerate(names):
        if place:
            sentence.append(Phrase(" and " if place == len(names) - 1 else ", "))
        sentence.append(Phrase(name=name))
    return sentence


def spell_number(number: int) -> str:
    """Spell a number up to ten as a word.

    >>> spell_number(4), spell_number(1400)
    ('four', '1,400')
    """
    return NUMBER_WORDS[number] if number < len(NUMBER_WORDS) else count(number)


def name_or_count(
    names: Sequence[str], noun: str = "run", *, rest: bool = False, more: bool = False
) -> Sentence:
    """Name up to three runs, or whatever the noun is; count more.

    `rest`: these are all remaining ones; `more`: they follow one that was named.
    """
    if len(names) <= MOST_NAMED_RUNS and not (rest and len(names) == MOST_NAMED_RUNS):
        return list_names(names)
    number = spell_number(len(names))
    return join_phrases(
        f"the other {number}" if rest else f"{number} {'more ' if more else ''}{noun}s"
    )


def count_or_none(number: int) -> str:
    return count(number) if number else "none"


def capitalise(sentence: Sentence) -> Sentence:
    """Start a sentence with a capital letter unless it starts with a name."""
    if not sentence or not sentence[0].words:
        return sentence
    first = sentence[0].words
    return [Phrase(first[0].upper() + first[1:]), *sentence[1:]]


def is_or_are(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"
