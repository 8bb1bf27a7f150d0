"""The work of scoring jobs: check and score a run, build an edition, score it again.

A job's function reads only what cannot change, and returns the function that writes the result.
The worker calls that one only while it still has the job. What is written before, so that a long
job is seen to go on (the state of a run, the scores of single runs), may be written twice.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from evaluation.judging import JudgedRun
from evaluation.problems import Problems, Refused
from evaluation.reading.runs import reader
from leaderboard.models import (
    AuditEvent,
    Edition,
    Job,
    JudgmentSet,
    Run,
    Score,
    ScoreSet,
    Track,
)
from leaderboard.models.jobs import Progress, Publish
from leaderboard.models.tracks import UNDO_TIME
from leaderboard.notifications import notices
from leaderboard.runs.fact_changes import apply_header_facts
from leaderboard.scoring import duplicates
from leaderboard.scoring.branches import check_main, compare_with_main
from leaderboard.scoring.editions import (
    apply_settings,
    build_editions,
    find_edition,
    find_editions_to_score,
    find_trial_edition,
    get_or_create_editions,
    with_judgments,
    with_public_topics,
)
from leaderboard.scoring.files import check_unchanged
from leaderboard.scoring.judgments import explain_first_missing, load_judgments
from leaderboard.scoring.kinds import kind_of, read_run_file
from leaderboard.scoring.measuring import (
    TIES_CODE,
    EditionScores,
    compute_scores,
    measure_run,
    measure_stored_run,
)
from leaderboard.scoring.problems import problem_fields

MAX_DESCRIPTION = 5000


def check_run(run_id: str, progress: Progress) -> Publish:
    """Read the file of a run, then reject it with all its problems, or rank and score it."""
    run = Run.objects.select_related("track__collection").get(pk=run_id)
    Run.objects.change_state(run_id, Run.State.CHECKING, only_from=[Run.State.QUEUED])
    check_unchanged(run)
    try:
        read = read_run_file(run)
        duplicates.check_tag(run, run.tag or read.tag, read.problems)
        read.problems.raise_if_refused()
    except Refused as refusal:
        problems = refusal.problems
        return lambda: publish_rejection(run, problems)
    kind = kind_of(run.track)
    kind.store(run, read)
    tops = kind.load_tops(run)
    run.fingerprint = duplicates.compute_fingerprint(tops)
    duplicates.check_similarity(run, tops, read.problems)
    editions = [apply_settings(edition) for edition in find_editions_to_score(run.track)]
    if editions:
        Run.objects.change_state(run_id, Run.State.SCORING, only_from=[Run.State.CHECKING])
    tied = TIES_CODE in read.problems.counts
    measured = [measure_run(run, read, edition, tied) for edition in editions]
    return lambda: publish_run(run, read, measured)


def publish_rejection(run: Run, problems: Problems) -> None:
    """Store the problems of a rejected run and notify its team."""
    Run.objects.filter(pk=run.pk).update(
        state=Run.State.REFUSED, checked_at=timezone.now(), **problem_fields(run, problems)
    )
    notices.notify_run_rejected(run, problems.errors)
    _announce_version(run)


def publish_run(run: Run, read: reader.Run, measured: list[EditionScores]) -> None:
    """Store an accepted run and its scores, and queue the scoring of newer editions."""
    # Only one run of a track is published at a time, so each sees those published before it.
    track = Track.objects.select_for_update(no_key=True).get(pk=run.track_id)
    duplicates.check_duplicates(run, read.problems)
    now = timezone.now()
    scored = {scores.edition.pk for scores in measured}
    shown = track.edition_id in scored
    apply_header_facts(run.pk, read.metadata)
    Run.objects.filter(pk=run.pk).update(
        state=Run.State.SCORED if shown else Run.State.VALID,
        tag=run.tag or read.tag,
        description=run.description or read.description[:MAX_DESCRIPTION],
        format=read.format,
        metadata=dict(read.metadata),
        ranking_file=run.ranking_file.name,
        answer_file=run.answer_file.name,
        lengths=run.lengths,
        fingerprint=run.fingerprint,
        num_lines=read.lines,
        num_answered=read.num_answered,
        num_retrieved=read.num_retrieved,
        checked_at=now,
        scored_at=now if shown else None,
        reason="",
        **problem_fields(run, read.problems),
    )
    run.tag = run.tag or read.tag
    withdraw_replaced_run(run, now)
    for scores in measured:
        store_scores(run.pk, scores)
    notices.notify_run_accepted(run, shown, _describe_against_main(run, track) if shown else "")
    for edition in find_editions_to_score(track):
        if edition.pk not in scored or find_missing_measures(edition, run.pk):
            Job.objects.enqueue("build_edition", edition)
        elif edition.state == Edition.State.BUILDING:
            # The first run of a track has its board as soon as it is scored.
            publish_edition(edition)
    if shown and track.edition:
        Job.objects.enqueue("compare", track.edition)
    _announce_version(run)


def _announce_version(run: Run) -> None:
    """Have the team of a system notified if this was the last run of a version to be done.

    The job sees whether it was: two runs that are done at once do not see each other here.
    """
    if run.version is not None:
        Job.objects.enqueue("announce_version", run.version)


def withdraw_replaced_run(run: Run, now: datetime) -> None:
    """Withdraw the run that an accepted one replaces."""
    replaced = Run.objects.filter(pk=run.replaces_id, withdrawn_at=None).first()
    if replaced is None:
        return
    Run.objects.filter(pk=replaced.pk).update(
        withdrawn_at=now,
        withdrawn_by=run.submitted_by_id,
        withdrawn_reason=f"replaced by {run}",
    )
    # It takes the place of the other in the version of its system too.
    Run.objects.filter(pk=run.pk).update(version=replaced.version_id)
    AuditEvent.objects.record(run.submitted_by, "replace", run, after={"replaced": str(replaced)})
    Track.objects.filter(pk=run.track_id, baseline=run.replaces_id).update(baseline=None)


def _describe_against_main(run: Run, track: Track) -> str:
    """Say how a scored run did against the main branch of its team, if the track has one."""
    edition = track.edition
    if edition is None or not track.benchmark.main_branch:
        return ""
    edition.track = track
    found = compare_with_main(run, edition, track.primary_measure, track.runs.all())
    return check_main(found, edition).sentence if found is not None else ""


def store_scores(run_id: str, measured: EditionScores) -> None:
    """Store the scores of a run in an edition in place of any earlier ones.

    If the database is lost meanwhile, this is called again with the same rows. The keys that they
    had got are forgotten: they were rolled back, and the database may give them to another run.
    """
    ScoreSet.objects.filter(run_id=run_id, edition=measured.edition).delete()
    measured.score_set.pk = None
    measured.score_set.run_id = run_id
    measured.score_set.save(force_insert=True)
    for score in measured.scores:
        score.pk, score.score_set = None, measured.score_set
    Score.objects.bulk_create(measured.scores)


def find_missing_measures(edition: Edition, run_id: str) -> list[str]:
    """Return the track's measures that this run does not have yet in the edition."""
    known = Score.objects.filter(score_set__edition=edition, score_set__run=run_id)
    had = set(known.values_list("measure", flat=True))
    return [text for text in edition.track.measures if text not in had]


def build_trial_editions(judgment_set_id: str, progress: Progress) -> Publish:
    """Score the runs of every track of a collection with new judgments.

    No board changes; its organisers decide that. A track whose measures need other judgments has
    no trial, and nor has a sample that checks a machine.
    """
    judgment_set = JudgmentSet.objects.for_boards().filter(pk=judgment_set_id).first()
    if judgment_set is None:
        return lambda: None
    tracks = Track.objects.filter(collection=judgment_set.collection_id)
    trials = [
        with_judgments(track, judgment_set)
        for track in tracks
        if not explain_first_missing(track.measures, judgment_set)
    ]
    editions = [edition for track in trials for edition in get_or_create_editions(track)]
    return lambda: build_editions(editions)


def build_edition(edition_id: str, progress: Progress) -> Publish:
    """Score every accepted run of the track in an edition, from the stored rankings."""
    edition = Edition.objects.select_related("track", "judgment_set").get(pk=edition_id)
    apply_settings(edition)
    runs = list(edition.track.runs.accepted())
    for done, run in enumerate(runs):
        progress(done, len(runs))
        missing = find_missing_measures(edition, run.pk)
        if missing:
            complete_run(run, edition, missing)
    return lambda: publish_edition(edition)


def complete_run(run: Run, edition: Edition, missing: list[str]) -> None:
    """Add the missing measures of one run, from its compact record or from its rankings."""
    known = ScoreSet.objects.filter(run=run, edition=edition).first()
    if known is None:
        measured = measure_stored_run(run, edition)
        with transaction.atomic():
            store_scores(run.pk, measured)
        return
    judged = JudgedRun.unpack(bytes(known.record), load_judgments(edition.pk))
    known.edition = edition
    scores = compute_scores(run, judged, known, missing)
    for score in scores:
        score.score_set = known
    with transaction.atomic():
        known.save(update_fields=["bounds"])
        Score.objects.bulk_create(scores, ignore_conflicts=True)


def lock_track_of_edition(edition_id: str) -> None:
    """Lock the track of an edition, as whoever changes the track does."""
    tracks = Edition.objects.filter(pk=edition_id).values("track")
    list(Track.objects.filter(pk__in=tracks).select_for_update(no_key=True))


def publish_edition(edition: Edition) -> None:
    """Show a complete edition on the board by one UPDATE; continue to build an incomplete one."""
    track = Track.objects.select_for_update(no_key=True).get(pk=edition.track_id)
    runs = track.runs.accepted()
    if runs.exclude(pk__in=find_complete_runs(edition, track.measures)).exists():
        Job.objects.enqueue("build_edition", edition)
        return
    now = timezone.now()
    is_new = Edition.objects.filter(pk=edition.pk, ready_at=None).update(
        state=Edition.State.READY, ready_at=now
    )
    if is_new and runs.exists() and edition == find_trial_edition(track):
        notices.notify_trial_scored(track, edition)
    if track.is_split and edition == find_edition(with_public_topics(track)):
        Track.objects.filter(pk=track.pk).update(public_edition=edition)
    if edition == find_edition(track):
        show_edition(edition, track, now)


def show_edition(edition: Edition, track: Track, now: datetime) -> None:
    """Put an edition on the board and notify the teams."""
    before, runs = track.edition, track.runs.accepted()
    Track.objects.filter(pk=track.pk).update(edition=edition)
    if track.edition_id != edition.pk:
        Edition.objects.filter(pk=track.edition_id).update(left_at=now)
        Edition.objects.filter(pk=edition.pk).update(shown_at=now)
    unscored = list(runs.exclude(state=Run.State.SCORED).select_related("track", "team"))
    runs.exclude(state=Run.State.SCORED).update(state=Run.State.SCORED, scored_at=now)
    notices.notify_runs_scored(track, unscored)
    if before is None:
        notices.notify_board_judgments_changed(track, edition, is_first=True)
        Track.objects.filter(pk=track.pk).update(announced_judgments=edition.judgment_set_id)
    elif before.judgment_set_id != edition.judgment_set_id:
        schedule_announcement(track, before)
    Job.objects.enqueue("compare", edition)


def schedule_announcement(track: Track, before: Edition) -> None:
    """Notify members of other judgments once organisers can no longer undo the switch."""
    unknown = Track.objects.filter(pk=track.pk, announced_judgments=None)
    unknown.update(announced_judgments=before.judgment_set_id)
    job = Job.objects.enqueue("announce_judgments", track)
    Job.objects.filter(pk=job.pk).update(not_before=Now() + UNDO_TIME)


def announce_judgments(track_id: str, progress: Progress) -> Publish:
    """Notify members of the judgments of the board, unless these were already announced."""
    return lambda: publish_announcement(track_id)


def publish_announcement(track_id: str) -> None:
    track = Track.objects.select_for_update(no_key=True).get(pk=track_id)
    edition = track.edition
    if edition is not None and edition.judgment_set_id != track.announced_judgments_id:
        Track.objects.filter(pk=track_id).update(announced_judgments=edition.judgment_set_id)
        notices.notify_board_judgments_changed(track, edition)


def find_complete_runs(edition: Edition, measures: list[str]) -> QuerySet[ScoreSet, str]:
    """Return the ids of the runs that have every measure in an edition."""
    wanted = Count("scores", filter=Q(scores__measure__in=measures))
    sets = ScoreSet.objects.filter(edition=edition).annotate(had=wanted)
    return sets.filter(had=len(measures)).values_list("run", flat=True)


def fail_run(run_id: str, reason: str) -> None:
    """Mark a run as failed by our fault; its file stays, and no quota is used."""
    Run.objects.filter(
        pk=run_id, state__in=[Run.State.QUEUED, Run.State.CHECKING, Run.State.SCORING]
    ).update(state=Run.State.FAILED, reason=reason)
    for run in Run.objects.filter(pk=run_id).select_related("version"):
        _announce_version(run)
