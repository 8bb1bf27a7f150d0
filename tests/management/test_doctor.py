"""What the doctor finds, and what Prometheus reads."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.utils import timezone

from leaderboard.analysis import health_checks
from leaderboard.models import Job, Worker
from tests.builders import make_run
from tests.certificates import make_certificate, tls_server

METRICS = "a-word-for-prometheus"


def findings(name: str) -> list[health_checks.Finding]:
    return list(health_checks.CHECKS[name]())


def levels(name: str) -> set[str]:
    return {finding.level for finding in findings(name)}


def test_a_healthy_site_has_nothing_bad(track, ben):
    make_run(track, ben)
    told = dict.fromkeys(health_checks.CHECKS)
    assert set(told) == {name for name, _ in health_checks.run_checks()}
    assert [each for each in health_checks.run_checks() if each[1].level == "bad"] == []


def test_every_fault_says_what_to_do(settings, track):
    settings.DEBUG, settings.ALLOWED_HOSTS = True, ["rankfield.example.org"]
    Worker.objects.all().delete()
    Job.objects.create(kind="compare", target_id="1")
    faults = [each for _, each in health_checks.run_checks() if each.level != "good"]
    assert len(faults) >= 3 and all(fault.do for fault in faults)


def test_a_fault_makes_the_command_end_with_1(track, capsys, monkeypatch):
    monkeypatch.setattr(
        health_checks.shutil, "disk_usage", lambda _: SimpleNamespace(total=100, free=1)
    )
    with pytest.raises(SystemExit) as ended:
        call_command("doctor")
    assert ended.value.code == 1
    assert re.search(r"^BAD  disk      Only .* free", capsys.readouterr().out, re.M)


def test_the_findings_are_json_for_programs(track, ben, capsys):
    make_run(track, ben)
    call_command("doctor", "--json")
    found = json.loads(capsys.readouterr().out)
    assert {each["check"] for each in found} == set(health_checks.CHECKS)
    assert {each["level"] for each in found} <= {"good", "look"}


def test_an_examination_that_fails_is_a_finding(db, monkeypatch):
    def broken():
        raise OSError("the cable is out")
        yield

    monkeypatch.setitem(health_checks.CHECKS, "broker", broken)
    [found] = [each for name, each in health_checks.run_checks() if name == "broker"]
    assert found.level == "bad" and "the cable is out" in found.what


@pytest.mark.parametrize(
    ("days", "level", "words"),
    [(90, "good", "is good until"), (10, "look", "ends on"), (-1, "bad", "ended on")],
)
def test_a_certificate_is_renewed_before_it_ends(settings, tmp_path, days, level, words):
    make_certificate(tmp_path, timedelta(days=days))
    with tls_server(tmp_path) as port:
        settings.SITE_URL = f"https://localhost:{port}"
        [found] = findings("https")
    assert found.level == level and words in found.what


def test_a_site_that_this_host_cannot_reach_is_looked_at(settings):
    settings.SITE_URL = "https://localhost:9"
    assert levels("https") == {"look"}


def test_a_worker_that_is_gone_is_bad_once_jobs_wait(track):
    Worker.objects.all().delete()
    assert levels("workers") == {"look"}
    Job.objects.create(kind="compare", target_id="1")
    assert levels("workers") == {"bad"}


def test_a_job_that_waits_long_is_told(track):
    job = Job.objects.create(kind="deliver", target_id="1")
    assert levels("jobs") == {"good"}
    Job.objects.filter(pk=job.pk).update(created_at=timezone.now() - timedelta(minutes=6))
    assert levels("jobs") == {"look"}


def test_a_file_that_is_gone_is_bad(track, ben):
    default_storage.delete(make_run(track, ben).file.name)
    assert "of the database, the first" in findings("files")[0].what


def test_a_file_that_changed_is_found_by_its_hash(track, ben):
    run = make_run(track, ben)
    assert list(health_checks.find_changed_files()) == []
    Path(default_storage.path(run.file.name)).write_text("other bytes")
    assert list(health_checks.find_changed_files()) == [run.pk]


def test_a_secret_key_that_others_may_read_is_bad(settings, tmp_path, db):
    settings.RANKFIELD_HOME = tmp_path
    key = tmp_path / "secret_key"
    key.write_text("secret")
    key.chmod(0o644)
    assert "chmod 600" in findings("settings")[0].do
    key.chmod(0o600)
    assert "bad" not in levels("settings")


def test_a_site_that_was_left_read_only_is_noticed(settings, tmp_path, db):
    settings.RANKFIELD_HOME = tmp_path
    call_command("read_only", "on")
    assert "read_only off" in findings("settings")[0].do
    call_command("read_only", "off")
    assert "read-only" not in findings("settings")[0].what


def test_t23_a_redis_that_takes_anybody_is_told(settings, monkeypatch, db):
    server = SimpleNamespace(
        info=lambda _: {"redis_version": "7.2.0"}, time=lambda: (timezone.now().timestamp(), 0)
    )
    monkeypatch.setattr("redis.Redis.from_url", lambda *_, **__: server)
    for url in ("redis://redis.example.org:6379/0", "redis://127.0.0.1/0"):
        settings.REDIS_URL = url
        assert "has no password" in findings("broker")[0].what
    for url in ("redis://:word@redis.example.org/0", "unix:///run/redis.sock"):
        settings.REDIS_URL = url
        assert levels("broker") == {"good"}


def asked(client, settings, word: str = METRICS) -> str:
    settings.METRICS_TOKEN = METRICS
    answer = client.get("/metrics", headers={"Authorization": f"Bearer {word}"})
    assert answer.status_code == 200
    return answer.content.decode()


def test_prometheus_reads_what_is_there(client, settings, track, ben):
    make_run(track, ben)
    text = asked(client, settings)
    assert 'rankfield_runs{state="scored"} 1\n' in text
    assert 'rankfield_jobs{kind="check_run",state="done"} 1\n' in text
    assert f"rankfield_workers_alive {Worker.objects.alive().count()}\n" in text
    for line in text.splitlines():
        assert re.fullmatch(r'# (HELP|TYPE) \w+ .+|\w+(\{(\w+="[^"]*",?)+\})? -?[\d.e+]+', line)


def test_the_longest_wait_grows_and_ends(client, settings, track):
    job = Job.objects.create(kind="compare", target_id="77")
    Job.objects.filter(pk=job.pk).update(created_at=timezone.now() - timedelta(seconds=100))
    assert re.search(r"rankfield_job_wait_seconds 10\d", asked(client, settings))
    Job.objects.filter(pk=job.pk).delete()
    assert "rankfield_job_wait_seconds 0\n" in asked(client, settings)


@pytest.mark.parametrize("word", ["", "wrong", METRICS + "x"])
def test_without_the_word_there_are_no_figures(client, settings, db, word):
    settings.METRICS_TOKEN = METRICS
    assert client.get("/metrics").status_code == 404
    answer = client.get("/metrics", headers={"Authorization": f"Bearer {word}"})
    assert answer.status_code == 404
    settings.METRICS_TOKEN = ""
    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404


def test_a_banner_says_that_no_worker_lives(client, track, ben):
    assert "Scoring is not running" not in client.get("/").content.decode()
    Worker.objects.all().delete()
    Job.objects.create(kind="check_run", target_id="x")
    page = client.get("/").content.decode()
    assert "Scoring is not running" in page and "1 job waits" in page


def test_the_figures_name_nobody(client, settings, track, ben):
    run = make_run(track, ben)
    text = asked(client, settings)
    assert not [word for word in ("ben", run.pk, "bread") if word in text]


def test_a_mail_server_that_does_not_answer_is_named(settings, db):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    faults = [each.what for name, each in health_checks.run_checks() if name == "mail"]
    assert faults[0] == "Emails cannot link to the site."
    assert faults[1].startswith("could not be checked: [Errno 111] Connection refused")
