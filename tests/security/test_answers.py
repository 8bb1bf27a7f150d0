"""T12, T15 and T22: what an answer carries, and names that would be code elsewhere."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from django.test import Client

from leaderboard.actions import snapshots
from leaderboard.boards.disclosure import sight_of
from leaderboard.boards.standings import find_board
from leaderboard.collections.preview import write_changes
from leaderboard.display.csv_tables import FORMULA_SIGNS
from leaderboard.models import Run, Team, Track, User
from tests.api.conftest import Program
from tests.builders import OTHER_RUN, RUN, make_run, make_user, upload
from tests.security.hostile import EVIL, SCRIPTS, TAG

pytestmark = pytest.mark.long

TEMPLATES = Path(__file__).parent.parent.parent / "templates"


@pytest.fixture
def run(track: Track, ben: User) -> Run:
    """Ben's run on Ada's open track, which has a second run and a snapshot."""
    made = make_run(track, ben)
    make_run(track, make_user("dan"), OTHER_RUN)
    return made


def test_t12_over_https_cookies_are_for_https_and_this_host_alone(settings, ben):
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    settings.SECURE_HSTS_SECONDS = 31536000
    client = Client()
    client.get("/account/login/", secure=True)
    answer = client.post("/account/login/", {"login": "ben", "password": "ben-s-word"}, secure=True)
    session = answer.cookies[settings.SESSION_COOKIE_NAME]
    assert session["secure"] and session["httponly"] and session["samesite"] == "Lax"
    assert not session["domain"] and "max-age=31536000" in answer["Strict-Transport-Security"]


@pytest.mark.parametrize("word", ["|safe", "autoescape off", "{% filter", "|safeseq", "onclick="])
def test_t15_no_template_prints_a_name_as_it_came(word):
    assert not [path.name for path in TEMPLATES.rglob("*.html") if word in path.read_text()]


@pytest.mark.parametrize("name", SCRIPTS)
def test_t15_a_script_in_a_name_is_text(track, run, as_ada, name):
    Team.objects.filter(pk=run.team_id).update(name=name[:80])
    Track.objects.update(name=name, description=name)
    Run.objects.update(tag=name, description=name, filename=name)
    for address in ("/", "/benchmarks/bread/board/", f"/runs/{run.pk}/", "/benchmarks/bread/"):
        page = as_ada.get(address).content.decode()
        assert live(name) not in page, address


def live(name: str) -> str:
    """What must not stand in a page: the name as markup, or as the address of a link."""
    return name if "<" in name else f'href="{name}'


@pytest.mark.parametrize(
    "href", ["javascript:alert(1)", "data:text/html,<script>", "vbscript:x", "//evil"]
)
def test_t15_a_fact_is_a_link_only_where_it_leads_to_a_page(track, run, as_ben, ben, href):
    as_ben.post(f"/runs/{run.pk}/facts/", {"kind": "automatic", "code": href, "paper": href})
    Program(ben).patch(f"/api/v1/runs/{run.pk}", {"facts": {"code": href}})
    Program(ben).patch(f"/api/v1/runs/{run.pk}", {"facts": {"elsewhere": href}})
    assert f'href="{href}' not in as_ben.get(f"/runs/{run.pk}/").content.decode()


def test_t15_a_file_that_came_is_never_a_page(track, ben, as_ben):
    page = upload("evil.html", b"<script>alert(1)</script>\n")
    sent = {"file": page, "kind": "automatic", "description": ""}
    as_ben.post("/benchmarks/bread/submit/", sent)
    run = Run.objects.get()
    answer = as_ben.get(f"/runs/{run.pk}/file/")
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["Content-Disposition"].startswith("attachment")
    assert answer["X-Content-Type-Options"] == "nosniff"


FILENAMES = [
    "a\r\nSet-Cookie: x=1.run",
    'a"; filename="b.html',
    "../../../etc/passwd",
    "\u202egpj.run",
    "a" * 5000,
    "\x00.run",
    EVIL,
]


@pytest.mark.parametrize("name", FILENAMES)
def test_t22_the_name_of_a_file_is_no_header(track, run, as_ben, name):
    Run.objects.filter(pk=run.pk).update(filename=name[:120])
    for address in (f"/runs/{run.pk}/file/", f"/api/v1/runs/{run.pk}/file"):
        answer = as_ben.get(address)
        said = answer["Content-Disposition"]
        assert "\n" not in said and "\r" not in said and "\0" not in said
        assert re.fullmatch(r'attachment; filename(="(\\.|[^"\\])*"|\*=utf-8\'\'\S+)', said)
        assert "Set-Cookie" not in answer


FORMULAS = [
    "=1+1",
    "+1",
    "-x",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    '=HYPERLINK("http://evil")',
    "=cmd|' /C calc'!A0",
    "\n=1",
    "＝1",
]


def test_t22_no_cell_of_the_changes_of_judgments_is_a_formula():
    out = io.StringIO()
    write_changes({b"1": {b"=cmd": 0}}, {b"1": {b"=cmd": 1, b"-2": 1}}, "v1", out)
    rows = list(csv.reader(io.StringIO(out.getvalue())))
    assert [row[1] for row in rows[1:]] == ["'=cmd", "'-2"]


@pytest.mark.parametrize("name", FORMULAS)
def test_t22_no_cell_of_any_table_is_a_formula(track, run, as_ada, name):
    Team.objects.filter(pk=run.team_id).update(name=name)
    Run.objects.update(tag=name, filename=name)
    Track.objects.update(name=name)
    addresses = [
        "/benchmarks/bread/board/?format=csv",
        "/benchmarks/bread/board/?format=tsv",
        "/api/v1/tracks/bread/leaderboard?format=csv",
        "/benchmarks/bread/topics/?format=csv",
        "/benchmarks/bread/topic/?number=1&format=csv",
        f"/runs/{run.pk}/topics.csv",
        f"/runs/{run.pk}/problems/",
        "/benchmarks/bread/cost/?format=csv",
        "/benchmarks/bread/reusability/?format=csv",
        "/benchmarks/bread/desk/trail/?format=csv",
    ]
    for address in addresses:
        answer = as_ada.get(address)
        if answer.status_code != 200 or "html" in answer["Content-Type"]:
            continue
        text = answer.content.decode()
        cells = [
            cell
            for row in csv.reader(
                io.StringIO(text, newline=""), delimiter="\t" if "tsv" in address else ","
            )
            for cell in row
        ]
        assert cells and not [cell for cell in cells if is_formula(cell)], address


def is_formula(cell: str) -> bool:
    return cell.startswith(FORMULA_SIGNS) and not re.fullmatch(r"[+-]?[\d.]+(e[+-]?\d+)?", cell)


def test_t22_tex_and_bibtex_print_names_and_run_none(track, run, ada, as_ada):
    name = r"\input{/etc/passwd}}\write18{id}$$%\\"
    Team.objects.filter(pk=run.team_id).update(name=name)
    Run.objects.filter(pk=run.pk).update(tag=name)
    Track.objects.update(name=name)
    User.objects.filter(pk=ada.pk).update(first_name=name)
    board = find_board(sight_of(Track.objects.get(), ada))
    snapshot = snapshots.freeze_board(board, ada, name)
    texts = [
        as_ada.get("/benchmarks/bread/board/?format=tex").content.decode(),
        snapshots.render_bibtex(snapshot, "http://testserver/"),
    ]
    for text in texts:
        text = text.replace(r"\textbackslash{}", "BACKSLASH").replace(r"\$", "DOLLAR")
        for command in (r"\input", r"\write", r"}\w", "$$"):
            assert command not in text


def test_t15_a_tag_of_markup_is_text_on_its_page(track, ben, as_ben):
    run = make_run(track, ben, RUN.replace("ben-bm25", TAG))
    page = as_ben.get(f"/runs/{run.pk}/").content.decode()
    assert TAG not in page and (run.state == "refused" or "&lt;img" in page)


@pytest.mark.parametrize(
    "address",
    [
        "/search/?q={}",
        "/benchmarks/bread/board/?q={}",
        "/benchmarks/bread/topic/?number={}",
        "/account/login/?next={}",
        "/{}/",
    ],
)
@pytest.mark.parametrize("text", SCRIPTS[:4])
def test_t15_what_is_asked_for_comes_back_as_text(track, client, address, text):
    page = client.get(address.format(text))
    assert text not in page.content.decode()


def test_t15_the_policy_is_the_same_for_the_docs(client, db):
    for address in ("/api/v1/docs", "/api/v1/docs/", "//api/v1/docs", "/x/api/v1/docs"):
        assert "data:" not in client.get(address)["Content-Security-Policy"]
