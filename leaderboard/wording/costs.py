"""What a reader of effectiveness against cost came for: the cheapest run that is good enough."""

from __future__ import annotations

from leaderboard.analysis.costs import CostBreakdown, CostLine
from leaderboard.boards.standings import FEWEST_TOPICS
from leaderboard.display.numbers import counted, score
from leaderboard.wording.phrases import Phrase, Sentence, in_words, named, say, strong


def cost_verdict(found: CostBreakdown) -> Sentence:
    """The sentence over the chart; empty where no run states the cost."""
    best, cheapest = found.best, found.cheapest_good
    if best is None or cheapest is None:
        return []
    if len(found.lines) == 1:
        return say(named(best.run), " is the only run with this cost: ", *_price(best), ".")
    if not found.is_tested:
        few = in_words(FEWEST_TOPICS)
        why = "" if found.board.can_tell else f" With fewer than {few} topics no test is possible."
        return say(named(best.run), " is best for ", *_price(best), f".{why}")
    if cheapest is best:
        return say(
            named(best.run),
            " is best, and every cheaper run is significantly worse: ",
            *_price(best),
            ".",
        )
    return say(
        "The cheapest run that is not significantly worse than the best is ",
        named(cheapest.run),
        ": ",
        *_price(cheapest),
        ", ",
        named(best.run),
        " has ",
        *_price(best),
        ".",
    )


def _price(line: CostLine) -> list[Phrase]:
    return say(strong(score(line.mean, 3)), " for ", strong(line.told))


def stating(found: CostBreakdown) -> str:
    """How many runs stand here, and how many say nothing of this cost."""
    said = counted(len(found.lines), "run reports,runs report")
    silent = counted(found.num_silent, "run does,runs do")
    return f"{said} it; {silent} not." if found.num_silent else f"{said} it."
