"""Documents that contain given words, the best by BM25 first, with those words marked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leaderboard.analysis.snippets import cut_around
from leaderboard.collections.documents import open_documents
from leaderboard.collections.topic_words import WordPiece
from leaderboard.collections.word_index import UNSPACED, open_word_index, split_words
from leaderboard.models import Collection, Job

MOST_CHARACTERS = 200
# Different words of a search that are looked up, and documents that are listed.
MOST_WORDS = 16
MOST_LISTED = 1_000
# Of a title all is shown.
WHOLE = 2_000


@dataclass(frozen=True)
class Search:
    """The places of the best documents, and how many contain one of the words."""

    words: list[str]
    matches: int
    places: NDArray[np.int64]


@dataclass(frozen=True)
class FoundDocument:
    docno: str
    title: list[WordPiece]
    snippet: list[WordPiece]


@dataclass(frozen=True)
class IndexProgress:
    """The job that makes an index: how far it is, or whether it failed."""

    done: int
    total: int
    has_failed: bool


def search_documents(collection: Collection, text: str) -> Search:
    """Rank the documents of a collection that has an index; equal ones keep their order."""
    words = list(dict.fromkeys(split_words(text[:MOST_CHARACTERS])))[:MOST_WORDS]
    scores = open_word_index(collection.words.name).score(Counter(words))
    matched = np.flatnonzero(scores)
    best = matched[np.argsort(-scores[matched], kind="stable")][:MOST_LISTED]
    return Search(words, len(matched), best)


def show_documents(
    collection: Collection, places: Sequence[int], words: Sequence[str]
) -> list[FoundDocument]:
    """Return the documents at these places with the words marked."""
    pattern = mark_pattern(words)
    return [
        FoundDocument(
            document.docno,
            _mark(document.title, pattern, WHOLE),
            _mark(document.text, pattern),
        )
        for document in open_documents(collection.documents.name).at(places)
    ]


def mark_pattern(words: Sequence[str]) -> re.Pattern[str]:
    """Return the pattern that finds these words in a text, whole words only.

    >>> mark_pattern(["rye", "東京"]).findall("Rye, ryegrass, 東京湾")
    ['Rye', '東京']
    """
    letter = rf"[^\W_{UNSPACED}]"
    spaced = [re.escape(word) for word in words if not re.match(f"[{UNSPACED}]", word)]
    unspaced = [re.escape(word) for word in words if re.match(f"[{UNSPACED}]", word)]
    whole = [rf"(?<!{letter})(?:{'|'.join(spaced)})(?!{letter})"] if spaced else []
    return re.compile("|".join([*whole, *unspaced]) or r"(?!)", re.IGNORECASE)


def find_progress(collection: Collection) -> IndexProgress | None:
    """Return how far the index of a collection is, or None if no job is known."""
    job = Job.objects.of("index_words", collection).order_by("-pk").first()
    if job is None:
        return None
    return IndexProgress(job.progress, job.progress_of, job.state == Job.State.FAILED)


def _mark(text: str, pattern: re.Pattern[str], *length: int) -> list[WordPiece]:
    text = " ".join(text.split())
    return cut_around(text, list(pattern.finditer(text)), *length)
