"""The one model of all dialects: a run, its answers, their sentences, citations and references."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NamedTuple
from unicodedata import normalize

from evaluation.problems import Problems

KEY_BYTES = 16


class Cited(NamedTuple):
    """A document that a sentence cites; `weight` is None where the dialect has none."""

    docno: str
    weight: float | None = None


class Reference(NamedTuple):
    """A document of the list that belongs to an answer; `score` is None where there is none."""

    docno: str
    score: float | None = None


class QuotedNugget(NamedTuple):
    """A nugget of R2C2: a text that the answer takes from a rank of a run of passages."""

    text: str
    run: str
    rank: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """An opaque text with its citations, the strongest first.

    Only BioGen A has `contradicted` citations, and `existing` ones that came with the sentence.
    """

    text: str
    citations: tuple[Cited, ...] = ()
    contradicted: tuple[Cited, ...] = ()
    existing: tuple[str, ...] = ()

    @property
    def key(self) -> bytes:
        """What equal sentences of all runs share, see `sentence_key`."""
        return sentence_key(self.text)


def sentence_key(text: str) -> bytes:
    """Return the first 16 bytes of SHA-256 of a text in NFKC, with single blanks.

    >>> sentence_key("Warm  water. ") == sentence_key("Warm water.")
    True
    """
    plain = re.sub(r"\s+", " ", normalize("NFKC", text)).strip()
    return sha256(plain.encode("utf-8", "surrogatepass")).digest()[:KEY_BYTES]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a run answers to one topic; `references` is None where the run gives none.

    `confidence` is a share or a percentage, as the dialect has it. `extra` keeps the fields that
    no rule knows.
    """

    topic: str
    sentences: tuple[Sentence, ...] = ()
    references: tuple[Reference, ...] | None = None
    confidence: float | None = None
    status: str = ""
    quoted: tuple[QuotedNugget, ...] = ()
    extra: Mapping[str, object] = field(default_factory=dict)
    line: int = 0

    @property
    def texts(self) -> list[str]:
        return [sentence.text for sentence in self.sentences]

    @property
    def text(self) -> str:
        """The sentences, joined by one blank."""
        return " ".join(self.texts)

    @property
    def key(self) -> bytes:
        """What equal answers of all runs share: the key of their text."""
        return sentence_key(self.text)

    def cited(self) -> Iterator[str]:
        """Yield the docno of every citation in order, repeated ones too."""
        return (cited.docno for sentence in self.sentences for cited in sentence.citations)


@dataclass(frozen=True)
class AnswerRun:
    """An accepted run: at most one answer per topic, in the order of the file.

    `repaired` counts what each repair has changed; `because` says how the dialect was recognised.
    """

    name: str
    dialect: str
    answers: Mapping[str, Answer]
    problems: Problems
    repaired: Mapping[str, int] = field(default_factory=dict)
    because: str = ""
