"""/api/v1/tracks/{slug}/uploads and /api/v1/uploads/{upload_id}: a run arrives in pieces."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from io import BytesIO
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.utils import timezone

from leaderboard.actions import partial_uploads
from leaderboard.jobs.cleanup import sweep
from leaderboard.models import Benchmark, PartialUpload, Run, UploadPiece
from tests.api.conftest import Program
from tests.benchmark_scene import ROLLS_RUN, make_benchmark
from tests.builders import OTHER_RUN, RUN, work

UPLOADS, RUNS = "/api/v1/tracks/bread/uploads", "/api/v1/tracks/bread/runs"
BYTES = RUN.encode()


def announced(text: bytes = BYTES, **fields: Any) -> dict[str, Any]:
    sha256 = hashlib.sha256(text).hexdigest()
    return {"name": "my.run", "size": len(text), "sha256": sha256, **fields}


def begin(program: Program, text: bytes = BYTES, path: str = UPLOADS) -> dict[str, Any]:
    return program.post(path, announced(text)).json()


def upload_whole(program: Program, text: bytes = BYTES, path: str = UPLOADS) -> str:
    upload = begin(program, text, path)
    program.append(upload["url"], 0, text)
    return upload["id"]


def test_a_run_arrives_in_pieces_and_is_scored(track, ben_api):
    upload = begin(ben_api)
    assert ben_api.append(upload["url"], 0, BYTES[:50]).json()["received"] == 50
    assert ben_api.append(upload["url"], 50, BYTES[50:]).json()["received"] == len(BYTES)
    answer = ben_api.send(RUNS, upload=upload["id"], description="First")
    work()
    run = Run.objects.get()
    assert answer.status_code == 201
    assert (run.state, run.filename, run.description) == ("scored", "my.run", "First")


def test_a_file_announced_again_continues_where_it_broke_off(track, ben_api):
    ben_api.append(begin(ben_api)["url"], 0, BYTES[:50])
    again = ben_api.post(UPLOADS, announced())
    assert (again.status_code, again.json()["received"]) == (200, 50)


def test_a_piece_at_another_offset_is_refused_and_told_where_to_continue(track, ben_api):
    url = begin(ben_api)["url"]
    ben_api.append(url, 0, BYTES[:50])
    for offset in (0, 49, 51):
        refused = ben_api.append(url, offset, BYTES[:10])
        assert refused.status_code == 409
        assert "50 bytes have arrived" in refused.json()["message"]
    assert ben_api.get(url).json()["received"] == 50


def test_a_piece_that_arrives_twice_at_once_is_stored_once(track, ben_api):
    upload = PartialUpload.objects.get(pk=begin(ben_api)["id"])
    partial_uploads.append_piece(upload, 0, piece_of(BYTES[:50]), 50)
    with pytest.raises(partial_uploads.NotAccepted, match="already arrived"):
        partial_uploads.store_piece(upload, 0, 50, piece_of(BYTES[:50]))
    assert len(list(default_storage.stored_before(f"uploads/{upload.pk}", 9e9))) == 1


def piece_of(text: bytes) -> BytesIO:
    return BytesIO(text)


def test_a_submission_repeated_after_a_lost_answer_is_the_same_run(track, ben_api):
    upload = upload_whole(ben_api)
    first = ben_api.send(RUNS, upload=upload, key="night-1")
    again = ben_api.send(RUNS, upload=upload, key="night-1")
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json()["id"] == first.json()["id"]


def test_a_run_is_refused_until_all_bytes_have_arrived(track, ben_api):
    upload = begin(ben_api)
    ben_api.append(upload["url"], 0, BYTES[:50])
    refused = ben_api.send(RUNS, upload=upload["id"])
    assert (refused.status_code, refused.json()["code"]) == (409, "E_CONFLICT")
    assert refused.json()["message"].startswith("Only 50 of ")


def test_bytes_of_another_file_are_noticed_and_deleted(track, ben_api):
    upload = begin(ben_api)
    ben_api.append(upload["url"], 0, bytes(reversed(BYTES)))
    refused = ben_api.send(RUNS, upload=upload["id"])
    assert "another SHA-256 than announced" in refused.json()["message"]
    assert not UploadPiece.objects.exists() and not Run.objects.exists()


def test_a_piece_may_be_larger_than_a_form(track, ben_api):
    text = RUN.encode() + b"\n" * 2 * 2**20
    assert ben_api.append(begin(ben_api, text)["url"], 0, text).json()["received"] == len(text)


def test_no_piece_is_larger_than_the_file_or_the_limit(track, ben_api, monkeypatch):
    url = begin(ben_api)["url"]
    assert ben_api.append(url, 0, BYTES + b"x").status_code == 413
    monkeypatch.setattr(partial_uploads, "PIECE_LIMIT", 10)
    assert ben_api.append(url, 0, BYTES[:11]).status_code == 413
    assert not UploadPiece.objects.exists()


def test_no_file_is_announced_beyond_the_limit_of_a_run(track, ben_api, settings):
    settings.RUN_UPLOAD_LIMIT = 10
    refused = ben_api.post(UPLOADS, announced())
    assert (refused.status_code, refused.json()["code"]) == (413, "E_SIZE")


@pytest.mark.parametrize(("field", "value"), [("size", 0), ("size", -1), ("sha256", "abc")])
def test_what_is_announced_is_checked(track, ben_api, field, value):
    refused = ben_api.post(UPLOADS, announced(**{field: value}))
    assert (refused.status_code, refused.json()["message"][: len(field)]) == (422, field)


def test_a_user_has_few_unfinished_uploads(track, ben_api, monkeypatch):
    monkeypatch.setattr(partial_uploads, "MOST_UPLOADS", 3)
    for number in range(3):
        upload = begin(ben_api, BYTES + b"#" * number)
    refused = ben_api.post(UPLOADS, announced(b"one more"))
    assert (refused.status_code, refused.json()["code"]) == (403, "E_QUOTA")
    ben_api.delete(upload["url"])
    assert ben_api.post(UPLOADS, announced(b"one more")).status_code == 201


def test_uploads_that_became_runs_make_room(track, ben_api, monkeypatch):
    monkeypatch.setattr(partial_uploads, "MOST_UPLOADS", 3)
    ben_api.send(RUNS, upload=upload_whole(ben_api))
    for number in range(3):
        assert ben_api.post(UPLOADS, announced(b"x" * (number + 1))).status_code == 201


def test_unfinished_uploads_have_few_bytes_together(track, ben_api, settings):
    settings.RUN_UPLOAD_LIMIT = len(BYTES)
    for number in range(partial_uploads.MOST_LIMITS):
        begin(ben_api, bytes([number]) * len(BYTES))
    refused = ben_api.post(UPLOADS, announced(b"one more"))
    assert (refused.status_code, refused.json()["code"]) == (403, "E_QUOTA")


def test_pieces_count_as_files_of_the_site(track, ben_api, settings):
    url = begin(ben_api)["url"]
    settings.SITE_BYTES = 40
    refused = ben_api.append(url, 0, BYTES[:50])
    assert (refused.status_code, refused.json()["code"]) == (507, "E_FULL")


def test_a_quota_keeps_the_upload_for_a_later_try(track, ben_api):
    upload = upload_whole(ben_api)
    type(track).objects.filter(pk=track.pk).update(closes_at="2020-01-01T00:00Z")
    assert ben_api.send(RUNS, upload=upload).json()["code"] == "E_CLOSED"
    type(track).objects.filter(pk=track.pk).update(closes_at=None)
    assert ben_api.send(RUNS, upload=upload).status_code == 201


def test_the_upload_of_another_user_is_not_there(track, ben_api, cat_api):
    upload = upload_whole(ben_api)
    url = f"/api/v1/uploads/{upload}"
    assert cat_api.get(url).status_code == cat_api.delete(url).status_code == 404
    assert cat_api.append(url, 0, b"x").status_code == 404
    assert cat_api.send(RUNS, upload=upload).json()["message"].startswith("upload: is not an upl")


def test_who_may_not_submit_announces_no_file(track, cat_api):
    Benchmark.objects.update(joining="invitation")
    refused = cat_api.post(UPLOADS, announced())
    assert (refused.status_code, refused.json()["code"]) == (403, "E_NO_TEAM")


def test_a_form_has_a_file_or_an_upload(track, ben_api):
    refused = ben_api.send_run(RUN, upload=upload_whole(ben_api))
    assert (refused.status_code, refused.json()["message"][:5]) == (422, "file:")


@pytest.mark.parametrize("finished", [True, False])
def test_an_expired_upload_is_gone_with_its_files(track, ben_api, finished, monkeypatch):
    upload = upload_whole(ben_api, BYTES)
    if finished:
        ben_api.send(RUNS, upload=upload)
    PartialUpload.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert ben_api.get(f"/api/v1/uploads/{upload}").status_code == 404
    monkeypatch.setattr("leaderboard.jobs.cleanup.KEPT_SECONDS", -1)
    sweep()
    assert not PartialUpload.objects.exists()
    assert not list(default_storage.stored_before("uploads", 9e9))


def test_pieces_do_not_count_as_writes(track, ben_api, settings):
    url = begin(ben_api)["url"]
    settings.API_WRITES_PER_MINUTE = 1
    for place in range(5):
        assert ben_api.append(url, place, BYTES[place : place + 1]).status_code == 200


def test_a_system_has_files_and_uploads(ada, ben, ben_api):
    make_benchmark(ada, ben)
    first = upload_whole(ben_api, OTHER_RUN.encode(), "/api/v1/benchmarks/baking/uploads")
    second = upload_whole(ben_api, ROLLS_RUN.encode(), "/api/v1/benchmarks/baking/uploads")
    PartialUpload.objects.filter(pk=second).update(name="rolls.run")
    answer = ben_api.send(
        "/api/v1/benchmarks/baking/systems", name="oven", uploads=f"{first},{second}"
    )
    assert answer.status_code == 202, answer.json()
    assert {run["track"] for run in answer.json()["runs"]} == {"bread", "rolls"}
    assert Benchmark.objects.get().systems.count() == 1
