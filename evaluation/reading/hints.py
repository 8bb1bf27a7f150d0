"""What is probably meant where a file is wrong: sentences that say how to mend it.

A hint never decides anything; it is empty where nothing better than the message can be said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterator, Sequence
from difflib import get_close_matches
from itertools import islice

from evaluation.reading.columns import DECIMAL, INTEGER

COMPARED = 500

_NOT_DIGITS = bytes(set(range(256)) - set(b"0123456789"))


def for_unknown_topic(topic: bytes, topics: Container[bytes]) -> str:
    """
    >>> for_unknown_topic(b"0301", {b"301", b"302"})
    'Is topic "301" meant?'
    """
    candidates = [*_variants(topic), topic.zfill(2), topic.zfill(3), topic.zfill(4)]
    found = next((c for c in candidates if c in topics), None)
    if found is None and isinstance(topics, Collection) and len(topics) <= COMPARED:
        close = get_close_matches(_text(topic), map(_text, topics), 1, 0.8)
        found = close[0].encode() if close else None
    return "" if found is None else f'Is topic "{_text(found)}" meant?'


def for_unknown_topics(
    unknown: Collection[bytes],
    topics: Container[bytes] | None,
    docnos: Container[bytes] | None = None,
    known: int = 0,
) -> str:
    """What would make all unknown topics known at once; `known` others are.

    >>> for_unknown_topics([b"001", b"002"], {b"1", b"2"})
    'Without leading zeros all of them are known: "001" is "1".'
    """
    looked_at = list(islice(unknown, COMPARED))
    if topics is None or len(looked_at) < 2:
        return ""
    for how, change in _CHANGES.items():
        if all(change(topic) in topics for topic in looked_at):
            example = f'"{_text(looked_at[0])}" is "{_text(change(looked_at[0]))}"'
            return f"{how} all of them are known: {example}."
    if known and isinstance(topics, Collection) and len(topics) == known + len(unknown):
        count = f"The file names {len(topics):,} topics, as many as there are"
        return f"{count}: are they numbered otherwise?"
    if docnos is not None and not known and all(topic in docnos for topic in looked_at):
        return "They are documents: are the columns of topic and document swapped?"
    return ""


_CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "Without leading zeros": lambda topic: topic.lstrip(b"0"),
    "With leading zeros, two digits,": lambda topic: topic.zfill(2),
    "With leading zeros, three digits,": lambda topic: topic.zfill(3),
    "With leading zeros, four digits,": lambda topic: topic.zfill(4),
    "Without what stands before the number": lambda topic: topic.lstrip(_NOT_DIGITS),
}


def for_mostly_unknown(example: bytes, docnos: Container[bytes]) -> str:
    """How the docnos of a file differ from those of the collection, by an example of each.

    >>> for_mostly_unknown(b"1234", {b"D1234"})
    'The file has "1234", the collection "D1234": the same document?'
    """
    meant = _document_like(example, docnos)
    if meant is not None:
        return (
            f'The file has "{_text(example)}", the collection "{_text(meant)}": the same document?'
        )
    known = next(iter(docnos), b"") if isinstance(docnos, Collection) else b""
    differ = f'The file has "{_text(example)}", the collection "{_text(known)}". ' if known else ""
    return f"{differ}Are these the documents of another collection?"


def for_unknown_document(docno: bytes, docnos: Container[bytes]) -> str:
    """
    >>> for_unknown_document(b"1234", {b"D1234", b"D1235"})
    'The collection has "D1234".'
    """
    if docno == b"0" and b"1" in docnos:
        return "The collection counts its documents from 1; does the run count from 0?"
    found = _document_like(docno, docnos)
    return "" if found is None else f'The collection has "{_text(found)}".'


def _document_like(docno: bytes, docnos: Container[bytes]) -> bytes | None:
    candidates = list(_variants(docno))
    if isinstance(docnos, Collection) and docnos:
        example: bytes = next(iter(docnos))
        prefix = example[: len(example) - len(example.lstrip(_NOT_DIGITS))]
        candidates += [prefix + docno, prefix + docno.zfill(len(example) - len(prefix))]
        candidates.append(prefix + docno.lstrip(_NOT_DIGITS))
    return next((c for c in candidates if c in docnos), None)


def _text(identifier: bytes) -> str:
    return identifier.decode("utf-8", "backslashreplace")


def _variants(identifier: bytes) -> Iterator[bytes]:
    yield identifier.lstrip(b"0")
    yield identifier.upper()
    yield identifier.lower()
    yield identifier.lstrip(_NOT_DIGITS)
    yield identifier.lstrip(_NOT_DIGITS).lstrip(b"0")
    yield re.sub(rb"\.[A-Za-z]{1,5}$", b"", identifier)


def for_run_columns(columns: Sequence[bytes], expected: int = 6) -> str:
    """What a line may be that has not the columns that its run should have.

    >>> for_run_columns(b"301 0 FT911-3 1".split())
    'This looks like relevance judgments, not a run.'
    """
    count = len(columns)
    if count == 4 and INTEGER.fullmatch(columns[3]):
        return "This looks like relevance judgments, not a run."
    if count == 7 and DATE.fullmatch(columns[0]) and columns[2].upper() == b"Q0":
        return "This looks like a run of the Microblog track, whose lines begin with a date."
    if count == 6 and expected < 6 and DECIMAL.fullmatch(columns[4]):
        return "This looks like a line of TREC's six columns."
    return _for_other_formats(columns) or (_for_six_columns(columns) if expected == 6 else "")


DATE = re.compile(rb"(?:19|20)\d\d[01]\d[0-3]\d")


def _for_six_columns(columns: Sequence[bytes]) -> str:
    count = len(columns)
    if count == 5 and DECIMAL.fullmatch(columns[4]):
        return "Is the run tag missing?"
    if count == 3 and DECIMAL.fullmatch(columns[2]):
        return "Are these topic, document and score? Add the columns Q0, rank and tag."
    if count > 6 and DECIMAL.fullmatch(columns[-2]):
        return "Does the document identifier hold a blank? It must not."
    if count > 6 and INTEGER.fullmatch(columns[3]) and DECIMAL.fullmatch(columns[4]):
        return "Does the run tag hold a blank? It must not."
    return ""


def for_qrels_columns(columns: Sequence[bytes]) -> str:
    """What a line may be that has not the four columns of qrels.

    >>> for_qrels_columns(b"301 Q0 FT911-3 1 12.5 bm25".split())
    'This looks like a run, not relevance judgments.'
    """
    count = len(columns)
    if count == 6 and DECIMAL.fullmatch(columns[4]):
        return "This looks like a run, not relevance judgments."
    if columns[-1] == b"score":
        return "This looks like the header of BEIR judgments; give that format."
    if count == 3 and INTEGER.fullmatch(columns[2]):
        return "Is the iteration column missing? Put a 0 there, or give the format of Cranfield."
    if count == 5 and DECIMAL.fullmatch(columns[4]):
        return "Sampled judgments (prels, Legal track) are not read: their measures are estimates."
    return _for_other_formats(columns)


def for_rank(columns: Sequence[bytes], docnos: Container[bytes] | None) -> str:
    """What the rank column of a six-column line may hold instead of a rank."""
    if docnos is not None and columns[3] in docnos:
        return "Are the columns of document and rank swapped?"
    if DECIMAL.fullmatch(columns[3]) and INTEGER.fullmatch(columns[4]):
        return "Are rank and score swapped?"
    return for_header(columns)


def for_score(score: bytes, columns: Sequence[bytes]) -> str:
    """What to do about a score that is no finite decimal number."""
    if score.count(b",") == 1 and DECIMAL.fullmatch(score.replace(b",", b".")):
        return "Write a dot before the decimals."
    if score.lower().lstrip(b"+-") in (b"nan", b"inf", b"infinity"):
        return "Leave the document out, or give it the lowest score."
    return for_header(columns)


def for_grade(grade: bytes, columns: Sequence[bytes]) -> str:
    """What to do about a grade that is no small integer."""
    if grade.lstrip(b"+-").isdigit():
        return "Map the grades to a small scale such as 0 to 3."
    if DECIMAL.fullmatch(grade):
        return "Map the grades to integers; trec_eval would cut the decimals off."
    if re.fullmatch(rb"[Ll]\d+", grade):
        return "Write the grade without the letter, or give the format as that of NTCIR."
    return for_header(columns)


HEADERS = frozenset(
    {b"topic", b"qid", b"query", b"query_id", b"query-id", b"topic_id", b"topic-id", b"number"}
)


def for_header(columns: Sequence[bytes]) -> str:
    return "Is this a header? Remove it." if columns[0].lower() in HEADERS else ""


def _for_other_formats(columns: Sequence[bytes]) -> str:
    if columns[0].startswith(b"<"):
        return "This looks like HTML or XML."
    if columns[0].startswith((b"{", b"[")):
        return "This looks like JSON."
    if len(columns) == 1 and columns[0].count(b",") >= 2:
        return "Part the columns by blanks or tabs, not by commas."
    return for_header(columns)
