"""What other judgments do to a board, in a sentence."""

from __future__ import annotations

from leaderboard.breakdowns.impact import Impact
from leaderboard.templatetags.numbers import counted, score
from leaderboard.wording.phrases import Sentence, named, say, strong


def impact_verdict(impact: Impact) -> Sentence:
    leads = " leads now" if impact.agreement.first_changed else " still leads"
    tau = impact.agreement.tau
    return say(
        named(impact.leader.run),
        leads,
        f"; {counted(impact.num_moved, 'run')} of {len(impact.moves)} "
        f"{'changes' if impact.num_moved == 1 else 'change'} place, and ",
        strong(str(len(impact.turned))),
        f" {'verdict' if len(impact.turned) == 1 else 'verdicts'} against the baseline "
        f"{'turns' if len(impact.turned) == 1 else 'turn'}. Kendall's τ of the two boards is ",
        strong(score(tau, 3)),
        ".",
    )
