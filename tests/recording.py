"""What a fixture made once, given to later tests as rows and files.

Writing the rows of an import takes a small part of its time.  So the first test of a session
that asks for one makes it, and we record what it changed; later tests get copies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from django.apps import apps
from django.conf import settings
from django.db import transaction
from django.db.models import ForeignKey, Model

from leaderboard.models import TrackChange, User

M = TypeVar("M", bound=Model)
Row = dict[str, object]
Rows = dict[type[Model], dict[object, Row]]


@dataclass(frozen=True)
class Recording:
    """The rows and files that were made, the rows that were changed, and the user they are of."""

    owner: object
    made: Rows
    changed: Rows
    files: dict[Path, bytes]
    result: object


_recordings: dict[str, Recording] = {}


def make_or_copy(name: str, owner: User, model: type[M], make: Callable[[], M]) -> M:
    """Return what `make` makes for its owner, or a copy of what it made for an earlier test.

    It is made anew where the test has made another one first, whose keys would be the same.
    """
    if model._base_manager.exists():
        return make()
    if name not in _recordings:
        return _record(name, owner, make)
    recording = _recordings[name]
    with transaction.atomic():
        for table, rows in recording.made.items():
            table._base_manager.bulk_create(
                table(**_with_owner(table, row, recording.owner, owner)) for row in rows.values()
            )
        for table, rows in recording.changed.items():
            for key, row in rows.items():
                fields = _with_owner(table, row, recording.owner, owner)
                table._base_manager.filter(pk=key).update(**fields)
    for place, content in recording.files.items():
        (settings.MEDIA_ROOT / place).parent.mkdir(parents=True, exist_ok=True)
        (settings.MEDIA_ROOT / place).write_bytes(content)
    return model._base_manager.get(pk=recording.result)


def _record(name: str, owner: User, make: Callable[[], M]) -> M:
    rows, files = _load_rows(), _load_files()
    result = make()
    made: Rows = {}
    changed: Rows = {}
    for model, found in _load_rows().items():
        for key, row in found.items():
            if key not in rows[model]:
                made.setdefault(model, {})[key] = row
            elif row != rows[model][key]:
                changed.setdefault(model, {})[key] = row
    fresh = {place: content for place, content in _load_files().items() if place not in files}
    _recordings[name] = Recording(owner.pk, made, changed, fresh, result.pk)
    return result


def _load_rows() -> Rows:
    """Load all rows of all tables by key."""
    return {
        model: {row[model._meta.pk.attname]: row for row in model._base_manager.values()}
        for model in apps.get_models(include_auto_created=True)
        # The database writes these beside the others.
        if model is not TrackChange
    }


def _load_files() -> dict[Path, bytes]:
    root = Path(settings.MEDIA_ROOT)
    return {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def _with_owner(model: type[Model], row: Row, recorded: object, owner: User) -> Row:
    """Return the row with the owner of this test in place of the recorded one."""
    people = {
        field.attname
        for field in model._meta.concrete_fields
        if isinstance(field, ForeignKey) and field.related_model is User
    }
    return {
        name: owner.pk if name in people and value == recorded else value
        for name, value in row.items()
    }
