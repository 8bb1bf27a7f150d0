"""Run by `manage.py shell` on a site: a day passes for each line that comes in.

Everything that has a date gets older.
No test may set the clock of the machine. A clock that is put forward in Python alone would leave
the database and the dates of files behind, so the days go the other way. Nothing runs meanwhile.
"""

from __future__ import annotations

import os
import sys
import time
from datetime import timedelta
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.db import transaction
from django.db.models import DateTimeField, F

from leaderboard.infrastructure.read_only import switch_read_only
from leaderboard.models import Job

DAY = timedelta(days=1)


@transaction.atomic
def age_rows() -> None:
    for model in apps.get_models():
        dates = [each for each in model._meta.local_fields if isinstance(each, DateTimeField)]
        if dates:
            model._base_manager.update(**{date.name: F(date.name) - DAY for date in dates})


def age_files(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            changed = path.stat().st_mtime - DAY.total_seconds()
            os.utime(path, (changed, changed))


def pass_a_day() -> None:
    switch_read_only(True)
    while Job.objects.filter(state=Job.State.RUNNING).exists():
        time.sleep(0.1)
    age_rows()
    for folder in ("files", "uploads", "cache"):
        age_files(Path(settings.RANKFIELD_HOME) / folder)
    switch_read_only(False)


def pass_days() -> None:
    for _ in sys.stdin:
        pass_a_day()
        print("a day passed", flush=True)
