"""Typed facts that a team states about a run, declared once.

Form fields, the schema of the API, the rows of a page and ir_metadata all come from `FACTS`.
"""

from leaderboard.runs.facts.declared import BY_NAME, FACTS, FILTERS, OF_COMMITS, REQUIRABLE
from leaderboard.runs.facts.figures import COSTS, Figure, find_common_cost, find_figure
from leaderboard.runs.facts.form import FactsForm
from leaderboard.runs.facts.headers import read_header, render_metadata
from leaderboard.runs.facts.kinds import Fact
from leaderboard.runs.facts.parameters import Parameter, find_parameters
from leaderboard.runs.facts.values import (
    FactRow,
    all_facts,
    build_columns,
    build_rows,
    clean_facts,
    facts_schema,
    find_label,
    format_fact,
    missing_facts,
)

__all__ = [
    "BY_NAME",
    "COSTS",
    "FACTS",
    "FILTERS",
    "OF_COMMITS",
    "REQUIRABLE",
    "Fact",
    "FactRow",
    "FactsForm",
    "Figure",
    "Parameter",
    "all_facts",
    "build_columns",
    "build_rows",
    "clean_facts",
    "facts_schema",
    "find_common_cost",
    "find_figure",
    "find_label",
    "find_parameters",
    "format_fact",
    "missing_facts",
    "read_header",
    "render_metadata",
]
