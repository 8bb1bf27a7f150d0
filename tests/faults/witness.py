"""Every change of state, written down by the database itself: no writer can leave it out."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import psycopg

from tests.services.machines import Site

TABLES = ("run", "job")
CREATE = "create table if not exists witness (noun text, id text, before text, after text)"
SQLITE = """
    create trigger if not exists witness_{noun} after update of state on leaderboard_{noun}
    when old.state <> new.state
    begin insert into witness values ('{noun}', new.id, old.state, new.state); end
"""
FUNCTION = """
    create or replace function witness_{noun}() returns trigger as $$
    begin insert into witness values ('{noun}', new.id::text, old.state, new.state); return new;
    end $$ language plpgsql
"""
TRIGGER = """
    create or replace trigger witness_{noun} after update of state on leaderboard_{noun}
    for each row when (old.state <> new.state) execute function witness_{noun}()
"""

# The way of a run and of a job; what is not here may not happen.
LEGAL = {
    "run": {
        "queued": {"checking", "failed"},
        "checking": {"scoring", "valid", "scored", "refused", "failed"},
        "scoring": {"scored", "valid", "failed"},
        "valid": {"scored"},
        "failed": {"queued"},
    },
    "job": {
        "queued": {"running", "cancelled"},
        "running": {"done", "queued", "failed", "cancelled"},
    },
}


def watch(site: Site) -> None:
    if "DATABASE_URL" in site.environment:
        with psycopg.connect(site.environment["DATABASE_URL"]) as server:
            server.execute(CREATE)
            for noun in TABLES:
                server.execute(FUNCTION.format(noun=noun))
                server.execute(TRIGGER.format(noun=noun))
        return
    with sqlite3.connect(site.home / "rankfield.sqlite3", timeout=20) as file:
        file.execute(CREATE)
        for noun in TABLES:
            file.execute(SQLITE.format(noun=noun))
    file.close()


def illegal(site: Site) -> Iterator[str]:
    """What changed in a way that it may not."""
    for noun, key, before, after in site.rows("select noun, id, before, after from witness"):
        if after not in LEGAL[noun].get(before, ()):
            yield f"{noun} {key} went from {before} to {after}"
