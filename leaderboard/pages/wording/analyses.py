"""Sentences of the analysis pages: costs, runs, topics, pairs and judgments."""

from __future__ import annotations

from evaluation.answers.any_measure import parse_measure
from evaluation.significance import TESTS, Difference
from evaluation.significance.pairwise import PAIR_DRAWS
from evaluation.significance.randomisation import DRAWS, EXACT_UP_TO
from leaderboard.analysis import RunPair
from leaderboard.analysis.costs import CostBreakdown, CostLine
from leaderboard.analysis.gains import ROUNDING_ERROR, GainCurves
from leaderboard.analysis.impact import MeasureImpact
from leaderboard.analysis.pairs import RunAhead
from leaderboard.analysis.parameters import ParameterPlot
from leaderboard.analysis.reusability import LeftOutTeams
from leaderboard.analysis.topics import TOP, RunOnTopic, TopicBreakdown
from leaderboard.analysis.unjudged import UnjudgedLine, UnjudgedTable
from leaderboard.boards.disclosure import Sight
from leaderboard.boards.rows import AGAINST_BASELINE
from leaderboard.boards.standings import FEWEST_TOPICS, Board
from leaderboard.display.numbers import count, counted, interval, nth, p_in_words, score, signed
from leaderboard.models import Run, ScoreSet
from leaderboard.pages.wording.phrases import (
    MOST_NAMED_RUNS,
    Phrase,
    Sentence,
    join_phrases,
    list_names,
    run_phrase,
    spell_number,
    strong,
)

# Up to this many parameters that go with another are named.
MOST_TIED = 4


def cost_verdict(found: CostBreakdown) -> Sentence:
    """Name the cheapest run that is good enough; empty if no run states the cost."""
    best, cheapest = found.best, found.cheapest_good
    if best is None or cheapest is None:
        return []
    if len(found.lines) == 1:
        return join_phrases(
            run_phrase(best.run), " is the only run with this cost: ", *_score_and_cost(best), "."
        )
    if not found.is_tested:
        few = spell_number(FEWEST_TOPICS)
        why = (
            ""
            if found.board.has_enough_topics
            else f" With fewer than {few} topics no test is possible."
        )
        return join_phrases(
            run_phrase(best.run), " is best for ", *_score_and_cost(best), f".{why}"
        )
    if cheapest is best:
        return join_phrases(
            run_phrase(best.run),
            " is best, and every cheaper run is significantly worse: ",
            *_score_and_cost(best),
            ".",
        )
    return join_phrases(
        "The cheapest run that is not significantly worse than the best is ",
        run_phrase(cheapest.run),
        ": ",
        *_score_and_cost(cheapest),
        ". The best, ",
        run_phrase(best.run),
        ", has ",
        *_score_and_cost(best),
        ".",
    )


def _score_and_cost(line: CostLine) -> list[Phrase]:
    return join_phrases(strong(score(line.mean, 3)), " for ", strong(line.cost_text))


def describe_parameter(found: ParameterPlot) -> str:
    """Say how many runs state the parameter, and what its groups cannot tell apart."""
    said = f"{counted(len(found.stating), 'run')} of {len(found.board.ranked)}"
    if found.parameter is None:
        return f"{said} have both measures."
    words = f"{said} state{'s' if len(found.stating) == 1 else ''} {found.parameter.label}."
    if not found.tied:
        return words
    others = ", ".join(found.tied[:MOST_TIED])
    return f"{words} These go with it in every run, so their effects cannot be separated: {others}."


def count_runs_with_cost(found: CostBreakdown) -> str:
    """Say how many runs state this cost and how many do not."""
    said = counted(len(found.lines), "run reports,runs report")
    silent = counted(found.num_without_cost, "run does,runs do")
    return f"{said} this cost; {silent} not." if found.num_without_cost else f"{said} this cost."


def reusability_verdict(found: LeftOutTeams) -> Sentence:
    """Name the team whose best run changes most without its own documents."""
    most = found.most_changed
    if most is None or not any(line.change for line in found.lines):
        return join_phrases(
            f"No team’s best run changes its {found.measure} when the judgments of the documents"
            " that only that team found are excluded."
        )
    before, after = most.move.before.rank, most.move.after.rank
    return join_phrases(
        "When the judgments of the documents that only one team found are excluded, the score of"
        " that team’s best run changes by at most ",
        strong(f"{score(abs(most.change), 3)} {found.measure}"),
        ": ",
        run_phrase(most.best.run),
        f" {signed(most.change, 3)}, ",
        f"still rank {count(before)}."
        if before == after
        else f"rank {count(before)} to {count(after)}.",
    )


def sentence_for_a_paper(found: LeftOutTeams) -> str:
    """Say in one sentence to quote how far any team left out would move."""
    most = max((abs(line.change) for line in found.lines), default=0.0)
    tau = f"; mean τ {score(found.mean_tau, 2)}" if found.mean_tau is not None else ""
    return (
        "Leaving out the documents that only one team contributed changes the score of that team’s"
        f" best run by at most {score(most, 3)} {found.measure}"
        f" ({counted(len(found.lines), 'team')}{tau})."
    )


def describe_test(test: str, topics: int) -> str:
    """Describe a test by its name and its number of draws.

    >>> describe_test("t", 225)
    'two-sided paired t-test'
    >>> describe_test("sign_flip", 25)
    'two-sided paired randomisation test (sign flips), all sign patterns'
    """
    if test == "max_t":
        return f"{TESTS[test]}, {count(PAIR_DRAWS)} draws"
    if test != "sign_flip":
        return TESTS[test]
    draws = "all sign patterns" if topics <= EXACT_UP_TO else f"{count(DRAWS)} draws"
    return f"{TESTS[test]}, {draws}"


def describe_adjustment(board: Board) -> str:
    """Say for how many runs p is adjusted, and how, where the board compares with a baseline."""
    runs = counted(board.num_compared, "run")
    if board.correction == "Holm":
        return f"Holm's adjustment over {runs}; its intervals could contradict p, so none is shown"
    return f"p and intervals hold jointly for {runs}"


# A run has few judged documents below this share of the median run.
FEW_JUDGED = 0.8


def describe_tied_range(scored: ScoreSet, measure: str) -> str:
    """Say how far the order of tied documents could change a measure; empty if it cannot."""
    if measure not in scored.ties:
        return ""
    low, high = scored.ties[measure]
    return (
        f"Documents with tied scores are ordered by docno; in another order "
        f"{measure} could be {score(low)} to {score(high)}."
    )


def warn_of_few_judged(scored: ScoreSet, board: Board) -> str:
    """Warn if far fewer of the run's top 10 documents are judged than in most runs."""
    median = board.median_judged
    if scored.judged_at_10 >= FEW_JUDGED * median:
        return ""
    return (
        f"{100 * scored.judged_at_10:.0f} % of its top ten ranks have no unjudged document; the "
        f"median is {100 * median:.0f} %. Unjudged documents count as not relevant, so its scores "
        "may be too low."
    )


def name_of_withdrawer(sight: Sight, run: Run) -> str:
    """Say who withdrew a run; only its team and organisers see the name."""
    who = run.withdrawn_by
    if who is None or sight.can_see_file(run):
        return who.username if who is not None else ""
    is_member = run.team.memberships.filter(user=who).exists()
    return "its team" if is_member else "the organisers"


# Smaller than three decimals show.
INVISIBLE = 0.0005


def unjudged_verdict(table: UnjudgedTable, board: Board) -> Sentence:
    """Say how far scores and verdicts could change, or why there is no bound."""
    if not table.lines or not table.measure:
        return []
    if not table.bounds_hold:
        return join_phrases(
            f"{table.measure} has no bound here, because a relevant document that a run "
            "misses also lowers its score."
        )
    sentence = _describe_score_bounds(table)
    if board.baseline is None or not table.doubts:
        return sentence
    others = (
        [] if table.measure == board.measure else _explain_unbounded_ranking_measure(table, board)
    )
    return join_phrases(sentence, " ", _describe_doubtful_verdicts(table, board.baseline), others)


def _explain_unbounded_ranking_measure(table: UnjudgedTable, board: Board) -> str:
    return (
        f" Verdicts by {board.measure}, the ranking measure, are separate and cannot be bounded."
        f" Unlike {table.measure}, {board.measure} is not a sum over documents."
    )


def _describe_score_bounds(table: UnjudgedTable) -> Sentence:
    most = max(table.lines, key=_possible_rise)
    if _possible_rise(most) < INVISIBLE:
        return join_phrases(
            f"Every document that counts for {table.measure} is judged: no new judgment "
            "could change a score by .001."
        )
    return join_phrases(
        "Unjudged documents could raise ",
        run_phrase(most.standing.run),
        " by up to ",
        strong(f"{signed(_possible_rise(most))} {table.measure}"),
        _compare_other_runs(table, most),
    )


def _compare_other_runs(table: UnjudgedTable, most: UnjudgedLine) -> str:
    rest = max((_possible_rise(each) for each in table.lines if each is not most), default=0.0)
    return "; no other run could change." if rest < INVISIBLE else ", and no other run by more."


def _possible_rise(line: UnjudgedLine) -> float:
    return line.high - line.low


def _describe_doubtful_verdicts(table: UnjudgedTable, baseline: Run) -> Sentence:
    doubts, doubtful = len(table.doubts), [each.standing.run for each in table.doubtful]
    against = join_phrases(f" by {table.measure} against the baseline ", run_phrase(baseline))
    if not doubtful:
        which = "the verdict" if doubts == 1 else f"all {spell_number(doubts)} verdicts"
        return join_phrases(
            f"Both extremes of the missing grades give {which}",
            against,
            "; mixtures were not tried.",
            _describe_fixed_signs(table),
        )
    number = f"{len(doubtful)} of {counted(doubts, 'verdict')}"
    names = (
        join_phrases(": ", list_names([str(run) for run in doubtful]))
        if len(doubtful) <= MOST_NAMED_RUNS
        else []
    )
    return join_phrases(strong(number), against, " could change", names, ".")


def _describe_fixed_signs(table: UnjudgedTable) -> str:
    """Say of how many runs the sign of the difference is certain, which the extremes do bound."""
    fixed = sum(each.doubt is not None and each.doubt.robust for each in table.doubts)
    if not fixed:
        return ""
    if fixed == len(table.doubts) == 1:
        return " The run that is ahead stays ahead with any further judgments."
    return (
        f" In {fixed} of {counted(len(table.doubts), 'pair')} the run that is ahead stays ahead"
        " with any further judgments."
    )


def gain_verdict(run: Run, gains: GainCurves) -> Sentence:
    """State the share of the ideal gain and the losses by ranking and by retrieval."""
    first = f"first {spell_number(gains.cutoff)}"
    sentence = join_phrases(
        run_phrase(run), f" reaches {score(gains.ndcg, 3)} of the ideal gain in its {first}."
    )
    if gains.lost_by_ranking > ROUNDING_ERROR:
        lost = strong(score(gains.lost_by_ranking, 3))
        words = " is lost in ranking: a better order of its documents would recover it."
        sentence += join_phrases(" ", lost, words)
    if gains.lost_by_retrieval > ROUNDING_ERROR:
        lost = strong(score(gains.lost_by_retrieval, 3))
        sentence += join_phrases(
            " ", lost, " is lost in retrieval: it found too few relevant documents."
        )
    return sentence


def impact_verdict(impact: MeasureImpact, has_baseline: bool) -> Sentence:
    """Say who leads and how many runs and verdicts change by one measure."""
    shift = impact.shift
    leads = " leads now" if shift.agreement.first_changed else " still leads"
    change = "changes" if shift.num_moved == 1 else "change"
    return join_phrases(
        run_phrase(shift.leader.run),
        f"{leads}; {shift.num_moved} of {counted(len(shift.moves), 'run')} {change} rank",
        _describe_changed_verdicts(impact) if has_baseline else [],
        ". Kendall's τ between the boards is ",
        strong(score(shift.agreement.tau, 3)),
        ".",
    )


def _describe_changed_verdicts(impact: MeasureImpact) -> Sentence:
    """Say how many verdicts change; nothing where tests are still to be made."""
    if impact.untested:
        return []
    turned = impact.shift.turned
    one = len(turned) == 1
    words = (
        f" {'verdict' if one else 'verdicts'} against the baseline {'changes' if one else 'change'}"
    )
    return join_phrases(", and ", strong(str(len(turned))), words)


# The number of documents that a sentence names.
MOST_NAMED_DOCUMENTS = 2


def topic_verdict(breakdown: TopicBreakdown) -> Sentence:
    """Summarise the runs of a topic; empty if no run has a score."""
    scored = [each for each in breakdown.answers if each.rank is not None]
    if not scored:
        return []
    own = next((each for each in scored if each.is_own), None)
    if own is None or len(scored) == 1:
        return _describe_best_and_last(breakdown, scored)
    return [
        *_describe_own_rank(breakdown, scored[0], own),
        *_describe_late_documents(breakdown, own),
        *_count_unjudged(own),
    ]


def _describe_best_and_last(breakdown: TopicBreakdown, scored: list[RunOnTopic]) -> Sentence:
    best, last, measure = scored[0], scored[-1], breakdown.measure
    has_last = len(scored) > 1 and not breakdown.is_cut
    if best.score == last.score and has_last:
        return join_phrases(f"All {count(len(scored))} runs have {measure} {score(best.score)}.")
    sentence = join_phrases(run_phrase(best.run), f" is best with {measure} {score(best.score)}")
    if has_last:
        sentence += join_phrases(", ", run_phrase(last.run), f" last with {score(last.score)}")
    return [*sentence, Phrase(".")]


def _describe_own_rank(breakdown: TopicBreakdown, best: RunOnTopic, own: RunOnTopic) -> Sentence:
    place = "best" if own.rank == 1 else nth(own.rank or 0)
    number = spell_number(breakdown.num_scored)
    words = f" is {place} of {number} with {breakdown.measure} {score(own.score)}"
    if own.rank == 1:
        return join_phrases(run_phrase(own.run), words, ".")
    return join_phrases(
        run_phrase(own.run), words, "; ", run_phrase(best.run), f" has {score(best.score)}."
    )


def _describe_late_documents(breakdown: TopicBreakdown, own: RunOnTopic) -> Sentence:
    """Name relevant documents that a better baseline has in its top 10, but this run has not."""
    baseline = next((each for each in breakdown.answers if each.is_baseline), None)
    if baseline is None or (own.rank or 0) <= (baseline.rank or 0):
        return []
    mine, theirs = own.run.pk, baseline.run.pk
    late = [
        document
        for document in breakdown.relevant
        if document.ranks.get(mine, TOP + 1) > TOP >= document.ranks.get(theirs, TOP + 1)
    ][:MOST_NAMED_DOCUMENTS]
    if not late:
        return []
    sentence = join_phrases(" It has ")
    for place, document in enumerate(late):
        rank = document.ranks.get(mine)
        where = f" at {count(rank)}" if rank is not None else " nowhere"
        sentence += join_phrases(" and " if place else "", Phrase(code=document.docno), where)
    ranks = " and ".join(str(document.ranks[theirs]) for document in late)
    them = "it" if len(late) == 1 else "them"
    return [*sentence, *join_phrases("; ", run_phrase(baseline.run), f" has {them} at {ranks}.")]


def _count_unjudged(own: RunOnTopic) -> Sentence:
    unjudged = own.unjudged_in_top
    if not unjudged:
        return []
    number = spell_number(unjudged).capitalize()
    verb = "is" if unjudged == 1 else "are"
    return join_phrases(
        f" {number} of its first {spell_number(len(own.top_grades))} {verb} unjudged."
    )


# A difference on one topic above this is worth a sentence.
FAR_APART = 0.2
# A difference that rests on so few topics is said to.
FEW_DIFFERENCES = 2


def pair_verdict(pair: RunPair) -> Sentence:
    """Compare run `b` with run `a`: verdict, difference, interval, p and wins."""
    against = pair.against
    if against.difference is None:
        return join_phrases(
            "No topic has scores for both ", run_phrase(pair.a), " and ", run_phrase(pair.b), "."
        )
    how = {
        "better": " is significantly better than ",
        "worse": " is significantly worse than ",
        "not significant": " cannot be told apart from ",
        "": " differs from ",
    }[pair.verdict]
    return join_phrases(
        run_phrase(pair.b),
        how,
        run_phrase(pair.a),
        ": ",
        Phrase(difference=against.difference, verdict=pair.verdict or "none", unit=against.unit),
        f" {pair.measure}{_describe_uncertainty(pair)}."
        f" It wins on {counted(against.wins, 'topic')},"
        f" loses on {count(against.losses)} and ties on {count(against.ties)}."
        f"{_describe_few_differences(against)}",
        _count_distant_topics(pair),
    )


def describe_decision(pair: RunPair) -> str:
    """Say what the test decides about run `b`, after a sentence with the difference."""
    decided = {
        "better": "It is significantly better",
        "worse": "It is significantly worse",
        "not significant": "The two cannot be told apart",
    }
    if pair.verdict not in decided:
        return ""
    return f"{decided[pair.verdict]} by all pairs of runs{_describe_uncertainty(pair)}."


def _describe_uncertainty(pair: RunPair) -> str:
    against, said = pair.against, ""
    if against.low is not None and against.high is not None:
        said = f", 95 % interval {interval(against.low, against.high, unit=against.unit)}"
    return said if against.p_adjusted is None else f"{said}, {p_in_words(against.p_adjusted)}"


def _describe_few_differences(against: Difference) -> str:
    """Say that a difference rests on one topic or two, or on none."""
    changed = against.wins + against.losses
    if changed == 0:
        return " The two do not differ on any topic."
    if changed <= FEW_DIFFERENCES:
        return f" The two differ on {count(changed)} of {counted(against.topics, 'topic')}."
    return ""


def _count_distant_topics(pair: RunPair) -> str:
    """Say on how many topics two runs differ clearly despite no significant difference."""
    far = sum(abs(line.difference) > FAR_APART for line in pair.topics)
    if pair.verdict != "not significant" or not far or parse_measure(pair.measure).range != (0, 1):
        return ""
    return f" On {counted(far, 'topic')} the two differ by more than\N{NO-BREAK SPACE}.2."


def describe_pair_test(board: Board, pair: RunPair) -> Sentence:
    """Say which family decides about the pair, its effect size and the effect it can detect."""
    if not board.has_enough_topics:
        return [Phrase(f"With {board.topics_text} nothing can be significant.")]
    said = join_phrases(
        f"{_describe_family(board, pair)} Effect size ",
        strong(f"d = {score(pair.against.effect_size, 2)}"),
        ".",
    )
    if board.detectable is None:
        return said
    return join_phrases(
        *said,
        f" With {board.topics_text} a pair named in advance whose true effect is ",
        strong(f"d = {score(board.detectable.effect, 2)}"),
        " would be told apart with probability .80.",
    )


def describe_probability(ahead: RunAhead) -> Sentence:
    """Say how probable it is that the run ahead is better, if the pair was named in advance."""
    found = ahead.probability
    by_more = f" by more than {_describe_region(ahead)}" if ahead.region else ""
    rest: Sentence = []
    if ahead.region:
        within = f". That they differ by at most {_describe_region(ahead)} has the probability "
        worse = (run_phrase(ahead.other), f" is better{by_more} ", _probability(found.worse))
        rest = join_phrases(within, _probability(found.within), ", and that ", *worse)
    return join_phrases(
        "For a pair that you named before you saw a result, the probability that ",
        run_phrase(ahead.run),
        " is better than ",
        run_phrase(ahead.other),
        f"{by_more} is ",
        _probability(found.better),
        rest,
        ". This is from the paired t-test of this pair alone, not adjusted.",
    )


def _describe_region(ahead: RunAhead) -> str:
    if ahead.unit == "ratio":
        return f"a factor of {1 + ahead.region:.12g}"
    return f"{ahead.region:.12g}".removeprefix("0") or "0"


def _probability(value: float) -> Phrase:
    if value >= 0.9995:
        return strong("above .999")
    return strong("below .001" if value < 0.0005 else score(value, 3))


def _describe_family(board: Board, pair: RunPair) -> str:
    if pair.question == AGAINST_BASELINE:
        test = describe_test(board.sight.track.test, board.edition.num_evaluated)
        return f"{test[0].upper()}{test[1:]}; {describe_adjustment(board)}."
    if board.has_too_many_runs:
        return "This pair is not tested: the board has too many runs to compare all pairs."
    why = "The board compares with the baseline only, so this pair is decided by the test of "
    start = why if pair.is_outside else "The test of "
    said = f"{start}all pairs of {counted(board.num_in_family, 'run')}."
    if pair.against.p_adjusted is None:
        return f"{said} It is still running."
    return said
