"""Collections, tracks and runs for tests, made the way users make them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any
from uuid import uuid4

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from evaluation.answers.runs import Answer, Cited, Sentence
from evaluation.reading.judging.machine_replies import MachineReply
from evaluation.reading.results import read_results
from leaderboard.actions import assessments, pools, submissions, tracks, uploads
from leaderboard.actions.lone_tracks import RULES
from leaderboard.actions.reported_scores import store_reported_scores
from leaderboard.actions.submissions import RunDetails
from leaderboard.actions.uploads import CollectionFiles
from leaderboard.assessments.kinds import kind_of_pool
from leaderboard.collections.machine_replies import keep_replies
from leaderboard.jobs import running
from leaderboard.models import (
    Assessment,
    Benchmark,
    Collection,
    MarkLayer,
    NuggetVersion,
    Pool,
    ReportedScores,
    ResultsFile,
    Run,
    Team,
    Track,
    User,
)
from leaderboard.models.assessments import GradeText
from leaderboard.runs.answers import AnswerWriter
from tests.recording import recorded, road

TOPICS = """<top>
<num> Number: 1
<title> sourdough bread
<desc> Description:
How is bread leavened without yeast from a shop?
<narr> Narrative:
A relevant document explains a starter.
</top>
<top>
<num> Number: 2
<title> rye flour
</top>
<top>
<num> Number: 3
<title> oven temperature
</top>
"""
DOCUMENTS = "".join(
    f'{{"_id": "d{n}", "title": "Document {n}", "text": "Loaf {n} of twelve, baked slowly."}}\n'
    for n in range(1, 13)
)
QRELS = """1 0 d1 2
1 0 d2 1
1 0 d3 0
2 0 d4 1
2 0 d5 0
3 0 d6 3
3 0 d7 0
3 0 d8 1
"""
# The same topics with subtopics: nine documents, of which d1 is relevant for two subtopics.
SUBTOPICS = """1 1 d1 2
1 2 d1 1
1 2 d2 1
1 3 d3 1
1 1 d9 1
2 1 d4 1
2 2 d5 1
3 1 d6 3
3 2 d8 1
3 1 d7 0
"""
INTENTS = "1 1 .5\n1 2 .25\n1 3 .25\n2 1 0.7\n2 2 .3\n"
# A sample of two strata, in the last topic of one: of ten documents seven were drawn.
STRATA = """1 0 d1 1 2
1 0 d2 1 1
1 0 d3 2 0
1 0 d9 2 -1
2 0 d4 1 1
2 0 d5 2 0
2 0 d10 2 -1
3 0 d6 1 1
3 0 d7 1 0
3 0 d8 1 -1
"""
# AP: topic 1 (1 + 2/2)/2 = 1, topic 2 1/2, topic 3 (1/2 + 2/3)/2.
RUN = """1 Q0 d1 1 9.0 ben-bm25
1 Q0 d2 2 8.0 ben-bm25
1 Q0 d9 3 7.0 ben-bm25
2 Q0 d5 1 9.0 ben-bm25
2 Q0 d4 2 8.0 ben-bm25
3 Q0 d7 1 9.0 ben-bm25
3 Q0 d6 2 8.0 ben-bm25
3 Q0 d8 3 7.0 ben-bm25
"""
# AP: topic 1 (1/3 + 2/4)/2, topic 2 1, topic 3 (1/3)/2: 5/12, 1, 1/6.
OTHER_RUN = """1 Q0 d3 1 9.0 other
1 Q0 d9 2 8.0 other
1 Q0 d1 3 7.0 other
1 Q0 d2 4 6.0 other
2 Q0 d4 1 9.0 other
3 Q0 d10 1 9.0 other
3 Q0 d11 2 8.0 other
3 Q0 d6 3 7.0 other
"""


def upload(name: str, text: str | bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text.encode() if isinstance(text, str) else text)


@recorded
def work() -> None:
    """Do every job that is due, as a worker does."""
    running.run_due_jobs("tests")


@recorded
def make_collection(
    owner: User,
    slug: str = "bread",
    qrels: str | None = QRELS,
    intents: str | None = None,
    documents: str = DOCUMENTS,
) -> Collection:
    """Three topics, twelve documents, eight judgments."""
    files = CollectionFiles(
        upload("topics.trec", TOPICS),
        upload("documents.jsonl", documents),
        upload("qrels.txt", qrels) if qrels is not None else None,
        upload("intents.txt", intents) if intents is not None else None,
    )
    collection = Collection(slug=slug, name=slug.title(), owner=owner, asks_first=False)
    uploads.accept_collection(collection, files)
    work()
    collection.refresh_from_db()
    assert collection.state == "ready", collection.problems
    return collection


@recorded
def make_track(collection: Collection, slug: str = "bread", **fields: object) -> Track:
    fields.setdefault("judgment_set", collection.judgment_sets.first())
    fields.setdefault("measures", ["AP", "nDCG@10", "P@5"])
    fields.setdefault("disclosure", "open")
    fields.setdefault("primary_measure", "AP")
    rules = {name: fields.pop(name) for name in RULES if name in fields}
    track = Track(slug=slug, name=f"{slug.title()} track", collection=collection, **fields)
    tracks.open_track(track, collection.owner, **rules)
    work()
    track.refresh_from_db()
    return track


@recorded
def make_run(
    track: Track, user: User, text: str | bytes = RUN, team: Team | None = None, **details: Any
) -> Run:
    accepted = submissions.accept_run(
        track, user, upload("run.txt", text), RunDetails(**details), team=team
    )
    work()
    run = Run.objects.get(pk=accepted.run.pk)
    return run


@recorded
def make_user(name: str, **fields: object) -> User:
    return User.objects.create_user(name, password=f"{name}-s-word", **fields)


def signed_in(user: User) -> Client:
    client = Client()
    with road.staying():
        client.force_login(user)
    return client


@recorded
def make_pool(
    track: Track, user: User, runs: Sequence[Run], size: int = 3, method: str = Pool.Method.DEPTH
) -> Pool:
    """An approved pool of these runs: of their first documents, if no other method is named."""
    made = pools.create_pool(track, user, runs, method, size)
    work()
    made.refresh_from_db()
    pools.approve_pool(made, user)
    made.refresh_from_db()
    return made


SCALE = [
    GradeText(2, "Answers it", "Says how to do it", "Knead for ten minutes"),
    GradeText(1, "Touches it", "Is about it", "Bread is baked"),
    GradeText(0, "Not relevant"),
]


@recorded
def make_assessment(pool: Pool, organiser: User, *assessors: User, **fields: Any) -> Assessment:
    """An open assessment of a pool, shared out among these assessors; nobody judges twice."""
    fields.setdefault("overlap", Assessment.Overlap.NONE)
    assessment = Assessment(pool=pool, **fields)
    kind = kind_of_pool(pool)
    text, scale = kind.text or "Judge what is *written*.", kind.scale or SCALE
    assessments.plan_assessment(assessment, organiser, text, scale)
    for assessor in assessors:
        assessments.add_assessor(assessment, assessor)
    assessments.open_assessment(assessment, organiser)
    return assessment


def store_an_answer() -> str:
    """An answer to the first topic, as a run of answers has it."""
    file = BytesIO()
    writer = AnswerWriter(file)
    writer.add(Answer("1", (Sentence("Bread rises.", (Cited("d1"),)),)))
    writer.finish()
    return default_storage.save("runs/answers", ContentFile(file.getvalue()))


def make_reported(
    benchmark: Benchmark, scores: Mapping[str, Mapping[str, float]] | None = None
) -> ReportedScores:
    """Reported scores by system and collection; the first letter of a collection is its group."""
    scores = scores or {"lab/one": {"a1": 0.5, "b1": 0.4}, "lab/two": {"a1": 0.25}}
    files = [
        (
            f"{name.replace('/', '__')}/r1/{collection}.json",
            render_result(collection, score),
        )
        for name, own in scores.items()
        for collection, score in own.items()
    ]
    groups = {name: name[0] for own in scores.values() for name in own}
    source = "results.example.org"
    return store_reported_scores(benchmark, benchmark.owner, read_results(files), source, groups)


def make_result_lines(**scores: float) -> str:
    """Results of MTEB as JSON lines: the score of each system on one collection."""
    lines = [
        {
            "model_name": f"lab/{name}",
            **json.loads(render_result("a", score)),
        }
        for name, score in scores.items()
    ]
    return "".join(f"{json.dumps(line)}\n" for line in lines)


def make_results_file(benchmark: Benchmark, state: str = "preview") -> ResultsFile:
    """An uploaded file of results that waits for a decision."""
    # A name that is taken would draw letters, as the ids of runs do.
    file = default_storage.save(f"results/{uuid4()}", ContentFile(make_result_lines(one=0.5)))
    return benchmark.results_files.create(
        version="v1",
        source="results.example.org",
        state=state,
        file=file,
        created_by=benchmark.owner,
    )


def render_result(collection: str, *scores: float, **fields: Any) -> bytes:
    """A result of MTEB with these main scores, each of a subset."""
    rows = [{"hf_subset": str(n), "main_score": score} for n, score in enumerate(scores)]
    content = {"task_name": collection, "scores": {"test": rows}, **fields}
    return json.dumps(content).encode()


def store_nuggets(track: Track) -> None:
    """A nugget and its marks, v1 in use, v2 in preview, and a draft, on a track of answers."""
    topic = track.collection.topics.get(number="1")
    made = {"track": track, "created_by": track.benchmark.owner, "file": store_an_answer()}
    for version, state in {"v1": "ready", "v2": "preview"}.items():
        named = {**made, "version": version, "state": state}
        nuggets = NuggetVersion.objects.create(**named, num_nuggets=1, num_topics=1)
        packed = {"topic": "1", "key": "1-1", "text": "Bread rises."}
        nuggets.topics.create(topic=topic, nuggets=[packed])
        marked = track.nugget_versions.get(version="v1")
        MarkLayer.objects.create(**named, about="nuggets", nuggets=marked, made_by="people")
    track.nugget_drafts.create(based_on=marked, created_by=track.benchmark.owner)
    layer = track.mark_layers.get(version="v1")
    for run in track.runs.accepted():
        layer.marked_answers.create(topic=topic, run=run, codes=b"\2")
    Track.objects.filter(pk=track.pk).update(run_kind="answers", assignments="v1")


def store_replies(track: Track) -> None:
    """Replies of machines for the judgments v1, and for the layer gpt, which is in use."""
    made = {"track": track, "created_by": track.benchmark.owner, "file": store_an_answer()}
    named = {"version": "gpt", "state": "ready", "made_by": "machine", "machine": "gpt-x"}
    layer = MarkLayer.objects.create(**made, **named, about="support")
    reply = MachineReply("1", "d1", "It says so.")
    for judged in (layer, track.collection.judgment_sets.get(version="v1")):
        keep_replies(judged, [reply])
    Track.objects.filter(pk=track.pk).update(support="gpt")
