"""Which settings of a track go together; the form and the API ask here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from evaluation.answers.any_measure import AnyMeasure, parse_measure
from leaderboard.models import Score, Track
from leaderboard.scoring.answer_marks import explain_missing_marks, find_layer
from leaderboard.scoring.editions import NO_MARKS
from leaderboard.scoring.judgments import explain_missing_judgments

LONGEST_MEASURE = Score._meta.get_field("resolved").max_length
# What the stored files of runs depend on.
FIXED = ("run_kind", "answer_ranking")
# The dates that all tracks of a collection have, by what appears then.
SHARED_DATES = {"topics_at": "topics", "documents_at": "documents"}
# How many unknown topics a message names.
LISTED = 10


@dataclass(frozen=True)
class SettingProblem:
    """Why a setting cannot have its value, as a sentence; `found` is the part that is wrong."""

    field: str
    message: str
    found: str = ""


def check(track: Track, changes: Mapping[str, Any]) -> list[SettingProblem]:
    """Return what is wrong with the settings of a track once they are changed.

    A setting without a change has the value of the track; None is a value that is not known.
    """
    changed = with_changes(track, changes)
    return [
        *_check_kind(track, changed),
        *_check_layers(changed, changes),
        *_check_systems(changed, changes),
        *_check_measures(changed),
        *_check_test(changed),
        *_check_topics(changed, changes),
        *_check_disclosure(changed),
        *_check_shared_dates(track, changed),
        *_check_dates(changed),
    ]


def with_changes(track: Track, changes: Mapping[str, Any]) -> Track:
    """Return a copy of the track with these values; do not save it."""
    other = copy(track)
    for name, value in changes.items():
        setattr(other, name, value)
    return other


def _check_kind(track: Track, changed: Track) -> Iterator[SettingProblem]:
    for name in FIXED if track.pk is not None else ():
        value = getattr(changed, name)
        if value not in (getattr(track, name), None):
            yield SettingProblem(name, "Fixed once a track is made.", value)


def _check_measures(track: Track) -> Iterator[SettingProblem]:
    measures = track.measures or []
    ranking = [track.primary_measure] if track.primary_measure else []
    unknown = [
        *_find_unknown_measures("measures", measures),
        *_find_unknown_measures("primary_measure", ranking),
    ]
    yield from unknown
    if unknown or not measures:
        return
    if ranking and parse_measure(track.primary_measure) not in map(parse_measure, measures):
        message = f"Choose one of the measures: {', '.join(measures)}."
        yield SettingProblem("primary_measure", message, track.primary_measure)
    for text in measures:
        if reason := _explain_missing(parse_measure(text), track):
            yield SettingProblem("measures", f"{reason}.", text)
            return


def _explain_missing(measure: AnyMeasure, track: Track) -> str:
    """Return why a track cannot have a measure; what judgments give is open without them."""
    reason = explain_missing_marks(measure, track)
    # Marks of people are what judges of answers are measured by, and scores what ranks systems.
    if reason or track.judgment_set is None or not track.reads_judgments:
        return reason
    return explain_missing_judgments(measure, track.judgment_set)


def _check_layers(track: Track, changes: Mapping[str, Any]) -> Iterator[SettingProblem]:
    for name in NO_MARKS:
        if changes.get(name) and find_layer(track, name) is None:
            yield SettingProblem(name, "Not a layer of marks of this track.", changes[name])


def _check_systems(track: Track, changes: Mapping[str, Any]) -> Iterator[SettingProblem]:
    truth, measure = track.truth, track.systems_measure
    if changes.get("systems") and truth is None:
        message = "Not a track of systems on this collection, in this benchmark."
        yield SettingProblem("systems", message, track.systems)
    if changes.get("systems_measure") and (truth is None or measure not in truth.measures):
        listed = ", ".join(truth.measures) if truth is not None else "none without a track"
        message = f"Choose one of its measures: {listed}."
        yield SettingProblem("systems_measure", message, measure)


def _check_test(track: Track) -> Iterator[SettingProblem]:
    if track.collection.num_groups and track.test != Track.Test.MAX_T:
        message = "Topics in groups need the maximum-t test, which flips whole groups."
        yield SettingProblem("test", message, track.test)


def _find_unknown_measures(field: str, texts: list[str]) -> Iterator[SettingProblem]:
    for text in texts:
        try:
            parse_storable_measure(text)
        except ValueError as reason:
            yield SettingProblem(field, str(reason), text)


def parse_storable_measure(text: str) -> AnyMeasure:
    """Parse a measure whose name is short enough to be stored with any threshold.

    Raises ValueError.
    """
    measure = parse_measure(text)
    if len(str(measure.resolved(127))) > LONGEST_MEASURE:
        raise ValueError(f"{text}: this name of a measure is too long")
    return measure


def drop_repeated_measures(texts: list[str]) -> list[str]:
    """Return each measure once, in its first spelling.  Raises ValueError for an unknown one.

    >>> drop_repeated_measures(["map", "P@5", "AP"])
    ['map', 'P@5']
    """
    first = {str(parse_storable_measure(text)): text for text in reversed(texts)}
    return [text for text in dict.fromkeys(texts) if text in first.values()]


def match_spelling(text: str, measures: list[str]) -> str:
    """Return the spelling among `measures` of the same measure, or `text` if there is none.

    >>> match_spelling("AP", ["P@5", "map"])
    'map'
    """
    if text in measures:
        return text
    wanted = parse_measure(text)
    return next((each for each in measures if parse_measure(each) == wanted), text)


def _check_topics(track: Track, changes: Mapping[str, Any]) -> Iterator[SettingProblem]:
    for name in ("excluded_topics", "public_topics"):
        if wanted := changes.get(name):
            known = set(track.collection.topics.values_list("number", flat=True))
            unknown = [number for number in wanted if number not in known]
            if unknown:
                more = f" and {len(unknown) - LISTED:,} more" if len(unknown) > LISTED else ""
                listed = ", ".join(unknown[:LISTED])
                yield SettingProblem(name, f"Not in the collection: {listed}{more}.", unknown[0])
    if track.excluded_topics and not track.exclusion_reason:
        yield SettingProblem("exclusion_reason", "Enter a reason for excluding topics.")


def _check_disclosure(track: Track) -> Iterator[SettingProblem]:
    if track.disclosure == Track.Disclosure.LEADERBOARD:
        return
    for name in ("ladder_step", "public_topics"):
        if getattr(track, name):
            yield SettingProblem(name, "Only available with rounded leaderboard means.")


def find_shared_date(track: Track, name: str) -> datetime | None:
    """Return a date that the other tracks of its collection have."""
    others = track.collection.tracks.exclude(pk=track.pk).exclude(**{name: None})
    return others.values_list(name, flat=True).first()


def _check_shared_dates(track: Track, changed: Track) -> Iterator[SettingProblem]:
    others = track.collection.tracks.exclude(pk=track.pk)
    for name, noun in SHARED_DATES.items():
        date = getattr(changed, name)
        if date == (getattr(track, name) if track.pk else None):
            continue
        if track.pk is None and others.exists() and find_shared_date(track, name) != date:
            message = (
                f"{noun.capitalize()} appear at one time on all tracks of a collection. Change it "
                "on another."
            )
            yield SettingProblem(name, message)
        elif date is not None:
            for other in others.filter(closes_at__lte=date)[:1]:
                yield SettingProblem(name, f"{other} closes before that. Change its deadline.")


def _check_dates(track: Track) -> Iterator[SettingProblem]:
    closes = track.closes_at
    if closes is None:
        return
    if track.opens_at is not None and closes <= track.opens_at:
        yield SettingProblem("closes_at", "Must be after the opening time.", closes.isoformat())
    for name, noun in SHARED_DATES.items():
        date = getattr(track, name)
        if date is None and track.pk is None:
            date = find_shared_date(track, name)
        if date is not None and closes <= date:
            message = f"Must be after the time when {noun} appear."
            yield SettingProblem("closes_at", message, closes.isoformat())
    if track.release_at is not None and track.release_at < closes:
        found = track.release_at.isoformat()
        yield SettingProblem("release_at", "Set the release on or after the closing time.", found)
