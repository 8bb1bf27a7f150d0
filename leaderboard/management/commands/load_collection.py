"""`manage.py load_collection SLUG --topics F`: add a collection from files on this machine."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from django.core.files import File
from django.core.management.base import CommandError, CommandParser

from evaluation.problems import Problem
from leaderboard.actions import collections, uploads
from leaderboard.actions.names import clean_slug
from leaderboard.actions.refusals import NotAccepted
from leaderboard.actions.uploads import CollectionFiles, JudgmentsPart
from leaderboard.collections.beir import write_beir_files
from leaderboard.collections.choices import FORMATS_OF, ImportChoices, is_format
from leaderboard.collections.groups import GROUPINGS
from leaderboard.collections.preview import (
    CollectionPreview,
    JudgmentsPreview,
    describe_form,
    read_judgments_preview,
    read_preview,
)
from leaderboard.collections.published import UnavailableCollectionError, write_files
from leaderboard.display.numbers import count, counted
from leaderboard.management.migrating import migrate_first
from leaderboard.management.organisers import find_organiser
from leaderboard.management.questions import explain_questions
from leaderboard.management.site_command import SiteCommand
from leaderboard.management.waiting import wait_for_collection, wait_for_version
from leaderboard.models import Collection, JudgmentSet
from leaderboard.models.collections import ImportState

PARTS = ("topics", "documents", "docnos", "judgments", "intents", "groups")


class Command(SiteCommand):
    help = "Check the files of a collection, show a summary and import them."

    def create_parser(self, *args: Any, **options: Any) -> CommandParser:
        """Here `--version` is of the judgments; Django's own gives way."""
        return super().create_parser(*args, conflict_handler="resolve", **options)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="short name, used in URLs")
        source = parser.add_mutually_exclusive_group()
        source.add_argument("--topics", type=Path)
        source.add_argument(
            "--ir-datasets",
            metavar="ID",
            help="load topics, documents and judgments from ir_datasets",
        )
        source.add_argument(
            "--beir",
            metavar="PATH",
            type=Path,
            help="a folder or zip of BEIR: corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv",
        )
        parser.add_argument(
            "--split", default="", help="of --beir (default: test, or the only one)"
        )
        documents = parser.add_mutually_exclusive_group()
        documents.add_argument("--documents", type=Path)
        documents.add_argument(
            "--docnos", type=Path, help="one docno per line, if documents are stored elsewhere"
        )
        parser.add_argument("--judgments", type=Path, help="qrels")
        parser.add_argument(
            "--intents", type=Path, help="probabilities of the subtopics of the judgments"
        )
        parser.add_argument(
            "--groups", type=Path, help="lines `topic group`: tests then use whole groups"
        )
        parser.add_argument(
            "--grouping",
            choices=GROUPINGS,
            help="topics in groups: `declared` by a file or a column, `apart` for none, or the "
            "sign after which the numbers of a group differ",
        )
        parser.add_argument("--version", dest="judgments_version", default="v1")
        parser.add_argument("--name", help="display name (default: the short name)")
        parser.add_argument("--owner", help="the organiser (default: first organiser)")
        parser.add_argument(
            "--renumber-topics",
            action="store_true",
            default=None,
            help="topics are 1, 2, 3 in file order, as the judgments count them",
        )
        parser.add_argument(
            "--format",
            metavar="PART=FORMAT",
            action="append",
            default=[],
            type=parse_format,
            help="format of a file that matches two formats",
        )
        parser.add_argument(
            "--grades",
            type=parse_grade_map,
            help="map file grades, such as 1=4,2=3; `same` keeps them",
        )
        part = parser.add_mutually_exclusive_group()
        for word, said in (("join", "add them to the latest version"), ("replace", "all of them")):
            part.add_argument(
                f"--{word}",
                dest="joining",
                action="store_const",
                const=word,
                help=f"further judgments: {said}",
            )
        parser.add_argument(
            "--conflicts",
            choices=JudgmentSet.ConflictRule.values,
            help="the grade that counts where both have judged a document",
        )
        parser.add_argument("--yes", action="store_true", help="skip confirmation")

    def handle(self, *args: Any, **options: Any) -> None:
        migrate_first()
        choices = ImportChoices(
            dict(options["format"]),
            options["grades"],
            renumber_topics=options["renumber_topics"],
            joining=options["joining"],
            conflict_rule=options["conflicts"],
            grouping=options["grouping"],
        )
        known = Collection.objects.ready().filter(slug=options["slug"]).first()
        if known is not None and has_only_judgments(options):
            self.add_judgments(known, choices, options)
            return
        collection = self.begin(options)
        wait_for_collection(collection)
        found = read_preview(collection)
        self.print_findings(found, collection)
        if collection.state == ImportState.PREVIEW and self.agreed(
            collection.questions, found.judgments, choices, options["yes"]
        ):
            collections.confirm_collection(collection, collection.owner, choices)
            wait_for_collection(collection)
        if collection.state != ImportState.READY:
            collections.discard_collection(collection, collection.owner)
            raise CommandError(f"Nothing was imported: {explain_refusal(collection)}.")
        self.stdout.write(f"{collection.slug} is ready.")

    def begin(self, options: dict[str, Any]) -> Collection:
        """Store the files and queue their check."""
        slug = options["slug"]
        known = Collection.objects.filter(slug=slug).first()
        if known is not None:
            raise CommandError(f"Collection {slug} already exists ({known.state}).")
        if not (options["topics"] or options["ir_datasets"] or options["beir"]):
            raise CommandError("A new collection needs --topics, --ir-datasets or --beir.")
        formats = dict(options["format"])
        try:
            collection = Collection(
                slug=clean_slug(slug),
                name=options["name"] or slug,
                owner=find_organiser(options["owner"]),
                asks_first=not options["yes"],
                renumber_topics=bool(options["renumber_topics"]),
                grouping=options["grouping"] or "",
                formats={**formats, "documents": "docnos"} if options["docnos"] else formats,
            )
            version = clean_slug(options["judgments_version"])
            with ExitStack() as stack:
                paths = {part: options[part] for part in PARTS}
                if options["ir_datasets"] or options["beir"]:
                    temporary = TemporaryDirectory(dir=settings.FILE_UPLOAD_TEMP_DIR)
                    folder = Path(stack.enter_context(temporary))
                    if options["beir"]:
                        had = write_beir_files(options["beir"], options["split"], folder)
                    else:
                        had = write_files(options["ir_datasets"], folder)
                    paths = {**had, **{part: path for part, path in paths.items() if path}}
                files = {part: open_files(path, stack) for part, path in paths.items()}
                files["documents"] = files.pop("docnos", None) or files.get("documents")
                return uploads.accept_collection(collection, CollectionFiles(**files), version)
        except (OSError, ValueError, NotAccepted, UnavailableCollectionError) as reason:
            raise CommandError(str(reason)) from None

    def add_judgments(
        self, collection: Collection, choices: ImportChoices, options: dict[str, Any]
    ) -> None:
        """Another version of the judgments of a collection that is there already."""
        owner = collection.owner
        try:
            version = clean_slug(options["judgments_version"])
            with ExitStack() as stack:
                judgment_set = uploads.accept_judgments(
                    collection,
                    open_files(options["judgments"], stack),
                    version,
                    owner,
                    format=(choices.formats or {}).get("judgments", ""),
                    asks_first=not options["yes"],
                    intents=open_files(options["intents"], stack),
                    part=JudgmentsPart(
                        choices.joining or "", conflict_rule=choices.conflict_rule or ""
                    ),
                )
        except (OSError, ValueError, NotAccepted) as reason:
            raise CommandError(str(reason)) from None
        wait_for_version(judgment_set)
        found = CollectionPreview(judgments=read_judgments_preview(judgment_set))
        self.print_findings(found, judgment_set)
        if judgment_set.state == ImportState.PREVIEW and self.agreed(
            judgment_set.questions, found.judgments, choices, options["yes"]
        ):
            collections.confirm_judgments(judgment_set, owner, choices)
            wait_for_version(judgment_set)
        if judgment_set.state != ImportState.READY:
            collections.discard_judgments(judgment_set, owner)
            raise CommandError(f"Nothing was imported: {explain_refusal(judgment_set)}.")
        self.stdout.write(f"{collection.slug} now has judgments {version}.")

    def print_findings(self, preview: CollectionPreview, checked: Collection | JudgmentSet) -> None:
        for part, read in (("topics", preview.topics), ("documents", preview.documents)):
            if read is not None:
                what = f"{count(read.count):>9} in {read.file}"
                self.stdout.write(f"{part:<10}{what} ({read.format}: {read.because})")
        if found := preview.judgments:
            grades = ", ".join(f"{grade}: {count(n)}" for grade, n in found.grades.items())
            what = f"{count(found.count):>9} in {found.file}"
            topics = counted(found.topics, "topic")
            self.stdout.write(f"judgments {what} ({topics}; grades {grades})")
            for line in describe_form(found):
                self.stdout.write(f"{'':<10}{line}")
        for problem in checked.problems:
            self.stderr.write(str(Problem(**problem)))
        shown = Counter(problem["code"] for problem in checked.problems)
        for code, total in checked.problem_totals.items():
            if total > shown[code]:
                self.stderr.write(f"{code}: {count(total)} in total")

    def agreed(
        self,
        questions: list[dict[str, Any]],
        judgments: JudgmentsPreview | None,
        choices: ImportChoices,
        yes: bool,
    ) -> bool:
        """Whether no question is open and the import is confirmed."""
        left = [each for each in questions if choices.is_open(each)]
        for line in explain_questions(left, judgments):
            self.stderr.write(line)
        return not left and (yes or has_confirmed())


def explain_refusal(checked: Collection | JudgmentSet) -> str:
    if checked.state != ImportState.PREVIEW:
        return f"the files are {checked.state}"
    return "a question is open" if checked.questions else "not confirmed; --yes confirms"


def has_only_judgments(options: dict[str, Any]) -> bool:
    others = ("topics", "documents", "docnos", "ir_datasets")
    return bool(options["judgments"]) and not any(options[name] for name in others)


def parse_format(text: str) -> tuple[str, str]:
    part, _, format = text.partition("=")
    if part not in FORMATS_OF or not is_format(part, format):
        raise ArgumentTypeError(f"{text} is not a part and a format, such as judgments=cranfield")
    return part, format


def parse_grade_map(text: str) -> dict[str, int]:
    """
    >>> parse_grade_map("1=4,-1=0"), parse_grade_map("same")
    ({'1': 4, '-1': 0}, {})
    """
    if text == "same":
        return {}
    try:
        pairs = [(int(old), int(new)) for old, new in (each.split("=") for each in text.split(","))]
    except ValueError:
        raise ArgumentTypeError("map grades as in 1=4,2=3, or write `same`") from None
    return {str(old): new for old, new in pairs}


def open_files(path: Path | None, stack: ExitStack) -> File | None:
    return None if path is None else File(stack.enter_context(path.open("rb")), name=path.name)


def has_confirmed() -> bool:
    if not sys.stdin.isatty():
        return False
    return input("Import this? [y/N] ").strip().lower() in ("y", "yes")
