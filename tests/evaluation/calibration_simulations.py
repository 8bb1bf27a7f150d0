"""How often intervals of calibration cover: python -m tests.evaluation.calibration_simulations.

A judge states confidences from 0.3 to 1 and is right less often by an excess, whose size is then
its calibration error. Topics are easier or harder by chance. Each simulation is drawn from the seed
[SEED, number].
"""

from __future__ import annotations

import argparse

import numpy as np

from evaluation.agreement.calibration import Calibration, calibrate

SEED = 20_265
EXCESSES = (0.0, 0.05, 0.15)
# How much the share right of a topic differs from that of others.
SPREAD = 0.05


def calibrate_once(topics: int, documents: int, excess: float, number: int) -> Calibration:
    """Return what one draw of topics and documents says of a judge with this excess."""
    random = np.random.default_rng([SEED, number])
    sure = random.uniform(0.3, 1.0, (topics, documents))
    # A probability above 1 would be cut, and no longer be right on average.
    sure = np.where(sure > 1 - SPREAD, 1 - SPREAD, sure)
    chance = sure - excess + random.uniform(-SPREAD, SPREAD, (topics, 1))
    right = random.random(sure.shape) < chance
    topic = np.repeat(np.arange(topics), documents)
    found = calibrate(sure.ravel(), right.ravel(), topic, topics)
    assert found is not None
    return found


def measure_coverage(topics: int, documents: int, excess: float, count: int) -> float:
    """Return the share of intervals of the calibration error that have the true one."""
    covered = []
    for number in range(count):
        error = calibrate_once(topics, documents, excess, number).error
        assert error.low is not None and error.high is not None
        covered.append(error.low <= excess <= error.high)
    return float(np.mean(covered))


def main() -> None:
    parser = argparse.ArgumentParser("python -m tests.evaluation.calibration_simulations")
    parser.add_argument("--count", type=int, default=400)
    options = parser.parse_args()
    for topics, documents in ((25, 10), (50, 10), (25, 100), (50, 100)):
        shares = [measure_coverage(topics, documents, e, options.count) for e in EXCESSES]
        cells = ", ".join(f"{e}: {s:.3f}" for e, s in zip(EXCESSES, shares, strict=True))
        print(f"{topics} topics of {documents}: {cells}", flush=True)


if __name__ == "__main__":
    main()
