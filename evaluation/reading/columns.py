"""Lines of columns in runs and qrels, and the valid values of a column.

Columns are separated by blanks and tabs only. Topic numbers are printable ASCII without blanks, at
most 128 characters, because they must survive every tool that reads such files. Docnos may be of
any script, at most 128 bytes of UTF-8.
"""

from __future__ import annotations

import re
from unicodedata import is_normalized

from evaluation.problems import Problems
from evaluation.reading.lines import text_of

COLUMN = re.compile(rb"[^ \t]+")
LONGEST_IDENTIFIER = 128
OF_ANY_SCRIPT = frozenset({"E_DOCID", "E_ASSESSOR"})
IDENTIFIER = re.compile(rb"[!-~]{1,128}")
INTEGER = re.compile(rb"[+-]?\d{1,18}")
TO_JUDGE = b"?"
"""The grade of a document that was drawn for a sample and is not judged yet."""
ZERO = re.compile(rb"0+(?:\.0*)?")
DECIMAL = re.compile(rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")

_CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_NAMES = {0x00: "a NUL", 0x0B: "a vertical tab", 0x0C: "a form feed", 0x0D: "a carriage return"}


def columns_of(number: int, line: bytes, problems: Problems) -> list[bytes]:
    """Return the columns of a line; none, with E_ENCODING or E_CHAR, if it is not clean text.

    >>> columns_of(1, b"301 Q0\\t d1", Problems())
    [b'301', b'Q0', b'd1']
    """
    if text_of(number, line, problems) is None:
        return []
    control = _CONTROL.search(line)
    if control is None:
        return COLUMN.findall(line)
    byte = control[0][0]
    problems.error(
        "E_CHAR",
        number,
        f"{_NAMES.get(byte, 'a control character')} (0x{byte:02X}) in column {control.start() + 1}",
        line,
        "Use LF or CRLF line endings." if byte == 0x0D else "Separate columns with spaces or tabs.",
    )
    return []


def is_identifier(text: str) -> bool:
    """Whether a topic number or docno is well formed.

    >>> [is_identifier(text) for text in ("FT911-3", "a b", "caf\u00e9", "")]
    [True, False, False, False]
    """
    return text.isascii() and IDENTIFIER.fullmatch(text.encode()) is not None


def is_docno(docno: bytes) -> bool:
    """Whether a docno is well formed: characters of any script that print, no blank of any kind.

    >>> [is_docno(text.encode()) for text in ("FT911-3", "caf\u00e9", "a\u00a0b", "\u200b")]
    [True, True, False, False]
    """
    if IDENTIFIER.fullmatch(docno):
        return True
    if docno.isascii() or len(docno) > LONGEST_IDENTIFIER:
        return False
    text = docno.decode("utf-8", "replace")
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


def check_identifier(
    what: str, code: str, number: int, identifier: bytes, problems: Problems
) -> bool:
    """Check a topic number, docno or other name; report E_CHAR, or `code` if it is too long."""
    may_be_foreign = code in OF_ANY_SCRIPT
    if is_docno(identifier) if may_be_foreign else IDENTIFIER.fullmatch(identifier):
        return True
    if len(identifier) > LONGEST_IDENTIFIER:
        unit = "characters" if identifier.isascii() else "bytes"
        message = f"the {what} is longer than {LONGEST_IDENTIFIER} {unit}"
        problems.error(code, number, message, identifier)
    else:
        problems.error(
            "E_CHAR",
            number,
            f"the {what} has a character that is not printable{'' if may_be_foreign else ' ASCII'}",
            identifier,
        )
    return False
