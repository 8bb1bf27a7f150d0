"""T6 to T10: quota, deadline, scores and states are what they are, whoever sends what."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from leaderboard.actions import people, submissions
from leaderboard.actions.uploads import NotAccepted
from leaderboard.models import Membership, Run, Score, Track
from tests.api.conftest import Program
from tests.builders import OTHER_RUN, RUN, make_run, make_track, make_user, signed_in, upload

pytestmark = pytest.mark.long


def test_t06_the_quota_is_counted_in_the_transaction_that_uses_it(track, ben, monkeypatch):
    within: list[list[str]] = []
    counts, saves = submissions.refuse_over_quota, Run.save

    def noted(act):
        return lambda *args, **named: (
            within.append([*connection.savepoint_ids]),
            act(*args, **named),
        )

    monkeypatch.setattr(submissions, "refuse_over_quota", noted(counts))
    monkeypatch.setattr(Run, "save", noted(saves))
    submissions.accept_run(track, ben, upload("run.txt", RUN))
    counting, saving = within
    # With the team's row locked on PostgreSQL, and as the only writer on SQLite.
    assert counting and counting == saving


def test_t06_the_last_place_is_given_once(collection, ben):
    track = make_track(collection, slug="few", quota_per_day=1)
    make_run(track, ben)
    with pytest.raises(NotAccepted, match="for today"):
        submissions.accept_run(track, ben, upload("run.txt", OTHER_RUN))


CLOSES = datetime(2026, 3, 29, 1, 30, tzinfo=UTC)


@pytest.mark.parametrize(("seconds", "taken"), [(-1, True), (0, False), (1, False)])
def test_t07_the_second_of_the_deadline_decides(collection, ben, monkeypatch, seconds, taken):
    make_track(collection, slug="closing", closes_at=CLOSES)
    now = CLOSES + timedelta(seconds=seconds)
    monkeypatch.setattr("leaderboard.actions.submissions.timezone.now", lambda: now)
    answer = Program(ben).send_run(RUN, "closing", received_at="2020-01-01T00:00:00Z")
    assert (answer.status_code, Run.objects.count()) == ((201, 1) if taken else (403, 0))


@pytest.mark.parametrize(
    "header", ["Date", "X-Received-At", "X-Forwarded-For", "If-Modified-Since"]
)
def test_t07_no_header_sets_the_clock(collection, ben, header):
    make_track(collection, slug="closed", closes_at=timezone.now() - timedelta(seconds=5))
    program = Program(ben)
    program.headers[header] = "Sun, 01 Jan 2023 00:00:00 GMT"
    assert program.send_run(RUN, "closed").status_code == 403


FORGED = {
    "id": "aaaaaaaaaa",
    "state": "scored",
    "scores": json.dumps({"AP": 1.0}),
    "team": "dan",
    "team_id": "1",
    "submitted_by": "ada",
    "received_at": "2020-01-01T00:00:00Z",
    "scored_at": "2020-01-01T00:00:00Z",
    "lenient": "1",
    "is_primary": "1",
    "ranking_file": "../../secret_key",
    "answer_file": "../../secret_key",
    "file_name": "../../secret_key",
    "sha256": "0" * 64,
    "problems": "[]",
    "withdrawn_at": "",
    "track": "other",
}


def test_t08_a_run_is_what_was_made_of_it_and_not_what_its_sender_says(track, ben):
    program = Program(ben)
    sent = {name: word for name, word in FORGED.items() if name != "team"}
    answer = program.send_run(RUN, **sent)
    run = Run.objects.get()
    assert answer.status_code == 201 and run.state == "queued" and run.pk != "aaaaaaaaaa"
    assert (run.team.name, run.submitted_by, run.lenient) == ("ben", ben, False)
    assert run.sha256 != "0" * 64 and run.received_at.year > 2020 and not run.ranking_file
    assert not run.answer_file
    assert not Score.objects.exists()


def test_t08_no_participant_sends_for_another_team(track, ben):
    people.admit(track.benchmark, make_user("dan"))
    Program(ben).send_run(RUN, team="dan")
    assert not Run.objects.filter(team__name="dan").exists()


def test_t08_what_is_said_of_a_run_later_changes_no_score(track, ben):
    run = make_run(track, ben)
    before = row_of(run)
    body = {**FORGED, "facts": {"kind": "manual"}}
    Program(ben).patch(f"/api/v1/runs/{run.pk}", body)
    signed_in(ben).post(f"/runs/{run.pk}/facts/", {**FORGED, "kind": "manual"})
    after = row_of(run)
    assert {name for name in before if before[name] != after[name]} <= {
        "kind",
        "facts",
        "is_primary",
    }
    assert Score.objects.get(measure="AP").mean == pytest.approx(25 / 36)


def row_of(run: Run) -> dict[str, object]:
    return Run.objects.filter(pk=run.pk).values().get()


def test_t08_no_account_makes_itself_staff(client, db):
    sent = {"username": "eve", "password1": "eleven loaves", "password2": "eleven loaves"}
    powers = {"is_staff": "on", "is_superuser": "on", "can_organise": "on"}
    client.post("/account/signup/", {**sent, **powers})
    user = make_user("somebody")._meta.model.objects.get(username="eve")
    assert not (user.is_staff or user.is_superuser or user.can_organise)


@pytest.mark.parametrize("state", ["won", "", "Scored"])
def test_t08_the_database_knows_no_other_state(track, ben, state):
    run = make_run(track, ben)
    with pytest.raises(IntegrityError), transaction.atomic():
        Run.objects.filter(pk=run.pk).update(state=state)


CHEATS = {
    "not a number": RUN.replace("9.0", "nan", 1),
    "without end": RUN.replace("9.0", "inf", 1),
    "twice": RUN + "1 Q0 d1 4 6.0 ben-bm25\n",
    "invented": RUN.replace("d9", "d99999"),
    "another topic": RUN + "77 Q0 d1 1 9.0 ben-bm25\n",
    "too deep": "".join(f"1 Q0 d1{n} {n} {2000 - n} deep\n" for n in range(1, 1500)),
    "other digits": RUN.replace("9.0", "\u0669.\u0660", 1),
    "an underscore": RUN.replace("9.0", "1_000", 1),
}


@pytest.mark.parametrize("text", CHEATS.values(), ids=list(CHEATS))
def test_t09_a_file_that_cheats_a_measure_is_refused(track, ben, text):
    run = make_run(track, ben, text)
    assert run.state == "refused" and not Score.objects.exists()


def test_t09_the_rank_column_and_equal_scores_win_nothing(track, ben):
    honest = make_run(
        track, ben, RUN.replace("9.0", "1.0").replace("8.0", "1.0").replace("7.0", "1.0")
    )
    lines = RUN.replace("9.0", "1.0").replace("8.0", "1.0").replace("7.0", "1.0").splitlines()
    forged = "\n".join(f"{line}-x" for line in reversed(lines)) + "\n"
    for rank in "123":
        forged = forged.replace(f" {rank} 1.0", " 1 1.0")
    cheat = make_run(track, make_user("dan"), forged)
    assert means(honest) == means(cheat)


def means(run: Run) -> list[float]:
    return list(
        Score.objects.filter(score_set__run=run).order_by("measure").values_list("mean", flat=True)
    )


def test_t10_a_person_is_in_one_team_of_a_track(track, ben):
    team = people.admit(track.benchmark, ben)
    other = people.admit(track.benchmark, make_user("dan"))
    with pytest.raises(IntegrityError), transaction.atomic():
        Membership.objects.create(benchmark=track.benchmark, team=other, user=ben)
    assert track.team_of(ben) == team


@pytest.mark.parametrize("joins", ["approval", "invitation"])
def test_t10_where_teams_are_approved_a_new_account_is_no_new_quota(collection, joins):
    track = make_track(collection, slug="shut", joining=joins)
    for name in ("ben1", "ben2"):
        answer = Program(make_user(name)).send_run(RUN, "shut")
        assert (answer.status_code, answer.json()["code"]) == (403, "E_NO_TEAM")
    assert not track.benchmark.teams.exists()


def test_t10_two_teams_with_nearly_the_same_run_are_findings(track, ben, as_ada):
    make_run(track, ben, RUN)
    make_run(track, make_user("ben2"), RUN.replace("ben-bm25", "another"))
    page = as_ada.get("/benchmarks/bread/desk/findings/").content.decode()
    assert "ben2" in page and "Nearly identical runs" in page


def test_t10_two_names_that_look_alike_are_one(track, ben):
    people.admit(track.benchmark, ben)
    with pytest.raises((people.JoinError, IntegrityError)), transaction.atomic():
        track.benchmark.teams.create(name="b\u0435n")
    assert Track.objects.get().benchmark.teams.count() == 1
