"""What counts against the quota of a team, and what does not."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.actions import runs, tracks
from leaderboard.actions.collections import Replacements, replace_files
from leaderboard.actions.uploads import NotAccepted, accept_judgments
from leaderboard.actions.versions import accept_version
from leaderboard.models import Benchmark, Collection, NuggetVersion, Run
from leaderboard.runs.quotas import find_quota
from leaderboard.runs.stored_bytes import bytes_of_site
from tests.builders import (
    DOCUMENTS,
    OTHER_RUN,
    QRELS,
    RUN,
    TOPICS,
    make_collection,
    make_run,
    make_track,
    upload,
)


def test_withdrawing_what_was_scored_asks_no_second_time(collection, ben):
    track = make_track(collection, quota_total=1)
    runs.withdraw_run(make_run(track, ben), ben, "a slip")
    with pytest.raises(NotAccepted, match="has used 1 of 1 run"):
        make_run(track, ben, OTHER_RUN)


def test_while_a_track_is_blind_a_better_run_takes_the_place_of_a_withdrawn_one(collection, ben):
    track = make_track(collection, disclosure="blind", quota_total=1)
    runs.withdraw_run(make_run(track, ben), ben, "a slip")
    assert make_run(track, ben, OTHER_RUN).state == "scored"


@pytest.mark.parametrize("judged", [True, False])
def test_the_quota_of_a_blind_track_tells_of_no_judgments(collection, ben, judged):
    judgments = {} if judged else {"judgment_set": None}
    track = make_track(collection, disclosure="blind", quota_total=3, **judgments)
    run = make_run(track, ben)
    runs.withdraw_run(run, ben, "a slip")
    assert find_quota(track, run.team).left_in_all == 3


def test_after_the_release_withdrawn_runs_count_as_well(collection, ada, ben):
    track = make_track(collection, disclosure="blind", quota_total=3)
    run = make_run(track, ben)
    runs.withdraw_run(run, ben, "a slip")
    tracks.release_track(track, ada)
    assert find_quota(track, run.team).left_in_all == 2


@pytest.mark.parametrize("state", ["refused", "failed"])
def test_a_run_that_was_refused_or_failed_is_free_withdrawn_or_not(track, ben, state):
    run = make_run(track, ben)
    Run.objects.update(state=state, withdrawn_at=timezone.now())
    assert run not in Run.objects.using_quota()


def test_a_day_counts_its_own_runs_alone(collection, ben):
    track = make_track(collection, quota_per_day=2)
    run = make_run(track, ben)
    yesterday = timezone.now() - timedelta(days=1)
    assert find_quota(track, run.team, yesterday).left_today == 2


def test_the_files_of_a_team_take_no_more_than_its_share(track, ben, cat, settings):
    settings.TEAM_BYTES = len(RUN) + 10
    make_run(track, ben)
    with pytest.raises(NotAccepted, match="Your team’s files may take") as refused:
        make_run(track, ben, OTHER_RUN)
    assert refused.value.code == "E_QUOTA"
    assert make_run(track, cat).state == "scored"


@pytest.mark.parametrize("own", [True, False])
def test_the_files_of_a_benchmark_take_no_more_than_its_limit(track, ben, ada, settings, own):
    limit = len(RUN) + 10
    settings.BENCHMARK_BYTES = 1 if own else limit
    Benchmark.objects.update(max_bytes=limit if own else None)
    track.refresh_from_db()
    make_run(track, ben)
    with pytest.raises(NotAccepted, match="files of this benchmark may take") as refused:
        make_run(track, ben, OTHER_RUN)
    assert refused.value.code == "E_FULL" and "ask the administrators" in str(refused.value)
    bank = NuggetVersion(track=track, version="v1", created_by=ada)
    with pytest.raises(NotAccepted, match="files of this benchmark may take"):
        accept_version(bank, upload("nuggets.jsonl", "{}" * 20))


def test_another_benchmark_is_not_full_with_it(track, ben, ada, collection):
    make_run(track, ben)
    Benchmark.objects.update(max_bytes=1)
    assert make_run(make_track(collection, "other"), ben).state == "scored"


def test_a_file_that_was_deleted_takes_no_share(track, ben, settings):
    settings.TEAM_BYTES = len(RUN) + 10
    make_run(track, ben, RUN.replace("9.0", "nan"))
    Run.objects.update(file="")
    assert make_run(track, ben, OTHER_RUN).state == "scored"


def test_a_site_without_limits_takes_every_run(track, ben, settings):
    settings.TEAM_BYTES = settings.SITE_BYTES = 0
    assert make_run(track, ben).state == "scored"


def test_runs_collections_and_judgments_share_the_bytes_of_the_site(track, ada, ben, settings):
    make_run(track, ben)
    settings.SITE_BYTES = bytes_of_site() + 20
    assert bytes_of_site() == len(RUN) + len(TOPICS) + len(DOCUMENTS) + len(QRELS)
    for send in (
        lambda: make_run(track, ben, OTHER_RUN),
        lambda: make_collection(ada, slug="more"),
        lambda: accept_judgments(track.collection, upload("q", QRELS), "v2", ada),
    ):
        with pytest.raises(NotAccepted) as refused:
            send()
        assert refused.value.code == "E_FULL"


def test_a_file_in_place_of_another_takes_its_share(ada, settings):
    collection = make_collection(ada)
    Collection.objects.update(state="refused")
    replace_files(collection, ada, Replacements(topics=upload("t", TOPICS + "\n" * 9)))
    assert bytes_of_site() == len(TOPICS) + 9 + len(DOCUMENTS) + len(QRELS)
