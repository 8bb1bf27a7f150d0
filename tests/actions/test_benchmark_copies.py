"""A benchmark copied as next year's."""

from datetime import UTC, date, datetime

import pytest

from leaderboard.actions import people, registrations
from leaderboard.actions.tracks import change_track
from leaderboard.models import Benchmark, Milestone, Overview, Track
from tests.builders import make_collection, make_run

COPY = "/benchmarks/bread/manage/next-year/"


@pytest.fixture
def last_year(track, ada, ben):
    """The track of a year that is over, with texts, dates, an agreement and a run."""
    people.admit(track.benchmark, ben)
    make_run(track, ben)
    dates = {"closes_at": datetime(2028, 2, 29, 12, tzinfo=UTC), "excluded_topics": ["1"]}
    change_track(track, ada, {**dates, "exclusion_reason": "A typing error."})
    registrations.ask_teams(track.benchmark, ada, ["country"], "")
    registrations.write_agreement(track.benchmark, ada, "Do not pass it on.")
    Overview.objects.create(track=track, contact="bread@example.org")
    Milestone.objects.create(track=track, label="Workshop", day=date(2028, 9, 1))
    return track


def copy(as_ada, track, **fields):
    sent = {"name": "Bread 2029", f"collection-{track.pk}": track.collection_id, **fields}
    assert as_ada.post(COPY, sent).status_code == 302
    return Benchmark.objects.get(name="Bread 2029")


def test_a_copy_has_rules_texts_and_dates_and_nobody(last_year, as_ada):
    copied = copy(as_ada, last_year)
    track = copied.tracks.get()
    assert (copied.asked, copied.agreement.text) == (["country"], "Do not pass it on.")
    assert (track.measures, track.judgment_set) == (last_year.measures, last_year.judgment_set)
    assert track.closes_at == datetime(2029, 2, 28, 12, tzinfo=UTC)
    assert track.milestones.get().day == date(2029, 9, 1)
    assert track.overview.contact == "bread@example.org"
    assert track.is_draft and not copied.teams.exists() and not track.runs.exists()
    # What was copied is still there.
    assert last_year.overview.contact and last_year.milestones.exists()


def test_another_collection_takes_over_nothing_of_its_topics(last_year, as_ada, ada):
    rolls = make_collection(ada, "rolls")
    track = copy(as_ada, last_year, **{f"collection-{last_year.pk}": rolls.pk}).tracks.get()
    assert (track.collection, track.judgment_set, track.excluded_topics) == (rolls, None, [])


def test_moved_dates_wait_until_somebody_has_looked(last_year, as_ada, ada):
    track = copy(as_ada, last_year).tracks.get()
    page = f"/benchmarks/{track.address}/setup/"
    assert "Moved by a year" in as_ada.get(page).content.decode()
    change_track(track, ada, {})
    assert "Moved by a year" not in as_ada.get(page).content.decode()
    assert not Track.objects.filter(has_moved_dates=True).exists()
