"""Small inputs that people really had, each with what is right: commands, uploads, numbers.

A folder of cases has one folder each, with its files and `check.json`.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from evaluation.__main__ import main
from leaderboard.collections.documents import open_documents
from leaderboard.models import ApiToken, Collection, Judgment, Track, User
from tests.builders import make_run, make_user, signed_in, upload, work
from tests.pages.commands import commands, printed_by
from tests.pages.reading import page_at

pytestmark = pytest.mark.data

FOLDER = Path(os.environ.get("RANKFIELD_DATA", "")) / "realcases"
PARTS = ("topics", "documents", "judgments")
Check = dict[str, Any]
# What is not right yet.
OPEN: set[str] = set()


@pytest.fixture
def api(ada: User) -> Client:
    _, secret = ApiToken.objects.issue(ada, ["read", "submit", "organise"])
    return Client(headers={"Authorization": f"Bearer {secret}"})


@pytest.fixture
def case(request, monkeypatch) -> Path:
    monkeypatch.chdir(FOLDER / request.param)
    return FOLDER / request.param


def cases() -> list[Any]:
    """The name of each case; one that is not right yet has to fail."""
    still_open = pytest.mark.xfail(strict=True)
    return [
        pytest.param(name, marks=[still_open] if name in OPEN else [])
        for name in sorted(path.parent.name for path in FOLDER.glob("*/check.json"))
    ]


@pytest.mark.parametrize("case", cases(), indirect=True)
def test_a_real_case(case, db, api, capsys, tmp_path):
    for check in json.loads((case / "check.json").read_text())["checks"]:
        if "any" not in check:
            TRIED[kind_of(check)](check, api, capsys, tmp_path)
        elif failed := failures(check["any"], api, capsys, tmp_path):
            pytest.fail("\n".join(failed))


def kind_of(check: Check) -> str:
    return next(kind for kind in TRIED if kind in check)


def failures(alternatives: list[Check], *parts: Any) -> list[str]:
    """Why each alternative fails; nothing as soon as one holds."""
    found = []
    for check in alternatives:
        Collection.objects.filter(slug="case").delete()
        try:
            TRIED[kind_of(check)](check, *parts)
        except (AssertionError, CommandError) as reason:
            found.append(str(reason))
        else:
            return []
    return found


def try_command(check: Check, api: Client, capsys: Any, tmp_path: Path) -> None:
    """`cli`: a command of the evaluation package, beside the files of the case."""
    capsys.readouterr()
    status = main(shlex.split(check["cli"]))
    told = "".join(capsys.readouterr())
    judge_words(check, told)
    judge_status(check, status, told)
    for measure, value in check.get("values", {}).items():
        assert value_of(measure, told) == pytest.approx(value, abs=6e-5), told


def judge_status(check: Check, status: int, told: str) -> None:
    if "rc" in check:
        assert bool(status) if check["rc"] == "nonzero" else status == check["rc"], told
    elif "values" in check:
        assert status == 0, told


def judge_words(check: Check, told: str) -> None:
    if "says" in check:
        assert re.search(check["says"], told), told
    if "says_not" in check:
        assert not re.search(check["says_not"], told), told
    for pattern in check.get("says_hint", []):
        assert re.search(pattern, told), told


def value_of(measure: str, told: str) -> float:
    """The value of `all` in what `score` prints."""
    found = re.search(rf"^{re.escape(measure)}\s+all\s+(\S+)$", told, re.MULTILINE)
    assert found, told
    return float(found[1])


def try_loading(check: Check, api: Client, capsys: Any, tmp_path: Path) -> None:
    """`load`: the command of the server on an empty site."""
    out, status = StringIO(), 0
    try:
        call_command("load_collection", "case", *shlex.split(check["load"]), stdout=out, stderr=out)
    except CommandError as reason:
        out.write(str(reason))
        status = 1
    judge_words(check, out.getvalue())
    judge_status(check, status, out.getvalue())
    assert Collection.objects.filter(state="ready").exists() == (status == 0)


def try_upload(check: Check, api: Client, capsys: Any, tmp_path: Path) -> None:
    """`upload`: a collection sent to the API, as it was imported."""
    answer = send_collection(check["upload"], api)
    state = check.get("state", "ready")
    assert answer["state"] in ([state] if isinstance(state, str) else state), answer
    if answer["state"] == "ready":
        judge_rows(check, Collection.objects.get(slug="case"))
    told = json.dumps([answer["problems"], answer["questions"]], ensure_ascii=False)
    sets = [each.get("problems", []) for each in answer["judgment_sets"]]
    told += json.dumps(sets, ensure_ascii=False)
    judge_words(check, told)
    if "most_problems" in check:
        assert told.count('"code"') <= check["most_problems"], told


def send_collection(files: dict[str, str], api: Client) -> dict[str, Any]:
    parts = {
        part: upload(files[part], Path(files[part]).read_bytes()) for part in PARTS & files.keys()
    }
    answer = api.post("/api/v1/collections", {"slug": "case", "name": "Case", **parts})
    assert answer.status_code == 202, answer.content
    work()
    return api.get("/api/v1/collections/case").json()


def judge_rows(check: Check, collection: Collection) -> None:
    judged = collection.judgment_sets.first()
    counts = {
        "num_topics": collection.num_topics,
        "num_documents": collection.num_documents,
        "num_judgments": judged.num_judgments if judged else 0,
    }
    for name in counts.keys() & check.keys():
        assert counts[name] == check[name]
    if "grades" in check:
        assert judged and judged.grade_counts == check["grades"]
    for shown in check.get("show_topics", []):
        judge_topic(shown, collection)
    for docno, text in check.get("show_documents", []):
        found = open_documents(collection.documents.name).find(docno)
        assert found and text in f"{found.title} {found.text}", (docno, found)
    for number, docno, grade in check.get("show_judgments", []):
        row = Judgment.objects.get(judgment_set=judged, topic__number=number, docno=docno)
        assert row.grade == grade


def judge_topic(shown: dict[str, str], collection: Collection) -> None:
    topic = collection.topics.get(number=shown["number"])
    if "title" in shown:
        assert topic.title == shown["title"]
    assert shown.get("description", "") in topic.description
    assert shown.get("narrative", "") in topic.narrative
    assert shown.get("anywhere", "") in f"{topic.title} {topic.description} {topic.narrative}"


def try_reproducing(check: Check, api: Client, capsys: Any, tmp_path: Path) -> None:
    """`reproduce`: the command of a number prints it again, on what can be downloaded."""
    told = check["reproduce"]
    make_board(told, api)
    run = send_run(told, api)
    measure, ada = check["measure"], signed_in(User.objects.get(username="ada"))
    assert api.get(f"/api/v1/runs/{run}").json()["scores"][measure] == pytest.approx(check["value"])
    page = page_at(ada, f"/benchmarks/case/computed/?run={run}&measure={measure}")
    ours = commands(page)[0]
    save_downloads(shlex.split(ours), ada, run, tmp_path)
    assert value_of(measure, printed_by(ours, tmp_path)) == pytest.approx(check["value"], abs=6e-5)


def make_board(told: dict[str, Any], api: Client) -> Track:
    """The collection and the open track of a case."""
    assert send_collection(told, api)["state"] == "ready"
    track = {
        "slug": "case",
        "name": "Case",
        "collection": "case",
        "judgments": "v1",
        "measures": ["AP"],
        "primary_measure": "AP",
        "disclosure": "open",
        **told.get("track", {}),
    }
    answer = api.post("/api/v1/tracks", track, content_type="application/json")
    assert answer.status_code == 201, answer.content
    work()
    return Track.objects.get(slug="case")


def send_run(told: dict[str, Any], api: Client) -> str:
    """Submit the run of a case with its fields; return its id once it is scored."""
    file = upload(told["run"], Path(told["run"]).read_bytes())
    answer = api.post("/api/v1/tracks/case/runs", {"file": file, **told.get("fields", {})})
    assert answer.status_code == 201, answer.content
    work()
    return answer.json()["id"]


def save_downloads(words: list[str], client: Client, run: str, folder: Path) -> None:
    """Put the judgments and the run where the command expects them."""
    qrels, ranking = [word for word in words if word.endswith((".txt", ".run"))][:2]
    for name, page in (
        (qrels, "/benchmarks/case/judgments/v1/qrels.txt"),
        (ranking, f"/runs/{run}/file/"),
    ):
        (folder / name).write_bytes(b"".join(client.get(page)))


def try_leaving(check: Check, api: Client, capsys: Any, tmp_path: Path) -> None:
    """`account`: the leader of a team of two deletes the account; the team keeps a leader."""
    track, ben, dora = make_board(check["account"], api), make_user("ben"), make_user("dora")
    run = make_run(track, ben, Path(check["account"]["run"]).read_bytes())
    run.team.memberships.create(user=dora, role="member", benchmark=track.benchmark)
    page = signed_in(ben).post("/account/delete/", {"name": "ben"})
    run.refresh_from_db()
    assert (run.state, run.team.name) == ("scored", "ben")
    assert run.team.memberships.filter(role="leader").exists()
    if User.objects.filter(username="ben").exists():
        assert "<bdi>ben</bdi>" in page.content.decode()


Tried = Callable[[Check, Client, Any, Path], None]
TRIED: dict[str, Tried] = {
    "cli": try_command,
    "load": try_loading,
    "upload": try_upload,
    "reproduce": try_reproducing,
    "account": try_leaving,
}
