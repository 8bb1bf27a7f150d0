"""The phase of a track in words: the same sentences on pages, in email, in answers of the API."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from django import template
from django.utils import timezone
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString

from leaderboard.display.numbers import anywhere_on_earth, counted, deadline, distance, due_anywhere
from leaderboard.models import Team, Track

register = template.Library()


class Phase(StrEnum):
    DRAFT = "draft"
    PLANNED = "planned"
    OPEN = "open"
    JUDGING = "judging"
    CLOSED = "closed"
    RELEASED = "released"


WORDS = {
    Phase.DRAFT: "Draft",
    Phase.PLANNED: "Not open yet",
    Phase.OPEN: "Open",
    Phase.JUDGING: "Judging",
    Phase.CLOSED: "Closed",
    Phase.RELEASED: "Released",
}


@dataclass(frozen=True)
class DatedSentence:
    """A sentence with dates: its first one in `{date}`, a later one in `{later}`.

    Pages add how far away the first date is.  An email is read later, so it names the date alone.
    """

    words: str
    date: datetime | None = None
    later: datetime | None = None

    def __str__(self) -> str:
        dates = {"date": self.date, "later": self.later}
        return self.words.format(**{name: _plain(when) for name, when in dates.items()})

    @property
    def html(self) -> SafeString:
        first = conditional_escape("")
        if self.date is not None:
            # A comma closes the distance where the sentence goes on to the later date.
            comma = "," if self.later is not None else ""
            first = format_html("{}, {}{}", due_anywhere(self.date), distance(self.date), comma)
        return format_html(self.words, date=first, later=deadline(self.later))

    @property
    def short_html(self) -> SafeString:
        """Return the sentence without the reader's own time, where there is little room."""
        return SafeString(self.html.replace(' class="due"', ""))


def _plain(when: datetime | None) -> str:
    return "" if when is None else anywhere_on_earth(when)


@dataclass(frozen=True)
class PhaseText:
    """The phase of a track: what it means now, and what else a reader should know of it."""

    phase: Phase
    lead: DatedSentence
    rest: DatedSentence

    def __str__(self) -> str:
        return f"{self.lead} {self.rest}".strip()

    @property
    def html(self) -> SafeString:
        return format_html("{} {}", self.lead.html, self.rest.short_html)


@register.filter
def phase_of(track: Track, now: datetime | None = None, team: Team | None = None) -> PhaseText:
    """Return the phase of a track with its sentences, as a team with its own deadline sees it."""
    now = now or timezone.now()
    phase = find_phase(track, now, team)
    lead, rest = _describe_runs(track, now, team), _describe_scores(track, now)
    if phase in (Phase.JUDGING, Phase.RELEASED):
        lead, rest = rest, _begin_with_capital(lead)
    return PhaseText(phase, _name_phase(phase, lead), rest)


def find_phase(track: Track, now: datetime | None = None, team: Team | None = None) -> Phase:
    """Return the phase; only dates and settings decide, as judgments of a blind track are secret.

    A track that everyone sees all of is also in judging until it has judgments.
    """
    state = track.state(now, team)
    if state != Track.State.CLOSED or track.accepts_runs(now, team):
        return Phase(state)
    if track.hides_systems:
        return Phase.JUDGING
    if track.released_at is not None:
        return Phase.RELEASED
    if track.disclosure == Track.Disclosure.BLIND:
        return Phase.JUDGING
    is_open = track.disclosure == Track.Disclosure.OPEN
    return Phase.JUDGING if is_open and track.judgment_set_id is None else Phase.CLOSED


def _describe_runs(track: Track, now: datetime, team: Team | None) -> DatedSentence:
    """Say when runs are accepted; the sentence has no capital, since a word precedes it."""
    opens, closes, state = track.starts_at, track.deadline_of(team), track.state(now, team)
    own = " (your team’s own deadline)" if closes != track.closes_at else ""
    if state == Track.State.DRAFT:
        return DatedSentence("only organisers see this track.")
    if state == Track.State.PLANNED:
        until = "" if closes is None else " until {later}"
        out = {"topics": track.topics_at, "documents": track.documents_at}
        coming = " and ".join(noun for noun, date in out.items() if date and date == opens)
        appear = f"{coming} appear and " if coming else ""
        return DatedSentence(f"{appear}runs are accepted from {{date}}{until}.", opens, closes)
    if closes is None:
        return DatedSentence("runs are accepted without a deadline.")
    if state == Track.State.CLOSED and track.accepts_runs(now, team):
        return DatedSentence("runs were due by {date}. Runs submitted now are marked late.", closes)
    if state == Track.State.CLOSED:
        return DatedSentence(f"runs were accepted until {{date}}{own}.", closes)
    if now < closes:
        return DatedSentence(f"runs are accepted until {{date}}{own}.", closes)
    grace = counted(track.grace_minutes, "minute")
    return DatedSentence(
        f"runs were due by {{date}}, and count as on time for {grace} after that.", closes
    )


def _describe_scores(track: Track, now: datetime) -> DatedSentence:
    """Describe which scores are visible to everyone who sees the track."""
    if track.hides_systems:
        return DatedSentence("Scores appear once all see those of the systems that are ranked.")
    if track.released_at is not None:
        return DatedSentence("All scores have been visible since {date}.", track.released_at)
    release = track.planned_release
    on_release = "on release" if release is None else "on release, planned for {date}"
    if track.disclosure == Track.Disclosure.BLIND:
        return DatedSentence(f"Scores appear {on_release}.", release)
    is_over = track.is_over_at(now)
    if track.disclosure == Track.Disclosure.LEADERBOARD and not (track.shows_by_date and is_over):
        if track.shows_by_date:
            return DatedSentence("Means are rounded; all scores appear after the deadline.")
        return DatedSentence(f"Means are rounded; all scores appear {on_release}.", release)
    names = f" Names appear {on_release}." if track.pseudonyms else ""
    if track.judgment_set_id is None:
        shown = "Scores appear once judgments exist."
    elif is_over:
        shown = "All scores are visible."
    else:
        shown = "Scores appear as soon as a run is scored."
    return DatedSentence(shown + names, release if names else None)


def _name_phase(phase: Phase, sentence: DatedSentence) -> DatedSentence:
    words = sentence.words[0].lower() + sentence.words[1:]
    return replace(sentence, words=f"{WORDS[phase]}: {words}")


def _begin_with_capital(sentence: DatedSentence) -> DatedSentence:
    return replace(sentence, words=sentence.words[0].upper() + sentence.words[1:])
