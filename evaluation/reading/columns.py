"""Lines of columns in runs and qrels, and the valid values of a column.

Columns are separated by blanks and tabs only. Topic numbers and docnos may be of any script, at
most 1,024 bytes of UTF-8 without blanks: some are web addresses.
"""

from __future__ import annotations

import csv
import re
from unicodedata import is_normalized

from evaluation.problems import Problems
from evaluation.reading.lines import text_of

NO_NAME = "Give each topic and each document its identifier."
IDENTIFIER_RULE = "use 1 to 1,024 bytes of printable characters, without spaces"
COLUMN = re.compile(rb"[^ \t]+")
LONGEST_IDENTIFIER = 1024
LONGEST_IN_BLOCKS = 128
"""Longer names are read line by line: a block of lines takes as many bytes for each docno."""
IDENTIFIER = re.compile(rb"[!-~]{1,%d}" % LONGEST_IDENTIFIER)
INTEGER = re.compile(rb"[+-]?\d{1,18}")
WHOLE = re.compile(rb"[+-]?\d{1,18}(?:\.0*)?")
"""A whole number, also as a table of decimals writes it: 2.0."""
TO_JUDGE = b"?"
"""The grade of a document that was drawn for a sample and is not judged yet."""
ZERO = re.compile(rb"0+(?:\.0*)?")
DECIMAL = re.compile(rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")

_CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_NAMES = {0x00: "a NUL", 0x0B: "a vertical tab", 0x0C: "a form feed", 0x0D: "a carriage return"}


def columns_of(number: int, line: bytes, problems: Problems, separator: str = "") -> list[bytes]:
    """Return the columns of a line; none, with E_ENCODING or E_CHAR, if it is not clean text.

    >>> columns_of(1, b"301 Q0\\t d1", Problems())
    [b'301', b'Q0', b'd1']
    """
    if text_of(number, line, problems) is None:
        return []
    control = _CONTROL.search(line)
    if control is None:
        return split_columns(line, separator)
    byte = control[0][0]
    problems.error(
        "E_CHAR",
        number,
        f"{_NAMES.get(byte, 'a control character')} (0x{byte:02X}) in column {control.start() + 1}",
        line,
        "Use LF or CRLF line endings." if byte == 0x0D else "Separate columns with spaces or tabs.",
    )
    return []


def split_columns(line: bytes, separator: str = "") -> list[bytes]:
    """Return the columns of a line: between blanks and tabs, or those of CSV.

    A cell between tabs with a blank within, such as a docno, is one column.

    >>> split_columns(b"301 0\\tD1 2"), split_columns(b"301\\t0\\tLock gate\\t2")
    ([b'301', b'0', b'D1', b'2'], [b'301', b'0', b'Lock gate', b'2'])
    >>> split_columns(b'301,"D1, part 2", 1', ",")
    [b'301', b'D1, part 2', b'1']
    """
    if separator:
        text = line.decode("utf-8", "replace")
        try:
            cells = next(csv.reader([text], delimiter=separator, skipinitialspace=True), [])
        except csv.Error:
            return [line]
        return [cell.strip().encode() for cell in cells]
    return _cells(line) if _has_blank_in_cell(line) else COLUMN.findall(line)


def _has_blank_in_cell(line: bytes) -> bool:
    """Whether a cell between two tabs has a blank within.

    A topic and a grade have no blanks, so a line with blanks there mixes both separators.

    >>> _has_blank_in_cell(b"301\\t0\\tLock gate\\t2"), _has_blank_in_cell(b" 301  D1\\t0\\t0.0")
    (True, False)
    """
    if b"\t" not in line or b" " not in line:
        return False
    first, *between, last = _cells(line)
    if not between or b" " in first or b" " in last:
        return False
    return any(b" " in cell and not _MIXED.match(cell) for cell in between)


_MIXED = re.compile(rb"(?:0|Q0) +", re.I)


def _cells(line: bytes) -> list[bytes]:
    return [cell.strip(b" ") for cell in line.split(b"\t")]


def is_identifier(name: bytes) -> bool:
    """Whether a topic number or docno is well formed: characters that print, no blank of any kind.

    >>> [is_identifier(text.encode()) for text in ("FT911-3", "caf\u00e9", "a\u00a0b", "\u200b")]
    [True, True, False, False]
    """
    if IDENTIFIER.fullmatch(name):
        return True
    if name.isascii() or len(name) > LONGEST_IDENTIFIER:
        return False
    text = name.decode("utf-8", "replace")
    return text.isprintable() and " " not in text and "\ufffd" not in text


def is_normal(docno: bytes) -> bool:
    """Whether a docno is in Unicode's normal form C, in which most tools write.

    >>> is_normal("caf\u00e9".encode()), is_normal("cafe\u0301".encode())
    (True, False)
    """
    return docno.isascii() or is_normalized("NFC", docno.decode())


def warn_of_form(count: int, first: bytes, line: int, problems: Problems) -> None:
    """Note docnos that look like others but are different bytes."""
    if count:
        message = f"docnos in another Unicode form than NFC: {count:,}; their bytes were kept"
        hint = "Runs must use the same bytes."
        problems.note("W_NFC", line, message, first, hint)


def _is_utf_8(name: bytes) -> bool:
    """Whether a name is UTF-8, perhaps with half a surrogate, as JSON can escape it."""
    try:
        name.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def check_identifier(
    what: str, code: str, number: int | None, identifier: bytes, problems: Problems
) -> bool:
    """Check a topic number, docno or other name; report its fault by `code` or E_CHAR."""
    if is_identifier(identifier):
        return True
    if not identifier:
        problems.error(code, number, f"the {what} is empty", hint=NO_NAME)
    elif not _is_utf_8(identifier):
        text_of(number, identifier, problems)
    elif len(identifier) > LONGEST_IDENTIFIER:
        unit = "characters" if identifier.isascii() else "bytes"
        message = f"the {what} is longer than {LONGEST_IDENTIFIER:,} {unit}"
        problems.error(code, number, message, identifier)
    elif b" " in identifier:
        hint = "Names cannot contain blanks. Replace them in all files."
        problems.error("E_CHAR", number, f"the {what} has a blank", identifier, hint)
    else:
        message = f"the {what} has a character that is not printable"
        hint = "Remove it: control characters and invisible ones are no part of names."
        problems.error("E_CHAR", number, message, identifier, hint)
    return False
