"""What became of an upload: its state, its place in the queue, and what is wrong with it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from itertools import groupby
from typing import Any

from django.core.files.storage import default_storage

from evaluation.problems import Problem
from evaluation.reading.recognition import RUN_FORMATS
from leaderboard.disclosure import Sight
from leaderboard.models import Job, Run

TITLES = {
    "E_BOMB": "The file unpacks to more than is taken",
    "E_CHAR": "A character that does not belong there",
    "E_COLUMNS": "A line has not the right columns",
    "E_CONTAINER": "The packed file cannot be opened",
    "E_DEPTH": "Too many documents for a topic",
    "E_DOCID": "A document number is not one",
    "E_DUP_DOC": "A document appears twice for a topic",
    "E_DUP_ID": "A document number occurs twice",
    "E_DUP_QREL": "A document is judged twice for a topic",
    "E_DUP_TOPIC": "A topic number occurs twice",
    "E_EMPTY": "There is nothing in the file",
    "E_ENCODING": "The file is not UTF-8",
    "E_ENCRYPTED": "The zip file wants a password",
    "E_FAILED": "This went wrong here",
    "E_FORMAT": "The format is not one that is read here",
    "E_JSON": "A line is not JSON",
    "E_LINE_LONG": "A line is too long",
    "E_LINK": "The zip file holds a link",
    "E_MEMBERS": "The zip file does not hold one file",
    "E_MISSING_TOPIC": "Topics without an answer",
    "E_PATH": "The zip file points out of its folder",
    "E_RANK": "A rank is not a whole number",
    "E_REL": "A grade is not a small whole number",
    "E_SCORE": "A score is not a number",
    "E_SIZE": "The file is too large",
    "E_TAG": "The tag is not the same everywhere",
    "E_TOO_MANY_ERRORS": "More errors than are read",
    "E_TOPIC": "A topic number is not one",
    "E_UNKNOWN_DOC": "A document is not in the collection",
    "E_UNKNOWN_TOPIC": "A topic is not in the collection",
    "E_XML": "The XML cannot be read",
    "W_BLANK": "Blank lines",
    "W_BOM": "A byte order mark",
    "W_CRLF": "Lines end as on Windows",
    "W_DUP_DOC": "A document appears twice for a topic",
    "W_DUP_TEXT": "The same text twice",
    "W_METADATA": "The facts at the top cannot be used",
    "W_MISSING_TOPIC": "Topics without an answer",
    "W_MOSTLY_UNKNOWN": "Most documents are unknown",
    "W_NO_REL": "Topics without a relevant document",
    "W_RANK": "Score and rank disagree on the order",
    "W_RANK_FROM_0": "Ranks are counted from 0",
    "W_SAME_RUN": "Nearly the same run as an earlier one",
    "W_TAG": "The tag was used before",
    "W_STRAY_GRADE": "A grade that next to no judgment has",
    "W_TIES": "Equal scores",
    "W_TIES_AT_CUTOFF": "Equal scores across the cutoff",
    "W_UNJUDGED": "A judged document is not in the collection",
    "W_UNKNOWN_DOC": "A document is not in the collection",
    "W_UPSIDE_DOWN": "Scores rise with the rank",
}


@dataclass(frozen=True)
class ProblemGroup:
    """The problems of one code, the first of them in full."""

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

    @property
    def name(self) -> str:
        return str(self.run)

    @property
    def format(self) -> str:
        """What the file is, in words, once a worker has read it."""
        return RUN_FORMATS.get(self.run.format, "") if self.run.num_lines else ""

    @property
    def shown_state(self) -> str:
        """The state, or what was done with the run since."""
        return self.run.taken_off or self.state

    @property
    def errors(self) -> list[ProblemGroup]:
        return [group for group in self.groups if group.severity == "error"]

    @property
    def first_error(self) -> str:
        return str(self.errors[0].first[0]) if self.errors else ""

    @property
    def num_errors(self) -> int:
        return sum(group.total for group in self.errors)


def receipt_of(sight: Sight, run: Run) -> Receipt:
    return receipts_of(sight, [run])[0]


def receipts_of(sight: Sight, runs: Sequence[Run]) -> list[Receipt]:
    """What this viewer may know of the way of these runs; problems only for those inside."""
    jobs = Job.objects.filter(kind="check_run", target_id__in=[run.pk for run in runs])
    latest = {job.target_id: job for job in jobs.order_by("pk")}
    return [_receipt(sight, run, latest.get(run.pk)) for run in runs]


def _receipt(sight: Sight, run: Run, job: Job | None) -> Receipt:
    queued = job is not None and job.state == Job.State.QUEUED
    return Receipt(
        run=run,
        state=sight.state_of(run),
        done=sight.done(run),
        attempts=job.attempts if job is not None else 0,
        queue_position=Job.objects.ahead_of(job).count() + 1 if job and queued else None,
        progress=job.progress if job is not None else 0,
        progress_of=job.progress_of if job is not None else 0,
        groups=grouped(run) if sight.inside(run) else [],
    )


def grouped(run: Run) -> list[ProblemGroup]:
    return groups_of(run.problems, run.problem_totals)


def groups_of(problems: list[dict[str, Any]], totals: dict[str, int]) -> list[ProblemGroup]:
    """Problems by code, errors first, in the order of their first line."""
    rows = [Problem(**problem) for problem in problems]
    order = list(dict.fromkeys(problem.code for problem in rows))
    rows.sort(key=lambda each: order.index(each.code))
    return [
        ProblemGroup(code, first[0].severity, totals.get(code, len(first)), first)
        for code, group in groupby(rows, key=lambda each: each.code)
        if (first := list(group))
    ]


def all_problems(run: Run) -> list[Problem]:
    """Every problem that was kept, from the row or from the file where there are many."""
    if not run.problems_file:
        return [Problem(**problem) for problem in run.problems]
    with default_storage.open(run.problems_file.name) as file:
        return [Problem(**json.loads(line)) for line in file]


def problems_as_csv(run: Run) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    names = [each.name for each in fields(Problem)]
    writer.writerow(names)
    for problem in all_problems(run):
        writer.writerow(inert(asdict(problem)[name]) for name in names)
    return out.getvalue()


def inert(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(tuple("=+-@\t\r")) else cell
