"""POST and GET /api/v1/benchmarks/{benchmark}/systems"""

from __future__ import annotations

import pytest

from leaderboard.models import Benchmark, Run, Track
from tests.benchmark_scene import BOTH, ROLLS_RUN, make_benchmark, send, zipped
from tests.builders import OTHER_RUN, RUN, upload, work

SYSTEMS = "/api/v1/benchmarks/baking/systems"


@pytest.fixture
def benchmark(ada, ben):
    return make_benchmark(ada, ben, main_branch="main")


def send_files(program, files, key="", **fields):
    sent = [upload(name, content) for name, content in files.items()]
    return program.send(SYSTEMS, key, files=sent, **{"name": "oven", **fields})


def test_a_submission_names_run_and_track_of_each_file(benchmark, ben_api):
    archive = zipped({"bread/a.run": RUN, "x.md": "hello"})
    answer = send_files(ben_api, {"all.zip": archive}, commit="abc123").json()
    assert (answer["system"], answer["version"], answer["missing"]) == ("oven", "abc123", ["rolls"])
    (run,) = answer["runs"]
    assert (run["track"], run["file"]) == ("bread", "bread/a.run")
    assert [problem["found"] for problem in answer["problems"]] == ["x.md"]
    assert ben_api.get(run["url"]).status_code == 200


def test_a_version_answers_until_its_runs_are_done(benchmark, ben_api):
    url = send_files(ben_api, BOTH, commit="abc123", branch="topic").json()["url"]
    assert url.endswith("/versions/abc123")
    before = ben_api.get(url).json()
    assert (before["done"], before["verdict"]) == (False, None)
    work()
    after = ben_api.get(url).json()
    assert after["done"] and {run["state"] for run in after["runs"]} == {"scored"}
    assert all(run["mean"] == pytest.approx(25 / 36) for run in after["runs"])


def test_a_refused_request_names_each_file_and_its_reason(benchmark, ben_api):
    Track.objects.update(closes_at="2020-01-01T00:00:00Z")
    answer = send_files(ben_api, BOTH)
    assert (answer.status_code, answer.json()["code"]) == (403, "E_CLOSED")
    found = [problem["found"] for problem in answer.json()["problems"]]
    assert found == ["bread.run", "rolls.run"] and not Run.objects.exists()


def test_a_file_for_no_track_names_the_tracks(benchmark, ben_api):
    answer = send_files(ben_api, {"a.run": "99 Q0 d1 1 1 x\n"})
    assert (answer.status_code, answer.json()["code"]) == (422, "E_TRACK")
    assert "bread, rolls" in answer.json()["message"]


def test_the_same_key_is_the_same_version(benchmark, ben_api):
    first = send_files(ben_api, BOTH, "k").json()
    assert send_files(ben_api, BOTH, "k").json() == first
    assert send_files(ben_api, {"bread.run": OTHER_RUN}, "k").status_code == 409


def test_a_quota_answers_when_to_retry(benchmark, ben_api):
    Track.objects.update(quota_per_day=0)
    answer = send_files(ben_api, BOTH)
    assert answer.status_code == 429 and int(answer["Retry-After"]) > 0


@pytest.mark.parametrize(
    "fields",
    [{"name": ""}, {"name": "x" * 81}, {"version": "a/b"}, {"facts": "[]"}, {"name": "a\0b"}],
)
def test_a_bad_field_is_named(benchmark, ben_api, fields):
    answer = send_files(ben_api, BOTH, **fields)
    assert answer.status_code == 422 and answer.json()["message"].startswith(next(iter(fields)))


def test_a_stranger_sees_no_system_without_a_visible_run(benchmark, ben, ben_api, cat_api, ada_api):
    Track.objects.update(disclosure="blind")
    sent = send(benchmark, ben, BOTH, version="v1")
    url = f"{SYSTEMS}/{sent.version.system_id}/versions/v1"
    assert cat_api.get(url).status_code == 404
    assert cat_api.get(SYSTEMS).json()["items"] == []
    shown = ben_api.get(url).json()
    assert {(run["state"], run["mean"]) for run in shown["runs"]} == {("valid", None)}
    assert {run["state"] for run in ada_api.get(url).json()["runs"]} == {"scored"}


def test_a_stranger_sees_the_runs_of_tracks_that_show_means(benchmark, ben, cat_api):
    Track.objects.filter(slug="rolls").update(disclosure="blind")
    send(benchmark, ben, BOTH, version="v1")
    (system,) = cat_api.get(SYSTEMS).json()["items"]
    shown = cat_api.get(f"{SYSTEMS}/{system['id']}/versions/v1").json()
    assert [run["track"] for run in shown["runs"]] == ["bread"]


def test_a_run_under_a_pseudonym_is_not_joined_with_its_system(benchmark, ben, cat_api):
    Track.objects.filter(slug="rolls").update(pseudonyms=True)
    send(benchmark, ben, {"rolls.run": ROLLS_RUN})
    assert cat_api.get(SYSTEMS).json()["items"] == []
    send(benchmark, ben, {"bread.run": RUN})
    shown = cat_api.get(SYSTEMS).json()["items"]
    assert [system["versions"] for system in shown] == [["2"]]


def test_a_benchmark_of_hidden_tracks_does_not_exist_for_others(benchmark, cat_api):
    Track.objects.update(visibility="members")
    Benchmark.objects.update(joining="invitation")
    assert send_files(cat_api, BOTH).status_code == 404
    assert cat_api.get(SYSTEMS).status_code == 404
