"""The commands of docs/operating.md work, in the order in which the page has them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest
import yaml
from django.core.management import load_command_class

from tests.builders import DOCUMENTS, QRELS, RUN, TOPICS, upload
from tests.services.machines import ROOT, Postgres, Redis, Site, folder, free_port, until
from tests.services.terminals import answer_twice

PAGE = (ROOT / "docs" / "operating.md").read_text()
BLOCKS = re.findall(r"^( *)```(\w*)\n(.+?)^ *```$", PAGE, re.M | re.S)
COMMANDS = [block.replace(f"\n{indent}", "\n") for indent, word, block in BLOCKS if word == "sh"]
# The blocks that no test runs, by how they begin, and why.
ELSEWHERE = {
    "docker compose up": "needs a registry of images; tests/test_compose.py reads the file",
    ".venv/bin/python manage.py setup": "changes the host; test_installation.py does it in another",
    "image: registry": "are values of the chart; tests/test_chart.py renders it with Helm",
    "kubectl create secret": "needs a cluster; tests/test_chart.py checks what it would be given",
    "export S3_BUCKET": "needs a bucket; tests/services/test_buckets.py has one",
    "export OIDC_ISSUER": "needs a provider; tests/browser/test_single_sign_on.py has one",
    "export PROXY_USER_HEADER": "needs a proxy; tests/services/test_proxy_sign_in.py has one",
    "scrape_configs": "is of Prometheus; tests/pages/test_metrics.py reads what it reads",
    "docker compose exec web python": "the same, on a site that runs in containers",
    "export NEW_DATABASE_URL": "needs both; tests/archives/test_moving.py has them",
}
# Commands that stay, and what shows that they are ready.
SERVERS = ("serve", "web", "work")
INLINE = re.findall(r"`(manage\.py [a-z][^`]*)`", PAGE)
STEPS = ["Decide", "Install", "Secure", "Watch", "Back up", "Upgrade", "Move", "Mend"]
PASSWORD = "sourdough, rye and oven"
MAKE_BENCHMARK = """
from leaderboard.actions.benchmark_setup import make_benchmark
from leaderboard.models import Benchmark, Track, User
tracks = list(Track.objects.filter(slug__in=("plums", "pears")))
make_benchmark(User.objects.get(username="ada"), Benchmark(slug="markets", name="Markets"), tracks)
"""


def words_of(command: str) -> list[str]:
    """What follows `manage.py`, without the program before it."""
    return shlex.split(command)[shlex.split(command).index("manage.py") + 1 :]


def test_a_block_is_run_or_has_a_reason():
    others = [block for _, word, block in BLOCKS if word != "sh"]
    assert [[name for name in ELSEWHERE if other.startswith(name)] for other in others] == [
        [name] for name in ELSEWHERE
    ]


def test_each_step_of_the_path_is_done_by_tests_that_there_are():
    rows = [line.split("|")[1:4] for line in PAGE.splitlines() if re.match(r"\| [A-Z]", line)]
    steps = {step.strip(): re.findall(r"`(tests/[^`]+)`", done) for step, _, done in rows[:8]}
    assert [*steps] == STEPS
    named = [ROOT / path for paths in steps.values() for path in paths]
    assert named and all(path.exists() for path in named)


@pytest.mark.parametrize("command", INLINE)
def test_a_command_in_a_sentence_exists_with_its_options(command: str):
    name, *words = words_of(command)
    if name in ("check", "migrate", "createsuperuser", "changepassword"):
        return
    known = load_command_class("leaderboard", name).create_parser("manage.py", name).format_help()
    assert not [word for word in words if word.startswith("--") and word not in known]


def test_compose_reads_the_variables_that_the_page_writes():
    [block] = [block for block in COMMANDS if block.startswith("cat > .env")]
    written = set(re.findall(r"^([A-Z_]+)=", block, re.M))
    read = (ROOT / "docker-compose.yml").read_text()
    assert written and all(f"${{{name}:" in read for name in written)
    needed = set(re.findall(r"\$\{(\w+):\?", read))
    assert needed <= written and "web" in yaml.safe_load(read)["services"]


@dataclass
class Operator:
    """Who types the commands of the page into one terminal, on hosts of their own."""

    checkout: Path
    backups: Path
    hosts: Callable[[], Site]
    site: Site
    other: Site
    port: int = field(default_factory=free_port)
    running: list[subprocess.Popen[str]] = field(default_factory=list)

    def type(self, command: str) -> str:
        """Do what comes before a command, then run it as it is written, on ports that are free."""
        for words, prepare in PREPARED.items():
            if words in command:
                prepare(self)
        command = command.replace("8000", str(self.port)).replace("/backup", str(self.backups))
        if re.search(rf"manage\.py ({'|'.join(SERVERS)})\b", command):
            self.serve(command)
            return ""
        if re.search(r"manage\.py (createsuperuser|changepassword)\b", command):
            return self.answer(command)
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", command], **self.place(), capture_output=True
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    def place(self) -> dict[str, object]:
        return {"cwd": self.checkout, "env": self.site.surroundings(), "text": True}

    def serve(self, commands: str) -> None:
        """Start each of these commands in a terminal of its own, and wait until all are ready."""
        self.stop()
        for command in commands.splitlines():
            with open(self.site.home / "terminal.log", "a") as log:
                words = {"stdout": log, "stderr": log, "start_new_session": True}
                self.running.append(subprocess.Popen(shlex.split(command), **self.place(), **words))
        self.site.url = f"http://127.0.0.1:{self.port}"
        until(self.site.answers, "web answers")
        until(lambda: "worker alive" in self.doctor(), "a worker is alive")
        assert all(process.poll() is None for process in self.running), self.site.said("terminal")

    def doctor(self) -> str:
        words = [".venv/bin/python", "manage.py", "doctor"]
        return subprocess.run(words, **self.place(), capture_output=True).stdout

    def answer(self, command: str) -> str:
        """Run a command that asks at a terminal for a password, twice."""
        words = ["bash", "-c", f"cd {self.checkout} && {command}"]
        return answer_twice(words, PASSWORD, self.site.surroundings())

    def stop(self) -> None:
        for process in self.running:
            process.terminate()
        for process in self.running:
            process.wait(60)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        self.running.clear()

    def organise(self) -> None:
        """Ada adds collections, tracks with a run each, and a benchmark, before there are teams."""
        token = self.site.manage("create_token", "ada", "--organiser")
        for slug in ("harbours", "plums", "pears"):
            parts = {"topics": TOPICS, "documents": DOCUMENTS, "judgments": QRELS}
            files = {name: upload(name, text) for name, text in parts.items()}
            self.site.ask("/collections", token, slug=slug, name=slug.title(), **files)
            until(lambda slug=slug: self.state_of(f"/collections/{slug}", token) == "ready", slug)
            track = {"slug": slug, "name": slug.title(), "collection": slug, "judgments": "v1"}
            rules = {"measures": ["AP"], "primary_measure": "AP", "disclosure": "open"}
            self.site.ask("/tracks", token, body={**track, **rules})
            run = self.site.ask(f"/tracks/{slug}/runs", token, file=upload("run", RUN))["id"]
            until(lambda run=run: self.state_of(f"/runs/{run}", token) == "scored", "it is scored")
        self.site.manage("shell", "-c", MAKE_BENCHMARK)

    def state_of(self, path: str, token: str) -> str:
        return self.site.ask(path, token)["state"]

    def move(self) -> None:
        """Stop everything, and go on with an empty folder and an empty database."""
        self.stop()
        self.site = self.hosts()

    def change_site(self) -> None:
        """From the site that has harbours and markets to one where Ada has an account, or back."""
        self.site, self.other = self.other, self.site


# What an operator has done before these words.
PREPARED = {
    "create_teams harbours": Operator.organise,
    "manage.py restore": Operator.move,
    "import_benchmark harbours.zip": Operator.change_site,
    "export_benchmark markets": Operator.change_site,
    "import_benchmark markets.zip": Operator.change_site,
}


@pytest.fixture
def hosts(postgres: Postgres, redis: Redis) -> Iterator[Callable[[], Site]]:
    """Make hosts, each with an empty folder and an empty database."""
    numbers = count()
    with ExitStack() as stack:

        def make() -> Site:
            environment = {
                "DATABASE_URL": postgres.with_database(f"operated{next(numbers)}"),
                "REDIS_URL": redis.url,
                "METRICS_TOKEN": "a-token-of-the-tests",
            }
            return Site(stack.enter_context(folder()), environment=environment)

        yield make


@pytest.fixture
def operator(hosts: Callable[[], Site], tmp_path: Path) -> Iterator[Operator]:
    """With a checkout: all of this one but its packages, its data and what it built."""
    checkout, other = tmp_path / "rankfield", hosts()
    left = shutil.ignore_patterns(".*", "var", "build", "dist", "tests", "docs", "benchmarks")
    shutil.copytree(ROOT, checkout, ignore=left)
    other.manage("create_token", "ada", "--organiser")
    made = Operator(checkout, tmp_path / "backup", hosts, hosts(), other)
    yield made
    made.stop()


@pytest.mark.night
@pytest.mark.services
@pytest.mark.xdist_group("services")
def test_the_commands_of_the_page_work_in_their_order(operator: Operator):
    said = {command.strip(): operator.type(command) for command in COMMANDS}
    answers = dict(zip(map(first_words, said), said.values(), strict=True))
    assert len(answers["create_teams"].splitlines()) == 2
    # One that was stopped counts for half a minute.
    assert re.search(r"rankfield_workers_alive [1-9]", answers["doctor"])
    assert "Restored the backup of" in answers["restore"] and "BAD" not in answers["restore"]
    imports = [text for command, text in said.items() if "import_benchmark" in command]
    assert len(imports) == 2
    assert all("All scores match the archive exactly." in text for text in imports)
    assert answers["rescore"].count("1 run by v1") == 3


def first_words(block: str) -> str:
    """The command of manage.py that a block begins with, or its first line."""
    found = re.match(r"\S+ manage\.py (\w+)", block)
    return found[1] if found else block.splitlines()[0]
