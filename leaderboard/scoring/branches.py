"""A run compared with the main branch of its team, for tracks whose runs carry commits."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evaluation.answers.any_measure import parse_measure
from evaluation.significance import Gate
from leaderboard.display.numbers import count, counted, score, signed
from leaderboard.models import Edition, Run, Score
from leaderboard.models.runs import RunQuerySet
from leaderboard.scoring.gates import CheckedBuild, check_build
from leaderboard.scoring.judgments import topic_mask

BRANCH = "branch"


@dataclass(frozen=True)
class BranchComparison:
    """A run against an earlier one: the means, and on how many topics each is better."""

    run: Run
    other: Run
    # The branch of the other run; "" if that is the baseline of the board.
    branch: str
    measure: str
    mean: float
    other_mean: float
    better: int
    worse: int
    # What the gate of the track says, if it has one.
    build: CheckedBuild | None = None

    @property
    def against(self) -> str:
        return self.branch or "the baseline"

    @property
    def score(self) -> str:
        return f"{score(self.mean)} {self.measure}"

    @property
    def difference(self) -> str:
        return signed(self.mean - self.other_mean, 4)

    @property
    def topics(self) -> str:
        return f"better on {counted(self.better, 'topic')}, worse on {count(self.worse)}"

    @property
    def sentence(self) -> str:
        """The comparison as notices and webhooks say it; the page of the run says the same."""
        return (
            f"{self.run} has {self.score}, {self.difference} against {self.against}"
            f" ({self.other}): {self.topics}.{self._gate}"
        )

    @property
    def _gate(self) -> str:
        return f" Gate: {self.build.report.answer}." if self.build is not None else ""


def compare_with_main(
    run: Run, edition: Edition, measure: str, runs: RunQuerySet
) -> BranchComparison | None:
    """Compare a run with the last one of the main branch among `runs`, else with the baseline.

    None if the track has no main branch, or if either has no score.
    """
    other = find_main_run(run, runs) if run.track.benchmark.main_branch else None
    if other is None:
        return None
    scores = Score.objects.filter(score_set__edition=edition, measure=measure)
    scores = scores.filter(score_set__run__in=[run.pk, other.pk])
    found = {row.score_set.run_id: row for row in scores.select_related("score_set")}
    if len(found) < 2 or None in (found[run.pk].mean, found[other.pk].mean):
        return None
    mask, direction = topic_mask(edition), parse_measure(measure).direction
    gains = direction * (found[run.pk].values - found[other.pk].values)[mask]
    is_main = other.facts.get(BRANCH) == run.track.benchmark.main_branch
    return BranchComparison(
        run=run,
        other=other,
        branch=run.track.benchmark.main_branch if is_main else "",
        measure=measure,
        mean=found[run.pk].mean,
        other_mean=found[other.pk].mean,
        better=int(np.count_nonzero(gains > 0)),
        worse=int(np.count_nonzero(gains < 0)),
    )


def check_main(found: BranchComparison, edition: Edition) -> BranchComparison:
    """Return the comparison with what the gate of the track says by the primary measure."""
    track = edition.track
    if not track.gate_margin or found.measure != track.primary_measure:
        return found
    gate = Gate(track.gate_margin, track.gate_builds)
    return replace(found, build=check_build(edition, found.measure, found.other, found.run, gate))


def find_main_run(run: Run, runs: RunQuerySet) -> Run | None:
    """Return the team's last scored run of the main branch before this one, or the baseline."""
    scored = runs.on_the_board().exclude(pk=run.pk)
    before = scored.filter(team=run.team_id, received_at__lt=run.received_at)
    main = before.filter(**{f"facts__{BRANCH}": run.track.benchmark.main_branch})
    newest = main.order_by("-received_at", "pk").first()
    return newest or scored.filter(pk=run.track.baseline_id).first()
