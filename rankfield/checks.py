"""A run is checked before it is submitted, by the rules of its track, as the server checks it.

Two rules only the server can check: it knows which docnos exist, and what the team submitted.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from evaluation.problems import Refused
from evaluation.reading.containers import unpacked
from evaluation.reading.recognition import RUN_FORMATS
from evaluation.reading.runs.reader import read_run
from evaluation.reading.runs.run_rules import RunRules
from rankfield.answers import Track
from rankfield.errors import RejectedError

# For a file whose track is not known: any topics, any depth, every format.
ANY_RUN = RunRules(depth=1_000_000_000, formats=tuple(RUN_FORMATS), duplicates="keep_best")


@dataclass(frozen=True)
class Repairs:
    """What the server will repair in the file, and the tag that it expects or gives."""

    fix: tuple[str, ...] = ()
    tag: str = ""
    format: str = ""


def rules_of(
    track: Track, topics: Collection[bytes] | None = None, judged: Collection[bytes] | None = None
) -> RunRules:
    """Return the rules of a track; topics of None are not public and not checked."""
    return RunRules(
        topics=topics,
        depth=track.depth,
        # Whether a topic is missed is known only with the topics that count.
        missing_topics="warn" if judged is None else track.missing_topics,
        duplicates=track.duplicates,
        formats=tuple(track.run_formats),
        judged=judged,
    )


def check_file(name: str, content: Path | bytes, rules: RunRules, repairs: Repairs) -> None:
    """Raise RejectedError with every problem for which the server would reject the file."""
    rules = replace(rules, fix=repairs.fix, tag=repairs.tag or None)
    if repairs.format:
        rules = replace(rules, formats=(repairs.format,))
    try:
        with open_content(content) as file:
            read_run(unpacked(file), rules)
    except Refused as refusal:
        errors = list(refusal.problems.of("error"))
        raise RejectedError(f"{name} would be rejected.", errors) from None


def open_content(content: Path | bytes) -> BinaryIO:
    return BytesIO(content) if isinstance(content, bytes) else content.open("rb")
