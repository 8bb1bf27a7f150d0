"""Run by test_query_plans on PostgreSQL: which statements of a page read a large table whole.

A small scene is made as users make it; then every table that grows gets 100,000 rows of others.
Prints two JSON objects: by page, the statements with the tables that PostgreSQL would read whole,
and the same once the runs have no index but their key.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import django

django.setup()

from allauth.account.models import EmailAddress  # noqa: E402
from django.contrib.sessions.models import Session  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection, models  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import CaptureQueriesContext, setup_test_environment  # noqa: E402

from leaderboard import models as tables  # noqa: E402
from leaderboard.jobs import running  # noqa: E402
from leaderboard.models import ApiToken, Run, Track, User  # noqa: E402
from tests.boards.food_benchmark import make_food_benchmark  # noqa: E402
from tests.builders import (  # noqa: E402
    OTHER_RUN,
    RUN,
    make_assessment,
    make_collection,
    make_pool,
    make_run,
    make_track,
    make_user,
    signed_in,
    upload,
)

ROWS = 100_000
# PostgreSQL may read smaller tables whole: one of 500 tracks is read faster than its index.
LARGE = 50_000
# The tracks of others, and what there is one of for each.
TRACKS = 500
# Who reads what.
PAGES = """
anyone:/ ben:/ ada:/ ben:/tracks/ ben:/benchmarks/ anyone:/search/?q=1 ben:/search/?q=bm25
anyone:/benchmarks/food/tracks/bread/board/ ben:/benchmarks/food/tracks/bread/board/
ada:/benchmarks/food/tracks/bread/board/ ben:/benchmarks/food/tracks/bread/board/?family=all
ben:/benchmarks/food/tracks/bread/board/?measure=P@5&sort=-AP ben:/benchmarks/food/tracks/bread/
ben:/benchmarks/food/tracks/bread/data/ anyone:/benchmarks/food/tracks/bread/topics/
anyone:/benchmarks/food/tracks/bread/topic/?number=1
ben:/benchmarks/food/tracks/bread/topic/?number=1 ben:/benchmarks/food/tracks/bread/judgments/
ben:/benchmarks/food/tracks/bread/significance/ ben:/benchmarks/food/tracks/bread/history/
anyone:/benchmarks/food/tracks/bread/feed.xml anyone:/benchmarks/food/tracks/bread/snapshots/
ben:/benchmarks/food/tracks/bread/submit/ ben:/benchmarks/food/tracks/bread/runs/
ben:/benchmarks/food/tracks/bread/team/ ben:/runs/ anyone:/runs/{run}/ ben:/runs/{run}/
ben:/runs/{run}/topics/ ben:/runs/{run}/state/ ben:/runs/{run}/ranking/?number=1 ben:/account/
ben:/account/notices/ token:/api/v1/runs/{run} token:/api/v1/tracks/bread/runs
token:/api/v1/tracks/bread token:/api/v1/tracks token:/api/v1/tracks/bread/leaderboard
token:/api/v1/tracks/bread/leaderboard?format=csv anyone:/benchmarks/food/board/
ben:/benchmarks/food/board/ ada:/benchmarks/food/board/ ben:/benchmarks/food/submit/
ben:/benchmarks/food/systems/ anyone:/benchmarks/food/differences/
anyone:/benchmarks/food/new-collections/ anyone:/benchmarks/food/by-date/
anyone:/benchmarks/food/history/
ada:/benchmarks/food/tracks/bread/desk/ ada:/benchmarks/food/tracks/bread/desk/trail/
ada:/benchmarks/food/tracks/bread/manage/ ada:/benchmarks/food/manage/people/
ada:/benchmarks/cakes/judging/ ada:/benchmarks/cakes/pools/ dan:/judging/
dan:/judging/{assignment}/?tab=a anyone:/healthz
"""
# Ids of the rows of others begin here.
FIRST = 1_000_000
# The runs on the board that is read.
ON_THE_BOARD = 100
BOARD = "/benchmarks/food/tracks/bread/board/"
OF_A_TRACK = f"{FIRST} + mod(g, {TRACKS})"
OF_A_ROW = f"{FIRST} + g"


def main() -> None:
    setup_test_environment()
    call_command("migrate", verbosity=0)
    make_scene()
    pages = dict(read_pages())
    print(json.dumps(explain_pages(pages)))
    drop_indexes_of_runs()
    print(json.dumps(explain_pages(pages)))


def explain_pages(pages: dict[str, list[str]]) -> dict[str, list[str]]:
    return {name: list(find_whole_reads(asked)) for name, asked in pages.items()}


def drop_indexes_of_runs() -> None:
    asked = "SELECT indexname FROM pg_indexes WHERE tablename = %s AND indexname NOT LIKE %s"
    with connection.cursor() as cursor:
        cursor.execute(asked, [Run._meta.db_table, "%_pkey"])
        for (name,) in cursor.fetchall():
            cursor.execute(f'DROP INDEX "{name}"')


def make_scene() -> None:
    """Ada's benchmark of three tracks and her assessment; Ben and Cat take part, Dan judges."""
    ada, ben, cat, dan = (make_user(name) for name in ("ada", "ben", "cat", "dan"))
    User.objects.filter(pk=ada.pk).update(can_organise=True)
    make_food_benchmark(ada, ben, cat)
    unjudged = make_track(make_collection(ada, "cakes", None), "cakes", disclosure="blind")
    pool = make_pool(unjudged, ada, [make_run(unjudged, ben), make_run(unjudged, cat, OTHER_RUN)])
    make_assessment(pool, ada, dan)
    track = Track.objects.get(slug="bread")
    track.baseline = track.runs.filter(team__name="cat").first() or track.runs.first()
    track.save()
    add_others()


def add_others() -> None:
    """What users of 500 other tracks have made, written straight into the tables."""
    with connection.cursor() as cursor:
        # The rows are right, so that keys need not be checked one by one.
        cursor.execute("SET session_replication_role = replica")
        for add in (add_tracks, add_runs, add_events, add_systems, add_judging):
            add()
        cursor.execute("SET session_replication_role = DEFAULT")
        # As PostgreSQL does by itself within minutes.
        cursor.execute("VACUUM ANALYZE")


def add_rows(model: type[models.Model], rows: int = ROWS, **columns: str) -> None:
    """Add copies of the first row of a table; columns are expressions of `g`, from 0."""
    source = model._default_manager.order_by("pk").first()
    assert source is not None, f"the scene has no {model.__name__}"
    copy_row(source, rows, **columns)


def copy_row(source: models.Model, rows: int = ROWS, **columns: str) -> None:
    meta = source._meta
    if meta.pk.name == "id" and meta.auto_field is not None:
        columns.setdefault("id", OF_A_ROW)
    names = [field.column for field in meta.concrete_fields]
    values = ", ".join(columns.get(name, f'source."{name}"') for name in names)
    listed = ", ".join(f'"{name}"' for name in names)
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {meta.db_table} ({listed}) SELECT {values}"
            f" FROM {meta.db_table} source, generate_series(0, {rows - 1}) g"
            f' WHERE source."{meta.pk.column}" = %s',
            [source.pk],
        )


def add_tracks() -> None:
    add_rows(User, username="'user-' || g", email="''", can_organise="false")
    add_rows(tables.Collection, TRACKS, slug="'other-' || g", owner_id=OF_A_ROW)
    add_rows(tables.Topic, collection_id=OF_A_TRACK, number="g", position="g")
    add_rows(tables.JudgmentSet, TRACKS, collection_id=OF_A_ROW)
    add_rows(tables.Judgment, judgment_set_id=OF_A_TRACK, topic_id=OF_A_ROW, docno="'d' || g")
    add_rows(
        tables.Benchmark,
        TRACKS,
        slug="'other-' || g",
        invitation="'code-' || g",
        owner_id=OF_A_ROW,
        joining="'invitation'",
    )
    copy_row(
        Track.objects.get(slug="bread"),
        TRACKS,
        slug="'other-' || g",
        address="'other-' || g",
        collection_id=OF_A_ROW,
        judgment_set_id=OF_A_ROW,
        edition_id=OF_A_ROW,
        badge_code="'badge-' || g",
        benchmark_id=OF_A_ROW,
        visibility="'members'",
        baseline_id="NULL",
    )
    add_rows(tables.Edition, TRACKS, track_id=OF_A_ROW, judgment_set_id=OF_A_ROW)
    key = "'team-' || g"
    add_rows(
        tables.Team, benchmark_id=OF_A_TRACK, name=key, key=key, invitation=key,
        of_organisers="false",
    )  # fmt: skip
    add_rows(tables.Participation, team_id=OF_A_ROW, track_id=OF_A_TRACK, alias="to_hex(g)")
    add_rows(tables.Membership, benchmark_id=OF_A_TRACK, team_id=OF_A_ROW, user_id=OF_A_ROW)
    cheese = Track.objects.get(slug="cheese").benchmark
    dan = User.objects.get(username="dan")
    tables.JoinRequest.objects.create(benchmark=cheese, user=dan, team_name="x")
    add_rows(tables.JoinRequest, benchmark_id=OF_A_TRACK, user_id=OF_A_ROW)


def add_runs() -> None:
    """Runs of others, and a hundred more on the board that is read."""
    track = Track.objects.get(slug="bread")
    run = Run.objects.filter(track=track, state="scored").first()
    assert run is not None
    others = {"is_primary": "false", "version_id": "NULL", "replaces_id": "NULL"}
    scores = tables.ScoreSet.objects.get(run=run, edition=track.edition)
    copy_row(
        run, id="'o' || g", track_id=OF_A_TRACK, team_id=OF_A_ROW, submitted_by_id=OF_A_ROW,
        sha256="md5(g::text)", fingerprint="md5(g::text)", **others,
    )  # fmt: skip
    copy_row(scores, run_id="'o' || g", edition_id=OF_A_TRACK)
    copy_row(run, ON_THE_BOARD, id="'b' || g", sha256="md5(g::text)", tag="'run-' || g", **others)
    board = f"{FIRST + ROWS} + g"
    copy_row(scores, ON_THE_BOARD, id=board, run_id="'b' || g")
    for place, score in enumerate(scores.scores.all()):
        number = f"{FIRST + 2 * ROWS * place} + g"
        copy_row(score, id=number, score_set_id=OF_A_ROW, mean="g / 1e6")
        number = f"{FIRST + 2 * ROWS * place + ROWS} + g"
        copy_row(score, ON_THE_BOARD, id=number, score_set_id=board, mean="g / 1e3")
    tests = tables.Calculation.objects.create(
        kind="tests", edition=track.edition, key="none", request={}, results={}
    )
    copy_row(tests, edition_id=OF_A_TRACK, key="'none ' || g")


def add_events() -> None:
    """What is written down of what users do, and what they are told."""
    add_rows(tables.AuditEvent, actor_id=OF_A_ROW, track_id=OF_A_TRACK, target_id="g")
    add_rows(tables.Notice, user_id=OF_A_ROW, track_id=OF_A_TRACK, read_at="at")
    add_rows(tables.Job, state="'done'", target_id="g", finished_at="created_at")
    ada, bread = User.objects.get(username="ada"), Track.objects.get(slug="bread")
    ApiToken.objects.issue(ada, ["read"])
    add_rows(ApiToken, user_id=OF_A_ROW, digest="md5(g::text)")
    tables.Announcement.objects.create(track=bread, text="Hello.", created_by=ada)
    add_rows(tables.Announcement, track_id=OF_A_TRACK)
    hook = tables.Webhook.objects.create(track=bread, url="https://a.example", created_by=ada)
    copy_row(hook, TRACKS, track_id=OF_A_ROW)
    tables.Delivery.objects.create(webhook=hook, happening="run.scored", body={})
    add_rows(tables.Delivery, webhook_id=OF_A_TRACK, state="'delivered'")
    tables.Mail.objects.create(notice=tables.Notice.objects.filter(pk__lt=FIRST)[0])
    add_rows(tables.Mail, notice_id=OF_A_ROW, state="'delivered'")
    tables.SentForm.objects.create(user=ada, digest="0", address="/")
    add_rows(tables.SentForm, user_id=OF_A_ROW, digest="g")
    EmailAddress.objects.create(user=ada, email="ada@a.example")
    add_rows(EmailAddress, user_id=OF_A_ROW, email="'u' || g || '@a.example'")
    Client().force_login(ada)
    add_rows(Session, session_key="'key-' || g")
    nothing = {"heads": [], "rows": [], "files": {}, "created_by": ada}
    tables.Snapshot.objects.create(track=bread, edition=bread.edition, slug="first", **nothing)
    add_rows(tables.Snapshot, track_id=OF_A_TRACK, edition_id=OF_A_TRACK, slug="'s' || g")


def add_systems() -> None:
    add_rows(tables.System, benchmark_id=OF_A_TRACK, team_id=OF_A_ROW)
    add_rows(tables.SystemVersion, system_id=OF_A_ROW)


def add_judging() -> None:
    add_rows(tables.Pool, track_id=OF_A_TRACK, name="'pool-' || g")
    add_rows(
        tables.Assessment, TRACKS, track_id=OF_A_ROW, pool_id=OF_A_ROW, invitation="'code-' || g"
    )
    add_rows(tables.Guideline, TRACKS, assessment_id=OF_A_ROW)
    add_rows(tables.Assessor, assessment_id=OF_A_TRACK, user_id=OF_A_ROW, name="'a' || g")
    add_rows(tables.Assignment, assessor_id=OF_A_ROW, topic_id=OF_A_ROW)
    dan = signed_in(User.objects.get(username="dan"))
    judge_one(dan)
    document = tables.AssignedDocument.objects.exclude(mark=None)[0]
    copy_row(document, assignment_id=OF_A_ROW, docno="'d' || g", place="g", mark_id=OF_A_ROW)
    copy_row(document.mark, document_id=OF_A_ROW, assessor_id=OF_A_ROW, guideline_id=OF_A_TRACK)
    add_settlements(document)


def add_settlements(document: tables.AssignedDocument) -> None:
    assignment = document.assignment
    settlement = tables.Settlement.objects.create(
        assessment=assignment.assessor.assessment,
        topic=assignment.topic,
        docno=document.docno,
        grade=1,
        settled_by=User.objects.get(username="ada"),
    )
    copy_row(settlement, assessment_id=OF_A_TRACK, docno="'d' || g")


def judge_one(dan: Client) -> None:
    """Open the desk of an assessor and send a mark, as its script does."""
    mine = tables.Assignment.objects.filter(assessor__user__username="dan", finished_at=None)
    assignment = mine.first()
    assert assignment is not None
    dan.post(f"/judging/{assignment.pk}/before/", {"start": "yes"})
    dan.get(f"/judging/{assignment.pk}/?tab=a")
    document = assignment.documents.filter(mark=None).first()
    assert document is not None
    mark = {"key": document.docno, "document": document.pk, "grade": 1}
    body = json.dumps({"tab": "a", "have": [], "marks": [mark]})
    answer = dan.post(f"/judging/{assignment.pk}/marks/", body, "application/json")
    assert answer.status_code == 200, answer.content


def read_pages() -> Iterator[tuple[str, list[str]]]:
    """Yield each page or act with the statements that it asks the database."""
    readers = {name: signed_in(User.objects.get(username=name)) for name in ("ada", "ben", "dan")}
    _, secret = ApiToken.objects.issue(User.objects.get(username="ben"), ["read", "submit"])
    readers |= {"anyone": Client(), "token": Client(headers={"Authorization": f"Bearer {secret}"})}
    run = Run.objects.filter(track__slug="bread", team__name="ben", pk__regex="^.{10}$").get().pk
    ours = tables.Assignment.objects.filter(assessor__user__username="dan").first()
    assert ours is not None
    for line in PAGES.split():
        who, address = line.format(run=run, assignment=ours.pk).split(":", 1)
        yield line, capture(partial(read, readers[who], address))
    yield "a mark", capture(lambda: judge_one(readers["dan"]))
    yield "a run by API", capture(lambda: send_run(readers["token"]))
    yield "the work of its job", capture(lambda: running.run_due_jobs("tests"))
    yield (
        "the board then",
        capture(partial(read, readers["ben"], BOARD)),
    )


def read(reader: Client, address: str) -> None:
    answer = reader.get(address)
    assert answer.status_code == 200, (address, answer.status_code)
    b"".join(answer)


def send_run(script: Client) -> None:
    file = upload("new.run", RUN.replace("ben-bm25", "ben-new").replace("d9", "d10"))
    answer = script.post("/api/v1/tracks/bread/runs", {"file": file})
    assert answer.status_code == 201, answer.content


def capture(act: Callable[[], object]) -> list[str]:
    with CaptureQueriesContext(connection) as asked:
        act()
    return [query["sql"] for query in asked]


def find_whole_reads(asked: list[str]) -> Iterator[str]:
    """Yield the statements for which PostgreSQL would read a large table whole."""
    large = find_large_tables()
    for statement in dict.fromkeys(asked):
        if statement.split(None, 1)[0] not in ("SELECT", "UPDATE", "DELETE", "WITH"):
            continue
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (FORMAT JSON) {statement}")
            [([plan],)] = cursor.fetchall()
        if whole := large & set(scanned_tables(plan["Plan"])):
            yield f"{', '.join(sorted(whole))}: {statement[:3000]}"


def find_large_tables() -> set[str]:
    asked = "SELECT relname FROM pg_class WHERE relkind = 'r' AND reltuples >= %s"
    with connection.cursor() as cursor:
        cursor.execute(asked, [LARGE])
        return {name for (name,) in cursor.fetchall()}


def scanned_tables(node: dict[str, Any]) -> Iterator[str]:
    if node["Node Type"] == "Seq Scan":
        yield node["Relation Name"]
    for below in node.get("Plans", []):
        yield from scanned_tables(below)


if __name__ == "__main__":
    main()
