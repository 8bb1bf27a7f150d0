"""Orders of judging tried on the judgments of a board: what each finds within a budget."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import partial

from evaluation.answers.any_measure import parse_measure
from evaluation.conventions import CONVENTIONS
from evaluation.pooling import ORDERS, Budget, Simulation
from leaderboard.models import Calculation, Edition, Run
from leaderboard.models.jobs import Progress, Publish
from leaderboard.scoring.files import open_run
from leaderboard.scoring.judge_boards import family_by_judge
from leaderboard.scoring.judgments import load_judgments

BUDGETS = (25, 50, 100)
ENDINGS = [Budget(documents) for documents in BUDGETS]
SEEDS = 5


@dataclass(frozen=True)
class TriedOrder:
    """What an order finds within a budget of documents per topic, and how runs rank then."""

    order: str
    budget: int
    found: float | None
    tau_ap: float | None
    tau: float | None


def compute_order_trial(asked: Calculation, progress: Progress) -> Publish:
    """Judge again in every order; return the function that stores what each found."""
    assert asked.edition is not None
    family = family_by_judge(asked.edition.track)
    lines = try_orders(asked.edition, asked.request["measure"], family, progress)
    return partial(asked.keep, {"family": family, "lines": [asdict(line) for line in lines]})


def try_orders(
    edition: Edition, measure: str, family: list[str], progress: Progress
) -> list[TriedOrder]:
    """Return a line for each order and budget; none where documents have no single grade."""
    judgments = load_judgments(edition.pk)
    if judgments.strata or judgments.subtopics:
        return []
    threshold = edition.settings["relevance_threshold"]
    found = Run.objects.in_bulk(family)
    simulation = Simulation(
        [open_run(found[run_id]) for run_id in family],
        judgments,
        [parse_measure(measure).resolved(threshold)],
        rel=threshold,
        cutoff=edition.settings["depth"],
        convention=CONVENTIONS[edition.convention],
    )
    lines: list[TriedOrder] = []
    for number, name in enumerate(ORDERS, 1):
        for outcome in simulation.simulate([name], ENDINGS, SEEDS):
            (likeness,) = outcome.boards
            assert isinstance(outcome.ending, Budget)
            lines.append(
                TriedOrder(
                    order=name,
                    budget=outcome.ending.documents,
                    found=None if math.isnan(outcome.found) else outcome.found,
                    tau_ap=likeness.tau_ap,
                    tau=likeness.tau,
                )
            )
        progress(number, len(ORDERS))
    return lines
