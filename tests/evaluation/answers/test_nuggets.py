"""Nuggets and marks are read from the files of many tools."""

import io
import json

import pytest

from evaluation.answers.assignment_files import mark_lines, read_assignments
from evaluation.answers.labels import NAMES
from evaluation.answers.marks import AssignmentMark, bank_of_marks
from evaluation.answers.nugget_files import read_nuggets
from evaluation.answers.nugget_steps import merge, split
from evaluation.answers.nugget_writing import WRITERS, NuggetWriter
from evaluation.answers.nuggets import AcceptedAnswer, Nugget, NuggetBank, Span
from evaluation.answers.reported import read_reported
from evaluation.answers.runs import Answer, Cited, Sentence, sentence_key
from evaluation.answers.support_files import read_support
from evaluation.answers.verdicts import AnswerMarks, read_verdicts, write_verdicts
from evaluation.problems import Problems, Refused
from tests.evaluation.answers.samples import lines_of

QUESTION = {"question": "Why?", "answers": {"oil": {"references": [{"doc_id": "d1"}]}}}
BANKS = {
    "whole": {"topic_id": "t1", "whole_nuggets": [{"key": "t1-p1", "text": "Cedar smells."}]},
    "nuggetizer": {"qid": "t1", "nuggets": [{"text": "Cedar smells.", "importance": "okay"}]},
    "nuggetbank": {"query_id": "t1", "nugget_bank": {"Why?": QUESTION}, "claim_bank": {}},
    "argue": {"query_id": "t1", "items": [{"question_text": "Why?", "gold_answers": ["oil"]}]},
    "annotation": {"query_id": "t1", "nugget_list": [["Why?", {"oil": ["d1"]}]]},
    "dragun": {
        "topic_id": "t1",
        "rubrics": [
            {
                "question_id": "q1",
                "question": "Why?",
                "importance": "A: Have to Know",
                "short_answers": [{"answer_id": "a1", "answer": "oil"}],
            }
        ],
    },
    "cone": {"t1": {"[5]": {"text": "Cedar smells.", "relevance": "3"}}},
    "rubric": {"qid": "t1", "rubrics": [{"criterion": "smells", "weight": -3}]},
}


def bank_of(*objects, **options):
    return read_nuggets(io.BytesIO(lines_of(*objects)), **options)


def layer_of(content: bytes, bank=None):
    return read_assignments(io.BytesIO(content), bank)


def codes_of(read, content: bytes) -> list[str]:
    with pytest.raises(Refused) as refused:
        read(io.BytesIO(content))
    return [problem.code for problem in refused.value.problems]


def test_nuggets_are_written_whole():
    accepted = AcceptedAnswer("oil", ("d1",), (Span("d1", 3, 9),))
    nugget = Nugget(
        *("t1", "t1-p1", "Why?", "question", "vital", 2.0, "why", "q1", "Why it smells?"),
        answers=(accepted,),
        operator="AND",
        documents=("d1",),
        origin="machine x, edited by people",
        grade=3,
        originals=("How?",),
    )
    written = NuggetWriter(NuggetBank({"t1": (nugget,)}, "", Problems()), "whole").lines()
    assert read_nuggets(io.BytesIO(b"".join(written))).topics["t1"] == (nugget,)


def test_a_bank_says_that_people_edited_a_nugget_of_a_machine():
    nugget = Nugget("t1", "t1-1", "Cedar", origin="machine x, edited by people")
    written = NuggetWriter(NuggetBank({"t1": (nugget,)}, "", Problems()), "nuggetbank").lines()
    assert read_nuggets(io.BytesIO(b"".join(written))).topics["t1"][0].origin == nugget.origin


def test_merged_and_split_nuggets_keep_the_texts_of_a_machine():
    machine = Nugget("t1", "t1-1", "yeast and salt", origin="machine x", documents=("d1",))
    parts = split(machine, ["yeast", "salt"], ["t1-1"])
    assert [(each.key, each.originals) for each in parts] == [
        ("t1-p1", ("yeast and salt",)),
        ("t1-p2", ("yeast and salt",)),
    ]
    own = Nugget("t1", "t1-2", "rye", importance="vital", origin="people", documents=("d2",))
    one = merge([parts[0], own], "yeast in rye", [])
    assert (one.originals, one.importance) == (("yeast and salt",), "vital")
    assert one.documents == ("d1", "d2")


def test_every_format_of_nuggets_is_recognised():
    for format, value in BANKS.items():
        bank = bank_of(value)
        assert (bank.format, bank.count) == (format, 1), format


def test_what_nuggets_say_is_kept():
    (nugget,) = bank_of(BANKS["nuggetbank"]).topics["t1"]
    assert (nugget.kind, nugget.operator, [*nugget.attesting]) == ("question", "OR", ["d1"])
    (nugget,) = bank_of(BANKS["dragun"]).topics["t1"]
    assert (nugget.key, nugget.parent, nugget.weight) == ("a1", "q1", 4)
    (nugget,) = bank_of(BANKS["cone"]).topics["t1"]
    assert (nugget.grade, nugget.importance) == (3, "")


def test_a_topic_of_annotations_is_named_by_its_file():
    value = {"nugget_list": [["Why?", {"oil": []}]]}
    assert [*bank_of(value, name="nuggets_t7.revised.json").topics] == ["t7"]


def test_nuggets_without_importance_are_vital_to_nuggetizer():
    (nugget,) = bank_of({"qid": "t1", "nuggets": [{"text": "Cedar smells."}]}).topics["t1"]
    assert nugget.is_vital


def test_unknown_topics_and_other_operators_are_warnings():
    other = {**BANKS["nuggetbank"], "nugget_bank": {"Why?": {**QUESTION, "aggregator_type": "SUM"}}}
    bank = bank_of(other, {**BANKS["nuggetbank"], "query_id": "t9"}, topics={"t1"})
    assert {*bank.problems.totals()} == {"W_OPERATOR", "W_UNKNOWN_TOPIC"}
    assert [*bank.topics] == ["t1"]


def test_faulty_nuggets_are_rejected_with_all_problems():
    wrong = {"qid": "t1", "rubrics": [{"criterion": "smells", "weight": "high"}, 7]}
    assert codes_of(read_nuggets, lines_of(wrong)) == ["E_WEIGHT", "E_TYPE"]
    assert codes_of(read_nuggets, lines_of({"a": 1})) == ["E_FORMAT"]
    assert codes_of(read_nuggets, lines_of(BANKS["argue"], BANKS["argue"])) == ["E_DUP_TOPIC"]


def test_each_format_is_written_as_it_is_read():
    for format in WRITERS:
        bank = bank_of(BANKS[format])
        writer = NuggetWriter(bank, format)
        again = read_nuggets(io.BytesIO(b"".join(writer.lines())))
        assert (again.topics, writer.lost) == (bank.topics, {}), format


def test_what_a_format_of_nuggets_cannot_hold_is_counted():
    writer = NuggetWriter(bank_of(BANKS["nuggetbank"]), "nuggetizer")
    list(writer.lines())
    assert writer.lost == {"answers": 1}


def test_labels_are_read_in_any_spelling():
    labels = ["Supports", "partial_support", "not-support", "contradicts", "failed"]
    lines = "".join(f"oak t1 n{n} {label}\n" for n, label in enumerate(labels))
    codes = [NAMES[mark.code] for mark in layer_of(lines.encode()).marks["oak", "t1"].values()]
    assert codes == ["support", "partial", "none", "contradicts", "unjudged"]


def test_marks_name_nuggets_by_key_or_position():
    bank = bank_of(BANKS["dragun"])
    assert [*layer_of(b"oak t1 1 support\n", bank).marks["oak", "t1"]] == ["a1"]
    twice = b"oak t1 1 support\noak t1 a1 none\n"
    assert codes_of(lambda file: read_assignments(file, bank), twice) == ["E_DUP_MARK"]


def test_labels_that_fit_nothing_are_rejected_with_their_line():
    assert codes_of(read_assignments, b"oak t1 n1 maybe\noak t1 n2\n") == ["E_LABEL", "E_COLUMNS"]
    assert codes_of(read_support, b"oak t1 1 d1 maybe\noak t1 x d1 2\n") == ["E_LABEL", "E_COLUMNS"]


def test_people_and_machines_are_never_in_one_layer():
    mark = {"topic": "t1", "run": "oak", "label": "support"}
    lines = [
        {**mark, "nugget": "n1", "assessor": "ada"},
        {**mark, "nugget": "n2", "assessor": "gpt-x/p3"},
    ]
    assert codes_of(read_assignments, lines_of(*lines)) == ["E_LAYER"]
    assert layer_of(lines_of(lines[1])).origin == "machine gpt-x/p3"


def test_where_assessors_differ_the_rule_of_settlement_decides():
    mark = {"topic": "t1", "run": "oak", "nugget": "n1"}
    lines = [
        {**mark, "assessor": "ada", "label": "none", "key": "k1"},
        {**mark, "assessor": "ben", "label": "support", "sentence": 2},
        {**mark, "assessor": "cat", "label": "support"},
    ]
    codes = {}
    for rule in ("first", "majority", "single"):
        layer = read_assignments(io.BytesIO(lines_of(*lines)), rule=rule)
        codes[rule] = NAMES[layer.marks["oak", "t1"]["n1"].code]
    assert codes == {"first": "none", "majority": "support", "single": "unjudged"}
    again = {**lines[0], "label": "partial", "key": "k2"}
    assert codes_of(read_assignments, lines_of(*lines, again)) == ["E_DUP_MARK"]
    corrected = layer_of(lines_of(lines[0], {**again, "replaces": "k1"}))
    assert NAMES[corrected.marks["oak", "t1"]["n1"].code] == "partial"


def test_a_reply_of_a_machine_that_failed_stays_unjudged():
    mark = {"topic": "t1", "run": "oak", "assessor": "gpt-x/p3"}
    several = {**mark, "labels": {"n2": "support", "n3": "none"}, "key": "k1"}
    marks = layer_of(lines_of({**mark, "nugget": "n1", "failed": True}, several)).marks["oak", "t1"]
    assert [NAMES[mark.code] for mark in marks.values()] == ["unjudged", "support", "none"]


def test_the_best_question_counts_and_a_compound_one_does_not():
    header = b"topic_id,run_tag,run_question_rank,rubric_question_rank,annotation\n"
    rows = b"t1,oak,1,1,similar\nt1,oak,2,1,very-similar\n"
    compound = io.BytesIO(
        b"topic_id,run_tag,run_question_rank,compound\nt1,oak,2,compound\nt1,oak,1,not-compound\n"
    )
    layer = read_assignments(io.BytesIO(header + rows), compound=compound)
    assert NAMES[layer.marks["oak", "t1"]["1"].code] == "partial"


def test_support_is_marked_by_place_or_by_the_text_of_a_sentence():
    mark = {"topic": "t1", "sentence": sentence_key("Cedar.").hex(), "docno": "d1"}
    layer = read_support(io.BytesIO(lines_of({**mark, "label": "partial", "assessor": "ada"})))
    assert layer.by_text["t1", sentence_key(" Cedar. ")] == {"d1": 1}
    sentence = {"text": "Cedar.", "citations": [{"docno": "d1", "support": 2}]}
    answer = {"topic_id": "t1", "run_id": "oak", "sentences": [sentence]}
    layer = read_support(io.BytesIO(json.dumps(answer).encode()))
    assert layer.by_place["oak", "t1"] == {(1, "d1"): 2}
    assert layer.runs["oak"]["t1"].text == "Cedar."


def test_marks_are_written_as_columns():
    lines = b"oak t1 n1 support\noak t1 n2 unjudged\n"
    assert b"".join(mark_lines(layer_of(lines))) == lines


def test_nuggets_whose_texts_are_not_public_are_those_of_any_run():
    layer = layer_of(b"oak t1 n1 support\nelm t1 n2 none\n")
    assert [n.key for n in bank_of_marks(layer).topics["t1"]] == ["n1", "n2"]


def test_values_reported_elsewhere_are_read_in_both_orders():
    first = read_reported(io.BytesIO(b"oak t1 SCORE 0.5\noak all SCORE 0.5\n"))
    second = read_reported(io.BytesIO(b"oak SCORE t1 0.5\noak SCORE all 0.5\n"))
    header = read_reported(io.BytesIO(b"run_id query_id measure value\noak t1 SCORE 0.5\n"))
    assert first == second
    assert header.by_topic == first.by_topic == {"SCORE": {"oak": {"t1": 0.5}}}


def test_a_value_that_is_none_or_repeated_is_rejected():
    wrong = b"oak t1 SCORE 0.5\noak t1 SCORE high\n"
    assert codes_of(read_reported, wrong) == ["E_COLUMNS"]
    twice = b"oak t1 SCORE 0.5\noak t2 SCORE 0.5\noak t1 SCORE 1\n"
    assert codes_of(read_reported, twice) == ["E_DUP_VALUE"]


def test_damaged_csv_is_rejected_with_its_reason():
    header = b"topic_id,run_tag,answer_id,annotation\n"
    assert codes_of(read_assignments, header + b"t1,oak,a1,\xff\n") == ["E_ENCODING"]
    assert codes_of(read_assignments, header + b"t1,oak,a1\n") == ["E_COLUMNS"]
    assert codes_of(read_assignments, b"topic_id,run\nt1,oak\n") == ["E_COLUMNS"]


VERDICTS = [
    # Supported in full with a nugget, not in full, not judged, and without a citation.
    (Sentence("Oil smells.", (Cited("d1"),)), {"d1": 2}, 1),
    (Sentence("Cedar is red.", (Cited("d1"), Cited("d2"))), {"d1": 2, "d2": 1}, -1),
    (Sentence("It grows.", (Cited("d3"),)), {}, None),
    (Sentence("It is old."), {}, -1),
]


def test_marks_are_written_as_the_results_of_argue():
    answer = Answer("t1", tuple(sentence for sentence, *_ in VERDICTS))
    nugget = Nugget("t1", "q1", "Why?", answers=(AcceptedAnswer("oil"),), importance="vital")
    support = {number: codes for number, (_, codes, _) in enumerate(VERDICTS, 1)}
    marks = AnswerMarks({"q1": AssignmentMark(2, 1)}, support, {4: True})
    line = json.dumps(write_verdicts("oak", answer, [nugget], marks)).encode()
    assert [each["score"] for each in json.loads(line)["sentence_results"]] == [
        score for *_, score in VERDICTS
    ]
    read = read_verdicts(io.BytesIO(line))["oak", "t1"]
    assert [(each.given, each.is_cited) for each in read] == [
        (score, bool(sentence.citations)) for sentence, _, score in VERDICTS
    ]
    assert [each.pairs for each in read] == [{("Why?", "oil")}, set(), set(), set()]


def test_a_nugget_whose_sentence_no_mark_names_has_no_place_in_the_results():
    answer, nugget = Answer("t1", (Sentence("Oil smells."),)), Nugget("t1", "q1", "oil")
    marks = AnswerMarks({"q1": AssignmentMark(2)})
    [result] = write_verdicts("oak", answer, [nugget], marks)["sentence_results"]
    assert (result["matched_nuggets"], result["score"]) == ([], 0)
