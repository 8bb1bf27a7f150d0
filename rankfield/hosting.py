"""What organisers do with a benchmark: registration, people, messages, tracks, archive, copy."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from rankfield.answers import Benchmark, Registration, Track, read_answer
from rankfield.connection import API, Connection


class Hosting:
    """What organisers do with a benchmark; see `Site.hosting`.

    What changes something is sent once: where the answer is lost, look before you send again.
    """

    def __init__(self, connection: Connection, benchmark: str) -> None:
        self.connection, self.path = connection, f"{API}/benchmarks/{quote(benchmark)}"

    def registration(self) -> Registration:
        """Return what teams are asked, and the agreement that they sign."""
        return read_answer(Registration, self.connection.get(f"{self.path}/registration"))

    def ask_teams(self, asked: Iterable[str], question: str = "") -> Registration:
        """Choose what teams say when they register, such as `affiliation` and `country`."""
        return self._register({"asked": list(asked), "question": question})

    def write_agreement(self, text: str) -> Registration:
        """Write the next version of the agreement in Markdown, which every team signs."""
        return self._register({"agreement": text})

    def requests(self) -> list[str]:
        """Return the names of the teams that wait to be approved, the oldest first."""
        return [each["team"] for each in self.connection.get(f"{self.path}/requests")]

    def approve(self, *teams: str) -> list[str]:
        """Approve teams that wait; all of them, or none if there is an error."""
        answer = self.connection.post_once(f"{self.path}/requests/approve", {"teams": list(teams)})
        return [str(name) for name in answer["teams"]]

    def write(
        self, groups: Iterable[str], subject: str, text: str, *, preview: bool = False
    ) -> int:
        """Write to groups of people, such as `teams`; return how many people get the message."""
        message = {"groups": list(groups), "subject": subject, "text": text, "preview": preview}
        return int(self.connection.post_once(f"{self.path}/messages", message)["people"])

    def set_terms(self, collection: str, **terms: Any) -> None:
        """Change who may download the files of a collection, such as `documents_readers`."""
        self._patch(f"{API}/collections/{quote(collection)}", terms)

    def change_track(self, track: str, **settings: Any) -> Track:
        """Change settings of a track by their names in the API, such as `closes_at`."""
        return read_answer(Track, self._patch(f"{API}/tracks/{quote(track)}", settings))

    def add_track(self, copied: str, slug: str, name: str, collection: str = "") -> Track:
        """Create a draft with the settings of a track, on its collection or another one."""
        body = {"slug": slug, "name": name} | ({"collection": collection} if collection else {})
        return read_answer(Track, self._change(copied, "copy", body))

    def open_track(self, track: str) -> Track:
        """Open a draft."""
        return read_answer(Track, self._change(track, "open"))

    def extend_deadline(
        self, track: str, team: str, closes_at: str | None, reason: str = ""
    ) -> None:
        """Give one team a later deadline, with the zone of the time; None ends it."""
        body = {"team": team, "closes_at": closes_at, "reason": reason}
        self._change(track, "deadlines", body)

    def release(self, track: str) -> Track:
        """Release the scores of a track to everyone who sees it; this cannot be undone."""
        return read_answer(Track, self._change(track, "release"))

    def archive(self, *, documents: bool = False) -> bytes:
        """Return the benchmark as a zip file, which `import_benchmark` reads."""
        return self.connection.get_bytes(
            f"{self.path}/archive", {"documents": "true" if documents else ""}
        )

    def copy(self, slug: str, name: str, collections: Mapping[str, str] | None = None) -> Benchmark:
        """Make next year's benchmark, with a draft for each track; people and runs stay behind."""
        body = {"slug": slug, "name": name, "collections": dict(collections or {})}
        return read_answer(Benchmark, self.connection.post_once(f"{self.path}/copy", body))

    def _register(self, rules: Mapping[str, Any]) -> Registration:
        return read_answer(Registration, self._patch(f"{self.path}/registration", rules))

    def _change(self, track: str, verb: str, body: Mapping[str, Any] | None = None) -> Any:
        return self.connection.post_once(f"{API}/tracks/{quote(track)}/{verb}", body)

    def _patch(self, path: str, values: Mapping[str, Any]) -> Any:
        headers = {"Content-Type": "application/json"}
        return self.connection.patch(path, json.dumps(values).encode(), headers)
