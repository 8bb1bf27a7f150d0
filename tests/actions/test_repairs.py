"""Rejected runs are repaired where their team asks for it; the stored file never changes."""

import pytest
from django.core.files.storage import default_storage

from leaderboard.actions import runs, tracks
from leaderboard.actions.refusals import ActionError, NotAccepted
from leaderboard.models import ApiToken, Run
from tests.builders import RUN, make_run, signed_in, upload, work

BLANK = RUN.replace("ben-bm25", "LMD m")
RUNS = "/api/v1/tracks/bread/runs"


@pytest.fixture
def header(ben) -> dict[str, str]:
    _, secret = ApiToken.objects.issue(ben, ["read", "submit"])
    return {"Authorization": f"Bearer {secret}"}


def test_one_click_replaces_the_tag_and_scores_the_run(track, ben, as_ben):
    run = make_run(track, ben, BLANK)
    assert (run.state, run.problem_totals) == ("refused", {"E_COLUMNS": 1})
    page = as_ben.get(f"/runs/{run.pk}/").content.decode()
    assert "<button>Use LMD-m as the tag</button>" in page
    as_ben.post(f"/runs/{run.pk}/repair/", {"fix": "tag", "tag": "LMD-m"})
    work()
    run.refresh_from_db()
    assert (run.state, run.tag, run.fixes) == ("scored", "LMD-m", ["tag"])
    with default_storage.open(run.file.name) as file:
        assert file.read().decode() == BLANK


def test_the_page_of_a_repaired_run_says_how_it_was_repaired(track, ben, as_ben):
    run = make_run(track, ben, BLANK, fixes=("tag",))
    page = as_ben.get(f"/runs/{run.pk}/file-and-facts/").content.decode()
    assert "<dt>Repaired</dt><dd>run tag replaced" in page
    assert "the run tag was replaced by LMD-m" in page
    assert "/repair/" not in page


def test_a_stranger_repairs_nothing(track, ben, as_cat):
    run = make_run(track, ben, BLANK)
    assert as_cat.post(f"/runs/{run.pk}/repair/", {"fix": "tag"}).status_code in (403, 404)
    assert Run.objects.get(pk=run.pk).fixes == []


def test_only_a_rejected_run_is_repaired_and_only_once_by_each_repair(track, ben):
    with pytest.raises(ActionError):
        runs.repair_run(make_run(track, ben), ben, "tag")
    run = make_run(track, ben, "nonsense\n", fixes=("q0",))
    with pytest.raises(ActionError):
        runs.repair_run(run, ben, "q0")
    with pytest.raises(ActionError):
        runs.repair_run(run, ben, "tag", "..")


def test_a_repair_is_held_to_the_quota(track, ben):
    run = make_run(track, ben, BLANK)
    make_run(track, ben)
    tracks.change_track(track, track.benchmark.owner, {"quota_per_day": 1})
    with pytest.raises(NotAccepted, match="used 1 of 1 run"):
        runs.repair_run(Run.objects.get(pk=run.pk), ben, "tag")


def test_the_api_repairs_while_it_takes_a_file(track, client, header):
    sent = {"file": upload("a.run", BLANK), "fix": "tag"}
    answer = client.post(RUNS, sent, headers=header).json()
    work()
    run = client.get(f"/api/v1/runs/{answer['id']}", headers=header).json()
    assert (run["state"], run["tag"], run["fixes"]) == ("scored", "LMD-m", ["tag"])


def test_the_api_offers_a_repair_and_makes_it(track, client, header):
    answer = client.post(RUNS, {"file": upload("a.run", BLANK)}, headers=header).json()
    work()
    url = f"/api/v1/runs/{answer['id']}"
    (problem,) = client.get(url, headers=header).json()["problems"]
    assert (problem["count"], problem["fix"], problem["suggested"]) == (8, "tag", "LMD-m")
    body = {"fix": problem["fix"], "tag": "mine"}
    json = "application/json"
    answer = client.post(f"{url}/repair", body, content_type=json, headers=header)
    assert answer.status_code == 200, answer.content
    work()
    assert client.get(url, headers=header).json()["tag"] == "mine"


@pytest.mark.parametrize("wrong", [{"fix": "magic"}, {"tag": ".."}, {"tag": "my tag"}])
def test_an_unknown_repair_and_an_invalid_tag_are_rejected(track, client, header, wrong):
    answer = client.post(RUNS, {"file": upload("a.run", RUN), **wrong}, headers=header)
    assert (answer.status_code, answer.json()["code"]) == (422, "E_FIELD")


def test_the_same_bytes_again_say_when_they_came_and_where_they_are(track, client, header, as_ben):
    first = client.post(RUNS, {"file": upload("a.run", RUN)}, headers=header).json()
    again = client.post(RUNS, {"file": upload("b.run", RUN)}, headers=header)
    received = Run.objects.get().received_at
    said = f"You already submitted this file on {received:%d %b %Y, %H:%M} UTC. "
    said += "This is its run, with the description and facts that it had. You can edit them."
    assert (again.status_code, again.json()["message"]) == (200, said)
    assert (again.json()["url"], "message" in first) == (first["url"], False)
    sent = {"file": upload("c.run", RUN), "kind": "automatic"}
    page = as_ben.post("/benchmarks/bread/submit/", sent, follow=True)
    assert page.redirect_chain[-1][0] == f"/runs/{first['id']}/"
    assert said in page.content.decode()


def test_the_form_replaces_the_tag_of_the_file(track, ben):
    sent = {"file": upload("a.run", RUN), "tag": "mine", "replaces_tag": "on"}
    signed_in(ben).post("/benchmarks/bread/submit/", {**sent, "kind": "automatic"})
    work()
    run = Run.objects.get()
    assert (run.state, run.tag, run.fixes) == ("scored", "mine", ["tag"])
