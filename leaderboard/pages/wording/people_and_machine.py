"""Sentences about judgments by a machine, and the boards by people and by it."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.analysis.people_and_machine import PeopleAndMachine, PeopleBesideMachine
from leaderboard.analysis.shifts import Move
from leaderboard.display.numbers import count, counted, score
from leaderboard.models import MachineCard
from leaderboard.pages.wording.phrases import (
    Sentence,
    join_phrases,
    name_or_count,
    run_phrase,
    spell_number,
    strong,
)


def describe_answers(card: MachineCard) -> str:
    """Describe how many documents of a file have a grade."""
    found = f"{card.num_graded:,} of {counted(card.num_asked, 'document')} have a grade"
    if not card.num_failed:
        return f"{found}."
    stay = "stays" if card.num_failed == 1 else "stay"
    return f"{found}; {card.num_failed:,} failed and {stay} unjudged."


def machine_verdict(found: PeopleAndMachine) -> Sentence:
    """Say how alike the orders are, and how much higher the machine's scores and grades are."""
    boards = found.boards
    if boards is None:
        return []
    shift = boards.shift
    return join_phrases(
        "The order by the machine has ",
        strong(f"τ {score(shift.agreement.tau_b, 2)}"),
        f" to that by people over {counted(len(shift.moves), 'run')} and ",
        strong(score(shift.top, 2)),
        " among the first ten. ",
        _describe_shift("The machine’s scores are", shift.mean_change, " on average over the runs"),
        _describe_shift(
            ", its grades" if shift.mean_change is not None else "The machine’s grades are",
            found.grade_shift,
            f" over {counted(found.agreement.num_documents, 'document')} that both judged",
        ),
        ".",
    )


def _describe_shift(what: str, shift: float | None, over: str) -> Sentence:
    if shift is None:
        return []
    word = "higher" if shift >= 0 else "lower"
    return join_phrases(f"{what} {word} by ", strong(score(abs(shift), 2)), over)


def warn_of_family(boards: PeopleBesideMachine) -> Sentence:
    """Say which runs state a model of the judge's family."""
    runs = [each.run for each in boards.of_family]
    verb = "states a model" if len(runs) == 1 else "state models"
    return join_phrases(
        name_or_count([str(run) for run in runs]), f" {verb} of the judge’s family."
    )


def describe_moves(moves: Sequence[Move], most: int = 3) -> Sentence:
    """List how many ranks runs gain or lose by the machine.

    Of more moves than `most` only the largest gains are listed.
    """
    listed = sorted(moves, key=lambda move: move.lost)[:most]
    sentence = join_phrases("By the machine ")
    for place, move in enumerate(listed):
        if place:
            sentence += join_phrases(" and " if place == len(listed) - 1 else ", ")
        sentence += join_phrases(run_phrase(move.run), f" {_describe_move(move.gained)}")
    return sentence + join_phrases(".")


def _describe_move(gained: int) -> str:
    """Return a move in words.

    >>> _describe_move(4), _describe_move(-1), _describe_move(0)
    ('gains four ranks', 'loses one rank', 'keeps its rank')
    """
    if not gained:
        return "keeps its rank"
    ranks = f"{spell_number(abs(gained))} {'rank' if abs(gained) == 1 else 'ranks'}"
    return f"{'gains' if gained > 0 else 'loses'} {ranks}"


def describe_turned(boards: PeopleBesideMachine) -> str:
    """Count the pairs of runs on which people and machine decide differently."""
    judged = boards.judged
    turned = f"{count(len(judged.overturned))} of {counted(judged.num_pairs, 'pair')} of runs"
    return f"{turned}; {count(boards.num_reversed)} reversed"
