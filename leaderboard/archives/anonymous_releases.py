"""The results of a track without the names of runs and teams.

README.txt         what it contains
board.csv          each run by its alias, with its means
scores.csv         a line for each run and topic, a column for each measure
runs/<alias>.run   the rankings, as they were scored

A run and a team have the same alias in each release of their track, and another one on another
track. Only the secret key of the site makes them, so nobody else can; organisers download which
alias is whose. Tags, descriptions, dates and facts of runs stay here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from django.utils.crypto import salted_hmac

from leaderboard.archives.result_archives import render_csv_lines, score_lines
from leaderboard.archives.zip_files import ZipEntry
from leaderboard.boards.standings import Board
from leaderboard.display.csv_tables import CsvTable, tabulate
from leaderboard.models import Run
from leaderboard.runs.rankings import render_rankings

# Letters of an alias, enough for the runs of any track to differ.
LENGTH = 12
README = """{track}: results without names

Judgments {judgments}. Runs and teams have aliases, the same in each release of this track. Anyone
who knows the scores of a run can find its alias from them.

board.csv          each run with its means
scores.csv         a line for each run and topic
runs/<alias>.run   the rankings, as they were scored
"""


def build_anonymous_members(board: Board) -> Iterator[ZipEntry]:
    """Yield the files of a release of a board whose every score the organiser sees."""
    track, version = board.sight.track, board.edition.judgment_set.version
    yield ZipEntry("README.txt", [README.format(track=track.name, judgments=version).encode()])
    # In the order of aliases: that of the board would match it line by line.
    standings = sorted(board.standings, key=lambda standing: alias_run(standing.run))
    means = (
        [*_aliases(each.run), each.run.kind, *(each.scores[m] for m in board.measures)]
        for each in standings
    )
    head = ("run", "team")
    yield ZipEntry("board.csv", render_csv_lines((*head, "type", *board.measures), means))
    lines = score_lines(replace(board, standings=standings), _aliases)
    yield ZipEntry("scores.csv", render_csv_lines((*head, "topic", *board.measures), lines))
    for standing in standings:
        alias = alias_run(standing.run)
        yield ZipEntry(f"runs/{alias}.run", render_rankings(standing.run, alias))


def list_aliases(board: Board) -> CsvTable:
    """Return which alias is whose, for organisers alone."""
    return tabulate(
        [standing.run for standing in board.standings],
        [
            ("alias", alias_run),
            ("team alias", alias_team),
            ("run", "pk"),
            ("tag", "tag"),
            ("team", "team.name"),
        ],
    )


def _aliases(run: Run) -> tuple[str, str]:
    return alias_run(run), alias_team(run)


def alias_run(run: Run) -> str:
    """Return the alias of a run on its track."""
    return f"run-{_digest(f'run {run.pk}')}"


def alias_team(run: Run) -> str:
    """Return the alias of the team of a run on the track of the run."""
    return f"team-{_digest(f'team {run.team_id} {run.track_id}')}"


def _digest(text: str) -> str:
    return salted_hmac("anonymous release", text, algorithm="sha256").hexdigest()[:LENGTH]
