"""A folder whose run files are submitted once they are written."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

from evaluation.reading.run_names import is_other_file, is_system_file
from rankfield.answers import Run
from rankfield.errors import RejectedError, SiteError, describe_error
from rankfield.site import Site

# The names of what a program has not finished writing.
UNFINISHED = (".tmp", ".part", ".partial", ".crdownload", ".swp")
Stamp = tuple[int, int]


@dataclass
class WatchedFolder:
    """Looks into a folder again and again; `look` returns what is to be said of it.

    A file is submitted once two looks in a row find it alike, and again where it changes. What the
    site rejects is said once, what it cannot take yet is tried at a later look. A site knows a file
    that it has, so that a second watch submits no run twice.
    """

    site: Site
    track: str
    folder: Path
    description: str = ""
    seen: dict[Path, Stamp] = field(default_factory=dict)
    sent: dict[Path, Stamp] = field(default_factory=dict)
    # When a file that has to wait may be sent, and what was said of it.
    waits: dict[Path, float] = field(default_factory=dict)
    said: dict[Path, str] = field(default_factory=dict)
    pending: dict[Path, Run] = field(default_factory=dict)
    rejected: int = 0

    def look(self) -> list[str]:
        """Submit what is new, ask for what is not scored yet, and return lines to print.

        Raises OSError where the folder cannot be read.
        """
        lines = []
        stamps = {path: stamp for path in self.list_files() if (stamp := stamp_of(path))}
        for path, stamp in stamps.items():
            is_finished = self.seen.get(path) == stamp and self.sent.get(path) != stamp
            if is_finished and self.waits.get(path, 0) <= time.monotonic():
                lines += self.submit(path, stamp)
        self.seen = stamps
        return lines + self.ask()

    def list_files(self) -> list[Path]:
        found = []
        for path in sorted(self.folder.rglob("*")):
            name = path.relative_to(self.folder).as_posix()
            is_hidden = any(part.startswith(".") for part in Path(name).parts)
            is_other = is_hidden or is_system_file(name) or is_other_file(name)
            if path.is_file() and not is_other and path.suffix not in UNFINISHED:
                found.append(path)
        return found

    def submit(self, path: Path, stamp: Stamp) -> list[str]:
        name = path.relative_to(self.folder).as_posix()
        try:
            run = self.site.submit(self.track, path, description=self.description, progress=False)
        except (SiteError, OSError) as error:
            is_final = isinstance(error, RejectedError) and error.retry_after is None
            if is_final:
                self.sent[path] = stamp
                self.rejected += 1
            else:
                self.waits[path] = time.monotonic() + (getattr(error, "retry_after", None) or 0)
            return self.say_once(path, f"{name}: {describe_error(error)}")
        self.sent[path] = stamp
        self.pending[path] = run
        self.said.pop(path, None)
        self.waits.pop(path, None)
        return [f"{name}: submitted, {self.site.page_of(run)}"]

    def say_once(self, path: Path, line: str) -> list[str]:
        if self.said.get(path) == line:
            return []
        self.said[path] = line
        return [line]

    def ask(self) -> list[str]:
        """Return a line for each submitted run that is done by now."""
        lines = []
        for path, run in list(self.pending.items()):
            try:
                found = self.site.run(run.id)
            except SiteError:
                continue
            if found.done:
                del self.pending[path]
                self.rejected += found.is_rejected
                lines.append(f"{path.relative_to(self.folder).as_posix()}: {describe_end(found)}")
        return lines

    @property
    def unsent(self) -> list[Path]:
        """The files that were seen and are neither submitted nor rejected as they are."""
        return [path for path, stamp in self.seen.items() if self.sent.get(path) != stamp]

    @property
    def is_settled(self) -> bool:
        """Whether every file that was seen is scored or rejected."""
        return not self.pending and not self.unsent

    @property
    def is_stuck(self) -> bool:
        """Whether the site could take none of the files that are left."""
        return not self.pending and bool(self.unsent) and self.waits.keys() >= {*self.unsent}


def stamp_of(path: Path) -> Stamp | None:
    """Return what changes when a file does; None where it is gone meanwhile."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def describe_end(run: Run) -> str:
    """Return the scores of a run, or why it has none.

    >>> describe_end(Run("a7", "scored", True, "", scores={"AP": 0.25, "RR": None}))
    'scored, AP 0.2500'
    """
    if run.is_rejected:
        problems = [each.message for each in run.problems if each.severity == "error"]
        return f"rejected: {run.reason or '; '.join(problems) or run.state}"
    scores = [f"{name} {value:.4f}" for name, value in run.scores.items() if value is not None]
    return ", ".join([run.state, *scores])
