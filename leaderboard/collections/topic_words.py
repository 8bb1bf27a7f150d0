"""The words of a topic, to mark in documents."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from leaderboard.models import Topic

WORD = re.compile(r"\w+")
ENDINGS = ("ing", "ies", "ed", "es", "s", "y", "e")
SHORTEST_STEM = 3
# Words that appear in any English question and do not describe its subject.
STOP_WORD_LIST = """
    about and any are been being between but can could did does for from had has have how into its
    made may more most not off only other out over shall should some such than that the their them
    then there these they this those under upon was were what when where which who why will with
    would you your"""
STOP_WORDS = frozenset(STOP_WORD_LIST.split())


@dataclass(frozen=True, slots=True)
class WordPiece:
    words: str
    is_term: bool = False


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return a word without a light English ending; words of other languages mostly stay.

    >>> [stem(word) for word in ("wings", "baking", "baked", "Boundaries", "boundary", "glass")]
    ['wing', 'bak', 'bak', 'boundar', 'boundar', 'glas']
    """
    word = word.casefold()
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= SHORTEST_STEM:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > SHORTEST_STEM and word[-1] == word[-2] else word


def find_terms(topic: Topic) -> frozenset[str]:
    """Return the stems to mark: those of the title and the description."""
    return find_stems(f"{topic.title} {topic.description}")


def find_stems(text: str) -> frozenset[str]:
    """Return the stems of the words that say what a text is about.

    >>> sorted(find_stems("What makes bread rise?"))
    ['bread', 'mak', 'ris']
    """
    found = WORD.findall(text.casefold())
    return frozenset(
        stem(word) for word in found if len(word) >= SHORTEST_STEM and word not in STOP_WORDS
    )
