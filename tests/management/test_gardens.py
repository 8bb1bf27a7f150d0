"""The second sample collection is sound, and its systems are strong in other places."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO

import pytest

from evaluation.judging import judge, prepare
from evaluation.measures import parse_measure
from evaluation.problems import Problems
from evaluation.reading.documents import Document, read_documents
from evaluation.reading.judging.qrels import Qrels, read_qrels
from evaluation.reading.runs.reader import Run, RunRules, read_run
from evaluation.reading.topics import Topic, read_topics
from leaderboard.management.sample import FOLDER
from leaderboard.management.sample.rankers import DEPTH, SYSTEMS, runs

GARDENS = FOLDER / "gardens"
README = (GARDENS / "README.md").read_text()


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    problems = Problems()
    with open(GARDENS / "documents.jsonl", "rb") as file:
        documents = list(read_documents(file, problems))
    assert problems.totals() == {}
    return documents


@pytest.fixture(scope="module")
def topics() -> list[Topic]:
    with open(GARDENS / "topics.trec", "rb") as file:
        return read_topics(file).topics


@pytest.fixture(scope="module")
def qrels(topics, documents) -> Qrels:
    known_topics = [topic.number.encode() for topic in topics]
    docnos = {document.docno.encode() for document in documents}
    with open(GARDENS / "qrels.txt", "rb") as file:
        return read_qrels(file, known_topics, docnos)


@pytest.fixture(scope="module")
def read() -> dict[str, Run]:
    return {
        run.tag: read_run(BytesIO(run.text), RunRules(depth=DEPTH))
        for run in runs(GARDENS, SYSTEMS)
    }


@pytest.fixture(scope="module")
def means(read, qrels) -> Mapping[str, float]:
    judgments, measure = prepare(qrels), parse_measure("AP")
    return {
        tag: measure.aggregate(measure.scores(judge(run, judgments))) for tag, run in read.items()
    }


def test_the_collection_is_as_large_as_it_says(documents, topics, qrels):
    sizes = f"{len(documents)} documents, {len(topics)} topics, {qrels.count} judgments"
    assert sizes in README
    assert all(55 <= len(document.text.split()) <= 75 for document in documents)


def test_titles_and_topics_are_complete(documents, topics):
    assert len({document.title for document in documents} - {""}) == len(documents)
    assert all(topic.title and topic.description and topic.narrative for topic in topics)


def test_judgments_name_known_topics_and_documents_only(qrels, topics):
    assert qrels.problems.totals() == {}
    assert list(qrels.grades) == [topic.number.encode() for topic in topics]


def test_the_readme_counts_every_grade(qrels):
    grades = [grade for judged in qrels.grades.values() for grade in judged.values()]
    assert all(f"| {grade} | {grades.count(grade)} |" in README for grade in range(4))
    relevant = [sum(g > 0 for g in judged.values()) for judged in qrels.grades.values()]
    assert f"{min(relevant)} to {max(relevant)} documents of grade 1" in README


def test_the_readme_counts_the_pool(read, qrels):
    pooled = {
        (number, docno)
        for run in read.values()
        for number, ranking in run.rankings.items()
        for docno in ranking.docnos[:10]
    }
    judged = {(number, docno) for number, row in qrels.grades.items() for docno in row}
    assert pooled <= judged
    assert f"{len(pooled)} pairs" in README and f"{len(judged - pooled)} documents" in README


def test_another_system_is_first_than_for_the_harbours(means):
    assert max(means, key=means.__getitem__) == "bm25-narrative"
    assert means["bm25-narrative"] > means["rrf"] + 0.05
    assert means["rrf"] > means["bm25"] > means["bm25-unstemmed"]
