"""What a team sends a second time is told."""

from __future__ import annotations

from django.db import transaction

from leaderboard.actions import runs as run_actions
from leaderboard.actions import submissions
from leaderboard.actions.submissions import RunDetails
from leaderboard.models import Run, Track, User
from leaderboard.scoring import duplicates, work
from leaderboard.scoring.duplicates import compute_fingerprint
from tests.builders import OTHER_RUN, RUN, make_run, make_track, upload

# Other bytes with the same rankings.
TWIN = RUN.replace("9.0", "9.5").replace("ben-bm25", "twin")


def codes(run: Run) -> list[str]:
    return [problem["code"] for problem in run.problems]


def test_the_same_rankings_with_other_scores_are_the_same_run(track, ben, as_ben):
    first = make_run(track, ben)
    again = make_run(track, ben, RUN.replace("9.0", "9.5").replace("ben-bm25", "again"))
    assert (again.state, codes(again)) == ("scored", ["W_SAME_RUN"])
    assert (
        f'href="/runs/{first.pk}/"'
        in as_ben.get(f"/runs/{again.pk}/file-and-facts/").content.decode()
    )


def test_of_two_runs_checked_at_the_same_time_the_second_to_publish_sees_the_first(track, ben):
    first, second = checked_together(track, (ben, RUN), (ben, TWIN))
    assert codes(first) == []
    assert codes(second) == ["W_SAME_RUN"] and second.problems[0]["found"] == first.pk


def test_a_run_that_came_first_and_is_published_second_sees_the_other(track, ben):
    first, second = checked_together(track, (ben, RUN), (ben, TWIN), reverse=True)
    assert (codes(first), codes(second)) == (["W_SAME_RUN"], [])


def test_a_twin_is_found_behind_any_number_of_later_runs(track, ben, monkeypatch):
    monkeypatch.setattr(duplicates, "MOST_COMPARED", 1)
    for text in (RUN, OTHER_RUN):
        make_run(track, ben, text)
    assert codes(make_run(track, ben, TWIN)) == ["W_SAME_RUN"]


def test_a_withdrawn_twin_is_no_twin(track, ben):
    run_actions.withdraw_run(make_run(track, ben), ben)
    assert codes(make_run(track, ben, TWIN)) == []


def test_organisers_see_the_twin_of_another_team_and_nobody_else_does(
    blind_track, ben, cat, as_ada, as_ben
):
    mine, other = checked_together(blind_track, (ben, RUN), (cat, TWIN))
    assert (codes(mine), codes(other)) == ([], [])
    assert f'href="/runs/{other.pk}/"' in as_ada.get(f"/runs/{mine.pk}/file-and-facts/").text
    assert other.pk not in as_ben.get(f"/runs/{mine.pk}/file-and-facts/").text


def test_the_order_of_topics_and_what_lies_below_the_first_documents_make_no_other_run():
    tops = {"1": ["d1", "d2"], "2": ["d3"]}
    assert compute_fingerprint(tops) == compute_fingerprint(dict(reversed(tops.items())))
    others = [{"1": ["d2", "d1"], "2": ["d3"]}, {"1": ["d1"], "2": ["d2", "d3"]}, {"1": ["d1"]}]
    assert len({compute_fingerprint(each) for each in (tops, *others)}) == 4


def checked_together(track: Track, *sent: tuple[User, str], reverse: bool = False) -> list[Run]:
    """Runs that workers check at the same time and publish one after the other."""
    runs = [
        submissions.accept_run(track, user, upload("run.txt", text), RunDetails()).run
        for user, text in sent
    ]
    published = [work.check_run(run.pk, lambda done, of: None) for run in runs]
    for publish in reversed(published) if reverse else published:
        with transaction.atomic():
            publish()
    for run in runs:
        run.refresh_from_db()
    return runs


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
    run_actions.withdraw_run(make_run(track, ben), ben)
    assert make_run(track, ben).state == "scored"
