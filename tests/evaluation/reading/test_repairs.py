"""One cause of many faulty lines is one problem, and is repaired where that is asked for."""

from io import BytesIO

import pytest

from evaluation.problems import Problem, Refused
from evaluation.reading.docnos import Docnos
from evaluation.reading.runs.reader import Run, RunRules, read_run

TOPICS = frozenset({b"1", b"2", b"26"})
LINES = [(topic, f"d{rank}", rank, 10 - rank) for topic in (1, 2, 26) for rank in range(1, 5)]


def run_of(line: str) -> bytes:
    """Twelve lines of three topics, each of this form."""
    filled = (line.format(topic=t, docno=d, rank=r, score=s) for t, d, r, s in LINES)
    return "".join(f"{each}\n" for each in filled).encode()


GOOD = run_of("{topic} Q0 {docno} {rank} {score}.5 bm25")
BLANK = run_of("{topic} Q0 {docno} {rank} {score}.5 LMD m")
FAULTY = {
    "tag": BLANK,
    "q0": run_of("{topic} {docno} {rank} {score}.5 bm25"),
    "topics": run_of("MB{topic:03} Q0 {docno} {rank} {score}.5 bm25"),
    "comma": run_of("{topic} Q0 {docno} {rank} {score},5 bm25"),
}


def read(text: bytes, **rules) -> Run:
    return read_run(BytesIO(text), RunRules(**{"topics": TOPICS, **rules}))


def errors(text: bytes, **rules) -> list[Problem]:
    with pytest.raises(Refused) as refusal:
        read(text, **rules)
    return list(refusal.value.problems.of("error"))


@pytest.mark.parametrize(
    ("fix", "code", "offer"),
    [
        ("tag", "E_COLUMNS", "Use LMD-m as the tag?"),
        ("q0", "E_COLUMNS", "Add Q0?"),
        ("topics", "E_UNKNOWN_TOPIC", "Read MB001 as 1, and so on?"),
        ("comma", "E_SCORE", "Read 9,5 as 9.5?"),
    ],
)
def test_a_cause_in_every_line_is_one_problem_with_its_count_and_repair(fix, code, offer):
    (problem,) = errors(FAULTY[fix])
    assert (problem.code, problem.line, problem.fix) == (code, 1, fix)
    assert problem.count == (3 if fix == "topics" else 12)
    assert problem.hint.endswith(offer)


@pytest.mark.parametrize("fix", FAULTY)
def test_a_repaired_run_is_the_run_that_was_meant(fix):
    run, good = read(FAULTY[fix], fix=(fix,)), read(GOOD)
    assert list(run.rankings) == list(good.rankings)
    assert all(run.rankings[t].docnos == good.rankings[t].docnos for t in good.rankings)
    assert run.rankings[b"26"].scores.tolist() == good.rankings[b"26"].scores.tolist()
    assert [p.code for p in run.problems] == ["W_REPAIRED"]


def test_a_missing_q0_is_seen_beside_an_unknown_docno():
    known, text = Docnos.of([b"d1"]), b"1 d1 1 9 bm25\n1 d2 2 8 bm25\n"
    assert [p.code for p in errors(text, docnos=known)] == ["E_COLUMNS", "E_UNKNOWN_DOC"]
    [problem] = errors(text, docnos=known, fix=("q0",))
    assert (problem.code, problem.line, problem.found) == ("E_UNKNOWN_DOC", 2, "d2")


@pytest.mark.parametrize("fix", FAULTY)
def test_nothing_is_repaired_that_was_not_asked_for(fix):
    others = tuple(name for name in FAULTY if name != fix)
    (problem,) = errors(FAULTY[fix], fix=others)
    assert problem.fix == fix


def test_a_good_run_with_repairs_asked_for_stays_as_it_is():
    run = read(GOOD, fix=tuple(FAULTY))
    assert (run.tag, len(run.problems)) == ("bm25", 0)


def test_the_tag_that_is_given_replaces_any_in_the_file():
    for text in (
        GOOD,
        BLANK,
        GOOD + b"2 Q0 d9 9 1 other\n",
        run_of("{topic} Q0 {docno} {rank} 1.5"),
    ):
        run = read(text, fix=("tag",), tag="mine")
        assert (run.tag, run.problems.counts["W_REPAIRED"]) == ("mine", 1)


def test_a_tag_alone_is_still_compared_with_the_file():
    (problem,) = errors(GOOD, tag="mine")
    assert (problem.code, problem.fix, problem.suggested) == ("E_TAG", "tag", "mine")


def test_two_tags_are_not_made_one_unless_the_tag_is_given():
    text = GOOD + b"2 Q0 d9 9 1 other\n"
    for fix in ((), ("tag",)):
        (problem,) = errors(text, fix=fix)
        assert (problem.code, problem.line, problem.fix) == ("E_TAG", 13, "")


@pytest.mark.parametrize("tag", [".", "..", "my tag", "x" * 65])
def test_a_tag_that_no_file_may_have_is_not_put_in_its_place(tag):
    (problem,) = errors(GOOD, fix=("tag",), tag=tag)
    assert (problem.code, problem.line) == ("E_TAG", None)


def test_a_tag_may_have_64_characters():
    assert read(run_of("{topic} Q0 {docno} {rank} {score} " + "x" * 64)).tag == "x" * 64
    assert read(run_of("{topic} Q0 {docno} {rank} {score} org_manual_ance_bert.run")).lines == 12


def test_a_missing_tag_is_asked_for():
    (problem,) = errors(run_of("{topic} Q0 {docno} {rank} {score}.5"))
    assert (problem.fix, problem.suggested, problem.count) == ("tag", "", 12)


def test_a_line_with_more_than_its_tag_is_offered_the_tag_of_the_others():
    (problem,) = errors(GOOD.replace(b"2 8.5 bm25\n", b"2 8.5 bm25 extra\n"))
    assert (problem.line, problem.count, problem.suggested) == (2, 3, "bm25")
    assert "in 3 of 12 lines (2, 6, 10)" in problem.message


def test_topics_of_another_track_are_not_renamed():
    text = GOOD.replace(b"26 Q0", b"MB026 Q0").replace(b"\n2 Q0", b"\nAR2 Q0")
    assert {problem.fix for problem in errors(text)} == {""}
    assert errors(FAULTY["topics"], topics=frozenset({b"AR1", b"AR2", b"AR26"}))[0].fix == ""


def test_a_topic_that_is_in_the_run_under_both_names_is_not_renamed():
    text = GOOD + b"MB026 Q0 d9 1 1.5 bm25\n"
    for fix in ((), ("topics",)):
        (problem,) = errors(text, fix=fix)
        assert (problem.code, problem.line, problem.fix) == ("E_UNKNOWN_TOPIC", 13, "")


def test_a_comma_that_may_part_thousands_is_not_read_as_a_point():
    (problem,) = errors(GOOD.replace(b" 9.5 ", b" 1,234 "))
    assert (problem.code, problem.count, problem.fix) == ("E_SCORE", 3, "")


def test_a_git_conflict_is_one_problem_and_its_other_side_is_not_read():
    lines = GOOD.splitlines(keepends=True)
    text = b"<<<<<<< HEAD\n" + b"".join(lines[:4]) + b"=======\n" + b"".join(lines[:4])
    (problem,) = errors(text + b">>>>>>> tuned\n" + b"".join(lines[4:]))
    assert (problem.code, problem.line, problem.count) == ("E_COLUMNS", 1, 3)
    assert problem.message.startswith("unresolved git conflict")


def test_a_column_without_any_number_is_one_problem():
    text = b"".join(b"1 Q0 d%d %d nan bm25\n" % (n, n) for n in range(1, 101))
    (problem,) = errors(text)
    assert (problem.code, problem.line, problem.count) == ("E_SCORE", 1, 100)


def test_a_few_faults_are_named_line_by_line():
    text = b"".join(b"1 Q0 d%d %d nan bm25\n" % (n, n) for n in range(1, 11))
    assert [problem.line for problem in errors(text)] == list(range(1, 11))
