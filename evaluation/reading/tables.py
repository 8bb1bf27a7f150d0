"""Tables of topics and documents in tab-separated cells, as spreadsheets and pandas write them.

A quoted cell may contain tabs, line ends and doubled quotation marks. Most files are not quoted,
and there a quotation mark is an ordinary character. So a cell is unquoted only if its file or its
content shows that it is quoted.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence

from evaluation.problems import Problems
from evaluation.reading.lines import data_lines, text_of
from evaluation.reading.records import LONGEST_RECORD, Lines, Record

MOST_LINES = 10_000
TAB = b"\t"

_CLOSED = re.compile(rb'"[^"]*+(?:""[^"]*+)*+"(?=\t|\Z)')
_OPEN = re.compile(rb'"[^"]*+(?:""[^"]*+)*+\Z')
_WITHIN = re.compile(rb'[^"]*+(?:""[^"]*+)*+')
_CLOSED_CELL = re.compile(_CLOSED.pattern.decode())
_QUOTED = re.compile(r'"([^"]*+(?:""[^"]*+)*+)"')


def table_records(
    lines: Lines,
    problems: Problems,
    columns: Mapping[int, tuple[str, ...]],
    headers: Collection[str],
    texts: Collection[str] = (),
) -> Iterator[Record]:
    """Yield rows of tab-separated cells; `columns` names them by their number.

    A first row that begins with one of the `headers` names the columns instead, and so does a row
    whose first cell is empty (the index of pandas), followed by one of `headers` or `texts`.

    >>> list(table_records([(1, b"7\\tboundary layers")], Problems(), {2: ("id", "text")}, ()))
    [Record(line=1, fields={'id': '7', 'text': 'boundary layers'}, attributes={})]
    """
    rows = _Rows(lines, columns)
    named: tuple[str, ...] | None = None
    for position, (number, line) in enumerate(data_lines(rows, problems, comments=False)):
        text = text_of(number, line, problems)
        if text is None:
            continue
        if position == 0:
            named = rows.header(text, headers, texts)
            if named:
                continue
        cells = rows.cells(text)
        names = named or columns.get(len(cells)) or ()
        if len(names) != len(cells):
            expected = len(named) if named else " or ".join(str(count) for count in columns)
            message = f"expected {expected} tab-separated columns but found {len(cells)}"
            problems.error("E_COLUMNS", number, message, line, rows.hint())
            continue
        fields = dict(zip(names, cells, strict=True))
        fields.pop("", None)
        yield Record(number, fields)


class _Rows:
    """The rows of a table, each with its first line; rows with line ends in cells are joined."""

    def __init__(self, lines: Lines, counts: Collection[int]) -> None:
        self.lines = iter(lines)
        self.counts = counts
        self.quoted = False
        self.unclosed = 0
        self.ahead: deque[tuple[int, bytes]] = deque()

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        while (row := self._next()) is not None:
            number, line = row
            if (b'\t"' in line or line[:1] == b'"') and _is_open(line):
                line = self._joined(number, line)
            yield number, line

    def _next(self) -> tuple[int, bytes] | None:
        return self.ahead.popleft() if self.ahead else next(self.lines, None)

    def header(
        self, text: str, headers: Collection[str], texts: Collection[str]
    ) -> tuple[str, ...] | None:
        """Return the names of the columns if the first row has them."""
        cells = text.split("\t")
        all_quoted = all(_QUOTED.fullmatch(cell) for cell in cells)
        names = [(cell[1:-1] if all_quoted else cell).strip().lower() for cell in cells]
        found = _column_names(names, headers, texts)
        if found is not None:
            self.counts = {len(found)}
            self.quoted = all_quoted or not names[0]
        return found

    def cells(self, text: str) -> list[str]:
        plain = text.split("\t")
        if '\t"' not in text and text[:1] != '"':
            return plain
        if not self.quoted and "\n" not in text and len(plain) in self.counts:
            return [self._unquoted(cell) for cell in plain]
        return [self._unquoted(cell) for cell in _split(text)]

    def _unquoted(self, cell: str) -> str:
        quoted = _QUOTED.fullmatch(cell)
        if quoted is None or not (self.quoted or any(sign in quoted[1] for sign in '"\t\n')):
            return cell
        return quoted[1].replace('""', '"')

    def hint(self) -> str:
        """Say once where a quotation mark was opened last, since it may have split rows wrongly."""
        opened, self.unclosed = self.unclosed, 0
        return f"Is the quotation mark of line {opened:,} not closed?" if opened else ""

    def _joined(self, number: int, line: bytes) -> bytes:
        """Join the lines up to the end of the open cell; return the line alone if there is none."""
        taken: list[tuple[int, bytes]] = []
        size, is_open = len(line), True
        while is_open and size <= LONGEST_RECORD and len(taken) < MOST_LINES:
            following = self._next()
            if following is None:
                break
            taken.append(following)
            size += len(following[1])
            within = _WITHIN.match(following[1])
            after = following[1][within.end() :] if within else b""
            if after and after[1:2] not in (b"", TAB):
                break
            is_open = not after or _is_open(after[2:])
        row = b"\n".join([line, *(more for _, more in taken)])
        if is_open or not self._is_one_row(row, [more for _, more in taken]):
            self.ahead.extendleft(reversed(taken))
            self.unclosed = number
            return line
        return row

    def _is_one_row(self, row: bytes, following: Sequence[bytes]) -> bool:
        """Return whether joined lines have the right number of cells and are not rows alone."""
        rows = all(more.strip() and more.count(TAB) + 1 in self.counts for more in following)
        text = row.decode("utf-8", "replace")
        return len(_split(text)) in self.counts and (self.quoted or not rows)


def _column_names(
    names: Sequence[str], headers: Collection[str], texts: Collection[str]
) -> tuple[str, ...] | None:
    """Return the column names of a header; an empty one is an index, or the identifier.

    >>> _column_names(["", "qid", "query"], {"qid"}, {"query"})
    ('', 'qid', 'query')
    >>> _column_names(["", "query"], {"qid"}, {"query"})
    ('id', 'query')
    """
    first, others = names[0], set(names[1:])
    if first in headers and others:
        return tuple(names)
    if first:
        return None
    if not others.isdisjoint(headers):
        return tuple(names)
    return None if others.isdisjoint(texts) else ("id", *names[1:])


def _split(text: str) -> list[str]:
    """Split cells at unquoted tabs; a quotation mark within a cell is a character.

    >>> _split('7\\t"a\\tb"\\t12" pipe')
    ['7', '"a\\tb"', '12" pipe']
    """
    cells, place = [], 0
    while place <= len(text):
        closed = _CLOSED_CELL.match(text, place)
        end = text.find("\t", place) if closed is None else closed.end()
        end = len(text) if end < 0 else end
        cells.append(text[place:end])
        place = end + 1
    return cells


def _is_open(line: bytes) -> bool:
    """Return whether the last cell begins with a quotation mark that is not closed.

    >>> _is_open(b'7\\t"boundary'), _is_open(b'7\\t"boundary"'), _is_open(b'7\\t12" pipe')
    (True, False, False)
    """
    place = 0
    while True:
        closed = _CLOSED.match(line, place)
        if closed is None and _OPEN.match(line, place):
            return True
        place = line.find(TAB, place if closed is None else closed.end()) + 1
        if not place:
            return False
