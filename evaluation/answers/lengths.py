"""The length of an answer, in the three units that tracks count in.

>>> UNITS["words"](["Peace \\ufdfa now"]), UNITS["words-nfkc"](["Peace \\ufdfa now"])
(3, 6)
>>> UNITS["characters-nfkc"](["abc", "\\ufb01n"])
7
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Literal, TypeAlias
from unicodedata import normalize

Unit: TypeAlias = Literal["words", "words-nfkc", "characters-nfkc"]


def count_words(texts: Sequence[str]) -> int:
    """Return how many words there are between white space of Unicode."""
    return sum(len(text.split()) for text in texts)


def count_words_nfkc(texts: Sequence[str]) -> int:
    """Return the number of words after NFKC, which can turn one character into four words."""
    return sum(len(_normal(text.strip()).split()) for text in texts)


def count_characters_nfkc(texts: Sequence[str]) -> int:
    """Return the number of code points of the joined text after normalisation."""
    return len(_normal(" ".join(texts)))


def _normal(text: str) -> str:
    return text if text.isascii() else normalize("NFKC", text)


UNITS: dict[Unit, Callable[[Sequence[str]], int]] = {
    "words": count_words,
    "words-nfkc": count_words_nfkc,
    "characters-nfkc": count_characters_nfkc,
}
NAMES: dict[Unit, str] = {
    "words": "words",
    "words-nfkc": "words (NFKC)",
    "characters-nfkc": "characters (NFKC)",
}


def count_fitting(texts: Sequence[str], unit: Unit, limit: int) -> int:
    """Return how many sentences from the start are within the limit.

    >>> count_fitting(["one two", "three", "four"], "words", 3)
    2
    """
    if unit == "characters-nfkc":
        # Normalisation may join what stands at the end of a sentence with what follows.
        fitting = len(texts)
        while fitting and UNITS[unit](texts[:fitting]) > limit:
            fitting -= 1
        return fitting
    lengths = accumulate(UNITS[unit]([text]) for text in texts)
    return next((place for place, length in enumerate(lengths) if length > limit), len(texts))
