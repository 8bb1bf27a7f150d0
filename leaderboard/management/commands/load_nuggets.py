"""`manage.py load_nuggets TRACK FILE`: import nuggets of a track, or a layer of marks."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.files import File
from django.core.management.base import CommandError

from leaderboard.actions import versions
from leaderboard.actions.refusals import NotAccepted
from leaderboard.display.numbers import counted
from leaderboard.management.migrating import migrate_first
from leaderboard.management.site_command import SiteCommand
from leaderboard.management.waiting import wait_for_version
from leaderboard.models import MarkLayer, NuggetVersion, Track
from leaderboard.models.collections import ImportState
from leaderboard.scoring.kinds import kind_of
from leaderboard.scoring.problems import load_problem


class Command(SiteCommand):
    help = "Import nuggets of a track of answers, or with --marks a layer of marks."

    def create_parser(self, *args: Any, **options: Any) -> ArgumentParser:
        """Here `--version` is of the nuggets; Django's own gives way."""
        return super().create_parser(*args, **options, conflict_handler="resolve")

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("track")
        parser.add_argument("file", type=Path, help="of any known tool, also .gz or .zip")
        parser.add_argument("--version", dest="name", default="v1", help="its name (default: v1)")
        parser.add_argument("--marks", choices=MarkLayer.About.values, help="the file has marks")
        parser.add_argument("--nuggets", help="the nuggets that are marked (default: the latest)")
        parser.add_argument("--machine", default="", help="which machine marked (default: people)")
        parser.add_argument("--note", default="")

    def handle(self, *args: Any, **options: Any) -> None:
        migrate_first()
        track = Track.objects.filter(slug=options["track"]).first()
        if track is None:
            raise CommandError(f"No such track: {options['track']}.")
        if not kind_of(track).has_texts:
            raise CommandError(f"Runs of {track.slug} are no answers.")
        version = build_version(track, options)
        try:
            with options["file"].open("rb") as file:
                versions.accept_version(version, File(file, name=options["file"].name))
        except (OSError, NotAccepted) as reason:
            raise CommandError(str(reason)) from None
        wait_for_version(version)
        for problem in version.problems:
            self.stderr.write(str(load_problem(problem)))
        if version.state != ImportState.READY:
            versions.discard_version(version, track.benchmark.owner)
            raise CommandError(f"Its {version.noun} are {version.state}.")
        self.stdout.write(f"{track.slug} now has {describe(version)}.")


def build_version(track: Track, options: dict[str, Any]) -> NuggetVersion | MarkLayer:
    made = {"track": track, "version": options["name"], "note": options["note"]}
    made |= {"created_by": track.benchmark.owner, "asks_first": False}
    about = options["marks"]
    if about is None:
        return NuggetVersion(**made)
    machine = options["machine"]
    made_by = MarkLayer.MadeBy.MACHINE if machine else MarkLayer.MadeBy.PEOPLE
    marked = find_marked(track, options["nuggets"]) if about == MarkLayer.About.NUGGETS else None
    return MarkLayer(**made, about=about, nuggets=marked, machine=machine, made_by=made_by)


def find_marked(track: Track, name: str | None) -> NuggetVersion:
    ready = track.nugget_versions.ready()
    found = ready.filter(version=name).first() if name else ready.last()
    if found is None:
        raise CommandError(f"{track.slug} has no nuggets{f' {name}' if name else ''}.")
    return found


def describe(version: NuggetVersion | MarkLayer) -> str:
    if isinstance(version, MarkLayer):
        marks = counted(version.num_marks, "mark")
        return f"{marks} in layer {version.version}, by {version.origin}"
    return f"{counted(version.num_nuggets, 'nugget')} as {version.version}"
