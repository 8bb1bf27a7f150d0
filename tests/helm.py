"""Render the chart of `deploy/helm` with Helm itself, and check each object by Kubernetes' schemas.

Helm needs an environment of its own, `requirements-chart.txt`. With it, this file is a program: it
reads a list of values in JSON and prints what Helm says of each.  It imports nothing of ours.
"""

from __future__ import annotations

import json
import sys

import kubernetes_validate
import yaml
from helm_python import HelmError
from helm_python.chart import Chart, lint

# Of KEDA, which has no schema there: what its documentation lists for a ScaledObject.
KEDA = {
    "scaleTargetRef": {"apiVersion", "kind", "name", "envSourceContainerName"},
    "fallback": {"failureThreshold", "replicas", "behavior"},
    "metadata": {
        *("serverAddress", "query", "threshold", "activationThreshold", "namespace", "timeout"),
        *("customHeaders", "ignoreNullValues", "queryParameters", "unsafeSsl", "authModes"),
    },
    "spec": {
        *("scaleTargetRef", "pollingInterval", "cooldownPeriod", "initialCooldownPeriod"),
        *("idleReplicaCount", "minReplicaCount", "maxReplicaCount", "fallback", "advanced"),
        "triggers",
    },
}


def render(folder: str, values: dict) -> dict:
    """What the linter finds, the objects, and what Helm refuses the values for."""
    try:
        texts = Chart.load(folder).render(values=values, name="bench", namespace="lab")
    except HelmError as error:
        return {"refused": str(error)}
    objects = [each for text in texts.values() for each in yaml.safe_load_all(text) if each]
    for each in objects:
        check(each)
    found = lint(folder, values=values, strict=True)
    said = [each["error"] for each in found["messages"] if each["severity"] > 1]
    return {"objects": objects, "lint": [*said, *found["errors"]]}


def check(found: dict) -> None:
    """Raise where an object has a field that is not documented, or lacks one that is needed."""
    if found["kind"] != "ScaledObject":
        kubernetes_validate.validate(found, kubernetes_validate.latest_version(), strict=True)
        return
    spec = found["spec"]
    parts = {**spec, "spec": spec, "metadata": spec["triggers"][0]["metadata"]}
    for name, fields in KEDA.items():
        assert set(parts[name]) <= fields, set(parts[name]) - fields


if __name__ == "__main__":
    json.dump([render(sys.argv[1], values) for values in json.load(sys.stdin)], sys.stdout)
