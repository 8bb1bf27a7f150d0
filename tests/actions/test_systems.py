"""Runs of a system on several tracks, submitted at once."""

from __future__ import annotations

import gzip

import pytest
from django.utils import timezone

from leaderboard.actions import submissions, systems
from leaderboard.actions.refusals import ActionError, NotAccepted
from leaderboard.actions.runs import undo_withdrawal, withdraw_run
from leaderboard.actions.submissions import FilesRefusedError
from leaderboard.models import Run, System, SystemVersion, Track
from tests.benchmark_scene import BOTH, ROLLS_OTHER, ROLLS_RUN, make_benchmark, send, zipped
from tests.builders import OTHER_RUN, RUN, make_run


def make_scene(ada, ben, cat):
    return make_benchmark(ada, ben)


@pytest.fixture
def benchmark(scene):
    return scene


def tracks_of(sent):
    return {run.name: run.run.track.slug for run in sent.runs}


def codes_of(refused):
    return [(problem.found, problem.code) for problem in refused.value.problems]


def test_files_named_like_their_tracks_are_runs_of_one_version(benchmark, ben):
    sent = send(benchmark, ben, BOTH, commit="a1b2c3d4e5f6", branch="main")
    assert tracks_of(sent) == {"bread.run": "bread", "rolls.run": "rolls"}
    assert (sent.version.label, sent.missing) == ("a1b2c3d4e5", [])
    runs = Run.objects.filter(version=sent.version)
    assert {(run.state, run.facts["branch"]) for run in runs} == {("scored", "main")}


def test_a_file_is_recognised_by_its_topics(benchmark, ben):
    sent = send(benchmark, ben, {"a.txt": ROLLS_RUN, "b.run.gz": gzip.compress(RUN.encode())})
    assert tracks_of(sent) == {"a.txt": "rolls", "b.run.gz": "bread"}
    assert {run.by for run in sent.runs} == {"topics"}


def test_topics_of_several_tracks_need_a_name(benchmark, ben):
    Track.objects.filter(slug="rolls").update(collection=Track.objects.get(slug="bread").collection)
    with pytest.raises(FilesRefusedError, match="fit several tracks: bread, rolls") as refused:
        send(benchmark, ben, {"mine.run": RUN})
    assert codes_of(refused) == [("mine.run", "E_TRACK")]


def test_topics_of_no_track_need_a_name(benchmark, ben):
    with pytest.raises(FilesRefusedError, match=r"fit no track.*bread, rolls"):
        send(benchmark, ben, {"mine.run": "99 Q0 d1 1 1 x\n"})


@pytest.mark.parametrize("text", ["", "\n\n", '{"1": {"d1": 1}}', "\0\0"])
def test_a_file_without_topics_needs_a_name(benchmark, ben, text):
    with pytest.raises(FilesRefusedError, match="fit no track"):
        send(benchmark, ben, {"mine.run": text})


def test_two_files_for_one_track_are_refused(benchmark, ben):
    with pytest.raises(FilesRefusedError) as refused:
        send(
            benchmark, ben, {"bread.run": RUN, "bread/other.run": OTHER_RUN, "rolls.run": ROLLS_RUN}
        )
    assert len(codes_of(refused)) == 1 and not Run.objects.exists()


def test_a_zip_is_opened_and_its_folders_name_tracks(benchmark, ben):
    members = {
        "mine/bread/a.run": RUN,
        "mine/ROLLS.run.gz": gzip.compress(ROLLS_RUN.encode()),
        "__MACOSX/mine/._a.run": "x",
        "mine/README.md": "hello",
    }
    sent = send(benchmark, ben, {"all.zip": zipped(members)})
    assert set(tracks_of(sent).values()) == {"bread", "rolls"}
    assert [file.name for file in sent.ignored] == ["mine/README.md"]


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("../bread.run", OTHER_RUN, "E_PATH"),
        ("inner.zip", zipped({"bread.run": RUN}), "E_CONTAINER"),
        ("bread.run.gz", b"\x1f\x8b" + b"\0" * 30_000_000, "E_BOMB"),
        ("x.run.gz", gzip.compress(b"1 Q0 d1 1 1.0 b\n" * 6_000_000), "E_BOMB"),
        ("x.run", b"\x89PNG\r\n", "E_FORMAT"),
    ],
)
def test_a_hostile_file_in_a_zip_refuses_all_of_it(benchmark, ben, name, content, code):
    with pytest.raises(FilesRefusedError) as refused:
        send(benchmark, ben, {"all.zip": zipped({"rolls.run": ROLLS_RUN, name: content})})
    assert [found for _, found in codes_of(refused)] == [code]
    assert not Run.objects.exists() and not System.objects.exists()


def test_a_zip_without_runs_is_refused(benchmark, ben):
    with pytest.raises(NotAccepted, match="no run file"):
        send(benchmark, ben, {"all.zip": zipped({"a.md": "x", "b.md": "y"})})


def test_what_is_missing_comes_later_to_the_same_version(benchmark, ben):
    first = send(benchmark, ben, {"bread.run": RUN}, version="v1")
    assert [track.slug for track in first.missing] == ["rolls"]
    second = send(benchmark, ben, {"rolls.run": ROLLS_RUN}, version="v1")
    assert second.version == first.version and second.missing == []


def test_a_new_version_stands_beside_the_old_one_even_with_the_same_runs(benchmark, ben):
    send(benchmark, ben, BOTH, commit="aaa")
    send(benchmark, ben, {**BOTH, "rolls.run": ROLLS_OTHER}, commit="bbb")
    assert Run.objects.on_the_board().count() == 4
    assert list(SystemVersion.objects.values_list("label", flat=True)) == ["bbb", "aaa"]


def test_versions_without_label_and_commit_are_numbered(benchmark, ben):
    labels = [
        send(benchmark, ben, {"bread.run": text}).version.label
        for text in (RUN, OTHER_RUN, OTHER_RUN)
    ]
    assert labels == ["1", "2", "2"]


def test_the_same_request_again_is_the_same_version(benchmark, ben):
    first = send(benchmark, ben, BOTH, idempotency_key="k")
    second = send(benchmark, ben, BOTH, idempotency_key="k")
    assert second.version == first.version and not second.is_new
    with pytest.raises(NotAccepted, match="Idempotency-Key"):
        send(benchmark, ben, {"bread.run": OTHER_RUN}, idempotency_key="k")


def test_a_track_of_a_version_is_answered_once(benchmark, ben):
    send(benchmark, ben, BOTH, version="v1")
    with pytest.raises(FilesRefusedError, match="already has a run on bread"):
        send(benchmark, ben, {"bread.run": OTHER_RUN}, version="v1")
    with pytest.raises(NotAccepted, match="has no commit"):
        send(benchmark, ben, {"bread.run": OTHER_RUN}, version="v1", commit="abc")


def test_one_refusal_refuses_all_with_the_reason_of_each(benchmark, ben):
    Track.objects.filter(slug="bread").update(quota_total=0)
    Track.objects.filter(slug="rolls").update(closes_at="2020-01-01T00:00:00Z")
    with pytest.raises(FilesRefusedError) as refused:
        send(benchmark, ben, BOTH)
    assert codes_of(refused) == [("rolls.run", "E_CLOSED")]
    Track.objects.filter(slug="rolls").update(closes_at=None)
    with pytest.raises(FilesRefusedError) as refused:
        send(benchmark, ben, BOTH)
    assert codes_of(refused) == [("bread.run", "E_QUOTA")]
    assert not Run.objects.exists() and not System.objects.exists()


def test_nobody_joins_by_files_that_are_refused(benchmark, cat):
    Track.objects.filter(slug="rolls").update(closes_at="2020-01-01T00:00:00Z")
    with pytest.raises(FilesRefusedError):
        send(benchmark, cat, BOTH)
    assert benchmark.team_of(cat) is None


def test_a_key_names_a_request_for_a_day(benchmark, ben):
    first = send(benchmark, ben, BOTH, idempotency_key="k")
    yesterday = timezone.now() - submissions.KEY_LIFETIME
    Run.objects.filter(version=first.version).update(received_at=yesterday)
    second = send(benchmark, ben, {"bread.run": OTHER_RUN}, idempotency_key="k", version="v2")
    assert second.is_new and second.version != first.version


def test_nothing_is_left_of_refused_files(benchmark, ben, settings):
    Track.objects.filter(slug="rolls").update(quota_total=0)
    with pytest.raises(FilesRefusedError):
        send(benchmark, ben, BOTH)
    assert not list((settings.MEDIA_ROOT / "runs").rglob("file-*"))


def test_a_run_that_was_sent_alone_joins_the_version_of_the_same_file(benchmark, ben):
    alone = make_run(Track.objects.get(slug="bread"), ben)
    sent = send(benchmark, ben, BOTH)
    assert {run.run.pk: run.is_new for run in sent.runs}[alone.pk] is False
    assert Run.objects.count() == 2 and alone.pk in sent.version.runs.values_list("pk", flat=True)


def test_a_run_is_put_into_a_version_from_the_page_of_its_system(benchmark, ben):
    sent = send(benchmark, ben, {"rolls.run": ROLLS_RUN})
    run = make_run(Track.objects.get(slug="bread"), ben)
    systems.add_run(sent.version, ben, run)
    run.refresh_from_db()
    assert run.version == sent.version
    with pytest.raises(ActionError, match="already"):
        systems.add_run(sent.version, ben, make_run(run.track, ben, OTHER_RUN))


def test_a_withdrawn_version_withdraws_its_runs(benchmark, ben):
    sent = send(benchmark, ben, BOTH)
    systems.withdraw_version(sent.version, ben, "a slip")
    assert {run.withdrawn_reason for run in Run.objects.all()} == {"a slip"}
    assert send(benchmark, ben, BOTH).version.label == "2"


def test_a_restored_run_takes_no_second_place_in_its_version(benchmark, ben):
    sent = send(benchmark, ben, BOTH, version="v1")
    old = sent.runs[0].run
    withdraw_run(old, ben)
    send(benchmark, ben, {"bread.run": OTHER_RUN}, version="v1")
    old.refresh_from_db()
    with pytest.raises(NotAccepted, match="took its place"):
        undo_withdrawal(old, ben)


def test_a_replacement_takes_the_place_in_the_version(benchmark, ben):
    old = send(benchmark, ben, BOTH).runs[0].run
    new = make_run(Track.objects.get(slug="bread"), ben, OTHER_RUN, replaces=old.pk)
    assert new.version_id == old.version_id


def test_facts_of_a_system_are_those_of_all_its_runs_where_they_can_be_stated(benchmark, ben):
    sent = send(benchmark, ben, BOTH, facts={"models": "BM25"})
    assert System.objects.get().facts == {"models": "BM25"}
    Track.objects.filter(slug="rolls").update(released_at="2026-01-01T00:00:00Z")
    system = System.objects.get()
    assert systems.state_facts(system, ben, {"models": "Splade", "llm": False}) == 1
    facts = {run.track.slug: run.facts["models"] for run in sent.version.runs.all()}
    assert facts == {"bread": "Splade", "rolls": "BM25"}


def test_a_later_version_begins_with_the_facts_of_its_system(benchmark, ben):
    send(benchmark, ben, BOTH, facts={"models": "BM25"})
    sent = send(benchmark, ben, {"bread.run": OTHER_RUN})
    assert sent.version.runs.get().facts == {"models": "BM25"}


def test_a_system_is_renamed_unless_the_team_has_the_name(benchmark, ben):
    send(benchmark, ben, BOTH, name="one")
    send(benchmark, ben, {"bread.run": OTHER_RUN}, name="two")
    system = System.objects.get(name="one")
    systems.change_system(system, ben, "three", "")
    assert System.objects.filter(name="three").exists()
    with pytest.raises(ActionError, match="two"):
        systems.change_system(system, ben, "two", "")


@pytest.mark.parametrize("name", ["", " ", "x" * 81, "a\u202eb", "a\0b"])
def test_a_name_can_be_read_on_a_page(benchmark, ben, name):
    with pytest.raises(NotAccepted, match="name"):
        send(benchmark, ben, BOTH, name=name)


@pytest.mark.parametrize("label", ["a/b", "..", "x" * 41, "-a", "é"])
def test_a_label_stands_in_a_url(benchmark, ben, label):
    with pytest.raises(NotAccepted, match="version"):
        send(benchmark, ben, BOTH, version=label)
