"""The lines of a text file, numbered as an editor numbers them.

Lines end in LF or CR LF and nowhere else: not at a lone CR, not at U+2028. Blank lines and
comments are skipped but counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from io import BufferedReader
from sys import maxsize
from typing import BinaryIO

from evaluation.problems import Problems, Refused, refuse

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
LINE_LONG = "Is this the right file, and are its line ends there?"
SKIPPED = 1 << 20
PEEKED = 512


def numbered_lines(
    file: BinaryIO, problems: Problems, longest: int, most: int = maxsize
) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the bytes of every line, without the line end.

    Collects E_LINE_LONG for each line of more than `longest` bytes, which is skipped, and W_BOM
    and W_CRLF once. Raises `Refused` with all `problems` if the file cannot be read further:
    UTF-16, more than `most` lines, or a damaged or too large container.
    """
    number = 0
    crlf = False
    try:
        for raw in iter(partial(file.readline, longest + 2), b""):
            if number == most:
                raise too_many_lines(most)
            number += 1
            line = _without_mark(raw, problems) if number == 1 else raw
            if line.endswith(b"\r\n"):
                line = line[:-2]
                if not crlf:
                    warn_of_crlf(number, problems)
                    crlf = True
            elif line.endswith(b"\n"):
                line = line[:-1]
            if len(line) > longest:
                message = f"the line exceeds {longest:,} bytes"
                problems.error("E_LINE_LONG", number, message, line, LINE_LONG)
                _skip_rest(raw, file)
            else:
                yield number, line
    except Refused as broken:
        raise refused_at(number, broken, problems) from broken


def data_lines(
    lines: Iterable[tuple[int, bytes]], problems: Problems, *, comments: bool = True
) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are neither blank (W_BLANK, once) nor `#` comments.

    >>> lines = [(1, b"# by hand"), (2, b" "), (3, b"301 0 d1 2")]
    >>> list(data_lines(lines, Problems()))
    [(3, b'301 0 d1 2')]
    """
    blank = False
    for number, line in lines:
        if line and line[0] not in b"# \t":
            yield number, line
            continue
        text = line.lstrip(b" \t")
        if not text:
            if not blank:
                warn_of_blank(number, problems)
                blank = True
        elif not (comments and text.startswith(b"#")):
            yield number, line


def warn_of_crlf(number: int, problems: Problems) -> None:
    problems.warn("W_CRLF", number, "CRLF line endings were read as LF")


def warn_of_blank(number: int, problems: Problems) -> None:
    problems.warn("W_BLANK", number, "blank lines are ignored")


def text_of(number: int | None, line: bytes, problems: Problems) -> str | None:
    """Return the text of a line; None, with E_ENCODING in `problems`, if it is not UTF-8."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        problems.error(
            "E_ENCODING",
            number,
            f"byte 0x{line[error.start]:02X} in column {error.start + 1} is not UTF-8",
            line,
            "Was the file saved as Latin-1 or Windows-1252? Save it as UTF-8.",
        )
        return None


def first_bytes(file: BinaryIO, size: int = PEEKED) -> bytes:
    """Peek at the next bytes, by default few hundred, without a byte order mark or blanks."""
    if isinstance(file, BufferedReader):
        head = file.peek(size)[:size]
    else:
        place = file.tell()
        head = file.read(size)
        file.seek(place)
    return head.removeprefix(BYTE_ORDER_MARK).lstrip()


def in_line_order(problems: Problems) -> Problems:
    """Sort problems: those of the whole file first, then by line."""
    problems.kept.sort(key=lambda problem: problem.line or 0)
    return problems


def errors_first(problems: Problems) -> Problems:
    """Sort problems: errors first, then by line, as a rejected run lists them."""
    problems.kept.sort(key=lambda problem: (problem.severity != "error", problem.line or 0))
    return problems


def too_many_lines(most: int) -> Refused:
    return refuse(
        "E_SIZE",
        f"the file has more than {most:,} lines",
        hint="Blank lines and comments count. Remove them.",
    )


def _without_mark(line: bytes, problems: Problems) -> bytes:
    if line.startswith(UTF_16):
        raise refuse("E_ENCODING", "the file is UTF-16, not UTF-8", hint="Save it as UTF-8.")
    if line.startswith(BYTE_ORDER_MARK):
        problems.warn("W_BOM", 1, "the byte order mark was ignored")
        return line.removeprefix(BYTE_ORDER_MARK)
    return line


def _skip_rest(start: bytes, file: BinaryIO) -> None:
    while start and not start.endswith(b"\n"):
        start = file.readline(SKIPPED)


def refused_at(number: int, broken: Refused, problems: Problems) -> Refused:
    """Return a refusal with all problems so far and why reading stopped at line `number`."""
    where = f" (after line {number:,})" if number > 1 else ""
    for problem in broken.problems:
        problems.error(problem.code, None, problem.message + where, problem.found, problem.hint)
    return Refused(in_line_order(problems))
