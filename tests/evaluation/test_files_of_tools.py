"""Files of real tools: we read what they write, and our numbers and topics are theirs.

By night the libraries themselves are asked, as `make libraries` installs them. Of search engines
and other tools that are no library, the formula that they document is written out.
"""

from __future__ import annotations

import json
from importlib import import_module
from math import log2
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import evaluation
from evaluation.problems import Problems
from evaluation.reading.documents import read_documents
from evaluation.reading.topics import Topic, read_topics

CHANCE = np.random.default_rng(45)
TOPICS = [f"q{number}" for number in range(12)]
DOCNOS = [f"d{number}" for number in range(60)]


def choose(count: int) -> list[str]:
    return CHANCE.choice(DOCNOS, count, replace=False).tolist()


# Grades from 0 to 3, and rankings without equal scores, which tools order otherwise.
QRELS = {t: {d: n % 4 for n, d in enumerate(choose(20))} for t in TOPICS}
RUN = {t: {d: 30 / n for n, d in enumerate(choose(30), 1)} for t in TOPICS}
QRELS_ROWS = [(t, d, grade) for t, judged in QRELS.items() for d, grade in judged.items()]
RUN_ROWS = [(t, d, score) for t, ranked in RUN.items() for d, score in ranked.items()]
QRELS_LINES = "".join(f"{topic} 0 {docno} {grade}\n" for topic, docno, grade in QRELS_ROWS)
RUN_LINES = "".join(
    f"{topic} Q0 {docno} {rank} {score} oak\n"
    for topic, ranked in RUN.items()
    for rank, (docno, score) in enumerate(ranked.items(), 1)
)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def write_rows(path: Path, rows: list[dict[str, str]]) -> Path:
    return write(path, "".join(f"{json.dumps(row)}\n" for row in rows))


def means(qrels: Any, run: Any, *measures: str) -> list[float]:
    return list(evaluation.evaluate(qrels, run, list(measures)).means.values())


def about(values: Any, digits: int = 12) -> Any:
    return pytest.approx(list(values), abs=0.6 * 10**-digits)


# Judgments and runs.


@pytest.mark.night
def test_files_of_trec_have_the_values_of_ir_measures(tmp_path):
    ir = pytest.importorskip("ir_measures")
    qrels, run = write(tmp_path / "qrels", QRELS_LINES), write(tmp_path / "run", RUN_LINES)
    measures = [ir.AP, ir.nDCG @ 10, ir.RR(rel=2), ir.P(rel=3) @ 5, ir.Bpref, ir.Rprec]
    files = ir.read_trec_qrels(str(qrels)), ir.read_trec_run(str(run))
    theirs = ir.calc_aggregate(measures, *files)
    assert means(qrels, run, *map(str, measures)) == about(theirs[each] for each in measures)


@pytest.mark.night
def test_objects_in_json_have_the_values_of_pytrec_eval(tmp_path):
    library = pytest.importorskip("pytrec_eval")
    qrels = write(tmp_path / "qrels.json", json.dumps(QRELS))
    run = write(tmp_path / "run.json", json.dumps(RUN))
    names = ["map", "ndcg_cut_10", "recip_rank", "P_5", "recall_30", "bpref"]
    read = json.loads(qrels.read_text()), json.loads(run.read_text())
    scores = library.RelevanceEvaluator(read[0], set(library.supported_measures)).evaluate(read[1])
    theirs = [np.mean([each[name] for each in scores.values()]) for name in names]
    assert means(qrels, run, *names) == about(theirs)


@pytest.mark.night
def test_the_runs_of_an_experiment_of_pyterrier_have_its_values(tmp_path):
    pyterrier = pytest.importorskip("pyterrier")
    pandas = pytest.importorskip("pandas")
    frame = pyterrier.model.add_ranks(pandas.DataFrame(RUN_ROWS, columns=["qid", "docno", "score"]))
    topics = pandas.DataFrame([(topic, "rye") for topic in TOPICS], columns=["qid", "query"])
    qrels = pandas.DataFrame(QRELS_ROWS, columns=["qid", "docno", "label"])
    names = ["map", "ndcg_cut_10", "recip_rank", "P_5"]
    table = pyterrier.Experiment(
        [pyterrier.Transformer.from_df(frame)], topics, qrels, names, ["a"], save_dir=str(tmp_path)
    )
    assert means(qrels, tmp_path / "a.res.gz", *names) == about(table.loc[0, names])


@pytest.fixture
def beir(tmp_path) -> Path:
    """A folder as BEIR describes it, in which a query is not judged."""
    folder = tmp_path / "bread"
    folder.mkdir()
    write_rows(folder / "corpus.jsonl", [{"_id": d, "title": d, "text": "rye"} for d in DOCNOS])
    write_rows(folder / "queries.jsonl", [{"_id": t, "text": f"{t}?"} for t in ("q99", *TOPICS)])
    lines = ("\t".join(map(str, row)) for row in QRELS_ROWS)
    write(folder / "qrels" / "test.tsv", "\n".join(["query-id\tcorpus-id\tscore", *lines, ""]))
    return folder


@pytest.mark.night
def test_a_folder_of_beir_has_the_values_of_beir(beir, tmp_path):
    loader = pytest.importorskip("beir.datasets.data_loader")
    scorer = pytest.importorskip("beir.retrieval.evaluation").EvaluateRetrieval
    _, _, qrels = loader.GenericDataLoader(str(beir)).load("test")
    run = write(tmp_path / "run.json", json.dumps(RUN))
    theirs = [next(iter(each.values())) for each in scorer.evaluate(qrels, RUN, [10])]
    theirs += scorer.evaluate_custom(qrels, RUN, [10], "mrr").values()
    ours = means(beir / "qrels" / "test.tsv", run, "nDCG@10", "AP@10", "R@10", "P@10", "RR@10")
    # BEIR rounds.
    assert ours == about(theirs, digits=5)


@pytest.mark.night
def test_a_folder_of_beir_has_the_queries_and_documents_that_beir_loads(beir):
    loader = pytest.importorskip("beir.datasets.data_loader")
    corpus, queries, _ = loader.GenericDataLoader(str(beir)).load("test")
    with (beir / "corpus.jsonl").open("rb") as file:
        documents = [*read_documents(file, Problems())]
    assert {d.docno: {"title": d.title, "text": d.text} for d in documents} == corpus
    titles = {topic.number: topic.title for topic in topics_of(beir / "queries.jsonl")}
    assert {number: titles[number] for number in queries} == queries


@pytest.mark.night
def test_the_predictions_of_sentence_transformers_have_its_values(tmp_path, monkeypatch):
    library = pytest.importorskip("sentence_transformers")
    tokenizers = pytest.importorskip("tokenizers")
    modules = import_module("sentence_transformers.sentence_transformer.modules")
    evaluators = import_module("sentence_transformers.sentence_transformer.evaluation")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    numbers = {word: number for number, word in enumerate(["[UNK]", *DOCNOS])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(numbers, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    words = modules.StaticEmbedding(tokenizer, embedding_dim=16)
    relevant = {t: {d for d, grade in judged.items() if grade} for t, judged in QRELS.items()}
    theirs = evaluators.InformationRetrievalEvaluator(
        {topic: " ".join(choose(3)) for topic in TOPICS},
        {docno: " ".join(choose(8)) for docno in DOCNOS},
        relevant,
        write_predictions=True,
    )(library.SentenceTransformer(modules=[words]), output_path=str(tmp_path))
    [run] = tmp_path.glob("*_predictions_cosine.jsonl")
    names = ["ndcg@10", "mrr@10", "precision@5", "recall@10", "map@100"]
    qrels = {topic: dict.fromkeys(docnos, 1) for topic, docnos in relevant.items()}
    ours = means(qrels, run, "nDCG@10", "RR@10", "P@5", "R@10", "AP(norm=cap)@100")
    assert ours == about((theirs[f"cosine_{name}"] for name in names), digits=7)


@pytest.mark.night
@pytest.mark.parametrize("ending", ["parquet", "json", "csv"])
def test_a_dataset_of_hugging_face_has_the_judgments_that_it_loads(ending, tmp_path):
    datasets = pytest.importorskip("datasets")
    library = pytest.importorskip("pytrec_eval")
    names = ("query-id", "corpus-id", "score")
    file = str(tmp_path / f"qrels.{ending}")
    whole = datasets.Dataset.from_list([dict(zip(names, row, strict=True)) for row in QRELS_ROWS])
    getattr(whole, f"to_{ending}")(file)
    loaded: dict[str, dict[str, int]] = {}
    cache = str(tmp_path / "cache")
    for row in datasets.load_dataset(ending, data_files=file, split="train", cache_dir=cache):
        loaded.setdefault(row["query-id"], {})[row["corpus-id"]] = row["score"]
    scores = library.RelevanceEvaluator(loaded, {"ndcg"}).evaluate(RUN).values()
    assert means(file, RUN, "nDCG") == about([np.mean([each["ndcg"] for each in scores])])


@pytest.mark.night
def test_files_of_checkthat_have_the_values_of_the_library_that_scores_them(tmp_path):
    """Its task of claims is scored by trectools; all columns are separated by tabs."""
    tools = pytest.importorskip("trectools")
    qrels = write(tmp_path / "tweet-vclaim-pairs.qrels", QRELS_LINES.replace(" ", "\t"))
    run = write(tmp_path / "predictions.tsv", RUN_LINES.replace(" ", "\t"))
    scorer = tools.TrecEval(tools.TrecRun(str(run)), tools.TrecQrel(str(qrels)))
    theirs = [scorer.get_map(), scorer.get_map(depth=5), scorer.get_reciprocal_rank()]
    theirs += [scorer.get_precision(depth=k) for k in (1, 3, 5, 10)]
    names = ["AP", "AP@5", "RR", "P@1", "P@3", "P@5", "P@10"]
    assert means(qrels, run, *names) == about(theirs)


# Topics.

SGML = """
<top>

<num> Number: {0}
<title> Rye bread {0}

<desc> Description:
Which bread is made
of rye?

<narr> Narrative:
Any loaf counts.

</top>
"""
XML = "<topic number='{0}'><query>rye &amp; oats {0}</query><question>Which?</question>\n</topic>"
TURNS = [
    {"number": 1, "raw_utterance": "What is rye?"},
    {"number": 2, "raw_utterance": "Is it sour?"},
]
CAST = [{"number": 31, "title": "Bread", "description": "Of grain.", "turn": TURNS}]
NUMBERS = ("301", "302")


def topics_of(path: Path) -> list[Topic]:
    with path.open("rb") as file:
        return read_topics(file).topics


def opened(path: Path) -> SimpleNamespace:
    """What ir_datasets calls a download, which is here already."""
    return SimpleNamespace(stream=lambda: path.open("rb"), path=lambda: path)


@pytest.mark.night
def test_topics_in_sgml_are_those_of_ir_datasets_and_pyterrier(tmp_path):
    formats = pytest.importorskip("ir_datasets.formats")
    pyterrier = pytest.importorskip("pyterrier")
    file = write(tmp_path / "topics", "".join(map(SGML.format, NUMBERS)))
    ours = topics_of(file)
    theirs = formats.TrecQueries(opened(file)).queries_iter()
    fields = [[each.number, each.title, each.description, each.narrative] for each in ours]
    assert fields == [[" ".join(text.split()) for text in query] for query in theirs]
    queries = pyterrier.io.read_topics(str(file)).set_index("qid")["query"]
    assert {each.number: each.title for each in ours} == queries.to_dict()


@pytest.mark.night
def test_topics_in_xml_are_those_of_ir_datasets_and_pyterrier(tmp_path):
    trec = pytest.importorskip("ir_datasets.formats.trec")
    pyterrier = pytest.importorskip("pyterrier")
    file = write(tmp_path / "topics", f"<topics>{''.join(map(XML.format, NUMBERS))}</topics>")
    ours = topics_of(file)
    names = {"query": "title", "question": "description", "narrative": "narrative"}
    theirs = trec.TrecXmlQueries(opened(file), qtype_map=names).queries_iter()
    assert [(t.number, t.title, t.description) for t in ours] == [each[:3] for each in theirs]
    read = pyterrier.io.read_topics(str(file), format="trecxml", tags=["query"])
    assert {each.number: each.title for each in ours} == read.set_index("qid")["query"].to_dict()


@pytest.mark.night
def test_turns_of_cast_are_the_queries_of_ir_datasets(tmp_path):
    cast = pytest.importorskip("ir_datasets.datasets.trec_cast")
    file = write(tmp_path / "topics.json", json.dumps(CAST))
    theirs = [*cast.CastQueries(opened(file), cast.Cast2019Query).queries_iter()]
    ours = [(each.number, each.title, each.group) for each in topics_of(file)]
    assert ours == [(q.query_id, q.raw_utterance, str(q.topic_number)) for q in theirs]


# Tools that are no library.

RANKED = {"q1": {"d3": 9.0, "d9": 8.0, "d1": 7.0}}
RATINGS = {"d1": 3, "d2": 1, "d3": 2}
GAINS = (2**2 - 1) / log2(2) + (2**3 - 1) / log2(4)
IDEAL = (2**3 - 1) / log2(2) + (2**2 - 1) / log2(3) + (2**1 - 1) / log2(4)
# Of the rank of d3, an unrated document and d1; the three tools agree on them.
ENGINES = {
    "P@3": 2 / 3,
    "P(rel=3)@3": 1 / 3,
    "R@3": 2 / 3,
    "RR(rel=3)@3": 1 / 3,
    "AP@3": (1 + 2 / 3) / 3,
    "DCG(gain=exp)@3": GAINS,
    "nDCG(gain=exp)@3": GAINS / IDEAL,
}
RATED = [{"docId": docno, "rating": str(rating)} for docno, rating in RATINGS.items()]
REQUEST = {"query": {"match": {"text": "rye"}}}
GRADED = [{"_index": "i", "_id": docno, "rating": rating} for docno, rating in RATINGS.items()]
QUEPID = "Query Text,Doc ID,Rating\n" + "".join(f"rye,{d},{r}\n" for d, r in RATINGS.items())
JUDGED = {
    "rank-eval": json.dumps({"requests": [{"id": "q1", "request": REQUEST, "ratings": GRADED}]}),
    "opensearch": json.dumps({"judgmentRatings": [{"query": "rye", "ratings": RATED}]}),
    "quepid": QUEPID,
}


@pytest.mark.parametrize("tool", JUDGED)
def test_judgments_of_a_search_engine_give_the_values_of_its_formulas(tool, tmp_path):
    file = write(tmp_path / tool, JUDGED[tool])
    assert means(file, RANKED, *ENGINES) == about(ENGINES.values())


def test_questions_of_bioasq_give_the_values_of_its_formulas(tmp_path):
    """AP is divided by the number of documents, or by 10 where there are more."""
    found = {"a": ["d2", "d0"], "b": ["d0", "d11"]}
    asked = {"a": ["d2"], "b": [f"d{number}" for number in range(12)]}
    questions = [{"id": t, "body": "Rye?", "documents": docnos} for t, docnos in asked.items()]
    file = write(tmp_path / "golden.json", json.dumps({"questions": questions}))
    run = {topic: {d: -rank for rank, d in enumerate(docnos)} for topic, docnos in found.items()}
    scores = evaluation.evaluate(file, run, ["AP(norm=cap)@10", "SetP", "SetR"])
    assert list(scores.means.values()) == about([(1 + 2 / 10) / 2, 3 / 4, (1 + 2 / 12) / 2])
