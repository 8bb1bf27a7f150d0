"""Means by a machine, corrected by people who judge a sample with known probabilities."""

from evaluation.correction.frames import (
    CorrectedBoard,
    FrameRow,
    Placements,
    SampleFrame,
    correct_board,
)
from evaluation.correction.gains import Gains, compare_gains
from evaluation.correction.means import MOST_UNCOVERED, Correction, Estimates
from evaluation.correction.planning import LABELS, MEASURED, PlannedLabels, plan_labels
from evaluation.correction.sampling import COVERS, SampledStratum, draw_sample
from evaluation.correction.weights import (
    MeasureParts,
    explain_uncorrected,
    scale_topics,
    split_measure,
)

__all__ = [
    "COVERS",
    "LABELS",
    "MEASURED",
    "MOST_UNCOVERED",
    "CorrectedBoard",
    "Correction",
    "Estimates",
    "FrameRow",
    "Gains",
    "MeasureParts",
    "Placements",
    "PlannedLabels",
    "SampleFrame",
    "SampledStratum",
    "compare_gains",
    "correct_board",
    "draw_sample",
    "explain_uncorrected",
    "plan_labels",
    "scale_topics",
    "split_measure",
]
