"""Notices by mail, to a real mail server of a few lines."""

from __future__ import annotations

import email
import socketserver
from collections.abc import Iterator
from email.message import Message

import pytest
from allauth.account.models import EmailAddress

from leaderboard.actions import people, tracks
from leaderboard.models import Digest, Job, Mail, Notice, Run, User
from leaderboard.notifications import notices
from tests.builders import OTHER_RUN, RUN, make_run, make_track, work
from tests.pages.reading import words
from tests.security.test_deployment import manage
from tests.small_servers import serving

pytestmark = pytest.mark.long

# Such a file is rejected, which is urgent.
NO_RUN = "not a run\n"


class Postman(socketserver.StreamRequestHandler):
    """Takes every mail, or answers each with the same refusal, of its sender or its reader.

    It may go away once it has a mail, without an answer, and takes so many mails at `most`.
    """

    taken: list[Message] = []
    refusal = refused = b""
    goes_away = False
    most = 100

    def handle(self) -> None:
        self.say(b"220 postman")
        while line := self.rfile.readline():
            word = line[:4].upper().strip()
            if len(self.taken) >= self.most:
                return
            if word == b"DATA":
                self.take()
                if self.goes_away:
                    return
            elif word == b"MAIL" and self.refusal:
                self.say(self.refusal)
            elif word == b"RCPT" and self.refused:
                self.say(self.refused)
            else:
                self.say(b"221 bye" if word == b"QUIT" else b"250 good")

    def take(self) -> None:
        self.say(b"354 go on")
        lines = iter(self.rfile.readline, b".\r\n")
        self.taken.append(email.message_from_bytes(b"".join(lines)))
        if not self.goes_away:
            self.say(b"250 taken")

    def say(self, words: bytes) -> None:
        self.wfile.write(words + b"\r\n")


@pytest.fixture
def postman(settings) -> Iterator[type[Postman]]:
    Postman.taken, Postman.refusal, Postman.refused = [], b"", b""
    Postman.goes_away, Postman.most = False, 100
    settings.EMAIL_BACKEND = "leaderboard.notifications.sending.OnceBackend"
    settings.DEFAULT_FROM_EMAIL = "board@example.org"
    settings.SITE_URL = "https://board.example.org"
    with serving(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Postman)) as server:
        settings.EMAIL_HOST, settings.EMAIL_PORT = server.server_address
        yield Postman


@pytest.fixture
def reader(ben: User) -> User:
    """Ben, whose address is confirmed."""
    EmailAddress.objects.create(user=ben, email="ben@example.org", verified=True, primary=True)
    return ben


def bodies(postman: type[Postman]) -> list[str]:
    return [str(mail.get_payload()) for mail in postman.taken]


def send_again() -> None:
    """The pause after a try that failed is over, or it is the hour of the digests."""
    Job.objects.open().filter(kind__in=["mail", "digest"]).update(not_before=None)
    work()


def test_a_notice_comes_by_mail_with_the_way_to_its_page(postman, track, reader):
    run = make_run(track, reader, NO_RUN)
    (mail,) = postman.taken
    assert (mail["To"], mail["From"]) == ("ben@example.org", "board@example.org")
    assert mail["Subject"] == "[Rankfield] run.txt was rejected: 1 error. Open it to see the fixes."
    assert f"https://board.example.org/runs/{run.pk}/" in mail.get_payload()


def test_a_mail_of_a_blind_track_says_what_the_notice_says(postman, blind_track, reader):
    run = make_run(blind_track, reader)
    send_again()
    text, address = Notice.objects.values_list("text", "address").get()
    assert address == f"/runs/{run.pk}/"
    assert bodies(postman)[0].split("\r\n")[:3] == [text, "", f"https://board.example.org{address}"]
    assert "scor" not in postman.taken[0].as_string()


def test_a_release_is_mailed(postman, blind_track, ada, reader):
    make_run(blind_track, reader)
    tracks.release_track(blind_track, ada)
    work()
    assert "The scores of Blind track are out." in bodies(postman)[0]


def test_a_refused_run_is_mailed(postman, track, reader):
    make_run(track, reader, NO_RUN)
    assert "run.txt was rejected: 1 error." in bodies(postman)[0]


@pytest.mark.parametrize(
    ("answer", "said"), [("approve_request", "You joined"), ("decline_request", "decl")]
)
def test_the_answer_to_a_request_is_mailed(postman, collection, ada, reader, answer, said):
    track = make_track(collection, joining="approval")
    getattr(people, answer)(
        people.request_to_join(track.benchmark, reader, people.JoinDetails()), ada
    )
    work()
    assert said in bodies(postman)[0]


@pytest.mark.parametrize(
    ("how", "port"), [({}, 25), ({"EMAIL_TLS": "starttls"}, 587), ({"EMAIL_TLS": "tls"}, 465)]
)
def test_the_mail_server_is_told_by_the_environment(tmp_path, how, port):
    asked = "from django.core.mail import get_connection as c; s = c(); print(vars(s))"
    who = {"EMAIL_HOST": "mail.example.org", "EMAIL_USER": "board", "EMAIL_PASSWORD": "a word"}
    told = manage(tmp_path, ["shell", "-v", "0", "-c", asked], **who, **how).stdout
    assert f"'host': 'mail.example.org', 'port': {port}" in told
    assert "'username': 'board', 'password': 'a word'" in told
    assert f"'use_tls': {port == 587}, 'use_ssl': {port == 465}" in told


def test_nobody_gets_mail_at_an_address_that_is_not_confirmed(postman, track, reader):
    EmailAddress.objects.update(verified=False)
    make_run(track, reader)
    assert postman.taken == [] and not Mail.objects.exists()


def test_who_wants_no_mails_gets_none(postman, track, reader):
    User.objects.update(mails=False)
    make_run(track, reader)
    assert postman.taken == [] and Notice.objects.filter(user=reader).exists()


def test_without_a_mail_server_nothing_is_queued(track, reader):
    make_run(track, reader)
    assert Notice.objects.filter(user=reader).exists() and not Mail.objects.exists()


def test_a_mail_server_that_is_away_keeps_no_run_back(settings, postman, track, reader):
    port, settings.EMAIL_PORT = settings.EMAIL_PORT, 1
    assert make_run(track, reader).state == Run.State.SCORED
    send_again()
    assert (Digest.objects.get().state, Digest.objects.get().tries) == ("waiting", 1)
    settings.EMAIL_PORT = port
    send_again()
    assert len(postman.taken) == 1 and Digest.objects.get().state == "delivered"


def test_a_mail_is_given_up_after_six_tries(postman, track, reader):
    postman.refusal = b"550 no"
    make_run(track, reader, NO_RUN)
    for _ in range(Mail.MAX_TRIES):
        send_again()
    mail = Mail.objects.get()
    assert (mail.state, mail.tries) == ("given up", 6) and "550" in mail.answer


def test_a_notice_that_was_read_meanwhile_is_not_mailed(postman, track, reader, as_ben):
    postman.refusal = b"451 later"
    make_run(track, reader, NO_RUN)
    as_ben.post("/account/notices/")
    postman.refusal = b""
    send_again()
    assert postman.taken == [] and Mail.objects.get().state == "delivered"


def test_a_mail_that_comes_twice_is_known_for_one(postman, track, reader):
    make_run(track, reader, NO_RUN)
    Mail.objects.update(state="waiting")
    Mail.objects.get().next_job().save(force_insert=True)
    work()
    assert len({mail["Message-ID"] for mail in postman.taken}) == 1 < len(postman.taken)


def test_no_announcement_writes_headers(postman, track, ada, reader):
    make_run(track, reader)
    notices.announce(track, ada, "Soon\nBcc: cat@example.org")
    work()
    assert postman.taken[-1]["Bcc"] is None
    assert postman.taken[-1]["Subject"] == "[Rankfield] Bread track: Soon Bcc: cat@example.org"


def test_the_desk_says_how_many_get_an_announcement_by_email(postman, track, ben, cat, as_ada):
    for user, text in ((ben, RUN), (cat, OTHER_RUN)):
        make_run(track, user, text)
    EmailAddress.objects.create(user=ben, email="ben@example.org", verified=True)
    EmailAddress.objects.create(user=cat, email="cat@example.org", verified=False)
    page = words(as_ada.get("/benchmarks/bread/desk/").text)
    assert "2 people in 2 teams get a notice, 1 also by email." in page
