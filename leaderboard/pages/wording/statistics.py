"""Explanations of the statistics: their function, and definition and source of `statistics.md`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SOURCE = "Source: "


def _read_paragraphs() -> dict[str, list[str]]:
    """Return the paragraphs of `statistics.md` by the title above them."""
    text = Path(__file__).with_suffix(".md").read_text(encoding="utf-8")
    paragraphs: dict[str, list[str]] = {}
    for part in text.split("\n\n"):
        if part.startswith("## "):
            under = paragraphs.setdefault(part.removeprefix("## "), [])
        elif paragraphs:
            under.append(" ".join(part.split()))
    return paragraphs


PARAGRAPHS = _read_paragraphs()


@dataclass(frozen=True)
class Statistic:
    """A statistic of the scores; `function` is the code that computes it."""

    title: str
    function: str
    # Whether it uses the scores of one measure.
    of_one_measure: bool = True
    needs_judgments: bool = True
    # What the command prints in addition.
    command_adds: str = ""

    @property
    def says(self) -> list[str]:
        return [text for text in PARAGRAPHS[self.title] if not text.startswith(SOURCE)]

    @property
    def source(self) -> str:
        """The paper; "" if there is none."""
        found = (text for text in PARAGRAPHS[self.title] if text.startswith(SOURCE))
        return next(found, "").removeprefix(SOURCE)


STATISTICS = {
    "difference": Statistic(
        "Difference from the baseline", "evaluation.significance.compare_with_baseline"
    ),
    "pair": Statistic(
        "Difference between two runs", "evaluation.significance.decide_within_all_pairs"
    ),
    "probability": Statistic(
        "Probability that a run is better",
        "evaluation.significance.posterior_of_pair",
        command_adds="The other run is compared with the first.",
    ),
    "all-pairs": Statistic(
        "All pairs of runs",
        "evaluation.significance.compare_all_pairs",
        command_adds="With --ranks, it also prints each run’s rank interval and letters.",
    ),
    "agreement": Statistic(
        "Agreement of two boards",
        "evaluation.agreement.tau_matrix, evaluation.agreement.tau_ap",
        of_one_measure=False,
    ),
    "overlap": Statistic(
        "Rank-biased overlap",
        "evaluation.agreement.rbo",
        of_one_measure=False,
        needs_judgments=False,
    ),
    "gains": Statistic(
        "Discounted cumulated gain", "evaluation.measures.gains.GainScale", of_one_measure=False
    ),
    "precision": Statistic(
        "Precision at recall and at depth",
        "evaluation.curves.mean_curve",
        of_one_measure=False,
        command_adds="It prints these means for every run; median and best come from them.",
    ),
    "curve": Statistic(
        "Precision and recall on one topic",
        "evaluation.curves.precision_recall",
        of_one_measure=False,
        command_adds="Without --levels, it prints the rank of each relevant document instead.",
    ),
    "losses": Statistic("What a document would add", "evaluation.judge"),
    "bounds": Statistic("What further judgments could change", "evaluation.pooling.holes"),
    "correlation": Statistic(
        "Item-total correlation of a topic",
        "leaderboard.analysis.topic_map.item_total_correlations",
        command_adds="It prints the scores that are correlated.",
    ),
    "spread": Statistic(
        "Worst, median and best of the runs",
        "leaderboard.analysis.scores.compute_spread",
        command_adds="It prints every score behind these values.",
    ),
    "cost": Statistic(
        "Effectiveness and cost",
        "evaluation.significance.compare_all_pairs",
        command_adds="It compares every run of the board with the best run that states this cost.",
    ),
    "reusability": Statistic(
        "Without one team",
        "evaluation.pooling.leave_one_team_out",
        command_adds="It prints all runs of every team, not only the best.",
    ),
    "planning": Statistic(
        "Topics and pools to plan",
        "evaluation.significance.topics_in_family, evaluation.significance.anova_topics,"
        " evaluation.significance.interval_topics, evaluation.pooling.compare_depths",
        command_adds="With an entered variance it prints no pools.",
    ),
}
