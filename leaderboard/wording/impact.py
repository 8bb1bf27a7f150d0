"""What other judgments do to a board, in a sentence."""

from __future__ import annotations

from leaderboard.breakdowns.impact import Impact
from leaderboard.templatetags.numbers import counted, score
from leaderboard.wording.phrases import Sentence, named, say, strong


def impact_verdict(impact: Impact) -> Sentence:
    leads = " leads now" if impact.agreement.first_changed else " still leads"
    change = "changes" if impact.num_moved == 1 else "change"
    return say(
        named(impact.leader.run),
        f"{leads}; {counted(impact.num_moved, 'run')} of {len(impact.moves)} {change} rank",
        _of_verdicts(impact),
        ". Kendall's τ between the boards is ",
        strong(score(impact.agreement.tau, 3)),
        ".",
    )


def _of_verdicts(impact: Impact) -> Sentence:
    """How many turn; nothing where no baseline is, or where the tests are still to be made."""
    if impact.old.track.baseline_id is None or impact.untested:
        return []
    one = len(impact.turned) == 1
    words = (
        f" {'verdict' if one else 'verdicts'} against the baseline {'changes' if one else 'change'}"
    )
    return say(", and ", strong(str(len(impact.turned))), words)
