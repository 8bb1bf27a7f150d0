"""A host's clock that can be put forwards and back while processes run.

No test may set the clock of the machine.  libfaketime does it for a server that is written in C;
it breaks Python's sleep, so in the product's processes the clock is wrong where Python and SQLite
ask for it.  Clocks that only count on are left alone, as they are by a real step.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.db.backends.signals import connection_created
from django.utils import timezone

real = time.time


def step_by(path: Path) -> None:
    """From now on this process believes the clock of a host, whose error stands in a file."""

    def error() -> int:
        return int(path.read_text() or 0)

    def now() -> datetime:
        return datetime.now(UTC) + timedelta(seconds=error())

    def strftime(form: str, instant: str, *rest: str) -> str:
        assert (instant.upper(), rest) == ("NOW", ()), "all that Django asks of it"
        return now().strftime(form.replace("%f", "%S.")) + f"{now().microsecond // 1000:03}"

    def set_clock_of_sqlite(sender: Any, connection: Any, **_: Any) -> None:
        if connection.vendor == "sqlite":
            connection.connection.create_function("strftime", -1, strftime)

    time.time = lambda: real() + error()
    timezone.now = now
    connection_created.connect(set_clock_of_sqlite, weak=False)
