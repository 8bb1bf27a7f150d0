"""ir_metadata: metadata of a run in comments above its lines.

The comments between `# ir_metadata.start` and `# ir_metadata.end` contain YAML (Breuer, Keller
and Schaer, SIGIR 2022). Nested keys, lists and scalars are read; the schema has nothing else.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain

from evaluation.problems import Problems

START, END = "ir_metadata.start", "ir_metadata.end"
LONGEST_HEADER = 1_000
LISTED_ITEM = re.compile(r"-(?:\s+|$)")
COMMENT = re.compile(r"(?:^|\s)#.*$")

NumberedLines = Iterator[tuple[int, bytes]]


def split_header(lines: NumberedLines) -> tuple[list[tuple[int, str]], NumberedLines]:
    """Return the comments at the head of a run, without `#`, and all its lines with them."""
    taken: list[tuple[int, bytes]] = []
    for number, line in lines:
        taken.append((number, line))
        if number >= LONGEST_HEADER or line.lstrip()[:1] not in (b"", b"#"):
            break
    comments = [
        (number, line.lstrip()[1:].decode("utf-8", "replace"))
        for number, line in taken
        if line.lstrip().startswith(b"#")
    ]
    return comments, chain(taken, lines)


def read_metadata(comments: list[tuple[int, str]], problems: Problems) -> dict[str, str]:
    """Return the metadata by path, list items by number; W_METADATA for an unreadable line.

    >>> comments = ["ir_metadata.start", "platform:", "  cpu:", "    model: Xeon", "  lang:",
    ...     "    - python", "    - c", "ir_metadata.end"]
    >>> read_metadata(list(enumerate([" " + text for text in comments], 1)), Problems())
    {'platform.cpu.model': 'Xeon', 'platform.lang.1': 'python', 'platform.lang.2': 'c'}
    """
    places = [place for place, (_, text) in enumerate(comments) if text.strip() == START]
    if not places:
        return {}
    tree = _Tree()
    for number, text in comments[places[0] + 1 :]:
        if text.strip() == END:
            return tree.values
        try:
            tree.take(text)
        except ValueError as error:
            problems.warn("W_METADATA", number, f"invalid ir_metadata: {error}", text)
            return {}
    message = f"the ir_metadata block has no closing {END}"
    problems.warn("W_METADATA", comments[places[0]][0], message)
    return {}


def check_tag(metadata: dict[str, str], tag: str, problems: Problems) -> None:
    """Report W_METADATA if the metadata belong to another run."""
    named = metadata.get("tag", tag)
    if named != tag:
        message = f'the ir_metadata tag is "{named}", but the run tag is "{tag}"'
        problems.warn("W_METADATA", None, message)


@dataclass
class _Tree:
    """The values read so far by path, and the open keys at each indent."""

    values: dict[str, str] = field(default_factory=dict)
    open: list[tuple[int, str]] = field(default_factory=list)
    items: Counter[str] = field(default_factory=Counter)

    def take(self, text: str) -> None:
        indent = len(text) - len(text.lstrip())
        rest = text.strip()
        if not rest or rest.startswith("#"):
            return
        is_item = False
        while dash := LISTED_ITEM.match(rest):
            is_item = True
            self._close(indent, is_item=True)
            parent = self.open[-1][1] if self.open else ""
            self.items[parent] += 1
            self.open.append((indent, f"{parent}.{self.items[parent]}".lstrip(".")))
            indent, rest = indent + dash.end(), rest[dash.end() :]
        if key := _key(rest):
            self._close(indent, is_item=False)
            parent = self.open[-1][1] if self.open else ""
            self.open.append((indent, f"{parent}.{key[0]}".lstrip(".")))
            rest = key[1]
        elif not is_item:
            raise ValueError("expected a key and a colon")
        if value := _plain(rest):
            self.values[self.open[-1][1]] = value

    def _close(self, indent: int, *, is_item: bool) -> None:
        """Close the keys that end here; a list may have the indent of its key."""
        while self.open and self.open[-1][0] >= indent:
            is_key_of_list = is_item and not self._is_item() and self.open[-1][0] == indent
            if is_key_of_list:
                return
            self.open.pop()

    def _is_item(self) -> bool:
        return bool(self.open) and self.open[-1][1].rpartition(".")[2].isdigit()


def _key(text: str) -> tuple[str, str] | None:
    """
    >>> _key("'start time': 2021-10-27T00:00"), _key("lang:"), _key("numpy==1.15")
    (('start time', '2021-10-27T00:00'), ('lang', ''), None)
    """
    end = text.find(text[0], 1) + 1 if text[:1] in ("'", '"') else 0
    name, colon, value = (text[end:] + " ").partition(": ")
    name = (text[1 : end - 1] if end else name).strip()
    return (name, value.strip()) if colon and name and "#" not in name else None


def _plain(text: str) -> str:
    """Return a scalar without quotes and without the comment after it.

    >>> [_plain(text) for text in ("'2020'", "bm25 # tuned", '"a # b"', "~", "[a, b]")]
    ['2020', 'bm25', 'a # b', '', 'a, b']
    >>> _plain('"a \\\\"b\\\\""')
    'a "b"'
    """
    text = text.strip()
    if text[:1] == '"':
        # A text has the same form in JSON and YAML, with the same escapes.
        with suppress(ValueError):
            return str(json.JSONDecoder().raw_decode(text)[0])
    if text[:1] in ("'", '"') and text.find(text[0], 1) > 0:
        return text[1 : text.find(text[0], 1)]
    text = COMMENT.sub("", text).strip()
    if text in ("~", "null"):
        return ""
    if text[:1] in ("[", "{") and text[-1:] in ("]", "}"):
        return ", ".join(part.strip(" '\"") for part in text[1:-1].split(","))
    if text[:1] in ("|", ">", "&", "*", "!", "{", "["):
        raise ValueError(f"{text[:1]} is not understood")
    return text
