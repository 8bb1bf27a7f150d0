"""What a file is, told from its evidence: first bytes, tags, a header row, columns.

The strongest evidence is a column that holds topics or documents known already; it also tells
which columns are swapped. Where several readings fit, all are returned, the likeliest first:
nothing is guessed, the caller asks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container
from dataclasses import dataclass
from typing import BinaryIO

from evaluation.problems import Problems, Refused
from evaluation.reading.columns import ZERO
from evaluation.reading.containers import RUN_LIMITS
from evaluation.reading.evidence import Known, Table
from evaluation.reading.hints import DATE
from evaluation.reading.lines import numbered_lines
from evaluation.reading.records import Lines


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to read a file: the evidence as a sentence, and why it is not read, if it is not."""

    format: str
    because: str
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Recognised:
    """The ways to read a file, the likeliest first; more than one is a question to ask."""

    candidates: tuple[Candidate, ...]

    @classmethod
    def surely(cls, format: str, because: str) -> Recognised:
        return cls((Candidate(format, because),))

    @property
    def format(self) -> str:
        return self.candidates[0].format

    @property
    def because(self) -> str:
        return self.candidates[0].because

    @property
    def refused(self) -> str:
        """Why the file is not read, where no candidate is; else empty."""
        reasons = [candidate.refused for candidate in self.candidates]
        return reasons[0] if all(reasons) else ""


def of_records(first_lines: Lines, record_tag: str, formats: Container[str]) -> Recognised | None:
    """The format that the first lines of topics or documents show, if they show one of `formats`.

    >>> lines = [(1, b""), (2, b"<TOP>"), (3, b"<num> Number: 301")]
    >>> of_records(lines, "top", {"trec", "xml"}).because
    'The first tag is <TOP>, as in TREC files.'
    """
    lines = [line for _, line in first_lines if line.strip()]
    first = lines[0] if lines else b""
    line = first.lstrip()
    if line.startswith(b"<"):
        return _of_markup(line, record_tag, formats)
    if line.startswith(b".I "):
        return Recognised.surely("smart", "The first line begins with .I, as in SMART files.")
    if line.startswith((b"{", b"[")):
        return _of_json(lines, formats)
    candidates = []
    if "colon" in formats and all(COLON.match(line) for line in lines) and lines:
        candidates.append(Candidate("colon", "Every line begins with a number and a colon."))
    if b"\t" in first:
        because = f"The first line has {first.count(TAB) + 1} tab-separated columns."
        candidates.append(Candidate("tsv", because))
    return Recognised(tuple(candidates)) if candidates else None


_TAG = re.compile(rb"<([A-Za-z][\w.:-]{0,40})")


def _of_markup(line: bytes, record_tag: str, formats: Container[str]) -> Recognised:
    tag = _TAG.match(line)
    name = tag[1].decode() if tag else ""
    if line.startswith(b"<?xml"):
        return Recognised.surely("xml", "The file begins with an XML declaration.")
    if name.lower() == record_tag:
        return Recognised.surely("trec", f"The first tag is <{name}>, as in TREC files.")
    if name == "TOPIC" and "ntcir" in formats:
        return Recognised.surely("ntcir", "The first tag is <TOPIC>, as in NTCIR files.")
    what = f"The first tag is <{name}>" if name else "The file begins with markup"
    return Recognised.surely("xml", f"{what}, so it is read as XML.")


def _of_json(lines: list[bytes], formats: Container[str]) -> Recognised | None:
    """JSON in one piece, or an object on each line: those hold fields, not topics by number."""
    start = chr(lines[0].lstrip()[0])
    if start == "{" and ("json" not in formats or _is_object_of_fields(lines)):
        because = "The first line begins with {, so every line is a JSON object."
        return Recognised.surely("jsonl", because)
    if "json" not in formats:
        return None
    what = "a list" if start == "[" else "an object of topics by number"
    return Recognised.surely("json", f"The file begins with {start}, so it is JSON: {what}.")


def _is_object_of_fields(lines: list[bytes]) -> bool:
    if len(lines) > 1:
        return lines[1].lstrip().startswith(b"{") or lines[0].rstrip().endswith(b"}")
    try:
        value = json.loads(lines[0])
    except (ValueError, RecursionError):
        return True
    return not (NUMBER_FIELDS | TEXT_FIELDS).isdisjoint(name.lower() for name in value)


TAB = b"\t"
NUMBER_FIELDS = {"num", "number", "_id", "id", "qid", "query_id", "query-id", "topic_id", "topic"}
TEXT_FIELDS = {"title", "query", "question", "text", "desc", "description", "narr", "narrative"}
# A number without colon or blank, perhaps a priority, and a text: the Million Query track's.
COLON = re.compile(rb"[!-9;-~]{1,128}:(?:\d{1,3}:)?[ ]*[^\s:/]")


JUDGMENT_FORMATS = {
    "trec": "judgments of TREC (topic iteration docno grade)",
    "cranfield": "judgments of Cranfield (topic docno grade)",
    "beir": "judgments of BEIR (query-id corpus-id score)",
    "ntcir": "judgments of NTCIR (grades L0 to L3, or A, B, C)",
    "smart": "judgments of SMART (topic docno 0 0, relevant documents only)",
    "strata": "a stratified sample (topic iteration docno stratum grade)",
    "subtopics": "judgments of subtopics (topic subtopic docno grade)",
}
NOT_READ = {
    "prels": "Randomly sampled judgments (prels) need estimators, which are not supported.",
    "legal": "Legal track sampled judgments need estimators, which are not supported.",
    "preferences": "Preferences between documents are not grades of documents.",
    "aspects": "Lines have several grades per document. Use the four columns of one.",
    "run": "This looks like a run, not relevance judgments.",
}
NTCIR_GRADE = re.compile(rb"[Ll]\d|[SABCsabc]")


def recognise_qrels(file: BinaryIO, topics: Known = None, docnos: Known = None) -> Recognised:
    """The format of a file of judgments, by its first 20,000 lines.

    The formats that are read are those of `JUDGMENT_FORMATS`; those of `NOT_READ` are recognised
    and carry the reason. Raises `Refused`: E_FORMAT where nothing fits, E_EMPTY, and what
    `numbered_lines` raises.

    >>> from io import BytesIO
    >>> found = recognise_qrels(BytesIO(b"7 d1 2\\n7 d2 0\\n8 d1 1\\n"))
    >>> found.format, found.because
    ('cranfield', 'The lines have 3 columns. Column 3 contains grades.')

    Columns in another order, which known topics or documents show, are a reading of their own:

    >>> found = recognise_qrels(BytesIO(b"d1 0 7 2"), topics={b"7"}, docnos={b"d1"})
    >>> [candidate.format for candidate in found.candidates]
    ['trec', 'docno iteration topic grade']
    """
    problems = Problems()
    lines = numbered_lines(file, problems, RUN_LIMITS.line, RUN_LIMITS.lines)
    table = Table.of(lines, topics, docnos)
    if candidates := qrels_candidates(table):
        return Recognised(tuple(candidates))
    if table.rows:
        first = b" ".join(table.rows[0])
        message = f"the format is not recognised; most lines have {table.width} columns"
        problems.error("E_FORMAT", None, message, first)
    elif not problems.errors:
        problems.error("E_EMPTY", None, "the file has no lines")
    raise Refused(problems)


def qrels_candidates(table: Table) -> list[Candidate]:
    """Every reading of the columns as judgments, the likeliest first."""
    if _has_relevant_only(table):
        because = "Columns 3 and 4 are always 0, as in SMART files of relevant documents."
        return [Candidate("smart", because)]
    by_width = {3: _three_of_qrels, 4: _four_of_qrels, 5: _sampled, 6: _six_of_qrels}
    found = by_width[table.width](table) if table.width in by_width else []
    return found + _in_another_order(table)


def _has_relevant_only(table: Table) -> bool:
    """Whether columns 3 and 4 say nothing and column 2 may be the document: CISI, CACM."""
    return (
        table.width == 4
        and table.distinct(1) > 1
        and all(ZERO.fullmatch(value) for column in (2, 3) for value in table.values(column))
    )


def _in_another_order(table: Table) -> list[Candidate]:
    """The reading by which topics and documents stand where the known ones do."""
    usual = {3: ("topic", "docno", "grade"), 4: ("topic", "iteration", "docno", "grade")}
    names = usual.get(table.width)
    if names is None or not table.misplaced(0, names.index("docno")):
        return []
    at = {name: place for place, name in enumerate(table.named_columns())}
    order = " ".join(sorted(at, key=lambda name: at[name]))
    # Of three columns the last holds the grade, or it is the one that is missing.
    cut = table.width == 3 and at.get("grade") != 2
    if set(at) != set(names) or cut or not table.is_whole(at["grade"]):
        return []
    return [Candidate(order, table.described())]


def _three_of_qrels(table: Table) -> list[Candidate]:
    if table.header[-1:] == [b"score"]:
        names = b" ".join(table.header).decode("utf-8", "replace")
        return [Candidate("beir", f"The first line is a header: {names}.")]
    if table.matches(2, NTCIR_GRADE):
        return [
            Candidate("ntcir", f"{table.described()} Column 3 contains grades as in NTCIR files.")
        ]
    if not table.is_whole(2):
        return []
    misplaced = table.misplaced(0, 1)
    found = [Candidate("cranfield", f"{table.described()} Column 3 contains grades.", misplaced)]
    if table.counts_up(2):
        because = "Column 3 counts 1, 2, 3 within each topic, as ranks do."
        found.insert(0, Candidate("run", because, NOT_READ["run"]))
    return found


def _four_of_qrels(table: Table) -> list[Candidate]:
    if table.matches(3, NTCIR_GRADE) or table.matches(1, NTCIR_GRADE):
        return [
            Candidate("ntcir", f"{table.described()} The grades are letters, as in NTCIR files.")
        ]
    if not table.is_whole(3):
        return []
    trec = Candidate("trec", table.described(), table.misplaced(0, 2))
    repeats = any(len(set(pairs)) < len(pairs) for pairs in table.by_topic(2))
    if table.distinct(1) == 1 or not (repeats or table.is_whole(1)):
        return [trec]
    because = "Column 2 differs within a topic, as the numbers of subtopics do."
    if repeats and table.is_whole(1):
        because = "Topic and document repeat with another number in column 2, a subtopic."
        return [Candidate("subtopics", because)]
    if repeats:
        # Names in column 2 may also be those of assessors.
        because = "Topic and document repeat with another name in column 2, perhaps a subtopic."
        return [trec, Candidate("subtopics", because)]
    if all(len(set(values)) == 1 for values in table.by_topic(1)):
        return [trec]
    return [trec, Candidate("subtopics", because)]


def _sampled(table: Table) -> list[Candidate]:
    """Five columns: where the document stands and whether the last is whole tell them apart."""
    docno, is_probability = table.docno_column, not table.is_whole(4)
    if is_probability and table.is_decimal(4):
        kind = "prels" if docno == 1 else "legal"
        what = "the last is a probability"
    elif table.is_whole(4):
        kind = "preferences" if docno == 3 else "strata"
        what = "the last is a grade"
    else:
        return []
    because = f"The lines have 5 columns: the document is in column {docno + 1}, {what}."
    if kind == "strata":
        return [Candidate(kind, because, table.misplaced(0, 2))]
    return [Candidate(kind, because, NOT_READ[kind])]


def _six_of_qrels(table: Table) -> list[Candidate]:
    kind = "aspects" if all(table.is_whole(column) for column in (3, 4, 5)) else "run"
    return [Candidate(kind, table.described(), NOT_READ[kind])]


RUN_FORMATS = {
    "trec": "TREC (topic Q0 docno rank score tag)",
    "trec5": "TREC, no tag (topic Q0 docno rank score)",
    "msmarco": "MS MARCO (topic docno rank)",
    "scores": "three columns (topic docno score)",
    "pairs": "two columns (topic docno), the best first",
    "json": "JSON (an object of topics, each with docnos and scores)",
    "jsonl": "JSON lines (an object with topic, docno and score)",
    "ntcir": "NTCIR (<SYSDESC>, then six columns)",
}
NO_RUN = {
    "judgments": "This looks like relevance judgments, not a run.",
    "microblog": "Microblog track runs, which start with a date, are not supported.",
    "trecvid": "TRECVID XML runs are not supported. Use six TREC columns.",
    "markup": "This looks like HTML or XML, not a run.",
    "list": "JSON runs are an object of topics or an object on each line, not a list.",
}


_TOPIC_OF_DICTS = re.compile(rb"""\{\s*+(?:\}|"(?:[^"\\]|\\.)*+"\s*+:\s*+\{)""")
_TRECVID = re.compile(rb"<(?:!DOCTYPE\s+)?video\w*", re.I)


def run_by_first_bytes(head: bytes) -> Candidate | None:
    """What the first bytes of a run alone decide; None for a table of columns.

    >>> run_by_first_bytes(b'{"q1": {"d9": 0.87}}').format
    'json'
    """
    video = _TRECVID.search(head) if head.startswith(b"<") else None
    if head.startswith(b"<SYSDESC>"):
        return Candidate("ntcir", "The first line is a <SYSDESC>, as in NTCIR runs.")
    if video:
        found = video[0].decode()
        return Candidate("trecvid", f"It begins with {found}, as TRECVID.", NO_RUN["trecvid"])
    if head.startswith(b"<"):
        return Candidate("markup", "The file begins with a tag.", NO_RUN["markup"])
    if _TOPIC_OF_DICTS.match(head):
        return Candidate("json", "The file is a JSON object of objects.")
    if head.startswith(b"{"):
        return Candidate("jsonl", "The first line begins with {, so every line is a JSON object.")
    if head.startswith(b"["):
        return Candidate("list", "The file begins with [, so it is a JSON list.", NO_RUN["list"])
    return None


def run_candidates(table: Table) -> list[Candidate]:
    """Every reading of the columns as a run, the likeliest first."""
    by_width = {2: _two, 3: _three, 4: _four, 5: _five, 6: _six, 7: _seven}
    return by_width[table.width](table) if table.width in by_width else []


def _six(table: Table) -> list[Candidate]:
    return [Candidate("trec", table.described(), table.misplaced(0, 2))]


def _five(table: Table) -> list[Candidate]:
    if not table.is_decimal(4) or not table.is_whole(3):
        return _judgments(table)
    run = Candidate("trec5", f"{table.described()} The tag is missing.", table.misplaced(0, 2))
    return [run] if table.counts_up(3) else [run, *_judgments(table)]


def _four(table: Table) -> list[Candidate]:
    return _judgments(table)


def _three(table: Table) -> list[Candidate]:
    if not table.is_decimal(2):
        return _judgments(table)
    known, misplaced = table.described(), table.misplaced(0, 1)
    if table.is_whole(2) and table.counts_up(2):
        because = f"{known} Column 3 counts 1, 2, 3 within each topic, as ranks do."
        return [Candidate("msmarco", because, misplaced)]
    because = f"{known} Column 3 contains numbers that do not count up."
    scores = Candidate("scores", because, misplaced)
    if not table.is_whole(2):
        return [scores]
    if table.repeats(2):
        faulty = Candidate("msmarco", known, "A number repeats in a topic; ranks never do.")
        return [scores, faulty, *_judgments(table)]
    because = f"{known} Column 3 contains whole numbers, each once per topic, as ranks may be."
    return [scores, Candidate("msmarco", because, misplaced)]


def _two(table: Table) -> list[Candidate]:
    because = f"{table.described()} The order of the lines is the ranking."
    return [Candidate("pairs", because, table.misplaced(0, 1))]


def _seven(table: Table) -> list[Candidate]:
    if not table.matches(0, DATE):
        return []
    because = "The lines have 7 columns and begin with a date."
    return [Candidate("microblog", because, NO_RUN["microblog"])]


def _judgments(table: Table) -> list[Candidate]:
    found = [candidate for candidate in qrels_candidates(table) if candidate.format != "run"]
    reason = NO_RUN["judgments"]
    return [Candidate("judgments", candidate.because, reason) for candidate in found[:1]]
