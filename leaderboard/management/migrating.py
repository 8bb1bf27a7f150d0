"""Commands that may be the first thing ever run in a new home."""

from __future__ import annotations

from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor


def is_migrated() -> bool:
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())


def migrate_first() -> None:
    """Bring the database up to this version, where no server has done so yet."""
    if not is_migrated():
        call_command("migrate", interactive=False, verbosity=0)
