"""What the deployment files say is what the program takes."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml
from django.conf import settings
from django.core.management import load_command_class

from leaderboard.environment import text

ROOT = Path(__file__).parent.parent
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES = COMPOSE["services"]
READERS = {"choice", "text", "switch", "number", "words", "secret", "networks", "pairs"}


def variables() -> set[str]:
    """Every name that the settings read from the environment."""
    tree = ast.parse((ROOT / "leaderboard" / "settings.py").read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    readings = [call for call in calls if getattr(call.func, "id", "") in READERS]
    return {call.args[0].value for call in readings}


def parses(words: list[str]) -> bool:
    """Whether `python manage.py NAME ...` takes these words; argparse leaves where not."""
    assert words[:2] == ["python", "manage.py"]
    command = load_command_class("leaderboard", words[2])
    return bool(command.create_parser("manage.py", words[2]).parse_args(words[3:]))


def test_five_services_and_no_more() -> None:
    assert sorted(SERVICES) == ["edge", "postgres", "redis", "web", "worker"]


def test_only_the_edge_is_published_and_only_on_this_host() -> None:
    published = {name: each["ports"] for name, each in SERVICES.items() if "ports" in each}
    assert list(published) == ["edge"]
    assert all(port.startswith("${PUBLISH_ON:-127.0.0.1}:") for port in published["edge"])


@pytest.mark.parametrize("service", sorted(SERVICES))
def test_a_service_has_no_more_rights_than_it_needs(service: str) -> None:
    said = SERVICES[service]
    assert said["cap_drop"] == ["ALL"] and said["read_only"] is True
    assert said["security_opt"] == ["no-new-privileges:true"]
    assert set(said.get("cap_add", [])) == (CHANGES_USER if service == "postgres" else set())


CHANGES_USER = {"CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"}


@pytest.mark.parametrize("service", sorted(SERVICES))
def test_a_service_is_asked_whether_it_is_well(service: str) -> None:
    assert SERVICES[service]["healthcheck"]["test"][0] in ("CMD", "CMD-SHELL")


def test_the_worker_is_asked_by_a_command_that_there_is() -> None:
    kind, *words = SERVICES["worker"]["healthcheck"]["test"]
    assert kind == "CMD" and parses(words)


def test_redis_has_a_password_that_web_and_worker_know() -> None:
    words = SERVICES["redis"]["command"]
    password = words[words.index("--requirepass") + 1]
    assert password.startswith("${REDIS_PASSWORD:?")
    assert f":{password}@" in SERVICES["web"]["environment"]["REDIS_URL"]


def test_every_setting_can_be_given_to_the_services() -> None:
    """But the one for developers, which is on no server."""
    given = set(SERVICES["web"]["environment"])
    assert given - {"TMPDIR"} == variables() - {"DEBUG"}


def test_large_files_of_the_moment_are_not_in_memory() -> None:
    given = SERVICES["web"]["environment"]
    assert given["TMPDIR"] == given["RANKFIELD_HOME"] + "/" + settings.FILE_UPLOAD_TEMP_DIR.name


def test_a_setting_that_is_given_empty_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOG_LEVEL", "")
    assert text("LOG_LEVEL", "INFO") == "INFO"


def test_the_image_holds_no_tools_of_tests() -> None:
    [name] = re.findall(r"-r (\S+)", (ROOT / "Dockerfile").read_text())
    installed = set(re.findall(r"^([\w-]+)==", (ROOT / name).read_text(), re.M))
    assert {"django", "gunicorn", "boto3"} <= installed
    assert not installed & {"pytest", "pytest-django", "hypothesis", "pyyaml", "moto"}


def test_a_newcomer_installs_what_the_tests_need() -> None:
    installed = re.findall(r"^([\w-]+)==", (ROOT / "requirements.txt").read_text(), re.M)
    assert {"pytest", "pytest-django", "pytest-xdist", "hypothesis", "pyyaml"} <= set(installed)


@pytest.mark.parametrize("service", ["web", "worker"])
def test_a_service_runs_a_command_that_there_is(service: str) -> None:
    assert parses(SERVICES[service]["command"])


def test_the_image_alone_runs_a_command_that_there_is() -> None:
    [words] = re.findall(r"^CMD (\[.+\])$", (ROOT / "Dockerfile").read_text(), re.M)
    assert parses(ast.literal_eval(words))


def test_web_and_worker_know_the_same_settings() -> None:
    assert SERVICES["web"]["environment"] == SERVICES["worker"]["environment"]
    assert SERVICES["web"]["volumes"] == SERVICES["worker"]["volumes"]


@pytest.mark.parametrize(
    ("name", "service"), [("DATABASE_URL", "postgres"), ("REDIS_URL", "redis")]
)
def test_an_address_names_its_service(name: str, service: str) -> None:
    url = re.sub(r"\$\{.+?\}", "word", SERVICES["web"]["environment"][name])
    assert urlsplit(url).hostname == service


def test_the_database_is_the_one_that_is_made() -> None:
    url = urlsplit(re.sub(r"\$\{.+?\}", "word", SERVICES["web"]["environment"]["DATABASE_URL"]))
    made = SERVICES["postgres"]["environment"]
    assert (url.username, url.path) == (made["POSTGRES_USER"], "/" + made["POSTGRES_DB"])


def test_what_is_kept_lies_in_a_volume() -> None:
    places = [place for each in SERVICES.values() for place in each.get("volumes", [])]
    # What is read alone is a file of the operator.
    kept = [place.split(":") for place in places if not place.endswith(":ro")]
    assert {volume for volume, _ in kept} == set(COMPOSE["volumes"])
    assert SERVICES["web"]["environment"]["RANKFIELD_HOME"] in [path for _, path in kept]


def test_the_image_holds_what_the_program_is_made_of() -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    taken = {line.removeprefix("!") for line in lines if line.startswith("!")}
    assert {"evaluation", "leaderboard", "rankfield", "static", "templates", "manage.py"} <= taken
    assert all((ROOT / name).exists() for name in taken)


def test_every_setting_is_written_down() -> None:
    rows = re.findall(r"^\| `([A-Z0-9_]+)` \|", (ROOT / "docs" / "operating.md").read_text(), re.M)
    assert sorted(rows) == sorted(variables())


def test_the_image_can_dump_the_database() -> None:
    [client] = re.findall(r"postgresql-client-(\d+)", (ROOT / "Dockerfile").read_text())
    assert SERVICES["postgres"]["image"] == f"postgres:{client}"
