"""Nuggets of a track: the bank, its import, who says what, and one nugget."""

from __future__ import annotations

import json
from io import BytesIO

import pytest
from django.test import Client

from evaluation.answers.runs import sentence_key
from evaluation.answers.verdicts import read_verdicts
from leaderboard.jobs.erasure import erase_track
from leaderboard.models import Job, MarkLayer, NuggetVersion, Run, Track
from tests.builders import (
    make_assessment,
    make_pool,
    make_run,
    make_track,
    make_user,
    upload,
    work,
)
from tests.pages.commands import commands, printed_by
from tests.pages.reading import page_at, rows, words
from tests.scoring.test_answer_runs import ANSWERS, RISES
from tests.scoring.test_marks import ASSIGNMENTS, NUGGETS, SUPPORT, make_layer, make_nuggets, use

PAGE = "/benchmarks/bread/nuggets/"


@pytest.fixture
def track(collection, ben) -> Track:
    """A scored track of answers with nuggets and a layer by people."""
    track = make_track(collection, run_kind="answers")
    make_run(track, ben, ANSWERS)
    make_nuggets(track)
    make_layer(track)
    use(track, ["strict_vital", "all"], assignments="people")
    return track


def send(client: Client, noun: str, text: str, **fields: str) -> int:
    data = {**fields, "file": upload("marks.txt", text)}
    return client.post(f"/benchmarks/bread/{noun}/new/", data).status_code


def lines_at(client: Client, address: str) -> list[str]:
    streamed = client.get(address).streaming_content
    return b"".join(streamed).decode().splitlines()


def test_the_bank_is_listed_topic_by_topic(track, client):
    page = page_at(client, PAGE)
    assert "Bank v1 has 4 nuggets of 2 topics, 2 of them vital." in words(page)
    assert rows(page) == ["1 yeast vital 0", "2 a day vital 0", "3 salt okay 0"]


def test_the_bank_of_the_chosen_topics_is_listed(track, client):
    chosen = [f"{PAGE}?about={number}" for number in (1, "none")]
    lists = [page_at(client, address).count("<tbody>") for address in (PAGE, *chosen)]
    assert lists == [2, 1, 0]


def test_the_whole_page_follows_once_nuggets_have_left_what_waits(collection, as_ada):
    track = make_track(collection, run_kind="answers")
    make_nuggets(track)
    over = as_ada.get(PAGE, headers={"HX-Request": "true", "HX-Target": "nuggets-v1"}).text
    assert 'id="nuggets-v1"' in over and f'hx-get="{PAGE}" hx-trigger="load, every 1s"' in over


def test_nuggets_and_marks_are_sent_reviewed_and_imported_on_one_page(collection, ben, as_ada):
    track = make_track(collection, run_kind="answers")
    make_run(track, ben, ANSWERS)
    assert send(as_ada, "nuggets", NUGGETS, version="v1") == 302
    work()
    assert "4 nuggets of 2 topics, 2 vital, 2 okay" in words(page_at(as_ada, PAGE))
    as_ada.post("/benchmarks/bread/nuggets/v1/confirm/")
    work()
    bank = NuggetVersion.objects.get().pk
    said = {"version": "people", "about": "nuggets", "nuggets": str(bank), "made_by": "people"}
    assert send(as_ada, "marks", ASSIGNMENTS, **said) == 302
    work()
    assert "4 marks on 2 topics: 1 none, 1 partial, 2 support" in words(page_at(as_ada, PAGE))
    as_ada.post("/benchmarks/bread/marks/people/confirm/")
    work()
    assert MarkLayer.objects.get().state == "ready"


def test_a_rejected_file_is_replaced(track, as_ada):
    send(as_ada, "nuggets", "{}\n", version="v2")
    work()
    assert "Rejected. Nothing was imported." in words(page_at(as_ada, PAGE))
    as_ada.post("/benchmarks/bread/nuggets/v2/again/", {"file": upload("nuggets.jsonl", NUGGETS)})
    work()
    assert NuggetVersion.objects.get(version="v2").state == "preview"
    as_ada.post("/benchmarks/bread/nuggets/v2/discard/")
    assert not NuggetVersion.objects.filter(version="v2").exists()


def test_imported_nuggets_are_not_discarded(track, as_ada):
    as_ada.post("/benchmarks/bread/nuggets/v1/discard/")
    assert NuggetVersion.objects.filter(version="v1").exists()


def test_a_machine_has_a_name(track, as_ada):
    assert send(as_ada, "marks", SUPPORT, version="gpt", about="support", made_by="machine") == 422


def test_a_name_is_used_once(track, as_ada):
    assert send(as_ada, "nuggets", NUGGETS, version="v1") == 422


@pytest.mark.parametrize("act", ["nuggets/new/", "nuggets/v1/confirm/", "marks/people/discard/"])
def test_only_organisers_import(track, as_ben, act):
    assert as_ben.post(f"/benchmarks/bread/{act}").status_code == 403


def test_a_topic_has_a_matrix_of_nuggets_and_runs(track, client):
    page = page_at(client, "/benchmarks/bread/topic/?number=1")
    assert "marked by people" in words(page) and "use them to read, not to rank" in words(page)
    found = ["yeast vital 1 of 1 ●", "a day vital 1 of 1 ◐", "salt okay 0 of 1 ○"]
    assert rows(page, 2) == found


def test_a_layer_is_used_on_the_board_by_one_button(collection, ben, as_ada):
    track = make_track(collection, run_kind="answers")
    make_run(track, ben, ANSWERS)
    make_nuggets(track)
    make_layer(track)
    assert "Use on the board" in page_at(as_ada, PAGE)
    as_ada.post("/benchmarks/bread/marks/people/use/")
    work()
    track.refresh_from_db()
    assert (track.assignments, track.primary_measure) == ("people", "Nuggets")
    assert track.measures == ["Nuggets", "AP", "nDCG@10", "P@5"]
    assert "Use on the board" not in page_at(as_ada, PAGE)


def test_another_layer_changes_no_measure(track, as_ada):
    make_layer(track, version="second")
    as_ada.post("/benchmarks/bread/marks/second/use/")
    track.refresh_from_db()
    assert (track.assignments, track.measures) == ("second", ["AP", "strict_vital", "all"])


TOPIC = "/benchmarks/bread/topic/?number=1"


def test_the_nuggets_of_a_matrix_are_sorted_as_asked(track, client):
    for order, first in {"number": "yeast", "found": "yeast", "strange": "yeast"}.items():
        assert rows(page_at(client, f"{TOPIC}&order={order}"), 2)[0].startswith(first)
    make_layer(track, ASSIGNMENTS.replace("1 1 support", "1 1 not_support", 1), version="other")
    use(track, ["all"], assignments="other")
    assert rows(page_at(client, f"{TOPIC}&order=found"), 2)[0].startswith("a day")
    assert rows(page_at(client, f"{TOPIC}&order=number"), 2)[0].startswith("yeast")


def test_a_topic_shows_the_runs_that_the_board_is_filtered_to(track, client):
    make_run(track, make_user("dan"), ANSWERS.replace("ben-rag", "dan-rag").replace("rye", "oat"))
    page = page_at(client, f"{TOPIC}&team=dan&order=number")
    assert 'aria-label="dan-rag: ' in page and 'aria-label="ben-rag: ' not in page
    assert '<input type="hidden" name="order" value="number">' in page
    assert page_at(client, f"{TOPIC}&text=nobody")


def test_the_matrix_is_downloaded(track, client):
    page = page_at(client, "/benchmarks/bread/topic/?number=1&format=csv&table=nuggets")
    assert "1-2,a day,vital" in page and "in part" in page


def test_a_nugget_has_a_page_with_who_says_it(track, client):
    page = page_at(client, "/benchmarks/bread/nugget/?number=1&key=1-1")
    assert "1 of 1 run, 1 of 1 team; marked by people" in words(page)
    assert rows(page) == ["ben-rag ben in full"]


def test_a_mark_may_name_the_sentence_that_says_it(collection, ben, client):
    track = make_track(collection, run_kind="answers")
    make_run(track, ben, ANSWERS)
    make_nuggets(track)
    mark = {"topic": "1", "run": "ben-rag", "nugget": "1-2", "assessor": "ada", "sentence": 2}
    make_layer(track, json.dumps({**mark, "label": "support"}) + "\n")
    use(track, ["all"], assignments="people")
    page = page_at(client, "/benchmarks/bread/nugget/?number=1&key=1-2")
    assert rows(page) == ["ben-rag ben in full It takes a day."]


def test_a_text_of_a_nugget_is_shown_as_text(collection, client):
    track = make_track(collection, run_kind="answers", shares_nuggets="always")
    hostile = {"qid": "1", "nuggets": [{"text": "<script>alert(1)</script>"}]}
    make_nuggets(track, json.dumps(hostile) + "\n")
    assert "&lt;script&gt;alert(1)" in page_at(client, PAGE)


@pytest.mark.parametrize("kind", ["nuggetizer", "nuggetbank"])
def test_nuggets_are_downloaded_as_tools_read_them(track, client, kind):
    lines = lines_at(client, f"/benchmarks/bread/nuggets/v1/nuggets.{kind}")
    assert "yeast" in lines[0] and len(lines) == 2


def test_marks_are_downloaded_where_judgments_are(track, client, as_ada):
    address = "/benchmarks/bread/marks/people/marks.txt"
    assert client.get(address).status_code == 404
    assert "ben-rag 1 1-1 support" in lines_at(as_ada, address)
    Track.objects.update(shares_judgments=True)
    assert client.get(address).status_code == 200


def test_marks_are_downloaded_as_the_results_of_argue(track, client, as_ada):
    marked = {"topic": "1", "about": "nugget", "run": "ben-rag", "nugget": "1-1", "sentence": 1}
    make_layer(track, json.dumps({**marked, "label": "support"}) + "\n", version="said")
    make_layer(track, SUPPORT, version="support", about="support")
    use(track, ["SupportP"], assignments="said", support="support")
    address = "/benchmarks/bread/marks/said/argue.jsonl"
    lines = "\n".join(lines_at(as_ada, address)).encode()
    [first, second, *_] = read_verdicts(BytesIO(lines))["ben-rag", "1"]
    assert (first.pairs, first.given) == ({("yeast", "yeast")}, -1)
    assert (second.pairs, second.given) == (set(), -1)
    assert client.get(address).status_code == 404
    assert as_ada.get("/benchmarks/bread/marks/support/argue.jsonl").status_code == 404


def test_a_board_of_answers_has_lengths_and_says_what_is_hardly_marked(track, client):
    make_layer(track, "ben-rag 1 1 d1 FS\n", version="support", about="support")
    use(track, ["CitationP"], assignments="people", support="support")
    page = words(page_at(client, "/benchmarks/bread/board/"))
    assert "17 % of its pairs are marked. CitationP is between .0833 and .6667" in page
    lines = page_at(client, "/benchmarks/bread/board/?format=csv").splitlines()
    row = dict(zip(lines[0].split(","), lines[1].split(","), strict=True))
    assert (row["length"], row["citations"]) == ("6.0", "3.0")


def test_an_answer_lists_its_nuggets_and_marks_what_supports_it(track, client):
    make_layer(track, SUPPORT, version="support", about="support")
    use(track, ["SupportP"], assignments="people", support="support")
    run = Run.objects.get()
    page = words(page_at(client, f"/runs/{run.pk}/answer/?number=1"))
    assert "2 of 3 found; marked by people" in page and "○ not found: salt" in page
    assert "Wild yeast makes bread rise. ● 1 ○ 2 It takes a day. ◐ 3 ○ 1" in page


def test_the_printed_command_gives_the_mean_from_the_files(track, client, as_ada, tmp_path):
    run = Run.objects.get()
    page = page_at(as_ada, f"/benchmarks/bread/computed/?run={run.pk}&measure=strict_vital")
    (command,) = (each for each in commands(page) if "answers score" in each)
    for name, address in {
        "bread-nuggets-v1.jsonl": "/benchmarks/bread/nuggets/v1/nuggets.nuggetizer",
        "bread-marks-people.txt": "/benchmarks/bread/marks/people/marks.txt",
        "qrels.v1.txt": "/benchmarks/bread/judgments/v1/qrels.txt",
    }.items():
        (tmp_path / name).write_text("\n".join(lines_at(as_ada, address)) + "\n")
    (tmp_path / run.saved_as).write_text(ANSWERS)
    assert "0.2500" in printed_by(command, tmp_path)


HIDDEN = [
    "/benchmarks/bread/nugget/?number=1&key=1-1",
    "/benchmarks/bread/nuggets/v1/nuggets.nuggetizer",
]


@pytest.mark.parametrize("shares", ["always", "deadline", "release"])
def test_a_blind_track_shows_no_nuggets_before_its_release(track, as_cat, shares):
    Track.objects.update(disclosure="blind", released_at=None, shares_nuggets=shares)
    assert "yeast" not in page_at(as_cat, PAGE)
    assert [as_cat.get(address).status_code for address in HIDDEN] == [404, 404]


def test_a_leaderboard_shows_no_nuggets_before_its_deadline(track, as_cat):
    Track.objects.update(disclosure="leaderboard", shares_nuggets="always")
    assert "yeast" not in page_at(as_cat, PAGE)


def test_nuggets_may_stay_hidden_for_good(track, as_cat, as_ada):
    Track.objects.update(shares_nuggets="never")
    assert "yeast" not in page_at(as_cat, PAGE) and "yeast" in page_at(as_ada, PAGE)
    assert "Nuggets by run" not in page_at(as_cat, "/benchmarks/bread/topic/?number=1")


def test_a_track_of_rankings_has_no_page_of_nuggets(collection, client):
    make_track(collection, "lists")
    assert client.get("/benchmarks/lists/nuggets/").status_code == 404


def test_a_track_with_nuggets_is_deleted_whole(track):
    erase_track(track)
    assert not NuggetVersion.objects.exists() and not MarkLayer.objects.exists()


def test_a_job_that_failed_stands_on_the_desk(track, as_ada):
    version = NuggetVersion.objects.create(
        track=track, version="v2", state="failed", created_by=track.benchmark.owner
    )
    Job.objects.create(kind="check_nuggets", target_id=str(version.pk), state="failed")
    assert "Reading the nuggets" in words(page_at(as_ada, "/benchmarks/bread/desk/"))


def test_another_layer_is_tried_before_the_board_changes(track, as_ada):
    other = ANSWERS.replace("ben-rag", "dan-rag").replace("a day", "two days")
    make_run(track, make_user("dan"), other)
    marks = ASSIGNMENTS + ASSIGNMENTS.replace("ben-rag", "dan-rag").replace(" support", " none")
    make_layer(track, marks, version="gpt", made_by="machine", machine="gpt-x/p3")
    assert "Score with gpt" in page_at(as_ada, "/benchmarks/bread/marks/gpt/impact/")
    as_ada.post("/benchmarks/bread/marks/gpt/try/")
    work()
    page = words(page_at(as_ada, "/benchmarks/bread/marks/gpt/impact/"))
    assert "Kendall's τ between the boards is" in page and "marked by machine gpt-x/p3" in page
    assert Track.objects.get().edition.settings["assignments"] == "people"


SECOND = (
    NUGGETS.replace("a day", "two days")
    .replace("yeast", "Yeast")
    .replace('{"text": "salt"', '{"text": "salt", "importance": "okay"}, {"text": "flour"')
)


def test_new_nuggets_are_shown_beside_the_version_before(track, as_ada):
    make_nuggets(track, SECOND, version="v2")
    page = words(page_at(as_ada, "/benchmarks/bread/nuggets/v2/changes/"))
    assert "1 new 0 gone 1 in other words 0 of other importance 3 the same" in page
    assert "1a daytwo days" in page and "1: flour" in page


@pytest.mark.parametrize(("kept", "marks"), [({}, 3), ({"keeps_reworded": "on"}, 4)])
def test_marks_of_nuggets_that_stay_are_carried_over(track, as_ada, kept, marks):
    make_nuggets(track, SECOND, version="v2")
    as_ada.post("/benchmarks/bread/nuggets/v2/carry/", {"layer": "people", **kept})
    work()
    as_ada.post("/benchmarks/bread/marks/people-on-v2/confirm/")
    work()
    layer = MarkLayer.objects.get(version="people-on-v2")
    assert (layer.state, layer.num_marks, str(layer.nuggets)) == ("ready", marks, "v2")
    use(track, ["strict_vital", "all"], assignments="people-on-v2")
    assert "Bank v2" in words(page_at(as_ada, PAGE))


PAGES = [
    *("board/", "topics/", "topic/?number=1", "significance/", "topics/map/", "measures/", "cost/"),
    *("plan/", "judgments/", "reusability/", "history/", "", "data/", "compare/"),
    *("people-and-machine/", "snapshots/", "desk/", "manage/", "pools/", "judging/"),
]


def test_every_page_of_a_track_ranked_by_nuggets_opens(track, as_ada):
    other = ANSWERS.replace("ben-rag", "dan-rag").replace("a day", "two days")
    make_run(track, make_user("dan"), other)
    Track.objects.update(primary_measure="strict_vital")
    ben, dan = Run.objects.order_by("received_at")
    addresses = [f"/benchmarks/bread/{page}" for page in PAGES]
    addresses += [f"/benchmarks/bread/compare/?a={ben.pk}&b={dan.pk}"]
    addresses += [f"/runs/{ben.pk}/{page}" for page in ("", "topics/", "failures/")]
    addresses += [f"/runs/{ben.pk}/file-and-facts/", "/benchmarks/bread/judgments/?measure=all"]
    statuses = {address: as_ada.get(address).status_code for address in addresses}
    assert statuses == dict.fromkeys(addresses, 200)


# Marks of a machine beside those of people


def key_of(text: str) -> str:
    return sentence_key(text).hex()


def test_the_marks_of_a_machine_stand_beside_those_of_people(track, as_ada):
    machine = ASSIGNMENTS.replace("1 3 not_support", "1 3 support").replace("1 2 partial", "1 2 no")
    make_layer(track, machine, version="gpt", made_by="machine", machine="gpt-x/p3")
    page = page_at(as_ada, "/benchmarks/bread/marks/gpt/impact/")
    assert "Marks of people beside those of machine gpt-x/p3" in words(page)
    assert "4 pairs that both mark same label 50" in words(page)
    assert "people in rows, gpt in columns" in words(page)


def test_marks_of_runs_meet_those_of_texts(track, as_ada):
    said = "Wild yeast makes bread rise. It takes a day."
    mark = {"topic": "1", "about": "nugget", "answer": key_of(said), "assessor": "gpt-x/p3"}
    text = json.dumps({**mark, "labels": {"1-1": "support", "1-3": "partial"}}) + "\n"
    make_layer(track, text, version="gpt", made_by="machine", machine="gpt-x/p3")
    page = page_at(as_ada, "/benchmarks/bread/marks/gpt/impact/")
    assert "2 pairs that both mark same label 50" in words(page)


def test_support_is_compared_by_the_texts_of_sentences(track, as_ada):
    make_layer(track, SUPPORT, version="support", about="support")
    mark = {"topic": "1", "about": "support", "sentence": key_of(RISES[0]), "docno": "d9"}
    text = json.dumps({**mark, "assessor": "gpt-x/p3", "label": "contradicts"}) + "\n"
    machine = {"made_by": "machine", "machine": "gpt-x/p3", "about": "support"}
    make_layer(track, text, version="gpt", **machine)
    page = page_at(as_ada, "/benchmarks/bread/marks/gpt/impact/")
    assert "1 pair that both mark same label 0" in words(page)


def test_an_organiser_who_judges_sees_no_marks_of_others(track, as_ada, ada):
    pool = make_pool(track, ada, list(track.runs.all()), 2, "citations")
    make_assessment(pool, ada, ada, allows_participants=True)
    make_layer(track, ASSIGNMENTS, version="gpt", made_by="machine", machine="gpt-x/p3")
    page = page_at(as_ada, "/benchmarks/bread/marks/gpt/impact/")
    assert "that both mark" not in words(page)


def test_a_bank_is_a_table_and_a_file_of_argue(track, client):
    table = client.get(f"{PAGE}v1/nuggets.csv").text.splitlines()
    assert table[0] == "topic,key,kind,text,importance,group,made_by,before,documents"
    assert table[1] == "1,1-1,claim,yeast,vital,,,,"
    [first, _] = lines_at(client, f"{PAGE}v1/nuggets.argue")
    assert json.loads(first)["items"][0]["question_text"] == "yeast"
    assert client.get(f"{PAGE}v1/nuggets.other").status_code == 404
