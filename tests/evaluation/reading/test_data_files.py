"""Real files, each with what becomes of it.

python -m tests.evaluation.reading.test_data_files FOLDER prints them all: file, verdict, message.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from evaluation.problems import Problem, Problems, Refused
from evaluation.reading.containers import unpacked
from evaluation.reading.documents import read_documents, recognise_documents
from evaluation.reading.judging.qrels import read_qrels
from evaluation.reading.recognition import recognise_qrels
from evaluation.reading.runs.reader import RunRules, read_run, read_run_leniently
from evaluation.reading.topics import read_topics

CRANFIELD = RunRules(
    topics=[b"%d" % n for n in range(1, 226)], docnos={b"%d" % n for n in range(1, 1401)}
)


@dataclass(frozen=True)
class Verdict:
    """What a reader says of a file; `read` tells what it is and how much it holds."""

    read: str
    problems: Problems

    @property
    def first(self) -> Problem | None:
        """The first error, else the first warning."""
        return next(iter(sorted(self.problems, key=lambda each: each.severity != "error")), None)

    @property
    def message(self) -> str:
        return "" if self.first is None else f"{self.first} {self.first.hint}".strip()


def verdict_on(path: Path, kind: str) -> Verdict:
    try:
        with path.open("rb") as file:
            return READERS[kind](file)
    except Refused as refusal:
        return Verdict("refused", refusal.problems)


def documents(file) -> Verdict:
    format, problems = recognise_documents(unpacked(file)).format, Problems()
    number = sum(1 for _ in read_documents(unpacked(file), problems))
    return Verdict(f"{number:,} documents, {format}", problems)


def topics(file) -> Verdict:
    found = read_topics(unpacked(file))
    return Verdict(f"{len(found.topics)} topics, {found.format}", found.problems)


def judgments(file) -> Verdict:
    format = recognise_qrels(unpacked(file)).format
    qrels = read_qrels(unpacked(file), format=format)
    return Verdict(f"{qrels.count:,} for {len(qrels.grades)} topics, {format}", qrels.problems)


def run(file, rules: RunRules | None = None) -> Verdict:
    found = read_run(unpacked(file), rules or RunRules())
    return Verdict(f"{found.lines:,} lines for {len(found.rankings)} topics", found.problems)


def old_run(file) -> Verdict:
    found = read_run_leniently(unpacked(file))
    return Verdict(f"leniently {len(found.rankings)} topics", found.problems)


READERS = {
    "documents": documents,
    "topics": topics,
    "judgments": judgments,
    "run": run,
    "old run": old_run,
    "cranfield": lambda file: run(file, CRANFIELD),
}

READ = [
    ("documents", "cranfield/cran.all.1400.xml", "1,400 documents, trec", ""),
    ("documents", "cranfield/clean/docs.trec", "1,400 documents, trec", ""),
    ("documents", "cranfield/smart/cran.all.1400", "1,400 documents, smart", ""),
    ("topics", "cranfield/cran.qry.xml", "225 topics, xml", "W_CRLF"),
    ("topics", "cranfield/clean/topics.trec", "225 topics, trec", ""),
    ("topics", "cranfield/clean/topics.tsv", "225 topics, tsv", ""),
    ("topics", "cranfield/smart/cran.qry", "225 topics, smart", "W_CRLF"),
    ("topics", "acordar/all_queries.txt", "493 topics, tsv", ""),
    ("judgments", "cranfield/cranqrel.trec.txt", "1,837 for 225 topics, trec", "W_CRLF"),
    ("judgments", "cranfield/clean/qrels.binary.txt", "1,837 for 225 topics, trec", ""),
    ("judgments", "cranfield/clean/qrels.graded.txt", "1,837 for 225 topics, trec", ""),
    ("judgments", "cranfield/smart/cranqrel", "1,837 for 225 topics, cranfield", ""),
    ("judgments", "cranfield/smart/QRelsCorrectedforTRECeval", "1,837 for 225 topics, trec", "CR"),
    ("judgments", "acordar/qrels.txt", "10,671 for 493 topics, trec", ""),
    ("judgments", "trec_eval_tests/qrels.test", "3,681 for 3 topics, trec", ""),
    ("judgments", "trec_eval_tests/qrels.rel_level", "3,681 for 3 topics, trec", ""),
    ("judgments", "trec_eval_tests/qrels.test.with-comments", "3,681 for 3 topics, trec", ""),
    ("judgments", "trec_eval_tests/qrels.comment.test", "5,890 for 31 topics, trec", "W_NO_REL"),
    ("judgments", "trec_eval_tests/qrels.123", "3,733 for 3 topics, subtopics", ""),
    ("run", "trec_eval_tests/results.test", "1,500 lines for 3 topics", ""),
    ("run", "trec_eval_tests/results.comment.test", "30,100 lines for 301 topics", ""),
    ("run", "trec_eval_tests/results.trunc", "refused", "found 9"),
    ("old run", "trec_eval_tests/results.trunc", "leniently 2 topics", ""),
    ("cranfield", "cranfield/runs/bm25-porter.run.gz", "193,870 lines for 225 topics", ""),
    ("cranfield", "cranfield/runs/coord.run.gz", "224,577 lines for 225 topics", "W_TIES"),
    ("cranfield", "cranfield/runs/lm-dirichlet.run.gz", "193,870 lines for 225 topics", ""),
    ("cranfield", "cranfield/runs/minilm.run.gz", "225,000 lines for 225 topics", ""),
    ("cranfield", "cranfield/runs/random.run.gz", "225,000 lines for 225 topics", ""),
    ("cranfield", "cranfield/runs/rrf.run.gz", "225,000 lines for 225 topics", ""),
    ("cranfield", "cranfield/runs/tfidf-cos.run.gz", "193,870 lines for 225 topics", ""),
    ("cranfield", "cranfield/runs/title-bm25.run.gz", "75,494 lines for 225 topics", "W_TIES"),
]  # fmt: skip
FAULTY = [
    ("bom_crlf_tabs", "22,500 lines for 225 topics", "the byte order mark was ignored"),
    ("dup_docs", "refused", "line 17: E_DUP_DOC: the document is already retrieved for topic 1"),
    ("five_columns", "refused", "lines: \"1 Q0 51 1 21.783170\" Is the run tag missing?"),
    ("missing_topics", "20,000 lines for 200 topics", "no documents for 25 of the 225 topics"),
    ("nan_inf_scores", "refused", "line 1: E_SCORE: the score is not a finite decimal"),
    ("raw_query_ids", "refused", "as many as the track. Are they numbered differently?"),
    ("unknown_docids", "refused", "\"DOC00051\" The collection has \"51\"."),
    ("zero_based_docids", "refused", "Does the run start at 0?"),
]  # fmt: skip
ACORDAR_RUNS = {
    **dict.fromkeys(("BM25F [d]", "BM25F", "FSDM", "LMD", "TF-IDF"), (493, "W_TIES")),
    "BM25F [m]": (483, "W_TIES"),
    **dict.fromkeys(
        ("FSDM [d]", "LMD [d]", "TF-IDF [d]"), (493, "Run tags cannot contain spaces.")
    ),
    **dict.fromkeys(
        ("FSDM [m]", "LMD [m]", "TF-IDF [m]"), (483, "Run tags cannot contain spaces.")
    ),
}


@pytest.mark.data
@pytest.mark.parametrize(("kind", "name", "read", "message"), READ)
def test_a_real_file_is_read_as_what_it_is(data, kind, name, read, message):
    verdict = verdict_on(data / "data" / name, kind)
    assert verdict.read == read
    assert message in verdict.message and bool(message) == bool(verdict.message)


@pytest.mark.data
@pytest.mark.parametrize(("name", "read", "message"), FAULTY)
def test_a_faulty_run_gets_an_explanation_of_its_own(data, name, read, message):
    path = data / "data" / "cranfield" / "faulty" / f"{name}.run.gz"
    verdict = verdict_on(path, "cranfield")
    assert verdict.read == read
    assert message in verdict.message


@pytest.mark.data
@pytest.mark.parametrize("name", ACORDAR_RUNS)
def test_a_published_run_is_read_or_told_what_ails_its_tag(data, name):
    path = data / "data" / "acordar" / "runs" / f"{name}.txt"
    topics, message = ACORDAR_RUNS[name]
    assert message in verdict_on(path, "run").message
    assert verdict_on(path, "old run").read == f"leniently {topics} topics"


def every_verdict(data: Path) -> Iterator[tuple[str, Verdict]]:
    for kind, name, *_ in READ:
        yield f"{name} ({kind})", verdict_on(data / name, kind)
    for name, *_ in FAULTY:
        path = data / "cranfield" / "faulty" / f"{name}.run.gz"
        yield f"cranfield/faulty/{path.name}", verdict_on(path, "cranfield")
    for name in ACORDAR_RUNS:
        for kind in ("run", "old run"):
            path = data / "acordar" / "runs" / f"{name}.txt"
            yield f"acordar/runs/{path.name} ({kind})", verdict_on(path, kind)


if __name__ == "__main__":
    for name, verdict in every_verdict(Path(sys.argv[1])):
        print(f"| {name} | {verdict.read} | {verdict.message} |")
