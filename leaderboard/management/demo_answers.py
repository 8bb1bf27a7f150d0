"""The answers of the demo: sentences quoted from the documents that a ranker found."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from io import BytesIO

from django.core.files.uploadedfile import SimpleUploadedFile

from evaluation.reading.runs.reader import read_run
from leaderboard.actions import people, submissions, tracks
from leaderboard.actions.submissions import RunDetails
from leaderboard.collections.documents import find_documents
from leaderboard.collections.topic_words import WORD, find_terms, stem
from leaderboard.management.demo_samples import HARBOURS, build_track
from leaderboard.management.sample.rankers import runs
from leaderboard.models import Collection, Topic, Track, User

ANSWERS = replace(HARBOURS, slug="harbour-answers", name="Answers about harbours")
LIMIT = 200
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True)
class Quoter:
    """A system of a team, of the organisers without one: a ranker, and how much it quotes."""

    name: str
    team: str
    ranker: str
    documents: int
    sentences: int


QUOTERS = (
    Quoter("first-hit", "", "bm25", documents=1, sentences=2),
    Quoter("rrf-quotes", "Nordlicht", "rrf", documents=4, sentences=1),
    Quoter("lm-long", "Kestrel", "lm-dirichlet", documents=3, sentences=2),
)


def make_sample_answers(
    collection: Collection, organiser: User, users: Mapping[str, User]
) -> Track:
    """Open a track of answers and submit its runs; `users` are members of the teams by name."""
    track = build_track(ANSWERS, collection)
    track.run_kind, track.answer_limit = "answers", LIMIT
    track.measures, track.primary_measure = ["nDCG@10", "Grade", "Judged", "P@5"], "nDCG@10"
    tracks.open_track(track, organiser)
    for team, user in users.items():
        people.admit(track.benchmark, user, people.JoinDetails(team_name=team))
    found = {run.tag: run.text for run in runs(HARBOURS.folder, {q.ranker for q in QUOTERS})}
    for quoter in QUOTERS:
        lines = "".join(quote(quoter, collection, found[quoter.ranker]))
        details = RunDetails(description=f"Quotes what {quoter.ranker} found. No model is called.")
        file = SimpleUploadedFile(f"{quoter.name}.jsonl", lines.encode())
        submissions.accept_run(track, users.get(quoter.team, organiser), file, details)
    return track


def quote(quoter: Quoter, collection: Collection, rankings: bytes) -> Iterator[str]:
    """Yield a line for each topic: sentences of its first documents, each of which is cited."""
    ranked = read_run(BytesIO(rankings)).rankings
    for topic in collection.topics.all():
        docnos = [each.decode() for each in ranked[topic.number.encode()].docnos]
        first = docnos[: quoter.documents]
        documents = find_documents(collection, first)
        said = [
            {"text": text, "citations": [docno]}
            for docno in first
            for text in choose_sentences(documents[docno].text, topic, quoter.sentences)
        ]
        metadata = {"run_id": quoter.name, "topic_id": topic.number}
        yield json.dumps({"metadata": metadata, "responses": said}) + "\n"


def choose_sentences(text: str, topic: Topic, most: int) -> list[str]:
    """Return the sentences of a text with most different words of a topic, in their order."""
    sentences = SENTENCE_END.split(text)
    terms = find_terms(topic)

    def count_terms(sentence: str) -> int:
        return len(terms & {stem(word) for word in WORD.findall(sentence)})

    best = sorted(sentences, key=count_terms, reverse=True)[:most]
    return [sentence for sentence in sentences if sentence in best]
