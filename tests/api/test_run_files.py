"""GET /api/v1/runs/{id}/file and /problems"""

from __future__ import annotations

import json

from tests.builders import RUN, make_run

BAD = "".join(f"1 Q0 d1 {n} {n} tag\n1 Q0 d{n + 100} 1 x tag\n" for n in range(60))


def test_a_file_comes_back_as_it_was_sent(bens_run, ben_api):
    answer = ben_api.get(f"/api/v1/runs/{bens_run.pk}/file")
    assert b"".join(answer.streaming_content) == RUN.encode()
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["Content-Disposition"] == 'attachment; filename="run.txt"'


def test_all_problems_come_a_line_of_json_each(track, ben, ben_api):
    run = make_run(track, ben, BAD)
    shown = ben_api.get(f"/api/v1/runs/{run.pk}").json()
    lines = b"".join(ben_api.get(shown["problems_url"]).streaming_content).splitlines()
    problems = [json.loads(line) for line in lines]
    assert len(shown["problems"]) == 50
    assert len(problems) == sum(shown["problem_totals"].values()) > 50
    told = {"code", "severity", "line", "message", "found", "hint"}
    assert set(problems[0]) == told | {"count", "fix", "suggested"}


def test_a_file_is_for_its_team_and_the_organisers(bens_run, ada_api, cat_api, anybody_api):
    for call in ("file", "problems"):
        path = f"/api/v1/runs/{bens_run.pk}/{call}"
        assert ada_api.get(path).status_code == 200
        assert (cat_api.get(path).status_code, cat_api.get(path).json()["code"]) == (403, "E_PERM")
        assert anybody_api.get(path).status_code == 403


def test_a_file_of_a_blind_run_does_not_exist_for_others(blind_track, ben, cat_api):
    run = make_run(blind_track, ben)
    assert cat_api.get(f"/api/v1/runs/{run.pk}/file").status_code == 404
