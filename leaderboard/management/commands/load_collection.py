"""`manage.py load_collection SLUG --topics F`: a collection from files on this machine."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from django.core.files import File
from django.core.management.base import BaseCommand, CommandError, CommandParser

from evaluation.problems import Problem
from leaderboard import organising, uploads
from leaderboard.api.fields import clean_slug
from leaderboard.management.migrating import migrate_first
from leaderboard.management.organisers import organiser
from leaderboard.management.published import NotPublished, write_files
from leaderboard.management.waiting import wait_for_collection
from leaderboard.models import Collection
from leaderboard.models.collections import ImportState
from leaderboard.templatetags.numbers import count, counted
from leaderboard.uploads import CollectionFiles, NotAccepted

PARTS = ("topics", "documents", "docnos", "judgments")
# The option of this command that answers a question of the check.
ANSWERS = {"renumber_topics": "--renumber-topics"}


class Command(BaseCommand):
    help = "Checks the files of a collection, says what was found in them, and imports them."

    def create_parser(self, *args: Any, **options: Any) -> CommandParser:
        """Here `--version` is of the judgments; Django's own gives way."""
        return super().create_parser(*args, conflict_handler="resolve", **options)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="its short name, which stands in addresses")
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument("--topics", type=Path)
        source.add_argument(
            "--ir-datasets",
            metavar="ID",
            help="topics, documents and judgments as the library ir_datasets has them",
        )
        documents = parser.add_mutually_exclusive_group()
        documents.add_argument("--documents", type=Path)
        documents.add_argument(
            "--docnos", type=Path, help="one docno a line, where the documents are elsewhere"
        )
        parser.add_argument("--judgments", type=Path, help="qrels")
        parser.add_argument("--version", dest="judgments_version", default="v1")
        parser.add_argument("--name", help="as pages print it; the short name if not given")
        parser.add_argument("--owner", help="who organises it; else the first organiser there is")
        parser.add_argument(
            "--renumber-topics", action="store_true", help="number them 1, 2, 3 in their order"
        )
        parser.add_argument("--yes", action="store_true", help="import without asking")

    def handle(self, *args: Any, **options: Any) -> None:
        migrate_first()
        collection = self.begin(options)
        wait_for_collection(collection)
        self.print_findings(collection)
        if collection.state == ImportState.PREVIEW:
            self.confirm(collection, yes=options["yes"])
        if collection.state != ImportState.READY:
            organising.discard_collection(collection, collection.owner)
            raise CommandError(f"Nothing was imported: {why_not(collection)}.")
        self.stdout.write(f"{collection.slug} is ready.")

    def begin(self, options: dict[str, Any]) -> Collection:
        """Store the files and queue their check."""
        slug = options["slug"]
        known = Collection.objects.filter(slug=slug).first()
        if known is not None:
            raise CommandError(f"There is a collection {slug} already; it is {known.state}.")
        try:
            collection = Collection(
                slug=clean_slug(slug),
                name=options["name"] or slug,
                owner=organiser(options["owner"]),
                asks_first=not options["yes"],
                renumber_topics=options["renumber_topics"],
                formats={"documents": "docnos"} if options["docnos"] else {},
            )
            version = clean_slug(options["judgments_version"])
            with ExitStack() as stack:
                paths = {part: options[part] for part in PARTS}
                if options["ir_datasets"]:
                    folder = TemporaryDirectory(dir=settings.FILE_UPLOAD_TEMP_DIR)
                    had = write_files(options["ir_datasets"], Path(stack.enter_context(folder)))
                    paths = {**had, **{part: path for part, path in paths.items() if path}}
                files = {part: opened(path, stack) for part, path in paths.items()}
                files["documents"] = files.pop("docnos", None) or files.get("documents")
                return uploads.accept_collection(collection, CollectionFiles(**files), version)
        except (OSError, ValueError, NotAccepted, NotPublished) as reason:
            raise CommandError(str(reason)) from None

    def print_findings(self, collection: Collection) -> None:
        preview = collection.preview
        for part in ("topics", "documents"):
            if part in preview:
                found = preview[part]
                what = f"{count(found['count']):>9} in {found['file']}"
                self.stdout.write(f"{part:<10}{what} ({found['format']}: {found['because']})")
        if "judgments" in preview:
            found = preview["judgments"]
            grades = ", ".join(f"{grade}: {count(n)}" for grade, n in found["grades"].items())
            what = f"{count(found['count']):>9} in {found['file']}"
            topics = counted(found["topics"], "topic")
            self.stdout.write(f"judgments {what} ({topics}; grades {grades})")
        for problem in collection.problems:
            self.stderr.write(str(Problem(**problem)))
        shown = Counter(problem["code"] for problem in collection.problems)
        for code, total in collection.problem_totals.items():
            if total > shown[code]:
                self.stderr.write(f"{code}: {count(total)} in all")

    def confirm(self, collection: Collection, yes: bool) -> None:
        """Import what waits, where nothing is left to answer and somebody says so."""
        for question in collection.questions:
            option = ANSWERS[question["name"]]
            self.stderr.write(f"{option} answers this.")
        if collection.questions or not (yes or said_yes()):
            return
        organising.confirm_collection(collection, collection.owner)
        wait_for_collection(collection)


def why_not(collection: Collection) -> str:
    if collection.state != ImportState.PREVIEW:
        return f"the files are {collection.state}"
    return "a question is open" if collection.questions else "nobody said so; --yes does"


def opened(path: Path | None, stack: ExitStack) -> File | None:
    return None if path is None else File(stack.enter_context(path.open("rb")), name=path.name)


def said_yes() -> bool:
    if not sys.stdin.isatty():
        return False
    return input("Import this? [y/N] ").strip().lower() in ("y", "yes")
