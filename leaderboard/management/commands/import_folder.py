"""`manage.py import_folder SLUG FOLDER`: a folder of an old track becomes a track."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files import File
from django.core.management.base import CommandError
from django.urls import reverse
from django.utils import timezone

from evaluation.answers.any_measure import parse_measure
from evaluation.commands.files import add_fix_option
from evaluation.measures import MeasureError
from evaluation.problems import Problem
from leaderboard.actions import collections, people, submissions, tracks, uploads
from leaderboard.actions.default_tracks import default_settings
from leaderboard.actions.names import clean_slug
from leaderboard.actions.refusals import ActionError, NotAccepted
from leaderboard.actions.submissions import RunDetails
from leaderboard.actions.uploads import CollectionFiles
from leaderboard.archives.track_import import ABSENCE_LIMIT, ImportHeartbeat
from leaderboard.archives.zip_files import ArchiveError
from leaderboard.collections.choices import ImportChoices
from leaderboard.collections.groups import GROUPINGS
from leaderboard.collections.preview import read_preview
from leaderboard.display.numbers import counted
from leaderboard.jobs.erasure import erase_abandoned_imports
from leaderboard.management.commands.import_benchmark import erase_on_failure
from leaderboard.management.commands.load_collection import (
    open_files,
    parse_format,
    parse_grade_map,
)
from leaderboard.management.migrating import migrate_first
from leaderboard.management.organisers import find_organiser
from leaderboard.management.questions import explain_questions
from leaderboard.management.site_command import SiteCommand
from leaderboard.management.track_folders import (
    FolderError,
    FolderRun,
    TrackFolder,
    parse_deadline,
    parse_time,
    read_track_folder,
)
from leaderboard.management.waiting import wait_for_collection, wait_for_runs
from leaderboard.models import Collection, Run, Track
from leaderboard.models.collections import ImportState
from leaderboard.scoring.problems import load_problem

ACCEPTED = (Run.State.SCORED, Run.State.VALID)
VERSION = "v1"
# Problems of each rejected run.
SHOWN = 3


class Command(SiteCommand):
    help = (
        "Make a track of a folder with topics, documents, judgments, runs/ and participants.csv. "
        "Without --yes it only shows what it understood."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="short name of track and collection, used in URLs")
        parser.add_argument("folder", type=Path)
        parser.add_argument("--yes", action="store_true", help="import what was understood")
        parser.add_argument("--name", help="display name (default: the short name)")
        parser.add_argument("--owner", help="the organiser (default: first organiser)")
        for name, parse in (
            ("opened", parse_time),
            ("closed", parse_deadline),
            ("released", parse_time),
        ):
            parser.add_argument(
                f"--{name}", type=date_option(parse), metavar="DATE", help="UTC, such as 2019-08-07"
            )
        parser.add_argument("--team", default="", help="team of runs that name no other")
        parser.add_argument("--measures", nargs="+", metavar="M", help="the first ranks the board")
        parser.add_argument("--depth", type=int, default=1000, help="documents per topic")
        parser.add_argument("--relevant-from", type=int, help="lowest relevant grade")
        parser.add_argument(
            "--grades", type=parse_grade_map, help="map file grades, such as 1=4,2=3"
        )
        parser.add_argument(
            "--format", metavar="PART=FORMAT", action="append", default=[], type=parse_format
        )
        parser.add_argument("--renumber-topics", action="store_true")
        parser.add_argument("--grouping", choices=GROUPINGS, help="topics in groups")
        parser.add_argument("--lenient", action="store_true", help="accept what trec_eval accepts")
        add_fix_option(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        migrate_first()
        erase_abandoned_imports()
        slug = free_slug(options["slug"])
        try:
            folder = read_track_folder(options["folder"], options["team"])
            refuse_bad_options(options)
        except (FolderError, MeasureError) as reason:
            raise CommandError(f"{reason}\nNothing was imported.") from None
        self.describe(folder, options)
        if not options["yes"]:
            self.stdout.write("Nothing was imported. With --yes this is imported.")
            return
        try:
            self.bring(slug, folder, options)
        except (
            *(OSError, ValueError, NotAccepted, ActionError, ArchiveError),
            *(people.JoinError, CommandError),
        ) as reason:
            raise CommandError(f"{reason}\nNothing was imported.") from None

    def describe(self, folder: TrackFolder, options: dict[str, Any]) -> None:
        """Say what was understood, a line for each file."""
        for part, path in folder.parts.items():
            self.stdout.write(f"{part:<11}{path.name}")
        for name in folder.unread:
            self.stdout.write(f"not read   {name}")
        for name in ("opened", "closed", "released"):
            time = options[name]
            self.stdout.write(f"{name:<11}{f'{time:%Y-%m-%d %H:%M %Z}' if time else '-'}")
        for team, runs in folder.count_runs().items():
            self.stdout.write(f"team       {team}: {counted(runs, 'run')}")
        primary = folder.find_primary_runs()
        for run in folder.runs:
            time = received_at(run, options["closed"])
            notes = [f"{time:%Y-%m-%d %H:%M}" if time else "now"]
            notes += ["primary"] if run.path in primary else []
            notes += ["late"] if is_late(time, options["closed"]) else []
            self.stdout.write(f"run        {run.path.name}: {run.team}, {', '.join(notes)}")

    def bring(self, slug: str, folder: TrackFolder, options: dict[str, Any]) -> None:
        """Import everything; after an error or a signal nothing of it is left."""
        with ExitStack() as stack:
            collection = begin_collection(slug, folder, options)
            stack.enter_context(erase_on_failure(collection))
            arrival = stack.enter_context(ImportHeartbeat(collection))
            confirm_collection(collection, read_choices(options))
            track = tracks.open_track(build_track(collection, options), collection.owner)
            for team in folder.emails:
                people.get_or_create_team(track.benchmark, team)
            submit_runs(track, folder, options)
            arrival.finish()
        found = counted(len(folder.runs), "run"), counted(len(folder.emails), "team")
        self.stdout.write(f"{track.slug} is ready: {' of '.join(found)}.")
        for team in track.benchmark.teams.all():
            for email in folder.emails.get(team.name, ()):
                path = f"{reverse('join', args=[track.address])}?team={team.invitation}"
                self.stdout.write(f"{email}\t{team.name}\t{settings.SITE_URL}{path}")


def date_option(parse: Callable[[str], datetime]) -> Callable[[str], datetime]:
    """Return a reader of an option that explains what is wrong with a date."""

    def read(text: str) -> datetime:
        try:
            return parse(text)
        except ValueError as reason:
            raise ArgumentTypeError(str(reason)) from None

    return read


def free_slug(slug: str) -> str:
    """Return a valid short name that neither a track nor a collection has."""
    for model, what in ((Track, "track"), (Collection, "collection")):
        if model.objects.filter(slug=slug).exists():
            raise CommandError(f"There is a {what} {slug} already. Nothing was imported.")
    try:
        return clean_slug(slug)
    except ValueError as reason:
        raise CommandError(f"{slug} {reason}.") from None


def refuse_bad_options(options: dict[str, Any]) -> None:
    """Raise FolderError for dates in the wrong order, and MeasureError."""
    for text in options["measures"] or ():
        parse_measure(text)
    names = [name for name in ("opened", "closed", "released") if options[name] is not None]
    for earlier, later in pairwise(names):
        if options[later] <= options[earlier]:
            raise FolderError([f"A track is {later} after it is {earlier}. Change the dates."])


def begin_collection(slug: str, folder: TrackFolder, options: dict[str, Any]) -> Collection:
    """Store the files of the collection and queue their check."""
    parts = dict(folder.parts)
    formats = dict(options["format"]) | ({"documents": "docnos"} if "docnos" in parts else {})
    collection = Collection(
        slug=slug,
        name=options["name"] or slug,
        owner=find_organiser(options["owner"]),
        asks_first=False,
        renumber_topics=options["renumber_topics"],
        formats=formats,
        arrives_until=timezone.now() + ABSENCE_LIMIT,
    )
    with ExitStack() as stack:
        names = ("topics", "judgments", "intents", "groups")
        files = {name: open_files(parts.get(name), stack) for name in names}
        documents = open_files(parts.get("documents") or parts.get("docnos"), stack)
        return uploads.accept_collection(
            collection, CollectionFiles(documents=documents, **files), VERSION
        )


def read_choices(options: dict[str, Any]) -> ImportChoices:
    return ImportChoices(
        dict(options["format"]),
        options["grades"],
        renumber_topics=options["renumber_topics"],
        grouping=options["grouping"],
        relevant_from=options["relevant_from"],
    )


def confirm_collection(collection: Collection, choices: ImportChoices) -> None:
    """Wait for the check, answer its questions and import; raises CommandError."""
    wait_for_collection(collection)
    open_questions = [each for each in collection.questions if choices.is_open(each)]
    if collection.state == ImportState.PREVIEW and not open_questions:
        collections.confirm_collection(collection, collection.owner, choices)
        wait_for_collection(collection)
    if collection.state != ImportState.READY:
        problems = [str(Problem(**problem)) for problem in collection.problems]
        asked = explain_questions(open_questions, read_preview(collection).judgments)
        what = "leaves a question open" if asked else f"is {collection.state}"
        raise CommandError("\n".join([f"The collection {what}.", *problems, *asked]))


def build_track(collection: Collection, options: dict[str, Any]) -> Track:
    """Build the track: blind, so that its scores are visible once it is released."""
    values = default_settings(collection)
    judged = values["judgment_set"]
    measures = options["measures"] or values["measures"]
    released = options["released"]
    own = {
        "measures": measures,
        "primary_measure": measures[0],
        "disclosure": Track.Disclosure.BLIND,
        "relevance_threshold": options["relevant_from"] or (judged.relevant_from if judged else 1),
        "depth": options["depth"],
        "opens_at": options["opened"],
        "closes_at": options["closed"],
        "release_at": released,
        # A release to come is only announced.
        "released_at": released if released and released <= timezone.now() else None,
    }
    return Track(slug=collection.slug, collection=collection, **values | own)


def submit_runs(track: Track, folder: TrackFolder, options: dict[str, Any]) -> None:
    """Submit every run for its team and wait for the scores; raises CommandError."""
    primary = folder.find_primary_runs()
    sent = {run.path: submit_run(track, run, options) for run in folder.runs}
    Run.objects.filter(pk__in=[sent[path].pk for path in primary]).update(is_primary=True)
    wait_for_runs(track, sent.values())
    rejected = []
    for path, run in sent.items():
        run.refresh_from_db()
        if run.state not in ACCEPTED:
            problems = [load_problem(problem) for problem in run.problems]
            said = [str(problem) for problem in problems if problem.severity == "error"]
            said = said or [run.reason]
            rejected += [f"{path.name}: {line}" for line in said[:SHOWN]]
    if rejected:
        raise CommandError("\n".join(rejected))


def submit_run(track: Track, run: FolderRun, options: dict[str, Any]) -> Run:
    """Submit a run for its team; raises CommandError if it repeats another."""
    details = RunDetails(
        tag=run.tag,
        description=run.row.description,
        lenient=options["lenient"],
        fixes=tuple(dict.fromkeys(options["fix"])),
    )
    team = people.get_or_create_team(track.benchmark, run.team)
    time = received_at(run, track.closes_at)
    with run.path.open("rb") as file:
        sent = File(file, name=run.path.name)
        accepted = submissions.accept_run(track, track.benchmark.owner, sent, details, team, time)
    if not accepted.is_new:
        raise CommandError(f"{run.path.name} is the same file as {accepted.run.filename}.")
    return accepted.run


def received_at(run: FolderRun, closed: datetime | None) -> datetime | None:
    """Return when a run was submitted: without a date, just before the deadline, or now."""
    if run.row.received_at is None and closed is not None:
        return min(closed - timedelta(minutes=1), timezone.now())
    return run.row.received_at


def is_late(time: datetime | None, closed: datetime | None) -> bool:
    return time is not None and closed is not None and time >= closed
