"""A pool of seven unjudged documents: topic 1 has d1, d2, d3 and d9."""

from __future__ import annotations

import pytest

from leaderboard.models import Assessment, Assignment, Pool, Track, User
from tests.builders import (
    OTHER_RUN,
    make_assessment,
    make_collection,
    make_pool,
    make_run,
    make_track,
)


@pytest.fixture
def unjudged_track(ada: User) -> Track:
    """A blind track without judgments."""
    return make_track(make_collection(ada, qrels=None), disclosure="blind")


@pytest.fixture
def pool(unjudged_track: Track, ada: User, ben: User, cat: User) -> Pool:
    runs = [make_run(unjudged_track, ben), make_run(unjudged_track, cat, OTHER_RUN)]
    return make_pool(unjudged_track, ada, runs)


@pytest.fixture
def assessment(pool: Pool, ada: User, dan: User) -> Assessment:
    """Dan judges all three topics."""
    return make_assessment(pool, ada, dan)


@pytest.fixture
def assignment(assessment: Assessment) -> Assignment:
    """Topic 1 for Dan, with the documents d1, d2, d3 and d9 in a random order."""
    return Assignment.objects.get(topic__number="1")
