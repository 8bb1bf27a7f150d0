"""The facts of a run, declared once."""

from __future__ import annotations

from leaderboard.facts.figures import Figures
from leaderboard.facts.kinds import Choice, Choices, Fact, Link, Mark, Whole, Words, YesNo

PUBLICATION = "research goal.publication"

FACTS: tuple[Fact, ...] = (
    Choice(
        "kind",
        "How it was made",
        "Kind",
        choices={
            "automatic": "nobody stepped in between topics and run",
            "feedback": "somebody told it which documents are relevant",
            "manual": "somebody worded, chose or ranked by hand",
        },
        default="automatic",
    ),
    Mark(
        "primary",
        "The primary run of the team",
        "Primary run",
        "One a team: a later one takes its place once its file is accepted.",
    ),
    Choices(
        "topic_fields",
        "Fields of the topics it used",
        "Topic fields",
        choices=dict.fromkeys(("title", "description", "narrative", "other"), ""),
    ),
    Choice(
        "stage",
        "What it ranks",
        "Stage",
        choices={
            "first-stage": "the whole collection",
            "rerank": "the results of a first stage",
            "fusion": "the rankings of several systems",
        },
    ),
    Whole(
        "priority",
        "Priority for judging",
        "Priority",
        "Among the runs of the team; 1 is judged first.",
    ),
    Link("code", "Code", "Code", paths=("implementation.source.repository",)),
    Link(
        "paper",
        "Paper",
        "Paper",
        paths=tuple(
            f"research goal.publication.{name}" for name in ("url", "doi", "arxiv", "dblp")
        ),
    ),
    YesNo("llm", "A large language model had a part in it", "Language model"),
    YesNo(
        "judgments_used", "Judgments of these topics were used to train or tune it", "Saw judgments"
    ),
    YesNo("closed", "It needs data or models that others cannot get", "Closed parts"),
    Words("models", "Models", "Models", "Names and versions.", rows=1),
    Words(
        "training_data",
        "Training data",
        "Training data",
        "Also what its models were trained on, where known.",
    ),
    Words(
        "hardware",
        "Hardware",
        "Hardware",
        "That of the figures: processor, accelerators, memory.",
        rows=1,
    ),
    Figures("efficiency", "Efficiency", "Efficiency"),
)
BY_NAME = {fact.name: fact for fact in FACTS}
# The kind of a run is always asked, with an answer that most give; nobody must have a primary run.
REQUIRABLE = tuple(fact for fact in FACTS if fact.name not in ("kind", "primary"))
# By what a board can be filtered, beside the kind.
FILTERS = {fact.name: fact for fact in REQUIRABLE if fact.options}
