"""Sending several runs at once, or an archive of them, without JavaScript."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile

import pytest

from leaderboard.actions import run_files
from leaderboard.models import Run
from tests.builders import OTHER_RUN, RUN, make_run, make_track, upload, work
from tests.pages.reading import words

SUBMIT = "/benchmarks/bread/submit/"
FAULTY = OTHER_RUN.replace("1 Q0 d3 1", "1 Q0 d3")
THIRD_RUN = OTHER_RUN.replace("d10", "d12").replace("other", "third")


def send(client, **files: str | bytes):
    """Send files called by name; `_` stands for a dot."""
    sent = [upload(name.replace("_", "."), content) for name, content in files.items()]
    return client.post(SUBMIT, {"file": sent, "kind": "automatic"})


def zipped(members: dict[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def states() -> dict[str, str]:
    work()
    return dict(Run.objects.values_list("filename", "state"))


def test_each_file_is_a_run_and_a_faulty_one_holds_up_no_other(track, as_ben):
    answer = send(as_ben, a_run=RUN, b_run=FAULTY, c_run=OTHER_RUN)
    assert answer.status_code == 200 and "3 of 3 files submitted" in words(answer.text)
    assert states() == {"a.run": "scored", "b.run": "refused", "c.run": "scored"}


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_an_archive_is_opened_and_its_packed_files_too(track, as_ben, method):
    packed = gzip.compress(OTHER_RUN.encode())
    runs = {"mine/a.run": RUN, "mine/b.run.gz": packed, "__MACOSX/mine/._a.run": "x", "mine/": ""}
    send(as_ben, runs_zip=zipped(runs, method), c_run=THIRD_RUN)
    assert set(states().values()) == {"scored"} and Run.objects.count() == 3
    assert Run.objects.filter(filename__endswith="b.run.gz").exists()


def test_a_deflated_file_is_kept_as_a_gzip_file_without_being_unpacked(track, as_ben):
    send(as_ben, runs_zip=zipped({"a.run": RUN, "b.run": OTHER_RUN}))
    run = Run.objects.get(filename="a.run.gz")
    assert gzip.decompress(run.file.read()) == RUN.encode()


def test_the_same_archive_again_makes_no_new_run(track, as_ben):
    files = zipped({"a.run": RUN, "b.run": OTHER_RUN})
    send(as_ben, runs_zip=files)
    assert "Already submitted as" in words(send(as_ben, runs_zip=files).text)
    assert Run.objects.count() == 2


def test_what_is_no_run_is_named_and_left_out(track, as_ben):
    inner = zipped({"x.run": THIRD_RUN, "y.run": THIRD_RUN})
    others = {"README.md": "hello", "inner.zip": inner, "/abs.run": RUN, "../up.run": RUN}
    page = words(send(as_ben, runs_zip=zipped({"a.run": RUN, **others})).text)
    assert "1 of 5 files submitted" in page
    assert "Not a run file" in page and "an archive in an archive" in page
    assert page.count("E_PATH") == 2 and Run.objects.count() == 1


def test_an_encrypted_file_is_refused_with_its_code(track, as_ben):
    archive = bytearray(zipped({"a.run": RUN, "b.run": OTHER_RUN}))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        archive[archive.index(mark) + place] |= 1
    page = words(send(as_ben, runs_zip=bytes(archive)).text)
    assert "E_ENCRYPTED" in page and "1 of 2 files submitted" in page


def test_a_bomb_is_stored_as_small_as_it_came_and_refused_by_the_worker(track, as_ben):
    line = "1 Q0 d1 1 1.0 bomb\n"
    bomb = line * 8_000_000
    archive = zipped({"a.run": RUN, "bomb.run": bomb})
    send(as_ben, runs_zip=archive)
    assert Run.objects.get(filename="bomb.run.gz").size < len(archive)
    assert states()["bomb.run.gz"] == "refused"
    assert "E_BOMB" in Run.objects.get(filename="bomb.run.gz").problem_totals


def test_a_gzip_bomb_in_an_archive_is_not_unpacked_any_further(track, as_ben):
    archive = zipped({"a.run": RUN, "b.run.gz": b"\x1f\x8b" + b"\0" * 30_000_000})
    page = words(send(as_ben, runs_zip=archive).text)
    assert "unpacks to more than" in page and Run.objects.count() == 1


def test_overlapping_files_are_left_to_the_worker_which_refuses_them(track, as_ben):
    archive = bytearray(zipped({"a.run": RUN, "b.run": OTHER_RUN}))
    second = archive.rindex(b"PK\x01\x02")
    archive[second + 42 : second + 46] = struct.pack("<L", 0)
    answer = send(as_ben, runs_zip=bytes(archive))
    assert answer.status_code == 302
    assert states() == {"runs.zip": "refused"}


def test_too_many_files_are_none(track, as_ben, monkeypatch):
    monkeypatch.setattr(run_files, "MOST_FILES", 2)
    answer = send(as_ben, runs_zip=zipped({f"{n}.run": RUN for n in range(3)}))
    assert answer.status_code == 403 and "These are 3 files; submit up to 2 at once." in answer.text
    assert not Run.objects.exists()


def test_an_archive_of_thousands_is_refused_by_its_directory(track, as_ben):
    names = {f"{'x' * 200}{n}.run": "" for n in range(6000)}
    answer = send(as_ben, runs_zip=zipped(names))
    assert answer.status_code == 403 and "has too many files" in answer.text


def test_the_quota_takes_as_many_as_are_left(collection, as_ben):
    make_track(collection, quota_per_day=2)
    page = words(send(as_ben, a_run=RUN, b_run=OTHER_RUN, c_run=THIRD_RUN).text)
    assert "2 of 3 files submitted" in page and "used 2 of 2 runs for today" in page


def test_where_nothing_is_accepted_the_page_says_why(collection, as_ben):
    make_track(collection, closes_at="2020-01-01T00:00:00Z")
    answer = send(as_ben, a_run=RUN, b_run=OTHER_RUN)
    assert answer.status_code == 403
    assert words(answer.text).count("Closed: runs were accepted until") == 2


@pytest.mark.parametrize("field", ["tag", "primary"])
def test_what_one_run_has_is_not_given_to_several(track, as_ben, field):
    form = {"file": [upload("a", RUN), upload("b", OTHER_RUN)], "kind": "automatic", field: "on"}
    assert as_ben.post(SUBMIT, form).status_code == 403
    assert not Run.objects.exists()


def test_a_run_beside_what_a_mac_adds_is_one_run(track, as_ben):
    answer = send(as_ben, runs_zip=zipped({"a.run": RUN, "__MACOSX/._a.run": "x"}))
    assert answer.url == f"/runs/{Run.objects.get().pk}/"
    assert set(states().values()) == {"scored"}


def test_a_run_is_replaced_by_the_form_that_its_page_links(track, ben, as_ben):
    old = make_run(track, ben, facts={"models": "BM25"})
    assert f"{SUBMIT}?replaces={old.pk}" in as_ben.get(f"/runs/{old.pk}/").text
    page = as_ben.get(f"{SUBMIT}?replaces={old.pk}").text
    assert "Replace run" in page and "BM25" in page and " multiple" not in page
    form = {"file": upload("b", OTHER_RUN), "kind": "automatic", "replaces": old.pk}
    answer = as_ben.post(SUBMIT, form)
    work()
    assert "Open the run that replaced it" in as_ben.get(f"/runs/{old.pk}/").text
    assert f'replaces <a href="/runs/{old.pk}/">' in as_ben.get(answer.url).text


def test_a_run_of_others_is_not_offered_for_replacement(track, ben, as_cat):
    old = make_run(track, ben)
    assert "?replaces=" not in as_cat.get(f"/runs/{old.pk}/").text
    assert as_cat.get(f"{SUBMIT}?replaces={old.pk}").status_code == 404


def test_two_files_replace_nothing(track, ben, as_ben):
    old = make_run(track, ben)
    files = [upload("b", OTHER_RUN), upload("c", THIRD_RUN)]
    answer = as_ben.post(SUBMIT, {"file": files, "kind": "automatic", "replaces": old.pk})
    assert answer.status_code == 403 and "Choose one file" in answer.text
