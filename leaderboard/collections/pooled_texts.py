"""The texts of a pool of answers, as they were when it was made.

The file has a block for each topic: by key of an answer its sentences, or by key of a sentence
some sentences of an answer around it. So what assessors read stays, even if a run is removed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO

import zstandard
from django.core.files.storage import default_storage

from leaderboard.models import Pool
from leaderboard.runs.topic_files import LEVEL, TopicFile, TopicFileWriter, decompressed

MAGIC = b"RFP1"


@dataclass(frozen=True)
class PooledText:
    """Sentences of an answer in order; `place` is that of the pooled one, None of an answer."""

    sentences: tuple[str, ...]
    place: int | None = None

    @property
    def sentence(self) -> str:
        return "" if self.place is None else self.sentences[self.place]

    @property
    def before(self) -> str:
        return " ".join(self.sentences[: self.place or 0])

    @property
    def after(self) -> str:
        return "" if self.place is None else " ".join(self.sentences[self.place + 1 :])


TextsByTopic = Mapping[str, Mapping[str, PooledText]]


def pack_texts(texts: TextsByTopic) -> bytes:
    """Return the file of these texts, by topic and key."""
    file = BytesIO()
    writer = TopicFileWriter(file, MAGIC)
    for number, found in texts.items():
        packed = json.dumps({key: [text.sentences, text.place] for key, text in found.items()})
        writer.write_block(zstandard.compress(packed.encode(), LEVEL), len(found))
        writer.numbers.append(number.encode("utf-8", "replace"))
        writer.tops.append(b"")
    writer.finish()
    return file.getvalue()


def load_texts(pool: Pool, number: str) -> Mapping[str, PooledText]:
    """Return the texts of a topic of a pool by key."""
    return _load_texts(pool.texts_file.name, number)


@lru_cache(maxsize=16)
def _load_texts(name: str, number: str) -> Mapping[str, PooledText]:
    """A name is used once, and its file never changes."""
    with default_storage.open(name) as file:
        stored = TopicFile(file)
        place = stored.place(number)
        if place is None:
            return {}
        packed = json.loads(decompressed(stored.packed(place)))
    return {key: PooledText(tuple(sentences), at) for key, (sentences, at) in packed.items()}
