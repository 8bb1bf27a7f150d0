"""`manage.py import_track FILE`: a track from the file that `export_track` wrote."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evaluation.conventions import SCORING_VERSION
from evaluation.problems import Problem
from leaderboard import organising
from leaderboard.api.fields import clean_slug
from leaderboard.archives import Archive, NotAnArchive, opened_archive
from leaderboard.archiving import Manifest
from leaderboard.joining import CannotJoin
from leaderboard.management.migrating import migrate_first
from leaderboard.management.organisers import organiser
from leaderboard.management.waiting import wait_for_collection, wait_for_runs
from leaderboard.models import Collection, Run, Track
from leaderboard.models.collections import ImportState
from leaderboard.restoring import (
    differences,
    manifest_in,
    restore_collection,
    restore_run,
    restore_track,
)
from leaderboard.templatetags.numbers import counted
from leaderboard.uploads import NotAccepted


class Command(BaseCommand):
    help = (
        "Brings the collection of an archive, opens its track, sends its runs, and says whether "
        "they score as they did where the archive was made."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--track", help="its short name here; as in the archive if not given")
        parser.add_argument("--collection", help="the same for the collection")
        parser.add_argument("--owner", help="who organises them; else the first organiser there is")

    def handle(self, *args: Any, **options: Any) -> None:
        migrate_first()
        try:
            with options["file"].open("rb") as file, opened_archive(file) as archive:
                self.restore(archive, manifest_in(archive), options)
        except (OSError, ValueError, NotAnArchive, NotAccepted, CannotJoin) as reason:
            raise CommandError(f"{options['file']}: {reason}") from None

    def restore(self, archive: Archive, manifest: Manifest, options: dict[str, Any]) -> None:
        slug = free_slug(Track, options["track"] or manifest.track.slug, "--track")
        other = free_slug(
            Collection, options["collection"] or manifest.collection.slug, "--collection"
        )
        owner = organiser(options["owner"])
        collection = restore_collection(archive, manifest, owner, other)
        wait_for_collection(collection)
        if collection.state != ImportState.READY:
            problems = "; ".join(str(Problem(**each)) for each in collection.problems)
            organising.discard_collection(collection, owner)
            raise CommandError(f"Its collection is {collection.state}: {problems}")
        track = restore_track(manifest, collection, slug)
        runs = {entry.id: restore_run(archive, entry, track) for entry in manifest.runs}
        wait_for_runs(track, runs.values())
        if manifest.track.baseline in runs:
            organising.choose_baseline(track, owner, runs[manifest.track.baseline])
            wait_for_runs(track, [])
        self.stdout.write(f"{track.slug}: {counted(len(runs), 'run')} on {collection.slug}")
        self.compare(archive, manifest, track, runs)

    def compare(
        self, archive: Archive, manifest: Manifest, track: Track, runs: dict[str, Run]
    ) -> None:
        """Whether the runs score here as they did there, to the last bit."""
        found = differences(archive, runs, track)
        for each in found:
            each.run.refresh_from_db()
            self.stderr.write(f"{each.run} ({each.run.state}): {each.measure} differs")
        if found:
            raise CommandError(
                f"{counted(len(found), 'measure')} of runs differ from the archive, which was "
                f"scored by version {manifest.scoring_version}; this is {SCORING_VERSION}."
            )
        self.stdout.write("All of them score as in the archive, to the last bit.")


def free_slug(model: type[Track] | type[Collection], slug: str, option: str) -> str:
    if model.objects.filter(slug=slug).exists():
        raise CommandError(f"There is a {slug} already; {option} gives it another name.")
    return clean_slug(slug)
