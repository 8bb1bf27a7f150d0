"""Nuggets that organisers write on the site: steps on a draft, and the version that it becomes."""

from __future__ import annotations

import json
import re

import pytest
from django.test import Client

from evaluation.answers.nuggets import Nugget
from leaderboard.actions import nugget_writing as verbs
from leaderboard.actions.nugget_writing import NuggetWords
from leaderboard.actions.refusals import ActionError
from leaderboard.collections.nugget_drafts import read_topic
from leaderboard.collections.nuggets import load_bank
from leaderboard.models import NuggetDraft, NuggetVersion, Track, WritingStep
from tests.builders import make_collection, make_run, make_track, work
from tests.pages.reading import page_at, rows, words
from tests.scoring.test_answer_runs import ANSWERS
from tests.scoring.test_marks import make_nuggets

DRAFT = "/benchmarks/bread/nugget-draft/"
TOPIC = f"{DRAFT}topic/?number=1"
WRITE = f"{DRAFT}write/?number=1"
BANK = {
    "query_id": "1",
    "nugget_bank": {},
    "claim_bank": {
        text: {
            "claim_id": key,
            "importance": "okay",
            "references": [{"doc_id": docno}],
            "creator": [{"is_human": False, "llm_model": "gpt-x"}],
        }
        for key, text, docno in (("a", "yeast and salt", "d1"), ("b", "a day", "d2"))
    },
}


def make_scene(ada, ben, cat) -> Track:
    track = make_track(make_collection(ada), run_kind="answers")
    make_run(track, ben, ANSWERS)
    make_nuggets(track, json.dumps(BANK) + "\n")
    verbs.begin_draft(track, ada, track.nugget_versions.get())
    return track


@pytest.fixture
def draft(scene: Track) -> NuggetDraft:
    return scene.nugget_drafts.get()


def nuggets_of(draft: NuggetDraft) -> list[Nugget]:
    return list(read_topic(draft, draft.track.collection.topics.get(number="1")).nuggets)


def texts_of(draft: NuggetDraft) -> list[str]:
    return [nugget.text for nugget in nuggets_of(draft)]


def write(client: Client, act: str, **fields: object) -> int:
    return client.post(WRITE, {"act": act, **fields}).status_code


def test_an_edit_of_a_machines_nugget_keeps_both_texts(draft, as_ada):
    words = {"text": "yeast", "importance": "vital", "group": ""}
    assert write(as_ada, "revise", key="a", seen="yeast and salt", **words) == 302
    first = nuggets_of(draft)[0]
    assert (first.key, first.text, first.originals) == ("a", "yeast", ("yeast and salt",))
    assert first.origin == "machine gpt-x, edited by people"
    assert "Before people edited it: yeast and salt" in words_at(as_ada)


def words_at(client: Client) -> str:
    return words(page_at(client, TOPIC))


def test_what_two_people_change_at_once_is_told_to_the_second(draft, as_ada):
    write(as_ada, "revise", key="a", seen="yeast and salt", text="yeast", importance="vital")
    late = {"act": "revise", "key": "a", "seen": "yeast and salt", "importance": "vital"}
    answer = as_ada.post(WRITE, {**late, "text": "wild yeast"})
    assert answer.status_code == 422
    assert "Someone else changed this nugget to “yeast”" in answer.text
    assert "wild yeast" in answer.text and texts_of(draft) == ["yeast", "a day"]


def test_a_nugget_is_proposed_from_a_sentence_with_what_it_cites(draft, as_ada):
    run = draft.track.runs.get()
    page = page_at(as_ada, f"{TOPIC}&run={run.pk}&sentence=1")
    said = {name: inputs(page)[name] for name in ("text", "documents")}
    assert said == {"text": "Wild yeast makes bread rise.", "documents": "d1 d9"}
    assert write(as_ada, "propose", importance="vital", group="why", **said) == 302
    last = nuggets_of(draft)[-1]
    assert (last.key, last.origin, last.documents) == ("1-p1", "people", ("d1", "d9"))


def inputs(page: str) -> dict[str, str]:
    """The values of the form that proposes."""
    form = page[page.index('id="new-nugget"') :].partition("</form>")[0]
    return dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))


def test_a_document_is_read_beside_the_nuggets(draft, as_ada):
    page = words(page_at(as_ada, f"{TOPIC}&docno=d2"))
    assert "Document d2" in page and "Loaf 2 of twelve" in page


def test_a_nugget_is_split_and_the_parts_are_merged_again(draft, as_ada):
    assert write(as_ada, "split", key="a", texts="yeast\nsalt") == 302
    assert texts_of(draft) == ["yeast", "salt", "a day"]
    assert write(as_ada, "merge", keys=["1-p2", "b"], text="salt for a day") == 302
    assert texts_of(draft) == ["yeast", "salt for a day"]
    merged = nuggets_of(draft)[1]
    assert (merged.documents, merged.originals) == (("d1", "d2"), ("yeast and salt", "a day"))


def test_steps_are_undone_one_by_one_and_stay_in_the_log(draft, as_ada):
    write(as_ada, "remove", key="b")
    write(as_ada, "propose", text="salt", importance="okay")
    assert texts_of(draft) == ["yeast and salt", "salt"]
    for _ in range(2):
        assert write(as_ada, "undo") == 302
    assert texts_of(draft) == ["yeast and salt", "a day"]
    assert write(as_ada, "undo") == 422
    assert WritingStep.objects.count() == 4


@pytest.mark.parametrize(
    "sent",
    [
        {"act": "propose", "text": "A  DAY", "importance": "okay"},
        {"act": "propose", "text": "", "importance": "okay"},
        {"act": "split", "key": "a", "texts": "yeast"},
        {"act": "merge", "keys": ["a"], "text": "yeast"},
        {"act": "remove", "key": "gone"},
    ],
)
def test_a_step_that_says_nothing_new_changes_nothing(draft, as_ada, sent):
    assert as_ada.post(WRITE, sent).status_code == 422
    assert not draft.steps.exists()


def test_a_frozen_draft_is_a_version_like_an_imported_one(draft, as_ada):
    write(as_ada, "revise", key="a", seen="yeast and salt", text="yeast", importance="vital")
    write(as_ada, "propose", text="salt", importance="okay", group="taste", documents="d3")
    assert as_ada.post(f"{DRAFT}freeze/", {"version": "v2", "note": "by hand"}).status_code == 302
    work()
    version = NuggetVersion.objects.get(version="v2")
    assert (version.state, version.num_nuggets, version.num_vital) == ("ready", 3, 1)
    assert [(n.key, n.originals) for n in load_bank(version.pk).topics["1"]] == [
        ("a", ("yeast and salt",)),
        ("b", ()),
        ("1-p1", ()),
    ]
    changes = words(page_at(as_ada, "/benchmarks/bread/nuggets/v2/changes/"))
    assert "1 new" in changes and "1 in other words" in changes


def test_a_frozen_draft_is_not_written_any_more(draft, ada):
    verbs.freeze_draft(draft, ada, "v2")
    topic = draft.track.collection.topics.get(number="1")
    with pytest.raises(ActionError, match="frozen"):
        verbs.propose(draft, ada, topic, NuggetWords("salt", "okay"))
    assert verbs.begin_draft(draft.track, ada, None).based_on is None


def test_a_track_has_one_draft_at_a_time(draft, as_ada):
    assert as_ada.post(f"{DRAFT}begin/", {"based_on": "v1"}).status_code == 422
    assert "Continue the draft" in words(page_at(as_ada, "/benchmarks/bread/nuggets/"))


def test_a_draft_is_discarded_with_its_steps(draft, as_ada):
    write(as_ada, "remove", key="b")
    write(as_ada, "undo")
    assert as_ada.post(f"{DRAFT}discard/").status_code == 302
    assert not NuggetDraft.objects.exists() and not WritingStep.objects.exists()
    assert "Begin draft" in words(page_at(as_ada, DRAFT))


def test_the_draft_lists_its_topics(draft, as_ada):
    write(as_ada, "remove", key="b")
    page = page_at(as_ada, DRAFT)
    assert rows(page)[0] == "1 sourdough bread 1 2 1"
    assert "1 nuggets now" in words(page) and "1 removed" in words(page)
