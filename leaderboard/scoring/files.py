"""Runs become scores: read and check the file, judge it, measure it, publish.

Each function here is the work of a job.  It reads what cannot change, and returns the function
that writes the result; `jobs` calls that one only while the job is still its own.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterable

from django.conf import settings
from django.core.files.storage import default_storage

from evaluation.measures import parse_measure
from evaluation.reading import runs as reading
from evaluation.reading.containers import Limits, unpacked
from leaderboard.collections.documents import known_docnos
from leaderboard.infrastructure.storage import sha256_of
from leaderboard.models import Run, Track
from leaderboard.runs.rankings import write_ranking_file
from leaderboard.scoring.judgments import judged_topics, topics_of


class FileChanged(Exception):
    """A stored file is not what was sent, or it is gone; nothing may be scored by it."""


def refuse_changed(run: Run) -> None:
    """The bytes on the disk are those that were sent, or nothing is made of them."""
    try:
        with default_storage.open(run.file.name) as file:
            found = sha256_of(file)
    except FileNotFoundError:
        raise FileChanged(f"{run.file.name} is gone") from None
    if found != run.sha256:
        raise FileChanged(f"{run.file.name} is not the {run.sha256} that was sent")


def read_file(run: Run) -> reading.Run:
    with default_storage.open(run.file.name) as packed:
        lines = unpacked(packed, run_limits())
        if run.lenient:
            return reading.read_run_leniently(lines)
        return reading.read_run(lines, rules_of(run.track, run.tag, run.format, run.fixes))


def run_limits() -> Limits:
    return Limits(
        upload=settings.RUN_UPLOAD_LIMIT,
        unpacked=settings.RUN_UNPACKED_LIMIT,
        ratio=settings.RUN_RATIO_LIMIT,
        line=settings.RUN_LINE_LIMIT,
        lines=settings.RUN_LINES_LIMIT,
    )


def rules_of(
    track: Track, tag: str = "", format: str = "", fixes: Iterable[str] = ()
) -> reading.RunRules:
    """What this track asks of a run; with `format`, of one that is said to be in that."""
    collection = track.collection
    return reading.RunRules(
        topics=topics_of(collection.pk),
        docnos=known_docnos(collection.documents.name) if collection.documents else None,
        depth=track.depth,
        tag=tag or None,
        missing_topics=track.missing_topics,
        unknown_documents=track.unknown_documents,
        duplicates=track.duplicates,
        line=settings.RUN_LINE_LIMIT,
        lines=settings.RUN_LINES_LIMIT,
        formats=(format,) if format else tuple(track.run_formats),
        cutoff=cutoff_of(track.primary_measure),
        judged=judged_topics(track),
        fix=tuple(fixes),
    )


def cutoff_of(measure: str) -> int | None:
    """The rank at which the measure stops looking; None where it looks at all of them."""
    cutoff = parse_measure(measure).parameters.get("k")
    return cutoff if isinstance(cutoff, int) else None


def store_rankings(run: Run, read: reading.Run) -> str:
    with tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as file:
        write_ranking_file(read, file)
        file.seek(0)
        return default_storage.save(f"runs/{run.pk}/ranking-{secrets.token_hex(4)}", file)
