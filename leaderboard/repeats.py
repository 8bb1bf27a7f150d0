"""What a team sends a second time: a tag it has used, a run it has handed in."""

from __future__ import annotations

from django.core.files.storage import default_storage

from evaluation.problems import Problems
from evaluation.reading.likeness import NEARLY, likeness
from leaderboard.models import Run, Track
from leaderboard.models.runs import RunQuerySet
from leaderboard.rankings import TOP, Rankings

# How many of a team's runs a new one is compared with, the latest first.
COMPARED = 20


def check_tag(run: Run, tag: str, problems: Problems) -> None:
    """E_TAG or W_TAG, as the track has it, where an earlier run of the team has this tag."""
    same = earlier_runs(run).filter(tag=tag).first()
    if same is None:
        return
    message = f"your team has used this tag for the run {same.pk}"
    if run.track.repeated_tags == Track.Refusal.REFUSE:
        problems.error("E_TAG", None, message, tag, "This track takes every tag once.")
    else:
        problems.warn("W_TAG", None, message, tag, "Another tag tells them apart on the board.")


def check_likeness(run: Run, problems: Problems) -> None:
    """W_SAME_RUN, which finds the earlier run, where the rankings of this one are hardly others."""
    tops = tops_of(run)
    for earlier in earlier_runs(run).accepted()[:COMPARED]:
        overlap = likeness(tops, tops_of(earlier), at_least=NEARLY)
        if overlap is not None:
            message = f"the first {TOP} documents of every topic are those of your run {earlier}"
            if overlap < 1:
                message = f"the rankings hardly differ from those of your run {earlier}:"
                message += f" rank-biased overlap {overlap:.5f}"
            hint = "Withdraw one of them if it was sent by mistake."
            problems.warn("W_SAME_RUN", None, message, earlier.pk, hint)
            return


def earlier_runs(run: Run) -> RunQuerySet:
    return Run.objects.counting().filter(team=run.team_id, received_at__lt=run.received_at)


def tops_of(run: Run) -> dict[str, list[str]]:
    with default_storage.open(run.ranking_file.name) as file:
        return Rankings(file).tops
