"""Receipts of uploads: state, position in the queue and problems."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import groupby
from typing import Any

from django.core.files.storage import default_storage

from evaluation.answers.rules import FIXES as ANSWER_FIXES
from evaluation.problems import Problem
from leaderboard.boards.disclosure import Sight, sights_of
from leaderboard.display.csv_tables import render_table, tabulate
from leaderboard.models import Job, Run
from leaderboard.scoring.kinds import kind_of
from leaderboard.scoring.problems import load_problem
from leaderboard.scoring.scores import load_measure_means
from leaderboard.sight.tracks import Viewer

# The most twins of a run that a receipt lists.
MOST_TWINS = 10

TITLES = {
    "E_AMBIGUOUS_SYSTEM": "A name of several systems",
    "E_BOMB": "The unpacked file is too large",
    "E_CHAR": "Invalid character",
    "E_CITATION": "A citation of no reference",
    "E_CITATION_TYPE": "A citation is neither a number nor a text",
    "E_COLUMNS": "Wrong columns in a line",
    "E_CONFIDENCE": "A confidence is not a number",
    "E_CONTAINER": "Cannot open the compressed file",
    "E_DEPTH": "Too many documents in a topic",
    "E_DOCID": "Invalid or missing docno",
    "E_DUP_DOC": "Duplicate document in a topic",
    "E_DUP_ID": "Duplicate docno",
    "E_DUP_INTENT": "Repeated probability of a subtopic",
    "E_DUP_MARK": "Repeated mark",
    "E_DUP_QREL": "Duplicate judgment",
    "E_DUP_REFERENCE": "Repeated reference",
    "E_DUP_SYSTEM": "A system is named twice",
    "E_DUP_TOPIC": "Duplicate topic",
    "E_EMPTY": "The file is empty",
    "E_EMPTY_SENTENCE": "A sentence without text",
    "E_ENCODING": "The file is not UTF-8",
    "E_ENCRYPTED": "The zip file is encrypted",
    "E_EXISTING": "A document that was given with the sentence",
    "E_FAILED": "Error on our side",
    "E_FEW_SYSTEMS": "Too few systems for an order",
    "E_FIELD": "A missing or contradictory field",
    "E_FORMAT": "Unsupported format",
    "E_GROUP": "Topics without a group",
    "E_GROUPS": "Unusable groups of collections",
    "E_INTENT": "A subtopic has no probability",
    "E_JSON": "Invalid JSON",
    "E_LABEL": "Unknown label",
    "E_LAYER": "Marks of another origin",
    "E_LINE_LONG": "A line is too long",
    "E_LINK": "The zip file has a link",
    "E_MANY_CITATIONS": "Too many citations",
    "E_MANY_REFERENCES": "Too many references",
    "E_MARKS": "No marks of people to compare with",
    "E_MEMBERS": "Not exactly one file in the zip",
    "E_MISSING_TOPIC": "Topics without results",
    "E_NO_ANSWER": "An answer without a sentence",
    "E_NO_ORDER": "All systems have the same score",
    "E_PATH": "Unsafe path in the zip file",
    "E_PROBABILITY": "A probability is not between 0 and 1",
    "E_RANK": "A rank is not an integer",
    "E_REFERENCES_DIFFER": "References that are not cited",
    "E_REL": "A grade is not a small integer",
    "E_RUN": "A run that is not known or not clear",
    "E_RUN_TYPE": "Unknown type of run",
    "E_SCORE": "A score is not a number",
    "E_SENTENCE_CHANGED": "Another sentence than was given",
    "E_SIZE": "The file is too large",
    "E_STRATUM": "Invalid stratum",
    "E_SUBTOPIC": "Invalid subtopic",
    "E_SYSTEM": "Invalid name of a system",
    "E_SYSTEMS": "No systems to rank yet",
    "E_TAG": "Invalid run tag",
    "E_TOO_LONG": "An answer is too long",
    "E_TOO_MANY_ERRORS": "Too many errors",
    "E_TOPIC": "Invalid topic",
    "E_TOPIC_TEXT": "Another text of a topic",
    "E_TYPE": "A field of another type",
    "E_UNKNOWN_DOC": "Document not in the collection",
    "E_UNKNOWN_SYSTEM": "A system that is not known",
    "E_UNKNOWN_TOPIC": "Topic not in the collection",
    "E_UNRESOLVED": "A cited document that is no reference",
    "E_WEIGHT": "A weight is not a number",
    "E_XML": "Invalid XML",
    "W_BLANK": "Blank lines",
    "W_BOM": "Byte order mark",
    "W_CRLF": "Windows line endings",
    "W_DOCUMENTS": "Texts of documents are ignored",
    "W_DUP_CITATION": "Repeated citation",
    "W_DUP_DOC": "Duplicate document in a topic",
    "W_DUP_ID": "Repeated docno",
    "W_DUP_NUGGET": "Repeated key of a nugget",
    "W_DUP_REFERENCE": "Repeated reference",
    "W_DUP_TEXT": "Duplicate text",
    "W_DUP_TOPIC": "Repeated topic",
    "W_EXTRA": "Fields that are not kept",
    "W_CONFIDENCE": "A confidence that was not read",
    "W_FAILED": "A question that failed",
    "W_GROUP": "Topics without a group",
    "W_INTENT": "Probabilities that are not used",
    "W_LENGTH_FIELD": "Another length than the text has",
    "W_MAYBE_RANKS": "Scores may be ranks",
    "W_METADATA": "Unusable metadata in the file",
    "W_MISSING_SYSTEM": "Systems that are not ranked",
    "W_MISSING_TOPIC": "Topics without results",
    "W_MIXED": "Positions and docnos are mixed",
    "W_MOSTLY_UNKNOWN": "Most documents are unknown",
    "W_NFC": "Another Unicode form",
    "W_NO_ANSWER": "An answer without a sentence",
    "W_NO_CITATION": "Answers without citations",
    "W_NO_REL": "Topics with no relevant document",
    "W_NUGGET": "Marks of unknown nuggets",
    "W_ONE_BASED": "Positions may be counted from 1",
    "W_OPERATOR": "An operator that is not counted",
    "W_PAIR": "Marks of what is in no answer",
    "W_RANK": "Scores and ranks disagree",
    "W_RANK_FROM_0": "Ranks start at 0",
    "W_REPAIRED": "Repaired as asked",
    "W_RESULT": "No result of MTEB",
    "W_RESULT_PATH": "Not SYSTEM/REVISION/COLLECTION.json",
    "W_RESULT_TWICE": "A second result of one cell",
    "W_RUN": "Marks of unknown runs",
    "W_SAME_RUN": "Almost identical to an earlier run",
    "W_STRAY_GRADE": "A very rare grade",
    "W_TAG": "Tag already used",
    "W_TIES": "Tied scores",
    "W_TIES_AT_CUTOFF": "Tied scores at the cutoff",
    "W_TOO_LONG": "An answer is too long",
    "W_TOPIC_TEXT": "Another text of a topic",
    "W_UNJUDGED": "Judged document not in the collection",
    "W_UNRESOLVED": "A cited document that is no reference",
    "W_UNKNOWN_DOC": "Document not in the collection",
    "W_UNKNOWN_TOPIC": "Topic not in the collection",
    "W_UPSIDE_DOWN": "Scores increase with rank",
    "W_WEIGHT_RANGE": "A weight is out of range",
    "W_XML": "Invalid XML read as TREC topics",
}

REPAIRED = {
    **ANSWER_FIXES,
    "tag": "run tag replaced",
    "q0": "Q0 column added",
    "topics": "topics written as in the track",
    "comma": "decimal commas read as points",
}


@dataclass(frozen=True)
class Repair:
    """A repair that is offered: its name, the tag it would use, and the label of its button."""

    fix: str
    tag: str
    label: str

    @property
    def asks_for_tag(self) -> bool:
        return self.fix == "tag" and not self.tag


def _last_sentence(hint: str) -> str:
    return hint.removesuffix("?").rpartition(". ")[2].rpartition("? ")[2]


@dataclass(frozen=True)
class ProblemGroup:
    """The problems with one code: how many there are, and the first ones in full."""

    code: str
    severity: str
    total: int
    first: list[Problem]

    @property
    def title(self) -> str:
        return TITLES.get(self.code, self.code)

    @property
    def more(self) -> int:
        return self.total - len(self.first)

    @property
    def repairs(self) -> list[Repair]:
        """The repairs that these problems offer, each once."""
        offered = {(p.fix, p.suggested): p for p in self.first if p.fix}
        return [Repair(p.fix, p.suggested, _last_sentence(p.hint)) for p in offered.values()]


@dataclass(frozen=True)
class Receipt:
    run: Run
    state: str
    done: bool
    attempts: int
    queue_position: int | None
    progress: int
    progress_of: int
    groups: list[ProblemGroup]
    # On the track's main measure; None if the viewer may not see it.
    mean: float | None = None

    @property
    def name(self) -> str:
        return str(self.run)

    @property
    def format(self) -> str:
        """The format of the file in words, once a worker has read it."""
        formats = kind_of(self.run.track).formats
        return formats.get(self.run.format, "") if self.run.num_lines else ""

    @property
    def repaired(self) -> str:
        """What was repaired while the file was read, in words; empty if nothing was."""
        if "W_REPAIRED" not in self.run.problem_totals:
            return ""
        return ", ".join(REPAIRED.get(fix, fix) for fix in self.run.fixes)

    @property
    def shown_state(self) -> str:
        """The state, or how the run was removed since."""
        return self.run.removal or self.state

    @property
    def errors(self) -> list[ProblemGroup]:
        return [group for group in self.groups if group.severity == "error"]

    @property
    def first_error(self) -> str:
        return str(self.errors[0].first[0]) if self.errors else ""

    @property
    def num_errors(self) -> int:
        return sum(group.total for group in self.errors)


def build_receipt(sight: Sight, run: Run) -> Receipt:
    return build_receipts(sight, [run])[0]


def build_receipts(sight: Sight, runs: Sequence[Run]) -> list[Receipt]:
    """Build the receipts of these runs; only their teams and organisers get the problems."""
    latest, means = _find_latest_jobs(runs), _find_means(sight, runs)
    receipts = [_build_receipt(sight, run, latest.get(run.pk)) for run in runs]
    return [replace(receipt, mean=means.get(receipt.run.pk)) for receipt in receipts]


def build_receipts_of_tracks(viewer: Viewer, runs: Sequence[Run]) -> list[Receipt]:
    """Build the receipts of runs of several tracks, as the viewer sees each track."""
    latest = _find_latest_jobs(runs)
    tracks = list({run.track_id: run.track for run in runs}.values())
    sights = {sight.track.pk: sight for sight in sights_of(tracks, viewer)}
    return [
        _build_receipt(
            sights[run.track_id],
            sights[run.track_id].with_shown_name(run),
            latest.get(run.pk),
        )
        for run in runs
    ]


def _find_means(sight: Sight, runs: Sequence[Run]) -> dict[str, float | None]:
    """Return the means on the track's main measure that the viewer may see, by run id."""
    shown = {run.pk for run in runs if sight.can_see_means_of(run)}
    if not shown or sight.shown_edition is None:
        return {}
    measure = sight.track.primary_measure
    means = load_measure_means(sight.shown_edition, measure)
    return {run_id: sight.round_mean(measure, means.get(run_id)) for run_id in shown}


def _find_latest_jobs(runs: Sequence[Run]) -> dict[str, Job]:
    jobs = Job.objects.filter(kind="check_run", target_id__in=[run.pk for run in runs])
    return {job.target_id: job for job in jobs.order_by("pk")}


def _build_receipt(sight: Sight, run: Run, job: Job | None) -> Receipt:
    queued = job is not None and job.state == Job.State.QUEUED
    return Receipt(
        run=run,
        state=sight.state_of(run),
        done=sight.is_finished(run),
        attempts=job.attempts if job is not None else 0,
        queue_position=Job.objects.ahead_of(job).count() + 1 if job and queued else None,
        progress=job.progress if job is not None else 0,
        progress_of=job.progress_of if job is not None else 0,
        groups=problem_groups(run) if sight.can_see_file(run) else [],
    )


def find_twins_of_other_teams(sight: Sight, run: Run) -> list[Run]:
    """Find runs of other teams with the same top documents on every topic, for organisers only."""
    if not sight.is_organiser:
        return []
    twins = Run.objects.duplicates_of(run).exclude(team=run.team_id)
    return list(twins.select_related("team")[:MOST_TWINS])


def problem_groups(run: Run) -> list[ProblemGroup]:
    return group_problems(run.problems, run.problem_totals)


def group_problems(problems: list[dict[str, Any]], totals: dict[str, int]) -> list[ProblemGroup]:
    """Group problems by code, in the order in which the codes first appear."""
    rows = [load_problem(problem) for problem in problems]
    order = list(dict.fromkeys(problem.code for problem in rows))
    rows.sort(key=lambda problem: order.index(problem.code))
    return [
        ProblemGroup(code, first[0].severity, totals.get(code, len(first)), first)
        for code, group in groupby(rows, key=lambda problem: problem.code)
        if (first := list(group))
    ]


def load_problems(run: Run) -> list[Problem]:
    """Load every stored problem of a run, from its row or from the file of many problems."""
    if not run.problems_file:
        return [load_problem(problem) for problem in run.problems]
    with default_storage.open(run.problems_file.name) as file:
        return [load_problem(json.loads(line)) for line in file]


def problems_as_csv(run: Run) -> str:
    problems = load_problems(run)
    columns = fields(problems[0] if problems else Problem)
    return render_table(tabulate(problems, [(each.name,) * 2 for each in columns]))
