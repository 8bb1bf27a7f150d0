"""Sentences about means that people correct, and about the noise of machines."""

from __future__ import annotations

from evaluation.correction import MEASURED
from evaluation.correction.gains import FEWEST_LABELS
from leaderboard.analysis.corrected_means import CorrectedMeans
from leaderboard.analysis.judge_boards import JudgedBoards
from leaderboard.display.numbers import count, counted, score
from leaderboard.pages.wording.phrases import Sentence, join_phrases, name_or_count, strong


def describe_correction(means: CorrectedMeans) -> Sentence:
    """Say how far the means of the machine lie from those that people would have given.

    Runs outside of the frame do not count.
    """
    pairs = [(each.by_machine, each.corrected.value) for each in means.runs if each.corrected]
    judged = f"People judged {counted(means.judged, 'document')} of {count(means.documents)}"
    if not pairs:
        return join_phrases(f"{judged}; no run is covered by them.")
    higher = sum(machine - people for machine, people in pairs) / len(pairs)
    word = "higher" if higher >= 0 else "lower"
    return join_phrases(
        f"{judged}. By them the machine’s means are ",
        strong(f"{score(abs(higher), 3)} {word}"),
        f" than those of people, on average over {counted(len(pairs), 'run')}.",
    )


def describe_gains(means: CorrectedMeans) -> Sentence:
    """Say which runs gain more from the machine than the others, and what the test can find."""
    if means.power_any is None:
        return join_phrases("Two runs are needed to ask which gains more from the machine.")
    power = (
        f" A run that truly gains {score(means.gain_sought, 2)} more would be found with"
        f" probability {score(means.power_any, 2)}, one named before judging with"
        f" {score(means.power_named, 2)}."
    )
    if not means.is_testable:
        return join_phrases(
            strong("This sample is too small to test who gains from the machine"),
            f": it has {counted(means.judged, 'judgment')} of the {FEWEST_LABELS:,} needed.{power}",
        )
    margin = score(means.gain_margin, 2)
    if not means.gainers:
        return join_phrases(
            "No run is shown to gain more than ", margin, f" beyond the others.{power}"
        )
    names = [str(each.run) for each in means.gainers]
    verb = "gains" if len(names) == 1 else "gain"
    return join_phrases(
        name_or_count(names),
        f" {verb} from the machine more than {margin} beyond the others.{power}",
    )


def describe_measured_widths() -> str:
    """Say what numbers of labels gave where it was measured, before anybody judges."""
    widths = ", ".join(
        f"± {score(mean, 3)} with {labels:,}" for labels, (mean, _) in MEASURED.items()
    )
    return f"On 63 runs of another collection a mean of P@10 was known to {widths} judgments."


def describe_flips(boards: JudgedBoards) -> Sentence:
    """Say how many verdicts of a board depend on the version of the machine."""
    share = boards.num_flipped / boards.num_pairs if boards.num_pairs else 0.0
    return join_phrases(
        f"{count(boards.num_flipped)} of {counted(boards.num_pairs, 'pair')} of runs (",
        strong(f"{100 * share:.0f} %"),
        f") have another verdict by some of the {len(boards.judges)} versions, on"
        f" {counted(boards.topics, 'topic')} that all judged.",
    )
