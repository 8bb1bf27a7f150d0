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

from evaluation.phrases import counted
from evaluation.problems import Problems, Refused
from evaluation.reading.columns import ZERO
from evaluation.reading.containers import RUN_LIMITS
from evaluation.reading.evidence import Evidence, Known
from evaluation.reading.golden import recognise_golden
from evaluation.reading.headers import format_of_columns, name_columns
from evaluation.reading.hints import DATE
from evaluation.reading.lines import first_bytes, numbered_lines
from evaluation.reading.texts.field_names import FieldNames
from evaluation.reading.texts.records import Lines, find_wrapped
from evaluation.reading.texts.tables import find_separator


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


def of_records(
    first_lines: Lines, record_tag: str, formats: Container[str], names: FieldNames
) -> Recognised | None:
    """The format that the first lines of topics or documents show, if they show one of `formats`.

    >>> from evaluation.reading.topics import NAMES
    >>> lines = [(1, b""), (2, b"<TOP>"), (3, b"<num> Number: 301")]
    >>> of_records(lines, "top", {"trec", "xml"}, NAMES).because
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
        return _of_json(lines, names)
    return _of_plain_lines(lines, formats, names)


def _of_plain_lines(
    lines: list[bytes], formats: Container[str], names: FieldNames
) -> Recognised | None:
    first = lines[0] if lines else b""
    candidates = []
    if "labels" in formats and LABEL.match(first) and any(map(LABELLED.match, lines)):
        return Recognised.surely("labels", "The lines begin with Topic: and Title:.")
    if "colon" in formats and all(COLON.match(line) for line in lines) and lines:
        candidates.append(Candidate("colon", "Every line begins with a number and a colon."))
    if b"\t" in first:
        because = f"The first line has {first.count(TAB) + 1} tab-separated columns."
        candidates.append(Candidate("tsv", because))
    elif separator := find_separator(lines, names):
        because = f'The first line names columns, with "{separator}" between them.'
        candidates.append(Candidate("csv", because))
    if candidates or not lines or "space" not in formats:
        return Recognised(tuple(candidates)) if candidates else None
    if all(map(NUMBERED_CELL.match, lines)):
        return Recognised.surely("csv", "Every line begins with a number and a comma or semicolon.")
    if all(map(NUMBERED.match, lines)):
        return Recognised.surely("space", "Every line begins with a number and a space.")
    return None


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


def _of_json(lines: list[bytes], names: FieldNames) -> Recognised:
    """JSON in one piece, or an object on each line: those hold fields, not records by number."""
    start = chr(lines[0].lstrip()[0])
    if start == "{" and _is_object_of_fields(lines, names):
        because = "The first line begins with {, so every line is a JSON object."
        return Recognised.surely("jsonl", because)
    what = "a list" if start == "[" else "an object by number or with a list"
    return Recognised.surely("json", f"The file begins with {start}, so it is JSON: {what}.")


def _is_object_of_fields(lines: list[bytes], names: FieldNames) -> bool:
    if len(lines) > 1:
        first, second = lines[0].rstrip(), lines[1].lstrip()
        return first.endswith(b"}") or (second.startswith(b"{") and first[-1:] not in b"[,")
    try:
        value = json.loads(lines[0])
    except (ValueError, RecursionError):
        return True
    is_one = names.find_identifier(value) or names.find(value, names.texts)
    return bool(is_one) and not find_wrapped(value, names)


TAB = b"\t"
# The first lines of a topic of CLEF's track on medical reviews.
LABEL = re.compile(rb"Topic\s*:\s*\S+\s*$", re.I)
LABELLED = re.compile(rb"(?:Title|Query)\s*:", re.I)
# A number with a digit, then blanks or a comma, then a text.
NUMBERED = re.compile(rb"[ ]*(?=[^\s\d]{0,60}\d)[^\s]+[ ]+\S")
NUMBERED_CELL = re.compile(rb'"?(?=[^\s\d,;]{0,60}\d)[^\s,;"]+"?[,;][ ]*[^\s,;]')
# A number without colon or blank, perhaps a priority, and a text: the Million Query track's.
COLON = re.compile(rb"[!-9;-~]{1,128}:(?:\d{1,3}:)?[ ]*[^\s:/]")


JUDGMENT_FORMATS = {
    "trec": "judgments of TREC (topic iteration docno grade)",
    "cranfield": "judgments of Cranfield (topic docno grade)",
    "beir": "judgments of BEIR (query-id corpus-id score)",
    "ntcir": "judgments of NTCIR (grades L0 to L3, or A, B, C)",
    "smart": "judgments of SMART (topic docno 0 0, relevant documents only)",
    "strata": "a stratified sample (topic iteration docno stratum grade)",
    "confidence": "judgments with confidences (topic iteration docno grade confidence)",
    "subtopics": "judgments of subtopics (topic subtopic docno grade)",
    "json": "JSON (an object of topics, each with docnos and grades, or a list)",
    "jsonl": "JSON lines (an object with topic, docno and grade)",
    "golden": "a golden set (queries, each with its documents: JSON, YAML, CSV)",
}
NOT_READ = {
    "prels": "Randomly sampled judgments (prels) need estimators, which are not supported.",
    "legal": "Legal track sampled judgments need estimators, which are not supported.",
    "preferences": "Preferences between documents are not grades of documents.",
    "aspects": "Lines have several grades per document. Use the four columns of one.",
    "run": "This looks like a run, not relevance judgments.",
}
USUAL = {3: ("topic", "docno", "grade"), 4: ("topic", "iteration", "docno", "grade")}
# A golden set is recognised by its first query.
BEGINNING = 64 * 1024
COUNTS_UP = "Column 3 counts 1, 2, 3 within each topic, as ranks do."
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
    if because := recognise_golden(beginning(file)):
        return Recognised.surely("golden", because)
    if by_bytes := _judgments_by_first_bytes(first_bytes(file)):
        return Recognised((by_bytes,))
    lines = numbered_lines(file, problems, RUN_LIMITS.line, RUN_LIMITS.lines)
    table = Evidence.of(lines, topics, docnos, may_be_csv=True)
    if candidates := qrels_candidates(table):
        return Recognised(tuple(candidates))
    if table.rows:
        first = b" ".join(table.rows[0])
        message = f"the format is not recognised; most lines have {counted(table.width, 'column')}"
        problems.error("E_FORMAT", None, message, first)
    elif not problems.errors:
        problems.error("E_EMPTY", None, "the file has no lines")
    raise Refused(problems)


def recognise_judge(file: BinaryIO) -> str:
    """The format of the judgments of a judge, by its first line: four or five columns, or JSON.

    The fifth column of a judge is how sure it is of a grade.

    >>> from io import BytesIO
    >>> [recognise_judge(BytesIO(line)) for line in (b"7 0 d1 2", b"7 0 d1 2 0.9", b'{"topic": 7}')]
    ['trec', 'confidence', 'jsonl']
    """
    head = beginning(file)
    if recognise_golden(head):
        return "golden"
    lines = (line for _, line in head)
    first = next((line for line in lines if line.strip() and not line.startswith(b"#")), b"")
    if found := _judgments_by_first_bytes(first.lstrip()):
        return found.format
    return "confidence" if len(first.split()) == 5 else "trec"


def beginning(file: BinaryIO) -> list[tuple[int, bytes]]:
    """Return the first lines of a file, which stays where it is."""
    return list(enumerate(first_bytes(file, BEGINNING).splitlines(), 1))


def _judgments_by_first_bytes(head: bytes) -> Candidate | None:
    """What the first bytes of judgments alone decide; None for a table of columns."""
    if head.startswith(b"["):
        return Candidate("json", "The file begins with [, so it is a JSON list.")
    if WRAPPED_LIST.match(head):
        return Candidate("json", "The file is a JSON object around a list of objects.")
    if TOPIC_OF_LIST.match(head):
        return Candidate("json", "The file is a JSON object of topics, each with a list.")
    return run_by_first_bytes(head) if head.startswith(b"{") else None


def qrels_candidates(table: Evidence) -> list[Candidate]:
    """Every reading of the columns as judgments, the likeliest first."""
    if table.header and (names := name_columns(table.header)) and len(names) == table.width:
        return [_by_header(table, names)]
    if table.separator:
        return _of_csv(table)
    if _has_relevant_only(table):
        because = "Columns 3 and 4 are always 0, as in SMART files of relevant documents."
        return [Candidate("smart", because)]
    by_width = {3: _three_of_qrels, 4: _four_of_qrels, 5: _sampled, 6: _six_of_qrels}
    found = by_width[table.width](table) if table.width in by_width else []
    return found + _in_another_order(table)


def _by_header(table: Evidence, names: list[str]) -> Candidate:
    """The reading that the names in the first line give."""
    header = table.header
    format = format_of_columns(names, table.separator)
    if format == "topic docno grade" and header[-1].lower() == b"score":
        format = "beir"
    written = (table.separator or " ").join(cell.decode("utf-8", "replace") for cell in header)
    misplaced = table.misplaced(names.index("topic"), names.index("docno"))
    return Candidate(format, f"The first line is a header: {written}.", misplaced)


def _of_csv(table: Evidence) -> list[Candidate]:
    """The reading of cells without a header: in the usual order, or where the known ones are."""
    usual = USUAL.get(table.width)
    if usual is None:
        return []
    names = list(usual)
    if table.misplaced(0, names.index("docno")):
        names = table.named_columns()
    if set(names) != set(usual) or not table.is_grade(names.index("grade")):
        return []
    found = [Candidate(format_of_columns(names, table.separator), table.described())]
    if table.width == 3 and table.counts_up(2):
        found.insert(0, Candidate("run", COUNTS_UP, NOT_READ["run"]))
    return found


def _has_relevant_only(table: Evidence) -> bool:
    """Whether columns 3 and 4 say nothing and column 2 may be the document: CISI, CACM."""
    return (
        table.width == 4
        and table.distinct(1) > 1
        and all(ZERO.fullmatch(value) for column in (2, 3) for value in table.values(column))
    )


def _in_another_order(table: Evidence) -> list[Candidate]:
    """The reading by which topics and documents stand where the known ones do."""
    names = USUAL.get(table.width)
    if names is None or not table.misplaced(0, names.index("docno")):
        return []
    at = {name: place for place, name in enumerate(table.named_columns())}
    order = " ".join(sorted(at, key=lambda name: at[name]))
    # Of three columns the last holds the grade, or it is the one that is missing.
    cut = table.width == 3 and at.get("grade") != 2
    if set(at) != set(names) or cut or not table.is_grade(at["grade"]):
        return []
    return [Candidate(order, table.described())]


def _three_of_qrels(table: Evidence) -> list[Candidate]:
    if table.matches(2, NTCIR_GRADE):
        return [
            Candidate("ntcir", f"{table.described()} Column 3 contains grades as in NTCIR files.")
        ]
    if not table.is_grade(2):
        return []
    misplaced = table.misplaced(0, 1)
    found = [Candidate("cranfield", f"{table.described()} Column 3 contains grades.", misplaced)]
    if table.counts_up(2):
        found.insert(0, Candidate("run", COUNTS_UP, NOT_READ["run"]))
    return found


def _four_of_qrels(table: Evidence) -> list[Candidate]:
    if table.matches(3, NTCIR_GRADE) or table.matches(1, NTCIR_GRADE):
        return [
            Candidate("ntcir", f"{table.described()} The grades are letters, as in NTCIR files.")
        ]
    if not table.is_grade(3):
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


def _sampled(table: Evidence) -> list[Candidate]:
    """Five columns: where the document stands and whether the last is whole tell them apart."""
    # Grades may be written as decimals; a column of nothing but 1.0 has probabilities.
    has_grades = table.is_whole(4) or (table.is_grade(4) and table.distinct(4) > 1)
    docno, is_probability = table.docno_column, not has_grades
    if is_probability and table.is_decimal(4):
        kind = "prels" if docno == 1 else "legal"
        what = "the last is a probability"
    elif has_grades:
        kind = "preferences" if docno == 3 else "strata"
        what = "the last is a grade"
    else:
        return []
    because = f"The lines have 5 columns: the document is in column {docno + 1}, {what}."
    if kind == "strata":
        return [Candidate(kind, because, table.misplaced(0, 2))]
    return [Candidate(kind, because, NOT_READ[kind])]


def _six_of_qrels(table: Evidence) -> list[Candidate]:
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
    "golden": "This looks like a golden set, which is judgments (check --qrels), not a run.",
    "microblog": "Microblog track runs, which start with a date, are not supported.",
    "trecvid": "TRECVID XML runs are not supported. Use six TREC columns.",
    "markup": "This looks like HTML or XML, not a run.",
    "list": "JSON runs are an object of topics or an object on each line, not a list.",
}


_TOPIC_OF_DICTS = re.compile(rb"""\{\s*+(?:\}|"(?:[^"\\]|\\.)*+"\s*+:\s*+\{)""")
TOPIC_OF_LIST = re.compile(rb"""\{\s*+"(?:[^"\\]|\\.)*+"\s*+:\s*+\[\s*+[^\s{]""")
WRAPPED_LIST = re.compile(rb"""\{\s*+"(?:[^"\\]|\\.)*+"\s*+:\s*+\[\s*+\{""")
_TRECVID = re.compile(rb"<(?:!DOCTYPE\s+)?video\w*", re.I)


def run_by_first_bytes(head: bytes) -> Candidate | None:
    """What the first bytes of a run alone decide; None for a table of columns.

    >>> run_by_first_bytes(b'{"q1": {"d9": 0.87}}').format
    'json'
    >>> run_by_first_bytes(b'{"query": "red shoes", "expected_ids": ["d1"]}').refused
    'This looks like a golden set, which is judgments (check --qrels), not a run.'
    """
    because = recognise_golden([(1, head)]) if head.startswith((b"{", b"[")) else ""
    if because and b'"score"' not in head:
        return Candidate("list", because, NO_RUN["golden"])
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
    line, line_end, _ = head.partition(b"\n")
    if head.startswith(b"{") and line_end and not line.rstrip().endswith(b"}"):
        return Candidate("json", "The file is one JSON object on several lines.")
    if head.startswith(b"{"):
        return Candidate("jsonl", "The first line begins with {, so every line is a JSON object.")
    if head.startswith(b"["):
        return Candidate("list", "The file begins with [, so it is a JSON list.", NO_RUN["list"])
    return None


def run_candidates(table: Evidence) -> list[Candidate]:
    """Every reading of the columns as a run, the likeliest first."""
    by_width = {2: _two, 3: _three, 4: _four, 5: _five, 6: _six, 7: _seven}
    return by_width[table.width](table) if table.width in by_width else []


def _six(table: Evidence) -> list[Candidate]:
    return [Candidate("trec", table.described(), table.misplaced(0, 2))]


def _five(table: Evidence) -> list[Candidate]:
    if not table.is_decimal(4) or not table.is_whole(3):
        return _judgments(table)
    run = Candidate("trec5", f"{table.described()} The tag is missing.", table.misplaced(0, 2))
    return [run] if table.counts_up(3) else [run, *_judgments(table)]


def _four(table: Evidence) -> list[Candidate]:
    return _judgments(table)


def _three(table: Evidence) -> list[Candidate]:
    if not table.is_decimal(2):
        return _judgments(table)
    known, misplaced = table.described(), table.misplaced(0, 1)
    if table.is_grade(2) and table.counts_up(2):
        because = f"{known} Column 3 counts 1, 2, 3 within each topic, as ranks do."
        return [Candidate("msmarco", because, misplaced)]
    because = f"{known} Column 3 contains numbers that do not count up."
    scores = Candidate("scores", because, misplaced)
    if not table.is_grade(2):
        return [scores]
    if table.repeats(2):
        faulty = Candidate("msmarco", known, "A number repeats in a topic; ranks never do.")
        return [scores, faulty, *_judgments(table)]
    because = f"{known} Column 3 contains whole numbers, each once per topic, as ranks may be."
    return [scores, Candidate("msmarco", because, misplaced)]


def _two(table: Evidence) -> list[Candidate]:
    because = f"{table.described()} The order of the lines is the ranking."
    return [Candidate("pairs", because, table.misplaced(0, 1))]


def _seven(table: Evidence) -> list[Candidate]:
    if not table.matches(0, DATE):
        return []
    because = "The lines have 7 columns and begin with a date."
    return [Candidate("microblog", because, NO_RUN["microblog"])]


def _judgments(table: Evidence) -> list[Candidate]:
    found = [candidate for candidate in qrels_candidates(table) if candidate.format != "run"]
    reason = NO_RUN["judgments"]
    return [Candidate("judgments", candidate.because, reason) for candidate in found[:1]]
