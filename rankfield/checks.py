"""A run is checked before it is submitted, by the rules of its track, as the server checks it.

Two rules only the server can check: it knows which docnos exist, and what the team submitted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from evaluation.answers.objects import open_answers
from evaluation.answers.reading import AnswerReader, check_answers
from evaluation.answers.rules import FIXES as ANSWER_FIXES
from evaluation.answers.rules import PRESETS, AnswerRules
from evaluation.answers.topics import AnswerTopic
from evaluation.problems import Refused
from evaluation.reading.containers import unpacked
from evaluation.reading.recognition import RUN_FORMATS
from evaluation.reading.repairs import FIXES
from evaluation.reading.runs.reader import read_run
from evaluation.reading.runs.run_rules import RunRules
from rankfield.answers import AnswerSettings, Track
from rankfield.errors import RejectedError

# For a file whose track is not known: any topics, any depth, every format.
ANY_RUN = RunRules(depth=1_000_000_000, formats=tuple(RUN_FORMATS), duplicates="keep_best")
# What a run of either kind can be repaired by.
EVERY_FIX = ANSWER_FIXES | FIXES


@dataclass(frozen=True)
class Repairs:
    """What the server will repair in the file, and the tag that it expects or gives."""

    fix: tuple[str, ...] = ()
    tag: str = ""
    format: str = ""


@dataclass(frozen=True)
class TrackRules:
    """What a track asks of a file; `answers` is None where it takes ranked runs."""

    ranked: RunRules
    answers: AnswerRules | None = None


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


def answer_rules_of(
    track: Track, settings: AnswerSettings, topics: Mapping[bytes, bytes] | None
) -> AnswerRules | None:
    """Return the rules of a track for answers, by the texts of its topics; None if it takes none.

    Rules that this version does not know are left to the site.
    """
    if settings.run_kind != "answers":
        return None
    rules = PRESETS.get(settings.answer_rules, PRESETS["common"])
    changed: dict[str, Any] = {
        "limit": settings.answer_limit,
        "unit": settings.answer_unit,
        "over": settings.answer_over,
        "topics": None if topics is None else _read_topics(topics),
    }
    rules = replace(rules, **{name: value for name, value in changed.items() if value})
    is_strict = track.missing_topics == "refuse" and topics is not None
    # Only the site knows the documents.
    return replace(rules, missing_topics="error" if is_strict else "warn", pattern="")


def _read_topics(topics: Mapping[bytes, bytes]) -> dict[str, AnswerTopic]:
    texts = {number.decode(): text.decode() for number, text in topics.items()}
    return {number: AnswerTopic(number, text) for number, text in texts.items()}


def check_file(name: str, content: Path | bytes, rules: TrackRules, repairs: Repairs) -> None:
    """Raise RejectedError with every problem for which the server would reject the file."""
    try:
        with open_content(content) as file:
            if rules.answers is not None:
                check_answer_file(file, rules.answers, repairs)
            else:
                check_ranked_file(file, rules.ranked, repairs)
    except Refused as refusal:
        if rules.answers is None and (dialect := recognise_answers(content)):
            message = f"{name} is a run of answers ({dialect}), and the track takes ranked runs."
            raise RejectedError(message) from None
        errors = list(refusal.problems.of("error"))
        raise RejectedError(f"{name} would be rejected.", errors) from None


def check_ranked_file(file: BinaryIO, rules: RunRules, repairs: Repairs) -> None:
    """Raise Refused with every problem of a ranked run."""
    fix = tuple(name for name in repairs.fix if name in FIXES)
    rules = replace(rules, fix=fix, tag=repairs.tag or None)
    if repairs.format:
        rules = replace(rules, formats=(repairs.format,))
    read_run(unpacked(file), rules)


def check_answer_file(file: BinaryIO, rules: AnswerRules, repairs: Repairs) -> None:
    """Raise Refused with every problem of a run of answers."""
    fix = frozenset(repairs.fix) & ANSWER_FIXES.keys()
    rules = replace(rules, fix=fix, name=repairs.tag, dialect=repairs.format or rules.dialect)
    check_answers(open_answers(file), rules)


def recognise_answers(content: Path | bytes) -> str:
    """Return the dialect of a run of answers; empty if the file is none.

    >>> recognise_answers(b'{"request_id": "t1", "sentences": []}'), recognise_answers(b"1 Q0 d1")
    ('argue', '')
    """
    try:
        with open_content(content) as file:
            reader = AnswerReader(open_answers(file))
            next(reader.drafts(), None)
    except Refused:
        return ""
    return reader.dialect


def open_content(content: Path | bytes) -> BinaryIO:
    return BytesIO(content) if isinstance(content, bytes) else content.open("rb")
