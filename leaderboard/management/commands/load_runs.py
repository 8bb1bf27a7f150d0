"""`manage.py load_runs TRACK FOLDER`: submit every run of a folder as an organiser."""

from __future__ import annotations

from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.files import File
from django.core.management.base import CommandError

from evaluation.commands.files import add_fix_option
from leaderboard.actions import people
from leaderboard.actions.refusals import NotAccepted
from leaderboard.actions.submissions import RunDetails, accept_run
from leaderboard.display.numbers import counted, score
from leaderboard.management.migrating import migrate_first
from leaderboard.management.site_command import SiteCommand
from leaderboard.management.waiting import wait_for_runs
from leaderboard.models import Run, Score, Team, Track
from leaderboard.scoring.problems import load_problem

ACCEPTED = (Run.State.SCORED, Run.State.VALID)


class Command(SiteCommand):
    help = "Upload all files in a folder to a track and print their scores."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("track")
        parser.add_argument("folder", type=Path, help="plain files, .gz, or .zip of one file")
        parser.add_argument("--team", help="team name (default: organisers)")
        parser.add_argument("--lenient", action="store_true", help="accept what trec_eval accepts")
        add_fix_option(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        migrate_first()
        track = Track.objects.filter(slug=options["track"]).first()
        if track is None:
            raise CommandError(f"No such track: {options['track']}.")
        team = find_team(track, options["team"])
        fixes = tuple(dict.fromkeys(options["fix"]))
        details = RunDetails(lenient=options["lenient"], fixes=fixes)
        sent = {
            path: self.send(track, path, team, details) for path in find_files(options["folder"])
        }
        runs = {path: run for path, run in sent.items() if run is not None}
        wait_for_runs(track, runs.values())
        verdicts = Counter(self.report(path, run) for path, run in runs.items())
        verdicts["not accepted"] = len(sent) - len(runs)
        self.stdout.write(summary(verdicts))
        if bad := verdicts.total() - sum(verdicts[state] for state in ACCEPTED):
            files = counted(len(sent), "file")
            raise CommandError(f"{bad} of {files} {'is' if bad == 1 else 'are'} not on the board.")

    def send(self, track: Track, path: Path, team: Team | None, details: RunDetails) -> Run | None:
        try:
            with path.open("rb") as file:
                named = File(file, name=path.name)
                return accept_run(track, track.benchmark.owner, named, details, team=team).run
        except (OSError, NotAccepted) as reason:
            self.stderr.write(f"{path.name}: {reason}")
            return None

    def report(self, path: Path, run: Run) -> str:
        """Print a line for a run and its problems, and return its state."""
        run.refresh_from_db()
        self.stdout.write(
            f"{path.name:<30} {run.pk}  {run.state:<8} {run.tag:<20} {ranking_score(run)}"
        )
        for problem in run.problems:
            self.stderr.write(f"{path.name}: {load_problem(problem)}")
        if run.reason:
            self.stderr.write(f"{path.name}: {run.reason}")
        return run.state


def find_files(folder: Path) -> list[Path]:
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        raise CommandError(str(error)) from None
    return [path for path in paths if path.is_file() and not path.name.startswith(".")]


def find_team(track: Track, name: str | None) -> Team | None:
    try:
        return people.get_or_create_team(track.benchmark, name) if name else None
    except people.JoinError as reason:
        raise CommandError(str(reason)) from None


def summary(verdicts: Counter[str]) -> str:
    """
    >>> summary(Counter({"scored": 2, "refused": 1, "not accepted": 0}))
    '3 files: 2 scored, 1 refused'
    """
    said = ", ".join(f"{n} {verdict}" for verdict, n in verdicts.most_common() if n)
    return f"{counted(verdicts.total(), 'file')}: {said or 'nothing to upload'}"


def ranking_score(run: Run) -> str:
    """Return the score of the ranking measure if the run has been scored."""
    track = Track.objects.get(pk=run.track_id)
    kept = Score.objects.filter(
        score_set__run=run, score_set__edition=track.edition_id, measure=track.primary_measure
    ).first()
    return f"{kept.measure} {score(kept.mean)}" if kept is not None else ""
