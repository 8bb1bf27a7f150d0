"""Migration for commands that may be the first in a new installation."""

from __future__ import annotations

import time
from collections.abc import Callable

from django.core.management import call_command
from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor


def is_migrated() -> bool:
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())


def migrate_first() -> None:
    """Migrate the database unless a server has done so."""
    if not is_migrated():
        call_command("migrate", interactive=False, verbosity=0)


def wait_for_database(say: Callable[[str], object], migrated: bool = False) -> None:
    """Wait until the database answers and, if another process migrates it, is migrated."""
    while reason := find_missing(migrated):
        say(f"Waiting: {reason}")
        time.sleep(2)


def find_missing(migrated: bool) -> str:
    """Return what is still missing; empty if nothing is."""
    try:
        connection.ensure_connection()
        return "the database is not migrated yet" if migrated and not is_migrated() else ""
    except OperationalError as error:
        return str(error).strip()
    finally:
        connection.close()
