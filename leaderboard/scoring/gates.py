"""The gate of a run: pass, worse, or cannot tell, beside a fixed reference with counted builds."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.answers.any_measure import parse_measure
from evaluation.gates import FIRST, GateReport, ScoredPair, check_gate
from evaluation.significance import Gate
from leaderboard.display.numbers import difference_text, interval
from leaderboard.models import Edition, Run, Score
from leaderboard.scoring.judgments import number_topic_groups, tested_topics
from leaderboard.scoring.scores import load_means, tested_scores

DIGITS = 4


@dataclass(frozen=True)
class CheckedBuild:
    """What the gate says of a run, and the how many-th it is that its reference has to stop."""

    report: GateReport
    number: int

    @property
    def budget(self) -> int:
        return self.report.gate.builds

    @property
    def change(self) -> str:
        """The difference from the reference, with the bounds that decide."""
        found = self.report
        words = difference_text(found.difference, found.unit, DIGITS)
        if found.low is None or found.high is None:
            return words
        return f"{words} {interval(found.low, found.high, DIGITS, found.unit)}"

    @property
    def sentences(self) -> list[str]:
        """Why the gate answers so, and whether the builds of the reference are used up."""
        if self.number <= self.budget:
            return self.report.sentences
        used = f"This is build {self.number:,} of {self.budget:,} for one reference."
        return [*self.report.sentences, f"{used} A new reference keeps false alarms rare."]


def check_build(
    edition: Edition, measure: str, reference: Run, new: Run, gate: Gate
) -> CheckedBuild:
    """Hold a run against a reference on the topics of a board; both have scores there."""
    topics, judged = tested_topics(edition), load_means(edition).judged
    unjudged = [FIRST * (1 - judged[run.pk]) for run in (reference, new)]
    pair = ScoredPair(
        measure=parse_measure(measure),
        name=measure,
        tags=(reference.tag, new.tag),
        topics=topics,
        scores=tested_scores(edition, measure, [reference.pk, new.pk]),
        unjudged=(unjudged[0], unjudged[1]),
        groups=number_topic_groups(edition.track.collection_id, topics),
    )
    return CheckedBuild(check_gate(pair, gate), count_builds(edition, measure, reference, new))


def count_builds(edition: Edition, measure: str, reference: Run, new: Run) -> int:
    """Return how many runs of a team were held against a reference, up to this one.

    A run that changes no topic is none of them: it cannot be stopped.
    """
    held = Run.objects.on_the_board().filter(team=new.team_id, received_at__lte=new.received_at)
    if reference.team_id == new.team_id:
        held = held.filter(received_at__gt=reference.received_at)
    scores = Score.objects.filter(score_set__edition=edition, measure=measure)
    same = bytes(scores.get(score_set__run=reference.pk).by_topic)
    return (
        scores.filter(score_set__run__in=held.exclude(pk=reference.pk))
        .exclude(by_topic=same)
        .count()
    )
