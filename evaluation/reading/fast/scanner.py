"""The scanner: a compiled library that reads the lines of a run in one pass over its bytes.

It is a wheel of its own, `scanner/` of a checkout, and need not be installed: what it cannot prove,
and everything where it is not, is read by the ways of `alike` and `layout`, with the same result to
the last bit. `RANKFIELD_SCANNER=off` leaves it aside.
"""

from __future__ import annotations

import os
from ctypes import CDLL, POINTER, Structure, byref, c_int64, c_void_p
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from evaluation.reading.fast.layout import COLUMNS, Lines
from evaluation.reading.fast.piles import Rows
from evaluation.reading.repairs import TAG as WELL_FORMED_TAG
from evaluation.reading.words import Text, Unclear, Words

# Of the functions and the structure that are shared with `scanner.c`.
INTERFACE = 1
SWITCH = "RANKFIELD_SCANNER"
# No line that is read is longer, see `containers.Limits`; in a longer one no tag is found.
LONGEST_FIRST = 1 << 16


class Scan(Structure):
    """What a scan needs and finds, in the order of `struct scan` of `scanner.c`."""

    _fields_ = [
        ("text", c_void_p),
        ("length", c_int64),
        ("tag", c_int64),
        ("tag_length", c_int64),
        ("lines", c_int64),
        ("width", c_int64),
        ("feeds", c_void_p),
        ("topic_ends", c_void_p),
        ("topics", c_void_p),
        ("docnos", c_void_p),
        ("hashes", c_void_p),
        ("ranks", c_void_p),
        ("scores", c_void_p),
        ("left", c_void_p),
        ("topic_count", c_int64),
        ("left_count", c_int64),
    ]


@lru_cache(maxsize=1)
def installed_library() -> CDLL | None:
    """Return the library that is installed; None if there is none, or none that we know."""
    try:
        from rankfield_scanner import LIBRARY

        return open_library(LIBRARY)
    except (ImportError, OSError):
        return None


def open_library(path: str | os.PathLike[str]) -> CDLL | None:
    """Return the library in this file; None if it has another interface. Raises OSError."""
    library = CDLL(os.fspath(path))
    library.interface_of_scanner.restype = c_int64
    if library.interface_of_scanner() != INTERFACE:
        return None
    library.count_lines.argtypes, library.count_lines.restype = [c_void_p, c_int64], c_int64
    library.scan_lines.argtypes, library.scan_lines.restype = [POINTER(Scan)], c_int64
    return library


def library_in_use() -> CDLL | None:
    """Return the installed library, unless it is switched off."""
    return None if os.environ.get(SWITCH) == "off" else installed_library()


@dataclass
class Scanner:
    """Scans the blocks of one file; `width` counts the words of its longest docno so far."""

    library: CDLL
    width: int = 1

    def scanned_lines_in(self, text: Text, columns: int) -> Lines:
        """Return the lines and rows of a run whose lines all have the tag of the first."""
        line = text.token(0, LONGEST_FIRST).partition(b"\n")[0].rstrip(b" \t")
        tag = line.replace(b"\t", b" ").rpartition(b" ")[2]
        if columns != COLUMNS or not WELL_FORMED_TAG.fullmatch(tag):
            raise Unclear("another number of columns, or no tag")
        count = self.library.count_lines(text.bytes.ctypes.data, len(text))
        places = np.empty(count + 1, np.intp)
        places[0] = -1
        topic_ends, topics = np.empty((2, count), np.intp)
        hashes, ranks = np.empty(count, np.uint64), np.empty(count, np.int64)
        scores = np.empty(count)
        left = np.empty((count, 3), np.intp)
        scan = Scan(
            text=text.bytes.ctypes.data,
            length=len(text),
            tag=len(line) - len(tag),
            tag_length=len(tag),
            lines=count,
            feeds=places[1:].ctypes.data,
            topic_ends=topic_ends.ctypes.data,
            topics=topics.ctypes.data,
            hashes=hashes.ctypes.data,
            ranks=ranks.ctypes.data,
            scores=scores.ctypes.data,
            left=left.ctypes.data,
        )
        docnos = self._scan(scan)
        if scan.left_count:
            rows, *ends = left[: scan.left_count].T
            scores[rows] = text.decimals_one_by_one(*ends)
        return Lines(
            text,
            [places[:-1]],
            [topic_ends],
            places[1:],
            topics[: scan.topic_count],
            rows=Rows(docnos, ranks, scores, hashes),
            tag=tag,
        )

    def _scan(self, scan: Scan) -> Words:
        """Return the docnos, and fill the other arrays; again if a docno needs more words."""
        while True:
            docnos = np.empty((scan.lines, self.width), np.uint64)
            scan.docnos, scan.width = docnos.ctypes.data, self.width
            widest = self.library.scan_lines(byref(scan))
            if widest < 0:
                raise Unclear("a line that is not proved")
            if widest <= self.width:
                return docnos
            self.width = widest
