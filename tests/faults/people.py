"""What people do while workers work: they replace judgments, bring collections, leave, erase."""

from __future__ import annotations

import time
from collections.abc import Iterator

from django.core.files.uploadedfile import SimpleUploadedFile

from tests.faults.catalogue import fault
from tests.faults.reading import Seen
from tests.faults.stage import Scene, qrels_file, read_json, topics_file
from tests.services.machines import until

JUDGED = 400
IMPORT = "import_collection"


@fault("F16")
def import_killed_in_the_middle(scene: Scene) -> Iterator[None]:
    """At ten, fifty and ninety of a hundred, and when it has just committed."""
    for share in (0.1, 0.5, 0.9, 1.0):
        slug = f"{scene.slug}-{int(100 * share)}"[-40:]
        bring(scene, slug)
        until(lambda slug=slug, share=share: import_is(scene, slug, share), f"{share} is imported")
        scene.site.kill_worker()
        state = scene.site.ask(f"/collections/{slug}", scene.stage.ada)
        assert state["state"] in ("importing", "ready", "queued", "checking"), state["state"]
        whole(scene, slug, state["state"] == "ready")
        scene.site.mend()
        until(lambda slug=slug: is_ready(scene, slug), "it is imported", 60)
        whole(scene, slug, True)
    yield


def bring(scene: Scene, slug: str) -> None:
    judgments = "".join(
        f"{topic} 0 d{docno} {docno % 3}\n" for topic in range(300) for docno in range(JUDGED)
    )
    scene.site.ask(
        "/collections",
        scene.stage.ada,
        slug=slug,
        name=slug,
        topics=SimpleUploadedFile("topics.tsv", topics_file()),
        judgments=SimpleUploadedFile("qrels.txt", judgments.encode()),
    )


def import_is(scene: Scene, slug: str, share: float) -> bool:
    """So far; or past it already."""
    found = scene.site.rows(
        "select job.progress, job.progress_of, collection.state from leaderboard_collection "
        f"collection left join leaderboard_job job on job.kind = '{IMPORT}' "
        "and job.state = 'running' and job.target_id = cast(collection.id as text) "
        f"where collection.slug = '{slug}'"
    )
    done, of, state = found[0]
    running = of is not None
    return state == "ready" or (running and (done or 0) >= share * (of or 0) and share < 1)


def is_ready(scene: Scene, slug: str) -> bool:
    return scene.site.ask(f"/collections/{slug}", scene.stage.ada)["state"] == "ready"


def whole(scene: Scene, slug: str, ready: bool) -> None:
    """A collection that is ready has every row once; before, it says that it has nothing."""
    counts = scene.site.ask(f"/collections/{slug}", scene.stage.ada)["counts"]
    if not ready:
        assert not counts["topics"], counts
        return
    assert (counts["topics"], counts["judgments"]) == (300, 300 * JUDGED), counts
    [(topics, judgments)] = scene.site.rows(
        "select count(distinct topic.id), count(judgment.id) from leaderboard_topic topic "
        "join leaderboard_judgment judgment on judgment.topic_id = topic.id "
        "join leaderboard_collection collection on collection.id = topic.collection_id "
        f"where collection.slug = '{slug}'"
    )
    assert (topics, judgments) == (300, 300 * JUDGED), (topics, judgments)


@fault("F20")
def judgments_replaced_while_runs_are_scored(scene: Scene) -> Iterator[None]:
    """No board mixes runs that were scored by different judgments."""
    site, ada = scene.site, scene.stage.ada
    bring_second_judgments(scene)
    scene.send_many(4)
    scene.heal()
    boards = Seen()
    scene.send_many(16)
    site.ask(f"/tracks/{scene.slug}", ada, {"judgments": "v2"}, method="PATCH")
    editions, end = {}, time.monotonic() + 60
    while scene.unfinished() and time.monotonic() < end:
        boards.look(f"{site.url}/api/v1/tracks/{scene.slug}/leaderboard")
        board = read_json(boards.last)
        for line in board["standings"]:
            key = (board["edition"], line["run"])
            value = line["scores"]["AP"]
            assert editions.setdefault(key, value) == value, "a value changed in its edition"
        time.sleep(0.05)
    scene.version = "v2"
    yield
    board = site.ask(f"/tracks/{scene.slug}/leaderboard", ada)
    assert (board["judgments"], len(board["standings"])) == ("v2", 20), board["judgments"]


def bring_second_judgments(scene: Scene) -> None:
    site, ada = scene.site, scene.stage.ada
    versions = {each["version"] for each in site.ask("/collections/small", ada)["judgment_sets"]}
    if "v2" not in versions:
        file = SimpleUploadedFile("qrels.txt", qrels_file("v2"))
        site.ask("/collections/small/judgments", ada, version="v2", file=file, confirm="auto")
    until(
        lambda: site.ask("/collections/small/judgments/v2", ada)["state"] == "ready", "v2 is ready"
    )


@fault("F24")
def runs_withdrawn_while_they_are_scored(scene: Scene) -> Iterator[None]:
    for _ in range(2):
        run = scene.send("large")
        scene.is_begun(run)
        request = scene.site.request(f"/runs/{run}", scene.stage.ben.token, method="DELETE")
        request.data = b""
        import urllib.request

        with urllib.request.urlopen(request, timeout=60) as answer:
            assert answer.status == 204, answer.status
    scene.send()
    yield


ERASE = (
    "from leaderboard.jobs.erasure import erase_collection\n"
    "from leaderboard.models import Collection\n"
    "erase_collection(Collection.objects.get(slug='{}'))"
)


@fault("F24")
def collection_erased_while_its_runs_are_scored(scene: Scene) -> Iterator[None]:
    site, ada = scene.site, scene.stage.ada
    slug = f"gone-{scene.slug}"[:40]
    bring(scene, slug)
    until(lambda: is_ready(scene, slug), "it is imported", 60)
    body = {"slug": slug, "name": slug, "collection": slug, "judgments": "v1"}
    choice = {"measures": ["AP"], "primary_measure": "AP", "disclosure": "open"}
    site.ask("/tracks", ada, body={**body, **choice})
    gone = type(scene)(scene.stage, slug)
    # The one that takes longest is sent last, or it may be done before anybody looks.
    runs = [*(gone.send() for _ in range(5)), gone.send("large")]
    gone.is_begun(runs[-1])
    site.manage("shell", "-c", ERASE.format(slug))
    scene.send()
    until(lambda: not scene.unfinished(), "nothing is left to do", 30)
    yield
    kept = site.rows(
        "select state from leaderboard_job where kind = 'check_run' and target_id in "
        f"({', '.join(repr(run) for run in runs)})"
    )
    assert set(kept) <= {("done",), ("cancelled",)}, kept
    answers = [status for run in runs if (status := asked_for(scene, run)) != 404]
    assert not answers, answers


def asked_for(scene: Scene, run: str) -> int:
    return scene.stage.ben.open(f"/runs/{run}/").status
