"""Runs become scores: read and check the file, judge it, measure it, publish.

Each function here is the work of a job.  It reads what cannot change, and returns the function
that writes the result; `jobs` calls that one only while the job is still its own.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from evaluation.problems import Problems
from leaderboard.models import Run
from leaderboard.models.runs import select_problems


def kept_problems(run: Run, problems: Problems) -> dict[str, object]:
    """The first problems for the page, all of them in a file for the download."""
    every = [asdict(problem) for problem in problems]
    name = ""
    if len(every) > settings.PROBLEMS_SHOWN:
        lines = "".join(json.dumps(problem) + "\n" for problem in every)
        name = default_storage.save(
            f"runs/{run.pk}/problems-{secrets.token_hex(4)}", ContentFile(lines.encode())
        )
    return {
        "problems": select_problems(every, settings.PROBLEMS_SHOWN),
        "problem_totals": problems.totals(),
        "problems_file": name,
    }
