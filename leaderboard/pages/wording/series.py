"""Sentences about systems on dates in their order."""

from __future__ import annotations

from evaluation.significance.units import FEWEST_TOPICS
from leaderboard.analysis.series import Series
from leaderboard.display.numbers import counted
from leaderboard.pages.wording.phrases import Phrase, Sentence, join_phrases, spell_number


def describe_losses(found: Series) -> Sentence:
    """Say how many systems lose more than the pivot to the later date; empty without tests."""
    if not found.says_something or found.pivot is None or found.tests is None:
        return []
    tested = [score for _, score in found.now if score.loss is not None]
    if not tested:
        return []
    first, later = (each.sight.track.dated for each in (found.columns[0], found.later))
    span = f"From {first} to {later}, "
    if all(score.loss is not None and score.loss.p is None for score in tested):
        fewest = spell_number(FEWEST_TOPICS)
        return join_phrases(f"{span}no loss can be tested: that takes {fewest} topics on each.")
    worse, better = (sum(s.verdict == verdict for s in tested) for verdict in ("worse", "better"))
    number = counted(len(tested), "system")
    return join_phrases(
        f"{span}{worse} of {number} lose significantly more than ",
        Phrase(name=found.pivot.name),
        f", {better} significantly less.",
    )


def explain_changes(found: Series) -> list[str]:
    """Say what the numbers of a change are."""
    if not found.says_something:
        return []
    lines = [
        "Intervals are 95 % intervals of each score alone; they decide nothing. A system with all"
        " scores has a mean over them. Result delta: the first score minus the later one;"
        " relative change: its share of the first score. Both are positive if the score falls.",
    ]
    if found.pivot is None:
        return [*lines, "Choose a system to compare with, to see who loses more than it does."]
    lines.append(
        "ΔRI: the relative improvement over the system compared with, on the first date minus"
        " the later one; positive if the system loses more. Effect ratio: the later lead over that"
        " system as a share of the first lead; 1 if the lead stays."
    )
    if found.contest is not None:
        lines.append(
            "Change of lead: the later lead minus the first, with its interval. p and interval"
            " hold for all systems and all later dates at once: maximum t over systems,"
            " Bonferroni over dates. Topics of different collections count as independent."
        )
    return lines


def explain_silence(found: Series) -> str:
    """Say why there is nothing to compare over time."""
    if len(found.columns) < 2:
        return "Organisers give two tracks the date of their collection, under Organise."
    if not found.has_one_measure:
        return "The tracks have different measures. Choose one that all of them have."
    return "A system appears once its runs are scored."
