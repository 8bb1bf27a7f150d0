"""Import the answers of a machine as a version, and fill what people left unjudged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile, UploadedFile
from django.db import transaction

from evaluation.problems import Problem
from evaluation.reading.judging.machine_grades import MachineAnswers
from leaderboard.actions.refusals import ActionError
from leaderboard.actions.uploads import accept_judgments, refuse_files
from leaderboard.collections.machine_answers import (
    count_answers,
    find_filling,
    read_machine_answers,
)
from leaderboard.collections.machine_replies import keep_replies, read_uploaded_replies
from leaderboard.models import AuditEvent, Collection, JudgmentSet, MachineCard, User
from leaderboard.models.collections import ImportState


@dataclass(frozen=True)
class ImportedAnswers:
    """The version that a machine's answers became, and what is worth knowing of them."""

    judgment_set: JudgmentSet
    card: MachineCard
    notes: list[Problem]


def import_machine_answers(
    collection: Collection,
    user: User,
    file: UploadedFile,
    version: str,
    card: Mapping[str, Any],
    note: str = "",
    format: str = "",
    highest_grade: int | None = None,
    asks_first: bool = True,
) -> ImportedAnswers:
    """Read the answers, store their grades as a new version, and queue its check.

    `card` has the fields of the machine card that organisers state, `highest_grade` is the highest
    of the scale.  Raises ActionError and NotAccepted, and `Refused` with every problem.
    """
    if collection.state != ImportState.READY:
        raise ActionError("The collection is not ready yet.")
    refuse_files([file])
    answers = read_machine_answers(collection, file, format, highest_grade)
    with transaction.atomic():
        made = accept_judgments(
            collection,
            render_file(answers, file.name or "answers"),
            version,
            user,
            note=note,
            format="trec",
            asks_first=asks_first,
        )
        before = collection.judgment_sets.ready().last()
        made.made_by = JudgmentSet.MadeBy.MACHINE
        made.relevant_from = before.relevant_from if before is not None else 1
        made.save(update_fields=["made_by", "relevant_from"])
        stated = MachineCard(judgment_set=made, **card, **count_answers(answers))
        stated.save(force_insert=True)
        keep_replies(made, read_uploaded_replies(file))
    return ImportedAnswers(made, stated, list(answers.problems))


def render_file(answers: MachineAnswers, name: str) -> SimpleUploadedFile:
    """Return the grades as a file of qrels; raises ActionError where there is none."""
    if not answers.grades:
        raise ActionError("No answer has a grade.")
    return SimpleUploadedFile(f"{Path(name).stem}.qrels", b"".join(answers.qrels()))


def reread_answers(judgment_set: JudgmentSet, file: UploadedFile) -> SimpleUploadedFile:
    """Read another file of answers for rejected judgments, and count it in their card."""
    answers = read_machine_answers(judgment_set.collection, file)
    rendered = render_file(answers, file.name or "answers")
    MachineCard.objects.filter(judgment_set=judgment_set).update(**count_answers(answers))
    keep_replies(judgment_set, read_uploaded_replies(file))
    return rendered


def fill_unjudged(
    people: JudgmentSet, machine: JudgmentSet, user: User, version: str, note: str = ""
) -> JudgmentSet:
    """Make a version with the grades of people, and the machine's where people gave none.

    Both versions stay unchanged.  Raises ActionError and NotAccepted.
    """
    refuse_unlike(people, machine)
    filling = find_filling(people, machine)
    if not filling.machine:
        raise ActionError("People judged every document that the machine judged.")
    file = SimpleUploadedFile(f"{version}.qrels", b"".join(filling.qrels()))
    with transaction.atomic():
        made = accept_judgments(
            people.collection, file, version, user, note=note, format="trec", asks_first=False
        )
        made.made_by = JudgmentSet.MadeBy.BOTH
        made.people_version, made.machine_version = people, machine
        made.relevant_from = people.relevant_from
        made.save(update_fields=["made_by", "people_version", "machine_version", "relevant_from"])
        sources = {"people": people.version, "machine": machine.version}
        AuditEvent.objects.record(user, "fill unjudged", made, after=sources)
    return made


def refuse_unlike(people: JudgmentSet, machine: JudgmentSet) -> None:
    """Raise ActionError for versions whose grades cannot be put together."""
    for each in (people, machine):
        if each.state != ImportState.READY:
            raise ActionError(f"Judgments {each.version} are not imported yet.")
        if each.num_strata or each.num_subtopics:
            raise ActionError(f"Judgments {each.version} have strata or subtopics.")
    if people.made_by in (JudgmentSet.MadeBy.MACHINE, JudgmentSet.MadeBy.BOTH):
        raise ActionError(f"Judgments {people.version} are not by people.")
    if machine.made_by != JudgmentSet.MadeBy.MACHINE:
        raise ActionError(f"Judgments {machine.version} are not by a machine.")
    if people.collection_id != machine.collection_id:
        raise ActionError("Both versions must be of one collection.")
