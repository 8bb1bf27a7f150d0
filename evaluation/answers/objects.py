"""The JSON objects of a file: one a line, in one list, or one a file of an archive or folder.

>>> from io import BytesIO
>>> [item.value for item in read_objects(BytesIO(b'[{"a": 1},\\n{"a": 2}]'), Findings())]
[{'a': 1}, {'a': 2}]
"""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import BinaryIO, NamedTuple

from evaluation.answers.findings import Findings
from evaluation.problems import Problems, refuse
from evaluation.reading.containers import GIB, MIB, ZIP, Limits, unpacked
from evaluation.reading.lines import data_lines, first_bytes, numbered_lines, text_of
from evaluation.reading.texts.records import RepeatedNameError, json_fault
from evaluation.reading.zip_member import NamedMember, all_members

LONGEST_LINE = 4 * MIB
LONGEST_OBJECT = 64 * MIB
LIMITS = Limits(unpacked=4 * GIB, line=LONGEST_LINE)
# Objects that hold a whole run in one line.
WHOLE_RUNS = re.compile(rb'\{\s*"(?:run_name|run_type|turns)"')
_BLANK = re.compile(r"[\s,]*")


class Item(NamedTuple):
    """An object with the line where it begins; `name` is that of its file in an archive."""

    line: int
    value: dict[str, object]
    name: str = ""


def open_answers(file: BinaryIO, limits: Limits = LIMITS) -> BinaryIO:
    """Return the bytes inside a file as `unpacked` does; an archive of several files as it is."""
    return file if _is_pile(file) else unpacked(file, limits)


def _is_pile(file: BinaryIO) -> bool:
    file.seek(0)
    is_archive = file.read(4) in ZIP
    count = len(list(_members(file))) if is_archive else 0
    file.seek(0)
    return count > 1


def read_objects(file: BinaryIO, findings: Findings) -> Iterator[Item]:
    """Yield the objects of a file; what is none is collected as E_JSON.

    A line may have 4 MiB, a list or an object over several lines 64 MiB.
    """
    head = first_bytes(file)
    if head.startswith(ZIP):
        yield from _of_archive(file, findings)
        return
    is_whole = head.startswith(b"[") or WHOLE_RUNS.match(head)
    lines = numbered_lines(file, findings, LONGEST_OBJECT if is_whole else LONGEST_LINE)
    first = list(islice(lines, 2))
    following = chain(first, lines)
    if is_whole or _goes_on(first):
        yield from _of_whole(following, findings)
    else:
        yield from _of_lines(following, findings)


def _goes_on(first: list[tuple[int, bytes]]) -> bool:
    """Whether the first line is the beginning of an object over several lines."""
    if len(first) < 2:
        return False
    begins, continues = first[0][1].strip(), first[1][1].lstrip()
    return begins.startswith(b"{") and begins[-1:] in b"{[," and not continues.startswith(b"{")


def _of_lines(lines: Iterable[tuple[int, bytes]], findings: Findings) -> Iterator[Item]:
    for number, line in data_lines(lines, findings, comments=False):
        text = text_of(number, line, findings)
        if text is None:
            continue
        try:
            value = DECODER.decode(text)
        except (ValueError, RecursionError) as error:
            findings.error("E_JSON", number, f"the line is not JSON: {json_fault(error)}", line)
            continue
        yield from _as_item(number, value, findings)


def _as_item(line: int, value: object, findings: Findings, name: str = "") -> Iterator[Item]:
    if isinstance(value, dict):
        yield Item(line, value, name)
    else:
        findings.error("E_JSON", line, f"{name and name + ': '}this is JSON, but not an object")


def _of_whole(lines: Iterable[tuple[int, bytes]], findings: Findings) -> Iterator[Item]:
    texts: list[str] = []
    size = 0
    for number, line in lines:
        text = text_of(number, line, findings)
        size += len(line)
        if size > LONGEST_OBJECT:
            hint = "Write one object per line."
            findings.error("E_JSON", number, "the list or object exceeds 64 MiB", hint=hint)
        if text is None or size > LONGEST_OBJECT:
            return
        texts.append(text)
    yield from _values("\n".join(texts), findings)


def _values(text: str, findings: Findings) -> Iterator[Item]:
    """Yield the objects of one list, or objects that follow each other, with their lines."""
    place = _end_of_blank(text, 0)
    is_list = text.startswith("[", place)
    place += is_list
    line, counted = 1, 0
    while True:
        place = _end_of_blank(text, place)
        line += text.count("\n", counted, place)
        counted = place
        if place >= len(text) or (is_list and text[place] == "]"):
            break
        try:
            value, place = DECODER.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            at = getattr(error, "lineno", line)
            findings.error("E_JSON", at, f"the file is not JSON: {json_fault(error)}")
            return
        yield from _as_item(line, value, findings)
    rest = text[place:].strip()
    if is_list and rest != "]":
        message = "the list has no end" if not rest else "there is text after the end of the list"
        findings.error("E_JSON", line, message, rest[:200])


def _end_of_blank(text: str, place: int) -> int:
    found = _BLANK.match(text, place)
    return found.end() if found else place


def _of_archive(file: BinaryIO, findings: Findings) -> Iterator[Item]:
    """Yield the object of each file of an archive, in the order of their names."""
    for place, member in enumerate(sorted(_members(file), key=lambda each: each.name), 1):
        text = text_of(place, _content(file, member), findings)
        if text is None:
            continue
        inner = Findings()
        yield from (item._replace(line=place, name=member.name) for item in _values(text, inner))
        _join(findings, inner, place, member.name)


def _join(findings: Findings, inner: Problems, place: int, name: str) -> None:
    """Add the errors of one file of several, with its name."""
    for problem in inner:
        where = f" (line {problem.line})" if problem.line else ""
        findings.error(problem.code, place, f"{name}: {problem.message}{where}", problem.found)


def _members(file: BinaryIO) -> Iterator[NamedMember]:
    """Yield the files that people put into an archive."""
    size = file.seek(0, 2)
    for member in all_members(file, size):
        parts = member.name.split("/")
        if "__MACOSX" not in parts and not parts[-1].startswith("."):
            yield member


def _content(file: BinaryIO, named: NamedMember) -> bytes:
    member = named.member
    if member is None:
        raise named.refusal or refuse("E_CONTAINER", f"{named.name} cannot be read")
    if member.unpacked > LONGEST_OBJECT:
        raise refuse("E_BOMB", f"{named.name} exceeds 64 MiB")
    file.seek(member.start)
    packed = file.read(member.packed)
    try:
        inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        content = inflate.decompress(packed, LONGEST_OBJECT) if member.deflated else packed
    except zlib.error as error:
        raise refuse("E_CONTAINER", f"{named.name} is damaged") from error
    if len(content) != member.unpacked or zlib.crc32(content) != member.checksum:
        raise refuse("E_CONTAINER", f"{named.name} is not as long as declared, or damaged")
    return content


def _named(parts: list[tuple[str, object]]) -> dict[str, object]:
    named = dict(parts)
    if len(named) < len(parts):
        times = Counter(name for name, _ in parts)
        again = next(name for name, count in times.items() if count > 1)
        raise RepeatedNameError(f'the name "{again[:40]}" appears twice')
    return named


DECODER = json.JSONDecoder(object_pairs_hook=_named)
