"""The board of battles: computed by a job from the votes of people, or from those of machines."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.db.models import Count, Max

from evaluation.battles import BattleBoard, Kind, Vote, find_side_voters, make_board
from evaluation.battles.boards import share_preferring_more
from evaluation.significance import Interval
from leaderboard.assessments.battles import load_votes
from leaderboard.models import Battles, Calculation
from leaderboard.models.jobs import Progress, Publish
from leaderboard.models.tracks import settings_digest

# The layout of stored results: those of an earlier one are computed again.
LAYOUT = 1


def find_basis(battles: Battles, kind: Kind) -> str:
    """Return a digest of the votes on which a board depends."""
    votes = battles.votes.cast().of_runs_in_place().filter(kind=kind)
    found = votes.aggregate(number=Count("pk"), last=Max("voted_at"), newest=Max("pk"))
    return settings_digest({**{name: str(value) for name, value in found.items()}, "v": LAYOUT})


def compute_battle_board(asked: Calculation, progress: Progress) -> Publish:
    """Rank the runs of a track by votes; return the function that stores the board."""
    battles = Battles.objects.filter(track=asked.track).first()
    if battles is None:
        return lambda: None
    kind: Kind = "machine" if asked.request["kind"] == "machine" else "person"
    basis = find_basis(battles, kind)
    votes = load_votes(battles, kind, by_id=True)
    return partial(asked.keep, pack_board(votes), basis)


def pack_board(votes: list[Vote]) -> dict[str, Any]:
    """Return the board of votes as JSON, runs by their ids in the order of the board."""
    both_bad: dict[str, int] = {}
    for vote in votes:
        if vote.choice == "both bad":
            both_bad[vote.topic] = both_bad.get(vote.topic, 0) + 1
    head = {
        "votes": len(votes),
        "voters": len({vote.voter for vote in votes}),
        "topics": len({vote.topic for vote in votes}),
        "both_bad": both_bad,
        "one_sided": [[each.voter, each.side, each.votes] for each in find_side_voters(votes)],
    }
    if not votes:
        return {**head, "runs": []}
    board = make_board(votes)
    order = board.pairs.order.tolist()
    return {
        **head,
        "has_half_games": board.strengths.has_half_games,
        "runs": [_pack_run(board, run) for run in order],
        "shares": [[_number(board.games.shares[a, b]) for b in order] for a in order],
        "better": [[bool(board.pairs.better[a, b]) for b in order] for a in order],
        "effects": _pack_effects(board, votes),
        "keeps_order": _keeps_order(board),
    }


def _pack_run(board: BattleBoard, run: int) -> dict[str, Any]:
    return {
        "id": board.games.runs[run],
        "strength": float(board.strengths.strengths[run]),
        "preferred": board.preferred(run),
        "interval": _ends(board.interval(run)),
        "letters": board.pairs.letters[run],
        "ranks": [int(board.pairs.rank_low[run]), int(board.pairs.rank_high[run])],
        "battles": int(board.num_battles[run]),
        "won": float(board.won[run]),
        "tied": float(board.tied[run]),
    }


def _pack_effects(board: BattleBoard, votes: list[Vote]) -> list[dict[str, Any]]:
    return [
        {
            "name": effect.name,
            "odds": effect.odds,
            "interval": _ends(effect.interval),
            "share": share_preferring_more(votes, effect.name),
        }
        for effect in board.effects
    ]


def _keeps_order(board: BattleBoard) -> bool | None:
    """Whether the order of the runs stays with the differences of the sides held equal."""
    if board.held_equal is None:
        return None
    again = (-board.held_equal.logs).argsort(kind="stable")
    return bool((again == board.pairs.order).all())


def _ends(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]


def _number(value: float) -> float | None:
    return None if value != value else float(value)
