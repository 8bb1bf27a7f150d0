"""The rules of a track for runs."""

from __future__ import annotations

from collections.abc import Collection, Container
from dataclasses import dataclass
from typing import Literal

from evaluation.reading.containers import RUN_LIMITS


@dataclass(frozen=True)
class RunRules:
    """The rules of a track for runs. `topics` or `docnos` of None are not checked.

    `formats` are those it accepts, of `recognition.RUN_FORMATS`; `tag` must be that of the file
    if it has one, and is the tag if its format has none, or else `name` is; ties across `cutoff`
    are noted. `line` and `lines` limit the bytes of a line and the lines of the file, blank ones
    included. Missing topics are those of `judged`, or of all `topics` if it is None because it is
    secret.
    `fix` names what to repair, of `repairs.FIXES`; with "tag" the `tag` replaces the file's.
    """

    topics: Container[bytes] | None = None
    docnos: Container[bytes] | None = None
    depth: int = 1000
    tag: str | None = None
    name: str | None = None
    missing_topics: Literal["warn", "refuse"] = "warn"
    unknown_documents: Literal["refuse", "drop"] = "refuse"
    duplicates: Literal["refuse", "keep_best"] = "refuse"
    line: int = RUN_LIMITS.line
    lines: int = RUN_LIMITS.lines
    formats: tuple[str, ...] = ("trec",)
    cutoff: int | None = None
    judged: Collection[bytes] | None = None
    fix: tuple[str, ...] = ()
