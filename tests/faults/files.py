"""What befalls files: no room, cut short, changed, gone."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import Request

from tests.faults.catalogue import fault
from tests.faults.stage import Scene, Sent, run_file
from tests.services.machines import until

CLAIMS, CLAIM = 6, 220 * 2**20


@fault("F10")
def disk_full_at_upload_and_in_scoring(scene: Scene) -> Iterator[None]:
    """A run waits while there is no room for its rankings; uploads are told so."""
    site = scene.site
    run = scene.send("large")
    pids = site.every_process()
    site.disk.fill(pids)
    try:
        answers = [scene.post(scene.another(size)) for size in ("small", "large")]
        time.sleep(3)
        state = scene.run(run)["state"] if site.name == "servers" else ""
    finally:
        site.disk.free(pids)
    after = scene.send()
    until(lambda: scene.run(after)["done"], "the next is scored")
    # What met the full disk waits up to half a minute.
    until(lambda: scene.run(run)["done"], "what had to wait is scored", 60)
    yield
    told = [answer for answer in answers if answer.status != 201]
    assert told, "a run of five megabytes found no room"
    for answer in told:
        assert answer.status in (503, 507), answer
        assert answer.retry_after, "when to try again"
    assert state != "failed", "it waits and has not failed"


@fault("F10", "servers")
def disk_of_the_database_full(scene: Scene) -> Iterator[None]:
    site = scene.site
    run = scene.send("large")
    site.database_disk.fill([])
    answers = [scene.post(scene.another("small")) for _ in range(40)]
    site.database_disk.free([])
    site.mend()
    scene.send()
    until(lambda: scene.run(run)["done"], "what had to wait is scored", 60)
    yield
    statuses = {answer.status for answer in answers}
    assert statuses <= {201, 503, 507}, f"senders were told {sorted(statuses)}"


@fault("F10", often="servers")
def disk_claimed_by_who_sends_little(scene: Scene) -> Iterator[None]:
    """Each announces more than half of what is free, and keeps its connection."""
    with ExitStack() as claims:
        request = request_of(scene, scene.another("small"))
        for _ in range(CLAIMS):
            line = begun_upload(scene, request, len(request.data) - 100, announced=CLAIM)
            claims.enter_context(line)
        answers = [scene.post(scene.another(size)) for size in ("small", "large")]
    yield
    assert [answer.status for answer in answers] == [201, 201], answers


@fault("F11")
def web_killed_in_the_middle_of_an_upload(scene: Scene) -> Iterator[None]:
    sent = scene.another("large")
    with half_sent(scene, sent) as line:
        scene.site.kill_web()
        scene.site.mend()
        # A proxy may say that nobody answers.
        assert line.recv(12)[9:10] != b"2", "the sender hears nothing good"
    assert scene.send_until_taken(sent)[-1].status == 201, "nothing was taken before"
    yield


def half_sent(scene: Scene, sent: Sent) -> socket.socket:
    """A connection on which half of a run has arrived."""
    request = request_of(scene, sent)
    half = len(request.data) // 2
    return begun_upload(scene, request, half, announced=len(request.data))


def request_of(scene: Scene, sent: Sent) -> Request:
    path, token = f"/tracks/{scene.slug}/runs", scene.stage.ben.token
    return scene.site.request(path, token, file=attached(sent))


def begun_upload(scene: Scene, request: Request, size: int, announced: int) -> socket.socket:
    """A connection on which so many bytes of a body have come, of those that were announced."""
    before = arrived(scene)
    where = urlsplit(scene.site.url)
    line = socket.create_connection((where.hostname, where.port or 443), timeout=30)
    if where.scheme == "https":
        line = ssl.create_default_context().wrap_socket(line, server_hostname=where.hostname)
    head = [
        f"POST {request.selector} HTTP/1.1",
        f"Host: {where.netloc}",
        f"Content-Length: {announced}",
        *(f"{name}: {value}" for name, value in request.header_items()),
    ]
    line.sendall("\r\n".join([*head, "", ""]).encode())
    line.sendall(request.data[:size])
    until(lambda: arrived(scene) - before > size / 2, "most of it has arrived")
    return line


def arrived(scene: Scene) -> int:
    """The bytes of uploads that are not whole yet."""
    return sum(path.stat().st_size for path in (scene.site.home / "uploads").iterdir())


def attached(sent: Sent):
    from django.core.files.uploadedfile import SimpleUploadedFile

    return SimpleUploadedFile(sent.file, sent.bytes)


@fault("F22", often="embedded")
def stored_file_changed_or_gone(scene: Scene) -> Iterator[None]:
    """While the runs wait for a worker."""
    scene.site.pause_workers()
    try:
        other, gone = (scene.send(ends="failed") for _ in range(2))
        stored_file(scene, other).write_bytes(run_file("forged", "small"))
        stored_file(scene, gone).unlink()
    finally:
        scene.site.continue_workers()
    scene.send()
    yield
    for run in (other, gone):
        reason = scene.run(run)["reason"]
        assert "missing or damaged" in reason, reason
        assert scene.job(run).attempts == 1, "the file is not going to be better"


def stored_file(scene: Scene, run: str) -> Path:
    """That of a run, which is going to be damaged."""
    [(name,)] = scene.site.rows(f"select file from leaderboard_run where id = '{run}'")
    scene.stage.damaged.add(name)
    return scene.site.home / "files" / name
