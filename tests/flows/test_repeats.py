"""What a team sends a second time is told."""

from __future__ import annotations

from leaderboard import organising
from leaderboard.models import Run
from tests.builders import OTHER_RUN, RUN, make_run, make_track


def codes(run: Run) -> list[str]:
    return [problem["code"] for problem in run.problems]


def test_the_same_rankings_with_other_scores_are_the_same_run(track, ben, as_ben):
    first = make_run(track, ben)
    again = make_run(track, ben, RUN.replace("9.0", "9.5").replace("ben-bm25", "again"))
    assert (again.state, codes(again)) == ("scored", ["W_SAME_RUN"])
    assert f'href="/runs/{first.pk}/"' in as_ben.get(f"/runs/{again.pk}/").content.decode()


def test_another_run_is_another_run(track, ben):
    make_run(track, ben)
    assert codes(make_run(track, ben, OTHER_RUN)) == []


def test_nobody_learns_of_the_runs_of_another_team(track, ben, cat):
    make_run(track, ben)
    assert codes(make_run(track, cat, RUN.replace("9.0", "9.5"))) == []


def test_a_used_tag_in_the_file_is_a_warning(track, ben):
    make_run(track, ben)
    run = make_run(track, ben, OTHER_RUN.replace("other", "ben-bm25"))
    assert (run.state, codes(run)) == ("scored", ["W_TAG"])


def test_a_used_tag_in_the_file_is_refused_where_the_track_says_so(collection, ben):
    track = make_track(collection, repeated_tags="refuse")
    make_run(track, ben)
    run = make_run(track, ben, OTHER_RUN.replace("other", "ben-bm25"))
    assert (run.state, codes(run)) == ("refused", ["E_TAG"])


def test_the_tag_of_a_withdrawn_run_is_free_again(collection, ben):
    track = make_track(collection, repeated_tags="refuse")
    organising.withdraw(make_run(track, ben), ben)
    assert make_run(track, ben).state == "scored"
