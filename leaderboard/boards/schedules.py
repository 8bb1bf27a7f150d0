"""The schedule of a track: its own dates and the organisers' milestones in one order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta

from django.utils import timezone

from leaderboard.display.numbers import ANYWHERE_ON_EARTH
from leaderboard.display.phases import WORDS, Phase
from leaderboard.models import Team, Track

OPENS = "Opens"
TOPICS_APPEAR = "Topics appear"
DOCUMENTS_APPEAR = "Documents appear"
JUDGMENTS_APPEAR = "Judgments as a file"
BASELINE_APPEARS = "Baseline as a file"
CLOSES = "Closes"
JUDGING = WORDS[Phase.JUDGING]
RELEASED = WORDS[Phase.RELEASED]
PLANNED_RELEASE = "Planned release"
# What organisers read beside a date.
MEANINGS = {
    OPENS: "Runs are accepted from then on.",
    TOPICS_APPEAR: "Until then only organisers see topics, and no run is accepted.",
    DOCUMENTS_APPEAR: "Until then only organisers see documents, and no run is accepted.",
    JUDGMENTS_APPEAR: "From then on readers of all scores can download the judgments.",
    BASELINE_APPEARS: "From then on those who see the data can download the organisers’ run.",
    CLOSES: "Later runs are rejected or marked late, as the rules for runs say.",
    JUDGING: "Between the deadline and the release.",
    PLANNED_RELEASE: "Scores appear when you release them, never automatically.",
    RELEASED: "Everyone who sees the track sees all scores.",
}


@dataclass(frozen=True)
class ScheduleEntry:
    """One date: a moment `at`, or whole days from `day` to `until`, which end AoE."""

    label: str
    at: datetime | None = None
    day: date | None = None
    until: date | None = None
    is_past: bool = False
    is_next: bool = False
    # Whether its days have begun and are not over.
    is_on: bool = False
    # Whose it is, where several tracks share a schedule.
    track: Track | None = None

    @property
    def meaning(self) -> str:
        """What happens then; a milestone is only announced."""
        return MEANINGS.get(self.label, "A milestone that the overview shows.")

    @property
    def begins(self) -> datetime:
        return self.at if self.at is not None else _start_of(self.day)

    @property
    def ends(self) -> datetime:
        """The moment from which the entry is past."""
        if self.at is not None:
            return self.at
        return _start_of((self.until or self.day) + timedelta(days=1))


def _start_of(day: date | None) -> datetime:
    assert day is not None, "an entry has a moment or a day"
    return datetime.combine(day, time(), ANYWHERE_ON_EARTH)


def build_schedule(
    track: Track, now: datetime | None = None, team: Team | None = None
) -> list[ScheduleEntry]:
    """Return the entries in order as a team sees them; the first that is not past is the next."""
    return _place(_list_entries(track, team), now or timezone.now())


def build_common_schedule(
    tracks: Sequence[Track], now: datetime | None = None
) -> list[ScheduleEntry]:
    """Return the entries of several tracks in one order, each with its track."""
    entries = (replace(entry, track=each) for each in tracks for entry in _list_entries(each, None))
    return _place(entries, now or timezone.now())


def _place(entries: Iterable[ScheduleEntry], now: datetime) -> list[ScheduleEntry]:
    """Order entries, and say which are past, next and on."""
    entries = sorted(entries, key=lambda entry: (entry.ends, entry.begins))
    past = [entry.ends <= now for entry in entries]
    following = past.index(False) if False in past else None
    return [
        replace(
            entry,
            is_past=is_past,
            is_next=place == following,
            is_on=entry.begins <= now < entry.ends,
        )
        for place, (entry, is_past) in enumerate(zip(entries, past, strict=True))
    ]


def _list_entries(track: Track, team: Team | None) -> Iterator[ScheduleEntry]:
    milestones = list(track.milestones.all())
    for milestone in milestones:
        yield ScheduleEntry(milestone.label, day=milestone.day, until=milestone.until)
    if track.opens_at is not None:
        yield ScheduleEntry(OPENS, track.opens_at)
    if track.topics_at is not None:
        yield ScheduleEntry(TOPICS_APPEAR, track.topics_at)
    if track.documents_at is not None:
        yield ScheduleEntry(DOCUMENTS_APPEAR, track.documents_at)
    if track.shares_judgments and track.judgments_at is not None:
        yield ScheduleEntry(JUDGMENTS_APPEAR, track.judgments_at)
    if track.baseline_readers and track.baseline_at is not None:
        yield ScheduleEntry(BASELINE_APPEARS, track.baseline_at)
    deadline = track.deadline_of(team)
    if deadline is not None:
        yield ScheduleEntry(CLOSES, deadline)
    release = track.released_at or track.planned_release
    if release is not None:
        label = PLANNED_RELEASE if track.released_at is None else RELEASED
        yield ScheduleEntry(label, release)
        if not any(milestone.label.startswith(JUDGING) for milestone in milestones):
            yield from _judging_days(track, release)


def _judging_days(track: Track, release: datetime) -> Iterator[ScheduleEntry]:
    """Yield the days between deadline and release of a track without scores before it."""
    if track.disclosure != Track.Disclosure.BLIND or track.closes_at is None:
        return
    first = track.closes_at.astimezone(ANYWHERE_ON_EARTH).date() + timedelta(days=1)
    last = release.astimezone(ANYWHERE_ON_EARTH).date() - timedelta(days=1)
    if last > first:
        yield ScheduleEntry(JUDGING, day=first, until=last)
