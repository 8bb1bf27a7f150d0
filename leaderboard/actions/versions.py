"""Versions that are read from a file: store one, check it again, confirm or discard it.

Judgments, nuggets, layers of marks and results that others report take this one road.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from leaderboard.actions.refusals import ActionError
from leaderboard.actions.submission_rules import refuse_full_benchmark
from leaderboard.actions.uploads import refuse_files, store_version, store_version_file
from leaderboard.collections.mark_layers import render_carried
from leaderboard.collections.nuggets import compare_versions
from leaderboard.jobs import queue
from leaderboard.models import AuditEvent, MarkLayer, NuggetVersion, ResultsFile, User
from leaderboard.models.collections import ImportedVersion, ImportState

CONFIRMABLE = (ImportState.PREVIEW,)
CHECKABLE = (ImportState.PREVIEW, ImportState.REFUSED, ImportState.FAILED)


def accept_version(version: ImportedVersion, file: UploadedFile) -> None:
    """Store a new version and queue its check.

    Raises NotAccepted for a file that is too large, and for a name that is taken.
    """
    refuse_file(version, file)
    with transaction.atomic():
        store_version(version, file)
        AuditEvent.objects.record(version.created_by, "upload", version)
        queue.enqueue(f"check_{version.noun}", version)


def refuse_file(version: ImportedVersion, file: UploadedFile) -> None:
    """Raise NotAccepted for a file that is too large, for the site or for its benchmark."""
    refuse_files([file])
    if isinstance(version, NuggetVersion | MarkLayer):
        refuse_full_benchmark(version.track.benchmark, file.size or 0)
    elif isinstance(version, ResultsFile):
        refuse_full_benchmark(version.benchmark, file.size or 0)


def confirm_version(version: ImportedVersion, user: User, **changes: Any) -> None:
    """Check a version again with these changes, and import it."""
    _recheck(version, CONFIRMABLE, asks_first=False, **changes)
    AuditEvent.objects.record(user, "confirm", version)


def check_version_again(version: ImportedVersion, user: User, **changes: Any) -> None:
    """Read a version again with these changes and preview it."""
    _recheck(version, CHECKABLE, asks_first=True, **changes)
    AuditEvent.objects.record(user, "check again", version)


@transaction.atomic
def _recheck(version: ImportedVersion, states: Iterable[str], **changes: Any) -> None:
    rows = type(version)._default_manager.filter(pk=version.pk, state__in=states)
    if not rows.update(state=ImportState.QUEUED, **changes):
        raise ActionError(f"These {version.noun} are not awaiting confirmation.")
    queue.enqueue(f"check_{version.noun}", version)


@transaction.atomic
def discard_version(version: ImportedVersion, user: User) -> None:
    """Delete a version that was never imported."""
    named = {"version": version.version}
    AuditEvent.objects.record(user, "discard", version, before=named)
    rows = type(version)._default_manager.filter(pk=version.pk, state__in=CHECKABLE)
    if not rows.delete()[0]:
        raise ActionError(f"Imported {version.noun} cannot be deleted: scores use them.")


@transaction.atomic
def replace_version(version: ImportedVersion, user: User, file: UploadedFile | None) -> None:
    """Check a version again, with another file if one was sent.

    Raises NotAccepted for a file that is too large, and ActionError once it is imported.
    """
    if file is not None:
        refuse_file(version, file)
    check_version_again(version, user)
    if file is not None:
        store_version_file(version, file)
        version.save(update_fields=["file", "filename", "size", "sha256"])


def carry_marks(
    layer: MarkLayer, nuggets: NuggetVersion, user: User, *, keeps_reworded: bool
) -> MarkLayer:
    """Make a layer of other nuggets from the marks of those that both versions have.

    It is checked and confirmed as a file of marks is. Raises NotAccepted where it exists, and
    ActionError where no mark would be left.
    """
    assert layer.nuggets is not None, "a layer about nuggets names them"
    changes = compare_versions(layer.nuggets, nuggets)
    lines = b"".join(render_carried(layer, changes, keeps_reworded))
    if not lines:
        raise ActionError("The two versions share no nugget that is marked.")
    carried = MarkLayer(
        track=layer.track,
        about=layer.about,
        nuggets=nuggets,
        machine=layer.machine,
        made_by=layer.made_by,
        version=f"{layer.version}-on-{nuggets.version}"[:40],
        note=f"Marks of {layer.version}, carried from nuggets {layer.nuggets} to {nuggets}.",
        created_by=user,
    )
    accept_version(carried, ContentFile(lines, name="marks.jsonl"))
    return carried
