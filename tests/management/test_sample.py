"""The sample collection is sound, and its rankers differ."""

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
from leaderboard.management.sample.rankers import DEPTH, SampleRun, runs
from leaderboard.management.sample.words import stem

POOL_DEPTH = 10
UNPOOLED = "random"


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    problems = Problems()
    with open(FOLDER / "documents.jsonl", "rb") as file:
        documents = list(read_documents(file, problems))
    assert problems.totals() == {}
    return documents


@pytest.fixture(scope="module")
def topics() -> list[Topic]:
    with open(FOLDER / "topics.trec", "rb") as file:
        return read_topics(file).topics


@pytest.fixture(scope="module")
def qrels(topics, documents) -> Qrels:
    known_topics = [topic.number.encode() for topic in topics]
    docnos = {document.docno.encode() for document in documents}
    with open(FOLDER / "qrels.txt", "rb") as file:
        return read_qrels(file, known_topics, docnos)


@pytest.fixture(scope="module")
def sample_runs() -> list[SampleRun]:
    return runs(FOLDER)


@pytest.fixture(scope="module")
def read(sample_runs, topics, documents) -> dict[str, Run]:
    """The runs by tag, as the server reads them: strictly."""
    numbers = [topic.number.encode() for topic in topics]
    docnos = {document.docno.encode() for document in documents}
    return {
        run.tag: read_run(BytesIO(run.text), RunRules(numbers, docnos, DEPTH, run.tag))
        for run in sample_runs
    }


@pytest.fixture(scope="module")
def means(read, qrels) -> Mapping[str, float]:
    judgments, measure = prepare(qrels), parse_measure("AP")
    return {
        tag: measure.aggregate(measure.scores(judge(run, judgments))) for tag, run in read.items()
    }


def test_the_collection_is_as_large_as_it_says(documents, topics, qrels):
    readme = (FOLDER / "README.md").read_text()
    assert f"{len(documents)} documents" in readme and len(documents) >= 120
    assert f"{len(topics)} topics" in readme and len(topics) == 25
    assert f"{qrels.count} judgments" in readme and qrels.count >= 500


def test_every_document_is_short_and_has_a_title(documents):
    assert all(60 <= len(document.text.split()) <= 140 for document in documents)
    assert len({document.title for document in documents} - {""}) == len(documents)


def test_every_topic_is_told_in_full(topics):
    assert all(topic.title and topic.description and topic.narrative for topic in topics)


def test_judgments_name_known_topics_and_documents_only(qrels, topics):
    assert qrels.problems.totals() == {}
    assert list(qrels.grades) == [topic.number.encode() for topic in topics]


def test_the_readme_counts_every_grade(qrels):
    grades = [grade for judged in qrels.grades.values() for grade in judged.values()]
    readme = (FOLDER / "README.md").read_text()
    assert set(grades) == {0, 1, 2, 3}
    assert all(f"| {grade} | {grades.count(grade)} |" in readme for grade in range(4))


def test_every_topic_has_3_to_15_relevant_documents(qrels):
    for judged in qrels.grades.values():
        assert 3 <= sum(grade > 0 for grade in judged.values()) <= 15
        assert max(judged.values()) == 3


def test_every_pooled_document_is_judged(read, qrels):
    for tag in read.keys() - {UNPOOLED}:
        for number, ranking in read[tag].rankings.items():
            assert set(ranking.docnos[:POOL_DEPTH]) <= qrels.grades[number].keys()


def test_the_readme_counts_the_pool(read, qrels):
    pooled = {
        (number, docno)
        for tag in read.keys() - {UNPOOLED}
        for number, ranking in read[tag].rankings.items()
        for docno in ranking.docnos[:POOL_DEPTH]
    }
    readme = (FOLDER / "README.md").read_text()
    assert f"{len(pooled)} pairs" in readme
    assert f"{qrels.count - len(pooled)} documents" in readme


def test_runs_are_the_same_on_every_call(sample_runs):
    assert runs(FOLDER) == sample_runs


def test_no_two_rankers_rank_alike(read):
    orders = {
        tuple(docno for ranking in run.rankings.values() for docno in ranking.docnos)
        for run in read.values()
    }
    assert len(orders) == len(read) >= 9


def test_a_strict_reader_finds_nothing_but_ties(read):
    assert {code for run in read.values() for code in run.problems.totals()} == {"W_TIES"}


def test_lines_stand_in_scoring_order(sample_runs, read):
    for run in sample_runs:
        written = [line.split()[2] for line in run.text.splitlines()]
        rankings = read[run.tag].rankings.values()
        assert written == [docno for ranking in rankings for docno in ranking.docnos]


def test_coordination_shows_what_ties_are(read):
    tied = [set(ranking.scores) for ranking in read["coordination"].rankings.values()]
    assert max(len(scores) for scores in tied) < POOL_DEPTH


def test_every_ranker_beats_chance(means):
    assert sorted(means, key=means.__getitem__)[0] == "random"
    assert all(mean > 4 * means["random"] for tag, mean in means.items() if tag != "random")


def test_some_runs_are_better_than_the_baseline_and_some_worse(means):
    assert min(means["bm25-rm3"], means["rrf"]) > means["bm25"] + 0.02
    assert max(means["bm25-title"], means["bm25-unstemmed"]) < means["bm25"] - 0.1


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("caresses", "caress"),
        ("agreed", "agre"),
        ("conflated", "conflat"),
        ("falling", "fall"),
        ("happy", "happi"),
        ("sky", "sky"),
        ("vietnamization", "vietnam"),
        ("sensibiliti", "sensibl"),
        ("electrical", "electr"),
        ("adoption", "adopt"),
        ("controll", "control"),
        ("rate", "rate"),
    ],
)
def test_words_are_stemmed_as_in_porters_paper(word, expected):
    assert stem(word) == expected
