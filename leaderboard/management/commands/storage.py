"""`manage.py storage`: what uses the disk, by benchmark, collection and kind."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from leaderboard.analysis.storage_use import KINDS, KindUse, StorageUse, measure_storage
from leaderboard.display.numbers import size
from leaderboard.management.site_command import SiteCommand


class Command(SiteCommand):
    help = "Show what uses the disk, and what of it may be deleted."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="bytes, for programs")

    def handle(self, *args: Any, **options: Any) -> None:
        use = measure_storage()
        rows = list(list_rows(use))
        if options["json"]:
            names = ("kind of owner", "owner", "kind", "files", "bytes")
            found = [dict(zip(names, row, strict=True)) for row in rows]
            self.stdout.write(json.dumps(found, indent=1))
            return
        for place, owner, kind, count, num_bytes in rows:
            self.stdout.write(f"{size(num_bytes):>12} {count:>9,}  {place} {owner} {kind}".rstrip())
        self.stdout.write(f"{size(use.total):>12} in total\n\nWhat may be deleted:")
        for kind in (*KINDS, *(each.kind for each in use.rest)):
            self.stdout.write(f"  {kind.name}: {kind.deletion}")


def list_rows(use: StorageUse) -> Iterator[tuple[str, str, str, int, int]]:
    """Yield what each owner has of each kind; the rest of the site has no owner."""

    def rows(place: str, owner: str, kinds: list[KindUse]) -> Iterator[Any]:
        for each in kinds:
            yield place, owner, each.kind.name, each.count, each.size

    for place, owners in (("benchmark", use.benchmarks), ("collection", use.collections)):
        for owner in owners:
            yield from rows(place, owner.owner.slug, owner.kinds)
    yield from rows("site", "", use.rest)
