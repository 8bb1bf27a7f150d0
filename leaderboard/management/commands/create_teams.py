"""`manage.py create_teams BENCHMARK NAME...`: create teams with API tokens, without sign-up."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from leaderboard.actions.people import JoinError
from leaderboard.actions.team_accounts import create_teams
from leaderboard.management.migrating import migrate_first
from leaderboard.management.site_command import SiteCommand
from leaderboard.models import Benchmark


class Command(SiteCommand):
    help = (
        "Create teams in a benchmark and print a line for each: its name, a tab and its API token."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("benchmark")
        parser.add_argument("names", nargs="*", metavar="name")
        parser.add_argument("--file", type=Path, help="more names, one per line, in UTF-8")

    def handle(self, *args: Any, **options: Any) -> None:
        migrate_first()
        benchmark = Benchmark.objects.filter(slug=options["benchmark"]).first()
        if benchmark is None:
            raise CommandError(f"No such benchmark: {options['benchmark']}.")
        names = [*options["names"], *read_names(options["file"])]
        if not names:
            raise CommandError("Give the names of the teams, or --file with one name per line.")
        try:
            made = create_teams(benchmark, benchmark.owner, names)
        except JoinError as reason:
            raise CommandError(f"{reason} No team was created.") from None
        for account in made:
            self.stdout.write(f"{account.team.name}\t{account.token}")


def read_names(path: Path | None) -> list[str]:
    """Return the lines of a file that are not blank."""
    if path is None:
        return []
    try:
        return [line for line in path.read_text("utf-8-sig").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path}: {error}") from None
