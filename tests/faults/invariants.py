"""What holds after every fault, read from tables, files, pages and the API, never from the code.

I1 rows are what was answered · I2 nothing is stuck · I3 one set of scores a run, bit-equal to an
undisturbed run's · I4 attempts within their caps · I5 files and rows belong to each other ·
I6 page, API and row say the same · I7 only legal changes of state · I8 quota used is runs taken ·
I9 every mark of an assessor that was confirmed is there once, as it was sent.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.faults import witness
from tests.faults.stage import MEASURES, OPEN, QUOTA, Scene, oracle

MAX_ATTEMPTS, MAX_HANDED_BACK = 3, 10
# Pages of so many runs are looked at; scores, files and rows of all.
PAGES = 10
LONG_AGO = 6 * 3600
SWEEP = "from leaderboard.jobs.cleanup import sweep; sweep()"
FILES = (
    *(("run", name) for name in ("file", "ranking_file", "answer_file", "problems_file")),
    *(("collection", name) for name in ("topics_file", "documents_file", "groups_file")),
    *(("collection", name) for name in ("documents", "words")),
    *(("judgmentset", name) for name in ("file", "intents_file", "changes")),
    *(("pool", name) for name in ("file", "texts_file", "frame_file")),
    *((noun, "file") for noun in ("nuggetversion", "marklayer", "resultsfile", "pagescopy")),
    ("uploadpiece", "file"),
)
USED = {"queued", "checking", "valid", "scoring", "scored"}


def broken(scene: Scene) -> list[str]:
    """Every invariant that does not hold, in words."""
    checks = (taken, stuck, scored_once, tried, filed, told, moved, counted, marked)
    return [f"I{number} {each}" for number, check in enumerate(checks, 1) for each in check(scene)]


def rows_of(scene: Scene) -> dict[str, tuple[str, str, str]]:
    """State, file and sha256 of every run of the track."""
    found = scene.site.rows(
        "select run.id, run.state, run.file, run.sha256 from leaderboard_run run "
        "join leaderboard_track track on track.id = run.track_id "
        f"where track.slug = '{scene.slug}'"
    )
    return {run: (state, file, sha256) for run, state, file, sha256 in found}


def taken(scene: Scene) -> Iterator[str]:
    rows = set(rows_of(scene))
    for run in set(scene.sent) - rows:
        yield f"run {run} was answered and is lost"
    for run in rows - set(scene.sent):
        yield f"run {run} has a row and nobody was told"


def stuck(scene: Scene) -> Iterator[str]:
    for run, (state, _, _) in rows_of(scene).items():
        ends = scene.otherwise.get(run, "scored")
        if state != ends:
            yield f"run {run} is {state}, not {ends}"
    for kind, target, state in scene.site.rows(
        f"select kind, target_id, state from leaderboard_job where {OPEN}"
    ):
        yield f"the job {kind} {target} is {state}"


def scored_once(scene: Scene) -> Iterator[str]:
    found: dict[str, list[tuple[str, bytes]]] = {}
    for run, measure, values in scene.site.rows(
        "select scored.run_id, score.measure, score.by_topic from leaderboard_score score "
        "join leaderboard_scoreset scored on scored.id = score.score_set_id "
        "join leaderboard_track track on track.edition_id = scored.edition_id "
        f"where track.slug = '{scene.slug}'"
    ):
        found.setdefault(run, []).append((measure, bytes(values)))
    for run, sent in scene.sent.items():
        scores = found.pop(run, [])
        if run in scene.otherwise:
            if scores and scene.otherwise[run] != "scored":
                yield f"run {run} is {scene.otherwise[run]} and has scores"
        elif len(scores) != len(MEASURES):
            yield f"run {run} has {len(scores)} values for {len(MEASURES)} measures"
        elif dict(scores) != oracle(sent.bytes, scene.version):
            yield f"run {run} has other scores than an undisturbed one"
    for run in found:
        yield f"run {run} has scores and was never sent"


def tried(scene: Scene) -> Iterator[str]:
    for kind, target, attempts, handed_back in scene.site.rows(
        "select kind, target_id, attempts, handed_back from leaderboard_job"
    ):
        if not (0 <= attempts <= MAX_ATTEMPTS and handed_back <= MAX_HANDED_BACK):
            yield f"{kind} {target} was begun {attempts} times, handed back {handed_back} times"
    twice = Counter(
        target
        for (target,) in scene.site.rows(
            "select target_id from leaderboard_job where kind = 'check_run' and state = 'done'"
        )
    )
    yield from (f"run {run} was finished {n} times" for run, n in twice.items() if n > 1)


def filed(scene: Scene) -> Iterator[str]:
    """After the sweeper came by long enough: no file without a row, no row without its file.

    An attempt that lost its lease may still write a file that nobody wants.
    """
    wrong = until_good(lambda: list(swept(scene)), tries=3)
    yield from wrong
    for run, (_, file, sha256) in rows_of(scene).items():
        path = scene.site.home / "files" / file
        if file not in scene.stage.damaged and path.exists() and digest(path) != sha256:
            yield f"the file of run {run} is not what was sent"


def until_good(look: Callable[[], list[str]], tries: int) -> list[str]:
    while (wrong := look()) and (tries := tries - 1):
        time.sleep(4)
    return wrong


def swept(scene: Scene) -> Iterator[str]:
    site = scene.site
    then = time.time() - LONG_AGO
    for folder in ("files", "uploads"):
        for path in files_in(site.home / folder):
            os.utime(path, (then, then))
    site.manage("shell", "-c", SWEEP)
    stored = {str(path.relative_to(site.home / "files")) for path in files_in(site.home / "files")}
    named = {
        name
        for noun, column in FILES
        for (name,) in site.rows(f"select {column} from leaderboard_{noun}")
        if name
    }
    yield from (f"the file {name} belongs to nothing" for name in stored - named)
    yield from (f"the file {name} is missing" for name in named - stored - scene.stage.damaged)
    yield from (f"{path.name} stays in uploads" for path in files_in(site.home / "uploads"))


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def told(scene: Scene) -> Iterator[str]:
    for run, (state, _, _) in list(rows_of(scene).items())[-PAGES:]:
        answer = scene.run(run)
        if answer["state"] != state or not answer["done"]:
            yield f"the API says {answer['state']} of run {run}, which is {state}"
        page = scene.stage.ben.open(f"/runs/{run}/")
        if run not in standing(scene):
            yield from [f"the page of run {run} is not gone"] if page.status != 410 else []
        elif page.status != 200 or f'class="chip {state}"' not in page.text:
            yield f"the page of run {run} ({page.status}) does not say that it is {state}"
    listed = scene.site.ask(f"/tracks/{scene.slug}/leaderboard", scene.stage.ben.token)
    ranked = {each["run"] for each in listed["standings"]}
    yield from (f"run {run} is not on the board" for run in scored(scene) - ranked)
    yield from (f"run {run} is on the board" for run in ranked - scored(scene))


def scored(scene: Scene) -> set[str]:
    ended = {run for run, (state, _, _) in rows_of(scene).items() if state == "scored"}
    return ended & standing(scene)


def standing(scene: Scene) -> set[str]:
    """Runs that nobody withdrew."""
    kept = scene.site.rows("select id from leaderboard_run where withdrawn_at is null")
    return {run for (run,) in kept}


def moved(scene: Scene) -> Iterator[str]:
    return witness.illegal(scene.site)


def counted(scene: Scene) -> Iterator[str]:
    """What the page says is left, against what was taken."""
    if not scene.sent:
        return
    page = scene.stage.ben.open(f"/benchmarks/{scene.slug}/submit/").text
    left = re.search(r"<b>([\d,]+) of [\d,]+</b> left in total", page)
    used = sum(row[0] in USED for row in rows_of(scene).values())
    if left is None or QUOTA - int(left[1].replace(",", "")) != used:
        yield f"{left and left[0]} after {used} runs"


def marked(scene: Scene) -> Iterator[str]:
    """The assessment is as open as it was, with what the assessor was told."""
    judge = scene.stage.cat
    rows = scene.site.rows(
        "select mark.key, mark.grade from leaderboard_mark mark "
        "join leaderboard_assigneddocument document on document.id = mark.document_id "
        f"where document.assignment_id = {judge.assignment}"
    )
    found = dict(rows)
    if len(rows) != len(found):
        yield f"{len(rows) - len(found)} marks are there twice"
    yield from (f"mark {key} was confirmed and is lost" for key in judge.confirmed.keys() - found)
    yield from (f"mark {key} was never sent" for key in found.keys() - judge.confirmed)
    for key in found.keys() & judge.confirmed.keys():
        if found[key] != judge.confirmed[key]:
            yield f"mark {key} is {found[key]} and was sent as {judge.confirmed[key]}"
