"""Runs of answers: read by the rules of their track, as what they say and as what they cite.

The ranking of a run of answers has the documents that it cites, or its references, and every
measure of rankings scores it. Texts of documents in the file are never used.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from django.core.files.storage import default_storage

from evaluation.answers.lengths import NAMES, UNITS
from evaluation.answers.objects import LONGEST_LINE, open_answers
from evaluation.answers.rankings import rank_cited, rank_references
from evaluation.answers.reading import AnswerReader
from evaluation.answers.rules import FIXES, PRESETS, AnswerRules
from evaluation.answers.runs import Answer
from evaluation.answers.topics import AnswerTopic
from evaluation.problems import Problems
from evaluation.reading.runs import reader
from evaluation.reading.runs.rankings import Ranking
from leaderboard.collections.documents import known_docnos
from leaderboard.infrastructure.packed_files import open_unpacked
from leaderboard.models import Run, Track
from leaderboard.runs.answers import AnswerWriter
from leaderboard.scoring.files import new_ranking_file, run_limits, store_rankings

RANK = {"cited": rank_cited, "references": rank_references}
# The settings of a track for answers with their values; "" is what its rules say.
ANSWER_CHOICES = {
    "answer_rules": tuple(PRESETS),
    "answer_unit": ("", *UNITS),
    "answer_over": ("", "refuse", "cut", "warn"),
    "answer_ranking": tuple(RANK),
}


@dataclass(frozen=True)
class CitingRun(reader.Run):
    """A run of answers as its ranking; its answers are in a file that is not stored yet."""

    answers: AnswerWriter | None = None
    # Means over the answers, see `Run.lengths`.
    lengths: Mapping[str, float] = field(default_factory=dict)

    @property
    def num_answered(self) -> int:
        """Return the number of answers, those without a citation too."""
        return self.lines


def read_answer_run(run: Run) -> CitingRun:
    """Read and check the answers of a run under the rules of its track. Raises Refused."""
    limits = replace(run_limits(), line=LONGEST_LINE)
    with (
        open_unpacked(run.file.name) as packed,
        closing(open_answers(packed, limits)) as file,
    ):
        found = AnswerReader(file, build_answer_rules(run))
        writer, rankings = AnswerWriter(new_ranking_file()), {}
        unit, totals = find_answer_rules(run.track).unit, Counter()
        for draft in found.drafts():
            answer = draft.answer()
            topic = to_bytes(answer.topic)
            if topic not in rankings:
                writer.add(answer)
                totals["length"] += UNITS[unit](answer.texts)
                totals["citations"] += sum(len(each.citations) for each in answer.sentences)
                rankings[topic] = rank(answer, run.track)
    problems = found.finish()
    check_name(run, found.checks.run, problems)
    problems.raise_if_refused()
    note_repairs(found.repaired, problems)
    return CitingRun(
        run.tag or found.checks.run,
        {topic: ranking for topic, ranking in rankings.items() if ranking.docnos},
        len(rankings),
        problems,
        found.dialect,
        answers=writer,
        lengths={name: total / len(rankings) for name, total in totals.items()},
    )


def find_answer_rules(track: Track) -> AnswerRules:
    """Return the rules of a track for answers: a preset, and what differs from it."""
    asked: dict[str, Any] = {
        "limit": track.answer_limit,
        "unit": track.answer_unit,
        "over": track.answer_over,
    }
    preset = PRESETS[track.answer_rules]
    return replace(preset, **{name: value for name, value in asked.items() if value})


def describe_limit(track: Track) -> str:
    """Return how long an answer may be, in words; "" if there is no limit."""
    rules = find_answer_rules(track)
    return f"{rules.limit:,} {NAMES[rules.unit]}" if rules.limit else ""


def build_answer_rules(run: Run) -> AnswerRules:
    """Return the rules of a track for the answers of a run, with its topics and documents."""
    track, collection = run.track, run.track.collection
    rules = find_answer_rules(track)
    strict: dict[str, Any] = {
        "missing_topics": track.missing_topics == Track.Refusal.REFUSE,
        "unknown_documents": track.unknown_documents == Track.UnknownDocuments.REFUSE,
    }
    return replace(
        rules,
        dialect=run.format or rules.dialect,
        **{name: "error" if is_error else "warn" for name, is_error in strict.items()},
        topics={
            number: AnswerTopic(number, title)
            for number, title in collection.topics.values_list("number", "title")
        },
        docnos=known_docnos(collection.documents.name) if collection.documents else None,
        name=run.tag,
        fix=frozenset(run.fixes),
    )


def rank(answer: Answer, track: Track) -> Ranking:
    """Return the ranking of an answer: of k documents the first has the score k, the last 1."""
    docnos = [to_bytes(docno) for docno in RANK[track.answer_ranking](answer)]
    return Ranking(docnos, np.arange(len(docnos), 0, -1.0))


def check_name(run: Run, name: str, problems: Problems) -> None:
    """Add E_TAG if the file has another name than its sender gave, who did not replace it."""
    if run.tag and name not in ("", run.tag) and "tag" not in run.fixes:
        message = f"the run is called {name} in the file, but was submitted as {run.tag}"
        hint = f"Use {run.tag}?"
        problems.error("E_TAG", None, message, name, hint, fix="tag", suggested=run.tag)


def note_repairs(repaired: Counter[str], problems: Problems) -> None:
    """Add W_REPAIRED for each repair that changed something."""
    for name, count in repaired.items():
        problems.warn("W_REPAIRED", None, f"repaired: {FIXES[name]}", count=count)


def to_bytes(name: str) -> bytes:
    """Return a name of a topic or document as rankings have it; one in a file refused is lossy."""
    return name.encode("utf-8", "replace")


def store_answers(run: Run, read: reader.Run) -> None:
    """Store the answers of a run, and its ranking."""
    assert isinstance(read, CitingRun) and read.answers is not None
    store_rankings(run, read)
    run.lengths = {**read.lengths}
    read.answers.finish()
    with read.answers.file as file:
        file.seek(0)
        name = f"runs/{run.pk}/answers-{secrets.token_hex(4)}"
        run.answer_file.name = default_storage.save(name, file)


def answer_check_options(track: Track) -> dict[str, str]:
    """Return the options of the command that checks a run of answers of this track."""
    return {
        "preset": track.answer_rules,
        "topics": "topics.txt",
        "docnos": "docnos.txt" if track.collection.documents else "",
        "limit": str(track.answer_limit or ""),
        "unit": track.answer_unit.replace("characters-nfkc", "characters"),
    }
