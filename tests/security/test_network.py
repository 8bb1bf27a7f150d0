"""T21 and T23: webhooks stay outside, and nobody on the broker's network is obeyed."""

from __future__ import annotations

import http.client
import pickle
import socket
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from leaderboard.actions import tracks
from leaderboard.environment import database
from leaderboard.jobs import running
from leaderboard.jobs.broker import app
from leaderboard.models import Delivery, Job, Score
from leaderboard.models.notices import WebhookEvent
from leaderboard.notifications import webhooks
from tests.builders import make_run, work
from tests.small_servers import serving

INSIDE = [
    "https://127.0.0.1/",
    "https://127.1/",
    "https://0x7f000001/",
    "https://0177.0.0.1/",
    "https://[::1]/",
    "https://[::ffff:10.0.0.1]/",
    "https://[fd00::1]/",
    "https://[fe80::1]/",
    "https://[64:ff9b::10.0.0.1]/",
    "https://[2002:a00:1::]/",
    "https://[::10.0.0.1]/",
    "https://[::ffff:0:10.0.0.1]/",
    "https://[fec0::1]/",
    "https://169.254.169.254/latest/meta-data/",
    "https://100.64.0.1/",
    "https://192.168.0.1/",
    "https://172.16.0.1:6379/",
    "https://224.0.0.1/",
    "https://255.255.255.255/",
    "https://0.0.0.0/",
    "https://192.0.0.8/",
    "https://192.0.0.255/",
    "https://192.0.2.1/",
    "https://192.88.99.1/",
    "https://192.175.48.1/",
    "https://198.18.0.1/",
    "https://203.0.113.9/",
    "https://240.0.0.1/",
    "https://[::]/",
    "https://[::ffff:192.0.0.8]/",
    "https://[64:ff9b::192.0.0.8]/",
    "https://[64:ff9b:1::1]/",
    "https://[100::1]/",
    "https://[2001::1]/",
    "https://[2001:db8::1]/",
    "https://[3fff::1]/",
    "https://[5f00::1]/",
    "https://[ff0e::1]/",
    "https://localhost./",
    "ftp://example.org/",
    "gopher://127.0.0.1:6379/_FLUSHALL",
    "https://example.org@127.0.0.1/",
    "https://127.0.0.1\\@example.org/",
    "https://exa\r\nmple.org/",
]


@pytest.mark.parametrize("url", INSIDE)
def test_t21_no_address_inside_is_called(url, monkeypatch):
    monkeypatch.setattr(socket, "create_connection", nobody_calls)
    with pytest.raises((webhooks.WebhookError, http.client.HTTPException, OSError)):
        webhooks.post(url, b"{}", {})


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:4700::1111", "64:ff9b::93.184.216.34"])
def test_t21_an_address_outside_is_called(address):
    assert webhooks.is_public(address)


def nobody_calls(*args: object, **named: object) -> None:
    pytest.fail(f"called {args}")


def test_t21_a_name_that_leads_inside_is_not_called(monkeypatch):
    def resolve(host, port, *args, **named):
        family, kind = socket.AF_INET, socket.SOCK_STREAM
        return [(family, kind, 6, "", (ip, port)) for ip in ("93.184.216.34", "10.0.0.7")]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(socket, "create_connection", nobody_calls)
    with pytest.raises(webhooks.WebhookError):
        webhooks.post("https://example.org/", b"{}", {})


class Inner(BaseHTTPRequestHandler):
    """Sends whoever comes to the service inside, which counts its guests."""

    guests: list[str] = []

    def do_POST(self) -> None:
        self.guests.append(self.path)
        self.send_response(307)
        self.send_header("Location", f"http://127.0.0.1:{self.server.server_port}/inside")
        self.end_headers()
        self.wfile.write(b"the secret of the service inside")

    do_GET = do_POST

    def log_message(self, *args: object) -> None:
        pass


def test_t21_a_redirect_leads_nowhere_and_no_answer_is_shown(track, ada, ben, as_ada, settings):
    settings.WEBHOOKS_ANYWHERE = True
    Inner.guests = []
    with serving(HTTPServer(("127.0.0.1", 0), Inner)) as server:
        url = f"http://127.0.0.1:{server.server_port}/hook"
        tracks.add_webhook(track, ada, url, [WebhookEvent.RUN_SCORED])
        make_run(track, ben)
    assert Inner.guests == ["/hook"] and Delivery.objects.get().answer == "HTTP 307"
    assert (
        "secret of the service"
        not in as_ada.get("/benchmarks/bread/manage/webhooks/").content.decode()
    )


def test_t23_messages_are_json_and_nothing_else():
    assert app.conf.accept_content == ["json"] == app.control.mailbox.accept
    assert app.conf.result_accept_content is None and app.conf.event_serializer == "json"
    assert app.conf.task_serializer == "json" and app.conf.task_ignore_result
    assert app.conf.result_backend is None


class Pwned:
    def __reduce__(self):
        return (pytest.fail, ("a message was unpickled",))


def test_t23_a_pickled_message_is_not_opened():
    from kombu.exceptions import ContentDisallowed
    from kombu.serialization import loads

    body = pickle.dumps(Pwned())
    with pytest.raises(ContentDisallowed):
        loads(body, "application/x-python-serialize", "binary", accept=app.conf.accept_content)


@pytest.mark.parametrize(
    "forged", [{"job_id": 1}, {"run_id": "a", "score": 1.0}, {"state": "scored"}]
)
def test_t23_a_forged_message_says_no_more_than_look(track, ben, forged):
    running.work(**forged)
    assert not Score.objects.exists()
    run = make_run(track, ben)
    done = Job.objects.of("check_run", run).get()
    running.work(**{**forged, "job_id": done.pk})
    assert Job.objects.of("check_run", run).count() == 1
    assert Score.objects.filter(score_set__run=run).count() == 3


def test_t23_a_job_of_an_unknown_kind_is_left_alone(track):
    Job.objects.create(kind="os.system", target_id="id")
    work()
    assert Job.objects.get(kind="os.system").state == "queued"


def test_t23_there_is_one_task_and_it_takes_no_argument():
    ours = [name for name in app.tasks if not name.startswith("celery.")]
    assert ours == ["work"]


def test_t23_the_database_is_reached_as_its_address_says(tmp_path):
    """Else a site that asks for TLS would speak in clear, and nobody would be told."""
    url = "postgresql://rankfield@db.example.org/name?sslmode=verify-full&sslrootcert=/ca.pem"
    told = database(url, tmp_path)
    assert told["HOST"] == "db.example.org"
    assert told["OPTIONS"] | {"sslmode": "verify-full", "sslrootcert": "/ca.pem"} == told["OPTIONS"]
