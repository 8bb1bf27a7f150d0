"""All measures of answers: names, formulas and descriptions.

    >>> example("Nuggets"), ANSWER_MEASURES["Nuggets"].signature
    (0.375, 'Nuggets(of=all,partial=0.5,over=topics)')

The formulas are in one file per kind of measure; `declaring` declares them, `value` is what
`parse_answer_measure` returns.
"""

# Importing a file of formulas declares its measures, in the order of the table.
# isort: off
from evaluation.answers.measures import credits, citations, texts

# isort: on
from evaluation.answers.measures.declaring import ANSWER_MEASURES, AnswerDefinition
from evaluation.answers.measures.example import example, example_answers
from evaluation.answers.measures.names import (
    ALIASES,
    is_answer_measure,
    parse_answer_measure,
    split_measures,
)
from evaluation.answers.measures.value import AnswerBounds, AnswerMeasure, AnswerScores

__all__ = [
    "ALIASES",
    "ANSWER_MEASURES",
    "AnswerBounds",
    "AnswerDefinition",
    "AnswerMeasure",
    "AnswerScores",
    "citations",
    "credits",
    "example",
    "example_answers",
    "is_answer_measure",
    "parse_answer_measure",
    "split_measures",
    "texts",
]
