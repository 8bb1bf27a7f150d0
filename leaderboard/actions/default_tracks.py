"""A track with default settings, for organisers who choose none."""

from __future__ import annotations

from typing import Any

from leaderboard.actions.names import unused_slug
from leaderboard.models import Collection, Track
from leaderboard.models.track_settings import site_defaults
from leaderboard.scoring.judgments import suggest_measures

MEASURES = ["AP", "nDCG@10", "P@10", "RR", "R@1000"]


def build_internal_track(collection: Collection) -> Track:
    """Build a track with default settings that only users of this site can see."""
    proposal = default_settings(collection)
    newest = proposal["judgment_set"]
    fields = {
        "slug": unused_slug(collection.name, Track),
        "primary_measure": proposal["measures"][0],
        "relevance_threshold": newest.relevant_from if newest is not None else 1,
        "visibility": Track.Visibility.MEMBERS,
    }
    return Track(collection=collection, **proposal | fields)


def default_settings(collection: Collection) -> dict[str, Any]:
    """Return the settings that the form of a new track proposes."""
    newest = collection.judgment_sets.ready().last()
    return {
        "name": collection.name,
        "judgment_set": newest,
        "measures": suggest_measures(newest, MEASURES),
        "disclosure": Track.Disclosure.OPEN,
        "visibility": Track.Visibility.PUBLIC,
        **site_defaults(Track),
    }
