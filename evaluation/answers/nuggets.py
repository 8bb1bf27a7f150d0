"""Nuggets: what a good answer says, by topic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

from evaluation.problems import Problems

Kind: TypeAlias = Literal["claim", "question", "criterion"]

VITAL, OKAY = "vital", "okay"


class Span(NamedTuple):
    """A place in a document, in characters."""

    docno: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class AcceptedAnswer:
    """One accepted answer to the question of a nugget, and the documents that attest it."""

    text: str
    documents: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Nugget:
    """A claim, a question with accepted answers, or a criterion with a weight.

    Accepted answers that are judged one by one are nuggets of their own, with the key of their
    question as `parent`, its text as `question` and its weight. `group` is None where the nugget
    belongs to no group; `grade` is that of the passage that it was taken from. `originals` are the
    texts of a machine, or of an imported file, that people put in other words.
    """

    topic: str
    key: str
    text: str
    kind: Kind = "claim"
    importance: str = ""
    weight: float | None = None
    group: str | None = None
    parent: str = ""
    question: str = ""
    answers: tuple[AcceptedAnswer, ...] = ()
    operator: str = "OR"
    documents: tuple[str, ...] = ()
    origin: str = ""
    grade: int | None = None
    originals: tuple[str, ...] = ()

    @property
    def is_vital(self) -> bool:
        return self.importance == VITAL

    @property
    def attesting(self) -> frozenset[str]:
        """The documents that attest the nugget or any of its accepted answers."""
        within = (docno for answer in self.answers for docno in answer.documents)
        return frozenset((*self.documents, *within))


# What a nugget may have besides its text; what is empty is not written.
EMPTY = asdict(Nugget("", "", ""))


def pack_nugget(nugget: Nugget) -> dict[str, Any]:
    """Return what a nugget has as JSON.

    >>> pack_nugget(Nugget("t1", "t1-1", "Cedar smells."))
    {'topic': 't1', 'key': 't1-1', 'text': 'Cedar smells.'}
    """
    values = asdict(nugget)
    return {name: value for name, value in values.items() if value != EMPTY[name]}


@dataclass(frozen=True)
class NuggetBank:
    """The nuggets of every topic of one version; a topic may have none.

    `titles` has the texts of topics, where the file has them.
    """

    topics: Mapping[str, tuple[Nugget, ...]]
    format: str
    problems: Problems
    titles: Mapping[str, str] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return sum(map(len, self.topics.values()))

    def place_of(self, topic: str, name: str) -> int | None:
        """Return the place of a nugget by its key or by its position from 1.

        >>> bank = NuggetBank({"t1": (Nugget("t1", "t1-a", "Cedar"),)}, "", Problems())
        >>> bank.place_of("t1", "t1-a"), bank.place_of("t1", "1"), bank.place_of("t1", "2")
        (0, 0, None)
        """
        by_key = self._places.get(topic, {}).get(name)
        if by_key is not None or not name.isdecimal() or not name.isascii():
            return by_key
        place = int(name[:9]) - 1
        return place if 0 <= place < len(self.topics.get(topic, ())) else None

    @cached_property
    def _places(self) -> dict[str, dict[str, int]]:
        """The place of every key, by topic."""
        return {
            topic: {nugget.key: place for place, nugget in enumerate(nuggets)}
            for topic, nuggets in self.topics.items()
        }
