"""What a team states about a run: typed facts, declared once.

Form fields, the schema of the API, the rows of a page and ir_metadata all come from `FACTS`.
"""

from leaderboard.runs.facts.asking import FactsForm
from leaderboard.runs.facts.declared import BY_NAME, FACTS, FILTERS, REQUIRABLE
from leaderboard.runs.facts.figures import COSTS, Figure, figure_of
from leaderboard.runs.facts.headers import as_metadata, facts_in_header
from leaderboard.runs.facts.kinds import Fact
from leaderboard.runs.facts.stated import (
    Row,
    clean_facts,
    columns_of,
    label_of,
    missing_facts,
    rows_of,
    schema,
    stated,
    words_of,
)

__all__ = [
    "BY_NAME",
    "COSTS",
    "FACTS",
    "FILTERS",
    "REQUIRABLE",
    "Fact",
    "FactsForm",
    "Figure",
    "Row",
    "as_metadata",
    "clean_facts",
    "columns_of",
    "facts_in_header",
    "figure_of",
    "label_of",
    "missing_facts",
    "rows_of",
    "schema",
    "stated",
    "words_of",
]
