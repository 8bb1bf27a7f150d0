"""Score an edition again. A score that changes is a fault; the organisers are notified."""

from __future__ import annotations

import logging

from django.db import transaction

from evaluation.conventions import SCORING_VERSION
from leaderboard.models import Edition, Job, Run, Score
from leaderboard.models.jobs import Progress, Publish
from leaderboard.notifications import notices
from leaderboard.scoring.editions import apply_settings
from leaderboard.scoring.measuring import measure_stored_run
from leaderboard.scoring.work import store_scores

log = logging.getLogger(__name__)


def rescore_edition(edition_id: str, progress: Progress) -> Publish:
    """Replace the scores of an edition run by run, while its board stays shown."""
    edition = Edition.objects.select_related("track", "judgment_set").get(pk=edition_id)
    if edition.scoring_version != SCORING_VERSION:
        # Another version of the code made these scores; this version has an edition of its own.
        return lambda: None
    apply_settings(edition)
    edition.track.measures = find_scored_measures(edition)
    runs = list(edition.track.runs.accepted())
    changed = 0
    for done, run in enumerate(runs):
        progress(done, len(runs))
        changed += replace_scores(run, edition)
    return lambda: publish_rescoring(edition, len(runs), changed)


def find_scored_measures(edition: Edition) -> list[str]:
    """Return the track's measures and those that the edition has scores for."""
    had = Score.objects.filter(score_set__edition=edition).values_list("measure", flat=True)
    return list(dict.fromkeys([*edition.track.measures, *had.distinct()]))


def replace_scores(run: Run, edition: Edition) -> bool:
    """Compute and store the scores of a run again; return whether any of them changed."""
    measured = measure_stored_run(run, edition)
    now = {score.measure: score.by_topic for score in measured.scores}
    with transaction.atomic():
        scores = Score.objects.filter(score_set__run=run, score_set__edition=edition)
        before = dict(scores.values_list("measure", "by_topic"))
        store_scores(run.pk, measured)
    changed = [name for name, values in before.items() if bytes(values) != now.get(name)]
    if changed:
        log.error("run %s had other scores on %s in edition %s", run.pk, changed, edition.pk)
    return bool(changed)


def publish_rescoring(edition: Edition, runs: int, changed: int) -> None:
    """Notify the organisers of the new scores and queue the tests."""
    notices.notify_rescored(edition.track, edition.judgment_set, runs, changed)
    Job.objects.enqueue("compare", edition)
