"""Who is told what, and how other programs are called."""

from __future__ import annotations

import hashlib
import hmac
import json
import socket
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from leaderboard.actions import tracks, uploads
from leaderboard.actions.people import JoinDetails, admit
from leaderboard.models import Delivery, Job, Notice
from leaderboard.models.notices import WebhookEvent
from leaderboard.notifications import notices, webhooks
from tests.builders import OTHER_RUN, QRELS, RUN, make_run, make_user, upload, work
from tests.pages.reading import words
from tests.small_servers import serving

pytestmark = pytest.mark.long


class Listener(BaseHTTPRequestHandler):
    """Keeps what it is sent, and answers with the status it is told."""

    heard: list[tuple[dict[str, str], bytes]] = []
    status = 204

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.heard.append((dict(self.headers), body))
        self.send_response(self.status)
        self.send_header("Location", "http://127.0.0.1:1/elsewhere")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def listener() -> Iterator[HTTPServer]:
    Listener.heard, Listener.status = [], 204
    with serving(HTTPServer(("127.0.0.1", 0), Listener)) as server:
        yield server


@pytest.fixture
def webhook(track, ada, listener, settings):
    settings.WEBHOOKS_ANYWHERE = True
    url = f"http://127.0.0.1:{listener.server_port}/hook?a=1"
    return tracks.add_webhook(track, ada, url, WebhookEvent.values)


def texts_for(user) -> list[str]:
    return [notice.text for notice in Notice.objects.filter(user=user)]


def test_a_team_learns_that_its_run_is_scored(track, ben, cat):
    make_run(track, ben)
    assert texts_for(ben) == ["ben-bm25 was scored."] and texts_for(cat) == []


def test_a_team_learns_that_its_run_is_refused(track, ben):
    make_run(track, ben, "not a run\n")
    assert texts_for(ben) == ["run.txt was rejected: 1 error. Open it to see the fixes."]


def test_a_blind_track_tells_that_a_run_is_valid_and_no_more(blind_track, ben):
    make_run(blind_track, ben)
    assert texts_for(ben) == ["ben-bm25 is valid."]


def test_everybody_who_takes_part_learns_of_a_release(blind_track, ada, ben):
    make_run(blind_track, ben)
    tracks.release_track(blind_track, ada)
    assert texts_for(ben)[0].startswith("The scores of Blind track are out. Open: ")


def test_everybody_who_takes_part_learns_of_another_deadline(blind_track, ada, ben):
    make_run(blind_track, ben)
    later = datetime(2030, 11, 30, 23, 59, tzinfo=timezone(timedelta(hours=-12)))
    for changes in ({"closes_at": later}, {"closes_at": later, "depth": 500}, {"closes_at": None}):
        tracks.change_track(blind_track, ada, changes)
    assert texts_for(ben)[:-1] == [
        "The deadline of Blind track has changed. Open: runs are accepted without a deadline. "
        "Scores appear on release.",
        "The deadline of Blind track has changed. Open: runs are accepted until "
        "30 Nov 2030, 23:59 AoE. Scores appear on release.",
    ]


def judged_anew(track, ada) -> None:
    text = QRELS.replace("2 0 d5 0", "2 0 d5 2")
    made = uploads.accept_judgments(
        track.collection, upload("v2.txt", text), "v2", ada, asks_first=False
    )
    work()
    tracks.change_track(track, ada, {"judgment_set": made})
    work()
    assert Job.objects.filter(kind="announce_judgments").update(not_before=None)
    work()


def test_everybody_who_takes_part_learns_of_other_judgments_on_the_board(track, ada, ben):
    make_run(track, ben)
    judged_anew(track, ada)
    assert texts_for(ben) == [
        "The board of Bread track now uses judgments v2.",
        "ben-bm25 was scored.",
    ]


def test_while_a_track_is_blind_nobody_learns_of_its_judgments(blind_track, ada, ben):
    make_run(blind_track, ben)
    judged_anew(blind_track, ada)
    assert texts_for(ben) == ["ben-bm25 is valid."]


def test_a_program_is_called_when_other_judgments_are_on_the_board(webhook, track, ada):
    judged_anew(track, ada)
    told = [json.loads(body) for _, body in Listener.heard]
    assert [(each["event"], each["judgments"]) for each in told] == [("judgments.released", "v2")]


def test_settings_that_change_leave_the_judgments_as_they_were(webhook, track, ada):
    tracks.change_track(track, ada, {"relevance_threshold": 2})
    work()
    assert Listener.heard == []


def test_a_page_counts_the_unread_notices_once(track, ben, as_ben):
    make_run(track, ben)
    with CaptureQueriesContext(connection) as queries:
        as_ben.get("/measures/")
    assert sum("leaderboard_notice" in each["sql"] for each in queries) == 1


def test_two_unread_notices_are_two(track, ben, as_ben):
    make_run(track, ben)
    make_run(track, ben, RUN.replace("9.0", "9.5"))
    assert 'aria-label="2 unread notices"' in as_ben.get("/measures/").text


def test_notices_are_read_at_a_click(track, ben, as_ben):
    make_run(track, ben)
    assert "Notices <b>1</b>" in as_ben.get("/").content.decode()
    as_ben.post("/account/notices/")
    assert "Notices <b>" not in as_ben.get("/").content.decode()


def test_notices_are_read_once_they_were_listed(track, ben, as_ben):
    make_run(track, ben)
    assert ", new" in as_ben.get("/account/notices/").text
    assert ", new" not in as_ben.get("/account/notices/").text
    assert "Notices <b>" not in as_ben.get("/measures/").text


@pytest.mark.parametrize("client", ["as_ben", "as_cat"])
def test_a_notice_is_read_when_its_reader_opens_its_page(request, track, ben, client):
    run = make_run(track, ben)
    request.getfixturevalue(client).get(f"/runs/{run.pk}/")
    assert Notice.objects.unread_by(ben).exists() == (client == "as_cat")


def test_the_notice_of_an_announcement_is_read_on_the_page_of_its_track(track, ada, ben, as_ben):
    make_run(track, ben)
    notices.announce(track, ada, "A pool was approved.")
    about = Notice.objects.unread_by(ben).about("/benchmarks/bread/")
    assert about.exists()
    as_ben.get("/benchmarks/bread/")
    assert not about.exists()


def test_a_webhook_is_called_with_a_signature_that_its_owner_can_check(webhook, track, ben):
    run = make_run(track, ben)
    headers, body = Listener.heard[0]
    signed = f"{headers['X-Rankfield-Timestamp']}.".encode() + body
    digest = hmac.new(webhook.secret.encode(), signed, hashlib.sha256).hexdigest()
    assert headers["X-Rankfield-Signature"] == f"sha256={digest}"
    assert json.loads(body)["run"] == {"id": run.pk, "tag": "ben-bm25", "team": "ben"}


def test_a_call_that_fails_is_made_again_later(webhook, track, ben):
    Listener.status = 500
    make_run(track, ben)
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.tries, delivery.answer) == ("waiting", 1, "HTTP 500")
    assert Job.objects.open().get(kind="deliver").not_before is not None


def test_a_redirect_is_no_answer_and_is_not_followed(webhook, track, ben):
    Listener.status = 302
    make_run(track, ben)
    assert Delivery.objects.get().answer == "HTTP 302" and len(Listener.heard) == 1


def test_a_call_is_given_up_after_six_tries(webhook, track, ben):
    Listener.status = 500
    make_run(track, ben)
    for _ in range(Delivery.MAX_TRIES):
        Job.objects.open().filter(kind="deliver").update(not_before=None)
        work()
    assert (Delivery.objects.get().state, len(Listener.heard)) == ("given up", 6)


INSIDE = [
    "http://example.org/",
    "https://127.0.0.1/",
    "https://[::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://169.254.169.254/latest/",
    "https://10.1.2.3/",
    "https://localhost/",
    "https://0/",
    "https://2130706433/",
    "https://user@example.org/",
    "file:///etc/passwd",
    "https://",
    "https://[",
]


@pytest.mark.parametrize("url", INSIDE)
def test_no_address_inside_is_called(url):
    with pytest.raises(webhooks.WebhookError):
        webhooks.check_url(url)


def test_an_address_that_moved_inside_since_is_not_called(track, ada, ben, listener):
    url = f"https://127.0.0.1:{listener.server_port}/"
    tracks.add_webhook(track, ada, url, [WebhookEvent.RUN_SCORED])
    make_run(track, ben)
    assert Delivery.objects.get().answer == "The host is not on the public internet."
    assert Listener.heard == []


def test_the_name_of_a_host_is_looked_up_once_a_call(webhook, track, ben, monkeypatch):
    looked_up, look_up = [], socket.getaddrinfo
    monkeypatch.setattr(
        webhooks.socket, "getaddrinfo", lambda *a, **k: looked_up.append(a[0]) or look_up(*a, **k)
    )
    make_run(track, ben)
    # One look at the name; the address that it gave is what the socket connects to.
    assert len(Listener.heard) == 1 and looked_up == ["127.0.0.1", "127.0.0.1"]


@pytest.mark.parametrize("url", ["http://[::ffff:127.0.0.1]/", "file:///etc/passwd"])
def test_the_form_says_why_an_address_is_not_taken(as_ada, track, url):
    answer = as_ada.post(
        "/benchmarks/bread/manage/webhooks/",
        {"url": url, "happenings": "run.scored", "format": "json"},
    )
    assert answer.status_code == 422 and not track.webhooks.exists()


def test_an_announcement_reaches_every_member_of_every_team_once(track, ada, ben, cat, as_ada):
    first, _ = make_run(track, ben).team, make_run(track, cat, OTHER_RUN).team
    dan = make_user("dan")
    admit(track.benchmark, dan, JoinDetails(team_code=first.invitation))
    assert "3 people in 2 teams get a notice" in words(as_ada.get("/benchmarks/bread/desk/").text)
    notices.announce(track, ada, "The deadline is near. " * 30)
    sent = Notice.objects.filter(text__startswith="Bread track: The deadline")
    assert sorted(notice.user.username for notice in sent) == ["ben", "cat", "dan"]
    assert all(len(notice.text) <= 300 and notice.text.endswith(" …") for notice in sent)
    assert sent[0].address.startswith("/benchmarks/bread/#announcement-")
