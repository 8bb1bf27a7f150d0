"""The folder of a site that is measured and thrown away."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def own_home(database: str = "") -> Iterator[dict[str, str]]:
    """Yield the variables of such a site; without the URL of a database it has SQLite."""
    with tempfile.TemporaryDirectory(prefix="rankfield-bench-") as home:
        yield {
            "RANKFIELD_HOME": home,
            "DATABASE_URL": database,
            "DJANGO_SETTINGS_MODULE": "benchmarks.settings",
        }
