"""Runs become scores: read and check the file, judge it, measure it, publish.

Each function here is the work of a job.  It reads what cannot change, and returns the function
that writes the result; `jobs` calls that one only while the job is still its own.
"""

from __future__ import annotations

import json
import secrets
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import lru_cache
from itertools import compress

import numpy as np
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone
from numpy.typing import NDArray

from evaluation.conventions import CONVENTIONS
from evaluation.judging import JudgedRun, Judgments, judge, prepare
from evaluation.measures import Measure, parse_measure
from evaluation.problems import Problems, Refused
from evaluation.reading import runs as reading
from evaluation.reading.containers import Limits, unpacked
from evaluation.reading.qrels import Qrels
from evaluation.ties import tie_interval, turned
from leaderboard.collections.documents import known_docnos
from leaderboard.editions import (
    build_editions,
    edition_for,
    editions_of,
    editions_to_score,
    tried_edition,
    under_its_settings,
    with_judgments,
)
from leaderboard.infrastructure.storage import sha256_of
from leaderboard.models import (
    Collection,
    Edition,
    Job,
    JudgmentSet,
    Run,
    Score,
    ScoreSet,
    Track,
)
from leaderboard.models.collections import ImportState, grades_of
from leaderboard.models.jobs import Progress, Publish
from leaderboard.models.runs import first_of_each_code
from leaderboard.notifications import notices
from leaderboard.runs import duplicates
from leaderboard.runs.fact_changes import settle_facts
from leaderboard.runs.rankings import Rankings, write_rankings
from leaderboard.splitting import public_part


class FileChanged(Exception):
    """A stored file is not what was sent, or it is gone; nothing may be scored by it."""


JUDGED_AT_10 = parse_measure("Judged@10")
DESCRIPTION = 5000
TIES = "W_TIES_AT_CUTOFF"
# A difference that four decimals show.
VISIBLE = 0.00005
TECHNICAL = "This went wrong here. Not your fault: the file is safe, and the organisers can see it."


def check_run(run_id: str, progress: Progress) -> Publish:
    """Read the whole file; refuse it with all its problems, or rank it and score it."""
    run = Run.objects.select_related("track__collection").get(pk=run_id)
    Run.objects.moved(run_id, Run.State.CHECKING, only_from=[Run.State.QUEUED])
    refuse_changed(run)
    try:
        read = read_file(run)
        duplicates.check_tag(run, run.tag or read.tag, read.problems)
        read.problems.raise_if_refused()
    except Refused as refusal:
        problems = refusal.problems
        return lambda: publish_refusal(run, problems)
    run.ranking_file.name = store_rankings(run, read)
    tops = duplicates.tops_of(run)
    run.fingerprint = duplicates.fingerprint_of(tops)
    duplicates.check_likeness(run, tops, read.problems)
    editions = [under_its_settings(each) for each in editions_to_score(run.track)]
    if editions:
        Run.objects.moved(run_id, Run.State.SCORING, only_from=[Run.State.CHECKING])
    tied = TIES in read.problems.counts
    measured = [measure_run(read, edition, tied) for edition in editions]
    return lambda: publish_run(run, read, measured)


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


def judged_topics(track: Track) -> tuple[bytes, ...] | None:
    """The topics that count on the board; None where not everybody may know which they are."""
    if track.edition is None or not track.shows_scores:
        return None
    counts = mask_of(track.edition)
    return tuple(compress(topics_of(track.collection_id), counts))


def cutoff_of(measure: str) -> int | None:
    """The rank at which the measure stops looking; None where it looks at all of them."""
    cutoff = parse_measure(measure).parameters.get("k")
    return cutoff if isinstance(cutoff, int) else None


@lru_cache(maxsize=16)
def topics_of(collection_id: int) -> tuple[bytes, ...]:
    """The topic numbers of a ready collection, by position; they never change."""
    collection = Collection.objects.get(pk=collection_id, state=ImportState.READY)
    return tuple(number.encode() for number in collection.topics.values_list("number", flat=True))


def store_rankings(run: Run, read: reading.Run) -> str:
    with tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as file:
        write_rankings(read, file)
        file.seek(0)
        return default_storage.save(f"runs/{run.pk}/ranking-{secrets.token_hex(4)}", file)


def publish_refusal(run: Run, problems: Problems) -> None:
    Run.objects.filter(pk=run.pk).update(
        state=Run.State.REFUSED, checked_at=timezone.now(), **kept_problems(run, problems)
    )
    notices.run_refused(run, problems.errors)


def kept_problems(run: Run, problems: Problems) -> dict[str, object]:
    """The first problems for the page, all of them in a file for the download."""
    every = [asdict(problem) for problem in problems]
    name = ""
    if len(every) > settings.PROBLEMS_SHOWN:
        lines = "".join(json.dumps(problem) + "\n" for problem in every)
        name = default_storage.save(
            f"runs/{run.pk}/problems-{secrets.token_hex(4)}", ContentFile(lines.encode())
        )
    return {
        "problems": first_of_each_code(every, settings.PROBLEMS_SHOWN),
        "problem_totals": problems.totals(),
        "problems_file": name,
    }


@dataclass(frozen=True)
class Measured:
    """A run in one edition, ready to be written."""

    edition: Edition
    score_set: ScoreSet
    scores: list[Score]


def measure_run(read: reading.Run, edition: Edition, tied: bool = False) -> Measured:
    """Judge and measure a run; where equal scores are `tied` across a cutoff, both ways round."""
    judged = judge(
        read,
        prepared(edition.pk),
        depth=edition.track.depth,
        convention=CONVENTIONS[edition.convention],
    )
    relevant = parse_measure("NumRel").resolved(edition.track.relevance_threshold)
    found = parse_measure("NumRelRet").resolved(edition.track.relevance_threshold)
    score_set = ScoreSet(
        edition=edition,
        record=judged.pack(),
        num_relevant=int(relevant.scores(judged).sum()),
        num_relevant_retrieved=int(found.scores(judged).sum()),
        judged_at_10=JUDGED_AT_10.aggregate(JUDGED_AT_10.scores(judged)),
        ties=left_open_by_ties(read, edition) if tied else {},
    )
    return Measured(edition, score_set, measure_all(judged, edition, edition.track.measures))


def left_open_by_ties(read: reading.Run, edition: Edition) -> dict[str, tuple[float, float]]:
    """The means between which the order of equal scores decides, where they differ visibly."""
    judgments, depth = prepared(edition.pk), edition.track.depth
    lowest, highest = (judge(turned(read, judgments, way), judgments, depth) for way in (-1, 1))
    measures = {text: resolved(edition.track, text) for text in edition.track.measures}
    found = {text: tie_interval(each, lowest, highest) for text, each in measures.items()}
    return {text: (low, high) for text, (low, high) in found.items() if high - low > VISIBLE}


def measure_all(judged: JudgedRun, edition: Edition, measures: Iterable[str]) -> list[Score]:
    return [measure_one(judged, edition, text) for text in measures]


def measure_one(judged: JudgedRun, edition: Edition, text: str) -> Score:
    measure = resolved(edition.track, text)
    values = measure.scores(judged)
    undefined = int(np.isnan(values).sum())
    mean = measure.aggregate(values) if undefined < len(values) else None
    return Score(
        measure=text,
        resolved=str(measure),
        mean=mean,
        num_undefined=undefined,
        by_topic=by_position(values, edition).tobytes(),
    )


def resolved(track: Track, text: str) -> Measure:
    """The measure of that text with the track's threshold where it names none."""
    return parse_measure(text).resolved(track.relevance_threshold)


def by_position(values: NDArray[np.float64], edition: Edition) -> NDArray[np.float64]:
    """One value a topic of the collection, NaN where the edition does not evaluate it."""
    array = np.full(len(edition.mask), np.nan, dtype="<f8")
    array[mask_of(edition)] = values
    return array


def mask_of(edition: Edition) -> NDArray[np.bool_]:
    return np.frombuffer(edition.mask, dtype=np.uint8).astype(bool)


@lru_cache(maxsize=8)
def prepared(edition_id: int) -> Judgments:
    """The judgments of an edition; neither they nor the edition change once made."""
    edition = Edition.objects.select_related("track", "judgment_set").get(pk=edition_id)
    numbers = np.array(topics_of(edition.track.collection_id), dtype=object)
    evaluated = list(numbers[mask_of(edition)])
    qrels = Qrels(grades_of(edition.judgment_set_id), Problems())
    return prepare(qrels, topics=evaluated, top_grade=edition.judgment_set.top_grade)


def publish_run(run: Run, read: reading.Run, measured: list[Measured]) -> None:
    """Write an accepted run and its scores; what came up meanwhile gets a job of its own."""
    # One run of a track is published at a time: each sees those that were published before it.
    track = Track.objects.select_for_update(no_key=True).get(pk=run.track_id)
    duplicates.check_twins(run, read.problems)
    now = timezone.now()
    scored = {each.edition.pk for each in measured}
    shown = track.edition_id in scored
    settle_facts(run.pk, read.metadata)
    Run.objects.filter(pk=run.pk).update(
        state=Run.State.SCORED if shown else Run.State.VALID,
        tag=run.tag or read.tag,
        description=run.description or read.description[:DESCRIPTION],
        format=read.format,
        metadata=dict(read.metadata),
        ranking_file=run.ranking_file.name,
        fingerprint=run.fingerprint,
        num_lines=read.lines,
        num_answered=len(read.rankings),
        num_retrieved=read.num_retrieved,
        checked_at=now,
        scored_at=now if shown else None,
        reason="",
        **kept_problems(run, read.problems),
    )
    run.tag = run.tag or read.tag
    notices.run_accepted(run, scored=shown)
    for each in measured:
        store_scores(run.pk, each)
    for edition in editions_to_score(track):
        if edition.pk not in scored or measures_missing(edition, run.pk):
            Job.objects.enqueue("build_edition", edition)
        elif edition.state == Edition.State.BUILDING:
            # The first run of a track has its board as soon as it is scored.
            publish_edition(edition)
    if shown and track.edition:
        Job.objects.enqueue("compare", track.edition)


def store_scores(run_id: str, measured: Measured) -> None:
    ScoreSet.objects.filter(run_id=run_id, edition=measured.edition).delete()
    measured.score_set.run_id = run_id
    measured.score_set.save(force_insert=True)
    for score in measured.scores:
        score.score_set = measured.score_set
    Score.objects.bulk_create(measured.scores)


def measures_missing(edition: Edition, run_id: str) -> list[str]:
    """The track's measures that this run does not have yet in the edition."""
    known = Score.objects.filter(score_set__edition=edition, score_set__run=run_id)
    had = set(known.values_list("measure", flat=True))
    return [text for text in edition.track.measures if text not in had]


def try_on_every_track(judgment_set_id: str, progress: Progress) -> Publish:
    """New judgments: the runs of every track of their collection are scored with them too.

    No board changes by it; that is an act of its organisers.
    """
    judgment_set = JudgmentSet.objects.get(pk=judgment_set_id)
    tracks = Track.objects.filter(collection=judgment_set.collection_id)
    tried = [with_judgments(track, judgment_set) for track in tracks]
    editions = [edition for track in tried for edition in editions_of(track)]
    return lambda: build_editions(editions)


def build_edition(edition_id: str, progress: Progress) -> Publish:
    """Score every accepted run of the track in an edition, from the ranking files."""
    edition = Edition.objects.select_related("track", "judgment_set").get(pk=edition_id)
    under_its_settings(edition)
    runs = list(edition.track.runs.accepted())
    for done, run in enumerate(runs):
        progress(done, len(runs))
        missing = measures_missing(edition, run.pk)
        if missing:
            complete_run(run, edition, missing)
    return lambda: publish_edition(edition)


def measured_by_rankings(run: Run, edition: Edition) -> Measured:
    with default_storage.open(run.ranking_file.name) as file:
        tied = TIES in run.problem_totals
        return measure_run(Rankings(file).run(run.tag), edition, tied)


def complete_run(run: Run, edition: Edition, missing: list[str]) -> None:
    """Add the missing measures of one run: from its compact record, or from its rankings."""
    known = ScoreSet.objects.filter(run=run, edition=edition).first()
    if known is None:
        measured = measured_by_rankings(run, edition)
        with transaction.atomic():
            store_scores(run.pk, measured)
        return
    judged = JudgedRun.unpack(bytes(known.record), prepared(edition.pk))
    scores = measure_all(judged, edition, missing)
    for score in scores:
        score.score_set = known
    Score.objects.bulk_create(scores, ignore_conflicts=True)


def publish_edition(edition: Edition) -> None:
    """Put a complete edition on the board by one UPDATE; an incomplete one goes on being built."""
    track = Track.objects.select_for_update(no_key=True).get(pk=edition.track_id)
    runs = track.runs.accepted()
    if runs.exclude(pk__in=complete_in(edition, track.measures)).exists():
        Job.objects.enqueue("build_edition", edition)
        return
    now = timezone.now()
    is_new = Edition.objects.filter(pk=edition.pk, ready_at=None).update(
        state=Edition.State.READY, ready_at=now
    )
    if is_new and runs.exists() and edition == tried_edition(track):
        notices.judgments_tried(track, edition)
    if track.is_split and edition == edition_for(public_part(track)):
        Track.objects.filter(pk=track.pk).update(public_edition=edition)
    if edition == edition_for(track):
        put_on_the_board(edition, track, now)


def put_on_the_board(edition: Edition, track: Track, now: datetime) -> None:
    before, runs = track.edition, track.runs.accepted()
    Track.objects.filter(pk=track.pk).update(edition=edition)
    if track.edition_id != edition.pk:
        Edition.objects.filter(pk=track.edition_id).update(left_at=now)
        Edition.objects.filter(pk=edition.pk).update(shown_at=now)
    waited = list(runs.exclude(state=Run.State.SCORED).select_related("track", "team"))
    runs.exclude(state=Run.State.SCORED).update(state=Run.State.SCORED, scored_at=now)
    notices.runs_scored(track, waited)
    if before is None or before.judgment_set_id != edition.judgment_set_id:
        notices.judged(track, edition, before)
    Job.objects.enqueue("compare", edition)


def complete_in(edition: Edition, measures: list[str]) -> QuerySet[ScoreSet, str]:
    """The runs that have every measure in an edition."""
    wanted = Count("scores", filter=Q(scores__measure__in=measures))
    sets = ScoreSet.objects.filter(edition=edition).annotate(had=wanted)
    return sets.filter(had=len(measures)).values_list("run", flat=True)


def run_failed(run_id: str, reason: str) -> None:
    """Our fault, said so; the file stays, and no quota is used."""
    Run.objects.filter(
        pk=run_id, state__in=[Run.State.QUEUED, Run.State.CHECKING, Run.State.SCORING]
    ).update(state=Run.State.FAILED, reason=reason or TECHNICAL)
