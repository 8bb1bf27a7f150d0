"""What goes out of one installation comes in at another: every table, every file, every board."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.files.storage import default_storage
from django.db import models, transaction
from django.db.models.fields.files import FileField
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from leaderboard.actions import (
    assessments,
    machine_judgments,
    overviews,
    people,
    pools,
    runs,
    snapshots,
    tracks,
    uploads,
)
from leaderboard.archives.track_export import EXPORTED_KINDS
from leaderboard.assessments import judgments
from leaderboard.assessments.drawing import draw_documents
from leaderboard.assessments.marking import SentMark, record_mark
from leaderboard.assessments.queues import lease_documents
from leaderboard.boards.disclosure import sight_of
from leaderboard.boards.standings import find_board
from leaderboard.jobs.erasure import erase_collection
from leaderboard.models import (
    Agreement,
    Announcement,
    ApiToken,
    Assessment,
    Assessor,
    AssignedDocument,
    Assignment,
    AuditEvent,
    Battles,
    BattleVote,
    BattleVoter,
    Benchmark,
    BenchmarkSnapshot,
    Calculation,
    Collection,
    Delivery,
    Digest,
    Download,
    Edition,
    Grant,
    Guideline,
    Intent,
    Invitation,
    Job,
    JoinRequest,
    Judgment,
    JudgmentSet,
    MachineCard,
    MachineReplies,
    Mail,
    Mark,
    MarkedAnswer,
    MarkLayer,
    Membership,
    Message,
    Milestone,
    Notice,
    NuggetDraft,
    NuggetVersion,
    Overview,
    PagesCopy,
    PartialUpload,
    Participation,
    Pool,
    PracticeDocument,
    Question,
    Registration,
    Reminder,
    ReportedScores,
    ResultsFile,
    Run,
    Score,
    ScoreSet,
    SentForm,
    Settlement,
    Signature,
    Snapshot,
    StoppedAddress,
    Stratum,
    SubtopicGrade,
    System,
    SystemVersion,
    Team,
    Topic,
    TopicNuggets,
    Track,
    TrackChange,
    UploadPiece,
    User,
    Webhook,
    Worker,
    WritingStep,
)
from leaderboard.notifications import notices
from leaderboard.runs import fact_changes
from tests.archives.test_archives import AWAY, command
from tests.assessments.marks import judge_in_order
from tests.builders import (
    INTENTS,
    OTHER_RUN,
    QRELS,
    RUN,
    SCALE,
    STRATA,
    SUBTOPICS,
    make_assessment,
    make_collection,
    make_reported,
    make_results_file,
    make_run,
    make_track,
    make_user,
    upload,
    work,
)
from tests.conftest import made_once, someone
from tests.machines.answers import import_answers

pytestmark = pytest.mark.long

# How the rows of a table are found from their track.
TABLES: dict[type[models.Model], str] = {
    Collection: "tracks",
    Topic: "collection__tracks",
    JudgmentSet: "collection__tracks",
    MachineCard: "judgment_set__collection__tracks",
    Judgment: "judgment_set__collection__tracks",
    Stratum: "judgment__judgment_set__collection__tracks",
    SubtopicGrade: "judgment__judgment_set__collection__tracks",
    Intent: "judgment_set__collection__tracks",
    Track: "pk",
    Edition: "track",
    Team: "benchmark__tracks",
    Participation: "track",
    Grant: "track",
    Run: "track",
    ScoreSet: "run__track",
    Score: "score_set__run__track",
    Calculation: "edition__track",
    Pool: "track",
    Snapshot: "track",
    Announcement: "track",
    Milestone: "track",
    Overview: "track",
    Assessment: "track",
    Guideline: "assessment__track",
    PracticeDocument: "assessment__track",
    Assessor: "assessment__track",
    Assignment: "assessor__assessment__track",
    AssignedDocument: "assignment__assessor__assessment__track",
    Mark: "assessor__assessment__track",
    Settlement: "assessment__track",
    AuditEvent: "track",
}
STAYS: dict[type[models.Model], str] = {
    User: "accounts are of an installation",
    ApiToken: "a secret of a person here",
    Membership: "people stay, teams go",
    JoinRequest: "of a person here",
    Agreement: "teams sign with the organisers of this installation",
    Registration: "what a person here said",
    Signature: "of a person here",
    Download: "from this installation",
    Question: "of a person here",
    BattleVoter: "an invitation that a person here accepted",
    PartialUpload: "of a program that talks to this installation",
    UploadPiece: "the same",
    SentForm: "was sent to this installation",
    Notice: "was told to a person here",
    Message: "was sent to people here",
    Digest: "goes to a person here",
    Invitation: "goes to a person from here",
    Reminder: "was told to people here",
    StoppedAddress: "of a person here",
    Mail: "goes to a person here",
    Webhook: "an address and a secret of somebody here",
    Delivery: "a call from here",
    Job: "the queue of this installation",
    ResultsFile: "the scores that were read from it go along",
    PagesCopy: "made again where it is asked for",
    Worker: "a process of this installation",
    TrackChange: "written by the database beside the others",
    BenchmarkSnapshot: "printed here, and read here",
}
# What goes along in the archive of a benchmark; see test_benchmark_archives.py.
OF_BENCHMARKS = {Benchmark, ReportedScores, System, SystemVersion}
# What goes along where runs are answers or machines judge; see test_archives.py.
OF_ANSWERS = {NuggetVersion, TopicNuggets, MarkLayer, MarkedAnswer, MachineReplies}
OF_ANSWERS |= {NuggetDraft, WritingStep}
# What goes along where people vote; see test_archives.py.
OF_BATTLES = {Battles, BattleVote}
# What an event is about is found by its key; grants and announcements are told and not looked up.
FOUND_AGAIN = ("track", "run", "snapshot", "pool", "assessment", "judgmentset")
PEOPLE = ("owner", "submitted_by", "created_by", "granted_by", "settled_by", "actor")
TAKEN_OFF_BY = ("withdrawn_by", "disqualified_by", "hidden_by")
MAY_DIFFER: dict[type[models.Model], dict[str, str]] = {
    Collection: {
        "slug": "asked for by whoever imports",
        "dataset": "the files come with the archive",
        "topics_file": "the topics as they were read",
        "topics_filename": "the same",
        "groups_file": "the group of a topic comes with its texts",
        "groups_filename": "the same",
        "grouping": "as the topics of the archive say",
        "documents_file": "the docnos, or the documents as they were read",
        "documents_filename": "the same",
        "size": "of the archive's own files",
        "documents": "without the texts, unless they are asked for",
        "words": "an index made here",
        "topics_sha256": "of the archive's own files",
        "documents_sha256": "the same",
        "shares_documents": "without the texts there is nothing to hand out",
        "created_at": "when it was brought here",
        "ready_at": "the same",
        "formats": "those of the archive's own files",
        "preview": "what was found in the archive's own files",
        "asks_first": "nobody is asked while an archive is read",
    },
    JudgmentSet: {
        "preview": "what was found in the archive's own files",
        "asks_first": "nobody is asked while an archive is read",
        "changes": "against the judgments before, which were read anew",
    },
    Track: {
        "slug": "asked for by whoever imports",
        "address": "made of the short names",
        "invitation": "a secret of this installation",
        "announced_judgments": "found when the board changes to others",
    },
    Team: {"invitation": "a secret of this installation"},
    Run: {
        "idempotency_key": "of a program that talked to this installation",
        "checked_at": "when it was read here",
        "scored_at": "when it was scored here",
        **dict.fromkeys(TAKEN_OFF_BY, "people stay"),
    },
    Assessment: {"invitation": "a secret of this installation"},
    Assessor: {"user": "people stay, pseudonyms go"},
    Assignment: {"notes": "those of a person stay with the person"},
    AssignedDocument: dict.fromkeys(("tab", "leased_until"), "of a browser that is open here"),
    ScoreSet: {"created_at": "when it was scored here"},
    Calculation: {"computed_at": "when it was made here"},
}
# What is printed stays as it was printed, the ids of runs in it too.
AS_PRINTED = {(Snapshot, "files")}


def test_every_table_goes_along_or_stays_for_a_reason():
    assert {*TABLES, *OF_BENCHMARKS, *OF_ANSWERS, *OF_BATTLES, *STAYS} == set(
        apps.get_app_config("leaderboard").get_models()
    )
    assert not TABLES.keys() & STAYS.keys() and not OF_BENCHMARKS & {*TABLES, *STAYS}


SPLIT = {"disclosure": "leaderboard", "public_topics": ["1", "3"], "ladder_step": 0.01}


@pytest.fixture(
    scope="module",
    params=[{"disclosure": "open", "shares_judgments": True}, SPLIT],
    ids=["open", "split leaderboard"],
)
def scene_of_all(request, module_files, django_db_blocker, tmp_path_factory) -> Iterator[Scene]:
    """A track that has lived, and the same from its archive."""
    with made_once(django_db_blocker, module_files):
        around = transaction.atomic()
        around.__enter__()
        lived = live(*map(someone, ("ada", "ben", "cat")), **request.param)
        scene = Scene(lived, travel(lived, tmp_path_factory.mktemp("archive")))
    yield scene
    with django_db_blocker.unblock():
        transaction.set_rollback(True)
        around.__exit__(None, None, None)


@dataclass(frozen=True)
class Scene:
    lived: Track
    travelled: Track


@pytest.fixture
def lived(scene: Scene) -> Track:
    return scene.lived


@pytest.fixture
def travelled(scene: Scene) -> Track:
    return scene.travelled


def live(ada: User, ben: User, cat: User, **fields: object) -> Track:
    """A track with everything that a year brings."""
    collection = make_collection(ada)
    track = make_track(collection, **fields)
    bring_other_judgments(collection, ada)
    send_runs(track, ada, ben, cat)
    send_what_leaves_the_board(track, ada, make_user("dan"))
    judge_a_pool(track, ada)
    judge_here(track, ada, make_user("fay"), make_user("gus"))
    change = {"excluded_topics": ["2"], "exclusion_reason": "Its judge fell ill."}
    tracks.change_track(Track.objects.get(), ada, change)
    work()
    track = Track.objects.get()
    snapshots.freeze_board(find_board(sight_of(track, ada)), ada, "final", "as published")
    people.grant_runs(
        track, track.benchmark.teams.get(name="ben"), ada, 3, today=False, reason="a lost upload"
    )
    people.grant_runs(track, track.benchmark.teams.get(name="cat"), ada, 1, today=True)
    later = {"closes_at": timezone.now(), "extension_reason": "a fire"}
    track.participations.filter(team__name="cat").update(**later)
    notices.announce(track, ada, "Judgments v2 are out.")
    texts = {"authors": "Ada Byron", "questions": "Why bread?"}
    days = [overviews.Day("Workshop", date(2027, 3, 22), date(2027, 3, 23))]
    overviews.change_overview(track, ada, "Loaves.", texts, days)
    terms = {"licence": "CC BY 4.0", "source_url": "https://example.org/", "source_note": "Ask."}
    terms |= {f"{files}_readers": "signed_in" for files in ("documents", "topics", "judgments")}
    overviews.change_data_terms(collection, ada, terms)
    return track


def bring_other_judgments(collection: Collection, ada: User) -> None:
    """A version with subtopics, one that is a sample, one by a machine and one by both."""
    for version, text, intents in (("diverse", SUBTOPICS, INTENTS), ("sampled", STRATA, None)):
        likely = None if intents is None else upload("intents.txt", intents)
        uploads.accept_judgments(
            collection, upload("q", text), version, ada, asks_first=False, intents=likely
        )
        work()
    machine = import_answers(collection)
    people = collection.judgment_sets.get(version="v1")
    machine_judgments.fill_unjudged(people, machine, ada, "both")
    work()


def send_runs(track: Track, ada: User, ben: User, cat: User) -> None:
    """A good one, one withdrawn, one replaced, a baseline, one with facts, and two refused."""
    good = make_run(track, ben, RUN, description="BM25, k1 = 0.9")
    fact_changes.change_facts(good, ben, {"kind": "manual", "models": "none"})
    runs.withdraw_run(make_run(track, cat, RUN), cat, "a slip")
    slip = make_run(track, cat, RUN.replace("d9", "d12"))
    make_run(track, cat, RUN.replace("d9", "d11"), replaces=slip.pk)
    tracks.choose_baseline(track, ada, make_run(track, ada, OTHER_RUN))
    make_run(track, ben, RUN.replace("1 Q0 d2 2", "1 Q0 d2"))
    make_run(track, ben, "".join(f"1 Q0 x{n} {n} 1.0 unknown\n" for n in range(200)))


def send_what_leaves_the_board(track: Track, ada: User, dan: User) -> None:
    for docno, how in {"d9": "disqualified", "d11": "hidden"}.items():
        run = make_run(track, dan, OTHER_RUN.replace("d10", docno))
        runs.remove_run(run, ada, how, "a doubt")


def judge_a_pool(track: Track, ada: User) -> None:
    """The second judgments came of a kept pool, and the board is theirs."""
    pools.create_pool(track, ada, list(track.runs.on_the_board()), "depth", 3)
    work()
    pool = track.pools.get()
    pools.approve_pool(pool, ada)
    text = upload("second.txt", QRELS.replace("2 0 d5 0", "2 0 d5 2"))
    uploads.accept_judgments(
        track.collection, text, "v2", ada, note="d5", asks_first=False, pool=pool
    )
    work()
    second = {"judgment_set": JudgmentSet.objects.get(version="v2"), "relevance_threshold": 2}
    tracks.change_track(track, ada, second)
    work()


def judge_here(track: Track, ada: User, fay: User, gus: User) -> None:
    """The pool is judged on the site to the end, and then a second time, not to the end."""
    pool = track.pools.get()
    first = make_assessment(pool, ada, fay, gus, overlap="all", overlap_size=2)
    assessments.write_guideline(first, ada, "Judge what is **meant**.", SCALE)
    topic = track.collection.topics.get(number="1")
    first.practice_documents.create(topic=topic, docno="d1", grade=2, why="It says how.")
    for assignment in Assignment.objects.all():
        judge(assignment, grade=2 - assignment.turn)
    disputed = judgments.find_outcome(first).open_disagreements[0]
    topic = track.collection.topics.get(number=disputed.topic)
    assessments.settle_document(first, ada, topic, disputed.docno, 2, "Both are wrong.")
    assessments.close_assessment(first, ada, "judged-here", is_early=True)
    work()
    second = make_assessment(pool, ada, fay, gus)
    begun = Assignment.objects.filter(assessor__assessment=second).order_by("-num_documents")[0]
    lease_documents(begun, "tab", most=9)
    judge(begun, grade=1, most=1)
    to = second.assessors.exclude(pk=begun.assessor_id).get()
    assessments.reassign(begun, ada, to)
    assessments.close_assessment(second, ada, "judged-in-part", is_early=True)
    work()
    third = make_assessment(pool, ada, fay, order="thompson", budget=2)
    for assignment in Assignment.objects.filter(assessor__assessment=third):
        judge_in_order(assignment, lambda document: document.place % 2)


def judge(assignment: Assignment, grade: int, most: int = 9) -> None:
    """Give a grade, after a slip that is undone."""
    draw_documents(assignment)
    texts = {"notes": "Ask Ada.", "read_guideline": assignment.assessor.assessment.guideline}
    Assignment.objects.filter(pk=assignment.pk).update(**texts)
    for document in assignment.documents.all()[:most]:
        slip = record_mark(assignment, SentMark(document.pk, grade=0, seconds=2.5, by="key"))
        record_mark(assignment, SentMark(document.pk, kind="undo", replaces=slip.key))
        answer = SentMark(document.pk, grade=grade, rationale="“So.”", spans=[[0, 4]])
        record_mark(assignment, answer)


def travel(lived: Track, folder: Path) -> Track:
    """The same track, from its archive."""
    command("export_benchmark", lived.benchmark.slug, folder / "lived.zip")
    command("import_benchmark", folder / "lived.zip", *AWAY)
    work()
    return Track.objects.get(slug="away")


def rows_of(model: type[models.Model], track: Track) -> list[dict[str, Any]]:
    """What the rows of a table say, whatever their keys are here."""
    rows = model._base_manager.filter(**{TABLES[model]: track.pk})
    if model is Calculation:
        # Those of earlier boards are made again when somebody asks for them.
        rows = rows.filter(edition=track.edition, kind="tests")
    if model is AuditEvent:
        rows = rows.filter(target_kind__in=EXPORTED_KINDS).exclude(at__gte=arrival_of(track))
    names = {run.pk: name_of(run) for run in track.runs.all()}
    return sorted((said(row, names) for row in rows), key=repr)


def arrival_of(track: Track) -> datetime:
    """When it came to be here; what an import does itself is told of the track as well."""
    return track.collection.created_at if track.slug == "away" else timezone.now()


def said(row: models.Model, names: dict[str, str]) -> dict[str, Any]:
    left_out = {"id", *PEOPLE, *MAY_DIFFER.get(type(row), {})}
    fields = [each for each in row._meta.get_fields() if each.concrete]
    return {each.name: value_of(row, each, names) for each in fields if each.name not in left_out}


def value_of(row: models.Model, field: models.Field, names: dict[str, str]) -> Any:
    if field.many_to_many:
        return sorted(map(name_of, getattr(row, field.name).all()))
    if field.is_relation:
        return name_of(getattr(row, field.name))
    value = getattr(row, field.name)
    if isinstance(field, FileField):
        return digest_of(value.name) if value else ""
    if (type(row), field.name) == (AuditEvent, "target_id"):
        return target_of(row)
    if (type(row), field.name) == (Calculation, "key"):
        return named(value, names)
    if (type(row), field.name) == (Calculation, "results"):
        value = {**value, "family": sorted(value["family"], key=names.__getitem__)}
    if isinstance(field, models.JSONField) and (type(row), field.name) not in AS_PRINTED:
        return named(value, names)
    return bytes(value) if isinstance(field, models.BinaryField) else value


def target_of(event: AuditEvent) -> str:
    """What the key in an event leads to, in its own track."""
    tables = {each._meta.model_name: each for each in TABLES}
    rows = tables[event.target_kind]._base_manager.filter(pk=event.target_id or None)
    return name_of(rows.first()) if event.target_kind in FOUND_AGAIN else ""


def digest_of(name: str) -> str:
    with default_storage.open(name) as file:
        return sha256(file.read()).hexdigest()


def named(value: Any, names: dict[str, str]) -> Any:
    """Runs by what they are instead of by their keys."""
    text = json.dumps(value)
    for key, name in names.items():
        text = text.replace(key, name)
    return json.loads(text)


def name_of(row: models.Model | None) -> str:
    match row:
        case None | Track() | Collection():
            return type(row).__name__
        case Run():
            return f"{row.team.name} {row.tag} {row.received_at}"
        case Edition():
            return f"{row.judgment_set.version} {row.digest}"
        case ScoreSet():
            return f"{name_of(row.run)} {name_of(row.edition)}"
        case _:
            return str(row)


def test_every_table_is_the_same_elsewhere(lived, travelled):
    for model in TABLES:
        there = rows_of(model, lived)
        assert (model, rows_of(model, travelled)) == (model, there) != (model, [])


def test_keys_in_a_restored_track_lead_to_its_own_rows(travelled):
    own = set(travelled.runs.values_list("pk", flat=True))
    [snapshot], [pool] = travelled.snapshots.all(), travelled.pools.all()
    assert {run_id for run_id, *_ in snapshot.rows} < own
    assert set(pool.summary["runs"]) < own


BOARDS = ("", "judgments=v1", "judgments=v2", "measure=nDCG@10", "measure=P@5&judgments=v1")


def test_every_board_is_the_same_elsewhere(lived, travelled, as_ada):
    for client, choice in product((as_ada, Client()), BOARDS):
        address = f"?format=csv&column=all&{choice}"
        there, here = (
            renamed(client.get(f"/benchmarks/{track.slug}/board/{address}"), track)
            for track in (lived, travelled)
        )
        assert (choice, here) == (choice, there)
        assert "ben-bm25" in there or there == "404"


def renamed(response: HttpResponse, track: Track) -> str:
    text = response.content.decode() if response.status_code == 200 else str(response.status_code)
    for run in track.runs.all():
        text = text.replace(run.pk, name_of(run))
    return text


# Rows that are of no track, or that tell what happened to one that is gone.
OUTLIVES = {
    *(User, ApiToken, PartialUpload, UploadPiece, SentForm, Job, Worker, AuditEvent),
    *(Digest, StoppedAddress),
}


def surround(track: Track, ada: User, cat: User) -> None:
    """A row of each table that does not go along."""
    benchmark, team = track.benchmark, track.benchmark.teams.get(name="ben")
    system = System.objects.create(benchmark=benchmark, team=team, name="oven")
    version = SystemVersion.objects.create(system=system, label="1", created_by=ada)
    track.runs.filter(team__name="ben").update(version=version)
    Benchmark.objects.update(baseline=system)
    printed = {"slug": "final", "name": "Final", "caption": "", "heads": [], "rows": []}
    BenchmarkSnapshot.objects.create(
        benchmark=benchmark, files={}, created_by=ada, **printed
    ).editions.add(track.edition)
    make_reported(benchmark)
    make_results_file(benchmark)
    JoinRequest.objects.create(benchmark=benchmark, user=cat)
    agreement = Agreement.objects.create(benchmark=benchmark, version=1, text="Do not pass it on.")
    said = Registration.objects.create(benchmark=benchmark, user=cat, person="Cat")
    Signature.objects.create(registration=said, agreement=agreement, user=cat, name="Cat")
    Download.objects.create(collection=track.collection, file="topics.trec", user=cat)
    Question.objects.create(benchmark=benchmark, user=cat, text="How deep?", is_public=True)
    webhook = track.webhooks.create(url="https://example.org/", created_by=ada)
    Delivery.objects.create(webhook=webhook, happening="scored", body={})
    Mail.objects.create(notice=Notice.objects.filter(track=track)[0])
    Digest.objects.create(user=cat, due_at=timezone.now())
    Message.objects.create(benchmark=benchmark, subject="Soon", text="Soon.", created_by=ada)
    Invitation.objects.create(benchmark=benchmark, email="eve@example.org", invited_by=ada)
    Reminder.objects.create(team=team, closes_at=timezone.now(), days=7)
    StoppedAddress.objects.create(email="eve@example.org", reason="unwanted")
    Calculation.objects.create(kind="orders", edition=track.edition, key="AP", request={})
    PagesCopy.objects.create(track=track, site="https://example.org")
    Battles.objects.create(track=track).invited.create(user=cat)
    Calculation.objects.create(kind="judges", track=track, key="AP", request={})


def test_a_row_of_every_table_of_a_collection_is_erased(lived, ada, cat):
    surround(lived, ada, cat)
    of_tracks = {*TABLES, *OF_BENCHMARKS, *STAYS} - OUTLIVES
    assert [model for model in of_tracks if not model._base_manager.exists()] == []
    for each in Collection.objects.all():
        erase_collection(each)
    TrackChange.objects.merge_old()
    assert [model for model in of_tracks if model._base_manager.exists()] == []
