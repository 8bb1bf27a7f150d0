"""Parsing of lines like in trec_eval, for the lenient readers.

This follows the behaviour of trec_eval 10.0. Lines end at LF only. Columns are separated by white
space as in C (blank, tab, CR, vertical tab, form feed), so a no-break space is part of an
identifier. Numbers are read like in C's `atof` and `atol`: the longest valid start of a token.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from evaluation.problems import Problems

LONGEST_LINE = 16 * 1024 * 1024
INT32_MAX = 2**31 - 1

_NUMBER = re.compile(
    rb"[+-]?(?:(?P<hex>0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?\d+)?)"
    rb"|(?P<decimal>(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)"
    rb"|(?P<word>inf(?:inity)?|nan))",
    re.IGNORECASE,
)
_INTEGER = re.compile(rb"([+-]?)0*(\d+)")


def number(token: bytes) -> float:
    """Read a score like C's `atof`: the longest number that starts the token, else 0.

    >>> [number(t) for t in (b"12.5", b"1,5", b"0x1p3", b"1e2x", b"abc", b"--3", b"-inf", b"nan")]
    [12.5, 1.0, 8.0, 100.0, 0.0, 0.0, -inf, nan]
    """
    match = _NUMBER.match(token)
    if match is None:
        return 0.0
    text = match[0].decode("ascii")
    if match["hex"] is None:
        return float(text)
    try:
        return float.fromhex(text)
    except OverflowError:
        return float("-inf") if text.startswith("-") else float("inf")


def integer(token: bytes) -> int | None:
    """Read a grade like C's `atol`: leading digits, else 0; None outside 32 bits.

    trec_eval allocates a table as long as the highest grade and fails on such a grade.

    >>> [integer(t) for t in (b"2", b"-1", b"0.9", b"1.9", b"abc", b"0x7", b"9" * 40)]
    [2, -1, 0, 1, 0, 0, None]
    """
    match = _INTEGER.match(token)
    if match is None:
        return 0
    if len(match[2]) > 10 or int(match[2]) > INT32_MAX:
        return None
    return int(match[1] + match[2])


def data_lines(file: BinaryIO, problems: Problems, *, of_run: bool) -> Iterator[tuple[int, bytes]]:
    """Yield the line number and bytes of every line that trec_eval reads as data.

    trec_eval skips blank lines and indented `#` lines in runs, and reads both as malformed
    data in qrels. Lines with a NUL byte, which crash trec_eval, become problems.
    """
    line_number = 0
    while line := file.readline(LONGEST_LINE + 1):
        line_number += 1
        if len(line) > LONGEST_LINE and not line.endswith(b"\n"):
            problems.error("E_LINE_LONG", line_number, "the line is longer than 16 MiB", line[:200])
            while line and not line.endswith(b"\n"):
                line = file.readline(LONGEST_LINE)
        elif line.startswith(b"#") or (of_run and line.lstrip()[:1] in (b"", b"#")):
            continue
        elif b"\0" in line:
            problems.error("E_CHAR", line_number, "the line has a NUL byte", line)
        else:
            yield line_number, line
