"""The index of words: what it counts, how it ranks, and when a job makes it."""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from collections.abc import Sequence

import pytest
from django.core.files.storage import default_storage

from evaluation.reading.documents import Document
from leaderboard.collections import word_index
from leaderboard.collections.word_index import WordIndex, split_words
from leaderboard.jobs import cleanup
from leaderboard.jobs.erasure import erase_collection
from leaderboard.models import Collection, Job
from leaderboard.models import collections as collection_models
from tests.builders import make_collection, work

TEXTS = ["rye loaf", "rye rye roll", "", "Wheat loaf, 東京湾 loaf", "ROLL"]
DOCUMENTS = [Document(f"d{place}", "", text) for place, text in enumerate(TEXTS)]


def index_of(documents: Sequence[Document]) -> WordIndex:
    with tempfile.TemporaryFile() as file:
        word_index.write_word_index(documents, file)
        return word_index.map_word_index(file)


def bm25(words: Sequence[str], document: Document) -> float:
    """Compute the score of a document from the definition."""
    texts = [list(split_words(text)) for text in TEXTS]
    mean = sum(map(len, texts)) / len(texts)
    text, score = list(split_words(document.text)), 0.0
    for word in words:
        found = sum(word in words for words in texts)
        rarity = math.log1p((len(texts) - found + 0.5) / (found + 0.5))
        times = text.count(word)
        score += rarity * times / (times + 0.9 * (0.6 + 0.4 * len(text) / mean))
    return score


@pytest.mark.parametrize("words", [["rye"], ["loaf", "roll"], ["東京"], ["rye", "rye"], ["none"]])
def test_scores_are_those_of_the_definition(words):
    scores = index_of(DOCUMENTS).score(Counter(words))
    assert scores.tolist() == pytest.approx([bm25(words, document) for document in DOCUMENTS])


def test_pieces_that_are_merged_give_the_same_index(monkeypatch):
    whole = index_of(DOCUMENTS * 50)
    monkeypatch.setattr(word_index, "MOST_SORTED", 7)
    merged = index_of(DOCUMENTS * 50)
    for part in ("lengths", "places", "counts", "hashes", "ends"):
        assert getattr(merged, part).tolist() == getattr(whole, part).tolist()


@pytest.mark.parametrize("documents", [[], [Document("d1", "", "")]])
def test_without_any_word_nothing_matches(documents):
    assert index_of(documents).score(Counter(["rye"])).tolist() == [0.0] * len(documents)


@pytest.mark.django_db
def test_an_import_makes_the_index_and_a_deletion_drops_its_file(ada):
    collection = make_collection(ada)
    assert default_storage.exists(collection.words.name)
    assert word_index.word_index_of(collection).score(Counter(["loaf"])).all()
    erase_collection(collection)
    assert collection.words.name in set(cleanup.orphaned_files(math.inf))


@pytest.mark.django_db
def test_collections_of_earlier_versions_get_their_index_once(ada):
    collection = make_collection(ada)
    Collection.objects.update(words="")
    word_index.enqueue_missing_indexes()
    assert not Job.objects.open().exists()
    Job.objects.all().delete()
    word_index.enqueue_missing_indexes()
    work()
    collection.refresh_from_db()
    assert collection.words


@pytest.mark.django_db
def test_an_index_of_other_documents_is_not_used(ada):
    collection = make_collection(ada)
    publish = word_index.index_words(str(collection.pk), lambda done, total: None)
    Collection.objects.update(words="", documents="other")
    publish()
    collection.refresh_from_db()
    assert collection.words.name == ""


@pytest.mark.django_db
def test_a_collection_above_the_limit_has_no_index(ada, monkeypatch):
    monkeypatch.setattr(collection_models, "MOST_INDEXED", 11)
    monkeypatch.setattr("leaderboard.collections.importing.MOST_INDEXED", 11)
    collection = make_collection(ada)
    assert not collection.words and not collection.is_searchable
