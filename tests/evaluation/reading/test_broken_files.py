"""Every kind of file that teams keep, broken in every way: one problem, its place, its mend."""

import io
import json
import re
import zipfile

import pytest

from evaluation.problems import Problems, Refused
from evaluation.reading import paths
from evaluation.reading.containers import DOCUMENT_LIMITS, unpacked
from evaluation.reading.documents import read_documents
from evaluation.reading.runs.reader import RunRules, read_run
from evaluation.reading.topics import read_topics

NUMBERS = range(301, 313)
DEEP = b"[" * 5_000_000


def lines(*texts: str) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode()


def pretty(value: object) -> bytes:
    return json.dumps(value, indent=1).encode()


def rated(number: int) -> list[dict[str, object]]:
    return [{"_index": "i", "_id": f"d{number}", "rating": 2}]


def predicted(number: int) -> dict[str, object]:
    results = [{"corpus_id": f"d{number}", "score": 2.5}]
    return {"query_id": f"q{number}", "query": f"red {number}", "results": results}


GOLDEN = {
    "golden JSON": pretty(
        [{"id": f"q{n}", "query": f"red {n}", "expected": [f"d{n}"]} for n in NUMBERS]
    ),
    "golden grades": pretty(
        [{"id": f"q{n}", "query": f"red {n}", "expected": {f"d{n}": 2}} for n in NUMBERS]
    ),
    "golden lines": lines(
        *(json.dumps({"id": f"q{n}", "query": f"red {n}", "expected": [f"d{n}"]}) for n in NUMBERS)
    ),
    "golden CSV": lines("id,query,expected", *(f"q{n},red {n},d{n}" for n in NUMBERS)),
    "golden YAML": lines(*(f"- id: q{n}\n  query: red {n}\n  expected: [d{n}]" for n in NUMBERS)),
    "Quepid": lines("query,docid,rating", *(f"red {n},d{n},2" for n in NUMBERS)),
    "OpenSearch": pretty(
        {
            "judgmentRatings": [
                {"query": f"red {n}", "ratings": [{"docId": f"d{n}", "rating": "2.0"}]}
                for n in NUMBERS
            ]
        }
    ),
    "_rank_eval": pretty(
        {
            "requests": [
                {"id": f"q{n}", "request": {"query": {"match": {"t": "red"}}}, "ratings": rated(n)}
                for n in NUMBERS
            ]
        }
    ),
    "BioASQ": pretty(
        {
            "questions": [
                {"id": f"q{n}", "body": f"red {n}?", "documents": [f"d{n}"]} for n in NUMBERS
            ]
        }
    ),
}
JUDGMENTS = GOLDEN | {
    "pytrec_eval": pretty({f"q{n}": {f"d{n}": 2} for n in NUMBERS}),
    "lists": pretty({f"q{n}": [f"d{n}"] for n in NUMBERS}),
    "JSON lines": lines(
        *(json.dumps({"qid": f"q{n}", "docid": f"d{n}", "grade": 2}) for n in NUMBERS)
    ),
    "BEIR": lines("query-id\tcorpus-id\tscore", *(f"q{n}\td{n}\t2" for n in NUMBERS)),
    "TREC": lines(*(f"q{n} 0 d{n} 2" for n in NUMBERS)),
    "CSV": lines("qid,docid,grade", *(f"q{n},d{n},2" for n in NUMBERS)),
    "Hugging Face": lines(
        *(json.dumps({"query-id": f"q{n}", "corpus-id": f"d{n}", "score": 2}) for n in NUMBERS)
    ),
    "CSV of Hugging Face": lines("query-id,corpus-id,score", *(f"q{n},d{n},2" for n in NUMBERS)),
    "CheckThat": lines(*(f"q{n}\t0\td{n}\t2" for n in NUMBERS)),
}
RUNS = {
    "TREC": lines(*(f"q{n} Q0 d{n} 1 2.5 oak" for n in NUMBERS)),
    "scores": lines(*(f"q{n} d{n} 2.5" for n in NUMBERS)),
    "pytrec_eval": pretty({f"q{n}": {f"d{n}": 2.5} for n in NUMBERS}),
    "MTEB": pretty(
        {"mteb_model_meta": {}, "default": {"test": {f"q{n}": {f"d{n}": 2.5} for n in NUMBERS}}}
    ),
    "JSON lines": lines(
        *(json.dumps({"qid": f"q{n}", "docid": f"d{n}", "score": 2.5}) for n in NUMBERS)
    ),
    "sentence-transformers": lines(*(json.dumps(predicted(n)) for n in NUMBERS)),
}
TOPICS = {
    "TREC": lines(*(f"<top>\n<num> Number: q{n}\n<title> red {n}\n</top>" for n in NUMBERS)),
    "XML": lines(
        "<topics>",
        *(f'<topic number="q{n}">\n<query>red {n}</query>\n</topic>' for n in NUMBERS),
        "</topics>",
    ),
    "BEIR": lines(*(json.dumps({"_id": f"q{n}", "text": f"red {n}"}) for n in NUMBERS)),
    "CAsT": pretty(
        [{"number": f"q{n}", "turn": [{"number": 1, "raw_utterance": f"red {n}"}]} for n in NUMBERS]
    ),
    "iKAT": pretty(
        [
            {"number": f"q{n}", "title": "c", "turns": [{"turn_id": 1, "utterance": f"red {n}"}]}
            for n in NUMBERS
        ]
    ),
    "EPIC-QA": pretty([{"question_id": f"q{n}", "question": f"red {n}"} for n in NUMBERS]),
    "BioASQ": pretty({"questions": [{"id": f"q{n}", "body": f"red {n}?"} for n in NUMBERS]}),
    "CheckThat": lines("tweet_id\ttweet_text", *(f"q{n}\tred {n}" for n in NUMBERS)),
    "CSV": lines("qid,query", *(f"q{n},red {n}" for n in NUMBERS)),
}


DOCUMENTS = {
    "BEIR": lines(*(json.dumps({"_id": f"d{n}", "text": f"red {n}"}) for n in NUMBERS)),
    "JSON": pretty([{"docno": f"d{n}", "text": f"red {n}"} for n in NUMBERS]),
    "search hits": pretty(
        {"hits": {"hits": [{"_id": f"d{n}", "_source": {"text": f"red {n}"}} for n in NUMBERS]}}
    ),
    "XML": lines(
        "<docs>", *(f'<doc id="d{n}">\n<text>red {n}</text>\n</doc>' for n in NUMBERS), "</docs>"
    ),
    "CSV": lines("docno,text", *(f"d{n},red {n}" for n in NUMBERS)),
}


def read_as_judgments(content: bytes, folder) -> dict[str, list[str]]:
    (folder / "file").write_bytes(content)
    grades = paths.read_judgments(str(folder / "file"), lenient=False).grades
    return {
        topic.decode(): [docno.decode() for docno in docnos] for topic, docnos in grades.items()
    }


def read_as_run(content: bytes, folder) -> dict[str, list[str]]:
    (folder / "file").write_bytes(content)
    rules = RunRules(formats=("trec", "scores", "json", "jsonl"), name="oak")
    with paths.open_input(str(folder / "file")) as file:
        rankings = read_run(file, rules).rankings
    return {
        topic.decode(): [docno.decode() for docno in ranking.docnos]
        for topic, ranking in rankings.items()
    }


def read_as_topics(content: bytes, folder) -> dict[str, list[str]]:
    (folder / "file").write_bytes(content)
    with paths.open_input(str(folder / "file")) as file:
        return {
            topic.number.removesuffix("_1"): [topic.title] for topic in read_topics(file).topics
        }


def read_as_documents(content: bytes, folder) -> dict[str, list[str]]:
    problems = Problems()
    file = unpacked(io.BytesIO(content), DOCUMENT_LIMITS)
    found = {document.docno: [document.text] for document in read_documents(file, problems)}
    problems.raise_if_refused()
    return found


KINDS = [
    *((read_as_judgments, f"judgments, {name}", text) for name, text in JUDGMENTS.items()),
    *((read_as_run, f"run, {name}", text) for name, text in RUNS.items()),
    *((read_as_topics, f"topics, {name}", text) for name, text in TOPICS.items()),
    *((read_as_documents, f"documents, {name}", text) for name, text in DOCUMENTS.items()),
]
NESTED = ("topics, CAsT", "topics, iKAT", "topics, EPIC-QA", "topics, BioASQ")


def zipped(content: bytes, *beside: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("data.txt", content)
        for name in beside:
            archive.writestr(name, "Where this is from, and under which licence.\n")
    return file.getvalue()


# What changes a file; it leaves some kinds as they are.
HARMLESS = {
    "a byte order mark": lambda text: b"\xef\xbb\xbf" + text,
    "line ends of Windows": lambda text: text.replace(b"\n", b"\r\n"),
    "semicolons": lambda text: text.replace(b",", b";") if CSV.match(text) else text,
    "a zip with a README": lambda text: zipped(text, "README.txt", "__MACOSX/._data.txt"),
    "no last line end": lambda text: text.removesuffix(b"\n"),
}
BROKEN = {
    "nothing in it": lambda text: b"",
    "UTF-16": lambda text: text.decode().encode("utf-16"),
    "Latin-1": lambda text: text.replace(b"d305", b"d\xe9").replace(b"red 305", b"r\xe9d"),
    "a zip within a zip": lambda text: zipped(zipped(text)),
    "a zip of two": lambda text: zipped(text, "other.data"),
    "nesting": lambda text: DEEP,
    "nesting in a query": lambda text: text[: text.index(b"305") + 3] + DEEP,
    "nesting in the first query": lambda text: text[: text.index(b"301") + 3] + DEEP,
    "no document": lambda text: remove_document(text),
    "null for a document": lambda text: text.replace(b'"d305"', b"null"),
    "a list for a document": lambda text: text.replace(b'"d305"', b'["d305", "d306"]'),
    "no number": lambda text: VALUE.sub(rb"\1NaN", text, count=1),
    "a word for a number": lambda text: VALUE.sub(rb'\1"high"', text, count=1),
    "a query without identifier": lambda text: text.replace(b"q305", b"", 1),
    "a query twice": lambda text: repeat_query(text),
    "the end cut off": lambda text: text[: text.index(b"309")] if WHOLE.match(text) else text,
    "a cell too many": lambda text: text.replace(b"5,d305", b"5,d,305"),
    "a quotation mark alone": lambda text: text.replace(b"5,d305", b'5,"d305'),
    "a query without text": lambda text: text.replace(b"\nred 305,", b"\n,"),
}
# What a whole file is has no line.
OF_ALL = ("nothing in it", "UTF-16", "a zip within a zip", "a zip of two", "nesting")
CSV = re.compile(rb"(?:id|query|qid|docno|query-id),")
VALUE = re.compile(rb'(d305\D*(?:1 )?)"?2(?:\.\d)?"?')


def remove_document(text: bytes) -> bytes:
    """Leave a document without its id; an empty list of documents is no fault."""
    return text if LISTS.search(text) else text.replace(b'"d305"', b'""').replace(b"d305", b"")


def repeat_query(text: bytes) -> bytes:
    """State the query 304 twice where a query has one place."""
    if not QUERIES.match(text):
        return text
    return text.replace(b"q305", b"q304").replace(b'"query": "red 305"', b'"query": "red 304"')


WHOLE = re.compile(rb"[\[{]\n|<topics>|<docs>")
LISTS = re.compile(rb"expected\n|: \[d")
QUERIES = re.compile(rb'[\[{<](?!"qid|"query-id)|- id|tweet_id')


def kinds(changes):
    for read, kind, text in KINDS:
        for name, change in changes.items():
            if change(text) != text:
                yield pytest.param(read, text, name, change, id=f"{kind} with {name}")


@pytest.mark.parametrize(("read", "text", "name", "change"), list(kinds(HARMLESS)))
def test_a_file_as_tools_and_systems_write_it_is_read(read, text, name, change, tmp_path):
    assert read(change(text), tmp_path) == read(text, tmp_path)


@pytest.mark.parametrize(("read", "text", "name", "change"), list(kinds(BROKEN)))
def test_a_broken_file_has_one_problem_with_its_place_and_mend(read, text, name, change, tmp_path):
    with pytest.raises(Refused) as refused:
        read(change(text), tmp_path)
    (problem,) = refused.value.problems.of("error")
    assert problem.hint and (problem.line or name in OF_ALL)


@pytest.mark.parametrize("text", [text for _, kind, text in KINDS if kind in NESTED])
def test_topics_too_far_within_are_not_one_topic(text, tmp_path):
    with pytest.raises(Refused, match="has records within"):
        read_as_topics(b'{"a": {"b": {"c": ' + text + b"}}}", tmp_path)


def test_a_query_without_documents_is_told(tmp_path):
    (tmp_path / "file").write_bytes(b"query,expected\nred hat,d1\nred shoe,\n")
    (warning,) = paths.read_judgments(str(tmp_path / "file"), lenient=False).problems
    assert (warning.code, warning.line, warning.found) == ("W_NO_REL", 3, "red shoe")


def test_a_column_of_ids_numbers_queries_unless_it_numbers_rows(tmp_path):
    by_query = b"id,query,docid,rating\na,red,d1,2\na,red,d2,1\nb,blue,d1,1\n"
    by_row = b"id,query,docid,rating\n1,red,d1,2\n2,red,d2,1\n3,blue,d1,1\n"
    assert read_as_judgments(by_query, tmp_path) == {"a": ["d1", "d2"], "b": ["d1"]}
    assert read_as_judgments(by_row, tmp_path) == {"q1": ["d1", "d2"], "q2": ["d1"]}


def test_queries_of_one_word_are_numbered_in_judgments_and_topics(tmp_path):
    table = b"query,docid,rating\nshoes,d1,2\nhats,d2,1\n"
    assert read_as_judgments(table, tmp_path) == {"q1": ["d1"], "q2": ["d2"]}
    assert read_as_topics(table, tmp_path) == {"q1": ["shoes"], "q2": ["hats"]}


def test_a_number_and_a_text_are_separated_by_semicolons(tmp_path):
    table = b"301;red shoe\n302;red hat\n"
    assert read_as_topics(table, tmp_path) == {"301": ["red shoe"], "302": ["red hat"]}


def test_an_image_or_a_document_is_no_title(tmp_path):
    pictures = b'<q><query id="7"><image>shoe.jpg</image></query></q>'
    multimodal = (
        b'{"qid": 7, "query_txt": null, "query_img_path": "a.jpg", "query_modality": "image"}'
    )
    asked = b'{"questions": [{"id": "7", "body": null, "documents": ["d1"]}]}'
    for content in (pictures, multimodal, asked):
        assert read_as_topics(content, tmp_path) == {"7": [""]}


def test_a_list_of_judgments_may_be_in_an_object(tmp_path):
    content = b'{"qrels": [{"query_id": 1, "doc_id": "d1", "relevance": 2}]}'
    assert read_as_judgments(content, tmp_path) == {"1": ["d1"]}


@pytest.mark.parametrize("tag", ["search", "query", "question", "statement", "request", "content"])
def test_the_text_of_a_topic_of_trec_has_many_names(tag, tmp_path):
    content = f"<top>\n<num> 7\n<{tag}> deep lock\n<image> a.jpg\n</top>\n".encode()
    assert read_as_topics(content, tmp_path) == {"7": ["deep lock"]}


@pytest.mark.parametrize(
    "line",
    [
        b'{"qid": 7, "results": [{"docid": "d1", "score": 2}, {"docid": "d2", "score": null}]}\n',
        b'{"qid": 7, "results": [{"docid": "d1", "score": 2}, {"docid": "d2"}]}\n',
        b'{"qid": 7, "results": [{"docid": "d1", "score": 2}, {"docid": "d1", "score": 1}]}\n',
        b'{"7": {"d1": 2, "d1": 1}}\n',
    ],
)
def test_scores_that_are_missing_or_double_on_one_line_are_refused(line, tmp_path):
    with pytest.raises(Refused, match=r"E_SCORE|E_DUP_DOC"):
        read_as_run(line, tmp_path)


def test_text_between_topics_is_told():
    text = TOPICS["TREC"].replace(b"</top>\n", b"</top>\nA lost line of text\n", 1)
    problems = read_topics(io.BytesIO(text)).problems
    assert [(problem.code, problem.line) for problem in problems] == [("W_FIELDS", 5)]
