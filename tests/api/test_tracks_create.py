"""POST /api/v1/tracks"""

from __future__ import annotations

import pytest

from leaderboard.models import Collection, Track
from tests.api.conftest import Program
from tests.builders import make_collection, make_run, work

NEEDED = {
    "slug": "loaves",
    "name": "Loaves",
    "collection": "bread",
    "judgments": "v1",
    "measures": ["AP", "nDCG@10"],
    "primary_measure": "AP",
}


def test_a_track_is_opened_and_answers_with_every_setting(collection, ada_api):
    answer = ada_api.post("/api/v1/tracks", NEEDED)
    assert answer.status_code == 201
    track = Track.objects.get()
    assert answer.json() == NEEDED | {
        "benchmark": "loaves",
        "page": "/benchmarks/loaves/",
        "topics_at": None,
        "documents_at": None,
        "judgments_at": None,
        "baseline_at": None,
        "url": "/api/v1/tracks/loaves",
        "state": "open",
        "phase": "Open: runs are accepted without a deadline. Scores appear on release.",
        "description": "",
        "relevance_threshold": 1,
        "depth": 1000,
        "convention": "house",
        "drop_empty_topics": False,
        "test": "max_t",
        "opens_at": None,
        "closes_at": None,
        "release_at": None,
        "disclosure": "blind",
        "pseudonyms": False,
        "shares_judgments": False,
        "ladder_step": 0.0,
        "public_topics": [],
        "visibility": "public",
        "joining": "everyone",
        "terms": "",
        "selection": "all",
        "grace_minutes": 0,
        "late_runs": "refuse",
        "excluded_topics": [],
        "exclusion_reason": "",
        "quota_per_day": 20,
        "quota_total": None,
        "attempts_per_day": 20,
        "run_formats": ["trec"],
        "required_facts": [],
        "run_kind": "ranked",
        "answer_rules": "common",
        "answer_limit": None,
        "answer_unit": "",
        "answer_over": "",
        "answer_ranking": "cited",
        "assignments": "",
        "support": "",
        "systems": "",
        "systems_measure": "",
        "shares_nuggets": "release",
        "main_branch": "",
        "gate_margin": 0.0,
        "gate_builds": 50,
        "commit_url": "",
        "missing_topics": "warn",
        "unknown_documents": "refuse",
        "duplicates": "refuse",
        "repeated_tags": "warn",
        "baseline": None,
        "edition": None,
        "released_at": None,
        "invitation": track.benchmark.invitation,
    }
    assert track.benchmark.owner.username == "ada"


def test_what_is_given_is_kept(collection, ada_api):
    given = {
        "description": "Which *crumb*?",
        "relevance_threshold": 2,
        "depth": 100,
        "opens_at": "2026-01-01T00:00:00Z",
        "closes_at": "2027-01-01T00:00:00Z",
        "disclosure": "open",
        "shares_judgments": True,
        "visibility": "members",
        "joining": "invitation",
        "selection": "best",
        "convention": "trec_eval-9",
        "drop_empty_topics": True,
        "test": "t",
        "quota_per_day": 3,
        "quota_total": 30,
        "attempts_per_day": 5,
        "run_formats": ["trec", "msmarco"],
        "required_facts": ["topic_fields", "hardware"],
        "run_kind": "answers",
        "answer_rules": "rag24",
        "answer_limit": 300,
        "answer_unit": "characters-nfkc",
        "answer_over": "refuse",
        "answer_ranking": "references",
        "missing_topics": "refuse",
        "unknown_documents": "drop",
        "duplicates": "keep_best",
        "repeated_tags": "refuse",
    }
    answer = ada_api.post("/api/v1/tracks", NEEDED | given).json()
    assert {name: answer[name] for name in given} == given


def test_a_deadline_in_another_zone_is_the_same_instant(collection, ada_api):
    answer = ada_api.post("/api/v1/tracks", NEEDED | {"closes_at": "2027-01-01T00:00:00+01:00"})
    assert answer.json()["closes_at"] == "2026-12-31T23:00:00Z"


def test_a_track_may_wait_for_its_judgments(collection, ada_api):
    answer = ada_api.post("/api/v1/tracks", NEEDED | {"judgments": None})
    assert (answer.status_code, answer.json()["judgments"]) == (201, None)
    work()
    assert ada_api.get("/api/v1/tracks/loaves").json()["edition"] is None


def test_measures_are_spelled_as_they_were_given(collection, ben, ada_api):
    names = {"measures": ["map", "ndcg_cut_10", "AP"], "primary_measure": "nDCG@10"}
    answer = ada_api.post("/api/v1/tracks", NEEDED | names).json()
    assert answer["measures"] == ["map", "ndcg_cut_10"]
    assert answer["primary_measure"] == "ndcg_cut_10"
    run = make_run(Track.objects.get(), ben)
    work()
    scores = ada_api.get(f"/api/v1/runs/{run.pk}").json()["scores"]
    assert list(scores) == ["map", "ndcg_cut_10"]


@pytest.mark.parametrize("name", ["slug", "name", "collection", "measures", "primary_measure"])
def test_a_field_that_is_missing_is_named(collection, ada_api, name):
    body = {key: value for key, value in NEEDED.items() if key != name}
    answer = ada_api.post("/api/v1/tracks", body)
    assert (answer.status_code, answer.json()["message"]) == (422, f"{name}: is missing")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("slug", "admin"),
        ("slug", "New"),
        ("slug", "two words"),
        ("slug", "ü"),
        ("slug", ""),
        ("slug", "x" * 61),
        ("name", ""),
        ("name", "x" * 121),
        ("name", "a\0b"),
        ("name", "\ud800"),
        ("name", 5),
        ("description", "x" * 20_001),
        ("collection", "nothing"),
        ("judgments", "v9"),
        ("measures", []),
        ("measures", ["nDCG@0"]),
        ("measures", ["nonsense"]),
        ("measures", ["P@1"] * 41),
        ("measures", "AP"),
        ("primary_measure", "RR"),
        ("primary_measure", "nonsense"),
        ("relevance_threshold", 0),
        ("relevance_threshold", 128),
        ("depth", 0),
        ("depth", 10**30),
        ("depth", 1.5),
        ("depth", "1000"),
        ("quota_per_day", -1),
        ("quota_total", 999999999999999999999999999999),
        ("attempts_per_day", None),
        ("run_formats", []),
        ("run_formats", ["xml"]),
        ("run_kind", "songs"),
        ("answer_rules", "rag99"),
        ("answer_limit", 0),
        ("required_facts", ["shoes"]),
        ("opens_at", "tomorrow"),
        ("opens_at", 1700000000),
        ("closes_at", "10000-01-01T00:00:00Z"),
        ("closes_at", "9999-12-31T23:59:59Z"),
        ("closes_at", "2027-01-01T00:00:00"),
        ("disclosure", "half-open"),
        ("shares_judgments", None),
        ("visibility", "secret"),
        ("joining", "nobody"),
        ("selection", "secondary"),
        ("convention", "trec_eval-8"),
        ("test", "tea"),
        ("missing_topics", "drop"),
        ("unknown_documents", "warn"),
        ("duplicates", "warn"),
        ("repeated_tags", "drop"),
    ],
)
def test_a_field_out_of_range_is_named(collection, ada_api, name, value):
    answer = ada_api.post("/api/v1/tracks", NEEDED | {name: value})
    assert (answer.status_code, answer.json()["code"]) == (422, "E_FIELD")
    assert answer.json()["message"].split(":")[0].split(".")[0] == name
    assert not Track.objects.exists()


def test_a_choice_that_is_not_there_lists_those_that_are(collection, ada_api):
    answer = ada_api.post("/api/v1/tracks", NEEDED | {"disclosure": "secret"})
    assert (
        answer.json()["message"] == "disclosure: input should be 'open', 'leaderboard' or 'blind'"
    )


def test_a_track_does_not_close_before_it_opens(collection, ada_api):
    dates = {"opens_at": "2027-02-01T00:00:00Z", "closes_at": "2027-01-01T00:00:00Z"}
    answer = ada_api.post("/api/v1/tracks", NEEDED | dates)
    assert answer.json()["message"] == "closes_at: Must be after the opening time."


def test_every_setting_that_does_not_fit_is_named(collection, ada_api):
    dates = {"release_at": "2027-02-01T00:00:00Z", "closes_at": "2027-03-01T00:00:00Z"}
    answer = ada_api.post("/api/v1/tracks", NEEDED | dates | {"ladder_step": 0.01})
    assert [problem["message"] for problem in answer.json()["problems"]] == [
        "ladder_step: Only available with rounded leaderboard means.",
        "release_at: Set the release on or after the closing time.",
    ]


def test_a_track_begins_with_the_grade_of_its_judgments(collection, ada_api):
    collection.judgment_sets.update(relevant_from=2)
    assert ada_api.post("/api/v1/tracks", NEEDED).json()["relevance_threshold"] == 2
    said = NEEDED | {"slug": "other", "relevance_threshold": 1}
    assert ada_api.post("/api/v1/tracks", said).json()["relevance_threshold"] == 1


def test_a_slug_that_is_taken_is_a_wrong_field(track, ada_api):
    answer = ada_api.post("/api/v1/tracks", NEEDED | {"slug": "bread"})
    assert answer.json()["message"] == "slug: is already in use; choose another"


def test_unknown_fields_are_ignored(collection, ada_api, ben):
    answer = ada_api.post("/api/v1/tracks", NEEDED | {"owner": ben.pk, "released_at": "2020"})
    assert (answer.status_code, answer.json()["released_at"]) == (201, None)
    assert Track.objects.get().benchmark.owner.username == "ada"


def test_a_collection_that_is_not_ready_is_a_conflict(collection, ada_api):
    Collection.objects.update(state="preview")
    answer = ada_api.post("/api/v1/tracks", NEEDED)
    assert (answer.status_code, answer.json()["code"]) == (409, "E_CONFLICT")


def test_only_its_organisers_open_tracks_on_a_collection(track, cat):
    cat.can_organise = True
    cat.save()
    answer = Program(cat).post("/api/v1/tracks", NEEDED)
    assert (answer.status_code, answer.json()["code"]) == (403, "E_PERM")


def test_a_collection_of_somebody_else_does_not_exist(cat, ada_api):
    make_collection(cat, slug="cats")
    answer = ada_api.post("/api/v1/tracks", NEEDED | {"collection": "cats"})
    assert answer.json()["message"] == "collection: is not one that you can see"


def test_who_may_not_organise_opens_no_track(track, ben, settings):
    settings.EVERYONE_ORGANISES = False
    assert Program(ben).post("/api/v1/tracks", NEEDED).status_code == 403


def test_a_token_without_the_scope_opens_no_track(collection, ada, anybody_api):
    assert Program(ada, ["read", "submit"]).post("/api/v1/tracks", NEEDED).status_code == 403
    assert anybody_api.post("/api/v1/tracks", NEEDED).status_code == 401
