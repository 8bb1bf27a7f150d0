"""Make a home with the code of an earlier commit, upgrade it, and compare what people see.

`python -m tests.upgrades COMMIT` makes the demo and a home of every kind of track with that
commit's code, reads every board, run, file, quota and list of judgments as each of its people and
as a stranger, migrates with the code of this checkout and reads all again: on SQLite and on a
PostgreSQL of its own.  It prints what is no longer the same and ends with 1 if anything is.

Pages are not compared, since they may say things better; their status is: who may open what.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.services.machines import ROOT, own_postgres

READER = Path(__file__).parent / "upgrade_reader.py"
HOME = Path(__file__).parent / "upgrade_home.py"
# The demo, and a home with every kind of track, team and right.
HOMES = {
    "demo": ("manage.py", "demo", "--once", "--port", "0"),
    "every kind": ("-c", HOME.read_text()),
}
Seen = dict[str, str]


@contextmanager
def code_of(commit: str) -> Iterator[Path]:
    """A checkout of another commit beside this one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "before"
        git = ["git", "-C", str(ROOT)]
        subprocess.run([*git, "worktree", "add", "--detach", "-q", str(path), commit], check=True)
        try:
            yield path
        finally:
            subprocess.run([*git, "worktree", "remove", "--force", str(path)], check=True)


def commit_before_the_last_migration() -> str:
    git = ["git", "-C", str(ROOT)]
    log = [*git, "log", "-1", "--diff-filter=A", "--format=%H", "--", "leaderboard/migrations"]
    last = subprocess.run(log, capture_output=True, text=True, check=True).stdout.strip()
    return f"{last}^"


def run(code: Path, home: Path, database: str, *words: str) -> str:
    """What a command of this code prints in this home."""
    environment = {**os.environ, "RANKFIELD_HOME": str(home), "PYTHONPATH": str(code)}
    # Without one, the home has its own file, also where tests run on a server.
    environment["DATABASE_URL"] = database
    done = subprocess.run(
        [sys.executable, *words], cwd=code, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def compare(before: Seen, after: Seen) -> list[str]:
    """One paragraph for each address that is not the same for a person.

    A page that nobody had is not compared: it has been made since.
    """
    known = {place_of(address) for address, seen in before.items() if not seen.startswith("404")}
    return [
        f"{address}\n  before {seen}\n  after  {after.get(address)}"
        for address, seen in before.items()
        if seen != after.get(address) and place_of(address) in known
    ]


def place_of(address: str) -> str:
    """Return an address without the person who read it."""
    return address.rpartition(" as ")[0]


def upgrade(commit: str, home_kind: str, database: str) -> list[str]:
    with code_of(commit) as code, tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        run(code, home, database, *HOMES[home_kind])
        before = json.loads(run(code, home, database, "-c", READER.read_text()))
        run(ROOT, home, database, "manage.py", "migrate", "--verbosity", "0")
        run(ROOT, home, database, "manage.py", "collectstatic", "--no-input", "--verbosity", "0")
        after = json.loads(run(ROOT, home, database, "-c", READER.read_text()))
    kind = "PostgreSQL" if database else "SQLite"
    print(f"{kind}, {home_kind}: {len(before)} answers before, {len(after)} after")
    changes = compare(before, after)
    # At once, as a home takes minutes.
    print("\n".join(changes) or "Everything is the same.", flush=True)
    return changes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", help="makes the homes")
    commit = parser.parse_args().commit
    changes: list[str] = []
    with own_postgres() as postgres:
        for number, home_kind in enumerate(HOMES):
            changes += upgrade(commit, home_kind, "")
            changes += upgrade(commit, home_kind, postgres.with_database(f"home{number}"))
    sys.exit(bool(changes))


if __name__ == "__main__":
    main()
