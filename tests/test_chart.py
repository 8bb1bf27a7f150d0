"""The chart for Kubernetes runs what docker compose and systemd run, and no cluster refuses it."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml

from tests.test_compose import ROOT, SERVICES, parses, variables

CHART = ROOT / "deploy" / "helm"
VALUES = yaml.safe_load((CHART / "values.yaml").read_text())
LITTLE = {"image": "r.example.org/rankfield:1", "host": "bench.example.org"}
BUCKET = {**LITTLE, "settings": {"S3_BUCKET": "bench", "RUNS_PER_DAY": 5, "HTTPS": "0"}}
ALL = {**BUCKET, "autoscaling": {"enabled": True}, "backups": {"claim": "backups"}}
SHARED = {**LITTLE, "files": {"claim": "shared"}, "ingress": {"enabled": False}}
Found = Mapping[str, Any]


def commands_of(template: str) -> list[list[str]]:
    text = (CHART / "templates" / template).read_text()
    return [json.loads(words) for words in re.findall(r"command: (\[.+\])", text)]


def systemd_command(service: str) -> list[str]:
    [path] = (ROOT / "deploy" / "systemd").glob(f"rankfield-{service}*.service")
    text = path.read_text()
    [command] = re.findall(r"^ExecStart=(.+)$", text, re.M)
    return shlex.split(command)


def plain(words: list[str]) -> list[str]:
    """Return a command without its Python and without what differs from host to host."""
    return re.sub(r" --(bind|slots) \S+", "", " ".join(words[1:])).split()


@pytest.mark.parametrize("service", ["web", "worker"])
def test_the_three_ways_run_the_same_command(service):
    [command, *_] = commands_of(f"{service}.yaml")
    assert command == SERVICES[service]["command"]
    assert plain(command) == plain(systemd_command(service))


def test_the_worker_is_asked_as_in_docker_compose():
    [_, asked] = commands_of("worker.yaml")
    assert ["CMD", *asked] == SERVICES["worker"]["healthcheck"]["test"]


def test_the_migration_is_a_command_of_django():
    assert commands_of("migration.yaml") == [["python", "manage.py", "migrate", "--no-input"]]


@pytest.mark.parametrize("template", ["web.yaml", "worker.yaml"])
def test_every_command_takes_its_options(template):
    assert all(map(parses, commands_of(template)))


def test_the_chart_names_only_settings_that_there_are():
    text = "".join(path.read_text() for path in CHART.rglob("*.*"))
    named = set(re.findall(r"\b[A-Z][A-Z\d]+_[A-Z_]+\b", text))
    assert "METRICS_TOKEN" in named and named <= variables() | {"TMPDIR"}


@pytest.fixture(scope="module")
def rendered() -> dict[str, Found]:
    """What Helm says of four sets of values, from an environment of its own."""
    sets = {"all": ALL, "shared": SHARED, "nowhere": LITTLE, "nameless": {**BUCKET, "host": ""}}
    with TemporaryDirectory() as folder:
        python = Path(folder) / "bin" / "python"
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        pins = ["--require-hashes", "-r", ROOT / "requirements-chart.txt"]
        subprocess.run([python, "-m", "pip", "install", "-q", *pins], check=True)
        done = subprocess.run(
            [python, "-P", ROOT / "tests" / "helm.py", CHART],
            input=json.dumps(list(sets.values())),
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stderr
    return dict(zip(sets, json.loads(done.stdout), strict=True))


def objects(answer: Found, kind: str) -> list[Found]:
    return [each for each in answer["objects"] if each["kind"] == kind]


def pods(answer: Found) -> list[Found]:
    kinds = ("Deployment", "Job")
    return [each["spec"]["template"]["spec"] for kind in kinds for each in objects(answer, kind)]


def settings_of(pod: Found) -> dict[str, str]:
    return {each["name"]: each["value"] for each in pod["containers"][0]["env"]}


night = pytest.mark.night


@night
@pytest.mark.parametrize("name", ["all", "shared"])
def test_helm_and_the_schemas_of_kubernetes_find_nothing(rendered, name):
    assert rendered[name]["lint"] == []
    assert len(pods(rendered[name])) == 3


@night
def test_values_that_cannot_work_are_refused_in_words(rendered):
    assert "Set settings.S3_BUCKET or files.claim." in rendered["nowhere"]["refused"]
    assert "Set host: the name of the site." in rendered["nameless"]["refused"]


@night
def test_no_pod_has_rights_or_a_disk_of_its_own(rendered):
    for pod in pods(rendered["all"]):
        [container] = pod["containers"]
        assert pod["securityContext"]["runAsNonRoot"] and not pod["automountServiceAccountToken"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["envFrom"] == [{"secretRef": {"name": VALUES["secret"]}}]


@night
def test_a_setting_of_the_operator_comes_once_and_before_our_own(rendered):
    for pod in pods(rendered["all"]):
        names = [each["name"] for each in pod["containers"][0]["env"]]
        assert len(names) == len(set(names))
        assert settings_of(pod)["HTTPS"] == "0" and settings_of(pod)["RUNS_PER_DAY"] == "5"


@night
def test_health_and_metrics_are_asked_by_names_that_web_answers(rendered):
    [web] = [pod for pod in pods(rendered["all"]) if pod["containers"][0]["name"] == "web"]
    [service] = objects(rendered["all"], "Service")
    asked = web["containers"][0]["readinessProbe"]["httpGet"]
    allowed = settings_of(web)["ALLOWED_HOSTS"].split(",")
    assert asked["path"] == "/healthz"
    assert {asked["httpHeaders"][0]["value"], f"{service['metadata']['name']}.lab"} <= set(allowed)


@night
def test_the_queue_alone_says_how_many_workers_run(rendered):
    [scaled] = objects(rendered["all"], "ScaledObject")
    found = {
        each["metadata"]["name"]: each["spec"] for each in objects(rendered["all"], "Deployment")
    }
    assert "replicas" not in found[scaled["spec"]["scaleTargetRef"]["name"]]
    assert scaled["spec"]["minReplicaCount"] >= 1
    assert objects(rendered["shared"], "ScaledObject") == []
