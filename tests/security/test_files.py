"""T16 to T20: files that unpack without end, lead elsewhere, reach out, or keep a reader busy."""

from __future__ import annotations

import gzip
import io
import json
import os
import resource
import socket
import threading
import time
import zipfile
import zlib
from pathlib import Path
from tempfile import TemporaryFile
from types import SimpleNamespace

import pytest
from django.conf import settings as site

from leaderboard.actions import submissions, uploads
from leaderboard.actions.uploads import CollectionFiles, NotAccepted
from leaderboard.infrastructure.free_space import STEP, FreeSpaceGuard
from leaderboard.models import Collection, Run
from tests.api.conftest import Program
from tests.builders import DOCUMENTS, QRELS, RUN, TOPICS, make_run, upload, work

pytestmark = pytest.mark.long

MIB = 1024 * 1024


def bomb_gz(mebibytes: int) -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    block = bytes(MIB)
    return b"".join(packer.compress(block) for _ in range(mebibytes)) + packer.flush()


def zipped(*members: tuple[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return out.getvalue()


BOMBS = {
    "gzip": lambda: bomb_gz(256),
    "gzip in gzip": lambda: gzip.compress(bomb_gz(64)),
    "zip": lambda: zipped(("run.txt", bytes(200 * MIB))),
    "zip in zip": lambda: zipped(("run.zip", zipped(("run.txt", bytes(64 * MIB))))),
    "many members": lambda: zipped(*((f"run{n}.txt", b"1 Q0 d1 1 1 a\n") for n in range(5000))),
}


# Without these codes another check would have refused the file, later and by chance.
CODES = {
    "gzip": "E_BOMB",
    "gzip in gzip": "E_CONTAINER",
    "zip": "E_BOMB",
    "zip in zip": "E_CONTAINER",
    "many members": "E_MEMBERS",
}


@pytest.mark.parametrize("kind", BOMBS)
def test_t16_a_bomb_is_refused_within_seconds_and_in_little_memory(track, ben, kind):
    packed = BOMBS[kind]()
    before, began = resource.getrusage(resource.RUSAGE_SELF), time.process_time()
    run = make_run(track, ben, packed)
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert (run.state, list(run.problem_totals)) == ("refused", [CODES[kind]])
    assert time.process_time() - began < 10
    assert after.ru_maxrss - before.ru_maxrss < 256 * 1024
    assert not list(Path(site.FILE_UPLOAD_TEMP_DIR).iterdir())


def padded(size: int) -> bytes:
    """A run in which nothing is wrong, with comments up to so many bytes."""
    return (RUN + "# rye\n" * (size // 6)).encode()[:size]


# Far below any ratio, so only the unpacked size is left to refuse them.
@pytest.mark.parametrize(
    ("pack", "words"),
    [
        (gzip.compress, "the unpacked file exceeds 20,000 bytes"),
        (lambda text: zipped(("run.txt", text)), "the archive declares 20,004 bytes unpacked"),
    ],
    ids=["gzip", "zip"],
)
def test_t16_a_file_is_refused_by_its_unpacked_size_alone(track, ben, settings, pack, words):
    settings.RUN_UNPACKED_LIMIT = 20_000
    run = make_run(track, ben, pack(padded(20_004)))
    assert (run.state, run.problem_totals) == ("refused", {"E_BOMB": 1})
    assert run.problems[0]["message"] == words
    assert make_run(track, ben, pack(padded(19_998))).state == "scored"


@pytest.mark.parametrize("part", ["topics", "documents", "judgments"])
def test_t16_a_bomb_in_a_collection_is_refused(ada, part, settings):
    settings.COLLECTION_UNPACKED_LIMIT = 32 * MIB
    files = {"topics": TOPICS, "documents": DOCUMENTS, "judgments": QRELS, part: bomb_gz(128)}
    collection = bring(ada, **files)
    assert collection.state == "refused" and not collection.topics.exists()
    assert "E_BOMB" in str(collection.problem_totals)


def bring(owner, **files: str | bytes) -> Collection:
    parts = CollectionFiles(**{name: upload(name, text) for name, text in files.items()})
    collection = Collection(slug="bad", name="Bad", owner=owner, asks_first=False)
    uploads.accept_collection(collection, parts)
    work()
    collection.refresh_from_db()
    return collection


NAMES = [
    "../../../tmp/t17-canary",
    "..\\..\\t17-canary",
    "/tmp/t17-canary",
    "C:\\t17-canary",
    "a/../../t17-canary",
    "\x00t17-canary",
    ".",
    "secret_key",
]


# They lead nowhere, so they are labels like any other.
PLAIN_NAMES = (".", "secret_key")


@pytest.mark.parametrize("name", NAMES)
def test_t17_a_name_in_a_zip_file_leads_nowhere(track, ben, name):
    run = make_run(
        track, ben, zipped(("N" * len(name), RUN.encode())).replace(b"N" * len(name), name.encode())
    )
    assert (run.state, list(run.problem_totals)) == (
        ("scored", []) if name in PLAIN_NAMES else ("refused", ["E_PATH"])
    )
    assert not Path("/tmp/t17-canary").exists()
    assert stored_outside(track) == []


@pytest.mark.parametrize("name", NAMES)
def test_t17_the_name_of_an_upload_is_never_a_path(track, ben, name):
    accepted = submissions.accept_run(track, ben, upload("run.txt", RUN))
    # As it stands on the wire: the client of the tests would refuse such names itself.
    body = PART % (name.encode(), RUN.replace("9.0", "9.5").encode())
    program, kind = Program(ben), "multipart/form-data; boundary=x"
    address = "/api/v1/tracks/bread/runs"
    made = program.client.post(address, body, kind, headers=program.headers)
    assert made.status_code in (201, 400, 422)
    assert accepted.run.file.name.startswith(f"runs/{accepted.run.pk}/file-")
    assert stored_outside(track) == []


PART = b'--x\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\n\r\n%s\r\n--x--\r\n'


def stored_outside(track) -> list[Path]:
    """Files that lie anywhere but in the folders of runs, collections and pools."""
    root = Path(site.MEDIA_ROOT)
    return [
        path
        for path in root.rglob("*")
        if path.is_file()
        and path.relative_to(root).parts[0] not in ("runs", "collections", "pools")
    ]


@pytest.fixture
def listener():
    """Somebody inside who must not be called; says how often it was."""
    heard: list[object] = []
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(0.1)

    def hear() -> None:
        while not over.is_set():
            try:
                heard.append(server.accept())
            except TimeoutError:
                continue

    over = threading.Event()
    thread = threading.Thread(target=hear)
    thread.start()
    yield server.getsockname()[1], heard
    over.set()
    thread.join()
    server.close()


def xml(doctype: str, title: str = "&x;") -> str:
    topic = f"<topic><num>1</num><title>{title}</title></topic>"
    return f"<?xml version='1.0'?>{doctype}<topics>{topic}</topics>"


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
DOCTYPES = {
    "a word of its own": '<!DOCTYPE t [<!ENTITY x "bread">]>',
    "a file": '<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
    "an address": '<!DOCTYPE t [<!ENTITY x SYSTEM "http://127.0.0.1:{port}/">]>',
    "a parameter": '<!DOCTYPE t [<!ENTITY % p SYSTEM "http://127.0.0.1:{port}/p">%p;]>',
    "a subset elsewhere": '<!DOCTYPE t SYSTEM "http://127.0.0.1:{port}/t.dtd">',
    "laughs": f'<!DOCTYPE t [<!ENTITY l0 "ha">{LAUGHS}<!ENTITY x "&l9;">]>',
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("kind", DOCTYPES)
def test_t18_no_xml_reaches_beyond_its_file_or_grows(ada, listener, kind, encoding):
    port, heard = listener
    text = xml(DOCTYPES[kind].replace("{port}", str(port)))
    began = time.process_time()
    collection = bring(ada, topics=text.encode(encoding))
    assert collection.state in ("refused", "preview", "failed")
    assert not collection.topics.exists() and "root:" not in str(collection.problems)
    # Refused for what it is, not because an entity that nobody read left a title empty.
    codes = {problem["code"] for problem in collection.problems}
    assert codes <= {"E_XML", "E_ENCODING", "E_FORMAT"}
    assert encoding == "utf-16" or codes == {"E_XML"}
    assert heard == [] and time.process_time() - began < 5


DEEP = {
    "topics": "<topics>" + "<a>" * 100_000,
    "documents": "[" * 100_000 + "\n",
    "judgments": '{"a":' * 100_000,
}


@pytest.mark.parametrize("part", DEEP)
def test_t18_what_is_nested_without_end_is_refused_in_words(ada, part):
    files = {"topics": TOPICS, "documents": DOCUMENTS, part: DEEP[part]}
    collection = bring(ada, **files)
    assert collection.state in ("refused", "preview")
    assert not collection.topics.exists() and "Recursion" not in str(collection.problems)


@pytest.mark.parametrize("field", ["facts", "formats"])
def test_t18_deep_json_in_a_field_is_the_senders_fault(track, ada, field):
    program = Program(ada)
    deep = "[" * 50_000
    answers = [
        program.send_run(RUN, facts=deep),
        program.send(
            "/api/v1/collections", slug="a", name="A", topics=upload("t", TOPICS), formats=deep
        ),
        program.client.post("/api/v1/tracks", deep, "application/json", headers=program.headers),
        program.client.post(
            "/api/v1/tracks", '{"a":' * 50_000, "application/json", headers=program.headers
        ),
    ]
    assert {answer.status_code for answer in answers} <= {400, 413, 422}


BUSY = {
    "one line": "1 Q0 d1 1 1.0 a" + "x" * 30 * MIB,
    "blanks": " " * 20 * MIB + "\n",
    "no end of line": "1 Q0 d1 1 1.0 a " * 500_000,
    "digits": f"1 Q0 d1 1 {'9' * 4000} a\n" * 500,
    "many digits": f"1 Q0 d1 {'9' * 4000} 1 a\n" * 500,
    "backtracking": "1 Q0 d1 1 " + "1" * 2000 + "e" * 2000 + " a\n",
    "every line wrong": "x\n" * 1_000_000,
    "exponents": "1 Q0 d1 1 1e999999999 a\n",
}


@pytest.mark.parametrize("kind", BUSY)
def test_t19_no_line_keeps_the_reader_busy(track, ben, kind):
    began = time.process_time()
    run = make_run(track, ben, BUSY[kind])
    assert run.state == "refused" and time.process_time() - began < 10
    assert len(json.dumps(run.problems)) < 100_000


def test_t19_a_line_is_refused_by_its_length_alone(track, ben, settings):
    settings.RUN_LINE_LIMIT = 1000
    # A comment in whatever pieces it is read.
    run = make_run(track, ben, RUN + "#" * 1001 + "\n")
    assert (run.state, run.problem_totals) == ("refused", {"E_LINE_LONG": 1})
    assert make_run(track, ben, RUN + "#" * 1000 + "\n").state == "scored"


def test_t20_a_file_above_the_limit_is_not_taken(track, ben, settings):
    settings.RUN_UPLOAD_LIMIT = 100
    with pytest.raises(NotAccepted, match="the limit is 100"):
        submissions.accept_run(track, ben, upload("run.txt", RUN))
    assert not Run.objects.exists() and stored(site.MEDIA_ROOT, "runs") == []


def stored(root: str, folder: str) -> list[Path]:
    return [path for path in (Path(root) / folder).rglob("*") if path.is_file()]


def test_t20_a_body_that_is_announced_too_long_is_refused_unread(track, ben, settings):
    settings.RUN_UPLOAD_LIMIT = 100
    program = Program(ben)
    answer = program.client.post(
        "/api/v1/tracks/bread/runs",
        b"",
        "multipart/form-data; boundary=x",
        CONTENT_LENGTH="999999999999",
        headers=program.headers,
    )
    assert answer.status_code == 413


def test_t20_refused_files_of_a_day_are_counted(track, ben):
    for n in range(track.attempts_per_day):
        make_run(track, ben, f"wrong {n}\n")
    with pytest.raises(NotAccepted, match="were rejected today"):
        submissions.accept_run(track, ben, upload("run.txt", RUN))


@pytest.mark.parametrize(("left", "status"), [(2**28, 507), (2**29, 201)], ids=["full", "room"])
def test_t20_uploads_leave_room_on_the_disk(track, ben, monkeypatch, left, status):
    disk = SimpleNamespace(total=2**40, free=left)
    monkeypatch.setattr("leaderboard.infrastructure.free_space.shutil.disk_usage", lambda _: disk)
    answer = Program(ben).send_run()
    assert answer.status_code == status and Run.objects.count() == (status == 201)


@pytest.fixture
def small_disk(settings, tmp_path, monkeypatch) -> Path:
    """A disk of 16 MiB with what this process has open on it."""
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path

    def usage(folder: Path) -> SimpleNamespace:
        return SimpleNamespace(total=16 * MIB, free=16 * MIB - taken(folder))

    monkeypatch.setattr("leaderboard.infrastructure.free_space.shutil.disk_usage", usage)
    return tmp_path


def taken(folder: Path) -> int:
    """The bytes of the open files of a folder, also of those that have no name any more."""
    handles = list(Path("/proc/self/fd").iterdir())
    found = [each for each in handles if link_of(each).startswith(f"{folder}/")]
    return sum(512 * os.stat(int(each.name)).st_blocks for each in found)


def link_of(handle: Path) -> str:
    try:
        return os.readlink(handle)
    except FileNotFoundError:
        return ""


@pytest.mark.parametrize("answer", [507, 201], ids=["full", "room"])
def test_t20_a_disk_that_fills_while_a_body_comes_refuses_it(track, ben, monkeypatch, answer):
    """Announced, it fitted; then somebody else was quicker."""
    left = iter([2**29, 2**29 if answer == 201 else 2**27])
    monkeypatch.setattr(
        "leaderboard.infrastructure.free_space.shutil.disk_usage",
        lambda _: SimpleNamespace(total=2**40, free=next(left)),
    )
    assert Program(ben).send_run().status_code == answer
    assert Run.objects.count() == (answer == 201)
    assert not list(Path(site.FILE_UPLOAD_TEMP_DIR).iterdir())


def announced(mebibytes: int) -> FreeSpaceGuard:
    awaited = FreeSpaceGuard()
    awaited.handle_raw_input(None, {}, mebibytes * MIB)
    return awaited


def test_t20_who_announces_much_and_sends_nothing_takes_no_room(small_disk):
    claims = [announced(15) for _ in range(20)]
    assert taken(small_disk) == 0
    claims[0].receive_data_chunk(bytes(MIB), 0)
    assert taken(small_disk) == STEP - MIB


def test_t20_room_is_given_back_by_the_mebibyte(small_disk):
    """Not with each piece: the disk may take a millisecond for that."""
    awaited = announced(12)
    rooms = []
    for _ in range(64):
        awaited.receive_data_chunk(bytes(MIB // 16), 0)
        rooms.append(taken(small_disk))
    assert rooms[15::16] == [3 * MIB, 2 * MIB, MIB, 0]
    assert len(set(rooms)) == 5


def test_t20_uploads_at_the_same_moment_leave_room_together(small_disk):
    """Each would fit alone; the one that finds no room gives back what it took."""
    first, second = announced(10), announced(10)
    with open(small_disk / "1", "wb", buffering=0) as one, TemporaryFile(dir=small_disk) as other:
        with pytest.raises(OSError, match="would fill the disk"):
            for _ in range(10):
                one.write(first.receive_data_chunk(bytes(MIB), 0))
                other.write(second.receive_data_chunk(bytes(MIB), 0))
                other.flush()
                assert taken(small_disk) < 16 * MIB
        second.upload_interrupted()
        other.truncate(0)
        while first.awaited:
            one.write(first.receive_data_chunk(bytes(MIB), 0))
    assert (small_disk / "1").stat().st_size == 10 * MIB


def test_t20_bytes_that_have_come_take_their_room_once(small_disk):
    awaited = announced(12)
    with open(small_disk / "upload", "wb", buffering=0) as file:
        for piece in range(12):
            file.write(awaited.receive_data_chunk(bytes(MIB), piece * MIB))
            assert taken(small_disk) <= (piece + 1) * MIB + STEP
        assert taken(small_disk) == 12 * MIB


def test_t20_an_upload_that_breaks_off_gives_its_room_back(small_disk):
    broken = announced(10)
    broken.receive_data_chunk(bytes(MIB), 0)
    assert taken(small_disk) > 0
    broken.upload_interrupted()
    assert taken(small_disk) == 0


def test_t19_blank_lines_without_end_are_refused_by_their_number(track, ben, settings):
    settings.RUN_LINES_LIMIT = 1000
    run = make_run(track, ben, gzip.compress(RUN.encode() + b"\n" * 1000))
    assert run.state == "refused" and run.problem_totals["E_SIZE"] == 1
    assert make_run(track, ben, gzip.compress(RUN.encode() + b"\n" * 900)).state == "scored"
