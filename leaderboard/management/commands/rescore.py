"""`manage.py rescore`: rescore the boards with the scoring of this version."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.db.models import Q

from leaderboard.actions import tracks as track_actions
from leaderboard.display.numbers import counted
from leaderboard.management.site_command import SiteCommand
from leaderboard.management.waiting import work_until
from leaderboard.models import Edition, Job, Track
from leaderboard.scoring.editions import find_trial_edition

KINDS = ("build_edition", "compare")


class Command(SiteCommand):
    help = (
        "Score the runs of one track, or of all tracks, with their settings and this version. "
        "The old board remains until the new one is complete. Judgments on trial are included."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("track", nargs="?", help="default: all tracks")

    def handle(self, *args: Any, **options: Any) -> None:
        scored = Q(judgment_set__isnull=False) | Q(editions__isnull=False)
        tracks = Track.objects.filter(scored).distinct().order_by("slug")
        if options["track"]:
            tracks = tracks.filter(slug=options["track"])
            if not tracks:
                raise CommandError(f"No track {options['track']} with judgments.")
        for track in tracks:
            track_actions.renew_editions(track)
        work_until(lambda: not open_jobs(list(tracks)))
        for track in tracks.all():
            self.report(track)

    def report(self, track: Track) -> None:
        tried = find_trial_edition(track)
        if track.edition is None and tried is None:
            self.stderr.write(f"{track.slug}: no edition is complete; the jobs say why.")
        if track.edition is not None:
            self.stdout.write(f"{track.slug}: {describe_progress(track.edition)}")
        if tried is not None:
            self.stdout.write(f"{track.slug}: {describe_progress(tried)}, on trial")


def describe_progress(edition: Edition) -> str:
    runs = counted(edition.score_sets.count(), "run")
    return f"{runs} by {edition.judgment_set}, scoring version {edition.scoring_version}"


def open_jobs(tracks: list[Track]) -> bool:
    editions = [str(pk) for track in tracks for pk in track.editions.values_list("pk", flat=True)]
    return Job.objects.open().filter(kind__in=KINDS, target_id__in=editions).exists()
