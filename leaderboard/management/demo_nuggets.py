"""The nuggets of the demo: sentences of its relevant documents, found in answers word for word."""

from __future__ import annotations

import json
from collections.abc import Iterator

from django.core.files.uploadedfile import SimpleUploadedFile

from evaluation.answers.runs import Answer
from leaderboard.actions import tracks, versions
from leaderboard.collections.documents import find_documents
from leaderboard.collections.nuggets import load_bank
from leaderboard.management.demo_answers import choose_sentences
from leaderboard.management.demo_judging import wait_for_runs
from leaderboard.management.demo_samples import wait_until_ready
from leaderboard.models import Judgment, MarkLayer, NuggetVersion, Topic, Track, User
from leaderboard.runs.answers import load_answer

# How many nuggets a topic has, and from which grade of their document on they are vital.
NUGGETS, VITAL_FROM = 5, 3
MACHINE = "word-for-word"
NOTE = "Sentences of the documents with the best grades. No model is called."
MEASURES = ["Nuggets", "strict_vital", "WNuggets", "nDCG@10", "Grade", "Judged"]


def make_sample_nuggets(track: Track, organiser: User) -> None:
    """Import nuggets and a layer of marks, and rank the track's board by them."""
    wait_for_runs(track)
    version = NuggetVersion(track=track, version="v1", created_by=organiser, note=NOTE)
    import_lines(version, write_nuggets(track))
    layer = MarkLayer(track=track, version=MACHINE, created_by=organiser, nuggets=version)
    layer.about, layer.made_by, layer.machine = MarkLayer.About.NUGGETS, "machine", MACHINE
    import_lines(layer, write_marks(track, version))
    changes = {"measures": MEASURES, "primary_measure": "Nuggets", "assignments": MACHINE}
    tracks.change_track(track, organiser, changes)


def import_lines(version: NuggetVersion | MarkLayer, lines: Iterator[str]) -> None:
    version.asks_first = False
    file = SimpleUploadedFile(f"{version.noun}.txt", "".join(lines).encode())
    versions.accept_version(version, file)
    wait_until_ready(version)


def write_nuggets(track: Track) -> Iterator[str]:
    """Yield the claims of each topic as a NuggetBank, each attested by its document."""
    for topic in track.collection.topics.all():
        claims = dict(choose_claims(track, topic))
        bank = {"query_id": topic.number, "title_query": topic.title, "format_version": "v3"}
        yield json.dumps({**bank, "nugget_bank": {}, "claim_bank": claims}) + "\n"


def choose_claims(track: Track, topic: Topic) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the best sentence of each of the best documents, with what is known of it."""
    judged = Judgment.objects.filter(judgment_set=track.judgment_set, topic=topic, grade__gt=0)
    graded = dict(judged.order_by("-grade", "docno").values_list("docno", "grade")[:NUGGETS])
    documents = find_documents(track.collection, list(graded))
    for number, (docno, grade) in enumerate(graded.items(), 1):
        for text in choose_sentences(documents[docno].text, topic, 1):
            yield (
                text,
                {
                    "claim": text,
                    "claim_id": f"{topic.number}-{number}",
                    "references": [{"doc_id": docno}],
                    "importance": "vital" if grade >= VITAL_FROM else "okay",
                    "creator": [{"is_human": False, "llm_model": MACHINE}],
                },
            )


def write_marks(track: Track, version: NuggetVersion) -> Iterator[str]:
    """Yield a mark for each run and nugget: its sentence, its document alone, or neither."""
    bank = load_bank(version.pk)
    for run in track.runs.accepted():
        for topic, nuggets in bank.topics.items():
            answer = load_answer(run, topic) or Answer(topic)
            said, cited = set(answer.texts), set(answer.cited())
            for nugget in nuggets:
                label = "partial" if cited & nugget.attesting else "none"
                label = "support" if nugget.text in said else label
                yield f"{run.pk} {topic} {nugget.key} {label}\n"
