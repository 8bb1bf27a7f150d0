"""manage.py create_token, create_teams, load_collection, load_runs and rescore"""

from __future__ import annotations

import gzip
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from leaderboard.actions import tracks, uploads
from leaderboard.collections.documents import open_documents
from leaderboard.management.waiting import WaitingBar, progress_text
from leaderboard.models import ApiToken, Collection, Run, Team, Track, User, Worker
from leaderboard.scoring import editions
from tests.builders import (
    DOCUMENTS,
    OTHER_RUN,
    QRELS,
    RUN,
    TOPICS,
    make_collection,
    make_run,
    make_track,
    upload,
    work,
)

pytestmark = pytest.mark.long

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files of a collection."""
    (tmp_path / "topics.trec").write_text(TOPICS)
    (tmp_path / "documents.jsonl").write_text(DOCUMENTS)
    (tmp_path / "docnos.txt").write_text("".join(f"d{n}\n" for n in range(1, 13)))
    (tmp_path / "qrels.txt").write_text(QRELS)
    return tmp_path


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two runs, one of them compressed, and a file that is none of them."""
    runs = tmp_path / "runs"
    runs.mkdir()
    (runs / "a.run").write_text(RUN)
    (runs / "b.run.gz").write_bytes(gzip.compress(OTHER_RUN.encode()))
    (runs / ".hidden").write_text("nothing")
    return runs


def command(*words: object) -> str:
    out = StringIO()
    call_command(*map(str, words), stdout=out, stderr=out)
    return out.getvalue()


def load(folder: Path, *words: object) -> str:
    files = ("--topics", folder / "topics.trec", "--documents", folder / "documents.jsonl")
    return command("load_collection", "bread", *files, "--judgments", folder / "qrels.txt", *words)


def test_work_tells_whether_a_worker_of_this_host_is_alive(db):
    with pytest.raises(CommandError, match="No worker"):
        call_command("work", "--is-alive")
    Worker.objects.record_heartbeat("rankfield-1@elsewhere 0a1b2c3d")
    with pytest.raises(CommandError, match="No worker"):
        call_command("work", "--is-alive")
    Worker.objects.record_heartbeat(f"rankfield-1@{socket.gethostname()} 0a1b2c3d")
    call_command("work", "--is-alive")


def test_create_token_prints_a_token_alone(ben):
    secret = command("create_token", "ben").strip()
    token = ApiToken.objects.find(secret)
    assert (token.user, token.scopes) == (ben, ["read", "submit"])


def test_create_token_makes_a_user_without_a_password(db):
    token = ApiToken.objects.find(command("create_token", "dana").strip())
    assert token.user.username == "dana"
    assert not token.user.has_usable_password()


def test_create_token_makes_an_organiser(ben):
    token = ApiToken.objects.find(command("create_token", "ben", "--organiser").strip())
    assert token.scopes == ["read", "submit", "organise"]
    assert token.user.can_organise


def test_create_token_refuses_a_name_that_is_none(db):
    with pytest.raises(CommandError, match="Enter a valid username"):
        command("create_token", "a b")
    assert not User.objects.exists()


def test_load_collection_imports_and_says_what_it_found(ada, folder):
    text = load(folder, "--yes")
    collection = Collection.objects.get()
    assert (collection.state, collection.owner) == ("ready", ada)
    assert (collection.num_topics, collection.num_documents) == (3, 12)
    assert collection.judgment_sets.get().num_judgments == 8
    assert "12 in documents.jsonl (jsonl" in text
    assert "8 in qrels.txt (3 topics; grades 0: 3, 1: 3, 2: 1, 3: 1)" in text
    assert text.endswith("bread is ready.\n")


def test_load_collection_may_be_the_first_command_of_a_new_home(folder, tmp_path):
    own = ("DJANGO_SETTINGS_MODULE", "DATABASE_URL", "REDIS_URL")
    rest = {name: word for name, word in os.environ.items() if name not in own}
    words = ["load_collection", "bread", "--topics", str(folder / "topics.trec"), "--yes"]
    done = subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env={**rest, "RANKFIELD_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
    )
    assert done.stdout.endswith("bread is ready.\n"), done.stderr


def test_a_bar_says_how_far_it_is_and_goes_away(capsys):
    said = threading.Event()
    bar = WaitingBar(lambda: said.set() or progress_text(5, 10))
    said.wait()
    bar.end()
    assert f"\r\x1b[K{progress_text(5, 10)}\r\x1b[K" in capsys.readouterr().err


def test_load_collection_takes_name_owner_and_version(ada, cat, folder):
    load(folder, "--yes", "--name", "Bread and rye", "--owner", "cat", "--version", "pilot")
    collection = Collection.objects.get()
    assert (collection.name, collection.owner) == ("Bread and rye", cat)
    assert collection.judgment_sets.get().version == "pilot"


def test_load_collection_makes_an_organiser_where_there_is_none(db, folder):
    load(folder, "--yes")
    assert Collection.objects.get().owner.username == "organiser"


def test_load_collection_takes_docnos_for_documents(ada, folder):
    files = ("--topics", folder / "topics.trec", "--docnos", folder / "docnos.txt")
    command("load_collection", "bread", *files, "--yes")
    assert Collection.objects.get().num_documents == 12


def test_load_collection_leaves_the_files_where_they_are(ada, folder):
    load(folder, "--yes")
    assert (folder / "documents.jsonl").read_text() == DOCUMENTS


def test_load_collection_keeps_nothing_of_refused_files(ada, folder):
    (folder / "qrels.txt").write_text("1 0 d1\n")
    out = StringIO()
    with pytest.raises(CommandError, match="the files are refused"):
        call_command(
            "load_collection",
            "bread",
            topics=folder / "topics.trec",
            judgments=folder / "qrels.txt",
            yes=True,
            stderr=out,
        )
    assert "line 1: E_COLUMNS" in out.getvalue()
    assert not Collection.objects.exists()


def test_load_collection_names_the_option_that_answers_a_question(ada, folder):
    (folder / "topics.trec").write_text(TOPICS.replace("Number: ", "Number: 5"))
    out = StringIO()
    with pytest.raises(CommandError, match="a question is open"):
        call_command(
            "load_collection",
            "bread",
            topics=folder / "topics.trec",
            judgments=folder / "qrels.txt",
            yes=True,
            stderr=out,
        )
    assert "3 of 3 judged topics are not in the topics file" in out.getvalue()
    assert "--renumber-topics: number them in the order of their file" in out.getvalue()
    assert not Collection.objects.exists()
    load(folder, "--yes", "--renumber-topics")
    numbers = Collection.objects.get().topics.values_list("number", flat=True)
    assert list(numbers) == ["1", "2", "3"]


CRANFIELD = "1 d1 1\n1 d2 2\n2 d3 1\n"


@pytest.mark.parametrize(
    ("judgments", "options", "lines"),
    [
        (
            CRANFIELD,
            [],
            [
                "The judgments can be read in more than one way. Choose one:",
                "not read: A run. Column 3 counts 1, 2, 3 within each topic, as ranks do. This"
                " looks like a run, not relevance judgments.",
                "--format judgments=cranfield: Judgments of Cranfield (topic docno grade). The"
                " lines have 3 columns; column 1 has known topics. Column 3 contains grades.",
                "    topic 1, document d1, grade 1",
            ],
        ),
        (
            CRANFIELD,
            ["--format", "judgments=cranfield"],
            [
                "--grades same: the highest number is the best grade",
                "--grades 1=2,2=1: 1 is the best grade",
            ],
        ),
        ("d1 0 1 2\nd2 0 1 0\n", [], ["--format 'judgments=docno iteration topic grade': Col"]),
    ],
)
def test_load_collection_shows_a_question_with_the_option_of_each_answer(
    judgments, options, lines, ada, folder
):
    (folder / "qrels.txt").write_text(judgments)
    said = explain_load(folder, "--topics", folder / "topics.trec", "--yes", *options)
    assert all(line in said for line in lines)
    assert not Collection.objects.exists()


def test_load_collection_shows_the_questions_of_later_judgments(ada, folder):
    load(folder, "--yes")
    (folder / "qrels.txt").write_text(CRANFIELD)
    said = explain_load(folder, "--version", "v2", "--yes")
    assert "--format judgments=cranfield: Judgments of Cranfield" in said


def explain_load(folder: Path, *words: object) -> str:
    """Return what the command says of judgments with an open question."""
    out = StringIO()
    parts = ("bread", "--judgments", folder / "qrels.txt", *words)
    with pytest.raises(CommandError, match="a question is open"):
        call_command("load_collection", *map(str, parts), stdout=out, stderr=out)
    return out.getvalue()


@pytest.fixture
def ir_datasets(tmp_path, monkeypatch) -> Iterator[None]:
    """A library with the documented face of ir_datasets, and one small collection."""
    (tmp_path / "ir_datasets.py").write_text(IR_DATASETS)
    monkeypatch.syspath_prepend(tmp_path)
    # Another test may have imported the library itself, which comes back afterwards.
    monkeypatch.delitem(sys.modules, "ir_datasets", raising=False)
    yield
    sys.modules.pop("ir_datasets", None)


IR_DATASETS = """
from collections import namedtuple

Doc = namedtuple("Doc", "doc_id title body")
Titled = namedtuple("Titled", "query_id title description narrative")
Qrel = namedtuple("Qrel", "query_id doc_id relevance iteration")


class Loaf:
    has_docs = has_queries = has_qrels = lambda self: True
    docs_iter = lambda self: iter([Doc("d1", "Rye", "Dark\\nloaf."), Doc("d2", "", "x")])
    queries_iter = lambda self: iter([Titled("1", "rye", "Which is dark?", "")])
    qrels_iter = lambda self: iter([Qrel("1", "d1", 2, "0"), Qrel("1", "d2", 0, "0")])


class Crumbs(Loaf):
    has_queries = lambda self: False


def load(name):
    return {"bread/loaf": Loaf, "bread": Crumbs}[name]()
"""


def test_load_collection_takes_what_ir_datasets_has(ada, ir_datasets):
    command("load_collection", "bread", "--ir-datasets", "bread/loaf", "--yes")
    collection = Collection.objects.get()
    assert (collection.num_topics, collection.num_documents) == (1, 2)
    assert collection.topics.get().description == "Which is dark?"
    assert collection.judgment_sets.get().grade_counts == {"0": 1, "2": 1}
    found = open_documents(collection.documents.name).find("d1")
    assert (found.title, found.text) == ("Rye", "Dark\nloaf.")


def test_load_collection_may_take_other_judgments_than_ir_datasets_has(ada, ir_datasets, folder):
    (folder / "qrels.txt").write_text("1 0 d2 1\n")
    words = ["--ir-datasets", "bread/loaf", "--judgments", folder / "qrels.txt", "--yes"]
    command("load_collection", "bread", *words)
    assert Collection.objects.get().judgment_sets.get().grade_counts == {"1": 1}


@pytest.mark.parametrize(
    ("name", "why"),
    [("rye", "ir_datasets does not have rye"), ("bread", "bread has no topics")],
)
def test_load_collection_says_what_ir_datasets_has_not(ada, ir_datasets, name, why):
    with pytest.raises(CommandError, match=why):
        command("load_collection", "bread", "--ir-datasets", name)
    assert not Collection.objects.exists()


def test_load_collection_says_how_to_get_ir_datasets(ada, monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(CommandError, match=r"pip install 'rankfield\[datasets\]'"):
        command("load_collection", "bread", "--ir-datasets", "bread/loaf")


def test_load_collection_imports_nothing_that_nobody_confirmed(ada, folder):
    with pytest.raises(CommandError, match="--yes confirms"):
        load(folder)
    assert not Collection.objects.exists()


def test_load_collection_asks_who_sits_there(ada, folder, monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda prompt: "y")
    load(folder)
    assert Collection.objects.get().state == "ready"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--owner", "nobody"], "There is no user nobody"),
        (["--version", "v 1"], "may contain letters, digits"),
        (["--topics", "/nowhere/topics"], "No such file"),
    ],
)
def test_load_collection_says_what_is_wrong_with_its_options(ada, folder, words, why):
    with pytest.raises(CommandError, match=why):
        load(folder, "--yes", *words)
    assert not Collection.objects.exists()


def test_load_collection_touches_no_collection_there_is(ada, folder):
    make_collection(ada)
    with pytest.raises(CommandError, match=r"Collection bread already exists \(ready\)"):
        load(folder, "--yes")


def test_load_runs_uploads_a_folder_and_prints_a_line_a_run(track, runs):
    lines = command("load_runs", "bread", runs).splitlines()
    assert [line.split()[0] for line in lines[:-1]] == ["a.run", "b.run.gz"]
    assert lines[0].split()[2:] == ["scored", "ben-bm25", "AP", ".6944"]
    assert {run.team.of_organisers for run in Run.objects.all()} == {True}


def test_load_runs_sums_up_by_verdict(track, runs):
    (runs / "c.run").write_text("not a run\n")
    out = StringIO()
    with pytest.raises(CommandError, match="1 of 3 files is not on the board"):
        call_command("load_runs", "bread", str(runs), stdout=out, stderr=out)
    assert out.getvalue().endswith("3 files: 2 scored, 1 refused\n")


def test_load_runs_may_be_repeated(track, runs):
    assert command("load_runs", "bread", runs) == command("load_runs", "bread", runs)
    assert Run.objects.count() == 2


def test_load_runs_uploads_for_a_team(track, runs):
    command("load_runs", "bread", runs, "--team", "Crumbs")
    assert {run.team.name for run in Run.objects.all()} == {"Crumbs"}


def test_load_runs_heeds_neither_dates_nor_quotas(track, runs):
    Track.objects.update(closes_at="2020-01-01T00:00:00Z", quota_total=0)
    command("load_runs", "bread", runs)
    assert Run.objects.filter(state="scored").count() == 2


def test_load_runs_takes_old_runs_leniently(track, runs):
    (runs / "a.run").write_text(f"1 Q0 d1 1 2.5 {'long-tag' * 9}\n")
    with pytest.raises(CommandError, match="1 of 2 files is not on the board"):
        command("load_runs", "bread", runs)
    command("load_runs", "bread", runs, "--lenient")
    assert Run.objects.filter(state="scored").count() == 2


def test_load_runs_repairs_what_is_certain(track, runs):
    (runs / "a.run").write_text(RUN.replace("ben-bm25", "LMD m"))
    with pytest.raises(CommandError, match="1 of 2 files is not on the board"):
        command("load_runs", "bread", runs)
    command("load_runs", "bread", runs, "--fix", "tag")
    run = Run.objects.get(filename="a.run", state="scored")
    assert (run.tag, run.fixes) == ("LMD-m", ["tag"])


def test_load_runs_knows_its_repairs(track, runs):
    with pytest.raises(CommandError, match="invalid choice: 'spelling'"):
        command("load_runs", "bread", runs, "--fix", "spelling")


def test_load_runs_waits_for_judgments_as_valid(collection, runs):
    make_track(collection, judgment_set=None)
    lines = command("load_runs", "bread", runs).splitlines()
    assert lines[0].split()[2:] == ["valid", "ben-bm25"]


def test_load_runs_names_what_is_not_there(track, runs):
    with pytest.raises(CommandError, match="No such track: rye"):
        command("load_runs", "rye", runs)
    with pytest.raises(CommandError, match="No such file"):
        command("load_runs", "bread", runs / "nowhere")


def test_rescore_puts_a_new_edition_on_the_board(track, ben, monkeypatch):
    run = make_run(track, ben)
    monkeypatch.setattr(editions, "SCORING_VERSION", 3)
    assert command("rescore", "bread") == "bread: 1 run by v1, scoring version 3\n"
    edition = Track.objects.get().edition
    assert edition.scoring_version == 3
    assert run.score_sets.filter(edition=edition).exists()


def send_v2(collection, ada) -> None:
    text = QRELS.replace("2 0 d5 0", "2 0 d5 2")
    uploads.accept_judgments(collection, upload("v2.txt", text), "v2", ada, asks_first=False)
    work()


def test_rescore_renews_what_is_on_trial_too(track, collection, ada, ben, monkeypatch):
    make_run(track, ben)
    send_v2(collection, ada)
    monkeypatch.setattr(editions, "SCORING_VERSION", 3)
    assert command("rescore", "bread").splitlines() == [
        "bread: 1 run by v1, scoring version 3",
        "bread: 1 run by v2, scoring version 3, on trial",
    ]
    assert editions.find_trial_edition(track).scoring_version == 3


def test_rescore_renews_the_first_judgments_that_are_on_trial(collection, ada, ben):
    make_run(make_track(collection, judgment_set=None), ben)
    send_v2(collection, ada)
    assert command("rescore") == "bread: 1 run by v2, scoring version 2, on trial\n"


def test_judgments_that_stood_on_the_board_are_not_on_trial_again(track, collection, ada, ben):
    make_run(track, ben)
    send_v2(collection, ada)
    first, second = collection.judgment_sets.all()
    for each in (second, first):
        tracks.change_track(track, ada, {"judgment_set": each})
        work()
    assert command("rescore") == "bread: 1 run by v1, scoring version 2\n"


def test_rescore_without_a_track_takes_all_that_have_judgments(collection, ben):
    make_track(collection, slug="b")
    make_track(collection, slug="a")
    make_track(collection, slug="c", judgment_set=None)
    assert [line.split(":")[0] for line in command("rescore").splitlines()] == ["a", "b"]


def test_rescore_of_a_track_that_is_not_there_fails(db):
    with pytest.raises(CommandError, match=r"No track rye with judgments\."):
        command("rescore", "rye")


def test_a_command_that_worked_is_no_worker_afterwards(ada, folder):
    load(folder, "--yes")
    assert not Worker.objects.filter(name__startswith="command-").exists()


def test_judgments_alone_become_a_version_of_the_collection_there_is(folder, db):
    load(folder, "--yes")
    (folder / "second.txt").write_text(QRELS + "1 0 d12 2\n")
    words = ("--judgments", folder / "second.txt", "--version", "v2", "--yes")
    assert "bread now has judgments v2." in command("load_collection", "bread", *words)
    assert Collection.objects.get().judgment_sets.get(version="v2").num_judgments == 9


def test_which_grade_is_the_best_is_an_option(folder, db):
    (folder / "qrels.txt").write_text("1 d1 1\n2 d4 3\n")
    with pytest.raises(CommandError, match="a question is open"):
        load(folder, "--yes")
    load(folder, "--yes", "--grades", "1=3,3=1")
    assert Collection.objects.get().judgment_sets.get().grade_counts == {"1": 1, "3": 1}


def test_the_columns_of_judgments_are_an_option(folder, db):
    (folder / "qrels.txt").write_text("d1 1 1\nd4 2 0\n")
    load(folder, "--yes", "--format", "judgments=docno topic grade")
    assert Collection.objects.get().state == "ready"


def test_a_new_collection_needs_topics(folder, db):
    with pytest.raises(CommandError, match="needs --topics"):
        command("load_collection", "bread", "--judgments", folder / "qrels.txt")


def test_create_teams_makes_many_teams_and_prints_their_tokens(track, tmp_path):
    (tmp_path / "names.txt").write_text("Crusts\n\n  Die Brötchen \n")
    printed = command("create_teams", "bread", "Crumbs", "--file", tmp_path / "names.txt")
    made = dict(line.split("\t") for line in printed.splitlines())
    assert list(made) == ["Crumbs", "Crusts", "Die Brötchen"]
    for name, secret in made.items():
        assert track.team_of(ApiToken.objects.find(secret).user).name == name


def test_create_teams_makes_all_or_none(track):
    for names in (["Crumbs", "crumbs"], ["Crumbs", "organisers"], []):
        with pytest.raises(CommandError):
            command("create_teams", "bread", *names)
    with pytest.raises(CommandError, match="No such benchmark"):
        command("create_teams", "rye", "Crumbs")
    assert not Team.objects.exists()
