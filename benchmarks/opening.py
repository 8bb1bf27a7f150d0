"""Seconds to open documents of a collection by docno, as JSON.

python -m benchmarks.opening SLUG
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from random import Random

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
django.setup()

from django.core.files.storage import default_storage  # noqa: E402

from leaderboard.collections.documents import cached_file, open_documents  # noqa: E402
from leaderboard.models import Collection  # noqa: E402

TIMES = 1000


def main() -> None:
    collection = Collection.objects.get(slug=sys.argv[1])
    name = collection.documents.name
    random = Random(1)
    docnos = [f"doc-{random.randrange(collection.num_documents)}" for _ in range(TIMES)]
    forget_pages(default_storage.path(name))
    forget_pages(str(cached_file(name, "index", lambda _: None)))
    found = {
        "the first one of a process, nothing in the page cache": timed(
            lambda: open_documents(name).find(docnos[0])
        ),
        f"median of {TIMES:,} others": statistics.median(
            timed(lambda docno=docno: open_documents(name).find(docno)) for docno in docnos
        ),
    }
    cached_file(name, "index", lambda _: None).unlink()
    open_documents.cache_clear()
    found["the first one where the index has to be made"] = timed(
        lambda: open_documents(name).find(docnos[0])
    )
    json.dump(found, sys.stdout)


def timed(do: Callable[[], object]) -> float:
    start = time.perf_counter()
    assert do() is not None
    return time.perf_counter() - start


def forget_pages(path: str) -> None:
    """Let the kernel drop what it holds of a file, where it can be asked to."""
    if hasattr(os, "posix_fadvise"):
        file = os.open(path, os.O_RDONLY)
        os.fsync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)


if __name__ == "__main__":
    main()
