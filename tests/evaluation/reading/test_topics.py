"""Topics are read in the format that their evidence shows."""

from io import BytesIO
from pathlib import Path

import pytest

from evaluation.problems import Problem, Refused
from evaluation.reading.topics import Topic, TopicFile, read_topics

FLOW = Topic("301", "boundary layers", "What is known & proven?", "Only flow\n\nin air.")

TREC = b"""<top>
<num> Number: 301
<title> Topic: boundary layers
<desc> Description:
What is known
& proven?

<narr> Narrative:
Only flow

in air.
</top>

<TOP><NUM>302</NUM><TITLE>heat < 10 K</TITLE></TOP>
"""
XML = b"""<?xml version="1.0" encoding="utf-8"?>
<topics>
<topic number="301"><title>boundary layers</title><desc>What is known &amp; proven?</desc>
<narrative>Only flow

in air.</narrative></topic>
<topic><num>302</num><query>heat &lt; 10 K</query></topic>
</topics>
"""
SMART = b".I 301\n.W\nboundary\nlayers\n.I 302\n.W\nheat < 10 K\n"
TSV = b"301\tboundary layers\tWhat is known & proven?\tOnly flow\n302\theat < 10 K\t\t\n"
JSONL = b"""{"_id": "301", "text": "boundary layers", "description": "What is known & proven?"}
{"qid": 302, "title": "heat < 10 K"}
"""
NTCIR = b"""<TOPIC><NUM>301</NUM><SLANG>EN</SLANG>
<TITLE>boundary layers</TITLE><DESC>What is known & proven?</DESC></TOPIC>
<TOPIC q=302>
<TITLE>heat < 10 K</TITLE></TOPIC>
"""
COLON = b"301:boundary layers\n302:heat < 10 K\n"
LIST = b"""[
 {"number": 301, "title": "boundary layers", "narrative": "Only flow."},
 {"number": 302, "title": "heat < 10 K"}
]"""
DICT = b'{"301": "boundary layers",\n "302": {"text": "heat < 10 K"}}'


def accepted(text: bytes, format: str | None = None) -> TopicFile:
    return read_topics(BytesIO(text), format)


def refused(text: bytes, format: str | None = None) -> list[Problem]:
    with pytest.raises(Refused) as refusal:
        accepted(text, format)
    return [problem for problem in refusal.value.problems if problem.severity == "error"]


def codes(problems) -> list[tuple[str, int | None]]:
    return [(problem.code, problem.line) for problem in problems]


@pytest.mark.parametrize(
    ("text", "format", "because"),
    [
        (TREC, "trec", "The first tag is <top>, as in TREC files."),
        (XML, "xml", "The file begins with an XML declaration."),
        (XML.partition(b"\n")[2], "xml", "The first tag is <topics>, so it is read as XML."),
        (SMART, "smart", "The first line begins with .I, as in SMART files."),
        (TSV, "tsv", "The first line has 4 tab-separated columns."),
        (JSONL, "jsonl", "The first line begins with {, so every line is a JSON object."),
        (NTCIR, "ntcir", "The first tag is <TOPIC>, as in NTCIR files."),
        (COLON, "colon", "Every line begins with a number and a colon."),
        (LIST, "json", "The file begins with [, so it is JSON: a list."),
        (
            DICT,
            "json",
            "The file begins with {, so it is JSON: an object by",
        ),
        (DICT.replace(b"\n", b""), "json", "The file begins with {, so it is JSON: an object"),
    ],
)
def test_a_format_is_recognised_and_says_why(text, format, because):
    found = accepted(text)
    assert found.format == format
    assert found.because.startswith(because)
    assert [(topic.number, topic.title) for topic in found.topics] == [
        ("301", "boundary layers"),
        ("302", "heat < 10 K"),
    ]
    assert len(found.problems) == 0


@pytest.mark.parametrize("text", [TREC, XML])
def test_labels_and_line_breaks_go_and_paragraphs_stay(text):
    assert accepted(text).topics[0] == FLOW


def test_line_ends_and_a_byte_order_mark_do_not_matter():
    for text in (TREC, XML, SMART, TSV, JSONL):
        windows = b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n")
        assert accepted(windows).topics == accepted(text).topics
        assert set(accepted(windows).problems.totals()) == {"W_BOM", "W_CRLF"}


def test_the_fields_of_the_first_trec_topics_stand_below_the_narrative():
    text = b"""<top>
<head> Tipster Topic Description
<num> Number: 051
<dom> Domain: International Economics
<title> Topic: Airbus Subsidies
<smry> Summary:
Aid to Airbus.
<narr> Narrative:
Any aid.
<con> Concept(s):
1. Airbus
<def> Definition(s):
GATT: a treaty
</top>
"""
    expected = "Any aid.\n\nDomain: International Economics\n\nConcept(s): 1. Airbus\n\n"
    assert accepted(text).topics == [
        Topic(
            "051", "Airbus Subsidies", "Aid to Airbus.", expected + "Definition(s): GATT: a treaty"
        )
    ]


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        (b'{"result": {"topics": [{"id": "1", "title": "locks"}]}}', {"1": "locks"}),
        (b'{"response": {"docs": [{"id": "1", "title": "locks"}]}}', {"1": "locks"}),
        (b"<top><num>31_1</num><utterance>what is it</utterance></top>", {"31_1": "what is it"}),
        (b"<top><num>1</num><claim>water boils</claim></top>", {"1": "water boils"}),
        (b"1. canal locks\n2. night ferries\n", {"1": "canal locks", "2": "night ferries"}),
        (b"1) canal locks\n2) night ferries\n", {"1": "canal locks", "2": "night ferries"}),
        (b"\tqid\tquery\n0\t1\ta\n1\t2\tb\n", {"1": "a", "2": "b"}),
    ],
)
def test_topics_as_people_have_them_keep_numbers_and_texts(text, titles):
    assert {topic.number: topic.title for topic in accepted(text).topics} == titles


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        (b"1:5:obama\n2:10:french lick\n", ["obama", "french lick"]),
        (b"1:5:obama\n2:french: lick\n", ["5:obama", "french: lick"]),
    ],
)
def test_a_priority_is_dropped_where_all_lines_have_one(text, titles):
    assert [topic.title for topic in accepted(text).topics] == titles


def test_a_web_track_topic_shows_its_parts_in_their_order():
    text = b"""<webtrack2009><topic number="1" type="faceted"><query>obama family tree</query>
<description>Find it.</description><subtopic number="1" type="nav">A map.</subtopic></topic>
</webtrack2009>"""
    assert accepted(text).topics == [Topic("1", "obama family tree", "Find it.", "")]


def test_a_topic_that_a_json_object_holds_twice_is_told_at_its_line():
    text = b'{\n "1": "flow",\n "2": "heat",\n "1": "lift"\n}'
    assert codes(refused(text)) == [("E_DUP_TOPIC", 4)]


@pytest.mark.parametrize(
    ("text", "at"),
    [(b'[{"number": 1, "title": "flow"},\n {"number" 2}]', 2), (b'[{"number": 1}] x', 1)],
)
def test_json_that_is_broken_is_refused_at_its_line(text, at):
    assert codes(refused(text)) == [("E_JSON", at)]


def test_a_given_format_is_taken():
    found = accepted(TREC.replace(b"<top>", b"Topics of 1999\n<top>", 1), "trec")
    assert [topic.number for topic in found.topics] == ["301", "302"]
    assert found.because == "The format was given."


def test_a_header_names_the_columns():
    found = accepted(b"qid\tdescription\ttitle\n7\tWhat is known?\tflow\n")
    assert found.topics == [Topic("7", "flow", "What is known?", "")]


def test_xml_needs_no_root_and_fields_of_any_name_are_text():
    text = b'<topic number="1">boundary layers</topic>\n<topic number="2"><disease>a</disease>'
    text += b"<gene>b <i>c</i></gene></topic>"
    assert [topic.title for topic in accepted(text).topics] == ["boundary layers", "a b c"]


def test_a_topic_without_title_takes_its_description_as_title():
    assert accepted(b"<top><num>1<desc>What is known?</top>").topics == [
        Topic("1", "What is known?", "", "")
    ]


def test_a_title_that_comes_twice_is_told():
    found = accepted(b"1\tflow\n2\theat\n3\tFlow\n")
    (warning,) = found.problems
    assert (warning.code, warning.line) == ("W_DUP_TEXT", 3)
    assert warning.message == "topic 3 has the same title as topic 1"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", [("E_EMPTY", None)]),
        (b"\n\n", [("E_EMPTY", None)]),
        (b"<topics></topics>", [("E_EMPTY", None)]),
        (b"boundary layers\n", [("E_FORMAT", 1)]),
        (b"1\tflow\n1\theat\n", [("E_DUP_TOPIC", 2)]),
        (
            b"\tflow\n2\t\n3 4\tx\n5\n",
            [("E_TOPIC", 1), ("E_TOPIC", 3), ("E_COLUMNS", 4)],
        ),
        ("é\u200b\tflow\n".encode(), [("E_TOPIC", 1)]),
        (b"1\tfl\xe9w\n", [("E_ENCODING", 1)]),
        (b"1\tfl\x00w\n", [("E_CHAR", 1)]),
        (b"1\t" + b"x" * 500_001, [("E_TOPIC", 1)]),
        (b'{"_id": 1, "text": "a"}\n{"_id": 2\n[]\n', [("E_JSON", 2), ("E_JSON", 3)]),
        (b'{"_id": 1, "text": "a\\ud800"}\n', [("E_CHAR", 1)]),
        (b'{"_id": ' + b"9" * 5000 + b"}\n", [("E_JSON", 1)]),
        (b'{"a": ' + b"[" * 100_000 + b"\n", [("E_JSON", 1)]),
        (b"<top>\n<num> 1\n<title> flow\n<top>\n<title> heat\n", [("E_TOPIC", 4)]),
    ],
)
def test_topics_that_are_not_whole_are_refused(text, expected):
    assert codes(refused(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        b'<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n<t>&x;</t>',
        b'<?xml version="1.0"?><!DOCTYPE t SYSTEM "http://localhost:9/t.dtd"><t/>',
        b'<topics><topic number="1"><title>a & b</title></topic></topics>',
        b'<topics><topic number="1"><title>caf&eacute;</title></topic></topics>',
        b'<topics><topic number="1"><title>a</topics>',
        b"<topics>" * 70,
        b'<topics><topic number="1"><title>a</title></topic>',
    ],
)
def test_xml_that_is_broken_or_reaches_beyond_the_file_is_refused(text):
    assert [problem.code for problem in refused(text)] == ["E_XML"]


def test_a_document_type_within_the_topics_is_refused_with_what_to_remove():
    (problem,) = refused(b"<topics>\n<!DOCTYPE t>\n</topics>")
    expected = "invalid XML: document types and entities are not allowed here"
    assert (problem.line, problem.message) == (2, expected)
    assert problem.hint == "Remove the <!DOCTYPE> and <!ENTITY> declarations."


WEB = b"""<?xml version="1.0"?>
<!-- <!DOCTYPE of the web track> -->
<!DOCTYPE webtrack [
  <!ELEMENT topic (query, description, subtopic+)>
  <!-- not the end: ]> -->
  <!ATTLIST topic number CDATA #REQUIRED type (faceted|single) ">]>">
]>
<webtrack><topic number="151" type="faceted"><query>sourdough</query>
<description>How is it kept?</description><subtopic number="1">x</subtopic></topic>
"""


def test_a_document_type_that_declares_no_entity_is_read_over():
    assert accepted(WEB + b"</webtrack>").topics == [
        Topic("151", "sourdough", "How is it kept?", "")
    ]


def test_lines_behind_a_document_type_keep_their_numbers():
    assert codes(refused(WEB + b"<topic/></webtrack>")) == [("E_TOPIC", 10)]


@pytest.mark.parametrize(
    ("declared", "line", "hint"),
    [
        (b'\n<!DOCTYPE t [\n<!ENTITY a "b">]>', 4, "Remove the <!ENTITY> declarations"),
        (b'\n<!DOCTYPE t [<!ENTITY % a "b"> %a;]>', 3, "Remove the <!ENTITY> declarations"),
        (b'<!DOCTYPE t\n SYSTEM "http://localhost:9/t.dtd">', 3, "Remove the <!DOCTYPE> line."),
        (b'<!DOCTYPE t PUBLIC "t" "t.dtd">', 2, "Remove the <!DOCTYPE> line."),
    ],
)
def test_entities_and_other_files_are_refused_with_what_to_remove(declared, line, hint):
    text = b'<?xml version="1.0"?>\n' + declared + b"<t><top><num>7<title>&a;</top></t>"
    (problem,) = refused(text)
    assert (problem.code, problem.line) == ("E_XML", line)
    assert problem.hint.startswith(hint)


UNCLOSED = b"""<topics>
<top lang="hi"><num>176</num><title>rye</title></top>
<top lang="hi">
<num>177</num><title>\xe0\xa4\x86\xe0\xa4\x9f\xe0\xa4\xbe</title>
<top lang="hi"><num>178</num><title>yeast</title></top>
</topics>
"""


def test_trec_topics_that_are_no_xml_are_read_with_the_line_where_that_began():
    found = accepted(UNCLOSED)
    assert ([topic.number for topic in found.topics], found.format) == (
        ["176", "177", "178"],
        "trec",
    )
    (warning,) = found.problems
    assert (warning.code, warning.line) == ("W_XML", 3)
    assert warning.message == "invalid XML: <top> is not closed; the file was read as TREC topics"
    assert warning.hint == "Line 6 has </topics> instead of </top>."


def test_a_format_that_is_given_is_not_left():
    assert codes(refused(UNCLOSED, "xml")) == [("E_XML", 3)]


def test_warnings_of_the_lines_stay_where_topics_are_read_again():
    found = accepted(b"\xef\xbb\xbf" + UNCLOSED.replace(b"\n", b"\r\n"))
    assert set(found.problems.totals()) == {"W_BOM", "W_CRLF", "W_XML"}


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        (b"<t>\n<topic>\n<title>a\n</topic></t>", "invalid XML: <title> is not closed", 3),
        (b'<t>\n<topic number="1">a</topic>\n', "invalid XML: <t> is not closed", 1),
        (b"<t><topic>a</topic>\n</b></t>", "invalid XML: mismatched tag", 2),
    ],
)
def test_a_tag_that_is_not_closed_is_told_where_it_opens(text, message, line):
    (problem,) = refused(text)
    assert (problem.message, problem.line) == (message, line)


CAST = b"""[{"number": 31, "title": "ovens", "description": "All about ovens.",
 "turn": [
  {"number": 1, "raw_utterance": "What is a deck oven?"},
  {"number": 2, "raw_utterance": "Is it hot?", "manual_rewritten_utterance": "Is a deck oven hot?"}
 ]}]"""


def test_each_turn_of_a_conversation_is_a_topic():
    assert accepted(CAST).topics == [
        Topic("31_1", "What is a deck oven?", "", "ovens\n\nAll about ovens.", "31"),
        Topic("31_2", "Is it hot?", "Is a deck oven hot?", "ovens\n\nAll about ovens.", "31"),
    ]


def test_turns_of_the_system_are_no_topics_and_paths_repeat_none():
    path = b"""{"number": 132, "turn": [
 {"number": "1-1", "participant": "User", "utterance": "And rye?"},
 {"number": "1-2", "participant": "System", "response": "It is sticky."},
 {"number": "%s", "utterance": "Why?", "automatic_rewritten_utterance": "Why is rye sticky?"}]}"""
    found = accepted(b"[%s,\n%s]" % (path % b"1-3", path % b"2-1"))
    assert [topic.number for topic in found.topics] == ["132_1-1", "132_1-3", "132_2-1"]
    assert found.topics[1].description == "Why is rye sticky?"
    assert codes(found.problems)[0] == ("W_DUP_TOPIC", 6)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (b'"raw_utterance": "Is it hot?"', b'"x": 1', ("E_TOPIC", 4)),
        (b'"number": 2', b'"number": 1', ("E_DUP_TOPIC", 4)),
        (b'"number": 31, ', b"", ("E_TOPIC", 3)),
        (b'"turn": [', b'"turn": [7,', ("E_JSON", 2)),
    ],
)
def test_a_turn_that_is_not_whole_is_told_at_its_line(old, new, expected):
    text = CAST.replace(old, new).replace(
        b', "manual_rewritten_utterance": "Is a deck oven hot?"', b""
    )
    assert codes(refused(text))[0] == expected


def test_authors_and_notes_of_smart_are_no_text_and_its_end_mark_is_no_topic():
    text = b".I 1\n.W\n sourdough\nbread?\n.A\nBaker, B.\n.N\n 1. by Ada\n \n.I 2\n.W\nrye\n.I 0\n"
    found = accepted(text)
    assert [(topic.number, topic.title) for topic in found.topics] == [
        ("1", "sourdough bread?"),
        ("2", "rye"),
    ]


def test_a_smart_topic_with_notes_alone_has_no_text():
    found = accepted(b".I 1\n.N\nby Ada\n.I 2\n.W\nrye\n")
    assert codes(found.problems) == [("W_NO_TEXT", 1)]


@pytest.mark.parametrize(
    "text",
    [
        b'\tqid\tquery\n0\t301\t"boundary\n\n""thin"" layers"\n1\t302\theat\n',
        b'qid\tquery\n301\t"boundary\n""thin"" layers"\n302\theat\n',
        b'"qid"\t"query"\n"301"\t"boundary\t""thin"" layers"\n"302"\t"heat"\n',
        b'\tquery\n301\tboundary "thin" layers\n302\theat\n',
    ],
)
def test_quoted_cells_may_have_line_ends_and_an_index_a_header_without_name(text):
    assert [(topic.number, topic.title) for topic in accepted(text).topics] == [
        ("301", 'boundary "thin" layers'),
        ("302", "heat"),
    ]


def test_quotation_marks_of_a_plain_table_are_characters():
    text = b'1\t"boundary layers"\n2\t12" pipe\n3\t"open\n4\tclosed"\n'
    titles = [topic.title for topic in accepted(text).topics]
    assert titles == ['"boundary layers"', '12" pipe', '"open', 'closed"']


def test_a_quotation_mark_that_nothing_closes_is_named_by_its_line():
    (problem,) = refused(b'1\theat\n2\t"open\nno end\n3\tlift\n')
    assert (problem.code, problem.line) == ("E_COLUMNS", 3)
    assert problem.hint == "Is the quotation mark of line 2 not closed?"


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "format", "last"),
    [
        ("cranfield/cran.qry.xml", "xml", "365"),
        ("cranfield/smart/cran.qry", "smart", "365"),
        ("cranfield/clean/topics.trec", "trec", "225"),
        ("cranfield/clean/topics.tsv", "tsv", "225"),
    ],
)
def test_cranfield_topics_are_read_from_every_format(data: Path, name, format, last):
    with (data / "data" / name).open("rb") as file:
        found = read_topics(file)
    assert (len(found.topics), found.format, found.topics[-1].number) == (225, format, last)
    assert found.topics[-1].title.startswith("what design factors can be used to control lift-drag")


@pytest.mark.data
def test_tabs_part_the_topics_of_acordar(data: Path):
    with (data / "data" / "acordar" / "all_queries.txt").open("rb") as file:
        assert len(read_topics(file).topics) == 493


def test_an_object_of_fields_without_a_number_is_a_topic_without_one():
    assert codes(refused(b'{"title": "boundary layers"}\n')) == [("E_TOPIC", 1)]


def topics_of(text: bytes) -> list[Topic]:
    return accepted(text).topics


@pytest.mark.parametrize(
    ("text", "format"),
    [
        (b"301 flow\n302 heat < 10 K\n", "space"),
        (b"qid,query\n301,flow\n302,heat < 10 K\n", "csv"),
        (b'query;query id\n"flow";301\nheat < 10 K;302\n', "csv"),
        (b"301,flow\n302,heat < 10 K\n", "csv"),
        (b"Topic: 301\n\nTitle: flow\n\nTopic: 302\nTitle: heat < 10 K\n", "labels"),
        (b"Query ID\tQuery text\n301\tflow\n302\theat < 10 K\n", "tsv"),
        (b"nr\tanfrage\n301\tflow\n302\theat < 10 K\n", "tsv"),
        (b"\tnr\tanfrage\n0\t301\tflow\n1\t302\theat < 10 K\n", "tsv"),
        (
            b'{"questions": [{"id": 301, "body": "flow"},\n{"id": 302, "body": "heat < 10 K"}]}',
            "json",
        ),
        (
            b'{"items": [\n{"id": 301, "query": "flow"}, {"id": 302, "query": "heat < 10 K"}]}',
            "json",
        ),
        (b'{"queries": {"301": "flow", "302": "heat < 10 K"}}', "json"),
        (b'{"queryId": 301, "text": "flow"}\n{"queryId": 302, "text": "heat < 10 K"}\n', "jsonl"),
        (b'{"tweet_id": 301, "txt": "flow"}\n{"tweet_id": 302, "txt": "heat < 10 K"}\n', "jsonl"),
        (b"<top><num>301<query>flow</query></top><top><num>302<question>heat < 10 K", "trec"),
    ],
)
def test_topics_are_read_as_people_write_them(text, format):
    found = accepted(text)
    assert found.format == format
    titles = [(topic.number, topic.title) for topic in found.topics]
    assert titles == [("301", "flow"), ("302", "heat < 10 K")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            b'{"id": "7", "title": "Two cranes", "text": "One was red.", "domain": "harbour"}',
            Topic("7", "Two cranes", "One was red.", ""),
        ),
        (
            b'{"id": "7", "title": "Farming", "keywords": ["crops", "soil"], "scope": "Of land."}',
            Topic("7", "Farming", "crops soil", "Of land."),
        ),
        (
            b'{"id": "7", "query": "locks", "question": "Who built locks?", "narrative": "Early."}',
            Topic("7", "locks", "Who built locks?", "Early."),
        ),
        (
            b'{"id": "7", "question": "Q?", "query": "q", "description": "D.", "background": "B."}',
            Topic("7", "q", "D.", "Q?\n\nB."),
        ),
        (b'{"id": "7", "narrative": "Only a narrative."}', Topic("7", "Only a narrative.", "", "")),
        (b'{"id": "7", "topic": "locks"}', Topic("7", "locks", "", "")),
        (
            b'{"id": "7", "topics": [{"lang": "fas", "topic_title": "-"},'
            b' {"lang": "eng", "topic_title": "Tolls"}], "narratives": {"eng": "Rivers."}}',
            Topic("7", "Tolls", "", "Rivers."),
        ),
    ],
)
def test_no_text_of_a_topic_is_lost(text, expected):
    assert topics_of(text) == [expected]


def test_texts_of_other_names_are_named_where_they_are_not_read():
    found = accepted(b'{"id": 7, "title": "locks", "answer": "They are of brick and wood."}')
    assert [problem.message for problem in found.problems] == [
        "fields with texts that were not read: answer"
    ]


def test_a_topic_may_have_no_text_and_is_named():
    found = accepted(b"26\tlocks\n27\t\n28\t\n")
    assert [topic.title for topic in found.topics] == ["locks", "", ""]
    assert [problem.message for problem in found.problems] == [
        "topics without a text: 2; first: 27"
    ]


def test_a_topic_that_is_a_document_has_its_docno_as_title():
    found = accepted(
        b"<top><num> Number: 321 </num><docid>a1</docid><url>http://x.test</url></top>"
    )
    assert found.topics == [Topic("321", "a1", "", "")]
    assert codes(found.problems) == [("W_NO_TEXT", 1)]


def test_a_text_of_any_length_is_kept_whole():
    found = accepted(b"26\tlocks\n27\t" + b"x" * 12_000)
    assert len(found.topics[1].title) == 12_000
    assert codes(found.problems) == [("W_LONG_TEXT", 2)]


def test_a_record_without_a_number_is_named_by_its_fields():
    (problem,) = refused(b'{"page_key": "p1", "body": "A lock."}')
    assert (problem.code, problem.hint) == ("E_TOPIC", "Its fields are: page_key, body.")


@pytest.mark.parametrize("ending", [b"]", b"", b"\n"])
def test_conversations_are_read_under_every_name_and_from_lines(ending):
    text = b"""{"number": "9-1", "title": "Boats", "responses": [
 {"turn_id": 1, "user_utterance": "Where?", "resolved_utterance": "Where are boats?",
 "response": "Here."}]}"""
    text = b"[" + text + b"]" if ending == b"]" else text.replace(b"\n", b" ") + ending
    assert topics_of(text) == [Topic("9-1_1", "Where?", "Where are boats?", "Boats", "9-1")]


@pytest.mark.parametrize(
    "text",
    [
        b"qid\tquery\tconversation_id\n7\tis it deep\ta\n8\tand wide\tb\n",
        b'{"qid": 7, "query": "deep", "session": "a"}\n{"qid": 8, "query": "w", "session": "b"}',
        b"<top><num>7</num><title>deep</title><group> a\n</top>\n"
        b"<top><num>8</num><title>wide</title><group> b\n</top>\n",
    ],
)
def test_a_field_names_the_group_of_a_topic(text):
    assert [topic.group for topic in accepted(text).topics] == ["a", "b"]


def test_groups_are_read_only_where_every_topic_has_one():
    found = accepted(b"qid,query,session\n7,is it deep,a\n8,and wide,\n")
    assert [topic.group for topic in found.topics] == ["", ""]
    assert codes(found.problems) == [("W_GROUP", 3)]
