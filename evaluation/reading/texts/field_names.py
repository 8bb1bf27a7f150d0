"""Names of fields: which of them holds the number of a topic, a docno, a title, a text.

Files name the same thing in many ways: `query_id`, `queryId`, `Query ID` and `qid`. A name is
looked up unchanged, then without the characters between its words, then without the words that
name its subject (`query_text` is a text).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

# The last words of names that identify: vclaim_id, cord_uid, topic_number.
IDENTIFYING = {"id", "uid", "number", "num", "no", "nr"}
BEHIND = {"text", "txt", "string", "en", "eng", "english"}
LONGEST_HEADER = 40
ADDRESS = re.compile(r"\w+://\S+")

_WITHIN = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class FieldNames:
    """The names in a kind of record, the likeliest first, in small letters and in one word."""

    identifiers: tuple[str, ...]
    texts: tuple[str, ...]
    # Words before a name that say what it belongs to.
    about: frozenset[str]

    def find(self, fields: Iterable[str], names: Sequence[str]) -> str | None:
        """Return the field with the first of these names, if there is one.

        >>> names = FieldNames(("qid",), ("txt",), frozenset({"query"}))
        >>> names.find(["queryId", "query_txt"], ["text", "txt"])
        'query_txt'
        """
        fields = list(fields)
        for spell in (str.lower, _joined, self._short):
            spelled = {spell(field): field for field in reversed(fields)}
            found = next((name for name in names if name in spelled), None)
            if found is not None:
                return spelled[found]
        return None

    def find_all(self, fields: Iterable[str], names: Sequence[str]) -> Iterator[str]:
        """Yield every field with one of these names, the likeliest first."""
        left = list(fields)
        while (found := self.find(left, names)) is not None:
            yield found
            left.remove(found)

    def find_identifier(self, fields: Collection[str]) -> str | None:
        """Return the field that identifies; one of an unknown name if no other one may.

        >>> FieldNames(("qid",), (), frozenset()).find_identifier(["tweet_id", "tweet_text"])
        'tweet_id'
        """
        likely = [field for field in fields if identifies(field)]
        return self.find(fields, self.identifiers) or (likely[0] if len(likely) == 1 else None)

    def are_header(self, cells: Sequence[str]) -> bool:
        """Whether cells name columns: one identifies, and it is the first or another is a text.

        >>> names = FieldNames(("qid",), ("query",), frozenset({"query"}))
        >>> names.are_header(["Query ID", "Query"]), names.are_header(["301", "query id"])
        (True, False)
        """
        if len(cells) < 2 or any(len(cell) > LONGEST_HEADER for cell in cells):
            return False
        found = self.find_identifier(cells)
        return bool(found) and (found == cells[0] or bool(self.find(cells, self.texts)))

    def _short(self, field: str) -> str:
        words = _words(field)
        while len(words) > 1 and words[0] in self.about:
            del words[0]
        while len(words) > 1 and words[-1] in BEHIND:
            del words[-1]
        return "".join(words)


def identifies(field: str) -> bool:
    """Whether the last word of a name says that it identifies.

    >>> identifies("vclaim_id"), identifies("idea")
    (True, False)
    """
    return bool(IDENTIFYING.intersection(_words(field)[-1:]))


def is_prose(text: str) -> bool:
    """Whether a text has at least three words: more than a label, a date or an address.

    >>> is_prose("Which valve closes a lock?"), is_prose("https://canal.example/ on 2 May")
    (True, False)
    """
    return len(text.split(maxsplit=2)) > 2 and not ADDRESS.match(text.lstrip())


def _words(field: str) -> list[str]:
    return _WORD.findall(_WITHIN.sub("_", field).lower())


def _joined(field: str) -> str:
    return "".join(_words(field))
