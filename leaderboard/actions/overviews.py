"""Change what the overview of a track presents, and how its data may be had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from django.db import transaction
from django.db.models import Model

from leaderboard.actions.tracks import change_track
from leaderboard.display.latex import escape_tex, render_misc
from leaderboard.models import AuditEvent, Collection, Milestone, Overview, Track, User


@dataclass(frozen=True)
class Day:
    """One line of a schedule: a day, or the days from `day` to `until`."""

    label: str
    day: date
    until: date | None = None

    def __str__(self) -> str:
        last = f" to {self.until.isoformat()}" if self.until else ""
        return f"{self.day.isoformat()}{last} {self.label}"


@dataclass(frozen=True)
class Author:
    name: str
    affiliation: str = ""


def find_overview(track: Track) -> Overview:
    """Return the texts of the home page, empty ones if nobody wrote any."""
    return Overview.objects.filter(track=track).first() or Overview(track=track)


def list_days(track: Track) -> list[Day]:
    return [Day(row.label, row.day, row.until) for row in track.milestones.all()]


@transaction.atomic
def change_overview(
    track: Track, user: User, description: str, texts: Mapping[str, Any], days: Sequence[Day]
) -> None:
    """Replace the texts and the schedule; the trail shows what changed."""
    change_track(track, user, {"description": description})
    page = find_overview(track)
    before = {name: getattr(page, name) for name in texts}
    before["schedule"] = "\n".join(map(str, list_days(track)))
    after = {**texts, "schedule": "\n".join(map(str, days))}
    if not _record_changes(user, track, before, after):
        return
    for name, value in texts.items():
        setattr(page, name, value)
    page.save()
    track.milestones.all().delete()
    Milestone.objects.bulk_create([Milestone(track=track, **asdict(day)) for day in days])


@transaction.atomic
def change_data_terms(collection: Collection, user: User, terms: Mapping[str, Any]) -> None:
    """Change licence and sharing of a collection's documents; the documents never change."""
    before = {name: getattr(collection, name) for name in terms}
    if changed := _record_changes(user, collection, before, terms):
        for name in changed:
            setattr(collection, name, terms[name])
        collection.save(update_fields=changed)


def _record_changes(
    user: User, target: Model, before: Mapping[str, Any], after: Mapping[str, Any]
) -> list[str]:
    """Record the values that change, if any; return their names."""
    changed = [name for name in after if after[name] != before[name]]
    if changed:
        old, new = ({name: values[name] for name in changed} for values in (before, after))
        AuditEvent.objects.record(user, "change", target, old, new)
    return changed


def list_authors(track: Track, page: Overview) -> list[Author]:
    """Return the authors that the organisers named, or the organisers themselves.

    >>> page = Overview(authors="Inês Moura, University of Porto\\nTobias Brandt")
    >>> [author.name for author in list_authors(Track(), page)]
    ['Inês Moura', 'Tobias Brandt']
    """
    return parse_authors(page.authors) or list(map(author_of, track.organisers()))


def author_of(user: User) -> Author:
    """Return a user as an author, by the name and the affiliation of the account."""
    return Author(user.display_name, user.affiliation)


def parse_authors(text: str) -> list[Author]:
    """Return the authors of a text with one per line, each with an affiliation after a comma."""
    lines = [line.partition(",") for line in text.splitlines() if line.strip()]
    return [Author(name.strip(), rest.strip()) for name, _, rest in lines]


def suggest_authors(track: Track) -> str:
    """Return the authors of a track, one per line, as a form proposes them."""
    page = find_overview(track)
    return page.authors or "\n".join(author.name for author in list_authors(track, page))


def render_authors(authors: Sequence[Author]) -> str:
    """Render the authors as BibTeX reads them; no name is taken apart."""
    return " and ".join(f"{{{escape_tex(author.name)}}}" for author in authors)


def render_track_bibtex(track: Track, authors: Sequence[Author], address: str) -> str:
    """Render the BibTeX entry of a track."""
    fields = {
        "title": f"{{{escape_tex(track.name)}}}",
        "author": render_authors(authors),
        "year": str((track.closes_at or track.created_at).year),
        "howpublished": f"\\url{{{address}}}",
    }
    return render_misc(track.slug, fields)
