"""What a ranking gains of what could be gained, and which part of the rest is whose fault."""

from __future__ import annotations

from leaderboard.analysis.gains import NOTHING, GainCurves
from leaderboard.display.numbers import score
from leaderboard.models import Run
from leaderboard.wording.phrases import Sentence, in_words, named, say, strong


def gain_verdict(run: Run, gains: GainCurves) -> Sentence:
    """The share of the ideal gain, and what ranking and retrieval lost of it."""
    first = f"first {in_words(gains.cutoff)}"
    sentence = say(named(run), f" reaches {score(gains.ndcg, 3)} of the ideal gain in its {first}.")
    if gains.lost_by_ranking > NOTHING:
        lost = strong(score(gains.lost_by_ranking, 3))
        words = " is lost in ranking: re-ordering its documents would recover it."
        sentence += say(" ", lost, words)
    if gains.lost_by_retrieval > NOTHING:
        lost = strong(score(gains.lost_by_retrieval, 3))
        sentence += say(" ", lost, " is lost in retrieval: it found too few relevant documents.")
    return sentence
