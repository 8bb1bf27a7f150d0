"""Board summaries: the leader, the uncertainty and the statistical power."""

from __future__ import annotations

from evaluation.measures import parse_measure
from evaluation.significance import smallest_p
from leaderboard.boards.columns import columns_of
from leaderboard.boards.standings import FEWEST_TOPICS, LEVEL, Board, Standing
from leaderboard.display.numbers import (
    anywhere_on_earth,
    count,
    counted,
    keep_on_one_line,
    p_value,
    score,
)
from leaderboard.models import Run, Snapshot, Track
from leaderboard.pages.wording.phrases import (
    NAMED,
    Phrase,
    Sentence,
    are,
    capitalised,
    in_words,
    listed,
    named,
    runs_in_words,
    say,
    strong,
)

# On a longer board runs are counted, not named.
LONG = 12
# Up to here the first ten documents are judged too thinly to go without a word.
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
    """The sentence that a reader of the board came for; empty where no run is ranked."""
    ranked = board.ranked
    if not ranked:
        return []
    if len(ranked) == 1:
        only = ranked[0]
        return say(named(only.run), f" has {_value(board, only)}. Ranks and tests need two runs.")
    if not board.has_enough_topics:
        return say(*_leaders(board), ".")
    if board.baseline is None or not any(each.verdict for each in ranked):
        return _among_all(board)
    return _on_long_board(board) if len(ranked) > LONG else _against_baseline(board)


def _value(board: Board, standing: Standing) -> str:
    return f"{board.measure} {score(standing.scores[board.measure], board.decimals)}"


def _leaders(board: Board) -> Sentence:
    """Who leads with which value; several where they are exactly equal."""
    leaders = board.leaders
    verb = " leads with " if len(leaders) == 1 else " tie for the lead with "
    runs = runs_in_words([each.run for each in leaders])
    return say(capitalised(runs), verb, _value(board, leaders[0]))


def _near(board: Board) -> list[Run] | None:
    """Whom the test of all pairs cannot tell from the leader; None where there is no such test."""
    interval = board.ranked[0].interval
    if interval is None:
        return None
    return [each.run for each in board.ranked[len(board.leaders) : interval[1]]]


def _among_all(board: Board) -> Sentence:
    """Without a baseline: whom the leader can be told apart from."""
    near = _near(board)
    if near is None:
        return say(*_leaders(board), ".")
    if not near:
        return say(*_leaders(board), " and ", _beyond_all(board), ".")
    them = _it_or_them(board)
    return say(
        *_leaders(board),
        ". ",
        capitalised(runs_in_words(near)),
        f" cannot be told apart from {them}.",
    )


def _beyond_all(board: Board) -> str:
    verb = "is" if len(board.leaders) == 1 else "are"
    return f"{verb} significantly better than every other run"


def _it_or_them(board: Board) -> str:
    return "it" if len(board.leaders) == 1 else "them"


def _on_long_board(board: Board) -> Sentence:
    """Both tests, each with what it compares: the leader by the one, the counts by the other."""
    near = _near(board)
    if near is None:
        sentence = say(*_leaders(board), ". ")
    elif not near:
        sentence = say(*_leaders(board), " and ", _beyond_all(board), ". ")
    else:
        told = f" cannot be told apart from {_it_or_them(board)} when all runs are compared. "
        sentence = say(*_leaders(board), ", but ", runs_in_words(near), told)
    return [*sentence, *_counted(board)]


def _counted(board: Board) -> Sentence:
    """How many runs the baseline alone is told from, those that are better by name if few."""
    others = [each for each in board.ranked if not each.is_baseline]
    better = [each.run for each in others if each.verdict == "better"]
    worse = _so_many(sum(each.verdict == "worse" for each in others))
    runs = counted(len(others), "run")
    against = say("Compared with the baseline ", _name(board.baseline), " alone, ")
    if 0 < len(better) <= NAMED:
        said = f" {are(better)} significantly better, {worse} of {runs} worse."
        return say(against, listed(better), said)
    verb = "are" if better else "is"
    return say(
        against, f"{_so_many(len(better))} of {runs} {verb} significantly better, {worse} worse."
    )


def _so_many(number: int) -> str:
    return count(number) if number else "none"


def _name(run: Run | None) -> Phrase:
    return Phrase(name=str(run))


def _against_baseline(board: Board) -> Sentence:
    """A short board: the leader against the baseline, then the others by their verdict."""
    leader, *others = board.ranked
    groups = {
        verdict: [each.run for each in others if each.verdict == verdict]
        for verdict in ("better", "not significant", "worse")
    }
    sentence = _leading(board, leader)
    if leader.verdict == "better" and groups["better"]:
        runs = groups.pop("better")
        sentence += say(f", as {are(runs)} ", runs_in_words(runs))
    return [*sentence, *say("."), *_others(groups, leader)]


def _leading(board: Board, leader: Standing) -> Sentence:
    if leader.is_baseline:
        return say("The baseline ", named(leader.run), " leads")
    how = {
        "better": " leads and is significantly better than the baseline ",
        "worse": " leads, but the baseline is significantly better: ",
    }.get(leader.verdict, " leads, but cannot be told apart from the baseline ")
    difference = leader.against.difference if leader.against is not None else None
    by_how_much = Phrase(difference=difference, verdict=leader.verdict)
    return say(named(leader.run), how, _name(board.baseline), " ", by_how_much)


def _others(groups: dict[str, list[Run]], leader: Standing) -> Sentence:
    """Those beside the leader, as compared with the baseline, which was named last."""
    clauses = []
    if better := groups.get("better"):
        clauses.append(say(runs_in_words(better), f" {are(better)} significantly better than it"))
    if same := groups["not significant"]:
        beside = leader.verdict == "not significant"
        runs = runs_in_words(same, more=beside)
        clauses.append(say(runs, " cannot be told apart from the baseline"))
    if worse := groups["worse"]:
        clauses.append(say(runs_in_words(worse, rest=True), f" {are(worse)} significantly worse"))
    if not clauses:
        return []
    first, *more = clauses
    return say(" ", capitalised(first), *(say("; ", clause) for clause in more), ".")


def power(board: Board) -> Sentence:
    """What the topics and runs of this board can tell at all."""
    topics = board.edition.num_evaluated
    effect = board.detectable_effect
    if effect is None:
        return say(
            f"With {counted(topics, 'topic')} nothing can be significant: p is at least ",
            strong(keep_on_one_line(p_value(smallest_p(topics)))),
            f". {in_words(FEWEST_TOPICS).capitalize()} topics are the minimum.",
        )
    sentence = say(
        f"With {counted(topics, 'topic')} one comparison can detect an effect of ",
        strong(f"d = {score(effect, 2)}"),
        f" (power 80 %, α = {score(LEVEL, 2)}).",
    )
    if board.pairs.margin is None:
        return sentence
    margin = strong(score(board.pairs.margin, 3))
    return say(
        sentence,
        " On this board two runs must differ by ",
        margin,
        f" {board.measure} to differ significantly in the all-pairs test that the bars show.",
    )


def selection_rule(board: Board) -> Sentence:
    """Which runs stand on the board, in which order."""
    shown, standings = len(board.shown), len(board.standings)
    teams = counted(len(board.teams), "team")
    number = (
        f"{counted(standings, 'run')} of {teams}"
        if shown == standings
        else f"{count(shown)} of {counted(standings, 'run')}"
    )
    best = "best" if parse_measure(board.measure).direction > 0 else "lowest"
    rule = (
        f": {_which(board)} on judgments {board.edition.judgment_set.version}, by {board.measure}"
    )
    decimals = board.sight.decimals
    digits = "full precision" if decimals is None else f"{in_words(decimals)} decimals"
    order = f" at {digits}, {best} first."
    if board.choice.is_sorted:
        order = f" at {digits}; the lines are sorted by {_order(board)}."
    if shown != standings:
        order += " Ranks and tests cover the whole board."
    return say(strong(number), rule + order)


def made_without(board: Board) -> str:
    """Which measures an earlier board has not, and what ranks it where one of them would."""
    if board.sight.other_edition is None or not board.missing:
        return ""
    ranked = (
        f"; it ranks by {board.measure}"
        if board.sight.track.primary_measure in board.missing
        else ""
    )
    return f"It does not include {', '.join(board.missing)}{ranked}."


def left_out(board: Board) -> str:
    """That a run is not on the board by its rule; empty where the board in hand is that one."""
    if not board.sight.includes_every_run:
        return ""
    runs = counted(len(board.standings), "scored run")
    held = f" This page ranks all {runs} of the track." if board.sight.can_see_scores else ""
    return f"The board shows {_which(board).removesuffix(',')}.{held}"


def _which(board: Board) -> str:
    """The runs that the rule of the track puts on its board."""
    if board.sight.ladder is not None:
        step = board.sight.ladder.step
        return f"the last run of each team to beat its previous one by more than {step}"
    if board.sight.track.selection == Track.Selection.BEST:
        return "the best run of each team"
    if board.sight.track.selection == Track.Selection.PRIMARY:
        return "the primary run of each team, or its first if none is named,"
    return "every scored run"


def _order(board: Board) -> str:
    """The title of the column that the lines stand by; with a capital only where it has one."""
    name = board.choice.sorted_by
    title = next((each.title for each in columns_of(board) if each.name == name), name)
    title = title if name in board.measures or not title[1:2].islower() else title.lower()
    return f"{title}, reversed" if board.choice.is_reversed else title


def provisional(board: Board, frozen: Snapshot | None) -> str:
    """What may still change a live board, where that is worth a word."""
    track = board.sight.track
    if track.closes_at is None:
        return "These scores change as runs and judgments arrive." if frozen is not None else ""
    if track.state() != Track.State.CLOSED:
        until = anywhere_on_earth(track.closes_at)
        return f"These scores are provisional: submission closes {until}."
    if track.accepts_runs():
        return "These scores are provisional: late runs are still accepted."
    if not board.sight.can_see_scores:
        return "These scores are provisional until the release."
    if frozen is not None:
        return "New judgments could still change these scores."
    return "These scores are provisional until organisers freeze a snapshot."


def much_unjudged(board: Board) -> str:
    """How much of the first ten documents nobody judged, where that is half or more."""
    judged = board.median_judged
    if judged > WELL_JUDGED:
        return ""
    nearest = min(UNJUDGED, key=lambda share: abs(share - (1 - judged)))
    return f"{UNJUDGED[nearest]} never judged; unjudged documents count as not relevant."
