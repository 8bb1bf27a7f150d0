"""All measures: names, formulas and descriptions.

    >>> measure = parse_measure("nDCG@10")
    >>> measure.scores(example_run()).round(4)
    array([0.6593])
    >>> MEASURES["Bpref"].description
    'Share of relevant documents, weighted by how few judged non-relevant ones are above.'

The formulas are in one file per kind of measure. `declaring` declares them, `value` holds what
`parse_measure` returns, `text` and `names` read names.
"""

# Importing a file of formulas declares its measures, in the order of the table.
# isort: off
from evaluation.measures import counting, ranks, gains, user_models, holes, diversity

# isort: on
from evaluation.measures.declaring import MEASURES, Definition, MeasureError
from evaluation.measures.diversity import DIVERSITY
from evaluation.measures.example import example, example_run
from evaluation.measures.holes import (
    SAMPLED,
    WITHOUT_GRADES,
    is_of_one_stratum,
    measures_of_sample,
)
from evaluation.measures.names import Asked, parse_measure, parse_measures
from evaluation.measures.value import Bounds, Measure, TrecMeasure

__all__ = [
    "DIVERSITY",
    "MEASURES",
    "SAMPLED",
    "WITHOUT_GRADES",
    "Asked",
    "Bounds",
    "Definition",
    "Measure",
    "MeasureError",
    "TrecMeasure",
    "counting",
    "diversity",
    "example",
    "example_run",
    "gains",
    "holes",
    "is_of_one_stratum",
    "measures_of_sample",
    "parse_measure",
    "parse_measures",
    "ranks",
    "user_models",
]
