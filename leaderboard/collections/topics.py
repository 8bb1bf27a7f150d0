"""The topics of a collection as files: in TREC's form and as JSON lines."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic_core import to_json

from leaderboard.infrastructure.batches import iterate_batches
from leaderboard.models import Collection, Topic


def render_trec_topics(collection: Collection) -> Iterator[bytes]:
    """Yield each topic as TREC prints it; the site reads the file back."""
    for topic in _topics(collection):
        parts = [f"<num> Number: {topic.number}", f"<title> {_line(topic.title)}"]
        if topic.group:
            parts.append(f"<group> {topic.group}")
        if topic.description:
            parts.append(f"<desc> Description:\n{topic.description.strip()}")
        if topic.narrative:
            parts.append(f"<narr> Narrative:\n{topic.narrative.strip()}")
        yield ("<top>\n" + "\n".join(parts) + "\n</top>\n").encode()


def render_json_topics(collection: Collection) -> Iterator[bytes]:
    """Yield each topic as a line of JSON."""
    for topic in _topics(collection):
        fields = {
            "number": topic.number,
            "title": topic.title,
            "description": topic.description,
            "narrative": topic.narrative,
        }
        if topic.group:
            fields["group"] = topic.group
        yield to_json(fields) + b"\n"


def render_groups(collection: Collection) -> Iterator[bytes]:
    """Yield a line `topic group` for each topic, as `--groups` reads them."""
    for topic in _topics(collection):
        yield f"{topic.number} {topic.group}\n".encode()


def _topics(collection: Collection) -> Iterator[Topic]:
    for portion in iterate_batches(collection.topics.all(), "position"):
        yield from portion


def _line(text: str) -> str:
    return " ".join(text.split())
