"""Sentences about battles and judges: who is best, how sure that is, and what moves votes."""

from __future__ import annotations

from leaderboard.analysis.battles import BattleStandings
from leaderboard.analysis.entrant_boards import FoundEntrantBoards
from leaderboard.analysis.entrants import STATISTICS_SHOWN, FoundJudges
from leaderboard.analysis.ranked_systems import ORDERS_SHOWN, FoundRankings
from leaderboard.display.numbers import counted, score
from leaderboard.pages.wording.phrases import Sentence, join_phrases, strong

NAMES = {"length": "the longer side", "citations": "the side with more citations"}


def describe_battles(standings: BattleStandings) -> Sentence:
    """Say who is preferred most, and how many may be the best."""
    first, best = standings.rows[0], standings.best
    chance = round(100 * first.preferred)
    led = join_phrases(
        strong(str(first.run)), f" is preferred to an average run in {chance} of 100 pairs"
    )
    if not best or first.interval is None:
        return join_phrases(*led, ". There are too few votes or topics to say how sure that is.")
    return _say_who_may_be_best(led, len(best), "run")


def describe_effects(standings: BattleStandings) -> list[str]:
    """Say what length, citations and the place of a side do to votes."""
    said = []
    for effect in standings.effects:
        if effect.name in NAMES and effect.share is not None:
            said.append(f"Voters prefer {NAMES[effect.name]} in {effect.share:.0%} of pairs.")
        if effect.name == "position" and effect.is_shown:
            side = "left" if effect.odds > 1 else "right"
            said.append(f"The {side} side gains by its place: odds {effect.odds:.2f}.")
    if said and standings.keeps_order is not None:
        ends = "stays" if standings.keeps_order else "changes"
        said.append(f"With all of this held equal, the order of the runs {ends}.")
    return said


def describe_entrants(found: FoundJudges) -> Sentence:
    """Say which judge agrees best with people, and how many may be the best."""
    first, words = found.rows[0], STATISTICS_SHOWN[found.statistic]
    led = join_phrases(
        strong(str(first.run)), f" agrees best with people: {words}, {score(first.value.value, 3)}"
    )
    if not found.best:
        return join_phrases(led, f". Too few {found.noun}s are judged by both for ranks.")
    return _say_who_may_be_best(led, len(found.best), "judge")


def describe_rankings(found: FoundRankings) -> Sentence:
    """Say which ranking is nearest to the board of the systems, and how many may be the best."""
    first, words = found.rows[0], ORDERS_SHOWN[found.statistic]
    led = join_phrases(
        strong(str(first.run)),
        f" ranks the systems most like their scores: {words} {score(first.value.value, 3)}",
    )
    if not found.best:
        return join_phrases(led, ". Too few topics count for ranks.")
    return _say_who_may_be_best(led, len(found.best), "ranking")


def describe_entrant_boards(found: FoundEntrantBoards) -> Sentence:
    """Say whose board is nearest to that of people, and whether it has the same first run."""
    first = found.rows[0]
    best = first.shift.by_rank_before[0].run
    led = join_phrases(strong(str(first.run)), " orders the runs most like people")
    if first.board.tau is None:
        return join_phrases(strong("No board of a judge has an order."))
    ends = "the same run is" if first.leader == best else "another run would be"
    return join_phrases(*led, f": τ {score(first.board.tau, 3)}; {ends} first.")


def _say_who_may_be_best(led: Sentence, number: int, noun: str) -> Sentence:
    best = f"no other {noun}" if number == 1 else counted(number, noun)
    return join_phrases(led, "; ", strong(f"{best} may be the best"), ".")
