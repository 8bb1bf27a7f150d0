"""T5 where it runs: what lies in Redis and in the logs of processes after a whole life."""

from __future__ import annotations

import socket

import pytest

from tests.builders import DOCUMENTS, QRELS, RUN, TOPICS, upload
from tests.services.machines import Redis, ServerSite, until

pytestmark = [pytest.mark.services, pytest.mark.xdist_group("services")]

JUDGED = "canary-judged-docno"
WORD = "canaryindocument"


def everything_in(redis: Redis) -> bytes:
    """Every key and every value, as Redis dumps them."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(str(redis.socket))
        line.settimeout(60)
        line.sendall(DUMP_ALL.encode())
        said = b""
        while not said.endswith(b"-end-\r\n"):
            said += line.recv(65536)
        return said


SCRIPT = (
    "local all = '' for _, key in ipairs(redis.call('keys', '*')) do "
    "local kind = redis.call('type', key).ok all = all .. key .. ' ' "
    "if kind == 'string' then all = all .. redis.call('get', key) "
    "elseif kind == 'list' then for _, each in ipairs(redis.call('lrange', key, 0, -1)) do "
    "all = all .. each end elseif kind == 'hash' then "
    "for _, each in ipairs(redis.call('hgetall', key)) do all = all .. each end end end "
    "return all .. '-end-'"
)
DUMP_ALL = f"*3\r\n$4\r\nEVAL\r\n${len(SCRIPT)}\r\n{SCRIPT}\r\n$1\r\n0\r\n"


def test_t05_redis_and_logs_hold_no_canary(server_site: ServerSite) -> None:
    site = server_site
    token = site.manage("create_token", "canary", "--organiser")
    documents = DOCUMENTS.replace("Loaf", WORD) + f'{{"_id": "{JUDGED}", "text": "{WORD}"}}\n'
    texts = {
        "topics": TOPICS,
        "documents": documents,
        "judgments": QRELS.replace("1 0 d1 2", f"1 0 {JUDGED} 2"),
    }
    files = {name: upload(name, text) for name, text in texts.items()}
    site.ask("/collections", token, slug="canary", name="Canary", **files)
    until(lambda: site.ask("/collections/canary", token)["state"] == "ready", "the collection")
    track = {"slug": "canary", "name": "Canary", "collection": "canary", "judgments": "v1"}
    measures = {"measures": ["AP"], "primary_measure": "AP", "disclosure": "blind"}
    site.ask("/tracks", token, body={**track, **measures})
    for text in (RUN.replace("d1 ", f"{JUDGED} "), RUN.replace("9.0", "nan")):
        run = site.ask("/tracks/canary/runs", token, file=upload("run", text))["id"]
        until(lambda run=run: site.ask(f"/runs/{run}", token)["done"], "the run is done")
    kept = everything_in(site.redis)
    logs = "".join(path.read_text() for path in site.home.glob("*.log")).encode()
    assert b"rankfield" in kept or b"_kombu" in kept
    assert b'"job"' in logs and b'"status": 201' in logs
    for canary in (JUDGED, WORD, token, token[8:]):
        assert canary.encode() not in kept + logs, canary
