"""Every value of a board computed anew, from the rankings that were kept.

Equal input gives equal values, so nothing should change; what does is told to the organisers.
"""

from __future__ import annotations

import logging

from django.db import transaction

from evaluation.conventions import SCORING_VERSION
from leaderboard.editions import under_its_settings
from leaderboard.models import Edition, Job, Run, Score
from leaderboard.models.jobs import Progress, Publish
from leaderboard.notifications import notices
from leaderboard.scoring import measured_by_rankings, store_scores

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
    notices.scored_again(edition.track, edition.judgment_set, runs, changed)
    Job.objects.enqueue("compare", edition)
