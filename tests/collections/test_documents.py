"""Documents in blocks, opened by docno."""

from __future__ import annotations

from io import BytesIO

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from evaluation.reading.documents import Document
from leaderboard.collections.documents import (
    cached_file,
    known_docnos,
    open_documents,
    write_documents,
)

ODD = ['a"b', "c\\d", '","', "e/f", "[1]"]


@pytest.fixture
def stored() -> str:
    """A file of a thousand documents and some more, in several blocks."""
    documents = [Document(f"d{n}", f"Title {n}", "bread " * (n % 50)) for n in range(1000)]
    odd = [Document(docno, ", ", '", "') for docno in ODD]
    file = BytesIO()
    assert write_documents([*documents, *odd], file) == 1005
    return default_storage.save("collections/c/documents", ContentFile(file.getvalue()))


def test_a_document_opens_by_its_docno(stored):
    documents = open_documents(stored)
    assert len(documents.blocks) > 1
    assert documents.find("d7") == Document("d7", "Title 7", "bread " * 7)
    assert documents.find("d1000") is None


@pytest.mark.parametrize("docno", ODD)
def test_a_docno_may_hold_any_printable_character(stored, docno):
    assert open_documents(stored).find(docno) == Document(docno, ", ", '", "')
    assert docno.encode() in known_docnos(stored)


def test_docnos_come_in_the_order_of_their_file(stored):
    assert list(open_documents(stored).docnos()) == [*(f"d{n}" for n in range(1000)), *ODD]


def test_known_docnos_are_those_of_the_file_and_no_others(stored):
    known = known_docnos(stored)
    assert set(known) == {docno.encode() for docno in open_documents(stored).docnos()}
    assert b"d1000" not in known and len(known) == 1005


def test_docnos_of_another_version_are_made_anew(stored):
    cached_file(stored, "docnos", lambda file: file.write(b"RDN0 and something else"))
    assert b"d7" in known_docnos(stored)


def test_what_is_derived_is_made_anew_where_it_is_gone(stored, settings, tmp_path):
    first = open_documents(stored).find("d7")
    open_documents.cache_clear()
    settings.RANKFIELD_HOME = tmp_path / "another host"
    assert open_documents(stored).find("d7") == first
