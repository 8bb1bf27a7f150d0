"""Assessors read documents in paragraphs, opened where most topic words are."""

from __future__ import annotations

from leaderboard.assessments.texts import cut_paragraphs, make_readable
from leaderboard.collections.topic_words import stem

TERMS = frozenset(map(stem, ("ferries", "winter")))


def test_topic_words_are_marked_in_title_and_text():
    found = make_readable("Ferries in winter", "The ferry waits.", TERMS)
    assert [piece.words for piece in found.title if piece.is_term] == ["Ferries", "winter"]
    assert (found.words, found.hits) == (3, 3)


def test_paragraphs_keep_their_place_in_the_text():
    text = "One.\n\n  Two lines\nof text.\n\n\nThree."
    assert all(text[start:].startswith(words) for start, words in cut_paragraphs(text))
    assert [words for _, words in cut_paragraphs(text)] == ["One.", "Two lines\nof text.", "Three."]


def test_a_long_paragraph_is_cut_after_a_sentence_and_nothing_is_lost():
    text = " ".join(f"Sentence {number} has five words." for number in range(200))
    pieces = list(cut_paragraphs(text))
    assert len(pieces) > 5
    assert " ".join(words for _, words in pieces) == text
    assert all(text[start:].startswith(words) for start, words in pieces)


def test_a_long_text_without_sentences_stays_whole():
    text = "word " * 1000
    assert list(cut_paragraphs(text)) == [(0, text.rstrip())]


def test_a_long_document_opens_at_its_densest_passage():
    plain = "\n\n".join(["Nothing to see in this sentence of nine words."] * 400)
    found = make_readable("", f"{plain}\n\nFerries in winter.\n\n{plain}", TERMS)
    densest = next(part for part in found.parts if part.is_densest)
    assert densest.hits == 2
    assert [part.is_open for part in found.parts] == [True, False, True, True, True, False]
    assert found.words == 7203


def test_an_empty_document_has_no_parts():
    assert make_readable("", "  \n ", TERMS).parts == []


WRAPPED = """\
The ferry to the island sails at noon, and the crossing
takes forty minutes if the sea is calm. In winter there
is one boat a day, which does not sail on Sundays or in
a gale."""
LIST = """\
Times of the ferry in winter, every day but Sundays:
noon
four
"""


def test_lines_that_the_source_wrapped_are_joined_and_passages_keep_their_places():
    (part,) = make_readable("", WRAPPED, frozenset()).parts
    (paragraph,) = part.paragraphs
    assert "\n" not in paragraph.text and len(paragraph.text) == len(WRAPPED)


def test_the_lines_of_a_list_stay():
    (part,) = make_readable("", LIST, frozenset()).parts
    assert part.paragraphs[0].text == LIST.rstrip()
