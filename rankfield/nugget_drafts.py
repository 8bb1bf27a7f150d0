"""Nuggets that organisers write from a program: a draft topic by topic, then a version."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from rankfield.answers import WrittenNugget, list_parts, read_answer
from rankfield.connection import API, Connection


class NuggetDraft:
    """The draft of a track's nuggets; see `Site.nugget_draft`.

    Every step returns the nuggets of the topic as they are then. Steps are sent once: where the
    answer is lost, look before you send again.
    """

    def __init__(self, connection: Connection, track: str) -> None:
        self.connection, self.path = connection, f"{API}/tracks/{quote(track)}/nugget-draft"

    def begin(self, based_on: str | None = None) -> None:
        """Begin with the nuggets of a version, or with none."""
        self.connection.post_once(self.path, {"based_on": based_on})

    def count_nuggets(self) -> dict[str, int]:
        """Return how many nuggets each topic of the draft has."""
        found = list_parts(self.connection.get(self.path), "topics")
        return {each["topic"]: each["nuggets"] for each in found}

    def nuggets(self, topic: str) -> list[WrittenNugget]:
        """Return the nuggets of a topic as they are now."""
        return _read(self.connection.get(f"{self.path}/topic", {"topic": topic}))

    def propose(
        self,
        topic: str,
        text: str,
        *,
        importance: str = "vital",
        group: str = "",
        documents: Iterable[str] = (),
    ) -> list[WrittenNugget]:
        """Add a nugget; `documents` are docnos that say it."""
        said = {"text": text, "importance": importance, "group": group}
        return self._step(topic, "propose", **said, documents=list(documents))

    def revise(
        self,
        topic: str,
        nugget: WrittenNugget,
        text: str,
        *,
        importance: str = "",
        group: str | None = None,
    ) -> list[WrittenNugget]:
        """Put a nugget in other words; refused if somebody has changed it since it was read."""
        return self._step(
            topic,
            "revise",
            key=nugget.key,
            seen=nugget.text,
            text=text,
            importance=importance or nugget.importance,
            group=(nugget.group or "") if group is None else group,
        )

    def split(self, topic: str, nugget: WrittenNugget, texts: Iterable[str]) -> list[WrittenNugget]:
        """Make two or more nuggets of one."""
        return self._step(topic, "split", key=nugget.key, texts=list(texts))

    def merge(self, topic: str, nuggets: Iterable[WrittenNugget], text: str) -> list[WrittenNugget]:
        """Make one nugget of several."""
        return self._step(topic, "merge", keys=[nugget.key for nugget in nuggets], text=text)

    def remove(self, topic: str, nugget: WrittenNugget) -> list[WrittenNugget]:
        """Leave a nugget out of the next version."""
        return self._step(topic, "remove", key=nugget.key)

    def undo(self, topic: str) -> list[WrittenNugget]:
        """Undo the last step on a topic."""
        return self._step(topic, "undo")

    def freeze(self, version: str, note: str = "") -> None:
        """Make a version of the draft, which the site then imports."""
        self.connection.post_once(f"{self.path}/freeze", {"version": version, "note": note})

    def discard(self) -> None:
        """Delete the draft with its steps."""
        self.connection.delete(self.path)

    def _step(self, topic: str, act: str, **said: Any) -> list[WrittenNugget]:
        path = f"{self.path}/steps?topic={quote(topic, safe='')}"
        return _read(self.connection.post_once(path, {"act": act, **said}))


def _read(answer: Any) -> list[WrittenNugget]:
    return [read_answer(WrittenNugget, each) for each in list_parts(answer, "nuggets")]
