"""Sentences about judgments by machines."""

from __future__ import annotations

from leaderboard.display.numbers import counted
from leaderboard.models import MachineCard


def describe_answers(card: MachineCard) -> str:
    """Describe how many documents of a file have a grade."""
    found = f"{card.num_graded:,} of {counted(card.num_asked, 'document')} have a grade"
    if not card.num_failed:
        return f"{found}."
    stay = "stays" if card.num_failed == 1 else "stay"
    return f"{found}; {card.num_failed:,} failed and {stay} unjudged."
