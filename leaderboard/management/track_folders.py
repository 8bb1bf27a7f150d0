"""The folder of an old track: which file is what, and whose run is which."""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from evaluation.problems import Refused
from evaluation.reading.paths import open_input
from evaluation.reading.run_names import is_other_file, is_system_file
from leaderboard.actions.people import JoinError, clean_team_name
from leaderboard.infrastructure.whole_numbers import read_whole_number
from leaderboard.models.people import team_key

RUNS = "runs"
PARTICIPANTS = "participants"
# A file is the first part whose words are in its name: docnos before documents.
WORDS = {
    PARTICIPANTS: ("participants", "teams"),
    "judgments": ("qrels", "judgments", "judgements"),
    "intents": ("intents",),
    "groups": ("groups", "conversations"),
    "topics": ("topics", "queries"),
    "docnos": ("docnos", "docids"),
    "documents": ("documents", "docs", "corpus"),
}
COLUMNS = {
    "team": ("team", "group", "participant"),
    "run": ("run", "runtag", "tag", "runid", "file", "filename"),
    "email": ("email", "mail"),
    "date": ("date", "submitted", "received"),
    "priority": ("priority", "precedence", "judgingprecedence"),
    "description": ("description",),
}
ENDINGS = re.compile(r"(\.(gz|bz2|xz|zst|zip|run|txt|trec|res|out|tsv))+$", re.IGNORECASE)
COLUMNS_OF_RUNS = 6
TAG_LIMIT = 128


class FolderError(Exception):
    """Why a folder cannot become a track: a line for each reason."""

    def __init__(self, reasons: Iterable[str]) -> None:
        super().__init__("\n".join(reasons))


@dataclass(frozen=True)
class ParticipantRow:
    """A line of the participants file; a team may have a line without a run."""

    line: int
    team: str
    run: str = ""
    emails: tuple[str, ...] = ()
    received_at: datetime | None = None
    priority: int | None = None
    description: str = ""


@dataclass(frozen=True)
class FolderRun:
    """A file of a run, its team and what the participants file says about it."""

    path: Path
    tag: str
    row: ParticipantRow

    @property
    def team(self) -> str:
        return self.row.team


@dataclass(frozen=True)
class TrackFolder:
    """What a folder contains; `parts` has the files of the collection by part."""

    parts: dict[str, Path]
    runs: tuple[FolderRun, ...]
    # Teams without a run too, by name.
    emails: dict[str, tuple[str, ...]]
    unread: tuple[str, ...]

    def count_runs(self) -> Counter[str]:
        """Return the number of runs of each team."""
        return Counter({team: 0 for team in self.emails} | Counter(run.team for run in self.runs))

    def find_primary_runs(self) -> frozenset[Path]:
        """Return the run of each team that has its lowest priority, where one has."""
        first: dict[str, tuple[int, Path]] = {}
        for run in self.runs:
            if run.row.priority is not None:
                own = (run.row.priority, run.path)
                first[run.team] = min(first.get(run.team, own), own)
        return frozenset(path for _, path in first.values())


def read_track_folder(folder: Path, team: str = "") -> TrackFolder:
    """Read what a folder contains; `team` has the runs that name no other.

    Raises FolderError with every reason at once.
    """
    reasons: list[str] = []
    parts, unread = find_parts(folder, reasons)
    rows: list[ParticipantRow] = []
    if PARTICIPANTS in parts:
        rows = read_participants(parts.pop(PARTICIPANTS), reasons)
    runs = assign_runs(folder / RUNS, rows, team, reasons)
    if "topics" not in parts:
        reasons.append("There are no topics: no name of a file contains “topics” or “queries”.")
    if {"documents", "docnos"} <= parts.keys():
        unread += (parts.pop("docnos").name,)
    emails = collect_teams(rows, runs, reasons)
    if reasons:
        raise FolderError(reasons)
    return TrackFolder(parts, tuple(sorted(runs, key=order_of)), emails, unread)


def find_parts(folder: Path, reasons: list[str]) -> tuple[dict[str, Path], tuple[str, ...]]:
    """Return the files by part, and the names that are not read."""
    try:
        paths = sorted(path for path in folder.iterdir() if not is_system_file(path.name))
    except OSError as error:
        raise FolderError([str(error)]) from None
    found: dict[str, list[Path]] = defaultdict(list)
    for path in paths:
        if path.name != RUNS:
            found[find_part(path)].append(path)
    for part, named in found.items():
        if part and len(named) > 1:
            names = ", ".join(path.name for path in named)
            reasons.append(f"Several files could be the {part}: {names}. Leave one of them.")
    unread = tuple(path.name for path in found.pop("", []))
    return {part: named[0] for part, named in found.items()}, unread


def find_part(path: Path) -> str:
    """Return the part that the name of a file says, "" if it says none.

    >>> [find_part(Path(name)) for name in ("2019qrels-pass.txt", "docids.gz", "README.md")]
    ['judgments', 'docnos', '']
    """
    if is_other_file(path.name) or path.is_dir():
        return ""
    name = path.name.casefold()
    return next((part for part, words in WORDS.items() if any(map(name.__contains__, words))), "")


def read_participants(path: Path, reasons: list[str]) -> list[ParticipantRow]:
    """Read the lines of a participants file: CSV with a header, in UTF-8."""
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reasons.append(f"{path.name}: {error}")
        return []
    header = lines[0] if lines else ""
    reader = csv.reader(lines, delimiter=max(",;\t", key=header.count))
    columns = [find_column(cell) for cell in next(reader, [])]
    if "team" not in columns:
        reasons.append(f"{path.name}: the first line has no column “team”.")
        return []
    rows = []
    for cells in reader:
        values = {
            name: cell.strip() for name, cell in zip(columns, cells, strict=False) if cell.strip()
        }
        try:
            if values:
                rows.append(parse_row(reader.line_num, values))
        except (ValueError, JoinError) as error:
            reasons.append(f"{path.name}: line {reader.line_num}: {error}")
    return rows


def find_column(cell: str) -> str:
    """Return what a column of the participants file contains.

    >>> [find_column(cell) for cell in ("Run Tag", "E-Mail", "remarks")]
    ['run', 'email', '']
    """
    plain = "".join(filter(str.isalnum, cell.casefold()))
    return next((name for name, others in COLUMNS.items() if plain in others), "")


def parse_row(line: int, values: dict[str, str]) -> ParticipantRow:
    """Return a line of the participants file; raises ValueError or JoinError."""
    written = values.get("priority", "")
    priority = read_whole_number(written)
    if written and priority is None:
        raise ValueError(f"the priority “{written}” is not a whole number")
    if "team" not in values:
        raise ValueError("the team is missing")
    return ParticipantRow(
        line,
        clean_team_name(values["team"]),
        values.get("run", ""),
        tuple(filter(None, re.split(r"[\s,;]+", values.get("email", "")))),
        parse_time(values["date"]) if "date" in values else None,
        priority,
        values.get("description", ""),
    )


def parse_time(text: str) -> datetime:
    """Return a date or a time, in UTC unless it says otherwise; raises ValueError.

    >>> parse_time("2019-08-07").isoformat()
    '2019-08-07T00:00:00+00:00'
    """
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(
            f"“{text}” is not a date. Write it like 2019-08-07 or 2019-08-07T14:30"
        ) from None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def parse_deadline(text: str) -> datetime:
    """Return a time; a date alone is its last minute.  Raises ValueError.

    >>> parse_deadline("2019-08-07").isoformat()
    '2019-08-07T23:59:00+00:00'
    """
    is_date = re.fullmatch(r"\d{4}-?\d\d-?\d\d", text) is not None
    return parse_time(text) + (timedelta(hours=23, minutes=59) if is_date else timedelta())


def assign_runs(
    folder: Path, rows: list[ParticipantRow], team: str, reasons: list[str]
) -> list[FolderRun]:
    """Return the runs of a folder, each with its line or the team of its subfolder."""
    tags = {path: read_tag(path, reasons) for path in list_runs(folder)}
    if not tags:
        reasons.append(f"There are no runs in {RUNS}/.")
        return []
    named = [row for row in rows if row.run]
    matches = {
        path: [row for row in named if row.run in names_of(path, tag)] for path, tag in tags.items()
    }
    reasons += find_bad_rows(named, matches)
    runs = []
    for path, found in matches.items():
        row = found[0] if found else ParticipantRow(0, folder_team(folder, path) or team)
        if len(found) > 1:
            lines = ", ".join(str(row.line) for row in found)
            reasons.append(f"{path.name}: lines {lines} of the participants name it.")
        elif not row.team:
            reasons.append(f"{path.name} has no team: no line of the participants names it.")
        else:
            runs.append(FolderRun(path, tags[path], row))
    return runs


def find_bad_rows(
    rows: list[ParticipantRow], matches: dict[Path, list[ParticipantRow]]
) -> Iterator[str]:
    """Say which lines name no run, or several."""
    for row in rows:
        paths = [path.name for path, found in matches.items() if row in found]
        if not paths:
            yield f"Line {row.line} of the participants: there is no run {row.run} in {RUNS}/."
        elif len(paths) > 1:
            yield f"Line {row.line} of the participants names several runs: {', '.join(paths)}."


def list_runs(folder: Path) -> list[Path]:
    """Return the files of a folder and of the folders of teams in it."""
    paths = sorted([*folder.glob("*"), *folder.glob("*/*")])
    return [
        path
        for path in paths
        if path.is_file() and not is_system_file(path.name) and not is_other_file(path.name)
    ]


def folder_team(folder: Path, path: Path) -> str:
    return "" if path.parent == folder else path.parent.name


def read_tag(path: Path, reasons: list[str]) -> str:
    """Return the tag on the first line of a run, "" if it has none."""
    try:
        with open_input(str(path)) as file:
            first = next(iter(file), b"").decode("utf-8-sig", "replace").split()
    except (OSError, Refused) as error:
        reasons.append(f"{path.name}: {error}")
        return ""
    return " ".join(first[COLUMNS_OF_RUNS - 1 :])[:TAG_LIMIT]


def names_of(path: Path, tag: str) -> set[str]:
    """Return the names by which a participants file may call a run.

    >>> sorted(names_of(Path("input.bm25.gz"), "BM25"))
    ['BM25', 'bm25', 'input.bm25', 'input.bm25.gz']
    """
    stem = ENDINGS.sub("", path.name)
    return {path.name, stem, stem.removeprefix("input."), tag}


def collect_teams(
    rows: list[ParticipantRow], runs: list[FolderRun], reasons: list[str]
) -> dict[str, tuple[str, ...]]:
    """Return the addresses of every team, and refuse two spellings of a name."""
    emails: dict[str, tuple[str, ...]] = {}
    spelling: dict[str, str] = {}
    for row in [*rows, *(run.row for run in runs)]:
        try:
            name = clean_team_name(row.team)
        except JoinError as error:
            reasons.append(f"The team “{row.team}”: {error}")
            continue
        first = spelling.setdefault(team_key(name), name)
        if first != name:
            reasons.append(f"{first} and {name} are one team. Write its name in one way.")
        emails[name] = tuple(dict.fromkeys((*emails.get(name, ()), *row.emails)))
    reasons[:] = dict.fromkeys(reasons)
    return emails


def order_of(run: FolderRun) -> tuple[bool, float, float, str]:
    """Runs by their time, then by priority, then by name; those that say none come last."""
    time, priority = run.row.received_at, run.row.priority
    return (
        time is None,
        time.timestamp() if time is not None else 0,
        float("inf") if priority is None else priority,
        run.path.name,
    )
