"""T5: words that nobody but one place should hold, looked for everywhere else.

Each canary is a word of its own: a judged docno, a word of a document, a password, a token, a
score.  Whatever the site writes down or sends is searched for all of them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from allauth.account.models import EmailAddress
from django.core.cache import cache
from django.db import connection
from django.db.models import CharField, JSONField, TextField
from django.test import Client

from leaderboard.actions import tracks, uploads
from leaderboard.models import ApiToken, Delivery, Notice
from leaderboard.models.notices import WebhookEvent
from leaderboard.scoring import work as scoring
from tests.builders import QRELS, make_collection, make_run, make_track, upload, work

pytestmark = pytest.mark.long

JUDGED = "canary-judged-docno"
WORD = "canaryindocument"
PASSWORD = "canary-password-of-ben"
GUESSED = "canary-guessed-password"
DOCUMENTS = "".join(
    f'{{"_id": "{docno}", "title": "Document", "text": "{WORD} and bread."}}\n'
    for docno in [*(f"d{n}" for n in range(1, 13)), JUDGED]
)
RUN = f"1 Q0 {JUDGED} 1 9.0 ben\n1 Q0 d1 2 8.0 ben\n2 Q0 d4 1 8.0 ben\n3 Q0 d3 1 1.5 ben\n"
# The scores of that run: AP, its mean, and with all their digits.
SCORES = ("0.61111", "0.611", "61.1")


@pytest.fixture
def everything_happened(ada, ben, caplog, monkeypatch, mailoutbox, settings) -> Iterator[str]:
    """A blind track lives its life, failures of every kind too; yields the token of Ben."""
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    caplog.set_level(logging.DEBUG)
    qrels = QRELS.replace("1 0 d2 1", f"1 0 {JUDGED} 1").replace(
        "3 0 d8 1\n", "3 0 d8 1\n3 0 d3 1\n"
    )
    bread = make_collection(ada, qrels=qrels, documents=DOCUMENTS)
    track = make_track(bread, slug="blind", disclosure="blind")
    tracks.add_webhook(track, ada, "https://webhooks.invalid/", WebhookEvent.values)
    settings.EMAIL_HOST = "mail.example.org"
    EmailAddress.objects.create(user=ben, email="ben@example.org", verified=True, primary=True)
    ben.email = "ben@example.org"
    ben.set_password(PASSWORD)
    ben.save()
    client = Client()
    client.post("/account/login/", {"login": "ben", "password": GUESSED})
    client.post("/account/login/", {"login": "ben", "password": PASSWORD})
    client.post("/account/password/reset/", {"email": "ben@example.org"})
    _, secret = ApiToken.objects.issue(ben, ["read", "submit"])
    program = Client(headers={"Authorization": f"Bearer {secret}"})
    program.get("/api/v1/me")
    program.get(f"/api/v1/me?token={secret[:-1]}x")
    make_run(track, ben, RUN)
    make_run(track, ben, RUN.replace("9.0", "nan"))
    break_everything(track, ben, client, monkeypatch)
    yield secret


def break_everything(track, ben, client, monkeypatch) -> None:
    """Our own bug in the middle of scoring and in the middle of a page."""
    with monkeypatch.context() as broken:
        broken.setattr(scoring, "measure_run", lambda read, *_: 1 / 0)
        make_run(track, ben, RUN.replace("8.0", "8.5"))
        broken.setattr("leaderboard.pages.views.site.site_limits", lambda: 1 / 0)
        client.raise_request_exception = False
        client.get("/limits/")
    faulty = upload("q", QRELS + f"1 0 {JUDGED} x\n")
    uploads.accept_judgments(
        track.collection, faulty, "v2", track.benchmark.owner, asks_first=False
    )
    work()


def columns() -> Iterator[tuple[str, str]]:
    """Every column of text in the database, by table and name."""
    from django.apps import apps

    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, (CharField, TextField, JSONField)):
                yield model._meta.db_table, field.column


def texts_in(table: str, column: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f'SELECT CAST("{column}" AS text) FROM "{table}"')
        return "\n".join(str(row[0]) for row in cursor.fetchall())


# Where a canary lives; the fault of a judgment is told to who sent it.
AT_HOME = {
    JUDGED: {
        ("leaderboard_judgment", "docno"),
        ("leaderboard_judgmentset", "problems"),
        ("leaderboard_judgmentset", "preview"),
        ("leaderboard_collection", "preview"),
        ("leaderboard_run", "problems"),
    },
    WORD: {("leaderboard_collection", "preview")},
}


@pytest.mark.parametrize("canary", [JUDGED, WORD, PASSWORD, GUESSED])
def test_t05_no_other_column_holds_a_canary(everything_happened, canary):
    found = {where for where in columns() if canary in texts_in(*where)}
    assert found <= AT_HOME.get(canary, set())


def test_t05_no_column_holds_a_token(everything_happened):
    secret = everything_happened
    assert not [where for where in columns() if secret in texts_in(*where)]


def test_t05_no_line_of_the_log_holds_a_canary(everything_happened, caplog):
    write = logging.Formatter().format
    logged = "\n".join(write(record) for record in caplog.get_records("setup"))
    assert "ZeroDivisionError" in logged
    for canary in (JUDGED, WORD, PASSWORD, GUESSED, everything_happened, *SCORES):
        assert canary not in logged, canary


def test_t05_no_mail_notice_or_call_holds_a_canary(everything_happened, mailoutbox):
    mails = [f"{mail.subject} {mail.body}" for mail in mailoutbox]
    notices = Notice.objects.values_list("text", flat=True)
    calls = [str(delivery.body) for delivery in Delivery.objects.all()]
    assert mails and notices and calls
    for text in [*mails, *notices, *calls]:
        for canary in (JUDGED, WORD, PASSWORD, GUESSED, everything_happened, *SCORES):
            assert canary not in text, canary
        assert "scored" not in text.replace("run.scored", "")


def test_t05_the_cache_holds_no_canary(everything_happened):
    kept = repr(cache._cache)  # what LocMemCache has, pickled
    for canary in (PASSWORD, GUESSED, everything_happened):
        assert canary not in kept, canary


def test_t05_our_fault_shows_no_inside(everything_happened, client, monkeypatch):
    client.raise_request_exception = False
    secret = everything_happened
    monkeypatch.setattr("leaderboard.pages.views.site.site_limits", lambda: 1 / 0)
    page = client.get("/limits/", headers={"Authorization": f"Bearer {secret}"}).content.decode()
    for word in ("ZeroDivisionError", "Traceback", "site.py", "SECRET", secret):
        assert word not in page
