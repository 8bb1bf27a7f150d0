"""What is wrong with an answer run is reported at once, with line, topic and sentence."""

import io
from dataclasses import replace

import pytest

from evaluation.answers.findings import Findings
from evaluation.answers.lengths import UNITS
from evaluation.answers.reading import AnswerReader
from evaluation.answers.rules import FIXES, PRESETS, AnswerRules
from evaluation.answers.topics import AnswerTopic
from evaluation.problems import Refused
from tests.evaluation.answers.samples import (
    codes_of,
    common,
    lines_of,
    problems_of,
    rag24,
    read,
)

TOPICS = {"t1": AnswerTopic("t1", "why", limit=60), "t2": AnswerTopic("t2", "who")}
RAG24 = replace(PRESETS["rag24"], pattern="")
THREE = ["d1", "d2", "d3"]


def cited(*citations):
    return [{"text": "Cedar.", "citations": [*citations]}]


def weighted(weight):
    return [{"text": "Cedar.", "citations": {"d1": weight}}]


BROWSED = {"query_id": "t1", "status": "completed", "retrieved_docids": ["12"]}
BROWSED |= {"result": [{"type": "output_text", "output": "phosphorus [12]"}]}
GIVEN = {"metadata": {"team_id": "tarn", "run_id": "oak", "qa_id": "116"}}
GIVEN |= {"answer": [{"text": "a", "existing_supported_citations": [11]}]}
GIVEN["answer"][0] |= {"supported_citations": [11], "contradicted_citations": []}
TWICE = {"metadata": {"team_id": "tarn", "run_id": "oak", "narrative_id": 1}}
TWICE |= {"references": ["d1", "d1"], "answer": [{"text": "Cedar.", "citations": [0]}]}
# Rules, objects, and the code that they give.
CASES = [
    (RAG24, [rag24(references="d1")], "E_TYPE"),
    (RAG24, [rag24(references=["d1", None])], "E_TYPE"),
    (RAG24, [rag24(response_length="2")], "E_TYPE"),
    (RAG24, [rag24(topic=7)], "E_TYPE"),
    (RAG24, [rag24(), rag24("t2", run_id="elm")], "E_TAG"),
    (RAG24, [rag24(), rag24()], "E_DUP_TOPIC"),
    (RAG24, [rag24(citations=[2])], "E_CITATION"),
    (RAG24, [rag24(citations=["0"])], "E_CITATION_TYPE"),
    (RAG24, [rag24(citations=[True])], "E_CITATION_TYPE"),
    (RAG24, [rag24(citations=[0, 0])], "W_DUP_CITATION"),
    (RAG24, [rag24(references=["d1", "d1"])], "E_DUP_REFERENCE"),
    (RAG24, [rag24(references=[f"d{n}" for n in range(21)])], "E_MANY_REFERENCES"),
    (RAG24, [rag24(response_length=7)], "W_LENGTH_FIELD"),
    (replace(RAG24, limit=1), [rag24()], "W_TOO_LONG"),
    (replace(RAG24, limit=1, over="refuse"), [rag24()], "E_TOO_LONG"),
    (RAG24, [rag24(citations=[1, 2], references=THREE)], "W_ONE_BASED"),
    (PRESETS["rag24"], [rag24()], "E_UNKNOWN_DOC"),
    (AnswerRules(topics=TOPICS), [common("t1")], "W_MISSING_TOPIC"),
    (AnswerRules(topics=TOPICS, missing_topics="error"), [common("t1")], "E_MISSING_TOPIC"),
    (AnswerRules(topics=TOPICS), [common("t1"), common("t2"), common("t3")], "E_UNKNOWN_TOPIC"),
    (replace(RAG24, topics=TOPICS), [rag24(topic="Why")], "E_TOPIC_TEXT"),
    (AnswerRules(docnos={b"d1"}), [common()], "W_UNKNOWN_DOC"),
    (AnswerRules(), [common(references=["d1"])], "E_UNRESOLVED"),
    (AnswerRules(), [common(sentences=[{"text": "Cedar."}])], "E_FIELD"),
    (AnswerRules(), [common(sentences=[{"text": " ", "citations": []}])], "E_EMPTY_SENTENCE"),
    (AnswerRules(empty_answers="error"), [common(sentences=[])], "E_NO_ANSWER"),
    (AnswerRules(most_citations=1), [common()], "E_MANY_CITATIONS"),
    (AnswerRules(references_are_cited=True), [common(references=THREE)], "E_REFERENCES_DIFFER"),
    (AnswerRules(), [common(sentences=weighted("high"))], "E_WEIGHT"),
    (AnswerRules(weights="0-1"), [common(sentences=weighted(7))], "W_WEIGHT_RANGE"),
    (AnswerRules(run_types=("manual",)), [common(type="auto")], "E_RUN_TYPE"),
    (AnswerRules(), [common(documents={})], "W_DOCUMENTS"),
    (AnswerRules(), [common(topic_id="t2")], "E_FIELD"),
    (AnswerRules(), [common(sentences=cited("d1", 0), references=["d1", "d2"])], "W_MIXED"),
    (AnswerRules(), [common(f"t{n}", sentences=cited()) for n in range(5)], "W_NO_CITATION"),
    (AnswerRules(confidence="required"), [common()], "E_CONFIDENCE"),
    (AnswerRules(), [{**BROWSED, "status": "max_tokens"}], "W_FAILED"),
    (PRESETS["biogen-a"], [GIVEN], "E_EXISTING"),
    (replace(RAG24, topics=TOPICS, echo="warn"), [rag24(topic="Why")], "W_TOPIC_TEXT"),
    (PRESETS["rag25"], [TWICE], "E_DUP_REFERENCE"),
    (AnswerRules(), [common(sentences={"$ref": "#"})], "E_TYPE"),
    (AnswerRules(), [common(sentences=cited(10**30), references=["d1"])], "E_CITATION"),
    (AnswerRules(), [common(sentences=cited("d\u202e1"))], "E_CHAR"),
    (AnswerRules(), [b'{"request_id": '], "E_JSON"),
    (AnswerRules(), [b'{"a": 1}'], "E_FORMAT"),
    (AnswerRules(), [b"\n"], "E_EMPTY"),
    (AnswerRules(), [b"<D1>\ncedar;high\n</D1>\n"], "E_CONFIDENCE"),
    (AnswerRules(), [b"<D1>\ncedar;0.5\n"], "E_FORMAT"),
]  # fmt: skip


def test_every_fault_has_its_code():
    for rules, objects, code in CASES:
        assert code in codes_of(*objects, rules=rules), code


def test_good_runs_have_no_problem():
    topics = {"t1": AnswerTopic("t1", "why")}
    assert codes_of(rag24(), rules=replace(RAG24, topics=topics)) == []
    assert codes_of(common(references=["d1", "d2"]), rules=AnswerRules(topics=topics)) == []


def test_a_problem_names_line_topic_and_sentence():
    (problem,) = problems_of(rag24("t1"), rag24("t2", citations=[4]), rules=RAG24)
    assert str(problem) == (
        "line 2, sentence 1: E_CITATION: citation 4, but there are only 2 references (0 to 1)"
    )
    assert (problem.topic, problem.fix) == ("t2", "unresolved")


def test_one_cause_is_one_line_with_a_count():
    objects = [rag24(f"t{n}", citations=[n + 2]) for n in range(60)]
    (problem,) = problems_of(*objects, rules=RAG24)
    assert (problem.count, problem.line) == (60, 1)
    assert problem.message.endswith("and 59 more like it")


def test_checking_stops_after_very_many_errors():
    content = io.BytesIO(lines_of(*(rag24(f"t{n}", citations=[9]) for n in range(9))))
    with pytest.raises(Refused) as refused:
        list(AnswerReader(content, RAG24, Findings(most=3)).drafts())
    assert [p.code for p in refused.value.problems][-1] == "E_TOO_MANY_ERRORS"


def test_sentences_beyond_the_limit_are_cut_where_the_track_cuts():
    texts = [{"text": text, "citations": []} for text in ("one two", "three", "four")]
    run = read(common(sentences=texts), limit=3, over="cut")
    assert run.answers["t1"].texts == ["one two", "three"]
    assert run.repaired == {"cut": 1}
    (problem,) = run.problems
    assert problem.message == "4 words; the limit is 3. Without the last 1 sentence it has 3"


def test_a_topic_may_have_a_limit_of_its_own():
    rules = AnswerRules(unit="characters-nfkc", limit=9, topics={"t1": AnswerTopic("t1", "", 20)})
    assert codes_of(common("t1"), rules=rules) == []


def test_lengths_are_counted_in_three_units():
    counts = {unit: count(["a´b", "ﷺ c"]) for unit, count in UNITS.items()}
    assert counts == {"words": 3, "words-nfkc": 7, "characters-nfkc": 25}


def repaired(*objects, fix, rules=AnswerRules()):
    """The only answer after repairs, which leave no problem."""
    run = read(*objects, **{**vars(rules), "fix": frozenset(fix.split())})
    assert list(run.problems) == []
    return run.answers["t1"]


def documents_of(answer):
    return " ".join(answer.cited()), " ".join(each.docno for each in answer.references)


def test_repairs_of_citations_and_references():
    loose = AnswerRules()
    for rules, given, fix, expected in [
        (RAG24, rag24(citations=[1, 7]), "unresolved", ("d2", "d1 d2")),
        (RAG24, rag24(citations=[1, 2]), "one-based", ("d1 d2", "d1 d2")),
        (RAG24, rag24(citations=["1"]), "docnos", ("d2", "d1 d2")),
        (RAG24, rag24(citations=[1, 0, 1]), "repeated", ("d2 d1", "d1 d2")),
        (RAG24, rag24(citations=[2], references=["d1", "d1", "d2"]), "repeated", ("d2", "d1 d2")),
        (replace(RAG24, most_references=1), rag24(citations=[0, 1]), "keep-first", ("d1", "d1")),
        (loose, common(references=["d2"]), "add-references", ("d1 d2", "d2 d1")),
        (loose, common(references=["d2", "d3"]), "cited-set", ("d1 d2", "d1 d2")),
        (loose, common(sentences=cited("1"), references=["d1", "d2"]), "docnos", ("d2", "d1 d2")),
    ]:
        assert documents_of(repaired(given, fix=fix, rules=rules)) == expected, fix


def test_a_position_without_a_reference_never_gets_another_one():
    given = common(sentences=cited(2, "d9"), references=["d1", "d2"])
    for fix in ("add-references", "cited-set"):
        rules = replace(AnswerRules(), fix=frozenset({fix}))
        assert "E_CITATION" in codes_of(given, rules=rules)


def test_repairs_of_everything_else():
    topics = {"t1": AnswerTopic("t1", "why")}
    track = replace(RAG24, topics=topics)
    assert repaired(rag24(), rag24("t9"), fix="topics", rules=track)
    assert repaired(rag24(topic="Why"), fix="topic-text", rules=track)
    assert repaired(rag24(response_length=9), fix="length", rules=track)
    assert repaired(rag24(), rag24(), fix="keep-first", rules=track)
    assert repaired(common(documents={}), fix="documents")
    assert repaired(common(sentences=[{"text": "Cedar."}]), fix="empty").texts == ["Cedar."]
    answer = repaired(
        common(sentences=weighted(140)), fix="weights", rules=AnswerRules(weights="0-100")
    )
    assert answer.sentences[0].citations[0].weight == 100
    assert read(rag24(), rag24("t2", run_id="elm"), fix=frozenset({"tag"})).name == "oak"


def test_given_sentences_must_stay():
    rules = AnswerRules(topics={"t1": AnswerTopic("t1", "", None, ("Cedar smells weak.",))})
    assert codes_of(common(), rules=rules) == ["E_SENTENCE_CHANGED"]
    assert repaired(common(), fix="topic-text", rules=rules).texts == ["Cedar smells weak."]


def test_every_repair_that_a_problem_offers_exists():
    offered = {p.fix for rules, objects, _ in CASES for p in problems_of(*objects, rules=rules)}
    assert offered - {""} <= {*FIXES}
    assert len(offered) > 10
