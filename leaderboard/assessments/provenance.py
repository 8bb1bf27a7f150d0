"""How the documents of an assessment were chosen, and who judged them."""

from __future__ import annotations

from dataclasses import dataclass

from leaderboard.assessments.learning import GUARDS
from leaderboard.display.numbers import counted
from leaderboard.models import Assessment, JudgmentSet, Mark, Membership

NAMES = {
    Assessment.Order.THOMPSON: "Thompson sampling",
    Assessment.Order.MAXMEAN: "MaxMean",
    Assessment.Order.DECIDES: "what could still change a verdict",
}
OUTSIDE = "Documents outside are not judged, so AP and recall of runs outside the pool are too low."


def name_drawing(assessment: Assessment) -> str:
    """Return by which order the documents were drawn, "" for an order that takes all of them.

    >>> name_drawing(Assessment(order="thompson", budget=100))
    'Drawn by Thompson sampling, 100 documents per topic'
    """
    if not assessment.chooses:
        return ""
    name = f"Drawn by {NAMES[Assessment.Order(assessment.order)]}"
    if assessment.budget is None:
        return name
    noun = "document" if assessment.budget == 1 else "documents"
    mean = " on average" if assessment.second_round_at else ""
    return f"{name}, {assessment.budget:,} {noun} per topic{mean}"


def describe_drawing(assessment: Assessment) -> str:
    """Return all that is needed to draw the documents again; "" for an order that takes all."""
    name = name_drawing(assessment)
    if not assessment.learns:
        return f"{name}. {OUTSIDE}" if name else ""
    at_random = ""
    if assessment.random_part:
        drawn = counted(assessment.random_part, "document")
        at_random = f", and {drawn} drawn at random beforehand"
    return (
        f"{name}, seed {assessment.seed}: the first {GUARDS.warm_up} of a topic by depth, then "
        f"every {GUARDS.every}th from the run seen least, at most {GUARDS.in_a_row} in a row from "
        f"one team{at_random}. {OUTSIDE}"
    )


def describe_estimates(judgment_set: JudgmentSet) -> str:
    """Say which measures a version cannot estimate; "" unless an order chose its documents."""
    if judgment_set.assessment is None or not judgment_set.assessment.chooses:
        return ""
    return f"{name_drawing(judgment_set.assessment)}. {OUTSIDE}"


@dataclass(frozen=True)
class Judges:
    """Numbers of assessors: all with a grade, those in teams of the track, and organisers."""

    number: int
    in_teams: int
    organisers: int


def count_judges(assessment: Assessment) -> Judges:
    """Count the assessors who gave a grade."""
    graded = Mark.objects.of(assessment).standing().filter(kind=Mark.Kind.GRADE)
    judges = assessment.assessors.filter(pk__in=graded.values("assessor"))
    users = set(judges.exclude(user=None).values_list("user", flat=True))
    members = Membership.objects.filter(
        benchmark=assessment.track.benchmark_id, user__in=users, team__of_organisers=False
    )
    organisers = assessment.track.organisers().filter(pk__in=users)
    return Judges(judges.count(), members.values("user").distinct().count(), organisers.count())
