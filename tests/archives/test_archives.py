"""A track goes into a file, and comes out of it somewhere else with the same scores."""

from __future__ import annotations

import json
import zipfile
from datetime import timedelta
from hashlib import sha256
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.utils import timezone

from evaluation.reading.judging.machine_replies import MachineReply
from leaderboard.actions import (
    nugget_writing,
    people,
    pools,
    runs,
    snapshots,
    tracks,
    uploads,
)
from leaderboard.actions.assessments import close_assessment
from leaderboard.archives import zip_files
from leaderboard.archives.track_export import build_track_members
from leaderboard.archives.track_import import ImportHeartbeat
from leaderboard.archives.zip_files import ArchiveError, open_archive
from leaderboard.assessments.drawing import draw_documents
from leaderboard.assessments.judgments import settle_marks
from leaderboard.assessments.marking import SentMark, record_mark
from leaderboard.boards.disclosure import sight_of
from leaderboard.boards.standings import find_board
from leaderboard.collections.machine_replies import keep_replies, load_replies
from leaderboard.collections.nugget_drafts import read_topic
from leaderboard.collections.pool_frames import read_frame
from leaderboard.collections.pooled_texts import load_texts
from leaderboard.collections.stored_judgments import load_qrels
from leaderboard.jobs import cleanup
from leaderboard.management.archive_files import write_archive
from leaderboard.management.commands import import_benchmark
from leaderboard.models import (
    Assessment,
    Assignment,
    Battles,
    Benchmark,
    Collection,
    JudgmentSet,
    Mark,
    NuggetDraft,
    Pool,
    Run,
    Score,
    Team,
    Track,
)
from leaderboard.notifications import notices
from leaderboard.runs.answers import load_answer
from tests.assessments.marks import judge_everything
from tests.assessments.test_judged_answers import judge_pool, pool_answers
from tests.builders import (
    INTENTS,
    OTHER_RUN,
    QRELS,
    RUN,
    STRATA,
    SUBTOPICS,
    make_assessment,
    make_collection,
    make_pool,
    make_run,
    make_track,
    make_user,
    upload,
    work,
)
from tests.scoring.test_answer_runs import ANSWERS
from tests.scoring.test_groups import make_grouped_track
from tests.scoring.test_marks import SUPPORT, make_layer, make_nuggets, use

pytestmark = pytest.mark.long

AWAY = ("--track", "away", "--collection", "elsewhere")


@pytest.fixture
def scored(track, ada, ben, cat) -> Track:
    """A track with two runs, a baseline of the organisers, and a withdrawn run."""
    make_run(track, ben, RUN)
    withdrawn = make_run(track, cat, RUN)
    runs.withdraw_run(withdrawn, cat, "a slip")
    tracks.choose_baseline(track, ada, make_run(track, ada, OTHER_RUN))
    Run.objects.filter(submitted_by=ben).update(description="BM25, k1 = 0.9")
    return track


@pytest.fixture
def file(scored, tmp_path: Path) -> Path:
    path = tmp_path / "bread.zip"
    export_alone("bread", path)
    return path


@pytest.fixture
def grown(scored, ada) -> Track:
    """The same after a year: a kept pool, judgments v2 that came of it, and a frozen board."""
    pools.create_pool(scored, ada, list(scored.runs.accepted()), "depth", 3)
    work()
    pool = scored.pools.get()
    pools.approve_pool(pool, ada)
    text = QRELS.replace("2 0 d5 0", "2 0 d5 2")
    uploads.accept_judgments(
        scored.collection, upload("v2.txt", text), "v2", ada, note="d5", asks_first=False, pool=pool
    )
    work()
    tracks.change_track(
        scored,
        ada,
        {"judgment_set": JudgmentSet.objects.get(version="v2"), "relevance_threshold": 2},
    )
    work()
    track = Track.objects.get(pk=scored.pk)
    snapshots.freeze_board(find_board(sight_of(track, ada)), ada, "final", "as published")
    people.grant_runs(
        scored, scored.benchmark.teams.get(name="ben"), ada, 3, today=False, reason="a lost upload"
    )
    people.grant_runs(scored, scored.benchmark.teams.get(name="cat"), ada, 1, today=True)
    notices.announce(track, ada, "Judgments v2 are out.")
    return track


def export_alone(slug: str, path: Path, with_documents: bool = False) -> None:
    """Write the archive of a track alone, as versions before this did."""
    track = Track.objects.get(slug=slug)
    write_archive(path, build_track_members(track, with_documents))


def command(*words: object) -> str:
    out = StringIO()
    call_command(*map(str, words), stdout=out, stderr=out)
    return out.getvalue()


def scores(slug: str) -> dict[tuple[str, ...], bytes]:
    """Every value of a track in each of its editions, by judgments, team, tag and measure."""
    found = Score.objects.filter(score_set__run__track__slug=slug)
    return {
        (
            score.score_set.edition.judgment_set.version,
            score.score_set.edition.digest,
            score.score_set.run.team.name,
            score.score_set.run.tag,
            score.measure,
        ): score.by_topic
        for score in found.select_related("score_set__run__team", "score_set__edition")
    }


def repacked(file: Path, changes: dict[str, bytes | None]) -> Path:
    """The archive with members put in or left out, and with checksums that fit."""
    with zipfile.ZipFile(file) as old:
        members = {name: old.read(name) for name in old.namelist() if name != zip_files.SUMS}
    members = {n: text for n, text in {**members, **changes}.items() if text is not None}
    sums = "".join(f"{sha256(text).hexdigest()}  {name}\n" for name, text in members.items())
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        for name, text in {**members, zip_files.SUMS: sums.encode()}.items():
            new.writestr(name, text)
    return file


def test_groups_of_topics_come_with_their_track(ada, tmp_path):
    make_grouped_track(ada, [3] * 8)
    export_alone("talks", tmp_path / "talks.zip")
    command("import_benchmark", tmp_path / "talks.zip", *AWAY)
    own, away = (Collection.objects.get(slug=slug) for slug in ("talks", "elsewhere"))
    assert away.num_groups == own.num_groups == 8
    groups = [list(each.topics.values_list("number", "group")) for each in (own, away)]
    assert groups[0] == groups[1]


def test_an_archive_holds_all_that_makes_a_track(scored, file):
    with zipfile.ZipFile(file) as archive:
        names = set(archive.namelist())
        assert archive.read("docnos.txt").splitlines()[:2] == [b"d1", b"d2"]
        assert archive.read("judgments/v1.qrels").startswith(b"1 0 d1 2\n1 0 d2 1\n")
        assert archive.read("board.tex").count(b"ben-bm25") == 1
    ids = [run.pk for run in scored.runs.all()]
    scores = {f"scores/{scored.edition_id}/{pk}.json" for pk in ids}
    assert {name for name in names if name.startswith("scores/")} == scores
    assert {name for name in names if name.startswith("runs/")} == {f"runs/{pk}" for pk in ids}
    assert {"manifest.json", "topics.jsonl", "board.csv", "events.jsonl", "SHA256SUMS"} <= names


def test_each_scored_run_has_a_page_in_it(file):
    with zipfile.ZipFile(file) as archive:
        (page,) = [name for name in archive.namelist() if name.startswith("pages/ben-bm25-")]
        assert archive.read(page).startswith(b"ben-bm25\n====")


def test_a_run_that_the_rule_leaves_out_has_a_page_too(track, ben, tmp_path):
    make_run(track, ben)
    left_out = make_run(track, ben, RUN.replace("ben-bm25", "second"))
    Track.objects.update(selection="primary")
    export_alone("bread", tmp_path / "bread.zip")
    with zipfile.ZipFile(tmp_path / "bread.zip") as archive:
        assert archive.read(f"pages/second-{left_out.pk}.txt").startswith(b"second\n====")
        assert b"second" not in archive.read("board.csv")


def test_no_person_is_named_in_it(scored, file):
    """Ben is here the name of a team too, so it is Ada who would be told."""
    with zipfile.ZipFile(file) as archive:
        told = archive.read("events.jsonl") + archive.read("manifest.json")
    assert b'"ada"' not in told and b"withdraw" in told


def test_a_restored_track_scores_to_the_last_bit(file):
    said = command("import_benchmark", file, *AWAY)
    assert "All scores match the archive exactly." in said
    assert scores("away") == scores("bread") and len(scores("away")) == 9


def test_an_earlier_board_scores_to_the_last_bit(grown, tmp_path):
    export_alone("bread", tmp_path / "grown.zip")
    command("import_benchmark", tmp_path / "grown.zip", *AWAY)
    assert scores("away") == scores("bread") and len(scores("away")) == 27


def test_a_refused_run_stays_refused_where_the_rules_are_others(track, ben, tmp_path):
    make_run(track, ben, RUN.replace("d9", "x9"))
    Track.objects.update(unknown_documents="drop")
    export_alone("bread", tmp_path / "bread.zip")
    command("import_benchmark", tmp_path / "bread.zip", *AWAY)
    assert Run.objects.get(track__slug="away").state == "refused"


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        (b'"state": "refused"', b'"state": "scored"', "is listed among the rejected"),
        (b'"line": 2', b'"lime": 2', "problems of a run have an unknown form"),
    ],
)
def test_a_refused_run_that_is_something_else_breaks_the_import_off(
    track, ben, tmp_path, before, after, why
):
    make_run(track, ben, RUN.replace("1 Q0 d2 2", "1 Q0 d2"))
    export_alone("bread", tmp_path / "bread.zip")
    with zipfile.ZipFile(tmp_path / "bread.zip") as archive:
        manifest = archive.read("manifest.json").replace(before, after)
    with pytest.raises(CommandError, match=why):
        command(
            "import_benchmark", repacked(tmp_path / "bread.zip", {"manifest.json": manifest}), *AWAY
        )
    assert not Run.objects.filter(track__slug="away").exists()


def test_judgments_come_with_the_file_that_they_came_in(grown, tmp_path):
    export_alone("bread", tmp_path / "grown.zip")
    other = repacked(tmp_path / "grown.zip", {"judgments/v2.file": b"1 0 d1 1\n"})
    with pytest.raises(CommandError, match="is not the original file of the judgments"):
        command("import_benchmark", other, *AWAY)


@pytest.mark.parametrize("text", [None, b"{}", b"?", b"[]"], ids=["none", "empty", "no", "list"])
def test_an_import_that_breaks_off_leaves_nothing(grown, tmp_path, text):
    export_alone("bread", tmp_path / "grown.zip")
    broken = repacked(tmp_path / "grown.zip", {"snapshots/final.json": text})
    before = rows_by_model()
    with pytest.raises(CommandError, match=r"snapshots/final\.json"):
        command("import_benchmark", broken, *AWAY)
    assert rows_by_model() == before


@pytest.fixture
def killed(file, monkeypatch) -> Path:
    """Its import was killed in the middle: nobody was left to take away what it had brought."""
    monkeypatch.setattr(import_benchmark, "erase_collection", lambda _: None)
    monkeypatch.setattr(import_benchmark, "restore_announcements", killed_here)
    with pytest.raises(KeyboardInterrupt):
        command("import_benchmark", file, *AWAY)
    monkeypatch.undo()
    return file


def killed_here(*_: object) -> None:
    raise KeyboardInterrupt


def test_what_a_killed_import_left_stays_while_it_may_be_alive(killed):
    cleanup.sweep()
    with pytest.raises(CommandError, match="away already exists"):
        command("import_benchmark", killed, *AWAY)


def test_what_a_killed_import_left_is_swept_away(killed):
    Collection.objects.filter(slug="elsewhere").update(
        arrives_until=timezone.now() - timedelta(seconds=1)
    )
    cleanup.sweep()
    assert not Track.objects.filter(slug="away").exists()
    assert not Collection.objects.filter(slug="elsewhere").exists()


def test_the_next_import_takes_the_place_of_a_killed_one(killed):
    Collection.objects.filter(slug="elsewhere").update(
        arrives_until=timezone.now() - timedelta(seconds=1)
    )
    assert "All scores match the archive exactly." in command("import_benchmark", killed, *AWAY)
    assert Collection.objects.get(slug="elsewhere").arrives_until is None


def test_a_collection_that_took_too_long_to_arrive_is_said_to_be_gone(collection):
    arrival = ImportHeartbeat(collection)
    Collection.objects.all().delete()
    with pytest.raises(ArchiveError, match="no progress for so long"):
        arrival.finish()


def test_a_run_that_is_refused_here_breaks_the_import_off(file):
    with zipfile.ZipFile(file) as archive:
        manifest = archive.read("manifest.json").replace(b'"depth": 1000', b'"depth": 2')
    with pytest.raises(CommandError, match=r"is refused here: line 3: E_DEPTH"):
        command("import_benchmark", repacked(file, {"manifest.json": manifest}), *AWAY)
    assert not Track.objects.filter(slug="away").exists()


STAYING = ("AuditEvent", "Job", "TrackChange")


def rows_by_model() -> dict[str, int]:
    """How many rows there are, but for the record of what was tried."""
    models = apps.get_app_config("leaderboard").get_models()
    counted = {model.__name__: model._base_manager.count() for model in models}
    return {name: number for name, number in counted.items() if name not in STAYING}


def test_a_restored_track_keeps_its_settings_and_its_baseline(scored, file):
    Collection.objects.filter(slug="bread").update(slug="old")
    Track.objects.filter(slug="bread").update(slug="old", address="old")
    Benchmark.objects.filter(slug="bread").update(slug="old")
    command("import_benchmark", file)
    track = Track.objects.get(slug="bread")
    assert (track.name, track.measures) == (scored.name, scored.measures)
    assert track.baseline.tag == "other" and track.baseline.team.of_organisers
    assert track.benchmark.invitation != scored.benchmark.invitation


def test_a_restored_run_keeps_its_facts_team_and_fate(scored, file):
    command("import_benchmark", file, *AWAY)
    for old in scored.runs.all():
        new = Run.objects.get(track__slug="away", team__name=old.team.name)
        assert new.pk != old.pk and new.sha256 == old.sha256
        for name in ("tag", "description", "received_at", "withdrawn_at", "withdrawn_reason"):
            assert getattr(new, name) == getattr(old, name)


def test_a_restored_team_has_no_members_yet(file):
    command("import_benchmark", file, *AWAY)
    assert not Team.objects.get(benchmark__slug="away", name="ben").memberships.exists()


def test_documents_go_along_when_they_are_asked_for(scored, tmp_path):
    export_alone("bread", tmp_path / "b.zip", with_documents=True)
    command("import_benchmark", tmp_path / "b.zip", *AWAY)
    collection = Collection.objects.get(slug="elsewhere")
    assert collection.num_documents == 12
    assert collection.preview["documents"]["first"][0]["title"] == "Document 1"


def test_a_track_without_judgments_or_documents_goes_too(collection, tmp_path):
    make_track(collection, slug="early", judgment_set=None)
    Collection.objects.update(documents="")
    export_alone("early", tmp_path / "early.zip")
    command("import_benchmark", tmp_path / "early.zip", *AWAY)
    assert Track.objects.get(slug="away").judgment_set is None


def test_a_track_of_answers_comes_back_with_its_answers(collection, ben, tmp_path):
    make_run(make_track(collection, slug="said", run_kind="answers"), ben, ANSWERS)
    export_alone("said", tmp_path / "said.zip")
    command("import_benchmark", tmp_path / "said.zip", *AWAY)
    assert scores("away") == scores("said")
    assert load_answer(Run.objects.get(track__slug="away"), "2").text == "Rye is heavy."


def test_nuggets_and_marks_come_back_with_their_scores(collection, ben, tmp_path):
    track = make_track(collection, slug="said", run_kind="answers")
    make_run(track, ben, ANSWERS)
    make_nuggets(track)
    make_layer(track)
    make_layer(track, SUPPORT, version="support", about="support")
    use(track, ["all", "SupportP"], assignments="people", support="support")
    reply = MachineReply("1", "d1", "It says so.", "2", "Is it?", "", "gpt-x", "", 0.5, None)
    for judged in (track.judgment_set, track.mark_layers.get(version="support")):
        keep_replies(judged, [reply])
    export_alone("said", tmp_path / "said.zip")
    command("import_benchmark", tmp_path / "said.zip", *AWAY)
    away = Track.objects.get(slug="away")
    for judged in (away.judgment_set, away.mark_layers.get(version="support")):
        assert load_replies(judged, away.collection.topics.get(number="1")) == [reply]
    assert (away.assignments, away.edition.settings["support"]) == ("people", "support")
    # Before its marks are back, the track has no values by them.
    assert scores("said").items() <= scores("away").items()


def test_drafts_of_nuggets_come_back_with_their_steps(collection, ada, ben, tmp_path):
    track = make_track(collection, slug="said", run_kind="answers")
    make_run(track, ben, ANSWERS)
    draft = nugget_writing.begin_draft(track, ada, make_nuggets(track))
    topic = collection.topics.get(number="1")
    nugget_writing.split(draft, ada, topic, "1-1", ["wild yeast", "baker's yeast"])
    nugget_writing.remove(draft, ada, topic, "1-3")
    nugget_writing.undo(draft, ada, topic)
    nugget_writing.freeze_draft(draft, ada, "v2")
    nugget_writing.begin_draft(track, ada, None)
    work()
    export_alone("said", tmp_path / "said.zip")
    command("import_benchmark", tmp_path / "said.zip", *AWAY)
    frozen, unfrozen = NuggetDraft.objects.filter(track__slug="away")
    assert (frozen.based_on.version, frozen.version.version) == ("v1", "v2")
    assert (unfrozen.based_on, unfrozen.frozen_at) == (None, None)
    away = read_topic(frozen, frozen.track.collection.topics.get(number="1"))
    assert [nugget.text for nugget in away.nuggets][:2] == ["wild yeast", "baker's yeast"]
    assert [step.act for step in away.rows] == ["split", "remove", "undo"]


def test_answers_judged_here_come_back_with_what_assessors_read(collection, ada, ben, tmp_path):
    track = make_track(collection, slug="said", run_kind="answers")
    make_run(track, ben, ANSWERS)
    make_nuggets(track)
    judging = judge_pool(pool_answers(track, "answers"), make_user("dan"))
    judge_everything(judging)
    close_assessment(judging, ada, "people-1")
    work()
    export_alone("said", tmp_path / "said.zip")
    command("import_benchmark", tmp_path / "said.zip", *AWAY)
    back = Assessment.objects.get(track__slug="away")
    assert (back.layer.version, back.pool.nuggets.version) == ("people-1", "v1")
    assert len(load_texts(back.pool, "1")) == 1
    assert Mark.objects.of(back).count() == 4


def test_marks_of_unknown_codes_break_the_import_off(collection, ben, tmp_path):
    track = make_track(collection, slug="said", run_kind="answers")
    make_run(track, ben, ANSWERS)
    make_nuggets(track)
    make_layer(track)
    export_alone("said", tmp_path / "said.zip")
    name = "layers/people/marks.jsonl"
    with zipfile.ZipFile(tmp_path / "said.zip") as archive:
        text = archive.read(name).replace(b"[2,1,0]", b"[2,1,7]")
    with pytest.raises(CommandError, match="its marks people have an unknown form"):
        command("import_benchmark", repacked(tmp_path / "said.zip", {name: text}), *AWAY)


def test_battles_come_back_with_their_votes_under_pseudonyms(file, tmp_path, ada, cat):
    track = Track.objects.get(slug="bread")
    first, second = sorted(track.runs.accepted().not_removed(), key=lambda run: run.pk)[:2]
    battles = Battles.objects.create(track=track, question="Which helps?")
    pair = {"topic": track.collection.topics.first(), "first": first, "second": second}
    battles.votes.create(**pair, user=cat, choice="left", is_turned=True, voted_at=timezone.now())
    export_alone("bread", tmp_path / "battles.zip")
    command("import_benchmark", tmp_path / "battles.zip", *AWAY)
    away = Battles.objects.get(track__slug="away")
    vote = away.votes.get()
    assert (away.question, vote.user, vote.name) == ("Which helps?", None, "V1")
    assert str(vote.left) == str(second) and away.invitation != battles.invitation


@pytest.mark.parametrize("name", ["run_kind", "answer_rules", "answer_unit", "answer_ranking"])
def test_a_kind_of_runs_that_is_not_known_breaks_the_import_off(file, name):
    with zipfile.ZipFile(file) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    manifest["track"]["fields"][name] = "songs"
    other = repacked(file, {"manifest.json": json.dumps(manifest).encode()})
    with pytest.raises(CommandError, match=f"a value of {name} that is not known here"):
        command("import_benchmark", other, *AWAY)


def test_values_that_differ_are_told_and_fail(file):
    with zipfile.ZipFile(file) as archive:
        name = next(n for n in archive.namelist() if n.startswith("scores/"))
        text = archive.read(name).replace(b"1.0", b"0.9", 1)
    with pytest.raises(CommandError, match="1 measure of runs differ"):
        command("import_benchmark", repacked(file, {name: text}), *AWAY)


def test_names_that_are_taken_are_said(file):
    with pytest.raises(CommandError, match=r"bread already exists\. Rename with --track"):
        command("import_benchmark", file)
    with pytest.raises(CommandError, match=r"bread already exists\. Rename with --collection"):
        command("import_benchmark", file, "--track", "away")


def test_an_export_that_fails_leaves_the_file_that_was_there(file):
    before = file.read_bytes()
    with pytest.raises(CommandError, match="No such benchmark: rye"):
        command("export_benchmark", "rye", file)
    assert file.read_bytes() == before and not file.with_name("bread.zip.part").exists()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        pytest.param({"manifest.json": b"{}"}, "archive: Field required", id="empty-manifest"),
        pytest.param(
            {"manifest.json": b"\xff"}, "its manifest is not a benchmark", id="no-manifest"
        ),
        pytest.param({"manifest.json": b"[" * 9999}, "its manifest is not a benchmark", id="deep"),
        pytest.param({"topics.jsonl": None}, "there is no topics.jsonl in it", id="no-topics"),
        pytest.param({"topics.jsonl": b"?\n"}, "Its collection is refused", id="no-json"),
        pytest.param({"../../etc/passwd": b"x"}, "already exists", id="a-path-is-only-a-name"),
        pytest.param({"a b": b"x"}, "SHA256SUMS does not list", id="no-name"),
        pytest.param({"zeros": bytes(70 << 20)}, "a bomb, not an archive", id="bomb"),
    ],
)
def test_an_archive_of_something_else_is_refused(file, changes, why):
    away = () if why == "already exists" else AWAY
    with pytest.raises(CommandError, match=why):
        command("import_benchmark", repacked(file, changes), *away)
    assert Collection.objects.count() == 1


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04" + bytes(100)], ids=len)
def test_a_file_that_is_no_zip_is_refused(db, tmp_path, content):
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(CommandError, match="the zip file is damaged"):
        command("import_benchmark", tmp_path / "a.zip")


def test_a_member_is_given_out_only_with_its_checksum(file, settings):
    with zipfile.ZipFile(file) as old:
        members = {name: old.read(name) for name in old.namelist()}
    with zipfile.ZipFile(file, "w") as new:
        for name, text in members.items():
            new.writestr(name, text.replace(b"1 0 d1 2", b"1 0 d1 0"))
    with file.open("rb") as packed, open_archive(packed) as archive:
        archive.manifest()
        with pytest.raises(ArchiveError, match="is not what SHA256SUMS says"):
            archive.member("judgments/v1.qrels").__enter__()


def test_no_damage_of_an_archive_is_our_bug(file):
    good, random = file.read_bytes(), np.random.default_rng(42)
    for _ in range(300):
        bad = bytearray(good)
        for place in random.integers(len(bad), size=3):
            bad[place] = random.integers(256)
        file.write_bytes(bad)
        try:
            with file.open("rb") as packed, open_archive(packed) as archive:
                archive.manifest()
        except ArchiveError:
            pass


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2], ids=["lzma", "bzip2"])
def test_a_damaged_member_of_another_compression_is_told_without_a_traceback(ada, tmp_path, method):
    path = tmp_path / "odd.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("manifest.json", b"{}" * 500)
        archive.writestr("SHA256SUMS", b"0" * 64 + b"  manifest.json\n")
    data = bytearray(path.read_bytes())
    start = data.index(b"SHA256SUMS") + len(b"SHA256SUMS")
    data[start + 4 : start + 30] = b"\xff" * 26
    path.write_bytes(data)
    with pytest.raises(CommandError, match="neither stored nor deflated"):
        command("import_benchmark", path, "--owner", "ada")


@pytest.mark.parametrize(
    ("qrels", "intents", "measures"),
    [(SUBTOPICS, INTENTS, ["alpha-nDCG@5", "D-nDCG@5", "AP"]), (STRATA, None, ["xinfAP", "AP"])],
    ids=["subtopics", "strata"],
)
def test_strata_subtopics_and_probabilities_go_along(ada, ben, tmp_path, qrels, intents, measures):
    collection = make_collection(ada, qrels=qrels, intents=intents)
    make_run(make_track(collection, measures=measures, primary_measure=measures[0]), ben, OTHER_RUN)
    export_alone("bread", tmp_path / "bread.zip")
    said = command("import_benchmark", tmp_path / "bread.zip", *AWAY)
    assert "All scores match the archive exactly." in said
    here, there = (load_qrels(judged) for judged in JudgmentSet.objects.order_by("pk"))
    assert (here.strata, here.subtopics, here.probabilities) == (
        there.strata,
        there.subtopics,
        there.probabilities,
    )


def test_a_manifest_of_ordinary_judgments_is_as_it_was(file):
    with zipfile.ZipFile(file) as archive:
        (entry,) = json.loads(archive.read("manifest.json"))["judgments"]
    assert "format" not in entry and "intents_filename" not in entry["fields"]


@pytest.fixture
def judged_file(ada, ben, tmp_path):
    """The archive of a track whose pool Fay has begun to judge."""
    track = make_track(make_collection(ada))
    pool = make_pool(track, ada, [make_run(track, ben, OTHER_RUN)])
    make_assessment(pool, ada, make_user("fay-of-the-bakery"))
    assignment = Assignment.objects.first()
    draw_documents(assignment)
    record_mark(assignment, SentMark(assignment.documents.first().pk, grade=2))
    export_alone("bread", tmp_path / "judged.zip")
    return tmp_path / "judged.zip"


def test_an_archive_keeps_what_a_sample_was_drawn_from(scored, ada, tmp_path):
    machine = scored.judgment_set
    JudgmentSet.objects.filter(pk=machine.pk).update(made_by=JudgmentSet.MadeBy.MACHINE)
    Track.objects.filter(pk=scored.pk).update(visibility="members")
    sample = pools.draw_sample(JudgmentSet.objects.get(pk=machine.pk), scored, ada)
    export_alone("bread", tmp_path / "sample.zip")
    command("import_benchmark", tmp_path / "sample.zip", *AWAY)
    restored = Pool.objects.exclude(pk=sample.pk).get(name=sample.name)
    assert read_frame(restored) == read_frame(sample)
    assert restored.summary["frame"] == sample.summary["frame"]


def test_an_archive_keeps_which_judgments_a_sample_checks(ada, ben, tmp_path):
    track = make_track(make_collection(ada))
    pool = make_pool(track, ada, [make_run(track, ben, OTHER_RUN)])
    track.judgment_set.samples.add(pool)
    export_alone("bread", tmp_path / "sample.zip")
    command("import_benchmark", tmp_path / "sample.zip", *AWAY)
    here, there = Pool.objects.order_by("pk")
    assert there.checks.version == here.checks.version and there.checks != here.checks


def test_an_archive_names_no_assessor(judged_file):
    with zipfile.ZipFile(judged_file) as archive:
        texts = [archive.read(name) for name in archive.namelist()]
    assert b"A1" in b"".join(texts) and b"fay-of-the-bakery" not in b"".join(texts)


def test_marks_of_an_archive_are_a_log_that_settles_to_the_same(judged_file):
    command("import_benchmark", judged_file, *AWAY)
    here, there = Assessment.objects.order_by("pk")
    assert settle_marks(here) == settle_marks(there) != []


LOG = "assessments/judging-1/marks.jsonl"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (b'"grade": 2', b'"grade": -2', "the grade is not an integer"),
        (b'"docno": "d9"', b'"docno": "d1"', "an assessment names"),
    ],
)
def test_a_log_of_marks_that_was_changed_breaks_the_import_off(judged_file, old, new, why):
    with zipfile.ZipFile(judged_file) as archive:
        log = archive.read(LOG)
    assert old in log
    with pytest.raises(CommandError, match=why):
        command("import_benchmark", repacked(judged_file, {LOG: log.replace(old, new)}), *AWAY)
    assert Assessment.objects.count() == 1
