"""How often a board says "different" where nothing is, as simulations measured it.

The promise of 5 % is kept where scores are normal, skewed alike, nearly the same or of very
unequal variance. It fails where runs are skewed unequally and topics are few. The table is made
by `python -m tests.evaluation.simulations --structures "unequally skewed" --draws 999`, with
4,000 boards per cell; the scales of its exponential scores go from 1/4 to 4.

>>> measured_error(50, runs=12)
MeasuredError(topics=50, runs=12, all_pairs=0.1245, baseline=0.135)
>>> measured_error(5, runs=12) is None
True
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MeasuredError:
    """The share of boards with a false difference, promised .05, where scores are skewed most.

    `topics` and `runs` are those of the simulated boards; `all_pairs` and `baseline` are the
    shares for the two questions of a board.
    """

    topics: int
    runs: int
    all_pairs: float
    baseline: float


MEASURED = (
    MeasuredError(6, 12, 0.24, 0.2248),
    MeasuredError(10, 12, 0.248, 0.2485),
    MeasuredError(25, 12, 0.1718, 0.1847),
    MeasuredError(50, 12, 0.1245, 0.135),
    MeasuredError(6, 40, 0.2642, 0.3365),
    MeasuredError(10, 40, 0.4105, 0.3802),
    MeasuredError(25, 40, 0.2988, 0.308),
    MeasuredError(50, 40, 0.191, 0.2095),
)


def measured_error(topics: int, runs: int) -> MeasuredError | None:
    """The error of the simulated board that is nearest to this one, None below six topics.

    Of the boards with no fewer runs, and of the two numbers of topics around, the worse counts.
    More runs or topics than were simulated get the largest board.
    """
    sizes = sorted({measured.runs for measured in MEASURED})
    size = next((size for size in sizes if size >= runs), sizes[-1])
    boards = [measured for measured in MEASURED if measured.runs == size]
    below = [measured for measured in boards if measured.topics <= topics]
    above = [measured for measured in boards if measured.topics >= topics]
    if not below:
        return None
    around = [below[-1], *above[:1]]
    return max(around, key=lambda measured: measured.all_pairs)
