"""What a track asks of an answer, and the presets of the public tracks.

>>> rules = PRESETS["rag24"]
>>> rules.unit, rules.limit, rules.over
('words-nfkc', 400, 'cut')
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from evaluation.answers.lengths import Unit
from evaluation.answers.topics import AnswerTopic

Strictness: TypeAlias = Literal["error", "warn"]

FIXES = {
    "tag": "use the first run name",
    "topics": "write topics as the track does, and ignore others",
    "cut": "cut sentences from the end to the limit",
    "unresolved": "remove citations of no reference",
    "add-references": "add cited documents to the references",
    "repeated": "keep the first of repeated citations and references",
    "keep-first": "keep the first answer, citations and references of too many",
    "cited-set": "make the references the cited documents",
    "one-based": "subtract 1 from all positions",
    "docnos": "write docnos instead of positions",
    "topic-text": "copy topic text and given sentences from the track",
    "length": "write the counted length",
    "empty": "remove empty sentences, add missing empty lists",
    "weights": "limit weights to their range",
    "documents": "remove texts of documents",
}
WEIGHT_RANGES = {"0-1": 1.0, "0-100": 100.0}


@dataclass(frozen=True)
class AnswerRules:
    """What is asked of the answers of a track; without arguments, as little as possible.

    `dialect` is expected where the content does not decide. `metadata` are the names of the
    fields that are required besides the topic, `pattern` describes docnos where the collection is
    not known. `passages` gives the docno of a rank of a run of passages, for R2C2.
    """

    dialect: str = ""
    unit: Unit = "words"
    limit: int | None = None
    over: Literal["refuse", "cut", "warn"] = "warn"
    most_citations: int | None = None
    most_references: int | None = None
    references: Literal["required", "scored", "optional"] = "optional"
    references_are_cited: bool = False
    repeated_references: Strictness = "warn"
    echo: Literal["exact", "warn", "ignore"] = "ignore"
    missing_topics: Strictness = "warn"
    empty_answers: Literal["allowed", "error"] = "allowed"
    weights: Literal["ignored", "0-1", "0-100", "any"] = "ignored"
    confidence: Literal["none", "optional", "required"] = "optional"
    metadata: tuple[str, ...] = ()
    run_types: tuple[str, ...] = ()
    may_mix: bool = False
    may_lack_citations: bool = False
    unknown_documents: Strictness = "warn"
    pattern: str = ""
    topics: Mapping[str, AnswerTopic] | None = None
    docnos: Container[bytes] | None = None
    passages: Mapping[tuple[str, int], str] = field(default_factory=dict)
    name: str = ""
    fix: frozenset[str] = frozenset()


_RAG24 = AnswerRules(
    dialect="rag24",
    unit="words-nfkc",
    limit=400,
    over="cut",
    most_references=20,
    references="required",
    repeated_references="error",
    echo="exact",
    confidence="none",
    metadata=("run_id", "topic", "response_length"),
    unknown_documents="error",
    pattern=r"msmarco_v2\.1_doc_\d+_\d+#\d+_\d+",
)
_COMMON = AnswerRules(dialect="common", may_lack_citations=True)
_BIOGEN = AnswerRules(
    over="warn",
    missing_topics="error",
    empty_answers="error",
    confidence="none",
    metadata=("team_id", "run_id"),
    most_citations=3,
)

PRESETS: dict[str, AnswerRules] = {
    "rag24": _RAG24,
    "rag25": replace(
        _RAG24,
        dialect="rag",
        most_references=100,
        repeated_references="warn",
        echo="ignore",
        metadata=("team_id", "run_id"),
        run_types=("manual", "automatic"),
        unknown_documents="warn",
    ),
    "rag26": AnswerRules(
        dialect="rag",
        limit=1024,
        over="refuse",
        most_citations=3,
        references="required",
        repeated_references="error",
        echo="exact",
        empty_answers="error",
        confidence="none",
        metadata=("team_id", "run_id", "run_desc", "narrative"),
        may_mix=True,
        unknown_documents="error",
    ),
    "ragtime": AnswerRules(
        dialect="common",
        unit="characters-nfkc",
        references="required",
        references_are_cited=True,
        missing_topics="error",
        weights="0-100",
        confidence="none",
        metadata=("team_id", "run_id"),
    ),
    "ikat25": AnswerRules(
        dialect="ikat25",
        unit="words-nfkc",
        limit=250,
        over="cut",
        most_references=1000,
        references="scored",
        missing_topics="error",
        weights="any",
        confidence="none",
        metadata=("team_id", "run_id", "run_type"),
        run_types=("manual", "automatic", "generation-only"),
        pattern=r"clueweb22-en\d{4}-\d{2}-\d{5}:\d+",
    ),
    "biogen-a": replace(_BIOGEN, dialect="biogen-a"),
    "biogen-b": replace(_BIOGEN, dialect="common", limit=250, may_lack_citations=True),
    "dragun": replace(
        _COMMON,
        limit=250,
        confidence="none",
        metadata=("run_id",),
        run_types=("manual", "automatic"),
    ),
    "r2c2": AnswerRules(dialect="r2c2", confidence="required"),
    "browsecomp": AnswerRules(dialect="browsecomp"),
    "common": _COMMON,
}
