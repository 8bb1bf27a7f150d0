"""Pools and the judging of a track, for its organisers: pool, plan, open, close, read the marks."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any, Literal
from urllib.parse import quote

from rankfield.answers import (
    Assessment,
    Disagreement,
    Pool,
    Run,
    ThirdOpinions,
    list_parts,
    read_answer,
)
from rankfield.connection import API, Connection
from rankfield.errors import UnreachableError

# Seconds between two looks at a pool that a worker gathers.
LOOK = 1.0


class Judging:
    """What organisers do with the pools of a track; see `Site.judging`.

    What changes something is sent once: where the answer is lost, look before you send again.
    """

    def __init__(self, connection: Connection, track: str) -> None:
        self.connection, self.path = connection, f"{API}/tracks/{quote(track)}"

    def pools(self) -> list[Pool]:
        """Return the pools of the track, the oldest first; at most those of one page."""
        found = self.connection.get(f"{self.path}/pools", {"limit": "200"})
        return [read_answer(Pool, each) for each in list_parts(found, "items")]

    def pool(self, name: str) -> Pool:
        """Return a pool by its name."""
        return read_answer(Pool, self.connection.get(f"{self.path}/pools/{quote(name)}"))

    def create_pool(
        self,
        method: str,
        size: int = 10,
        *,
        runs: Iterable[Run | str] | None = None,
        runs_per_team: int | None = None,
        drawn: int | None = None,
        timeout: float = 600,
    ) -> Pool:
        """Pool runs and wait until it is gathered: `answers`, `citations`, `depth` and others.

        Of answers, `drawn` pairs are judged, with known probabilities.
        """
        asked: dict[str, Any] = {"method": method, "size": size, "runs_per_team": runs_per_team}
        if drawn is not None:
            asked["drawn"] = drawn
        if runs is not None:
            asked["runs"] = [run.id if isinstance(run, Run) else run for run in runs]
        made = read_answer(Pool, self.connection.post_once(f"{self.path}/pools", asked))
        end = time.monotonic() + timeout
        while not (found := self.pool(made.name)).is_gathered:
            if time.monotonic() > end:
                raise UnreachableError(f"The pool {made.name} is not gathered after {timeout:g} s.")
            time.sleep(LOOK)
        return found

    def approve_pool(self, pool: Pool | str) -> Pool:
        """Approve a pool for judging; it never changes from then on."""
        path = f"{self.path}/pools/{quote(_name_of(pool))}/approve"
        return read_answer(Pool, self.connection.post_once(path))

    def discard_pool(self, pool: Pool | str) -> None:
        """Delete a pool that is not approved."""
        self.connection.delete(f"{self.path}/pools/{quote(_name_of(pool))}")

    def prompts(self, pool: Pool | str) -> bytes:
        """Return an approved pool as JSON Lines for a machine."""
        return self.connection.get_bytes(f"{self.path}/pools/{quote(_name_of(pool))}/prompts")

    def plan(
        self,
        pool: Pool | str,
        *,
        guideline: str = "",
        scale: list[Mapping[str, Any]] | None = None,
        **settings: Any,
    ) -> Assessment:
        """Plan the judging of an approved pool; answers have labels and a guideline of their own.

        `settings` are those of the API, such as `overlap` and `rule`.
        """
        body = {"pool": _name_of(pool), "guideline": guideline, "scale": scale, **settings}
        return read_answer(Assessment, self.connection.post_once(f"{self.path}/assessments", body))

    def assessment(self, name: str) -> Assessment:
        """Return the judging of this name, with how far it is."""
        return read_answer(Assessment, self.connection.get(self._path_of(name)))

    def open(self, judging: Assessment | str) -> Assessment:
        """Share out the topics among the assessors and let them begin."""
        return self._change(judging, "open")

    def pause(self, judging: Assessment | str) -> Assessment:
        """Stop the judging until it is resumed."""
        return self._change(judging, "pause")

    def resume(self, judging: Assessment | str) -> Assessment:
        """Continue after a pause."""
        return self._change(judging, "resume")

    def ask_third(self, judging: Assessment | str) -> ThirdOpinions:
        """Let others judge what two assessors differ on, where the rule is `agreed`."""
        found = self.connection.post_once(f"{self._path_of(judging)}/third-opinions")
        return read_answer(ThirdOpinions, found)

    def close(self, judging: Assessment | str, version: str, *, early: bool = False) -> Assessment:
        """Close the judging; `version` names the judgments, or the layer of marks, that it makes.

        `early` confirms that some have no grade. This cannot be undone.
        """
        path = f"{self._path_of(judging)}/close"
        self.connection.post_once(path, {"version": version, "early": early})
        return self.assessment(_name_of(judging))

    def marks(self, judging: Assessment | str, format: Literal["jsonl", "trec"] = "jsonl") -> bytes:
        """Return the marks of all assessors under pseudonyms."""
        return self.connection.get_bytes(f"{self._path_of(judging)}/marks", {"format": format})

    def disagreements(self, judging: Assessment | str) -> list[Disagreement]:
        """Return the documents on which assessors differ, the widest first; at most 500."""
        found = self.connection.get(f"{self._path_of(judging)}/disagreements")
        return [read_answer(Disagreement, each) for each in found]

    def settle(
        self, judging: Assessment | str, topic: str, docno: str, grade: int, note: str = ""
    ) -> int:
        """Decide the grade of a document on which assessors differ; return how many are left."""
        body = {"topic": topic, "docno": docno, "grade": grade, "note": note}
        path = f"{self._path_of(judging)}/disagreements"
        return int(self.connection.post_once(path, body)["left"])

    def layer(self, name: str, format: Literal["columns", "argue"] = "columns") -> bytes:
        """Return a layer of marks by runs, in columns or as the results of ARGUE's evaluator."""
        path = f"{self.path}/layers/{quote(name)}/file"
        return self.connection.get_bytes(path, {"format": format})

    def _change(self, judging: Assessment | str, verb: str) -> Assessment:
        found = self.connection.post_once(f"{self._path_of(judging)}/{verb}")
        return read_answer(Assessment, found)

    def _path_of(self, judging: Assessment | str) -> str:
        return f"{self.path}/assessments/{quote(_name_of(judging))}"


def _name_of(one: Pool | Assessment | str) -> str:
    return one if isinstance(one, str) else one.name
