"""Metrics: what Prometheus reads, and that every one is described to operators."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from django.conf import settings as site
from prometheus_client.parser import text_string_to_metric_families

from leaderboard.models import Job, Mail, Notice
from tests.builders import make_run

DEPLOY = Path(site.BASE_DIR) / "deploy"
GUIDE = (Path(site.BASE_DIR) / "docs" / "operating.md").read_text()


@pytest.fixture
def metrics(client, settings, track, ben, tmp_path):
    """What Prometheus' own parser reads of a site with a run and an email, on request."""
    settings.METRICS_TOKEN, settings.BACKUP_FOLDER = "word", str(tmp_path)
    make_run(track, ben)
    notice = Notice.objects.create(user=ben, track=track, text="Scored.", address="/")
    Mail.objects.create(notice=notice)

    def read():
        page = client.get("/metrics", headers={"Authorization": "Bearer word"})
        return {each.name: each for each in text_string_to_metric_families(page.text)}

    return read


def test_prometheus_reads_every_value(metrics):
    read = metrics()
    [scored] = read["rankfield_runs"].samples
    assert (scored.labels, scored.value) == ({"state": "scored"}, 1)
    assert read["rankfield_backup_age_seconds"].samples[0].value == -1
    assert all(each.type == "gauge" and each.documentation for each in read.values())


def test_the_guide_describes_the_metrics_that_there_are_with_their_labels(metrics):
    rows = re.findall(r"^\| `(rankfield_\w+)` \|(.*?)\|", GUIDE, re.M)
    described = {name: set(re.findall(r"`(\w+)`", labels)) for name, labels in rows}
    assert described == {
        name: {label for sample in each.samples for label in sample.labels}
        for name, each in metrics().items()
    }


def test_a_backup_that_fails_is_a_metric(metrics):
    job = Job.objects.create(kind="back_up", target_id="site")
    job.claim("a worker")
    job.finish(Job.State.FAILED, "disk full")
    assert metrics()["rankfield_backup_failing"].samples[0].value == 1


def test_alerts_and_the_dashboard_read_metrics_that_there_are(metrics):
    alerts = yaml.safe_load((DEPLOY / "alerts.yml").read_text())["groups"][0]["rules"]
    panels = json.loads((DEPLOY / "dashboard.json").read_text())["panels"]
    asked = [rule["expr"] for rule in alerts]
    asked += [target["expr"] for panel in panels for target in panel["targets"]]
    named = set(re.findall(r"rankfield_\w+", " ".join(asked)))
    assert named <= set(metrics()) and len(named) > 10
    assert all(rule["annotations"].keys() == {"summary", "mend"} for rule in alerts)


def test_an_email_that_waits_is_a_metric(metrics):
    [waits] = metrics()["rankfield_mail_wait_seconds"].samples
    assert waits.value > 0


def test_inside_the_network_neither_metrics_nor_health_need_tls(db, client, settings):
    settings.SECURE_SSL_REDIRECT, settings.METRICS_TOKEN = True, "word"
    assert client.get("/metrics", headers={"Authorization": "Bearer word"}).status_code == 200
    assert client.get("/healthz").status_code == 200
    assert client.get("/benchmarks/").status_code == 301
