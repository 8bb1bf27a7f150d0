"""Runs become scores: read and check the file, judge it, measure it, publish.

Each function here is the work of a job.  It reads what cannot change, and returns the function
that writes the result; `jobs` calls that one only while the job is still its own.
"""

from __future__ import annotations

import logging
from datetime import datetime

from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from evaluation.conventions import SCORING_VERSION
from evaluation.judging import JudgedRun
from evaluation.problems import Problems, Refused
from evaluation.reading import runs as reading
from leaderboard.models import (
    Edition,
    Job,
    JudgmentSet,
    Run,
    Score,
    ScoreSet,
    Track,
)
from leaderboard.models.jobs import Progress, Publish
from leaderboard.notifications import notices
from leaderboard.runs import duplicates
from leaderboard.runs.fact_changes import apply_header_facts
from leaderboard.scoring.editions import (
    build_editions,
    edition_for,
    editions_of,
    editions_to_score,
    public_part,
    tried_edition,
    under_its_settings,
    with_judgments,
)
from leaderboard.scoring.files import read_file, refuse_changed, store_rankings
from leaderboard.scoring.judgments import prepared
from leaderboard.scoring.measuring import (
    TIES,
    Measured,
    measure_all,
    measure_run,
    measured_by_rankings,
)
from leaderboard.scoring.problems import kept_problems

DESCRIPTION = 5000
TECHNICAL = "This went wrong here. Not your fault: the file is safe, and the organisers can see it."


def check_run(run_id: str, progress: Progress) -> Publish:
    """Read the whole file; refuse it with all its problems, or rank it and score it."""
    run = Run.objects.select_related("track__collection").get(pk=run_id)
    Run.objects.change_state(run_id, Run.State.CHECKING, only_from=[Run.State.QUEUED])
    refuse_changed(run)
    try:
        read = read_file(run)
        duplicates.check_tag(run, run.tag or read.tag, read.problems)
        read.problems.raise_if_refused()
    except Refused as refusal:
        problems = refusal.problems
        return lambda: publish_refusal(run, problems)
    run.ranking_file.name = store_rankings(run, read)
    tops = duplicates.load_tops(run)
    run.fingerprint = duplicates.compute_fingerprint(tops)
    duplicates.check_similarity(run, tops, read.problems)
    editions = [under_its_settings(each) for each in editions_to_score(run.track)]
    if editions:
        Run.objects.change_state(run_id, Run.State.SCORING, only_from=[Run.State.CHECKING])
    tied = TIES in read.problems.counts
    measured = [measure_run(read, edition, tied) for edition in editions]
    return lambda: publish_run(run, read, measured)


def publish_refusal(run: Run, problems: Problems) -> None:
    Run.objects.filter(pk=run.pk).update(
        state=Run.State.REFUSED, checked_at=timezone.now(), **kept_problems(run, problems)
    )
    notices.notify_run_rejected(run, problems.errors)


def publish_run(run: Run, read: reading.Run, measured: list[Measured]) -> None:
    """Write an accepted run and its scores; what came up meanwhile gets a job of its own."""
    # One run of a track is published at a time: each sees those that were published before it.
    track = Track.objects.select_for_update(no_key=True).get(pk=run.track_id)
    duplicates.check_duplicates(run, read.problems)
    now = timezone.now()
    scored = {each.edition.pk for each in measured}
    shown = track.edition_id in scored
    apply_header_facts(run.pk, read.metadata)
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
    notices.notify_run_accepted(run, scored=shown)
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
        notices.notify_trial_scored(track, edition)
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
    notices.notify_runs_scored(track, waited)
    if before is None or before.judgment_set_id != edition.judgment_set_id:
        notices.notify_board_judgments_changed(track, edition, before)
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


log = logging.getLogger(__name__)


def score_again(edition_id: str, progress: Progress) -> Publish:
    """Replace the values of an edition run by run; its board stands meanwhile."""
    edition = Edition.objects.select_related("track", "judgment_set").get(pk=edition_id)
    if edition.scoring_version != SCORING_VERSION:
        # Other code made its values; a new edition holds those of this one.
        return lambda: None
    under_its_settings(edition)
    edition.track.measures = measures_in(edition)
    runs = list(edition.track.runs.accepted())
    changed = 0
    for done, run in enumerate(runs):
        progress(done, len(runs))
        changed += replaced_otherwise(run, edition)
    return lambda: publish_again(edition, len(runs), changed)


def measures_in(edition: Edition) -> list[str]:
    """Those of the track, and those that it had before."""
    had = Score.objects.filter(score_set__edition=edition).values_list("measure", flat=True)
    return list(dict.fromkeys([*edition.track.measures, *had.distinct()]))


def replaced_otherwise(run: Run, edition: Edition) -> bool:
    """Write the values of a run anew; whether one of them is another than before."""
    measured = measured_by_rankings(run, edition)
    now = {score.measure: score.by_topic for score in measured.scores}
    with transaction.atomic():
        scores = Score.objects.filter(score_set__run=run, score_set__edition=edition)
        before = dict(scores.values_list("measure", "by_topic"))
        store_scores(run.pk, measured)
    otherwise = [name for name, values in before.items() if bytes(values) != now[name]]
    if otherwise:
        log.error("run %s had other values of %s in edition %s", run.pk, otherwise, edition.pk)
    return bool(otherwise)


def publish_again(edition: Edition, runs: int, changed: int) -> None:
    notices.notify_rescored(edition.track, edition.judgment_set, runs, changed)
    Job.objects.enqueue("compare", edition)
