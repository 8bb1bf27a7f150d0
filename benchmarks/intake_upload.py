"""Uploads stream: the web process takes 500 MB of a run in flat memory.

python -m benchmarks.intake_upload [--mib 1 --mib 500]

A real gunicorn, in a folder of its own and without a worker: what is measured is the way of the
bytes from the socket into the storage.  Memory is the largest of its processes, asked 50 times a
second while the body arrives.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from threading import Event, Thread

from benchmarks.inputs import CACHE, ROOT
from benchmarks.processes import MIB
from benchmarks.tables import heading, machine, mebibytes, seconds, table

HOME = CACHE / "intake_upload"
PORT = 8197
TRACK = "bread"
LINE = b"1 Q0 a-document-with-a-long-name 1 12.345678 streamed\n"
BOUNDARY = b"--streamed"
SAMPLE = ROOT / "leaderboard" / "sample"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mib", type=int, action="append", help="sizes to send (1, 50, 500)")
    sizes = parser.parse_args().mib or [1, 50, 500]
    os.environ.update(RANKFIELD_HOME=str(HOME), DATABASE_URL="", REDIS_URL="", LOG_LEVEL="ERROR")
    shutil.rmtree(HOME, ignore_errors=True)
    heading(f"Uploads, {machine()}")
    token = a_track()
    web = subprocess.Popen(
        [sys.executable, "manage.py", "web", "--bind", f"127.0.0.1:{PORT}"],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        call(token, "POST", "/api/v1/tracks", track_of(TRACK))
        rows = [measured(web.pid, token, size) for size in sizes]
    finally:
        web.terminate()
        web.wait(30)
    table(("sent", "answer", "time", "memory before", "at its peak"), rows)
    shutil.rmtree(HOME)


def a_track() -> str:
    """The sample collection, whoever organises it, and the token of that user."""
    manage = [sys.executable, "manage.py"]
    token = subprocess.run(
        [*manage, "create_token", "ada", "--organiser"], cwd=ROOT, capture_output=True, check=True
    )
    files = ["--topics", SAMPLE / "topics.trec", "--documents", SAMPLE / "documents.jsonl"]
    judgments = ["--judgments", SAMPLE / "qrels.txt", "--version", "v1"]
    words = [*manage, "load_collection", "bread", *files, *judgments, "--owner", "ada", "--yes"]
    subprocess.run(words, cwd=ROOT, capture_output=True, check=True)
    return token.stdout.decode().strip().splitlines()[-1]


def track_of(slug: str) -> bytes:
    measures = {"measures": ["AP"], "primary_measure": "AP"}
    named = {"slug": slug, "name": slug, "collection": slug, "judgments": "v1"}
    return json.dumps(named | measures).encode()


def call(token: str, method: str, path: str, body: bytes) -> int:
    """A call to a server that may still be starting."""
    for _ in range(300):
        try:
            connection = HTTPConnection("127.0.0.1", PORT, timeout=600)
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            connection.request(method, path, body, headers)
            return connection.getresponse().status
        except ConnectionRefusedError:
            time.sleep(0.2)
    raise TimeoutError("gunicorn did not answer")


def measured(pid: int, token: str, size: int) -> tuple[str, ...]:
    before, ended = memory_of(pid), Event()
    seen = [before]

    def watch() -> None:
        while not ended.wait(0.02):
            seen.append(memory_of(pid))

    watching = Thread(target=watch)
    watching.start()
    began = time.perf_counter()
    status = send(token, size * MIB)
    took = time.perf_counter() - began
    ended.set()
    watching.join()
    return (f"{size} MiB", str(status), seconds(took), mebibytes(before), mebibytes(max(seen)))


def send(token: str, size: int) -> int:
    head = (
        b'--%b\r\nContent-Disposition: form-data; name="file"; filename="r.run"\r\n\r\n' % BOUNDARY
    )
    end = b"\r\n--%b--\r\n" % BOUNDARY
    connection = HTTPConnection("127.0.0.1", PORT, timeout=600)
    connection.request(
        "POST",
        f"/api/v1/tracks/{TRACK}/runs",
        pieces(head, size, end),
        {
            "Authorization": f"Bearer {token}",
            "Content-Type": f"multipart/form-data; boundary={BOUNDARY.decode()}",
            "Content-Length": str(len(head) + size + len(end)),
        },
    )
    return connection.getresponse().status


def pieces(head: bytes, size: int, end: bytes) -> Iterator[bytes]:
    """The body, never whole in memory here either."""
    block = LINE * (MIB // len(LINE) + 1)
    yield head
    for start in range(0, size, MIB):
        yield block[: min(MIB, size - start)]
    yield end


def memory_of(pid: int) -> int:
    """The largest resident set of a process and its children, in bytes."""
    return max(resident(each) for each in [pid, *children_of(pid)])


def children_of(pid: int) -> list[int]:
    words = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(word) for word in words]


def resident(pid: int) -> int:
    pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main()
