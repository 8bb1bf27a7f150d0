"""Answer runs as rankings and in other dialects."""

import io

import pytest

from evaluation.answers.rankings import rank_cited, ranking_run, trec_lines
from evaluation.answers.reading import read_answers
from evaluation.answers.writing import AnswerWriter
from evaluation.problems import Refused
from tests.evaluation.answers.samples import common, rag24, read
from tests.evaluation.answers.test_reading_answers import SAMPLES


def test_references_and_cited_documents_are_two_rankings():
    run = read(rag24(citations=[1, 0, 1], references=["d1", "d2", "d3"]))
    assert b"".join(trec_lines(ranking_run(run, "cited"))) == (
        b"t1 Q0 d2 1 2 oak\nt1 Q0 d1 2 1 oak\n"
    )
    assert ranking_run(run, "references").rankings[b"t1"].docnos == [b"d1", b"d2", b"d3"]
    assert rank_cited(run.answers["t1"], with_references=True) == ["d2", "d1", "d3"]


def test_a_run_without_references_has_one_view_only():
    run = read(common())
    assert ranking_run(run, "cited").num_retrieved == 2
    with pytest.raises(Refused, match="no references"):
        ranking_run(run, "references")


def test_supported_documents_of_biogen_come_before_contradicted_ones():
    assert ranking_run(read(SAMPLES["biogen-a"]), "references").rankings[b"1"].docnos == [
        b"d1",
        b"7",
    ]


def rewritten(run, dialect):
    writer = AnswerWriter(run, dialect)
    content = b"".join(writer.lines())
    return read_answers(io.BytesIO(content)), writer.lost


def facts(run):
    return [(a.topic, a.sentences, a.references, dict(a.extra)) for a in run.answers.values()]


def test_each_dialect_keeps_what_it_can_hold():
    for name in ("common", "ikat25", "rag", "rag24"):
        run = read(SAMPLES[name])
        again, lost = rewritten(run, name)
        assert (again.name, again.dialect, lost) == (run.name, name, {}), name
        assert facts(again) == facts(run), name


def test_what_a_dialect_cannot_hold_is_counted():
    _, lost = rewritten(read(SAMPLES["ikat25"]), "rag24")
    assert lost == {"scores of references": 1, "weights of citations": 1}
    _, lost = rewritten(read(SAMPLES["biogen-a"]), "common")
    assert lost == {"contradicted citations": 1}
    _, lost = rewritten(read(common(team_id="tarn")), "rag24")
    assert lost == {"the field team_id": 1}


def test_references_without_scores_keep_their_order_in_ikat():
    again, _ = rewritten(read(rag24()), "ikat25")
    assert [each.docno for each in again.answers["t1"].references] == ["d1", "d2"]
