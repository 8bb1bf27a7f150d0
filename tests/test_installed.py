"""The wheel, installed outside the repository, scores alone and serves with its extra."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from leaderboard import settings
from tests.small_servers import collecting
from tests.test_house import ROOT

pytestmark = [pytest.mark.night, pytest.mark.xdist_group("installed")]

SMALL = [str(ROOT / "tests" / "data" / name) for name in ("small.qrels", "small.run")]


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel, for a user who has nothing else."""

    folder: Path

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        program, *arguments = words
        return subprocess.run(
            [self.folder / "bin" / program, *arguments],
            cwd=self.folder,
            env={"HOME": str(self.folder), "PATH": os.environ["PATH"], **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )

    def imports(self, name: str) -> bool:
        return self.run("python", "-c", f"import {name}").returncode == 0

    def add(self, wheel: Path, extra: str) -> None:
        """Install the wheel with an extra, beside what is here."""
        pins = self.folder.parent / "pins.txt"
        pip = [self.folder / "bin" / "python", "-m", "pip", "install", "-q", "-c", pins]
        subprocess.run([*pip, f"rankfield{extra} @ {wheel.as_uri()}"], check=True)

    def run_server(self, code: str, **environment: str) -> str:
        """Run lines of Python in the installed server; returns what they print."""
        done = self.run("rankfield", "shell", "-v", "0", "-c", code, **environment)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(words, cwd=ROOT, check=True)
    [built] = folder.glob("*.whl")
    return built


def install(wheel: Path, extra: str, folder: Path, unpinned: str = "") -> Installed:
    """Install the wheel with the versions that these tests run with, all but one."""
    pins = folder / "pins.txt"
    found = [each for each in importlib.metadata.distributions() if each.name != unpinned]
    pins.write_text("".join(f"{each.name}=={each.version}\n" for each in found))
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    installed = Installed(folder / "venv")
    installed.add(wheel, extra)
    return installed


@pytest.fixture(scope="module")
def client(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return install(wheel, "", tmp_path_factory.mktemp("client"))


def test_the_source_builds_the_same_wheel(wheel, tmp_path):
    words = [sys.executable, "-m", "hatchling", "build"]
    subprocess.run([*words, "-t", "sdist", "-d", str(tmp_path)], cwd=ROOT, check=True)
    [source] = tmp_path.glob("*.tar.gz")
    subprocess.run(["tar", "xzf", source.name], cwd=tmp_path, check=True)
    folder = tmp_path / source.name.removesuffix(".tar.gz")
    subprocess.run([*words, "-t", "wheel", "-d", str(tmp_path)], cwd=folder, check=True)
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()


def test_a_release_is_built_and_checked(tmp_path):
    pytest.importorskip("twine")
    checkout = tmp_path / "rankfield"
    shutil.copytree(ROOT, checkout, ignore=shutil.ignore_patterns(".*", "var", "build", "dist"))
    (checkout / ".venv").symlink_to(sys.prefix)
    words = ["make", "-o", ".venv/dev", "release"]
    made = subprocess.run(words, cwd=checkout, capture_output=True, text=True)
    assert (made.returncode, made.stdout.count("PASSED")) == (0, 2), made.stdout + made.stderr
    assert {path.suffix for path in (checkout / "dist").iterdir()} == {".whl", ".gz", ".json", ""}


def test_the_wheel_has_the_version_of_the_code(wheel):
    assert wheel.name.startswith(f"rankfield-{settings.VERSION}-")


def test_without_the_extra_it_scores_and_compares(client):
    assert not client.imports("django")
    scored = client.run("rankfield", "score", *SMALL, "-m", "AP")
    assert scored.stdout.split() == ["AP", "all", "0.6667"]
    assert client.run("rankfield", "compare", *SMALL, SMALL[1]).returncode == 0
    assert client.run("rankfield", "check", SMALL[1]).returncode == 0


def test_without_the_extra_its_client_is_there(client):
    assert client.imports("rankfield")
    assert client.run("rankfield", "submit", "--help").returncode == 0


def test_without_the_extra_the_server_says_how_to_install_it(client):
    refused = client.run("rankfield", "demo")
    assert refused.returncode == 2
    assert "pip install 'rankfield[server]'" in refused.stderr


def test_the_extras_of_the_client_bring_no_server(wheel, tmp_path):
    # cffconvert, which tests of the night use, wants an older one than the MCP.
    installed = install(wheel, "[mcp,keyring]", tmp_path, unpinned="jsonschema")
    assert not installed.imports("django")
    assert installed.imports("keyring")
    served = installed.run("rankfield", "mcp", "--url", "http://127.0.0.1:9")
    # Nothing is asked, since its standard input has ended.
    assert (served.returncode, served.stderr) == (0, "")


@pytest.fixture(scope="module")
def server(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return install(wheel, "[server]", tmp_path_factory.mktemp("server"))


def test_with_the_extra_it_serves_the_demo(server):
    shown = server.run("rankfield", "demo", "--once", "--port", "0")
    assert shown.stdout.count(" OK\n") == 11, shown.stdout + shown.stderr
    home = server.folder / ".local" / "share" / "rankfield"
    assert f"Everything is stored in {home}\n" in shown.stdout
    assert (home / "rankfield.sqlite3").exists()


@pytest.mark.parametrize("setting", ["S3_BUCKET", "NEW_S3_BUCKET"])
def test_a_bucket_without_its_extra_says_how_to_install_it(server, setting):
    refused = server.run("rankfield", "doctor", **{setting: "bread"})
    assert f"{setting} needs: pip install 'rankfield[s3]'" in refused.stderr


# The extras of what a server may have beside it, each with a package that it brings.
BESIDE = {
    "s3": "storages",
    "reports": "sentry_sdk",
    "traces": "opentelemetry.sdk",
    "datasets": "ir_datasets",
}
STORED = """
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
default_storage.save("loaf", ContentFile(b"rye"))
print(default_storage.open("loaf").read())
"""
LOGGED = "import logging; logging.getLogger('leaderboard.jobs').error('the oven is cold')"
TRACED = "from leaderboard.infrastructure.traces import trace\nwith trace('job bake'): pass"
PUBLISHED = """
from pathlib import Path
import ir_datasets
from leaderboard.collections.published import write_files
Path("loaves.tsv").write_text("1\\tsourdough bread\\n")
loaves = ir_datasets.create_dataset(queries_tsv="loaves.tsv")
ir_datasets.registry.register("bakery/loaves", loaves)
print(write_files("bakery/loaves", Path())["topics"].read_text())
"""


@pytest.fixture(scope="module")
def servers(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Installed]:
    """What installs an extra alone, looks at it, and adds the server."""

    def install_beside(extra: str) -> Installed:
        installed = install(wheel, f"[{extra}]", tmp_path_factory.mktemp(extra))
        assert [each for each in BESIDE if installed.imports(BESIDE[each])] == [extra]
        installed.add(wheel, f"[server,{extra}]")
        return installed

    return install_beside


def test_every_extra_is_installed_by_a_test():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {*extras["optional-dependencies"]} == {"server", "mcp", "keyring", *BESIDE}


def test_with_the_extra_s3_files_are_in_the_bucket(servers):
    moto, boto = pytest.importorskip("moto.server"), pytest.importorskip("boto3")
    store = moto.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    store.start()
    try:
        place = {"S3_ENDPOINT": "http://{}:{}".format(*store.get_host_and_port())}
        keys = {"aws_access_key_id": "key", "aws_secret_access_key": "word"}
        client = boto.client("s3", "us-east-1", endpoint_url=place["S3_ENDPOINT"], **keys)
        client.create_bucket(Bucket="bread")
        place |= {"S3_BUCKET": "bread", "S3_ACCESS_KEY": "key", "S3_SECRET_KEY": "word"}
        assert servers("s3").run_server(STORED, **place) == "b'rye'\n"
        assert client.get_object(Bucket="bread", Key="loaf")["Body"].read() == b"rye"
    finally:
        store.stop()


def test_with_the_extra_reports_errors_arrive(servers):
    with collecting() as (address, bodies):
        servers("reports").run_server(LOGGED, SENTRY_DSN=f"http://key@{address}/1")
    assert b"the oven is cold" in bodies["/api/1/envelope/"]


def test_with_the_extra_traces_spans_arrive(servers):
    with collecting() as (address, bodies):
        endpoint = f"http://{address}"
        servers("traces").run_server(TRACED, OTEL_EXPORTER_OTLP_ENDPOINT=endpoint)
    assert b"job bake" in bodies["/v1/traces"]


def test_with_the_extra_datasets_a_dataset_is_written_as_files(servers):
    assert '"sourdough bread"' in servers("datasets").run_server(PUBLISHED)
