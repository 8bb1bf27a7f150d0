"""Board summaries: the leader, the uncertainty and the statistical power."""

from __future__ import annotations

from evaluation.answers.any_measure import parse_measure
from evaluation.comparison import FEW_GROUPS
from evaluation.significance import measured_error, smallest_p
from leaderboard.boards.benchmark_boards import BenchmarkBoard
from leaderboard.boards.rows import Row
from leaderboard.boards.standings import FEWEST_TOPICS, Board, Standing
from leaderboard.display.numbers import (
    count,
    counted,
    keep_on_one_line,
    p_value,
    score,
)
from leaderboard.models import Run, Snapshot, Track
from leaderboard.pages.wording.phrases import (
    MOST_NAMED_RUNS,
    Phrase,
    Sentence,
    capitalise,
    count_or_none,
    is_or_are,
    join_phrases,
    list_names,
    name_or_count,
    run_phrase,
    spell_number,
    strong,
)
from leaderboard.scoring.contests import MOST_IN_ALL_PAIRS
from leaderboard.scoring.families import LONGEST_MEASURE, match_measure

# On a longer board runs are counted, not named.
LONG_BOARD = 12
# Up to this number of topics a board states how often so few deceive.
FEW_TOPICS = 100
# Up to this share of judged documents the page shows a warning.
WELL_JUDGED = 0.5
UNJUDGED = {
    0.5: "Half of the top-ten documents were",
    2 / 3: "Two in three top-ten documents were",
    0.75: "Three in four top-ten documents were",
    0.8: "Four in five top-ten documents were",
    0.9: "Nine in ten top-ten documents were",
    1.0: "Nearly all top-ten documents were",
}


def board_verdict(board: Board) -> Sentence:
    """Summarise the board in a sentence; empty if no run is ranked."""
    ranked = board.ranked
    if not ranked:
        return []
    if len(ranked) == 1:
        return describe_only(board, ranked[0], "two runs")
    if not board.has_enough_topics:
        return join_phrases(*describe_leaders(board), ".")
    if board.compares_all or not any(each.verdict for each in ranked):
        return _compare_all_pairs(board)
    return _describe_long_board(board) if len(ranked) > LONG_BOARD else _describe_short_board(board)


def describe_value(board: Board | BenchmarkBoard, row: Row) -> str:
    """Return what ranks a row: a score, a mean over tracks, or points where there is no mean."""
    value = board.value_of(row)
    if isinstance(board, Board):
        return f"{board.measure} {score(value, board.decimals)}"
    tracks = counted(len(board.columns), "track")
    if board.no_mean:
        return f"{value:g} Borda points on {tracks}"
    if len(board.columns) == 1:
        return f"{board.columns[0].measure} {score(value, board.decimals)}"
    return f"a mean of {score(value, board.decimals)} over {tracks}"


def describe_only(board: Board | BenchmarkBoard, only: Row, need: str) -> Sentence:
    """Say what the only ranked row has, and what is needed for more."""
    value = describe_value(board, only)
    return join_phrases(Phrase(name=only.name), f" has {value}. Ranks and tests need {need}.")


def describe_first(board: Board | BenchmarkBoard, apart: str = ".") -> Sentence:
    """Say which rows may be the best when all pairs are compared; `apart` ends the sentence."""
    first = [row for row in board.rows if row.interval and row.interval[0] == 1]
    if not first:
        return join_phrases(*describe_leaders(board), apart)
    if len(first) == 1:
        beats_all = first[0].interval == (1, 1)
        better = f" and is significantly better than every other {board.noun}"
        only = f"; no other {board.noun} may be the best"
        return join_phrases(*describe_leaders(board), better if beats_all else only, apart)
    may = f"{spell_number(len(first)).capitalize()} {board.noun}s may be the best; "
    return join_phrases(may, *describe_leaders(board), apart)


def describe_leaders(board: Board | BenchmarkBoard) -> Sentence:
    """Name the leader, or all leaders with exactly equal scores or means."""
    leaders = board.leaders
    verb = " leads with " if len(leaders) == 1 else " tie for the lead with "
    names = name_or_count([each.name for each in leaders], board.noun)
    return join_phrases(capitalise(names), verb, describe_value(board, leaders[0]))


def _compare_all_pairs(board: Board) -> Sentence:
    """Say which runs may be the best, and how many pairs of the board differ."""
    pairs = board.pairs
    if pairs is None:
        return join_phrases(*describe_leaders(board), ".")
    number = len(board.ranked) * (len(board.ranked) - 1) // 2
    differ = f"{count(pairs.decisions.num_different)} of {counted(number, 'pair')}"
    apart = f". {differ} {'differs' if pairs.decisions.num_different == 1 else 'differ'}."
    return describe_first(board, apart)


def _describe_long_board(board: Board) -> Sentence:
    """Summarise a long board: the leader, and how many runs differ from the baseline."""
    return [*describe_leaders(board), Phrase(". "), *_count_verdicts(board)]


def _count_verdicts(board: Board) -> Sentence:
    """Count the runs that are better or worse than the baseline; name a few better ones."""
    others = [each for each in board.ranked if not each.is_baseline]
    better = [each.name for each in others if each.verdict == "better"]
    worse = count_or_none(sum(each.verdict == "worse" for each in others))
    runs = counted(len(others), "run")
    against = join_phrases(
        "Compared with the baseline ", _baseline_phrase(board.baseline), " alone, "
    )
    if 0 < len(better) <= MOST_NAMED_RUNS:
        said = f" {is_or_are(better)} significantly better, {worse} of {runs} worse."
        return join_phrases(against, list_names(better), said)
    verb = "are" if better else "is"
    return join_phrases(
        against,
        f"{count_or_none(len(better))} of {runs} {verb} significantly better, {worse} worse.",
    )


def _baseline_phrase(run: Run | None) -> Phrase:
    return Phrase(name=str(run))


def _describe_short_board(board: Board) -> Sentence:
    """Summarise a short board: the leader against the baseline, then the others by verdict."""
    leader, *others = board.ranked
    groups = {
        verdict: [each.name for each in others if each.verdict == verdict]
        for verdict in ("better", "not significant", "worse")
    }
    sentence = _compare_leader(board, leader)
    if leader.verdict == "better" and groups["better"]:
        runs = groups.pop("better")
        sentence += join_phrases(f", as {is_or_are(runs)} ", name_or_count(runs))
    return [*sentence, *join_phrases("."), *_compare_others(groups, leader)]


def _compare_leader(board: Board, leader: Standing) -> Sentence:
    if leader.is_baseline:
        return join_phrases("The baseline ", run_phrase(leader.run), " leads")
    how = {
        "better": " leads and is significantly better than the baseline ",
        "worse": " leads, but the baseline is significantly better: ",
    }.get(leader.verdict, " leads, but cannot be told apart from the baseline ")
    difference = leader.against.difference if leader.against is not None else None
    unit = leader.against.unit if leader.against is not None else "mean"
    by_how_much = Phrase(difference=difference, verdict=leader.verdict, unit=unit)
    return join_phrases(
        run_phrase(leader.run), how, _baseline_phrase(board.baseline), " ", by_how_much
    )


def _compare_others(groups: dict[str, list[str]], leader: Standing) -> Sentence:
    """Compare the other runs with the baseline, which the sentence named last."""
    clauses = []
    if better := groups.get("better"):
        clauses.append(
            join_phrases(
                name_or_count(better), f" {is_or_are(better)} significantly better than it"
            )
        )
    if same := groups["not significant"]:
        beside = leader.verdict == "not significant"
        runs = name_or_count(same, more=beside)
        clauses.append(join_phrases(runs, " cannot be told apart from the baseline"))
    if worse := groups["worse"]:
        clauses.append(
            join_phrases(
                name_or_count(worse, rest=True), f" {is_or_are(worse)} significantly worse"
            )
        )
    if not clauses:
        return []
    first, *more = clauses
    return join_phrases(
        " ", capitalise(first), *(join_phrases("; ", clause) for clause in more), "."
    )


def describe_power(board: Board) -> Sentence:
    """State which true difference a run named in advance would show on this board."""
    topics, found = board.edition.num_evaluated, board.detectable
    if not board.has_enough_topics and board.num_groups:
        why = "there is no verdict, which needs six groups of similar size."
        return join_phrases(strong(board.topics_text), f": {why}")
    if not board.has_enough_topics:
        return join_phrases(
            f"With {counted(topics, 'topic')} nothing can be significant: p is at least ",
            strong(keep_on_one_line(p_value(smallest_p(topics)))),
            f". {spell_number(FEWEST_TOPICS).capitalize()} topics are the minimum.",
        )
    if board.lacks_tests:
        return join_phrases(describe_too_many(board))
    if found is None:
        return []
    size = f"{score(found.effect, 2)} standard deviations of its difference"
    if found.size is not None:
        size = f"{score(found.size, board.decimals)} (d = {score(found.effect, 2)})"
    other = "another run" if board.compares_all else "the baseline"
    return join_phrases(
        "A run named in advance that is truly ",
        strong(keep_on_one_line(size)),
        f" better or worse than {other} would be told apart with probability .80"
        f" on {board.topics_text}.",
        _warn_of_few_groups(board),
    )


def describe_too_many(board: Board) -> str:
    """Say that there are too many runs to compare all pairs; empty if there are not."""
    if not board.has_too_many_runs:
        return ""
    return (
        f"All pairs are compared on boards of up to {counted(MOST_IN_ALL_PAIRS, 'run')}. This board"
        f" has {count(board.num_in_family)}, so its runs have no possible ranks and no letters."
    )


def _warn_of_few_groups(board: Board) -> str:
    """Say what few groups of topics cost; empty with many, and without groups."""
    if not 0 < board.num_groups < FEW_GROUPS:
        return ""
    return f" Tests use whole groups, and {board.num_groups} groups show few differences."


def describe_strips(board: Board) -> str:
    """Say how to read the ranks that runs can have; empty where the board has none."""
    if board.pairs is None:
        return ""
    return (
        "Each strip shows the possible ranks of a run, from the highest to the lowest. All strips"
        " hold jointly with 95 % confidence."
    )


def describe_left_out(board: Board) -> Sentence:
    """Name the runs that no test counts, and those that have too few topics for all pairs."""
    runs = [standing.name for standing in board.unranked]
    if not runs:
        return _describe_short_runs(board)
    has, so = (
        ("has", "it has no rank and is")
        if len(runs) == 1
        else ("have", "they have no ranks and are")
    )
    said = f" {has} no {board.measure} on any topic, so {so} not tested."
    short = _describe_short_runs(board)
    rest = join_phrases(" ", *short) if short else []
    return join_phrases(capitalise(name_or_count(runs)), said, *rest)


def _describe_short_runs(board: Board) -> Sentence:
    """Name the runs whose topics would cost the others too many of theirs."""
    outside = board.pairs.outside if board.pairs is not None else {}
    found: Sentence = []
    for standing in board.ranked if outside else []:
        if topics := outside.get(standing.run.pk):
            said = f" has only {counted(topics, 'topic')}, so it is not compared with all runs."
            found += join_phrases(" " if found else "", run_phrase(standing.run), said)
    return found


def describe_trust(board: Board) -> str:
    """Say how often so few topics deceive, as it was measured; empty with many topics."""
    units = board.num_units
    measured = measured_error(units, board.num_in_family) if units <= FEW_TOPICS else None
    if measured is None:
        return ""
    error = measured.all_pairs if board.compares_all else measured.baseline
    return (
        f"With {board.topics_text} the error rate of 5 % holds for runs with a similar"
        " spread. In simulations with skewed scores, unequal spread and no true difference, up to"
        f" {100 * error:.0f} % of boards showed a difference."
    )


def describe_selection(board: Board) -> Sentence:
    """State which runs are on the board and in which order."""
    shown, standings = len(board.shown), len(board.standings)
    teams = counted(len(board.teams), "team")
    number = (
        f"{counted(standings, 'run')} of {teams}"
        if shown == standings
        else f"{count(shown)} of {counted(standings, 'run')}"
    )
    best = "best" if parse_measure(board.measure).direction > 0 else "lowest"
    judged = board.edition.judgment_set
    on = f"judgments {judged}" if judged.has_documents else "marks alone"
    rule = f": {_selected_runs(board)} on {on}, by {board.measure}"
    decimals = board.sight.decimals
    digits = "full precision" if decimals is None else f"{spell_number(decimals)} decimals"
    order = f" at {digits}, {best} first."
    if board.choice.is_sorted:
        order = f" at {digits}; rows sorted by {_sort_column_title(board)}."
    if shown != standings:
        order += " Ranks and tests cover the whole board."
    return join_phrases(strong(number), rule + order)


def describe_missing_measures(board: Board) -> str:
    """Name the measures that an earlier board lacks and, if needed, its ranking measure."""
    if board.sight.other_edition is None or not board.missing:
        return ""
    ranked = (
        f"; it ranks by {board.measure}"
        if board.sight.track.primary_measure in board.missing
        else ""
    )
    return f"It does not include {', '.join(board.missing)}{ranked}."


def describe_unknown_measure(board: Board, asked: str) -> Sentence:
    """Say that the board lacks the measure that the address asks for; empty if it has it."""
    if not asked or match_measure(asked, board.measures) is not None:
        return []
    name = Phrase(name=asked[:LONGEST_MEASURE])
    return join_phrases("This board has no measure ", name, f", so it ranks by {board.measure}.")


def describe_exclusion(board: Board) -> str:
    """Explain why a run is not on the board; empty if this is the board of the rule."""
    if not board.sight.includes_every_run:
        return ""
    runs = counted(len(board.standings), "scored run")
    held = f" This page ranks all {runs} of the track." if board.sight.can_see_scores else ""
    return f"The board shows {_selected_runs(board).removesuffix(',')}.{held}"


def _selected_runs(board: Board) -> str:
    """Describe the runs that the rule of the track selects."""
    if board.sight.ladder is not None:
        step = board.sight.ladder.step
        return f"the last run of each team to beat its previous one by more than {step}"
    if board.sight.track.selection == Track.Selection.BEST:
        return "the best run of each team"
    if board.sight.track.selection == Track.Selection.PRIMARY:
        return "the primary run of each team, or its first if none is named,"
    return "every scored run"


def _sort_column_title(board: Board) -> str:
    """Return the title of the column that sorts the board, in lower case unless it is a name."""
    name = board.choice.sorted_by
    title = next((each.title for each in board.columns_of_table if each.name == name), name)
    is_name = title.startswith(tuple(board.measures)) or not title[1:2].islower()
    title = title if is_name else title.lower()
    return f"{title}, reversed" if board.choice.is_reversed else title


def describe_provisional_state(board: Board, frozen: Snapshot | None) -> str:
    """Say what may still change a live board; empty if nothing is worth a sentence."""
    sight = board.sight
    if sight.deadline is None:
        return "These scores change as runs and judgments arrive." if frozen is not None else ""
    if sight.state != Track.State.CLOSED:
        return "These scores are provisional while runs are accepted."
    if sight.accepts_runs:
        return "These scores are provisional while late runs are accepted."
    if not board.sight.can_see_scores:
        return "These scores are provisional until the release."
    if frozen is not None:
        return "New judgments could still change these scores."
    return "These scores are provisional until organisers freeze a snapshot."


def warn_of_unjudged(board: Board) -> str:
    """Say how many top 10 documents are unjudged, if half or more are."""
    judged = board.median_judged
    if judged > WELL_JUDGED:
        return ""
    nearest = min(UNJUDGED, key=lambda share: abs(share - (1 - judged)))
    return f"{UNJUDGED[nearest]} never judged; unjudged documents count as not relevant."
