"""`manage.py demo`: serve a sample collection with scored runs."""

from __future__ import annotations

import os
import urllib.request
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from leaderboard.management.demo_answers import ANSWERS
from leaderboard.management.demo_benchmark import BENCHMARK, SYSTEMS
from leaderboard.management.demo_data import Account, load_sample
from leaderboard.management.demo_samples import GARDENS, HARBOURS
from leaderboard.management.processes import RunningSite, ServeError, run_site
from leaderboard.management.site_command import SiteCommand
from leaderboard.management.waiting import wait_until
from leaderboard.models import Run, Track

SCORING_SECONDS = 120


class Command(SiteCommand):
    help = "Import the sample collections, score their runs and serve until Ctrl-C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="0 picks a free port")
        parser.add_argument("--once", action="store_true", help="check the main pages and stop")

    def handle(self, *args: Any, **options: Any) -> None:
        # Its web and worker say what goes wrong, and leave the terminal to the address.
        os.environ.setdefault("LOG_LEVEL", "WARNING")
        try:
            with run_site(options["port"]) as site:
                accounts = load_sample()
                wait_until_scored()
                self.say(site, accounts)
                if options["once"]:
                    self.check_pages(site)
                else:
                    site.watch()
        except ServeError as reason:
            raise CommandError(str(reason)) from None
        except KeyboardInterrupt:
            self.stdout.write("Stopped. Run the same command to start again.")

    def say(self, site: RunningSite, accounts: list[Account]) -> None:
        self.stdout.write(f"\nRankfield is at {site.url}{overview_of(HARBOURS.slug)}board/\n")
        self.stdout.write(f"Systems on two collections: {site.url}/benchmarks/{BENCHMARK}/\n")
        self.stdout.write(f"Generated answers: {site.url}{overview_of(ANSWERS.slug)}board/\n")
        self.stdout.write(f"Sign in at {site.url}/account/login/\n")
        for account in accounts:
            self.stdout.write(f"  {account.name:4} {account.password}   {account.part}")
        self.stdout.write(f"\nJudge documents as dan at {site.url}/judging/")
        self.stdout.write(f"\nFor programs, create a token at {site.url}/account/")
        self.stdout.write(f"Everything is stored in {settings.RANKFIELD_HOME}")
        self.stdout.write("\nPress Ctrl-C to stop.")
        self.stdout.flush()

    def check_pages(self, site: RunningSite) -> None:
        for path, word in main_pages():
            with urllib.request.urlopen(site.url + path, timeout=30) as answer:
                if word not in answer.read().decode():
                    raise CommandError(f"{path} does not show {word}")
            self.stdout.write(f"  {path} OK")


def wait_until_scored() -> None:
    tracks = (HARBOURS.slug, GARDENS.slug, ANSWERS.slug)
    unfinished = Run.objects.filter(track__slug__in=tracks).unfinished()
    if not wait_until(lambda: not unfinished.exists(), SCORING_SECONDS):
        waiting = unfinished.count()
        raise CommandError(f"{waiting} runs not scored after {SCORING_SECONDS} seconds")


def overview_of(slug: str) -> str:
    """Return the address of a track, which leads through its benchmark."""
    return f"/benchmarks/{Track.objects.get(slug=slug).address}/"


def main_pages() -> list[tuple[str, str]]:
    """Return the pages to check, each with a word that it shows only if it works."""
    harbours = overview_of(HARBOURS.slug)
    best = Run.objects.filter(track__slug=HARBOURS.slug).on_the_board().order_by("tag")[0]
    answer = Run.objects.filter(track__slug=ANSWERS.slug).on_the_board().order_by("tag")[0]
    return [
        ("/", HARBOURS.name),
        (f"{harbours}board/", best.tag),
        (f"{harbours}topics/", "Topics"),
        (f"{harbours}topic/?number=1", "Judged documents"),
        (f"/runs/{best.pk}/", best.tag),
        (f"/runs/{best.pk}/ranking/?number=1", best.tag),
        (f"/runs/{answer.pk}/answer/?number=1", answer.tag),
        ("/collections/harbours/", HARBOURS.name),
        (f"/benchmarks/{BENCHMARK}/board/", SYSTEMS[1].name),
        ("/measures/", "nDCG"),
        ("/api/v1/openapi.json", "leaderboard"),
    ]
