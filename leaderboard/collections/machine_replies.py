"""How the replies of machines are stored: those of a topic together, compressed."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, BinaryIO

from django.conf import settings
from django.db.models import QuerySet
from pydantic_core import to_json

from evaluation.reading.containers import Limits, unpacked
from evaluation.reading.judging.machine_replies import MachineReply, read_replies
from leaderboard.models import JudgmentSet, MachineReplies, MarkLayer, Topic

# How much of a topic is compressed at a time; the parts follow each other.
PART = 256 * 1024
LEVEL = 6
FIELDS = tuple(MachineReply.__dataclass_fields__)

# What has replies: a version of the judgments, or a layer of marks.
Judged = JudgmentSet | MarkLayer


@dataclass
class _Packing:
    """The replies of a topic so far, of which the latest are not compressed yet."""

    count: int = 0
    lines: list[bytes] = field(default_factory=list)
    size: int = 0
    parts: list[bytes] = field(default_factory=list)

    def add(self, reply: MachineReply) -> None:
        line = to_json({name: value for name, value in asdict(reply).items() if name != "topic"})
        self.lines.append(line)
        self.count += 1
        self.size += len(line)
        if self.size >= PART:
            self.compress()

    def compress(self) -> bytes:
        """Compress what is left, and return all parts."""
        if self.lines:
            text = b"".join(line + b"\n" for line in self.lines)
            self.parts.append(gzip.compress(text, LEVEL, mtime=0))
        self.lines, self.size = [], 0
        return b"".join(self.parts)


def read_uploaded_replies(file: BinaryIO) -> Iterator[MachineReply]:
    """Yield the replies in an uploaded file of answers about documents."""
    limits = Limits(
        upload=settings.COLLECTION_UPLOAD_LIMIT, unpacked=settings.COLLECTION_UNPACKED_LIMIT
    )
    file.seek(0)
    return read_replies(unpacked(file, limits))


def keep_replies(judged: Judged, replies: Iterable[MachineReply]) -> None:
    """Store the replies of a machine in place of earlier ones; those of unknown topics are not."""
    rows = find_replies(judged)
    rows.delete()
    collection = judged.track.collection if isinstance(judged, MarkLayer) else judged.collection
    topics = dict(collection.topics.values_list("number", "pk"))
    packing: dict[int, _Packing] = {}
    for reply in replies:
        if reply.topic in topics:
            packing.setdefault(topics[reply.topic], _Packing()).add(reply)
    owner = {"layer": judged} if isinstance(judged, MarkLayer) else {"judgment_set": judged}
    for topic, packed in packing.items():
        MachineReplies.objects.create(
            topic_id=topic, num_replies=packed.count, packed=packed.compress(), **owner
        )


def find_replies(judged: Judged) -> QuerySet[MachineReplies]:
    """Find what is kept of a machine, by topic."""
    return judged.machine_replies.select_related("topic").order_by("topic__position")


def load_replies(judged: Judged, topic: Topic) -> list[MachineReply]:
    """Return what a machine said on a topic, in the order of its file."""
    row = find_replies(judged).filter(topic=topic).first()
    return [] if row is None else list(unpack_replies(row))


def unpack_replies(row: MachineReplies) -> Iterator[MachineReply]:
    for line in gzip.decompress(bytes(row.packed)).splitlines():
        yield MachineReply(row.topic.number, **json.loads(line))


def render_replies(judged: Judged, shows_prompts: bool = True) -> Iterator[bytes]:
    """Yield the replies as JSON Lines, which are read back as they are."""
    for row in find_replies(judged).iterator(chunk_size=10):
        for reply in unpack_replies(row):
            yield to_json(asdict(reply if shows_prompts else without_prompt(reply))) + b"\n"


def without_prompt(reply: MachineReply) -> MachineReply:
    """Return the reply without the prompt, which may hold texts of documents and of answers."""
    return replace(reply, prompt="")


def restore_reply(values: Mapping[str, Any]) -> MachineReply:
    """Return a reply of `render_replies`; raises TypeError for another form."""
    texts = [name for name in FIELDS if name not in ("temperature", "cost")]
    numbers = [values.get(name) for name in ("temperature", "cost")]
    if values.keys() - set(FIELDS) or not all(isinstance(values[name], str) for name in texts):
        raise TypeError("this is no reply of a machine")
    if not all(number is None or type(number) in (int, float) for number in numbers):
        raise TypeError("this is no reply of a machine")
    return MachineReply(**values)
