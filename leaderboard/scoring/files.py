"""The stored file of a run: check that it is unchanged, read it, and store its rankings."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import BinaryIO, cast

from django.conf import settings
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import TemporaryUploadedFile

from evaluation.answers.any_measure import parse_measure
from evaluation.reading.containers import Limits, unpacked
from evaluation.reading.runs import reader
from leaderboard.collections.documents import known_docnos
from leaderboard.infrastructure.packed_files import open_unpacked
from leaderboard.infrastructure.storage import sha256_of
from leaderboard.models import Run, Track
from leaderboard.runs.rankings import FiledRankings, Rankings, write_ranking_file
from leaderboard.scoring.judgments import judged_topics, load_topic_numbers

# Options of the check command that have these values by default.
COMMAND_DEFAULTS = {
    "takes": "trec",
    "depth": "1000",
    "missing-topics": "warn",
    "unknown-documents": "refuse",
    "duplicates": "refuse",
}


class FileChangedError(Exception):
    """A stored file is missing or differs from the one submitted, so it cannot be scored."""


def check_unchanged(run: Run) -> None:
    """Raise FileChangedError unless the stored bytes are those that were submitted."""
    try:
        with open_unpacked(run.file.name) as file:
            found = sha256_of(file)
    except FileNotFoundError:
        raise FileChangedError(f"{run.file.name} is gone") from None
    if found != run.sha256:
        raise FileChangedError(f"{run.file.name} is not the {run.sha256} that was submitted")


def read_ranked_run(run: Run) -> reader.Run:
    """Read and check the rankings of a run under the rules of its track. Raises Refused."""
    with (
        open_unpacked(run.file.name) as packed,
        closing(unpacked(packed, run_limits())) as lines,
    ):
        if run.lenient:
            return reader.read_run_leniently(lines, store=file_rankings)
        rules = build_rules(run.track, run.tag, run.format, run.fixes)
        return reader.read_run(lines, rules, file_rankings)


def file_rankings() -> FiledRankings:
    """Return a store for rankings that writes their file while they are read."""
    return FiledRankings(new_ranking_file())


def new_ranking_file() -> BinaryIO:
    """Return a temporary file that a storage on the same disk moves instead of copying it."""
    return cast(BinaryIO, TemporaryUploadedFile("ranking", "", 0, None))


def run_limits() -> Limits:
    """Return the limits on the size of a run's file."""
    return Limits(
        upload=settings.RUN_UPLOAD_LIMIT,
        unpacked=settings.RUN_UNPACKED_LIMIT,
        ratio=settings.RUN_RATIO_LIMIT,
        line=settings.RUN_LINE_LIMIT,
        lines=settings.RUN_LINES_LIMIT,
    )


def build_rules(
    track: Track, tag: str = "", format: str = "", fixes: Iterable[str] = ()
) -> reader.RunRules:
    """Return the rules of this track for a run, or for a run in the given format."""
    collection = track.collection
    return reader.RunRules(
        topics=load_topic_numbers(collection.pk),
        docnos=known_docnos(collection.documents.name) if collection.documents else None,
        depth=track.depth,
        tag=tag or None,
        missing_topics=track.missing_topics,
        unknown_documents=track.unknown_documents,
        duplicates=track.duplicates,
        line=settings.RUN_LINE_LIMIT,
        lines=settings.RUN_LINES_LIMIT,
        formats=(format,) if format else tuple(track.run_formats),
        cutoff=find_cutoff(track.primary_measure),
        judged=judged_topics(track),
        fix=tuple(fixes),
    )


def find_cutoff(measure: str) -> int | None:
    """Return the rank at which the measure stops; None if it reads the whole ranking."""
    cutoff = parse_measure(measure).parameters.get("k")
    return cutoff if isinstance(cutoff, int) else None


def check_options(track: Track) -> dict[str, str]:
    """Return the options of the command that checks a run of this track, but for its defaults."""
    cutoff = find_cutoff(track.primary_measure)
    options = {
        "topics": "topics.txt",
        "judged": "judged.txt" if judged_topics(track) is not None else "",
        "docnos": "docnos.txt" if track.collection.documents else "",
        "takes": " ".join(track.run_formats),
        "depth": str(track.depth),
        "cutoff": "" if cutoff is None else str(cutoff),
        "missing-topics": track.missing_topics,
        "unknown-documents": track.unknown_documents,
        "duplicates": track.duplicates,
    }
    return {
        name: value for name, value in options.items() if value != COMMAND_DEFAULTS.get(name, "")
    }


def reading_options(runs: Sequence[Run]) -> list[str] | None:
    """Return the options by which a command reads runs as the site did; None if there are none."""
    fixes = sorted({fix for run in runs for fix in run.fixes})
    formats = sorted({run.format or "trec" for run in runs})
    found = {code for run in runs for code in run.problem_totals}
    words = [word for fix in fixes for word in ("--fix", fix)]
    if "W_DUP_DOC" in found:
        words += ["--duplicates", "keep_best"]
    if "W_UNKNOWN_DOC" in found:
        words += ["--docnos", "docnos.txt", "--unknown-documents", "drop"]
    if formats not in ([], ["trec"]):
        words += ["--takes", *formats]
    if any(run.lenient for run in runs):
        return None if words else ["--lenient"]
    return words


def store_rankings(run: Run, read: reader.Run) -> None:
    """Store the rankings of a run in a compact file."""
    if isinstance(read.rankings, FiledRankings):
        read.rankings.writer.finish()
        file = read.rankings.writer.file
    else:
        file = new_ranking_file()
        write_ranking_file(read, file)
    with file:
        file.seek(0)
        name = f"runs/{run.pk}/ranking-{secrets.token_hex(4)}"
        run.ranking_file.name = default_storage.save(name, file)


def open_run(run: Run) -> reader.Run:
    """Return an accepted run from its stored rankings, to score it again."""
    with default_storage.open(run.ranking_file.name) as file:
        return Rankings(file).run(run.tag)
