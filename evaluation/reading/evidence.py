"""Tables: what the first lines of a file of columns show about each column."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from evaluation.phrases import counted
from evaluation.problems import Problems
from evaluation.reading.columns import DECIMAL, INTEGER, WHOLE, split_columns
from evaluation.reading.headers import name_columns
from evaluation.reading.hints import HEADERS
from evaluation.reading.lines import data_lines
from evaluation.reading.texts.records import Lines

SAMPLED_ROWS = 20_000
SAMPLED_BYTES = 2 * 1024 * 1024
MOST = 0.9
LOOKED_AT = 100
SEPARATED_BY = {",": "commas", ";": "semicolons"}
FEW = 0.5

Known = Container[bytes] | None


@dataclass(frozen=True)
class Evidence:
    """The first rows that have the usual number of columns, and what is known already."""

    rows: list[list[bytes]]
    width: int
    header: list[bytes]
    topics: Known = None
    docnos: Known = None
    separator: str = ""

    @classmethod
    def of(
        cls, lines: Lines, topics: Known = None, docnos: Known = None, *, may_be_csv: bool = False
    ) -> Evidence:
        """
        >>> table = Evidence.of([(1, b"qid pid rank"), (2, b"7 d1 1"), (3, b"7 d2 2")], {b"7"})
        >>> table.header, table.width, table.counts_up(2), table.topic_column
        ([b'qid', b'pid', b'rank'], 3, True, 0)
        """
        sampled = [line for _, line in _sampled(lines)]
        separator = find_separator(sampled[:LOOKED_AT]) if may_be_csv else ""
        split = [split_columns(line, separator) for line in sampled]
        header = split.pop(0) if split and _is_header(split[0]) else []
        # The column of a table's index has no name.
        if header and sampled[0].startswith(b"\t"):
            header = [b"", *header]
        widths = Counter(map(len, split))
        width = widths.most_common(1)[0][0] if split else len(header)
        rows = [columns for columns in split if len(columns) == width]
        return cls(rows, width, header, topics, docnos, separator)

    def values(self, column: int) -> Iterator[bytes]:
        return (row[column] for row in self.rows)

    def matches(self, column: int, pattern: re.Pattern[bytes]) -> bool:
        """Whether most values of a column look so."""
        matching = sum(pattern.fullmatch(value) is not None for value in self.values(column))
        return 0 < matching >= MOST * len(self.rows)

    def is_whole(self, column: int) -> bool:
        return self.matches(column, INTEGER)

    def is_grade(self, column: int) -> bool:
        """Whether most values are whole numbers, which may be written as decimals: 2.0."""
        return self.matches(column, WHOLE)

    def is_decimal(self, column: int) -> bool:
        return self.matches(column, DECIMAL)

    def distinct(self, column: int) -> int:
        return len(set(self.values(column)))

    def by_topic(self, column: int) -> list[list[bytes]]:
        """The values of a column for each value of the first, in the order of the file."""
        found: dict[bytes, list[bytes]] = defaultdict(list)
        for row in self.rows:
            found[row[0]].append(row[column])
        return list(found.values())

    def counts_up(self, column: int) -> bool:
        """Whether a column is 1, 2, 3 ... or 0, 1, 2 ... within most topics, as ranks are."""
        lists = [values for values in self.by_topic(column) if len(values) > 1]
        return 0 < sum(_counts_up(values) for values in lists) >= MOST * len(lists)

    def repeats(self, column: int) -> bool:
        """Whether a topic has a value of the column more than once."""
        return any(len(set(values)) < len(values) for values in self.by_topic(column))

    def share(self, column: int, known: Known) -> float:
        if known is None or not self.rows:
            return 0.0
        return sum(value in known for value in self.values(column)) / len(self.rows)

    @property
    def topic_column(self) -> int | None:
        """The column that holds topics known already, the first where several do."""
        return self._column_of(self.topics)

    @property
    def docno_column(self) -> int:
        """The column that holds known documents, else the one with the most different names."""
        known = self._column_of(self.docnos, but={0})
        if known is not None:
            return known
        columns = range(1, self.width)
        names = [column for column in columns if not self.is_decimal(column)]
        return max(names or columns, key=self.distinct, default=0)

    def _column_of(self, known: Known, but: Container[int | None] = ()) -> int | None:
        columns = [column for column in range(self.width) if column not in but]
        best = max(columns, key=lambda column: self.share(column, known), default=0)
        return best if self.share(best, known) >= MOST else None

    def misplaced(self, topic_at: int, docno_at: int) -> str:
        """What stands in another column than it should, as a sentence; else empty."""
        topics_fit = self.share(topic_at, self.topics) >= MOST
        for what, known, at in (
            ("topics", self.topics, topic_at),
            ("documents", self.docnos, docno_at),
        ):
            # Where docnos are numbers, topics and ranks look like docnos.
            found = self._column_of(known, but={topic_at} if topics_fit else ())
            if found is None or self.share(at, known) > FEW or self.counts_up(found):
                continue
            return f"The {what} are in column {found + 1}, not column {at + 1}."
        return ""

    def named_columns(self) -> list[str]:
        """What each of three or four columns of judgments holds, by the known topics and docnos.

        >>> rows = [(1, b"d1 0 7 2"), (2, b"d2 0 7 0")]
        >>> Evidence.of(rows, {b"7"}, {b"d1", b"d2"}).named_columns()
        ['docno', 'iteration', 'topic', 'grade']
        """
        places = list(range(self.width))
        topic = self.topic_column or 0
        places.remove(topic)
        docno = self._column_of(self.docnos, but={topic})
        if docno is None:
            words = [place for place in places if not self.is_decimal(place)]
            docno = max(words or places, key=self.distinct)
        places.remove(docno)
        # Of two columns of numbers the iteration is the one that says less.
        grade = max(reversed(places), key=self.distinct)
        found = {topic: "topic", docno: "docno", grade: "grade"}
        return [found.get(place, "iteration") for place in range(self.width)]

    def described(self) -> str:
        """
        >>> Evidence.of([(1, b"7 0 d1 2")], {b"7"}, {b"d1"}).described()
        'The lines have 4 columns; column 1 has known topics; column 3 has known documents.'
        """
        topic_at = self.topic_column
        docno_at = self._column_of(self.docnos, but={topic_at})
        told = f"The lines have {counted(self.width, 'column')}"
        if self.separator:
            told += f" separated by {SEPARATED_BY[self.separator]}"
        if topic_at is not None:
            told += f"; column {topic_at + 1} has known topics"
        if docno_at is not None:
            told += f"; column {docno_at + 1} has known documents"
        return f"{told}."


def find_separator(lines: Sequence[bytes]) -> str:
    """Return the separator of CSV if all lines have as many cells, and none other columns.

    Where it separates the names of a header, other lines may be wrong.

    >>> find_separator([b"301,D1,2", b"301, D2, 0"]), find_separator([b"301 0 a,b,c 2"])
    (',', '')
    >>> find_separator([b"query-id;corpus-id;score", b"301;D1"])
    ';'
    """
    for separator in SEPARATED_BY:
        if lines and name_columns(split_columns(lines[0], separator)):
            return separator
        sign = separator.encode()
        counts = {len(split_columns(line, separator)) for line in lines}
        others = (split_columns(line) for line in lines)
        if len(counts) == 1 and min(counts) > 2 and all(_is_cut(each, sign) for each in others):
            return separator
    return ""


def _is_cut(columns: Sequence[bytes], sign: bytes) -> bool:
    """Whether blanks cut a line of CSV rather than separate columns."""
    return len(columns) <= 2 or all(column.endswith(sign) for column in columns[:-1])


def _is_header(columns: Sequence[bytes]) -> bool:
    return columns[0].lower() in HEADERS or bool(name_columns(columns))


def _sampled(lines: Lines) -> Iterator[tuple[int, bytes]]:
    size = 0
    for number, line in islice(data_lines(lines, Problems()), SAMPLED_ROWS):
        yield number, line
        size += len(line)
        if size >= SAMPLED_BYTES:
            return


def _counts_up(values: list[bytes]) -> bool:
    ranks = _whole_numbers(values)
    return bool(ranks) and ranks == list(range(ranks[0], ranks[0] + len(ranks)))


def _whole_numbers(values: list[bytes]) -> list[int]:
    """Return the values as numbers; none if one is not whole, or if the lowest is not 0 or 1."""
    if not all(map(WHOLE.fullmatch, values)):
        return []
    found = [int(value.partition(b".")[0]) for value in values]
    return found if min(found) in (0, 1) else []
