"""The corpus of hostile and malformed uploads, as far as readers decide it."""

import json
import os
from io import BytesIO
from pathlib import Path

import pytest

from evaluation.problems import Problems, Refused
from evaluation.reading.containers import DOCUMENT_LIMITS, unpacked
from evaluation.reading.documents import read_documents
from evaluation.reading.judging.qrels import read_qrels
from evaluation.reading.runs.reader import RunRules, read_run
from evaluation.reading.topics import read_topics

pytestmark = pytest.mark.usefixtures("both_ways")

CORPUS = Path(os.environ.get("RANKFIELD_DATA", "")) / "badinputs"
TOPICS = {b"%d" % number for number in range(301, 306)}
DOCNOS = {b"DOC-%04d" % number for number in range(1, 61)}


def cases() -> list:
    if not (CORPUS / "manifest.json").exists():
        return []
    manifest = json.loads((CORPUS / "manifest.json").read_text(encoding="utf-8"))
    return [
        pytest.param(case, id=case["id"])
        for case in manifest["cases"]
        if case["kind"] in READERS and (CORPUS / case["file"]).exists()
    ]


def run(file):
    return read_run(unpacked(file), RunRules(topics=TOPICS, docnos=DOCNOS)).problems


def qrels(file):
    return read_qrels(unpacked(file), TOPICS, DOCNOS).problems


def topics(file):
    return read_topics(unpacked(file)).problems


def docs(file):
    problems = Problems()
    list(read_documents(unpacked(file, DOCUMENT_LIMITS), problems))
    problems.raise_if_refused()
    return problems


READERS = {"run": run, "archive": run, "qrels": qrels, "topics": topics, "docs": docs}


@pytest.mark.data
@pytest.mark.parametrize("case", cases())
def test_a_case_is_decided_as_the_manifest_says(case):
    with (CORPUS / case["file"]).open("rb") as file:
        try:
            problems = READERS[case["kind"]](file)
        except Refused as refusal:
            problems, decision = refusal.problems, "reject"
        else:
            decision = "warn" if len(problems) else "accept"
    assert decision in case.get("result_any", [case["result"]])
    if decision == case["result"] != "accept":
        found = [
            problem for problem in problems if problem.code in [case["code"], *case.get("also", [])]
        ]
        assert found
        assert case.get("line") in [None, *(problem.line for problem in found[:1])]


@pytest.mark.data
def test_ranks_change_no_score():
    good, disagreeing = (
        read_run(BytesIO((CORPUS / "cases" / f"{name}.txt").read_bytes())).rankings
        for name in ("run-good", "run-rank-disagrees")
    )
    assert {topic: ranking.docnos for topic, ranking in good.items()} == {
        topic: ranking.docnos for topic, ranking in disagreeing.items()
    }


@pytest.mark.data
def test_the_fixtures_are_the_collection_that_the_cases_mean():
    found = read_topics(BytesIO((CORPUS / "fixtures" / "topics.tsv").read_bytes()))
    assert {topic.number.encode() for topic in found.topics} == TOPICS
    documents = read_documents(
        BytesIO((CORPUS / "fixtures" / "docs.jsonl").read_bytes()), Problems()
    )
    assert {document.docno.encode() for document in documents} == DOCNOS
