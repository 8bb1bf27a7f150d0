"""The facts of a run, declared once."""

from __future__ import annotations

from leaderboard.runs.facts.figures import FiguresFact
from leaderboard.runs.facts.kinds import (
    ChoiceFact,
    ChoicesFact,
    Fact,
    IntegerFact,
    LinkFact,
    MarkFact,
    TextFact,
    YesNoFact,
)

FACTS: tuple[Fact, ...] = (
    ChoiceFact(
        "kind",
        "Type",
        choices={
            "automatic": "no human input after topics were read",
            "feedback": "used human relevance feedback",
            "manual": "queries, selection or ranking by hand",
        },
        default="automatic",
    ),
    MarkFact(
        "primary",
        "Primary run",
        "One per team. A later primary run replaces it once accepted.",
    ),
    ChoicesFact(
        "topic_fields",
        "Topic fields",
        choices=dict.fromkeys(("title", "description", "narrative", "other"), ""),
    ),
    ChoiceFact(
        "stage",
        "Stage",
        choices={
            "first-stage": "the whole collection",
            "rerank": "the results of a first stage",
            "fusion": "the rankings of several systems",
        },
    ),
    IntegerFact(
        "priority",
        "Judging priority",
        "Among your team’s runs. 1 is judged first.",
    ),
    TextFact(
        "commit",
        "Commit",
        "The revision of the code that made the run.",
        paths=("implementation.source.commit",),
        rows=1,
    ),
    TextFact(
        "branch",
        "Branch",
        "Such as main, or the name of a change.",
        paths=("implementation.source.branch",),
        rows=1,
    ),
    TextFact(
        "configuration",
        "Configuration",
        "Settings of the system, such as k1=0.9 b=0.4.",
    ),
    LinkFact("code", "Code", paths=("implementation.source.repository",)),
    LinkFact(
        "paper",
        "Paper",
        paths=tuple(
            f"research goal.publication.{name}" for name in ("url", "doi", "arxiv", "dblp")
        ),
    ),
    YesNoFact("llm", "Large language model", "Whether the run uses one."),
    YesNoFact(
        "judgments_used",
        "Tuned on these judgments",
        "Whether judgments of these topics were used for training or tuning.",
    ),
    YesNoFact(
        "closed",
        "Closed data or models",
        "Whether the run needs data or models that are not open to others.",
    ),
    TextFact("models", "Models", "Names and versions.", rows=1),
    TextFact(
        "training_data",
        "Training data",
        "Include the training data of its models, if known.",
    ),
    TextFact(
        "hardware",
        "Hardware",
        "Processor, accelerators and memory used for the efficiency figures.",
        rows=1,
    ),
    FiguresFact("efficiency", "Efficiency"),
)
BY_NAME = {fact.name: fact for fact in FACTS}
# The form always asks for the kind, with a default, and no team must have a primary run.
REQUIRABLE = tuple(fact for fact in FACTS if fact.name not in ("kind", "primary"))
# Facts that only tracks with a main branch ask for.
OF_COMMITS = ("commit", "branch", "configuration")
# The filters of a board besides the kind.
FILTERS = {fact.name: fact for fact in REQUIRABLE if fact.options}
