"""The kinds of jobs: the function that does the work, and its limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from django.conf import settings
from django.utils.module_loading import import_string

from leaderboard.collections import (
    checking,
    importing,
    mark_layers,
    nuggets,
    pools,
    published,
    reported_scores,
    word_index,
)
from leaderboard.jobs import backups, calculations
from leaderboard.models import (
    Calculation,
    Delivery,
    Digest,
    Invitation,
    JudgmentSet,
    Mail,
    MarkLayer,
    NuggetVersion,
    ResultsFile,
)
from leaderboard.models.collections import ImportedVersion
from leaderboard.models.jobs import Progress, Publish
from leaderboard.notifications import email, webhooks
from leaderboard.runs import packing
from leaderboard.scoring import (
    baselines,
    battle_boards,
    contest_tests,
    corrected_means,
    entrants,
    judge_boards,
    order_trials,
    reported_ranks,
    rescoring,
    version_verdicts,
)
from leaderboard.scoring import work as scoring_work

# A long job may take this many times JOB_TIME_LIMIT.
LONG_JOB_FACTOR = 24


def record_nothing(target_id: str, reason: str) -> None:
    """Leave the target of a failed job unchanged; the row of the job has the reason."""


def lock_nothing(target_id: str) -> None:
    """Lock no row besides that of the job."""


@dataclass(frozen=True, slots=True)
class JobKind:
    """A kind of job: its work, what is written when it fails for good, and its limits."""

    do: Callable[[str, Progress], Publish]
    failed: Callable[[str, str], None] = record_nothing
    # Locks what web locks before it asks for such a job. It is called before the job is locked: in
    # another order each could wait for the other.
    lock: Callable[[str], None] = lock_nothing
    # Takes hours where others take minutes.
    long: bool = False
    # A worker runs one job of a lane at a time, so that a slot stays free for short jobs. All long
    # jobs share one lane.
    own_lane: str = ""
    # Seconds, if fewer than JOB_TIME_LIMIT.
    most: int | None = None
    # JOB_MEMORY_LIMIT applies to jobs that score or that read files not yet checked.
    limited: bool = True

    @property
    def lane(self) -> str:
        return "long" if self.long else self.own_lane

    @property
    def seconds(self) -> int:
        return self.most or settings.JOB_TIME_LIMIT * (LONG_JOB_FACTOR if self.long else 1)


def calculation(make: Callable[[Calculation, Progress], Publish], *, long: bool = False) -> JobKind:
    """Return the kind of a job that makes one calculation."""
    return JobKind(calculations.work_of(make), calculations.mark_failed, long=long)


def fails(model: type[ImportedVersion]) -> Callable[[str, str], None]:
    """Return what is written where the check or the import of a version fails for good."""
    return partial(importing.mark_version_failed, model)


def copy_pages(copy_id: str, progress: Progress) -> Publish:
    """Copy public pages, by what stands above the jobs: it asks the site for them."""
    # Named as a string, like what Django is told of us.  A table that packages above fill would
    # lack the kind in a worker that imports none of them, and its jobs would wait for ever.
    publish: Publish = import_string("leaderboard.archives.board_copies.copy_pages")(
        copy_id, progress
    )
    return publish


JOB_KINDS = {
    "check_run": JobKind(scoring_work.check_run, scoring_work.fail_run),
    "build_edition": JobKind(
        scoring_work.build_edition, lock=scoring_work.lock_track_of_edition, long=True
    ),
    "try_judgments": JobKind(scoring_work.build_trial_editions),
    "score_again": JobKind(
        rescoring.rescore_edition, lock=scoring_work.lock_track_of_edition, long=True
    ),
    "compare": JobKind(contest_tests.compare_edition, calculations.mark_tests_failed),
    "compare_systems": calculation(contest_tests.make_contest_tests),
    "judge_boards": calculation(judge_boards.compute_judge_boards),
    "correct_means": calculation(corrected_means.compute_corrected_means),
    "compare_judges": calculation(entrants.compute_judges_board),
    "compare_reported": calculation(reported_ranks.compute_reported_ranks),
    "rank_battles": calculation(battle_boards.compute_battle_board),
    "try_orders": calculation(order_trials.compute_order_trial, long=True),
    "announce_judgments": JobKind(scoring_work.announce_judgments),
    "announce_version": JobKind(version_verdicts.announce_version),
    # Anyone may own the address: allow twice the time of a call, and never use all slots.
    "deliver": JobKind(
        webhooks.deliver, Delivery.give_up, own_lane="calls", most=2 * webhooks.CALL_SECONDS
    ),
    "mail": JobKind(email.send_mail, Mail.give_up),
    "digest": JobKind(email.send_digest, Digest.give_up),
    "invite": JobKind(email.send_invitation, Invitation.give_up),
    "make_baseline": JobKind(baselines.make_baseline, long=True),
    "gather_pool": JobKind(pools.gather_pool, pools.mark_pool_failed, long=True),
    "fetch_dataset": JobKind(published.fetch_dataset, importing.mark_collection_failed, long=True),
    "check_collection": JobKind(
        checking.check_collection, importing.mark_collection_failed, long=True
    ),
    "import_collection": JobKind(
        importing.import_collection,
        importing.mark_collection_failed,
        long=True,
        limited=False,
    ),
    "index_words": JobKind(word_index.index_words, long=True),
    "check_judgments": JobKind(checking.check_judgments, fails(JudgmentSet)),
    "check_nuggets": JobKind(nuggets.check_nuggets, fails(NuggetVersion)),
    "check_results": JobKind(reported_scores.check_results, fails(ResultsFile)),
    "check_marks": JobKind(mark_layers.check_marks, fails(MarkLayer)),
    "copy_pages": JobKind(copy_pages, long=True, limited=False),
    packing.KIND: JobKind(packing.pack_old_runs, long=True),
    backups.KIND: JobKind(backups.back_up, long=True, limited=False),
    "import_judgments": JobKind(
        importing.import_judgments,
        fails(JudgmentSet),
        long=True,
        limited=False,
    ),
    "import_nuggets": JobKind(nuggets.import_nuggets, fails(NuggetVersion), limited=False),
    "import_results": JobKind(reported_scores.import_results, fails(ResultsFile), limited=False),
    "import_marks": JobKind(mark_layers.import_marks, fails(MarkLayer), limited=False),
}
