"""Sentences about the judging of a pool: how far it is, what is unusual, who judged."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from urllib.parse import urlencode

from leaderboard.assessments.flags import Flag
from leaderboard.assessments.progress import Progress
from leaderboard.assessments.provenance import Judges, count_judges
from leaderboard.assessments.third_opinions import ThirdOpinions
from leaderboard.display.numbers import count, counted, score, signed
from leaderboard.display.numbers import date as full_date
from leaderboard.models import Assessment, JudgmentSet
from leaderboard.pages.wording.phrases import Sentence, join_phrases, spell_number, strong


def describe_share(share: float) -> str:
    """Return a share in whole percent, never rounded up to the whole.

    >>> describe_share(0.999), describe_share(1)
    ('99 %', '100 %')
    """
    return f"{math.floor(100 * share)} %"


def describe_progress(assessment: Assessment, progress: Progress) -> Sentence:
    """Say which share of a pool is judged, and when the rest is at the present pace."""
    state, noun = Assessment.State, assessment.pool.noun
    if assessment.state == state.DRAFT:
        return join_phrases(strong("The judging is not open yet."), _describe_next(progress))
    graded = f"{count(progress.num_graded)} of {counted(progress.num_pooled, noun)}"
    if assessment.state == state.CLOSED:
        return join_phrases(
            strong("The judging is closed."), f" {graded} of the pool have a grade."
        )
    if not progress.num_ungraded:
        return join_phrases(strong(f"Every {noun} of the pool is judged."), _finish(progress))
    judged = strong(f"{describe_share(progress.share)} of the pool is judged.")
    if assessment.state == state.PAUSED:
        return join_phrases(judged, " The judging is paused: no one can judge until you resume.")
    if progress.ends_on is None:
        return join_phrases(judged, " The present pace is not known yet.")
    ends = f" At the present pace it is finished on {full_date(progress.ends_on)}"
    return join_phrases(judged, f"{ends}{_compare_with_due(progress.ends_on, assessment.due_on)}.")


def _describe_next(progress: Progress) -> str:
    if not progress.assessors:
        return " Invite assessors by the link on the page “Assessors”, then open it."
    return f" {counted(len(progress.assessors), 'assessor')} joined so far."


def _finish(progress: Progress) -> str:
    if progress.num_left:
        return f" {counted(progress.num_left, 'second opinion')} still to come."
    return " Close the judging to make its version."


def _compare_with_due(ends_on: date, due_on: date | None) -> str:
    """
    >>> _compare_with_due(date(2027, 1, 14), date(2027, 1, 18))
    ', four days before the date you set'
    """
    if due_on is None:
        return ""
    days = (due_on - ends_on).days
    if not days:
        return ", the date you set"
    number = spell_number(abs(days))
    unit = "day" if abs(days) == 1 else "days"
    return f", {number} {unit} {'before' if days > 0 else 'after'} the date you set"


@dataclass(frozen=True)
class FlagLine:
    """A flag in words: what was counted, what may explain it, and which marks it is about."""

    strong: str
    words: str
    asks: Mapping[str, str | int]

    @property
    def query(self) -> str:
        """The query of the page that lists these marks."""
        return urlencode(self.asks)


def describe_flags(flags: Iterable[Flag]) -> list[FlagLine]:
    """Say what is unusual about marks, and what may explain it; nobody is accused."""
    return [DESCRIBED[flag.kind](flag) for flag in flags]


def _describe_fast(flag: Flag) -> FlagLine:
    return FlagLine(
        f"{flag.assessor} takes {flag.value:.0f} s per document",
        f"the median of {counted(flag.count, 'mark')}. Short documents can explain it.",
        {"assessor": flag.assessor.name, "below": 5},
    )


def _describe_row(flag: Flag) -> FlagLine:
    return FlagLine(
        f"{flag.assessor} gave grade {flag.value:.0f} {counted(flag.count, 'time')} in a row",
        "A topic with few relevant documents can explain it.",
        {"assessor": flag.assessor.name, "first": flag.first or 0, "last": flag.last or 0},
    )


def _describe_pair(flag: Flag) -> FlagLine:
    name = flag.other.name if flag.other is not None else ""
    return FlagLine(
        f"{flag.assessor} and {name} agree hardly more than by chance",
        f"kappa is {score(flag.value, 2)} over {counted(flag.count, 'document')} of both. "
        "The guideline can be unclear to one of them.",
        {"assessor": flag.assessor.name, "with": name},
    )


def _describe_own(flag: Flag) -> FlagLine:
    p = "< .001" if flag.p is not None and flag.p < 0.001 else f"= {score(flag.p, 3)}"
    return FlagLine(
        f"{flag.assessor} grades the first documents of the own team higher than others do",
        f"by {signed(flag.value, 2)} over {counted(flag.count, 'document')}, permutation test, "
        f"p {p}. Look at the remarks.",
        {"assessor": flag.assessor.name, "own": 1},
    )


DESCRIBED = {
    "fast": _describe_fast,
    "row": _describe_row,
    "pair": _describe_pair,
    "own": _describe_own,
}


def describe_judges(judges: Judges) -> str:
    """Say who made a version.

    >>> describe_judges(Judges(7, 3, 1))
    '7 assessors on this site; 3 of them are in teams of this track, 1 is an organiser'
    """
    words = f"{counted(judges.number, 'assessor')} on this site"
    interests = []
    if judges.in_teams:
        number = judges.in_teams
        interests.append(f"{number} of them {_is_or_are(number)} in teams of this track")
    if judges.organisers:
        noun = "an organiser" if judges.organisers == 1 else "organisers"
        interests.append(f"{judges.organisers} {_is_or_are(judges.organisers)} {noun}")
    return "; ".join([words, ", ".join(interests)]) if interests else words


def name_judges(judgment_set: JudgmentSet) -> str:
    """Say who made a version of the judgments; "" unless it was judged on this site."""
    if judgment_set.assessment is None:
        return ""
    return describe_judges(count_judges(judgment_set.assessment))


def _is_or_are(number: int) -> str:
    return "is" if number == 1 else "are"


def describe_third(third: ThirdOpinions) -> str:
    """Return what third assessors were asked, and what is left."""
    given = f"{counted(third.num_given, 'disagreement')} given to a third assessor."
    if not third.num_left:
        return given
    return f"{given} Of {third.num_left:,}, no assessor is free of an opinion: invite another one."


def describe_shared_out(number: int) -> str:
    if not number:
        return "Nothing was left to share out, or no assessor may take more topics."
    return f"{counted(number, 'opinion')} shared out. Assessors were notified."
