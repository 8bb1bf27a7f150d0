"""Sentences about the agreement of judges: the board first, then the grades."""

from __future__ import annotations

from leaderboard.analysis.judge_agreement import JudgeAgreement
from leaderboard.analysis.judge_boards import JudgedBoards
from leaderboard.display.numbers import count, counted, percent, score
from leaderboard.pages.wording.phrases import Sentence, join_phrases, strong

CHOSEN = {"assessors": "one assessor per topic", "versions": "one version per topic"}


def agreement_verdict(found: JudgeAgreement, boards: JudgedBoards | None, judges: str) -> Sentence:
    """Say what other judges do to the order of runs, and how often grades are equal."""
    sentence = _describe_order(boards, judges) if boards is not None else []
    if found.share is None:
        return join_phrases(sentence, "No document has two grades yet.")
    who = "Two assessors give" if judges == "assessors" else " and ".join(found.judges) + " give"
    what = f"{counted(found.num_documents, 'document')} judged twice"
    if not found.is_once_each:
        what = (
            f"pairs of opinions, {count(found.num_pairs)} of them on"
            f" {counted(found.num_documents, 'document')}"
        )
    return join_phrases(
        sentence,
        f"{who} the same grade to ",
        strong(percent(found.share)),
        f" of {what}: ",
        _describe_kappa(found),
        ".",
    )


def _describe_kappa(found: JudgeAgreement) -> Sentence:
    """Return kappa with its interval, if both are defined."""
    kappa = found.kappa
    if kappa.value is None:
        return join_phrases("κ is not defined, as all grades are the same")
    value = strong(f"κ {score(kappa.value, 2)}")
    if kappa.low is None:
        return join_phrases(value)
    return join_phrases(
        value, f" (95 % interval {score(kappa.low, 2)} to {score(kappa.high, 2)} over topics)"
    )


def _describe_order(boards: JudgedBoards, judges: str) -> Sentence:
    if boards.mean_tau is None or boards.least_tau is None:
        return []
    return join_phrases(
        f"In {count(boards.draws)} random choices of {CHOSEN[judges]}, the order of"
        f" {counted(len(boards.runs), 'run')} has ",
        strong(f"τ {score(boards.mean_tau, 2)}"),
        " to this board on average and ",
        strong(score(boards.least_tau, 2)),
        " at least. ",
    )


def caption_agreement(found: JudgeAgreement, boards: JudgedBoards | None) -> str:
    """Describe a table of agreement for a paper."""
    words = [f"{len(found.judges)} judges, {counted(found.num_documents, 'document')} judged twice"]
    if boards is not None:
        words.append(
            f"boards of {counted(len(boards.runs), 'run')} by {boards.measure},"
            f" {counted(boards.topics, 'topic')}, {count(boards.draws)} mixtures of judges"
        )
    return "; ".join(words) + "."
