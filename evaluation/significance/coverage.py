"""How often a board says "different" where nothing is, as simulations measured it.

The promise of 5 % is kept where scores are normal, skewed alike, nearly the same or of very
unequal variance. It fails where runs are skewed unequally and topics are few. The table is made
by `python -m tests.evaluation.simulations --structures "unequally skewed" --draws 499 --again 0`
with `--topics 6 10 25 50 100`, of 2,000 boards per cell for 12 runs and 1,000 for 40; the scales
of its exponential scores go from 1/4 to 4.

>>> measured_error(50, runs=12)
MeasuredError(topics=50, runs=12, all_pairs=0.078, baseline=0.0905)
>>> measured_error(5, runs=12) is None
True
"""

from __future__ import annotations

from dataclasses import dataclass, replace


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
    MeasuredError(6, 12, 0.024, 0.0565),
    MeasuredError(10, 12, 0.0595, 0.092),
    MeasuredError(25, 12, 0.074, 0.094),
    MeasuredError(50, 12, 0.078, 0.0905),
    MeasuredError(100, 12, 0.0665, 0.0725),
    MeasuredError(6, 40, 0.001, 0.044),
    MeasuredError(10, 40, 0.025, 0.108),
    MeasuredError(25, 40, 0.085, 0.142),
    MeasuredError(50, 40, 0.101, 0.134),
    MeasuredError(100, 40, 0.082, 0.1),
)


def measured_error(topics: int, runs: int) -> MeasuredError | None:
    """The error of the simulated board that is nearest to this one, None below six topics.

    Of the boards with no fewer runs, and of the two numbers of topics around, the worse counts
    for each question. More runs or topics than were simulated get the largest board.
    """
    sizes = sorted({measured.runs for measured in MEASURED})
    size = next((size for size in sizes if size >= runs), sizes[-1])
    boards = [measured for measured in MEASURED if measured.runs == size]
    below = [measured for measured in boards if measured.topics <= topics]
    above = [measured for measured in boards if measured.topics >= topics]
    if not below:
        return None
    around = [below[-1], *above[:1]]
    return replace(
        around[0],
        all_pairs=max(measured.all_pairs for measured in around),
        baseline=max(measured.baseline for measured in around),
    )
