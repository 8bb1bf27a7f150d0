"""Documents are read one by one in the format that their evidence shows."""

import gzip
from io import BytesIO
from itertools import islice
from pathlib import Path

import pytest

from evaluation.problems import Problems, Refused
from evaluation.reading.containers import stream, unpacked
from evaluation.reading.documents import Document, read_documents, recognise_documents

LAYERS = Document("D1", "On layers", "Boundary layers & flow.\nIn air.")
EMPTY = Document("D2", "", "")

TREC = b"""<DOC>
<DOCNO> D1 </DOCNO>
<HEADLINE>On
layers</HEADLINE>
<TEXT>
Boundary <b>layers</b> & flow.
In air.
</TEXT>
</DOC>
<doc><docno>D2</docno></doc>
"""
XML = b"""<?xml version="1.0"?>
<docs><document id="D1"><title>On layers</title><body>Boundary layers &amp; flow.
In air.</body></document>
<doc docno="D2"/></docs>
"""
SMART = b".I D1\n.T\nOn\nlayers\n.A\nAda\n.W\nBoundary layers & flow.\n.A\nIn air.\n.I D2\n.T\n.W\n"
TSV = b"docid\ttext\ttitle\nD1\tBoundary layers & flow.\\nIn air.\tOn layers\nD2\t\t\n"
JSONL = b"""{"docid": "D1", "title": "On layers", "contents": "Boundary layers & flow.\\nIn air."}
{"_id": "D2", "text": "", "url": null}
"""


def documents(text: bytes, format: str | None = None) -> tuple[list[Document], Problems]:
    problems = Problems()
    return list(read_documents(BytesIO(text), problems, format)), problems


def codes(problems: Problems) -> list[tuple[str, int | None]]:
    return [(problem.code, problem.line) for problem in problems]


@pytest.mark.parametrize(
    ("text", "format"),
    [(TREC, "trec"), (XML, "xml"), (SMART, "smart"), (JSONL, "jsonl")],
)
def test_every_format_gives_the_same_documents(text, format):
    assert documents(text)[0] == [LAYERS, EMPTY]
    assert len(documents(text)[1]) == 0
    assert recognise_documents(BytesIO(text)).format == format


def test_columns_parted_by_tabs_are_named_by_their_header_or_their_number():
    assert documents(TSV)[0][0].title == "On layers"
    assert documents(b"7\tboundary layers\n")[0] == [Document("7", "", "boundary layers")]
    four = b"D1\thttp://x.test/\tOn layers\tIn air.\n"
    assert documents(four)[0] == [Document("D1", "On layers", "In air.")]


def test_a_reply_of_a_search_engine_has_its_documents_two_levels_down():
    reply = b'{"response": {"numFound": 1, "docs": [{"id": "d1", "title": ["Lock"], "body": "b"}]}}'
    assert documents(reply)[0] == [Document("d1", "Lock", "b")]


def test_a_plain_list_of_docnos_is_enough():
    found, problems = documents(b"FT911-1\nFT911-2\n\nFT911-3\n")
    assert [document.docno for document in found] == ["FT911-1", "FT911-2", "FT911-3"]
    assert set(problems.totals()) == {"W_BLANK"}


def test_line_ends_and_a_byte_order_mark_do_not_matter():
    for text in (TREC, XML, SMART, JSONL):
        windows = b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n")
        assert documents(windows)[0] == [LAYERS, EMPTY]
        assert set(documents(windows)[1].totals()) == {"W_BOM", "W_CRLF"}


def test_records_without_a_root_are_read_also_as_xml():
    rootless = b"<doc><docno>D1</docno><text>a &amp; b</text></doc>\n<doc><docno>D2</docno></doc>"
    assert documents(rootless, "xml")[0] == documents(rootless, "trec")[0]


def test_a_document_without_text_field_shows_what_else_it_has():
    text = b"<DOC><DOCNO>W1</DOCNO><DOCHDR>http://x.test</DOCHDR><html><p>Boundary <p>layers</html>"
    assert documents(text)[0] == [Document("W1", "", "Boundary layers")]


def test_only_the_terminated_basic_entities_of_sgml_are_characters():
    text = b"<DOC><DOCNO>D1</DOCNO><TEXT>AT&amp;T &hyph; a&lt;b &#0; R&D</TEXT></DOC>"
    assert documents(text)[0][0].text == "AT&T &hyph; a<b &#0; R&D"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", [("E_EMPTY", None)]),
        (b"<docs></docs>", [("E_EMPTY", None)]),
        (b"no format at all\n", [("E_FORMAT", 1)]),
        (b"<DOC><TEXT>a</TEXT></DOC>", [("E_DOCID", 1)]),
        (b'{"text": "a"}\n{"id": "a b"}\n{"id": true}\n', [("E_DOCID", n) for n in (1, 2, 3)]),
        ('{"id": "é\u00a0b"}\n{"id": "\u200bé"}\n'.encode(), [("E_DOCID", 1), ("E_DOCID", 2)]),
        (b'{"id": "' + b"D" * 1025 + b'"}\n', [("E_DOCID", 1)]),
        (b'{"id": "D1", "text": "a\\u0000"}\n', [("E_CHAR", 1)]),
        (b'{"id": "D1", "text": "\\ud800"}\n{"id": "\\ud800"}\n', [("E_CHAR", 1), ("E_DOCID", 2)]),
        (b'{"id": ' + b"9" * 5000 + b"}\n[1]\n{\n", [("E_JSON", n) for n in (1, 2, 3)]),
        (b"a\tb\tc\td\te\n", [("E_COLUMNS", 1)]),
        (b"D1\tcaf\xe9\n", [("E_ENCODING", 1)]),
        (b"<docs><doc id='1'>a & b</doc></docs>", [("E_XML", 1)]),
        (b"<!DOCTYPE d [<!ENTITY x 'y'>]><docs/>", [("E_XML", 1)]),
    ],
)
def test_what_is_no_document_is_left_out_and_told(text, expected):
    found, problems = documents(text)
    assert (found, codes(problems)) == ([], expected)


def test_the_documents_beside_a_wrong_one_are_read():
    found, problems = documents(b'{"id": "D1"}\n{"id": 2,}\n{"id": 3}\n')
    assert [document.docno for document in found] == ["D1", "3"]
    assert codes(problems) == [("E_JSON", 2)]


def test_a_docno_that_comes_again_is_told_with_both_lines():
    _, problems = documents(b"D1\ta\nD2\tb\nD1\tc\nD3\td\nD1\te\n")
    assert codes(problems) == [("E_DUP_ID", 3), ("E_DUP_ID", 5)]
    assert problems.kept[1].message == "the document is already defined at line 1"


def test_a_plain_list_may_repeat_docnos():
    _, problems = documents(b"D1\nD2\nD1\nD3\nD1\nD2\n")
    (warning,) = problems
    assert (warning.code, warning.line, warning.found) == ("W_DUP_ID", 3, "D1")
    assert warning.message == "lines that repeat a docno were ignored: 3"
    assert warning.hint == "The first repeats line 1."


def test_docnos_of_any_script_are_kept_and_another_form_of_unicode_is_noted():
    found, problems = documents("bröd\nパン\nbro\u0308d\n".encode())
    assert [document.docno for document in found] == ["bröd", "パン", "bro\u0308d"]
    assert codes(problems) == [("W_NFC", 3)]


def test_quoted_cells_of_documents_may_have_line_ends():
    text = b'\tdocno\ttitle\ttext\n0\tD1\tOn layers\t"Boundary\n\nlayers."\n1\tD2\t\tflow\n'
    assert documents(text)[0] == [
        Document("D1", "On layers", "Boundary\n\nlayers."),
        Document("D2", "", "flow"),
    ]


def test_a_text_that_comes_again_is_told_once():
    _, problems = documents(b"D1\ta\nD2\t\nD3\ta\nD4\t\nD5\ta\n")
    assert codes(problems) == [("W_DUP_TEXT", 3)]
    expected = "2 documents duplicate the text of an earlier one; first: D3, as D1"
    assert problems.kept[0].message == expected


def test_documents_are_read_as_they_come_and_not_before():
    taken = []

    def pieces():
        for number in range(1_000_000):
            taken.append(number)
            yield b'{"id": %d, "text": "boundary layers of flow number %d"}\n' % (number, number)

    reader = read_documents(stream(pieces), Problems())
    assert [document.docno for document in islice(reader, 3)] == ["0", "1", "2"]
    assert len(taken) < 5_000


def test_a_record_that_never_ends_is_refused_without_being_kept():
    endless = b"boundary layers " * 64 + b"\n"
    text = b"<DOC><DOCNO>D1</DOCNO>" + endless * 17_000
    found, problems = documents(text + b"<DOC><DOCNO>D2</DOCNO></DOC>")
    assert [document.docno for document in found] == ["D2"]
    assert codes(problems) == [("E_FORMAT", 1)]
    assert documents(b"<d><!--" + endless * 17_000)[1].totals() == {"E_XML": 1}


def test_text_that_is_almost_a_tag_takes_no_longer_than_other_text():
    almost = b"<" + b"a" * 500_000 + b" " * 500_000
    assert (
        documents(b"<DOC><DOCNO>D1</DOCNO>" + almost + b"</DOC>")[0][0].text
        == almost.decode()[:500_001]
    )
    assert documents(b" " * 1_000_000 + b"<?xml <d/>")[1].totals() == {"E_XML": 1}


def test_a_container_that_breaks_is_one_of_the_problems():
    packed = gzip.compress(b"".join(b'{"id": %d}\n' % number for number in range(100_000)))
    problems = Problems()
    found = list(read_documents(unpacked(BytesIO(packed[:-50_000])), problems))
    assert len(found) > 1000
    assert problems.totals() == {"E_CONTAINER": 1}


def test_what_is_no_text_is_not_recognised():
    with pytest.raises(Refused):
        recognise_documents(BytesIO("<DOC>".encode("utf-16")))


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "format"),
    [("cran.all.1400.xml", "trec"), ("clean/docs.trec", "trec"), ("smart/cran.all.1400", "smart")],
)
def test_cranfield_documents_are_read_from_every_format(data: Path, name, format):
    with (data / "data" / "cranfield" / name).open("rb") as file:
        assert recognise_documents(file).format == format
        file.seek(0)
        problems = Problems()
        found = list(read_documents(file, problems))
    assert [document.docno for document in found] == [str(n) for n in range(1, 1401)]
    assert [document.docno for document in found if not document.text] == ["471", "995"]
    assert problems.errors == 0


@pytest.mark.data
def test_cranfield_documents_are_the_same_as_sgml_and_as_xml(data: Path):
    text = (data / "data" / "cranfield" / "cran.all.1400.xml").read_bytes()
    assert documents(text, "xml")[0] == documents(text, "trec")[0]


@pytest.mark.parametrize(
    "text",
    [
        b'[{"_id": "d1", "text": "a"}]',
        b'{"d1": "a"}',
        b'{"version": 2, "documents": [\n{"docno": "d1", "text": "a"}]}',
        b'{"took": 5, "hits": {"total": 1, "hits": [{"_id": "d1", "_source": {"text": "a"}}]}}',
    ],
)
def test_documents_may_be_one_value_of_json(text):
    assert recognise_documents(BytesIO(text)).format == "json"
    assert documents(text)[0] == [Document("d1", "", "a")]


def test_a_name_that_comes_twice_in_an_object_is_refused():
    found, problems = documents(b'{"_id": "d1", "_id": "d2", "text": "a"}\n')
    assert not found
    assert '"_id" appears twice' in next(iter(problems)).message


def test_a_list_of_strings_is_a_text_in_paragraphs():
    found, _ = documents(b'{"_id": "d1", "text": ["a", "b"]}\n')
    assert found == [Document("d1", "", "a\nb")]


@pytest.mark.parametrize(
    "text",
    [
        b'{"docno": "d1", "content": {"title": "Lock", "body": "Of brick."}}\n',
        b'{"_index": "pages", "_id": "d1", "_source": {"title": "Lock", "text": "Of brick."}}\n',
        b'{"vclaim_id": "d1", "vclaim": "Of brick.", "title": "Lock", "date": "2026-01-02"}\n',
        b'{"pid": "d1", "title": "Lock", "passage": "Of brick.", "docid": "canal"}\n',
        b'{"document_id": "d1", "meta": {"title": "Lock"}, "contexts": [{"text": "Of brick."}]}',
        b"doc_id,title,text\nd1,Lock,Of brick.\n",
        b'docno;text;title\nd1;"Of brick.";Lock\n',
    ],
)
def test_documents_are_read_as_people_write_them(text):
    assert documents(text)[0] == [Document("d1", "Lock", "Of brick.")]


def test_several_texts_of_a_document_are_kept_and_none_twice():
    text = b'{"id": "d1", "contents": "Lock\\nOf brick.", "title": "Lock", "text": "Of brick.",'
    text += b' "abstract": "Of canals."}\n'
    assert documents(text)[0] == [Document("d1", "Lock", "Lock\nOf brick.\nOf canals.")]


def test_a_document_without_a_docno_is_named_by_its_fields():
    _, problems = documents(b'{"page_key": "p1", "body": "A lock."}\n')
    (problem,) = problems
    assert (problem.code, problem.hint) == ("E_DOCID", "Its fields are: page_key, body.")


def test_cells_of_csv_may_have_line_ends():
    found, problems = documents(b'id,text\nd1,"Of\n\nbrick."\nd2,Of wood.\nd3\n')
    assert found == [Document("d1", "", "Of\n\nbrick."), Document("d2", "", "Of wood.")]
    assert codes(problems) == [("E_COLUMNS", 6)]
