"""Tables of topics and documents, as spreadsheets and pandas write them, with tabs or as CSV.

Between tabs, a quoted cell may contain tabs, line ends and doubled quotation marks. Most files are
not quoted, and there a quotation mark is an ordinary character. So a cell is unquoted only if its
file or its content shows that it is quoted.
"""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain

from evaluation.problems import Problems
from evaluation.reading.columns import split_columns
from evaluation.reading.lines import data_lines, text_of
from evaluation.reading.texts.field_names import FieldNames
from evaluation.reading.texts.records import LONGEST_RECORD, Lines, Record, first_lines

MOST_LINES = 10_000
TAB = b"\t"
SEPARATORS = (",", ";")
# A name of a column, where the first cells of all other rows are numbers.
_NAME = re.compile(rb"[A-Za-z_][\w .-]{0,39}")

_CLOSED = re.compile(rb'"[^"]*+(?:""[^"]*+)*+"(?=\t|\Z)')
_OPEN = re.compile(rb'"[^"]*+(?:""[^"]*+)*+\Z')
_WITHIN = re.compile(rb'[^"]*+(?:""[^"]*+)*+')
_CLOSED_CELL = re.compile(_CLOSED.pattern.decode())
_QUOTED = re.compile(r'"([^"]*+(?:""[^"]*+)*+)"')


def table_records(
    lines: Lines,
    problems: Problems,
    columns: Mapping[int, tuple[str, ...]],
    names: FieldNames,
) -> Iterator[Record]:
    """Yield rows of tab-separated cells; `columns` names them by their number.

    A header with known `names` names the columns instead; an empty first cell is the index of
    pandas. A first row of other names, where all others begin with a number, is a header too: its
    columns are the usual ones, and W_HEADER notes it.

    >>> from evaluation.reading.topics import NAMES
    >>> rows = [(1, b"Query ID\\tQuery"), (2, b"7\\tboundary layers")]
    >>> list(table_records(rows, Problems(), {2: ("number", "title")}, NAMES))
    [Record(line=2, fields={'Query ID': '7', 'Query': 'boundary layers'}, attributes={})]
    """
    lines = iter(lines)
    first = first_lines(lines)
    is_odd = _has_odd_first(first)
    rows = _Rows(chain(first, lines), columns)
    named: tuple[str, ...] | None = None
    for position, (number, line) in enumerate(data_lines(rows, problems, comments=False)):
        text = text_of(number, line, problems)
        if text is None:
            continue
        if position == 0:
            named = rows.header(text, names)
            if named is None and is_odd:
                named = rows.odd_header(text)
                problems.note("W_HEADER", number, "the first line was read as a header", line)
            if named:
                continue
        cells = rows.cells(text)
        of_row = named or columns.get(len(cells)) or ()
        if len(of_row) != len(cells):
            expected = len(named) if named else " or ".join(str(count) for count in columns)
            message = f"expected {expected} tab-separated columns but found {len(cells)}"
            problems.error("E_COLUMNS", number, message, line, rows.hint())
            continue
        fields = dict(zip(of_row, cells, strict=True))
        fields.pop("", None)
        yield Record(number, fields)


def csv_records(
    lines: Lines,
    problems: Problems,
    columns: Mapping[int, tuple[str, ...]],
    names: FieldNames,
) -> Iterator[Record]:
    """Yield rows of CSV; a header with known `names` names the columns, else `columns` does.

    >>> from evaluation.reading.topics import NAMES
    >>> rows = [(1, b"qid,query"), (2, b'7,"flow, in air"')]
    >>> list(csv_records(rows, Problems(), {2: ("number", "title")}, NAMES))
    [Record(line=2, fields={'qid': '7', 'query': 'flow, in air'}, attributes={})]
    """
    csv.field_size_limit(LONGEST_RECORD)
    lines = iter(lines)
    first = first_lines(lines)
    head = [line for _, line in first if line.strip()]
    separator = find_separator(head, names) or (";" if all(b";" in x for x in head) else ",")
    source = _Decoded(chain(first, lines), problems)
    rows = csv.reader(source, delimiter=separator, skipinitialspace=True)
    named: tuple[str, ...] | None = None
    start, is_first = 1, True
    try:
        for cells in rows:
            start, number = source.number + 1, start
            if not any(cell.strip() for cell in cells):
                continue
            if is_first:
                named, is_first = name_columns(cells, names), False
                if named:
                    continue
            of_row = named or columns.get(len(cells)) or ()
            if len(of_row) != len(cells):
                expected = len(named) if named else " or ".join(str(count) for count in columns)
                message = f"expected {expected} columns of CSV but found {len(cells)}"
                problems.error("E_COLUMNS", number, message, separator.join(cells))
                continue
            fields = dict(zip(of_row, cells, strict=True))
            fields.pop("", None)
            yield Record(number, fields)
    except csv.Error as error:
        problems.error("E_COLUMNS", start, f"the line is not CSV: {error}")


class _Decoded:
    """The texts of lines for the reader of CSV, and the number of the last one."""

    def __init__(self, lines: Lines, problems: Problems) -> None:
        self.lines = iter(lines)
        self.problems = problems
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        for number, line in self.lines:
            self.number = number
            text = text_of(number, line, self.problems)
            yield "\n" if text is None else f"{text}\n"


def find_separator(lines: Sequence[bytes], names: FieldNames) -> str:
    """Return the separator of CSV with a header of known names; empty if it is no such file.

    >>> from evaluation.reading.topics import NAMES
    >>> find_separator([b"qid;query", b"7;flow"], NAMES), find_separator([b"flow, in air"], NAMES)
    (';', '')
    """
    first = lines[0] if lines else b""
    for separator in SEPARATORS:
        cells = [cell.decode("utf-8", "replace") for cell in split_columns(first, separator)]
        if len(cells) > 1 and name_columns(cells, names):
            return separator
    return ""


def _has_odd_first(first: Sequence[tuple[int, bytes]]) -> bool:
    """Whether the first row has names or an empty cell, and all others begin with a number.

    >>> _has_odd_first([(1, b"anfrage\\ttext"), (2, b"7\\tflow"), (3, b"8\\theat")])
    True
    """
    rows = [line.split(TAB) for _, line in first if line.strip()]
    if len(rows) < 3 or not all(_NAME.fullmatch(cell) for cell in rows[0] if cell):
        return False
    return all(len(row) == len(rows[0]) and row[0].isdigit() for row in rows[1:])


class _Rows:
    """The rows of a table, each with its first line; rows with line ends in cells are joined."""

    def __init__(self, lines: Lines, columns: Mapping[int, tuple[str, ...]]) -> None:
        self.lines = iter(lines)
        self.columns = columns
        self.counts: Collection[int] = columns
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

    def header(self, text: str, names: FieldNames) -> tuple[str, ...] | None:
        """Return the names of the columns if the first row has them."""
        cells = text.split("\t")
        all_quoted = all(_QUOTED.fullmatch(cell) for cell in cells)
        written = [(cell[1:-1] if all_quoted else cell).strip() for cell in cells]
        found = name_columns(written, names)
        if found is not None:
            self.counts = {len(found)}
            self.quoted = all_quoted or not written[0]
        return found

    def odd_header(self, text: str) -> tuple[str, ...] | None:
        """Return the usual names of as many columns as a header of unknown names has."""
        cells = text.split("\t")
        has_index = len(cells) > 2 and not cells[0].strip()
        found = self.columns.get(len(cells) - has_index)
        return ("", *found) if found and has_index else found

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


def name_columns(cells: Sequence[str], names: FieldNames) -> tuple[str, ...] | None:
    """Return the column names of a header; an empty one is an index, or the identifier.

    >>> from evaluation.reading.topics import NAMES
    >>> name_columns(["", "qid", "query"], NAMES)
    ('', 'qid', 'query')
    >>> name_columns(["", "query"], NAMES)
    ('id', 'query')
    """
    first, *others = cells
    if first:
        return tuple(cells) if names.are_header(cells) else None
    if not others or not all(others):
        return None
    if names.find(others, names.identifiers):
        return tuple(cells)
    return ("id", *others) if names.find(others, names.texts) else None


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
