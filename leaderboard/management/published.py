"""Collections of the library `ir_datasets`, written as files that an import reads.

The library is optional and not among the requirements.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

# The names under which its collections hold what we call title and text.
TITLES = ("title", "headline")
TEXTS = ("text", "body", "contents", "abstract")
TOPIC_TITLES = ("title", "query", "text")


class UnavailableCollectionError(Exception):
    """The collection is not available; the message says why."""


def write_files(name: str, folder: Path) -> dict[str, Path]:
    """Write topics, documents and judgments of a collection, and return the paths by part."""
    dataset = load_dataset(name)
    if not dataset.has_queries():
        raise UnavailableCollectionError(f"{name} has no topics; choose one of its parts that has")
    lines = {"topics": ("topics.jsonl", map(topic_line, dataset.queries_iter()))}
    if dataset.has_docs():
        lines["documents"] = ("documents.jsonl", map(document_line, dataset.docs_iter()))
    if dataset.has_qrels():
        lines["judgments"] = ("qrels.txt", map(qrels_line, dataset.qrels_iter()))
    return {part: write_lines(folder / file, rows) for part, (file, rows) in lines.items()}


def load_dataset(name: str) -> Any:
    try:
        library = importlib.import_module("ir_datasets")
    except ModuleNotFoundError:
        raise UnavailableCollectionError(
            "ir_datasets is not installed here; `pip install ir_datasets` installs it"
        ) from None
    try:
        return library.load(name)
    except KeyError:
        raise UnavailableCollectionError(f"ir_datasets does not have {name}") from None


def write_lines(path: Path, lines: Iterable[str]) -> Path:
    with path.open("w") as file:
        file.writelines(lines)
    return path


def document_line(document: Any) -> str:
    text = first_text(document, TEXTS) or document.default_text()
    return json_line(docno=document.doc_id, title=first_text(document, TITLES), text=text)


def topic_line(topic: Any) -> str:
    return json_line(
        number=topic.query_id,
        title=first_text(topic, TOPIC_TITLES) or topic.default_text(),
        description=first_text(topic, ("description",)),
        narrative=first_text(topic, ("narrative",)),
    )


def qrels_line(judgment: Any) -> str:
    return f"{judgment.query_id} 0 {judgment.doc_id} {judgment.relevance}\n"


def first_text(row: Any, names: Iterable[str]) -> str:
    """Return the first of these fields that contains text; bytes are ignored."""
    texts = (getattr(row, name, "") for name in names)
    return next((text for text in texts if text and isinstance(text, str)), "")


def json_line(**fields: str) -> str:
    return json.dumps(fields) + "\n"
