"""A job is done once, whatever ends in the middle of it."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.db import OperationalError, connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.actions import runs, submissions
from leaderboard.jobs import broker, cleanup, leases, queue, running, table
from leaderboard.models import Job, Notice, Run, User, Worker
from leaderboard.models.jobs import MAX_HANDED_BACK
from tests.builders import RUN, make_run, upload, work

pytestmark = pytest.mark.django_db
with_threads = pytest.mark.django_db(transaction=True)

Kind = Callable[..., list[tuple[str, str]]]


@pytest.fixture(autouse=True)
def database_of_long_ago(monkeypatch) -> None:
    """A server that a test has just started gives every lease its full time again."""
    start = Now() - timedelta(hours=1)
    monkeypatch.setattr("leaderboard.models.jobs.DatabaseStart", lambda: start)


@pytest.fixture
def kind(monkeypatch) -> Kind:
    """Makes a kind of job out of a function; what it returns fills with the failures told."""

    def make(name: str, do, **options) -> list[tuple[str, str]]:
        failures: list[tuple[str, str]] = []

        def failed(target: str, reason: str) -> None:
            failures.append((target, reason))

        monkeypatch.setitem(table.JOB_KINDS, name, table.JobKind(do, failed, **options))
        return failures

    return make


def greet(target: str, progress) -> Callable[[], None]:
    """Work that writes a word."""
    return lambda: User.objects.filter(pk=target).update(email="done@example.org")


def abandon(job: Job, **changes) -> None:
    """What the row of a job looks like whose worker was killed in the middle of it."""
    assert job.claim("killed")
    Job.objects.filter(pk=job.pk).update(lease_until=Now() - timedelta(seconds=1), **changes)


def see(worker: str) -> None:
    Worker.objects.create(name=worker, last_seen=Now())


def reloaded(job: Job) -> Job:
    return Job.objects.get(pk=job.pk)


def test_a_result_is_written_with_the_end_of_its_job(ada, kind) -> None:
    kind("greet", greet)
    job = queue.enqueue("greet", ada)
    assert running.run_due_jobs("tests") == 1
    ada.refresh_from_db()
    assert (reloaded(job).state, reloaded(job).attempts, ada.email) == (
        "done",
        1,
        "done@example.org",
    )


@pytest.mark.parametrize(
    ("started", "freed"), [(-60, True), (-2, False), (60, True)], ids=["long ago", "now", "to come"]
)
def test_leases_have_their_time_again_once_the_database_is_back(
    ada, kind, monkeypatch, started, freed
) -> None:
    """Nobody could renew meanwhile; a start that is to come is a clock that was put back."""
    start = Now() + timedelta(seconds=started)
    monkeypatch.setattr("leaderboard.models.jobs.DatabaseStart", lambda: start)
    kind("greet", greet)
    job = queue.enqueue("greet", ada)
    abandon(job)
    running.release_expired_leases()
    assert (reloaded(job).state == "queued") == freed


def test_what_somebody_waits_for_comes_first(ada, ben, kind) -> None:
    order: list[str] = []
    kind("note", lambda target, progress: order.append(target) or (lambda: None))
    Job.objects.enqueue("note", ada, priority=7)
    Job.objects.enqueue("note", ben, priority=3)
    running.run_due_jobs("tests")
    assert order == [str(ben.pk), str(ada.pk)]


def test_work_that_waits_already_is_not_queued_twice(ada, kind) -> None:
    kind("greet", greet)
    assert queue.enqueue("greet", ada) == queue.enqueue("greet", ada)
    assert running.run_due_jobs("tests") == 1


def test_work_asked_for_while_it_runs_runs_once_more(ada, kind) -> None:
    seen: list[str] = []

    def look(target: str, progress) -> Callable[[], None]:
        seen.append(target)
        if len(seen) == 1:
            queue.enqueue("look", ada)
        return lambda: None

    kind("look", look)
    queue.enqueue("look", ada)
    assert running.run_due_jobs("tests") == 2
    assert list(Job.objects.values_list("state", flat=True)) == ["done", "done"]


def test_two_workers_cannot_have_the_same_job(ada) -> None:
    job = queue.enqueue("greet", ada)
    same = reloaded(job)
    assert job.claim("one")
    assert not same.claim("other")


def test_a_late_worker_writes_nothing(ada, kind) -> None:
    def lose(target: str, progress) -> Callable[[], None]:
        Job.objects.update(lease_token=uuid.uuid4())
        return greet(target, progress)

    failures = kind("lose", lose)
    job = queue.enqueue("lose", ada)
    running.run_due_jobs("tests", limit=1)
    ada.refresh_from_db()
    assert (reloaded(job).state, ada.email, failures) == ("running", "", [])


def test_a_bug_fails_the_job_and_goes_to_the_log_only(ada, kind, caplog) -> None:
    failures = kind("break", lambda target, progress: 1 / 0)
    job = queue.enqueue("break", ada)
    running.run_due_jobs("tests")
    assert failures == [(str(ada.pk), running.OUR_FAULT)]
    assert (reloaded(job).state, reloaded(job).attempts) == ("failed", 1)
    assert "ZeroDivisionError" in caplog.text


def test_a_result_that_breaks_half_written_leaves_nothing(ada, kind) -> None:
    def half(target: str, progress) -> Callable[[], None]:
        def publish() -> None:
            greet(target, progress)()
            raise KeyError("half")

        return publish

    kind("half", half)
    job = queue.enqueue("half", ada)
    running.run_due_jobs("tests")
    ada.refresh_from_db()
    assert (reloaded(job).state, ada.email) == ("failed", "")


def test_a_failure_that_cannot_be_told_still_ends_the_job(ada, monkeypatch) -> None:
    broken = table.JobKind(lambda *_: 1 / 0, lambda *_: 1 / 0)
    monkeypatch.setitem(table.JOB_KINDS, "broken", broken)
    job = queue.enqueue("broken", ada)
    running.run_due_jobs("tests")
    assert reloaded(job).state == "failed"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux alone limits memory")
def test_what_needs_too_much_memory_fails_at_once(ada, kind, settings) -> None:
    settings.JOB_MEMORY_LIMIT = 64 * 1024 * 1024
    failures = kind("swell", lambda target, progress: bytearray(256 * 1024 * 1024))
    queue.enqueue("swell", ada)
    running.run_due_jobs("tests")
    assert failures == [(str(ada.pk), running.TOO_LARGE.format(64))]
    assert len(bytearray(256 * 1024 * 1024)) == 268435456


def test_what_takes_too_long_is_told_to_end(ada, kind, settings) -> None:
    settings.JOB_TIME_LIMIT = 0.1
    failures = kind("wait", lambda target, progress: time.sleep(60))
    queue.enqueue("wait", ada)
    running.run_due_jobs("tests")
    assert failures == [(str(ada.pk), running.TOO_SLOW.format(0.1))]


@with_threads
def test_what_does_not_listen_ends_with_its_process(ada, kind, settings, monkeypatch) -> None:
    settings.JOB_TIME_LIMIT = settings.RENEW_SECONDS = 0.05
    monkeypatch.setattr(leases, "GRACE", 0)
    killed: list[bool] = []
    monkeypatch.setattr(leases, "kill_process", lambda: killed.append(True))

    def deaf(target: str, progress) -> Callable[[], None]:
        while not killed:
            try:
                time.sleep(0.01)
            except leases.JobTimeoutError:
                continue
        return greet(target, progress)

    failures = kind("deaf", deaf)
    queue.enqueue("deaf", ada)
    running.run_due_jobs("tests")
    assert failures == [(str(ada.pk), running.TOO_SLOW.format(0.05))]


@with_threads
def test_progress_is_written_while_the_work_goes_on(ada, kind, settings) -> None:
    settings.RENEW_SECONDS = 0.05

    def count(target: str, progress) -> Callable[[], None]:
        progress(3, 10)
        while not Job.objects.filter(progress=3, progress_of=10).exists():
            time.sleep(0.01)
        return greet(target, progress)

    kind("count", count)
    job = queue.enqueue("count", ada)
    running.run_due_jobs("tests")
    assert reloaded(job).state == "done"


@with_threads
def test_work_hears_that_its_lease_is_lost(ada, kind, settings) -> None:
    settings.RENEW_SECONDS = 0.05
    ends: list[str] = []

    def lose(target: str, progress) -> Callable[[], None]:
        Job.objects.update(lease_token=uuid.uuid4())
        try:
            while True:
                progress(1, 2)
                time.sleep(0.01)
        finally:
            ends.append(target)

    kind("lose", lose)
    queue.enqueue("lose", ada)
    running.run_due_jobs("tests", limit=1)
    assert ends == [str(ada.pk)]


@with_threads
@pytest.mark.parametrize("error", [OperationalError, connection.Database.OperationalError])
def test_a_database_that_comes_back_is_waited_for(ada, kind, monkeypatch, error) -> None:
    """Where a cursor is closed just as the server goes, the error comes as the driver made it."""
    monkeypatch.setattr(running, "RETRY_PAUSES", (0.01, 0.01))
    tries: list[str] = []

    def twice(target: str, progress) -> Callable[[], None]:
        tries.append(target)
        if len(tries) < 3:
            raise error("server closed the connection unexpectedly")
        return greet(target, progress)

    kind("twice", twice)
    job = queue.enqueue("twice", ada)
    running.run_due_jobs("tests")
    assert (reloaded(job).state, reloaded(job).attempts) == ("done", 1)


@with_threads
def test_a_job_waits_for_room_on_the_disk_as_long_as_it_takes(ada, kind, monkeypatch) -> None:
    monkeypatch.setattr(running, "RETRY_PAUSES", ())

    def full(target: str, progress) -> Callable[[], None]:
        raise OSError(28, "No space left on device")

    failures = kind("full", full)
    job = queue.enqueue("full", ada)
    assert running.run_due_jobs("tests") == 1
    for _ in range(4):
        assert (reloaded(job).state, reloaded(job).reason) == ("queued", running.WAITING_FOR_OUTAGE)
        Job.objects.update(not_before=None)
        assert running.run_due_jobs("tests") == 1
    assert (reloaded(job).attempts, failures) == (0, [])


@with_threads
def test_a_job_goes_back_once_the_database_takes_it(ada, kind, monkeypatch) -> None:
    monkeypatch.setattr(running, "RETRY_PAUSES", ())
    monkeypatch.setattr(running, "REQUEUE_PAUSE", 0.01)
    answers = iter([away, away, Job.postpone])
    monkeypatch.setattr(Job, "postpone", lambda *args, **named: next(answers)(*args, **named))
    kind("away", away)
    job = queue.enqueue("away", ada)
    assert running.run_due_jobs("tests") == 1
    assert (reloaded(job).state, reloaded(job).attempts) == ("queued", 0)


def away(*_: object, **__: object) -> Callable[[], None]:
    raise OperationalError("server closed the connection unexpectedly")


@with_threads
def test_waiting_to_write_a_result_takes_no_time_of_its_job(ada, kind, monkeypatch) -> None:
    monkeypatch.setattr(running, "RETRY_PAUSES", (0,))
    held: list[leases.Lease] = []
    hold, left = running.open_lease, []
    monkeypatch.setattr(running, "open_lease", lambda *each: held.append(hold(*each)) or held[0])

    def write() -> None:
        left.append(held[0].ends - time.monotonic())
        held[0].ends = 0.0
        if len(left) == 1:
            raise OperationalError("server closed the connection unexpectedly")

    kind("slow", lambda target, progress: write)
    job = queue.enqueue("slow", ada)
    running.run_due_jobs("tests")
    assert reloaded(job).state == "done" and min(left) > 0


def test_a_process_that_died_alone_costs_its_job_an_attempt(ada, kind) -> None:
    kind("greet", greet)
    job = queue.enqueue("greet", ada)
    abandon(job)
    see("killed")
    assert running.run_due_jobs("tests") == 1
    assert (reloaded(job).attempts, reloaded(job).handed_back) == (2, 0)


def test_a_worker_that_went_down_hands_the_attempt_back(ada, kind) -> None:
    kind("greet", greet)
    job = queue.enqueue("greet", ada)
    abandon(job)
    assert running.run_due_jobs("tests") == 1
    assert (reloaded(job).state, reloaded(job).attempts, reloaded(job).handed_back) == (
        "done",
        1,
        1,
    )


def test_a_job_that_kills_its_process_three_times_has_failed(ada, kind) -> None:
    failures = kind("greet", greet)
    job = queue.enqueue("greet", ada)
    abandon(job, attempts=3)
    see("killed")
    assert running.run_due_jobs("tests") == 0
    assert failures == [(str(ada.pk), "Processing crashed 3 times.")]


def test_a_job_is_not_handed_back_for_ever(ada, kind) -> None:
    failures = kind("greet", greet)
    job = queue.enqueue("greet", ada)
    abandon(job, handed_back=MAX_HANDED_BACK)
    running.run_due_jobs("tests")
    assert failures == [(str(ada.pk), "The worker was stopped 10 times during processing.")]


def test_a_slot_stays_free_beside_a_long_job(ada, ben, cat, kind) -> None:
    kind("long", greet, long=True)
    kind("short", greet)
    first, second = queue.enqueue("long", ada), queue.enqueue("long", ben)
    short = Job.objects.enqueue("short", cat, priority=9)
    assert running.claim_job("one") == first
    assert running.claim_job("one") == short
    assert running.claim_job("other") == second


def test_the_work_of_a_newer_version_waits_for_its_worker(ada) -> None:
    job = queue.enqueue("unheard-of", ada)
    assert running.run_due_jobs("tests") == 0
    assert reloaded(job).state == "queued"


def test_a_worker_that_is_stopping_begins_nothing(ada, kind, monkeypatch) -> None:
    kind("greet", greet)
    queue.enqueue("greet", ada)
    monkeypatch.setattr(broker, "is_stopping", lambda: True)
    assert running.run_due_jobs("tests") == 0


def test_a_worker_is_seen_while_it_works() -> None:
    running.run_due_jobs("seen")
    assert list(Worker.objects.alive().values_list("name", flat=True)) == ["seen"]


@pytest.fixture
def stored(settings) -> Callable[[str, int], Path]:
    """Makes a file in the storage, so many seconds old."""

    def store(name: str, age: int) -> Path:
        path = Path(settings.MEDIA_ROOT) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"1 Q0 d1 1 9.0 ben-bm25\n")
        os.utime(path, (time.time() - age, time.time() - age))
        return path

    return store


def test_a_file_without_a_row_goes_after_an_hour(stored) -> None:
    old, young = stored("runs/x/file-old", 4000), stored("runs/x/file-young", 3000)
    cleanup.sweep()
    assert (old.exists(), young.exists()) == (False, True)


def test_a_file_that_a_row_names_stays(collection, settings) -> None:
    path = Path(settings.MEDIA_ROOT) / collection.documents.name
    os.utime(path, (0, 0))
    cleanup.sweep()
    assert path.exists()


def test_a_file_that_a_running_job_may_have_made_stays(ada, stored) -> None:
    job = queue.enqueue("greet", ada)
    job.claim("tests")
    Job.objects.update(started_at=Now() - timedelta(hours=5))
    old, older = stored("collections/x/documents", 20000), stored("collections/x/older", 30000)
    cleanup.sweep()
    assert (old.exists(), older.exists()) == (True, False)


def test_an_upload_that_broke_off_goes_after_an_hour(settings, tmp_path) -> None:
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path
    (tmp_path / "half.upload").write_bytes(b"1 Q0")
    os.utime(tmp_path / "half.upload", (0, 0))
    cleanup.sweep()
    assert list(tmp_path.iterdir()) == []


def test_a_file_refused_long_ago_goes_and_its_row_stays(track, ben, settings) -> None:
    run = make_run(track, ben, "1 Q0 d1 1\n1 Q0 d1 1 9 my tag\n" * 35)
    Run.objects.update(received_at=timezone.now() - timedelta(days=31))
    cleanup.sweep()
    run.refresh_from_db()
    assert (run.state, bool(run.file), bool(run.problems_file)) == ("refused", False, False)
    assert list(Path(settings.MEDIA_ROOT).glob(f"runs/{run.pk}/*")) == []
    assert len(run.problems) == 50


def test_the_problems_of_a_repaired_run_go_after_an_hour(track, ben, settings) -> None:
    settings.PROBLEMS_SHOWN = 0
    run = make_run(track, ben, RUN.replace("ben-bm25", "my tag"))
    runs.repair_run(run, ben, "tag")
    [old] = Path(settings.MEDIA_ROOT).glob(f"runs/{run.pk}/problems-*")
    os.utime(old, (0, 0))
    cleanup.sweep()
    run.refresh_from_db()
    assert not old.exists() and Path(run.file.path).exists() and not run.problems_file


def test_what_nobody_looks_at_any_more_goes_after_a_quarter(track, ben):
    run = make_run(track, ben)
    Notice.objects.update(read_at=timezone.now())
    notice = Notice.objects.create(user=ben, track=track, text="unread", address="/")
    cleanup.sweep()
    assert Job.objects.of("compare", track.edition).exists() and Notice.objects.count() == 2
    long_ago = timezone.now() - timedelta(days=91)
    Job.objects.update(finished_at=long_ago)
    Notice.objects.exclude(pk=notice.pk).update(read_at=long_ago)
    cleanup.sweep()
    assert [job.kind for job in Job.objects.all()] == ["check_run"]
    assert Notice.objects.get() == notice and run.state == "scored"


def send_runs(track, user, count: int) -> list[str]:
    """Runs that wait: no worker looks at them."""
    texts = [RUN.replace("9.0", f"{90 + n}.0") for n in range(count)]
    return [submissions.accept_run(track, user, upload("r", text)).run.pk for text in texts]


def waiting_runs() -> list[str]:
    return list(Job.objects.due().filter(kind="check_run").values_list("target_id", flat=True))


def test_a_team_with_many_runs_does_not_hold_up_a_team_with_one(track, ben, cat) -> None:
    many, [one] = send_runs(track, ben, 25), send_runs(track, cat, 1)
    assert waiting_runs() == [many[0], one, *many[1:]]
    job = Job.objects.get(target_id=one)
    assert Job.objects.ahead_of(job).count() == 1


def test_teams_take_turns_while_both_send_more(track, ben, cat) -> None:
    bens = send_runs(track, ben, 3)
    assert Job.objects.get(target_id=bens[0]).claim("tests")
    cats = send_runs(track, cat, 3)
    assert waiting_runs() == [cats[0], bens[1], cats[1], bens[2], cats[2]]


def test_a_team_that_sent_nothing_for_long_has_saved_no_turns(track, ben, cat) -> None:
    bens = send_runs(track, ben, 4)
    Job.objects.filter(target_id__in=bens[:3]).update(state=Job.State.DONE)
    cats = send_runs(track, cat, 2)
    assert waiting_runs() == [bens[3], *cats]


def test_the_worker_locks_a_track_before_the_job_that_scores_it(track):
    """As web does, which changes the track and then asks for its scores."""
    job = Job.objects.enqueue("build_edition", track.edition)
    with CaptureQueriesContext(connection) as queries:
        work()
    said = [query["sql"] for query in queries]
    done = next(
        place for place, sql in enumerate(said) if sql.startswith("UPDATE") and "done" in sql
    )
    assert 'FROM "leaderboard_track"' in said[done - 1]
    job.refresh_from_db()
    assert job.state == "done"


def test_a_step_of_the_sweep_that_fails_is_logged_and_the_others_run(monkeypatch, stored, caplog):
    def broken() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(cleanup, "STEPS", [broken, *cleanup.STEPS])
    path = stored("runs/x/file-old", 4000)
    cleanup.sweep()
    assert not path.exists() and "broken failed" in caplog.text


def test_a_file_that_cannot_be_deleted_keeps_no_other(monkeypatch, stored, caplog):
    files = [stored(f"runs/x/file-{name}", 4000) for name in "abc"]
    delete = default_storage.delete
    monkeypatch.setattr(
        default_storage, "delete", lambda name: 1 / 0 if name.endswith("b") else delete(name)
    )
    cleanup.sweep()
    assert [path.exists() for path in files] == [False, True, False]
    assert "removing runs/x/file-b failed" in caplog.text
