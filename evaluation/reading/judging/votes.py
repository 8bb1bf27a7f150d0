"""Files of votes on battles: `votes.jsonl`, an object per line with all that is known of a vote."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, cast

from evaluation.battles.votes import CHOICES, KINDS, Choice, Kind, Vote
from evaluation.problems import Problems
from evaluation.reading.columns import check_identifier
from evaluation.reading.containers import KIB, RUN_LIMITS
from evaluation.reading.judging.mark_fields import Fields
from evaluation.reading.lines import in_line_order, numbered_lines
from evaluation.reading.texts.records import json_objects

LONGEST_LINE = 64 * KIB


@dataclass(frozen=True)
class VoteFile:
    """The votes of a file in the order of arrival, each with its line."""

    votes: list[Vote]
    lines: list[int]
    problems: Problems


def read_votes(file: BinaryIO) -> VoteFile:
    """Read `votes.jsonl`: topic, left, right and vote, and what else is known.

    The whole file is read; raises `Refused` with every problem at its line: E_EMPTY, E_LINE_LONG,
    E_ENCODING, E_JSON, E_FIELD (missing, or of a wrong kind), E_CHAR, E_TOPIC, E_TAG, E_SAME_RUN (a
    run against itself) and E_DUP_VOTE (a second vote of one voter on a pair).

    >>> from io import BytesIO
    >>> line = b'{"topic": "7", "left": "oak", "right": "elm", "vote": "left", "voter": "ada"}'
    >>> read_votes(BytesIO(line)).votes[0].choice
    'left'
    """
    problems, votes, numbers, last = Problems(), list[Vote](), list[int](), 0
    lines_of: dict[tuple[str, str, tuple[str, str, str]], int] = {}
    lines = numbered_lines(file, problems, LONGEST_LINE, RUN_LIMITS.lines)
    for last, values in json_objects(lines, problems):
        before = problems.errors
        vote = _vote_of(Fields(last, values, problems))
        _check_runs(last, vote, problems)
        if problems.errors > before:
            continue
        first = lines_of.setdefault((vote.voter, vote.kind, vote.pair), last)
        if vote.voter and first != last:
            message = f"line {first:,} has a vote of {vote.voter} on this pair already"
            problems.error("E_DUP_VOTE", last, message, vote.topic, "Keep one of them.")
        votes.append(vote)
        numbers.append(last)
    if not votes and not problems.errors:
        problems.error("E_EMPTY", None, "the file has no votes")
    problems.fold(last)
    in_line_order(problems).raise_if_refused()
    return VoteFile(votes, numbers, problems)


def write_votes(votes: Iterable[Vote]) -> Iterator[bytes]:
    """Yield the lines of `votes.jsonl`, without fields that have no value.

    >>> list(write_votes([Vote("7", "oak", "elm", "tie", "ada")]))
    [b'{"topic": "7", "left": "oak", "right": "elm", "vote": "tie", "voter": "ada"}\\n']
    """
    for vote in votes:
        values = {name: getattr(vote, of) for name, of in WRITTEN.items()}
        given = {name: value for name, value in values.items() if value not in ("", None)}
        if vote.kind == "person":
            del given["kind"]
        if vote.at is not None:
            given["at"] = vote.at.isoformat()
        yield json.dumps(given, ensure_ascii=False).encode() + b"\n"


# The names of the fields in a file, in their order.
WRITTEN = {
    name: {"vote": "choice"}.get(name, name)
    for name in (
        *("topic", "left", "right", "vote", "voter", "kind", "reason", "left_words"),
        *("right_words", "left_citations", "right_citations", "probability", "at"),
    )
}


def _vote_of(fields: Fields) -> Vote:
    fields.require("topic", "left", "right", "vote")
    return Vote(
        fields.text("topic"),
        fields.text("left"),
        fields.text("right"),
        cast(Choice, fields.word("vote", CHOICES) or "tie"),
        fields.prose("voter"),
        cast(Kind, fields.word("kind", KINDS) or "person"),
        fields.prose("reason"),
        left_words=fields.whole_number("left_words", 0),
        right_words=fields.whole_number("right_words", 0),
        left_citations=fields.whole_number("left_citations", 0),
        right_citations=fields.whole_number("right_citations", 0),
        probability=fields.probability("probability"),
        at=fields.instant("at"),
    )


def _check_runs(number: int, vote: Vote, problems: Problems) -> None:
    named = (
        ("topic number", "E_TOPIC", vote.topic),
        ("tag", "E_TAG", vote.left),
        ("tag", "E_TAG", vote.right),
    )
    for what, code, name in named:
        if name:
            check_identifier(what, code, number, name.encode("utf-8", "surrogatepass"), problems)
    if vote.left and vote.left == vote.right:
        message = "the two sides are the same run"
        problems.error("E_SAME_RUN", number, message, vote.left)
