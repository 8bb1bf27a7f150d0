"""What a reader of effectiveness against cost came for: the cheapest run that is good enough."""

from __future__ import annotations

from evaluation.measures import parse_measure
from evaluation.significance import TESTS, minimum_detectable
from evaluation.significance.randomisation import DRAWS, EXACT_UP_TO
from leaderboard.analysis import Pair
from leaderboard.analysis.costs import CostBreakdown, CostLine
from leaderboard.analysis.gains import ROUNDING_ERROR, GainCurves
from leaderboard.analysis.holes import HoleLine, HoleTable
from leaderboard.analysis.impact import MeasureImpact
from leaderboard.analysis.topics import TOP, Answer, TopicBreakdown
from leaderboard.boards.disclosure import Sight
from leaderboard.boards.standings import FEWEST_TOPICS, Board
from leaderboard.display.numbers import count, counted, interval, nth, p_in_words, score, signed
from leaderboard.models import Run, ScoreSet
from leaderboard.pages.wording.phrases import (
    NAMED,
    Phrase,
    Sentence,
    in_words,
    listed,
    named,
    say,
    strong,
)


def cost_verdict(found: CostBreakdown) -> Sentence:
    """The sentence over the chart; empty where no run states the cost."""
    best, cheapest = found.best, found.cheapest_good
    if best is None or cheapest is None:
        return []
    if len(found.lines) == 1:
        return say(named(best.run), " is the only run with this cost: ", *_price(best), ".")
    if not found.is_tested:
        few = in_words(FEWEST_TOPICS)
        why = (
            ""
            if found.board.has_enough_topics
            else f" With fewer than {few} topics no test is possible."
        )
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
    return say(strong(score(line.mean, 3)), " for ", strong(line.cost_text))


def stating(found: CostBreakdown) -> str:
    """How many runs stand here, and how many say nothing of this cost."""
    said = counted(len(found.lines), "run reports,runs report")
    silent = counted(found.num_without_cost, "run does,runs do")
    return f"{said} it; {silent} not." if found.num_without_cost else f"{said} it."


SIGN_FLIP = "sign_flip"


def describe_test(test: str, topics: int) -> str:
    """A test by its name, with what decides its p.

    >>> describe_test("t", 225)
    'two-sided paired t-test'
    >>> describe_test("sign_flip", 25)
    'two-sided paired randomisation test (sign flips), all sign patterns'
    """
    if test != SIGN_FLIP:
        return TESTS[test]
    draws = "all sign patterns" if topics <= EXACT_UP_TO else f"{count(DRAWS)} draws"
    return f"{TESTS[test]}, {draws}"


# A run is little judged where less than this share of what the run in the middle has is.
LITTLE = 0.8


def left_open(scored: ScoreSet, measure: str) -> str:
    """Between what equal scores leave the measure; empty where their order changes nothing."""
    if measure not in scored.ties:
        return ""
    low, high = scored.ties[measure]
    return (
        f"Documents with tied scores are ordered by docno; in another order "
        f"{measure} could be {score(low)} to {score(high)}."
    )


def little_judged(scored: ScoreSet, board: Board) -> str:
    """Where fewer of its first ten documents are judged than of most runs."""
    median = board.median_judged
    if scored.judged_at_10 >= LITTLE * median:
        return ""
    return (
        f"{scored.judged_at_10:.0%} of its top ten documents are judged, against a median of "
        f"{median:.0%}. Unjudged documents count as not relevant, so its scores may be "
        "too low."
    )


def withdrawn_by(sight: Sight, run: Run) -> str:
    """Who withdrew a run: by name for those inside; empty where nobody did or is known."""
    who = run.withdrawn_by
    if who is None or sight.can_see_file(run):
        return who.username if who is not None else ""
    is_member = run.team.memberships.filter(user=who).exists()
    return "its team" if is_member else "the organisers"


# What three decimals do not show.
SMALL = 0.0005


def holes_verdict(table: HoleTable, board: Board) -> Sentence:
    """How far scores and verdicts could move, or why nothing tells that."""
    if not table.lines or not table.measure:
        return []
    if not table.bounds_hold:
        return say(
            f"There is no bound on how far judgments could move {table.measure}: a relevant "
            "document that a run misses lowers its score too."
        )
    sentence = _scores(table)
    if board.baseline is None or not table.doubts:
        return sentence
    others = [] if table.measure == board.measure else _of_another_measure(table, board)
    return say(sentence, " ", _verdicts(table, board.baseline), others)


def _of_another_measure(table: HoleTable, board: Board) -> str:
    return (
        f" Those by {board.measure}, which ranks the board, are others and cannot be bounded: "
        f"{board.measure} is no sum over documents, as {table.measure} is."
    )


def _scores(table: HoleTable) -> Sentence:
    most = max(table.lines, key=_room)
    if _room(most) < SMALL:
        return say(
            f"Every document that decides {table.measure} was judged: no new judgment "
            "could move a score by .001."
        )
    return say(
        "Unjudged documents could raise ",
        named(most.standing.run),
        " by up to ",
        strong(f"{signed(_room(most))} {table.measure}"),
        _no_other(table, most),
    )


def _no_other(table: HoleTable, most: HoleLine) -> str:
    rest = max((_room(each) for each in table.lines if each is not most), default=0.0)
    return ", and no other run." if rest < SMALL else ", and no other run by more."


def _room(line: HoleLine) -> float:
    return line.high - line.low


def _verdicts(table: HoleTable, baseline: Run) -> Sentence:
    doubts, doubtful = len(table.doubts), [each.standing.run for each in table.doubtful]
    against = say(f" by {table.measure} against the baseline ", named(baseline))
    if not doubtful:
        which = "The verdict" if doubts == 1 else f"All {in_words(doubts)} verdicts"
        stand = "is safe" if doubts == 1 else "are safe"
        return say(which, against, f" {stand}, whatever grades the missing judgments have.")
    number = f"{len(doubtful)} of {counted(doubts, 'verdict')}"
    names = say(": ", listed(doubtful)) if len(doubtful) <= NAMED else []
    return say(strong(number), against, " could flip", names, ".")


def gain_verdict(run: Run, gains: GainCurves) -> Sentence:
    """The share of the ideal gain, and what ranking and retrieval lost of it."""
    first = f"first {in_words(gains.cutoff)}"
    sentence = say(named(run), f" reaches {score(gains.ndcg, 3)} of the ideal gain in its {first}.")
    if gains.lost_by_ranking > ROUNDING_ERROR:
        lost = strong(score(gains.lost_by_ranking, 3))
        words = " is lost in ranking: re-ordering its documents would recover it."
        sentence += say(" ", lost, words)
    if gains.lost_by_retrieval > ROUNDING_ERROR:
        lost = strong(score(gains.lost_by_retrieval, 3))
        sentence += say(" ", lost, " is lost in retrieval: it found too few relevant documents.")
    return sentence


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


# So many documents are told one by one.
TOLD = 2


def topic_verdict(breakdown: TopicBreakdown) -> Sentence:
    """The sentence over a topic's runs; empty where no run has a score."""
    scored = [each for each in breakdown.answers if each.rank is not None]
    if not scored:
        return []
    own = next((each for each in scored if each.is_own), None)
    if own is None or len(scored) == 1:
        return _best_and_last(breakdown.measure, scored)
    return [
        *_own_place(breakdown.measure, scored, own),
        *_found_late(breakdown, own),
        *_unjudged(own),
    ]


def _best_and_last(measure: str, scored: list[Answer]) -> Sentence:
    best, last = scored[0], scored[-1]
    if best.score == last.score and len(scored) > 1:
        return say(f"All {count(len(scored))} runs have {measure} {score(best.score)}.")
    sentence = say(named(best.run), f" is best with {measure} {score(best.score)}")
    if len(scored) > 1:
        sentence += say(", ", named(last.run), f" last with {score(last.score)}")
    return [*sentence, Phrase(".")]


def _own_place(measure: str, scored: list[Answer], own: Answer) -> Sentence:
    best = scored[0]
    place = "best" if own.rank == 1 else nth(own.rank or 0)
    words = f" is {place} of {in_words(len(scored))} with {measure} {score(own.score)}"
    if own.rank == 1:
        return say(named(own.run), words, ".")
    return say(named(own.run), words, "; ", named(best.run), f" has {score(best.score)}.")


def _found_late(breakdown: TopicBreakdown, own: Answer) -> Sentence:
    """Relevant documents that a better baseline has in its first ten and this run has not."""
    baseline = next((each for each in breakdown.answers if each.is_baseline), None)
    if baseline is None or (own.rank or 0) <= (baseline.rank or 0):
        return []
    mine, theirs = own.run.pk, baseline.run.pk
    late = [
        document
        for document in breakdown.relevant
        if document.ranks.get(mine, TOP + 1) > TOP >= document.ranks.get(theirs, TOP + 1)
    ][:TOLD]
    if not late:
        return []
    sentence = say(" It has ")
    for place, document in enumerate(late):
        rank = document.ranks.get(mine)
        where = f" at {count(rank)}" if rank is not None else " nowhere"
        sentence += say(" and " if place else "", Phrase(code=document.docno), where)
    ranks = " and ".join(str(document.ranks[theirs]) for document in late)
    them = "it" if len(late) == 1 else "them"
    return [*sentence, *say("; ", named(baseline.run), f" has {them} at {ranks}.")]


def _unjudged(own: Answer) -> Sentence:
    unjudged = own.unjudged_in_top
    if not unjudged:
        return []
    number = in_words(unjudged).capitalize()
    verb = "is" if unjudged == 1 else "are"
    return say(f" {number} of its first {in_words(len(own.top_grades))} {verb} unjudged.")


# Two runs that differ by so much on a topic do different things there.
FAR_APART = 0.2


def pair_verdict(pair: Pair) -> Sentence:
    """Run `b` against run `a`: what the test says, how large, how sure, on how many topics."""
    against = pair.against
    if against.difference is None or against.low is None or against.high is None:
        return say("No topic has scores for both ", named(pair.a), " and ", named(pair.b), ".")
    how = {
        "better": " is significantly better than ",
        "worse": " is significantly worse than ",
    }.get(pair.verdict, " cannot be told apart from ")
    return say(
        named(pair.b),
        how,
        named(pair.a),
        ": ",
        Phrase(difference=against.difference, verdict=pair.verdict),
        f" {pair.measure}, 95 % interval {interval(against.low, against.high)}, ",
        f"{p_in_words(against.p)}. It wins {counted(against.wins, 'topic')},"
        f" loses {count(against.losses)} and ties {count(against.ties)}.",
        _far_apart(pair),
    )


def _far_apart(pair: Pair) -> str:
    """Two runs that are as good as each other need not be good on the same topics."""
    far = sum(abs(line.difference) > FAR_APART for line in pair.topics)
    if pair.verdict != "not significant" or not far or parse_measure(pair.measure).range != (0, 1):
        return ""
    return f" On {counted(far, 'topic')} the two differ by more than\N{NO-BREAK SPACE}.2."


def pair_test(pair: Pair) -> Sentence:
    """Which test, what was not corrected, and what it could have seen."""
    topics = len(pair.topics)
    name = describe_test(pair.test, topics)
    sentence = say(
        f"{name[0].upper()}{name[1:]}, not corrected: this is a single comparison. Effect size ",
        strong(f"d = {score(pair.against.effect_size, 2)}"),
        ". ",
    )
    if topics < FEWEST_TOPICS:
        return [*sentence, Phrase(f"With {counted(topics, 'topic')} nothing can be significant.")]
    effect = strong(f"d = {score(minimum_detectable(topics), 2)}")
    with_topics = f"With {counted(topics, 'topic')} an effect of "
    return say(sentence, with_topics, effect, " is detected with 80 % power.")
