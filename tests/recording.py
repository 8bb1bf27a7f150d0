"""Steps of scenes, done once by the real code and given to later tests as rows and files.

Most tests begin as others do: a collection is uploaded, a track opened, a run submitted.  The
first test of a process that does such a step does it by its jobs, and what it changed in the
database and on the disk is recorded.  A later test that does the same step after the same steps is
given copies; what is a second old in the one is a second old in the other.  Whatever else writes
a row leads to a place that no recording knows, and from there on every step is done anew.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from django.conf import UserSettingsHolder, settings
from django.core import mail
from django.db import connection
from django.db.models import Model

from leaderboard.models import TrackChange, User

P = ParamSpec("P")
R = TypeVar("R", bound=Model | None)
Row = tuple[Any, ...]
Files = dict[Path, int]
Moments = tuple[datetime, ...]

READING = {"SELECT", "PRAGMA", "EXPLAIN", "RELEASE"}
# A moment as Django writes it into SQLite, or as programs write it.
MOMENT = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?")
PLAIN = (str, bytes, int, float, bool, Decimal, Path, type(None))


@dataclass(frozen=True)
class Place:
    """Where the database stands: the hash of all that was done, the files with their sizes, and
    the moments that were written on the way, which are others each time."""

    road: int
    files: Files
    moments: Moments


EMPTY = Place(0, {}, ())


@dataclass(frozen=True)
class Table:
    """The name of a table, its columns, and which of them is the key."""

    name: str
    columns: tuple[str, ...]
    key: int

    def load(self) -> dict[object, Row]:
        rows = connection.connection.execute(f'SELECT * FROM "{self.name}" ORDER BY rowid')
        return {row[self.key]: row for row in rows}


@dataclass(frozen=True)
class Change:
    """Rows of a table that become others: a statement and its values, row by row."""

    statement: str
    rows: list[Row]


@dataclass(frozen=True)
class Recording:
    """What a step changed, when it did so, the row it returned, and to which place it leads."""

    place: Place
    began: datetime
    ended: datetime
    # Those that were known when it began.
    known: Moments
    changes: list[Change]
    written: dict[Path, bytes]
    removed: list[Path]
    result: tuple[type[Model], object] | None

    def copy(self, began: datetime, known: Moments) -> Place:
        """Change what the step changed; it began at this moment and ends now."""
        move = self._moves_to(began, _now(), dict(zip(self.known, known, strict=True)))
        for change in self.changes:
            rows = [tuple(map(move, row)) for row in change.rows]
            connection.connection.executemany(change.statement, rows)
        for path in self.removed:
            (settings.MEDIA_ROOT / path).unlink()
        for path, content in self.written.items():
            (settings.MEDIA_ROOT / path).parent.mkdir(parents=True, exist_ok=True)
            (settings.MEDIA_ROOT / path).write_bytes(content)
        moments = tuple(map(move, self.place.moments[len(known) :]))
        return Place(self.place.road, self.place.files, known + moments)

    def load_result(self) -> Model | None:
        if self.result is None:
            return None
        model, key = self.result
        return model._base_manager.get(pk=key)

    def _moves_to(
        self, began: datetime, ended: datetime, known: dict[datetime, datetime]
    ) -> Callable[[object], object]:
        """Return what gives a moment of the recording the same place between two others."""
        quicker = (ended - began) / (self.ended - self.began)

        def move(value: object) -> object:
            if not isinstance(value, datetime):
                return value
            if value in known or value < self.began:
                return known.get(value, value)
            if value <= self.ended:
                return began + (value - self.began) * quicker
            return ended + (value - self.ended)

        return move


@dataclass
class Road:
    """The way of the database from empty to where it stands, and what is known of such ways."""

    recordings: dict[object, Recording] = field(default_factory=dict)
    place: Place | None = None
    # Where each savepoint leads back to.
    savepoints: dict[str, Place | None] = field(default_factory=dict)
    is_closed: Callable[[], bool] = lambda: False
    is_inside_step: bool = False

    def follow(
        self, execute: Callable[..., Any], sql: str, given: Any, many: bool, context: object
    ) -> Any:
        """Follow each statement of the connection; a wrapper as Django calls them."""
        act = sql.split(None, 1)[0]
        if act == "BEGIN":
            self.place = EMPTY if is_empty() else None
        elif act == "SAVEPOINT":
            self.savepoints[sql.split()[-1]] = self.place
        elif act == "ROLLBACK":
            self.place = self.savepoints.get(sql.split()[-1])
        elif act not in READING and not self.is_inside_step:
            self._go_on(sql, list(given or ()))
        return execute(sql, given, many, context)

    def _go_on(self, *done: object) -> None:
        """Go to the place to which a statement or a step leads from this one."""
        if self.place is not None:
            moments: list[datetime] = []
            try:
                # Of its text: the hash of -1 is that of -2.
                road = hash(repr((self.place.road, describe(done, moments))))
            except TypeError:
                self.place = None
            else:
                self.place = Place(road, self.place.files, (*self.place.moments, *moments))

    def take(self, step: Callable[..., R], args: Row, details: dict[str, Any]) -> R:
        """Do a step, or copy what it did when it was done at this place before."""
        began = _now()
        if self.is_inside_step or not connection.in_atomic_block:
            return step(*args, **details)
        moments = [] if self.place is None else list(self.place.moments)
        about = self._describe(step, args, details, moments)
        if about is None:
            self.place = None
            return step(*args, **details)
        recording = self.recordings.get(about)
        if recording is None:
            return self._record(about, tuple(moments), lambda: step(*args, **details))
        self.place = recording.copy(began, tuple(moments))
        return recording.load_result()  # type: ignore[return-value]

    def _describe(
        self,
        step: Callable[..., R],
        args: Row,
        details: dict[str, Any],
        moments: list[datetime],
    ) -> object:
        """Return all that a step depends on, and note its moments; None where we cannot know."""
        if self.place is None or self.is_closed() or list_files() != self.place.files:
            return None
        try:
            given = describe((args, details, changed_settings()), moments)
        except TypeError:
            return None
        return self.place.road, step.__module__, step.__qualname__, given

    def _record(self, about: object, known: Moments, do: Callable[[], R]) -> R:
        before = {table: table.load() for table in load_tables()}
        files, sent, began = list_files(), len(_outbox()), _now()
        # So it stays where the step fails.
        self.place = None
        with self._inside_step():
            result = do()
        # An email is neither a row nor a file.
        if len(_outbox()) == sent:
            ended, after = _now(), list_files()
            changes = [
                change for table, rows in before.items() for change in find_changes(table, rows)
            ]
            moments = (*known, *find_moments(changes))
            self.place = Place(hash(repr(about)), after, moments)
            self.recordings[about] = Recording(
                self.place,
                began,
                ended,
                known,
                changes,
                {
                    path: (settings.MEDIA_ROOT / path).read_bytes()
                    for path, size in after.items()
                    if files.get(path) != size
                },
                [path for path in files if path not in after],
                None if result is None else (type(result), result.pk),
            )
        return result

    @contextmanager
    def _inside_step(self) -> Iterator[None]:
        self.is_inside_step = True
        try:
            yield
        finally:
            self.is_inside_step = False

    @contextmanager
    def staying(self) -> Iterator[None]:
        """Stay at this place, whatever is written within: no step reads it."""
        place = self.place
        yield
        self.place = place


road = Road()


def recorded(step: Callable[P, R]) -> Callable[P, R]:
    """Do a step of a scene once, and copy what it did for later tests."""

    @functools.wraps(step)
    def take(*args: P.args, **details: P.kwargs) -> R:
        return road.take(step, args, details)

    return take


def describe(value: object, moments: list[datetime]) -> object:
    """Return what tells this argument from others, or raise TypeError.

    A moment is noted, and described by how far off it is.
    """
    if isinstance(value, str) and MOMENT.fullmatch(value):
        value = datetime.fromisoformat(value)
    if isinstance(value, datetime):
        utc = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
        moments.append(utc)
        return "in seconds", round((utc - _now()).total_seconds())
    if isinstance(value, Model):
        return value._meta.label, value.pk
    if isinstance(value, Mapping):
        return tuple((name, describe(each, moments)) for name, each in value.items())
    if isinstance(value, list | tuple):
        return type(value).__name__, *(describe(each, moments) for each in value)
    if isinstance(value, PLAIN):
        return type(value).__name__, value
    raise TypeError(value)


def changed_settings() -> dict[str, object]:
    """Return the settings that a test has changed, but for the place of its files."""
    changed: dict[str, object] = {}
    holder = settings._wrapped
    while isinstance(holder, UserSettingsHolder):
        changed = {name: each for name, each in vars(holder).items() if name.isupper()} | changed
        holder = holder.default_settings
    return {name: changed[name] for name in sorted(changed) if name != "MEDIA_ROOT"}


def list_files() -> Files:
    """Return the stored files with their sizes."""
    root = Path(settings.MEDIA_ROOT)
    return {
        path.relative_to(root): path.stat().st_size for path in root.rglob("*") if path.is_file()
    }


@functools.cache
def load_tables() -> list[Table]:
    """Load all tables but the one whose rows the database writes beside those of others."""
    named = connection.introspection.table_names()
    return [load_table(name) for name in named if name != TrackChange._meta.db_table]


def load_table(name: str) -> Table:
    columns = connection.connection.execute(f'PRAGMA table_info("{name}")').fetchall()
    key = next(place for place, column in enumerate(columns) if column[5])
    return Table(name, tuple(column[1] for column in columns), key)


def find_changes(table: Table, before: dict[object, Row]) -> Iterator[Change]:
    """Find what makes the rows of a table as they are now."""
    after = table.load()
    if after == before:
        return
    key = f'"{table.columns[table.key]}"'
    if removed := [(each,) for each in before if each not in after]:
        yield Change(f'DELETE FROM "{table.name}" WHERE {key} = ?', removed)
    if made := [row for each, row in after.items() if each not in before]:
        places = ", ".join("?" * len(table.columns))
        yield Change(f'INSERT INTO "{table.name}" VALUES ({places})', made)
    for each, row in after.items():
        old = before.get(each, row)
        names = [name for name, was, now in zip(table.columns, old, row, strict=True) if was != now]
        if names:
            set_names = ", ".join(f'"{name}" = ?' for name in names)
            values = dict(zip(table.columns, row, strict=True))
            yield Change(
                f'UPDATE "{table.name}" SET {set_names} WHERE {key} = ?',
                [(*(values[name] for name in names), each)],
            )


def find_moments(changes: list[Change]) -> Iterator[datetime]:
    for change in changes:
        for row in change.rows:
            yield from (value for value in row if isinstance(value, datetime))


def is_empty() -> bool:
    """Whether nobody is on the site, as no test leaves anybody."""
    found = connection.connection.execute(f"SELECT 1 FROM {User._meta.db_table} LIMIT 1")
    return found.fetchone() is None


def _outbox() -> list[Any]:
    return getattr(mail, "outbox", [])


def _now() -> datetime:
    """Return this moment as the tables of SQLite have it."""
    return datetime.now(UTC).replace(tzinfo=None)
