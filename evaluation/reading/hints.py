"""Hints: sentences that say how to fix a file.

A hint never decides anything. It is empty if it would add nothing to the message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterator, Sequence
from difflib import get_close_matches
from itertools import islice
from unicodedata import normalize

from evaluation.phrases import counted
from evaluation.reading.columns import DECIMAL, INTEGER, TO_JUDGE, WHOLE, ZERO
from evaluation.reading.repairs import is_conflict_marker

COMPARED = 500

_NOT_DIGITS = bytes(set(range(256)) - set(b"0123456789"))


def hint_for_unknown_topic(topic: bytes, topics: Container[bytes]) -> str:
    """
    >>> hint_for_unknown_topic(b"0301", {b"301", b"302"})
    'Did you mean topic "301"?'
    """
    candidates = [*_variants(topic), topic.zfill(2), topic.zfill(3), topic.zfill(4)]
    found = next((c for c in candidates if c in topics), None)
    if found is None and isinstance(topics, Collection) and len(topics) <= COMPARED:
        close = get_close_matches(_text(topic), map(_text, topics), 1, 0.8)
        found = close[0].encode() if close else None
    return "" if found is None else f'Did you mean topic "{_text(found)}"?'


def hint_for_unknown_topics(
    unknown: Collection[bytes],
    topics: Container[bytes] | None,
    docnos: Container[bytes] | None = None,
    known: int = 0,
) -> str:
    """Return what would make all unknown topics match; `known` other topics match already.

    >>> hint_for_unknown_topics([b"001", b"002"], {b"1", b"2"})
    'Without leading zeros they all match: "001" is "1".'
    """
    looked_at = list(islice(unknown, COMPARED))
    if topics is None or len(looked_at) < 2:
        return ""
    for how, change in _CHANGES.items():
        if all(change(topic) in topics for topic in looked_at):
            example = f'"{_text(looked_at[0])}" is "{_text(change(looked_at[0]))}"'
            return f"{how} they all match: {example}."
    if known and isinstance(topics, Collection) and len(topics) == known + len(unknown):
        count = f"The file has {counted(len(topics), 'topic')}, as many as the track"
        return f"{count}. Are they numbered differently?"
    if docnos is not None and not known and all(topic in docnos for topic in looked_at):
        return "These are docnos. Are the topic and docno columns swapped?"
    return ""


_CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "Without leading zeros": lambda topic: topic.lstrip(b"0"),
    "With leading zeros, two digits,": lambda topic: topic.zfill(2),
    "With leading zeros, three digits,": lambda topic: topic.zfill(3),
    "With leading zeros, four digits,": lambda topic: topic.zfill(4),
    "Without the prefix": lambda topic: topic.lstrip(_NOT_DIGITS),
}


def hint_for_other_docnos(example: bytes, docnos: Container[bytes]) -> str:
    """Show how the docnos of a file and the collection differ, by an example of each.

    >>> hint_for_other_docnos(b"1234", {b"D1234"})
    'The file has "1234", the collection "D1234". Same document?'
    """
    meant = _document_like(example, docnos)
    if meant is not None:
        return f'The file has "{_text(example)}", the collection "{_text(meant)}". Same document?'
    known = next(iter(docnos), b"") if isinstance(docnos, Collection) else b""
    differ = f'The file has "{_text(example)}", the collection "{_text(known)}". ' if known else ""
    return f"{differ}Are these documents from another collection?"


def hint_for_unknown_document(docno: bytes, docnos: Container[bytes]) -> str:
    """
    >>> hint_for_unknown_document(b"1234", {b"D1234", b"D1235"})
    'The collection has "D1234".'
    """
    if docno == b"0" and b"1" in docnos:
        return "The collection numbers documents from 1. Does the run start at 0?"
    found = _document_like(docno, docnos)
    if found is not None and not found.isascii() and _forms(found).intersection(_forms(docno)):
        return "The collection has this docno in another Unicode form (NFC or NFD)."
    return "" if found is None else f'The collection has "{_text(found)}".'


def _document_like(docno: bytes, docnos: Container[bytes]) -> bytes | None:
    candidates = [*_forms(docno), *_variants(docno)]
    if isinstance(docnos, Collection) and docnos:
        example: bytes = next(iter(docnos))
        prefix = example[: len(example) - len(example.lstrip(_NOT_DIGITS))]
        candidates += [prefix + docno, prefix + docno.zfill(len(example) - len(prefix))]
        candidates.append(prefix + docno.lstrip(_NOT_DIGITS))
    return next((c for c in candidates if c in docnos), None)


def _forms(docno: bytes) -> frozenset[bytes]:
    """Return the Unicode normal forms of a docno, which look the same; none for ASCII."""
    if docno.isascii():
        return frozenset()
    text = docno.decode("utf-8", "replace")
    return frozenset(normalize(form, text).encode() for form in ("NFC", "NFD"))


def _text(identifier: bytes) -> str:
    return identifier.decode("utf-8", "backslashreplace")


def _variants(identifier: bytes) -> Iterator[bytes]:
    yield identifier.lstrip(b"0")
    yield identifier.upper()
    yield identifier.lower()
    yield identifier.lstrip(_NOT_DIGITS)
    yield identifier.lstrip(_NOT_DIGITS).lstrip(b"0")
    yield re.sub(rb"\.[A-Za-z]{1,5}$", b"", identifier)


def hint_for_run_columns(columns: Sequence[bytes], expected: int = 6) -> str:
    """Return what a line without the columns of a run may be.

    >>> hint_for_run_columns(b"301 0 FT911-3 1".split())
    'This looks like relevance judgments, not a run.'
    """
    count = len(columns)
    if count == 4 and INTEGER.fullmatch(columns[3]):
        return "This looks like relevance judgments, not a run."
    if count == 7 and DATE.fullmatch(columns[0]) and columns[2].upper() == b"Q0":
        return "This looks like a Microblog track run, with a date in column 1."
    if count == 6 and expected < 6 and DECIMAL.fullmatch(columns[4]):
        return "This looks like the six-column TREC format."
    return hint_for_columns(columns) or (_for_six_columns(columns) if expected == 6 else "")


DATE = re.compile(rb"(?:19|20)\d\d[01]\d[0-3]\d")


def _for_six_columns(columns: Sequence[bytes]) -> str:
    count = len(columns)
    if count == 5 and DECIMAL.fullmatch(columns[4]):
        return "Is the run tag missing?"
    if count == 3 and WHOLE.fullmatch(columns[2]):
        return (
            "Is column 3 a rank, as in MS MARCO? Then write a score that falls with the rank."
            " Add Q0, rank and tag columns."
        )
    if count == 3 and DECIMAL.fullmatch(columns[2]):
        return "Is this topic, docno and score? Add Q0, rank and tag columns."
    if count > 6 and DECIMAL.fullmatch(columns[-2]):
        return "Docnos cannot contain spaces. Remove them."
    if count > 6 and INTEGER.fullmatch(columns[3]) and DECIMAL.fullmatch(columns[4]):
        return "Run tags cannot contain spaces. Remove them."
    return ""


def hint_for_qrels_columns(columns: Sequence[bytes]) -> str:
    """Return what a line without the four columns of qrels may be.

    >>> hint_for_qrels_columns(b"301 Q0 FT911-3 1 12.5 bm25".split())
    'This looks like a run, not relevance judgments.'
    """
    count = len(columns)
    if count == 6 and DECIMAL.fullmatch(columns[4]):
        return "This looks like a run, not relevance judgments."
    if columns[-1] == b"score":
        return "This looks like a BEIR header. Select the format beir."
    if count == 3 and WHOLE.fullmatch(columns[2]):
        return "Is the iteration column missing? Add a 0, or select the format cranfield."
    if count == 5 and DECIMAL.fullmatch(columns[4]):
        return "Sampled judgments (prels, Legal track) are not supported: they need estimators."
    return hint_for_columns(columns)


def hint_for_rank(columns: Sequence[bytes], docnos: Container[bytes] | None) -> str:
    """Return what the rank column of a six-column line may contain instead."""
    if docnos is not None and columns[3] in docnos:
        return "Are the docno and rank columns swapped?"
    if DECIMAL.fullmatch(columns[3]) and INTEGER.fullmatch(columns[4]):
        return "Rank and score swapped?"
    return hint_for_header(columns)


def hint_for_score(score: bytes, columns: Sequence[bytes]) -> str:
    """Return how to fix a score that is not a finite decimal number."""
    if score.count(b",") == 1 and DECIMAL.fullmatch(score.replace(b",", b".")):
        return "Use a decimal point, not a comma."
    if score[:1] == score[-1:] == b'"':
        return "Write the number without quotation marks."
    if score.lower().lstrip(b"+-") in (b"nan", b"inf", b"infinity", b"null", b"none"):
        return "Remove the document, or give it the lowest score."
    return hint_for_header(columns) or "Write a decimal number such as 9.5."


LIKE_SMART = "This looks like a SMART file of relevant documents. Select the format smart."


def hint_for_judgment(grade: bytes, columns: Sequence[bytes]) -> str:
    """Return how to fix the grade of a line of judgments, which may have another format."""
    if b" " in grade:
        return "Columns 3 and 4 are 0 in SMART files. Select another format."
    if len(columns) == 4 and all(map(ZERO.fullmatch, columns[2:])):
        return LIKE_SMART
    if re.fullmatch(rb"[Ll]\d+", grade):
        return "Remove the letter, or select the format ntcir."
    return hint_for_grade(grade, columns)


def hint_for_grade(grade: bytes, columns: Sequence[bytes]) -> str:
    """Return how to fix a grade that is not a small integer."""
    if grade == TO_JUDGE:
        return "Judge this document: a sample is complete when every drawn document has a grade."
    if grade in (b"true", b"false"):
        return "Write 1 for true and 0 for false."
    if grade.lstrip(b"+-").isdigit():
        return "Map grades to a small scale such as 0 to 3."
    if DECIMAL.fullmatch(grade):
        return "Map grades to integers; trec_eval would truncate the decimals."
    return hint_for_header(columns) or WHOLE_GRADE


WHOLE_GRADE = "Write a whole number such as 0, 1 or 2, and leave out what is not judged."
HEADERS = frozenset(
    {b"topic", b"qid", b"query", b"query_id", b"query-id", b"topic_id", b"topic-id", b"number"}
)


def hint_for_header(columns: Sequence[bytes]) -> str:
    is_header = bool(columns) and columns[0].lower() in HEADERS
    return "If this is a header, remove it." if is_header else ""


def hint_for_columns(columns: Sequence[bytes]) -> str:
    """Return what a line with another number of columns may be, in any file of columns."""
    if is_conflict_marker(b" ".join(columns)):
        return "This is a git conflict marker. Keep one side and remove the markers."
    if columns[0].startswith(b"<"):
        return "This looks like HTML or XML."
    if columns[0].startswith((b"{", b"[")):
        return "This looks like JSON."
    for separator, name in ((b",", "commas"), (b";", "semicolons")):
        if len(columns) == 1 and columns[0].count(separator) >= 2:
            return f"Separate columns with spaces or tabs, not {name}."
    return hint_for_header(columns)
