"""Files that rank systems: `system score`, or a list of systems, the best first."""

from __future__ import annotations

import json
import math
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np

from evaluation.problems import Problems
from evaluation.ragged import FloatArray
from evaluation.reading.columns import check_identifier
from evaluation.reading.containers import KIB, RUN_LIMITS
from evaluation.reading.lines import data_lines, in_line_order, numbered_lines, text_of
from evaluation.reading.texts.records import hint_for_json, json_fault, refuse_repeated_names

LONGEST_LINE = 64 * KIB
# By the names that a site has in its table of runs.
RANKING_FORMATS = {
    "scores": "systems with scores (system score; TSV, CSV or JSON)",
    "order": "a list of systems, the best first",
}
# With one system there is no order.
FEWEST_SYSTEMS = 2
NAMES, SCORES = ("system", "run", "run_id", "tag", "name"), ("score", "value", "mean")


@dataclass(frozen=True)
class Entry:
    """A system of a file with its score, None in a list; `line` is None in a JSON document."""

    line: int | None
    system: str
    score: float | None


@dataclass(frozen=True, eq=False)
class SystemRanking:
    """Systems with their scores float64[n], higher is better, in the order of the file.

    In a list without scores these are the ranks from the end, and `has_levels` is False.
    """

    entries: list[Entry]
    scores: FloatArray
    has_levels: bool
    problems: Problems = field(repr=False)

    @property
    def systems(self) -> list[str]:
        return [entry.system for entry in self.entries]

    @property
    def format(self) -> str:
        return "scores" if self.has_levels else "order"


def read_system_ranking(file: BinaryIO, known: Container[str] | None = None) -> SystemRanking:
    """Read a ranking of systems; with `known` systems any other is E_UNKNOWN_SYSTEM.

    A line is `system score`, or in a list the system alone; columns are separated by tabs, commas
    or blanks, and a header may name them. JSON is an object of scores by system, a list of
    systems, or objects with `system` and `score`, in a list or one per line.

    The whole file is read; raises `Refused` with every problem at its line: E_EMPTY, E_LINE_LONG,
    E_ENCODING, E_JSON, E_COLUMNS, E_SYSTEM and E_CHAR (no name), E_SCORE (no finite number),
    E_DUP_SYSTEM, E_FEW_SYSTEMS (fewer than two) and E_NO_ORDER (all scores are equal).

    >>> from io import BytesIO
    >>> found = read_system_ranking(BytesIO(b"oak\\t0.4\\nelm\\t0.7\\n"))
    >>> found.systems, found.scores.tolist(), found.format
    (['oak', 'elm'], [0.4, 0.7], 'scores')
    >>> read_system_ranking(BytesIO(b'["elm", "oak"]')).scores.tolist()
    [2.0, 1.0]
    """
    problems = Problems()
    lines = list(numbered_lines(file, problems, LONGEST_LINE, RUN_LIMITS.lines))
    kept = list(data_lines(lines, problems))
    is_json = kept and kept[0][1].lstrip()[:1] in (b"{", b"[")
    found = list((_read_json if is_json else _read_columns)(kept, problems))
    entries = _check_names(found, known, problems)
    has_levels = any(entry.score is not None for entry in entries)
    for entry in entries if has_levels else ():
        if entry.score is None:
            message = "this system has no score, and others have"
            problems.error("E_COLUMNS", entry.line, message, entry.system)
    _check_order(found, entries, has_levels, problems)
    in_line_order(problems).raise_if_refused()
    places = range(len(entries), 0, -1)
    given = [entry.score for entry in entries] if has_levels else places
    return SystemRanking(entries, np.array(given, dtype=np.float64), has_levels, problems)


def _read_columns(lines: Iterable[tuple[int, bytes]], problems: Problems) -> Iterator[Entry]:
    separator: str | None = ""
    for number, line in lines:
        text = text_of(number, line, problems)
        if text is None:
            continue
        if separator == "":
            separator = next((each for each in "\t," if each in text), None)
            if _is_header(_cells_of(text, separator)):
                continue
        cells = _cells_of(text, separator)
        if len(cells) > 2:
            message = "a line is a system and its score, or a system alone"
            problems.error("E_COLUMNS", number, message, line)
            continue
        yield Entry(number, cells[0], _read_score(number, cells[1:], problems))


def _cells_of(text: str, separator: str | None) -> list[str]:
    return [cell.strip() for cell in text.split(separator)]


def _is_header(cells: list[str]) -> bool:
    """Whether the first line names the columns; a list may begin with a system called so."""
    words = [cell.lower() for cell in cells]
    return len(words) == 2 and words[0] in NAMES and words[1] in SCORES


def _read_score(line: int | None, given: list[Any], problems: Problems) -> float | None:
    if not given:
        return None
    try:
        score = math.nan if isinstance(given[0], bool) else float(given[0])
    except (TypeError, ValueError):
        score = math.nan
    if not math.isfinite(score):
        message = "the score is not a finite number"
        problems.error("E_SCORE", line, message, str(given[0]))
        return 0.0
    return score


def _read_json(lines: list[tuple[int, bytes]], problems: Problems) -> Iterator[Entry]:
    text = b"\n".join(line for _, line in lines)
    try:
        yield from _read_document(None, _parse(text), problems)
    except (ValueError, RecursionError) as error:
        if len(lines) == 1 or lines[0][1].lstrip()[:1] == b"[":
            message = f"the file is not JSON: {json_fault(error)}"
            problems.error("E_JSON", lines[0][0], message, hint=hint_for_json(error))
            return
        yield from _read_json_lines(lines, problems)


def _read_json_lines(lines: list[tuple[int, bytes]], problems: Problems) -> Iterator[Entry]:
    for number, line in lines:
        try:
            yield from _read_document(number, _parse(line), problems)
        except (ValueError, RecursionError) as error:
            message = f"the line is not JSON: {json_fault(error)}"
            problems.error("E_JSON", number, message, line, hint_for_json(error))


def _parse(text: bytes) -> object:
    return json.loads(text, object_pairs_hook=refuse_repeated_names)


def _read_document(line: int | None, value: object, problems: Problems) -> Iterator[Entry]:
    if isinstance(value, list):
        for each in value:
            if isinstance(each, str):
                yield Entry(line, each, None)
            else:
                yield from _read_object(line, each, problems)
    elif isinstance(value, dict) and "system" not in value:
        for system, score in value.items():
            yield Entry(line, system, _read_score(line, [score], problems))
    else:
        yield from _read_object(line, value, problems)


def _read_object(line: int | None, value: object, problems: Problems) -> Iterator[Entry]:
    if not isinstance(value, dict) or not isinstance(value.get("system"), str):
        message = "an entry is no object with system and score"
        problems.error("E_JSON", line, message, json.dumps(value))
        return
    given = [value["score"]] if "score" in value else []
    yield Entry(line, value["system"], _read_score(line, given, problems))


def _check_names(
    entries: Iterable[Entry], known: Container[str] | None, problems: Problems
) -> list[Entry]:
    """Return the entries with a name that no entry before has."""
    first: dict[str, Entry] = {}
    for entry in entries:
        name = entry.system.encode("utf-8", "surrogatepass")
        if not check_identifier("system", "E_SYSTEM", entry.line, name, problems):
            continue
        if known is not None and entry.system not in known:
            hint = "Name each system as its track shows it, or by its id there."
            problems.error("E_UNKNOWN_SYSTEM", entry.line, "no such system", entry.system, hint)
        if first.setdefault(entry.system, entry) is not entry:
            before = first[entry.system].line
            where = "" if before is None else f", in line {before:,} too"
            message = f"this system is named twice{where}"
            problems.error("E_DUP_SYSTEM", entry.line, message, entry.system, "Keep one of them.")
    return list(first.values())


def _check_order(
    found: list[Entry], entries: list[Entry], has_levels: bool, problems: Problems
) -> None:
    if problems.errors:
        return
    if not found:
        problems.error("E_EMPTY", None, "the file has no systems")
    elif len(entries) < FEWEST_SYSTEMS:
        problems.error("E_FEW_SYSTEMS", None, "an order needs at least two systems")
    elif has_levels and len({entry.score for entry in entries}) == 1:
        problems.error("E_NO_ORDER", None, "all systems have the same score")
