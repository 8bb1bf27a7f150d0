"""POST and GET /api/v1/collections, and confirm"""

from __future__ import annotations

import pytest
from django.test import override_settings

from leaderboard.models import Collection, User
from tests.api.conftest import Program
from tests.builders import DOCUMENTS, QRELS, TOPICS, make_collection, make_track, upload, work

PATH = "/api/v1/collections"
# Topics 51, 52, 53 in a file whose judgments count 1, 2, 3.
OTHERWISE_NUMBERED = TOPICS.replace("Number: ", "Number: 5")


def parts(**changed: object) -> dict[str, object]:
    files = {
        "slug": "bread",
        "name": "Bread",
        "topics": upload("topics.trec", TOPICS),
        "documents": upload("documents.jsonl", DOCUMENTS),
        "judgments": upload("qrels.txt", QRELS),
    }
    return {name: part for name, part in (files | changed).items() if part is not None}


def test_a_collection_without_questions_is_imported(ada_api):
    answer = ada_api.send(PATH, **parts())
    assert (answer.status_code, answer.json()) == (
        202,
        {"slug": "bread", "state": "queued", "url": "/api/v1/collections/bread"},
    )
    work()
    collection = ada_api.get("/api/v1/collections/bread").json()
    assert collection["state"] == "ready"
    assert collection["counts"] == {"documents": 12, "topics": 3, "judgments": 8}
    assert [(each["version"], each["state"]) for each in collection["judgment_sets"]] == [
        ("v1", "ready")
    ]


def test_a_set_of_judgments_says_what_it_holds(ada_api):
    ada_api.send(PATH, **parts(judgments_version="pilot", grade_scale="0-4"))
    work()
    (judgment_set,) = ada_api.get("/api/v1/collections/bread").json()["judgment_sets"]
    assert judgment_set["version"] == "pilot"
    assert judgment_set["counts"] == {
        "judgments": 8,
        "topics": 3,
        "relevant": 5,
        "grades": {"0": 3, "1": 3, "2": 1, "3": 1},
    }
    assert len(judgment_set["sha256"]) == 64
    assert Collection.objects.get().judgment_sets.get().top_grade == 4


def test_who_asks_first_sees_a_preview_and_confirms(ada_api):
    ada_api.send(PATH, **parts(confirm="ask"))
    work()
    collection = ada_api.get("/api/v1/collections/bread").json()
    assert collection["state"] == "preview"
    assert collection["preview"]["topics"]["format"] == "trec"
    answer = ada_api.post("/api/v1/collections/bread/confirm")
    assert (answer.status_code, answer.json()["state"]) == (202, "queued")
    work()
    assert ada_api.get("/api/v1/collections/bread").json()["state"] == "ready"


def test_a_question_waits_for_its_answer(ada_api):
    ada_api.send(PATH, **parts(topics=upload("topics.trec", OTHERWISE_NUMBERED)))
    work()
    collection = ada_api.get("/api/v1/collections/bread").json()
    assert collection["state"] == "preview"
    assert collection["questions"] == [
        {"name": "renumber_topics", "judged": 3, "unknown": 3, "matched": 0, "highest": 3}
    ]
    assert collection["problems"][0]["code"] == "E_UNKNOWN_TOPIC"
    ada_api.post("/api/v1/collections/bread/confirm", {"renumber_topics": True})
    work()
    collection = ada_api.get("/api/v1/collections/bread").json()
    assert (collection["state"], collection["questions"]) == ("ready", [])


def test_grades_are_mapped_as_was_confirmed(ada_api):
    ada_api.send(PATH, **parts(confirm="ask"))
    work()
    ada_api.post("/api/v1/collections/bread/confirm", {"grade_map": {"3": 1, "2": 1}})
    work()
    (judgment_set,) = ada_api.get("/api/v1/collections/bread").json()["judgment_sets"]
    assert judgment_set["counts"]["grades"] == {"0": 3, "1": 5}


def test_a_collection_that_does_not_wait_cannot_be_confirmed(collection, ada_api):
    answer = ada_api.post("/api/v1/collections/bread/confirm")
    assert (answer.status_code, answer.json()["code"]) == (409, "E_CONFLICT")


def test_content_is_refused_by_the_worker_with_its_problems(ada_api):
    answer = ada_api.send(PATH, **parts(judgments=upload("qrels.txt", "1 0 d1\n")))
    assert answer.status_code == 202
    work()
    collection = ada_api.get("/api/v1/collections/bread").json()
    assert collection["state"] == "refused"
    assert (collection["problems"][0]["code"], collection["problems"][0]["line"]) == (
        "E_COLUMNS",
        1,
    )


def test_topics_are_enough(ada_api):
    ada_api.send(PATH, **parts(documents=None, judgments=None))
    work()
    collection = ada_api.get("/api/v1/collections/bread").json()
    assert (collection["state"], collection["counts"]["documents"]) == ("ready", 0)


def test_docnos_stand_for_documents_that_are_elsewhere(ada_api):
    docnos = upload("docnos.txt", "".join(f"d{n}\n" for n in range(1, 13)))
    ada_api.send(PATH, **parts(documents=None, docnos=docnos))
    work()
    assert Collection.objects.get().formats == {"documents": "docnos"}
    assert ada_api.get("/api/v1/collections/bread").json()["counts"]["documents"] == 12


def test_documents_and_docnos_exclude_each_other(ada_api):
    answer = ada_api.send(PATH, **parts(docnos=upload("docnos.txt", "d1\n")))
    assert answer.json()["message"].startswith("docnos: ")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("slug", "new"),
        ("slug", "two words"),
        ("slug", None),
        ("name", None),
        ("name", "a\0b"),
        ("topics", None),
        ("judgments_version", "v 1"),
        ("grade_scale", "3"),
        ("grade_scale", "0-128"),
        ("formats", "trec"),
        ("formats", '{"topics": "pdf"}'),
        ("formats", '{"judgments": "topic grade"}'),
        ("formats", '{"pictures": "trec"}'),
        ("confirm", "maybe"),
    ],
)
def test_a_field_out_of_range_is_named(ada_api, name, value):
    answer = ada_api.send(PATH, **parts(**{name: value}))
    assert (answer.status_code, answer.json()["code"]) == (422, "E_FIELD")
    assert answer.json()["message"].startswith(f"{name}: ")
    assert not Collection.objects.exists()


@pytest.mark.parametrize("grade_map", [{"x": 1}, {"1": 128}, {"1": "y"}, {"1": 1.5}, {"1": None}])
def test_a_grade_map_maps_grades(ada_api, grade_map):
    ada_api.send(PATH, **parts(confirm="ask"))
    work()
    answer = ada_api.post("/api/v1/collections/bread/confirm", {"grade_map": grade_map})
    assert answer.json()["message"] == "grade_map: maps grades from -127 to 127"


def test_a_slug_that_is_taken_is_a_wrong_field(collection, ada_api):
    answer = ada_api.send(PATH, **parts())
    assert answer.json()["message"] == "slug: is already in use; choose another"


@override_settings(COLLECTION_UPLOAD_LIMIT=100)
def test_a_file_over_the_limit_is_too_large(ada_api):
    answer = ada_api.send(PATH, **parts())
    assert (answer.status_code, answer.json()["code"]) == (413, "E_SIZE")


@override_settings(EVERYONE_ORGANISES=False)
def test_who_may_not_organise_brings_no_collection(ben):
    answer = Program(ben).send(PATH, **parts())
    assert (answer.status_code, answer.json()["code"]) == (403, "E_PERM")


def test_a_token_without_the_scope_brings_no_collection(ada, anybody_api):
    assert Program(ada, ["read", "submit"]).send(PATH, **parts()).status_code == 403
    assert anybody_api.send(PATH, **parts()).status_code == 401


def test_a_collection_without_a_track_is_for_its_organisers(collection, ada_api, ben_api):
    assert ben_api.get(f"{PATH}/bread").status_code == 404
    assert ben_api.get(PATH).json() == {"items": [], "next": None}
    assert [each["slug"] for each in ada_api.get(PATH).json()["items"]] == ["bread"]


def test_readers_see_counts_and_organisers_what_was_found(track, anybody_api, ada_api):
    public = {"slug", "name", "state", "url", "counts", "judgment_sets", "terms"}
    inside = {"preview", "questions", "problems", "problem_totals"}
    assert set(anybody_api.get(f"{PATH}/bread").json()) == public
    assert set(ada_api.get(f"{PATH}/bread").json()) == public | inside


def test_a_blind_track_does_not_tell_of_the_judgments(blind_track, anybody_api):
    collection = anybody_api.get(f"{PATH}/bread").json()
    assert collection["counts"] == {"documents": 12, "topics": 3}
    assert "judgment_sets" not in collection
    assert anybody_api.get(f"{PATH}/bread/judgments/v1").status_code == 404


def test_only_its_organisers_confirm_a_collection(track, cat: User, anybody_api):
    assert Program(cat).post(f"{PATH}/bread/confirm").status_code == 403
    assert anybody_api.post(f"{PATH}/bread/confirm").status_code == 401


def test_collections_are_listed_in_pages(ada, anybody_api):
    for slug in ("b", "a", "c"):
        make_track(make_collection(ada, slug=slug), slug=slug)
    page = anybody_api.get(f"{PATH}?limit=2").json()
    assert ([each["slug"] for each in page["items"]], page["next"]) == (["a", "b"], "b")


def test_which_grade_is_the_best_is_answered_with_the_confirmation(ada_api):
    ada_api.send(PATH, **parts(judgments=upload("cranqrel", "1 d1 1\n2 d2 4\n3 d3 2\n")))
    work()
    questions = ada_api.get(f"{PATH}/bread").json()["questions"]
    assert [question["name"] for question in questions] == ["grade_map"]
    assert ada_api.post(f"{PATH}/bread/confirm").status_code == 409
    ada_api.post(f"{PATH}/bread/confirm", {"grade_map": {}})
    work()
    (judgment_set,) = ada_api.get(f"{PATH}/bread").json()["judgment_sets"]
    assert judgment_set["counts"]["grades"] == {"1": 1, "2": 1, "4": 1}
