"""Web and worker on two hosts that share no disk: files lie in a bucket, reached over HTTP."""

from __future__ import annotations

import os
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest

from leaderboard.infrastructure.outages import StorageUnavailableError, find_outage
from tests.builders import RUN, upload
from tests.services.machines import Postgres, Redis, ServerSite, folder, until
from tests.services.scene import scored_run

pytestmark = [
    pytest.mark.services,
    pytest.mark.night,
    pytest.mark.xdist_group("services"),
]

KEYS_OF_STORE = {"access_key": "key", "secret_key": "word", "region_name": "us-east-1"}
KEYS = {"S3_ACCESS_KEY": "key", "S3_SECRET_KEY": "word", "S3_REGION": "us-east-1"}


class TwoHosts(ServerSite):
    """Each process of a worker has a folder that no other host sees."""

    elsewhere: Path

    def start(self, name: str, *words: str, **options: Any) -> subprocess.Popen[str]:
        here, self.home = self.home, self.elsewhere if name == "work" else self.home
        try:
            return super().start(name, *words, **options)
        finally:
            self.home = here


@dataclass
class Stores:
    """Moto's server, which speaks S3 over HTTP and forgets nothing while it is away."""

    port: int = 0
    server: Any = None

    def start(self) -> None:
        from moto.server import ThreadedMotoServer

        self.server = ThreadedMotoServer("127.0.0.1", self.port, verbose=False)
        self.server.start()
        _, self.port = self.server.get_host_and_port()

    @contextmanager
    def away(self) -> Iterator[None]:
        self.server.stop()
        try:
            yield
        finally:
            self.start()


@pytest.fixture(scope="module")
def stores() -> Iterator[Stores]:
    server = Stores()
    server.start()
    yield server
    server.server.stop()


@pytest.fixture(scope="module")
def bucket(stores: Stores) -> Any:
    names = {"aws_access_key_id": "key", "aws_secret_access_key": "word"}
    store = boto3.resource(
        "s3", endpoint_url=f"http://127.0.0.1:{stores.port}", region_name="us-east-1", **names
    )
    store.create_bucket(Bucket="rankfield")
    return store.Bucket("rankfield")


@pytest.fixture(scope="module")
def hosts(postgres: Postgres, redis: Redis, bucket: Any) -> Iterator[TwoHosts]:
    postgres.run("createdb", "-h", str(postgres.folder), "-U", "rankfield", "buckets")
    with folder() as home, folder() as elsewhere:
        site = TwoHosts(home, postgres, redis)
        site.elsewhere = elsewhere
        site.environment |= KEYS | {
            "DATABASE_URL": postgres.url.replace("/rankfield?", "/buckets?"),
            "SECRET_KEY": "5f0c1e7a9b3d48e2a6c4f1b0d7e9832c5f0c1e7a9b3d48e2a6c4f1b0d7e9832d",
            "S3_BUCKET": "rankfield",
            "S3_ENDPOINT": bucket.meta.client.meta.endpoint_url,
        }
        try:
            site.open(workers=1)
            yield site
        finally:
            site.close()


@pytest.fixture(scope="module")
def token(hosts: TwoHosts) -> str:
    return hosts.manage("create_token", "ada", "--organiser")


@pytest.fixture(scope="module")
def run(hosts: TwoHosts, token: str) -> str:
    """A run that came in by the web's host and was scored on the worker's."""
    return scored_run(hosts, token, "bread")


def test_a_run_goes_from_upload_to_board_over_a_bucket_alone(
    hosts: TwoHosts, bucket: Any, token: str, run: str
) -> None:
    [standing] = hosts.ask("/tracks/bread/leaderboard", token)["standings"]
    assert standing["run"] == run and standing["scores"]["AP"] == pytest.approx(25 / 36)
    assert "d7" in page(hosts, f"/runs/{run}/ranking/?number=3")
    assert "Loaf 6 of twelve" in page(hosts, "/collections/bread/document/?docno=d6")
    assert read(hosts, f"/runs/{run}/file", token) == RUN.encode()
    assert len(read(hosts, "/tracks/bread/leaderboard?format=csv", token).splitlines()) == 2

    for host in (hosts.home, hosts.elsewhere):
        assert not list((host / "files").rglob("*"))
    stored = {each.key.split("/")[0] for each in bucket.objects.all()}
    assert stored == {"runs", "collections"}


def page(hosts: TwoHosts, address: str) -> str:
    return urllib.request.urlopen(hosts.url + address).read().decode()


def read(hosts: TwoHosts, path: str, token: str) -> bytes:
    return urllib.request.urlopen(hosts.request(path, token)).read()


def test_the_doctor_finds_the_bucket_in_order(hosts: TwoHosts) -> None:
    said = hosts.manage("doctor", "--hash")
    assert "ok   storage   a stored file was read back" in said and "BAD" not in said


def test_a_backup_of_a_bucket_holds_its_files(hosts: TwoHosts, run: str) -> None:
    hosts.manage("backup", str(hosts.home / "backup"))
    kept = [path for path in (hosts.home / "backup" / "files").rglob("*") if path.is_file()]
    assert RUN.encode() in {path.read_bytes() for path in kept}


def test_runs_wait_while_the_store_is_away(
    hosts: TwoHosts, stores: Stores, token: str, run: str
) -> None:
    other, third = (upload("run", RUN.replace("9.0", score)) for score in ("9.5", "9.7"))
    hosts.pause_workers()
    sent = hosts.ask("/tracks/bread/runs", token, file=other)["id"]
    with stores.away():
        with pytest.raises(AssertionError, match=r"503 /tracks/bread/runs.*E_AWAY"):
            hosts.ask("/tracks/bread/runs", token, file=third)
        hosts.continue_workers()
        log = hosts.elsewhere / "work.log"
        until(lambda: "again in" in log.read_text(), "a worker has tried")
    until(lambda: hosts.ask(f"/runs/{sent}", token)["done"], "the run is done")
    assert hosts.ask(f"/runs/{sent}", token)["state"] == "scored"


@pytest.fixture
def store(bucket: Any, settings: Any, tmp_path: Path) -> Any:
    """The storage as the settings make it, on a host of its own."""
    from leaderboard.infrastructure.buckets import BucketStorage

    settings.RANKFIELD_HOME = tmp_path
    settings.S3_CACHE_BYTES = 3 * 1024 * 1024
    address = bucket.meta.client.meta.endpoint_url
    return BucketStorage(bucket_name="rankfield", endpoint_url=address, **KEYS_OF_STORE)


def test_copies_of_what_was_read_are_bounded(store: Any, tmp_path: Path) -> None:
    names = [store.save(f"copies/{n}", upload("x", os.urandom(1024 * 1024))) for n in range(6)]
    for name in names:
        with store.open(name) as file:
            assert len(file.read()) == 1024 * 1024
    copies = list((tmp_path / "cache" / "files").iterdir())
    assert 1 <= len(copies) <= 3


def test_a_copy_that_is_read_stays_whole_when_it_is_let_go(store: Any, tmp_path: Path) -> None:
    store.save("copies/open", upload("x", b"a" * 100_000))
    with store.open("copies/open") as file:
        for copy in (tmp_path / "cache" / "files").iterdir():
            copy.unlink()
        assert file.read() == b"a" * 100_000


def test_what_is_not_there_is_no_file(store: Any, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        store.open("copies/nothing")
    assert not list((tmp_path / "cache" / "files").iterdir())


def test_what_was_deleted_is_gone_here_too(store: Any) -> None:
    store.save("copies/gone", upload("x", b"a"))
    store.open("copies/gone").close()
    store.delete("copies/gone")
    with pytest.raises(FileNotFoundError):
        store.open("copies/gone")


def test_old_files_are_listed_by_their_folder(store: Any) -> None:
    store.save("strays/old", upload("x", b"a"))
    assert list(store.stored_before("strays", 4e9)) == ["strays/old"]
    assert list(store.stored_before("strays", 1e9)) == []


def test_a_store_that_does_not_answer_is_an_outage(store: Any, settings: Any) -> None:
    store.save("copies/before", upload("x", b"a"))
    away = type(store)(bucket_name="rankfield", endpoint_url="http://127.0.0.1:1", **KEYS_OF_STORE)
    for attempt in (
        lambda: away.save("copies/meanwhile", upload("x", b"a")),
        lambda: away.open("copies/before"),
        lambda: away.delete("copies/before"),
        lambda: away.exists("copies/before"),
        lambda: list(away.stored_before("copies", 4e9)),
    ):
        with pytest.raises(StorageUnavailableError) as told:
            attempt()
        assert find_outage(told.value).status == 503
