"""The problems of a run's file, as the run stores them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from evaluation.answers.findings import Finding
from evaluation.problems import Problem, Problems
from leaderboard.models import Run
from leaderboard.models.runs import select_problems


def load_problem(stored: Mapping[str, Any]) -> Problem:
    """Return a stored problem; raises TypeError if it has no such form."""
    return Finding(**stored) if "topic" in stored else Problem(**stored)


def problem_fields(run: Run, problems: Problems) -> dict[str, object]:
    """Return the fields of a run that store its problems; many problems go into a file."""
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
