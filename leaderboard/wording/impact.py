"""What other judgments do to a board, in a sentence."""

from __future__ import annotations

from leaderboard.analysis.impact import MeasureImpact
from leaderboard.display.numbers import counted, score
from leaderboard.wording.phrases import Sentence, named, say, strong


def impact_verdict(impact: MeasureImpact, has_baseline: bool) -> Sentence:
    """Say who leads and how many runs and verdicts change by one measure."""
    leads = " leads now" if impact.agreement.first_changed else " still leads"
    change = "changes" if impact.num_moved == 1 else "change"
    return say(
        named(impact.leader.run),
        f"{leads}; {counted(impact.num_moved, 'run')} of {len(impact.moves)} {change} rank",
        _of_verdicts(impact) if has_baseline else [],
        ". Kendall's τ between the boards is ",
        strong(score(impact.agreement.tau, 3)),
        ".",
    )


def _of_verdicts(impact: MeasureImpact) -> Sentence:
    """Say how many verdicts change; nothing where tests are still to be made."""
    if impact.untested:
        return []
    one = len(impact.turned) == 1
    words = (
        f" {'verdict' if one else 'verdicts'} against the baseline {'changes' if one else 'change'}"
    )
    return say(", and ", strong(str(len(impact.turned))), words)
