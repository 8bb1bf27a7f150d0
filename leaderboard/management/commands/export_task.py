"""`manage.py export_task TASK FILE`: export a task with its tracks as one file."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from leaderboard.archives.task_export import build_task_members
from leaderboard.display.numbers import count, counted
from leaderboard.management.archive_files import add_archive_arguments, write_archive
from leaderboard.management.migrating import migrate_first
from leaderboard.management.site_command import SiteCommand
from leaderboard.models import Task


class Command(SiteCommand):
    help = (
        "Write the archives of a task's tracks, with its teams, systems and settings, to one zip "
        "file for import_task. The file contains the judgments: do not give it to participants."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("task")
        add_archive_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        migrate_first()
        task = Task.objects.filter(slug=options["task"]).first()
        if task is None:
            raise CommandError(f"No such task: {options['task']}.")
        path = options["file"]
        write_archive(path, build_task_members(task, options["documents"]))
        tracks, systems = task.places.count(), task.systems.count()
        self.stdout.write(
            f"{path}: {counted(tracks, 'track')}, {counted(systems, 'system')}, "
            f"{count(path.stat().st_size)} bytes"
        )
