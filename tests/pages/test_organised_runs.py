"""All runs of a track in one table, for its organisers."""

from __future__ import annotations

import csv
import io
import re
import zipfile

import pytest
from allauth.account.models import EmailAddress

from leaderboard.models import AuditEvent, Notice, Run, Track
from tests.builders import (
    OTHER_RUN,
    RUN,
    make_assessment,
    make_pool,
    make_run,
    make_track,
    make_user,
    signed_in,
)
from tests.scoring.test_answer_runs import ANSWERS
from tests.scoring.test_marks import make_layer, make_nuggets, use

PAGE = "/benchmarks/bread/manage/runs/"
ACT = f"{PAGE}act/"


@pytest.fixture
def rye(track, ben):
    return make_run(track, ben)


@pytest.fixture
def wheat(track, cat):
    return make_run(track, cat, OTHER_RUN)


def rows(client, **asked: str) -> list[dict[str, str]]:
    text = client.get(PAGE, {**asked, "format": "csv"}).text
    return list(csv.DictReader(io.StringIO(text)))


def read_zip(response) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(response.getvalue())) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_every_run_is_listed_whatever_became_of_it(track, rye, wheat, as_ada):
    Run.objects.filter(pk=wheat.pk).update(state="refused")
    page = as_ada.get(PAGE).text
    assert "ben-bm25" in page and "other" in page
    assert "1 refused" in page and "1 scored" in page


def test_the_table_is_for_organisers_alone(rye, as_ben):
    assert as_ben.get(PAGE).status_code == 403
    assert as_ben.post(ACT, {"run": rye.pk, "act": "download"}).status_code == 403


def test_filters_are_in_the_address(rye, wheat, as_ada):
    assert [row["tag"] for row in rows(as_ada, text="othe")] == ["other"]
    assert [row["tag"] for row in rows(as_ada, team=rye.team.name)] == ["ben-bm25"]
    assert rows(as_ada, state="withdrawn") == []
    assert len(rows(as_ada, judged="low", late="late", state="scored")) == 0


def test_a_head_sorts_the_rows(rye, wheat, as_ada):
    tags = [row["tag"] for row in rows(as_ada, sort="run")]
    assert tags == ["ben-bm25", "other"]
    assert [row["tag"] for row in rows(as_ada, sort="-run")] == tags[::-1]


def test_the_priority_that_a_team_states_is_a_column(rye, wheat, as_ada):
    Run.objects.filter(pk=wheat.pk).update(facts={"priority": 2})
    found = {row["tag"]: row["priority"] for row in rows(as_ada, sort="priority")}
    assert list(found.items()) == [("other", "2"), ("ben-bm25", "")]


def test_an_address_is_shown_once_it_is_confirmed(rye, ben, as_ada):
    address = EmailAddress.objects.create(user=ben, email="ben@example.org", primary=True)
    assert rows(as_ada)[0]["email"] == ""
    EmailAddress.objects.filter(pk=address.pk).update(verified=True)
    assert rows(as_ada)[0]["email"] == "ben@example.org"
    assert "mailto:ben@example.org" in as_ada.get(PAGE).text


def test_an_organiser_who_judges_sees_no_score_here(rye, track, ada, as_ada):
    assert {"mean", "judged_at_10"} <= set(rows(as_ada)[0])
    make_assessment(make_pool(track, ada, [rye]), ada, ada)
    assert not {"mean", "judged_at_10"} & set(rows(as_ada)[0])


def test_chosen_runs_are_withdrawn_together_with_a_reason(rye, wheat, as_ada):
    chosen = {"run": [rye.pk, wheat.pk], "act": "withdraw"}
    assert "Reason" in as_ada.post(ACT, chosen).text
    assert as_ada.post(ACT, {**chosen, "sent": "yes", "reason": ""}).status_code == 422
    as_ada.post(ACT, {**chosen, "sent": "yes", "reason": "a slip"})
    reasons = Run.objects.values_list("withdrawn_reason", flat=True)
    assert list(reasons) == ["a slip", "a slip"]
    assert AuditEvent.objects.filter(act="withdraw").count() == 2


@pytest.mark.parametrize(("act", "removal"), [("disqualify", "disqualified"), ("hide", "hidden")])
def test_chosen_runs_are_removed_and_restored(rye, as_ada, act, removal):
    as_ada.post(ACT, {"run": rye.pk, "act": act, "sent": "yes", "reason": "a doubt"})
    assert Run.objects.get().removal == removal
    as_ada.post(ACT, {"run": rye.pk, "act": "restore"})
    assert Run.objects.get().removal == ""


def test_a_run_that_cannot_be_restored_is_named_and_keeps_no_other_from_it(
    track, rye, wheat, ben, as_ada
):
    chosen = {"run": [rye.pk, wheat.pk]}
    as_ada.post(ACT, {**chosen, "act": "withdraw", "sent": "yes", "reason": "a slip"})
    make_run(track, ben)
    page = as_ada.post(ACT, {**chosen, "act": "restore"}, follow=True).text
    assert "1 run restored." in page
    assert Run.objects.get(pk=wheat.pk).removal == ""
    assert Run.objects.get(pk=rye.pk).removal == "withdrawn"


def test_chosen_runs_are_downloaded_as_they_were_uploaded(rye, wheat, as_ada):
    files = read_zip(as_ada.post(ACT, {"run": [rye.pk], "act": "download"}))
    assert files[f"ben-bm25-{rye.pk}.run"] == RUN.encode()


def test_writing_to_teams_of_chosen_runs_goes_by_the_page_of_messages(rye, ben, as_ada):
    there = as_ada.post(ACT, {"run": rye.pk, "act": "write"}).url
    assert there == f"/benchmarks/bread/manage/messages/?team={rye.team_id}"
    assert re.search(f'value="team {rye.team_id}"[^>]* checked', as_ada.get(there).text)
    groups = {"groups": f"team {rye.team_id}", "subject": "Depth", "text": "Yours is 10."}
    as_ada.post("/benchmarks/bread/manage/messages/", {**groups, "act": "send"})
    assert Notice.objects.get(user=ben, message__text="Yours is 10.").text == "Bread track: Depth"
    assert AuditEvent.objects.get(act="write").after["groups"] == ["Team ben"]


def test_chosen_runs_get_a_priority_for_the_pool(rye, wheat, as_ada):
    chosen = {"run": [rye.pk, wheat.pk], "act": "prioritise", "sent": "yes"}
    assert as_ada.post(ACT, {**chosen, "priority": 0}).status_code == 422
    as_ada.post(ACT, {**chosen, "priority": 3})
    assert [row["priority"] for row in rows(as_ada)] == ["3", "3"]
    assert AuditEvent.objects.filter(act="state facts").count() == 2


def test_who_takes_the_baseline_off_is_warned(track, rye, as_ada):
    Track.objects.update(baseline=rye)
    warned = "One of them is the baseline"
    assert warned in as_ada.post(ACT, {"run": rye.pk, "act": "hide"}).text
    assert warned not in as_ada.post(ACT, {"run": rye.pk, "act": "prioritise"}).text


def test_a_run_of_another_track_is_not_changed_from_here(track, collection, ben, as_ada):
    other = make_run(make_track(collection, slug="oat"), ben)
    as_ada.post(ACT, {"run": other.pk, "act": "hide", "sent": "yes", "reason": "no"})
    assert Run.objects.get(pk=other.pk).removal == ""


def test_without_a_choice_nothing_is_done(rye, as_ada):
    assert "Choose at least one run." in as_ada.post(ACT, {"act": "hide"}, follow=True).text


def test_names_of_strangers_are_escaped(track, as_ada):
    eve = make_user("eve", first_name="<script>alert(1)</script>")
    make_run(track, eve)
    assert "<script>alert(1)" not in signed_in(track.benchmark.owner).get(PAGE).text


def test_runs_of_answers_are_listed_by_a_measure_of_nuggets(collection, ben, as_ada):
    track = make_track(collection, run_kind="answers")
    make_run(track, ben, ANSWERS)
    make_nuggets(track)
    make_layer(track)
    use(track, ["Nuggets"], assignments="people")
    Track.objects.update(primary_measure="Nuggets")
    head = re.search(r"<thead>(.*?)</thead>", as_ada.get(PAGE).text, re.DOTALL)
    assert "Nuggets" in head[1]
