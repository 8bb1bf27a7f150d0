"""Answers of a machine: read for a collection, and what they put into its card."""

from __future__ import annotations

from typing import Any, BinaryIO

from django.conf import settings

from evaluation.reading.containers import Limits, unpacked
from evaluation.reading.judging.machine_grades import HIGHEST_GRADE, MachineAnswers, read_answers
from leaderboard.models import Collection
from leaderboard.models.collections import ImportState

MOST_REPEATS = 32_767


def read_machine_answers(
    collection: Collection, file: BinaryIO, format: str = "", highest: int | None = None
) -> MachineAnswers:
    """Read an uploaded file of answers about topics of a collection; raises `Refused`."""
    limits = Limits(
        upload=settings.COLLECTION_UPLOAD_LIMIT, unpacked=settings.COLLECTION_UNPACKED_LIMIT
    )
    return read_answers(
        unpacked(file, limits),
        format or None,
        topics=set(collection.topics.values_list("number", flat=True)),
        highest=HIGHEST_GRADE if highest is None else highest,
    )


def count_answers(answers: MachineAnswers) -> dict[str, Any]:
    """Return the fields of a machine card that come from the file."""
    return {
        "num_asked": answers.num_asked,
        "num_failed": answers.num_failed,
        "repeats": min(answers.repeats, MOST_REPEATS),
        "num_repeated": answers.num_repeated,
        "self_agreement": answers.self_agreement,
        "self_kappa": answers.self_kappa,
    }


def highest_known_grade(collection: Collection) -> int | None:
    """Return the highest grade of the earlier versions; None without any."""
    ready = collection.judgment_sets.filter(state=ImportState.READY)
    return max((each for each in ready.values_list("top_grade", flat=True) if each), default=None)
