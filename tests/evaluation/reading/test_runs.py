"""A run that breaks a rule of its track is refused, with every reason and its line."""

import gzip
from io import BytesIO
from pathlib import Path

import pytest

from evaluation.problems import KEPT, Problem, Problems, Refused
from evaluation.reading.containers import unpacked
from evaluation.reading.runs import trec_eval_text
from evaluation.reading.runs.reader import Run, RunRules, read_run
from evaluation.reading.runs.trec_eval_text import data_lines

pytestmark = pytest.mark.usefixtures("both_ways")

TRACK = RunRules(topics={b"301", b"302"}, docnos={b"D1", b"D2", b"D3", b"D4"})
GOOD = b"301 Q0 D1 1 9.5 bm25\n301 Q0 D2 2 8.5 bm25\n302 Q0 D1 1 7 bm25\n"


def accepted(text: bytes, **rules) -> Run:
    return read_run(BytesIO(text), RunRules(**(vars(TRACK) | rules)))


def refused(text: bytes, **rules) -> list[Problem]:
    with pytest.raises(Refused) as refusal:
        accepted(text, **rules)
    return [problem for problem in refusal.value.problems if problem.severity == "error"]


def codes(problems) -> list[tuple[str, int | None]]:
    return [(problem.code, problem.line) for problem in problems]


def line(docno="D1", score="9.5", *, topic="301", rank="1", tag="bm25") -> bytes:
    return f"{topic} Q0 {docno} {rank} {score} {tag}\n".encode()


@pytest.mark.parametrize(("of_run", "numbers"), [(True, [4]), (False, [2, 3, 4])])
def test_trec_eval_skips_blank_and_indented_lines_of_runs_alone(of_run, numbers):
    lines = data_lines(BytesIO(b"# by hand\n  # by hand\n \n301 x\n"), Problems(), of_run=of_run)
    assert [number for number, _ in lines] == numbers


def test_trec_eval_reads_on_behind_a_line_that_is_too_long(monkeypatch):
    monkeypatch.setattr(trec_eval_text, "LONGEST_LINE", 3)
    problems, text = Problems(), b"301\n301 Q0 D1\n3\0\n302\n303"
    found = [number for number, _ in data_lines(BytesIO(text), problems, of_run=True)]
    assert found == [1, 4, 5] and codes(problems) == [("E_LINE_LONG", 2), ("E_CHAR", 3)]
    assert not list(data_lines(BytesIO(b"301 Q0 D1"), problems, of_run=True))


def test_a_good_run_is_read_in_scoring_order():
    run = accepted(GOOD)
    assert (run.tag, run.lines, len(run.problems)) == ("bm25", 3, 0)
    assert list(run.rankings) == [b"301", b"302"]
    assert run.rankings[b"301"].docnos == [b"D1", b"D2"]
    assert run.rankings[b"301"].scores.tolist() == [9.5, 8.5]


def test_topics_may_be_interleaved():
    text = line("D1", "1", rank="2") + line("D4", topic="302") + line("D2", "2")
    assert accepted(text).rankings[b"301"].docnos == [b"D2", b"D1"]


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (b"\xef\xbb\xbf" + GOOD, ("W_BOM", 1)),
        (GOOD.replace(b"\n", b"\r\n"), ("W_CRLF", 1)),
        (b"\n \t\n" + GOOD + b"\n", ("W_BLANK", 1)),
        (GOOD.replace(b"D2 2", b"D2 1"), ("W_RANK", 1)),
        (GOOD.replace(b"8.5", b"9.5"), ("W_TIES", 1)),
        (line(), ("W_MISSING_TOPIC", None)),
    ],
)
def test_what_does_no_harm_is_accepted_with_a_warning(text, warning):
    assert codes(accepted(text).problems) == [warning]


def test_ties_that_the_ranks_break_otherwise_do_not_contradict_the_ranks():
    run = accepted(GOOD.replace(b"8.5", b"9.5"))
    assert run.rankings[b"301"].docnos == [b"D2", b"D1"]
    assert "W_RANK" not in run.problems.totals()


def test_ranks_that_start_at_zero_are_noted():
    text = line("D1", "2", rank="0") + line("D2", "1", rank="1")
    (note,) = accepted(text, topics={b"301"}).problems
    assert (note.code, note.severity) == ("W_RANK_FROM_0", "note")
    assert note.message == "the ranks start at 0 in 1 of 1 topic"


def test_scores_that_are_all_equal_are_told_as_such():
    text = line("D1") + line("D2", rank="2") + line("D1", topic="302", rank="3")
    (warning,) = accepted(text).problems
    assert warning.code == "W_TIES"
    assert warning.message == "all 2 scores for topic 301 are tied (1 of 2 topics)"


def test_ties_across_the_cutoff_are_noted():
    text = line("D1", "3") + line("D2", "2", rank="2") + line("D3", "2", rank="3")
    text += line("D4", "1", rank="4") + line("D1", "1", topic="302")
    assert len(accepted(text).problems) == 0
    assert len(accepted(text, cutoff=1).problems) == 0
    (note,) = accepted(text, cutoff=2).problems
    assert (note.code, note.severity) == ("W_TIES_AT_CUTOFF", "note")
    assert note.message == "ties span rank 2 in 1 topic (first: 301)"


def test_scores_that_grow_with_the_rank_look_like_distances():
    text = b"".join(line(f"D{i}", f"0.{i}", rank=str(i)) for i in range(1, 10))
    (warning,) = accepted(text, docnos=None, topics={b"301"}).problems
    assert (warning.code, warning.line) == ("W_UPSIDE_DOWN", 1)
    assert warning.message.startswith("in 1 of 1 topic the scores rise with the rank")
    assert warning.hint == "If the scores are distances, negate them."


@pytest.mark.parametrize(
    "score", ["1", "1.", ".5", "+1.5", "-0", "1e-3", "9.85E+01", "4e-324", "1" * 64]
)
def test_a_finite_ascii_decimal_is_a_score(score):
    run = accepted(line(score=score), topics=None)
    assert run.rankings[b"301"].scores.tolist() == [float(score)]


@pytest.mark.parametrize(
    "score",
    ["nan", "inf", "-Infinity", "1e999", "1,5", "1_0", "0x1p3", "1e2x", "--3", "e5", ".", "٣"],
)
def test_anything_else_is_not(score):
    assert codes(refused(line(score=score))) == [("E_SCORE", 1)]


@pytest.mark.parametrize("length", [65, 3000])
def test_a_score_of_absurd_length_is_refused(length):
    assert codes(refused(line(score="9" * length))) == [("E_SCORE", 1)]


@pytest.mark.parametrize("rank", ["x", "1.5", "²", "9" * 5000])
def test_the_rank_must_be_an_integer(rank):
    assert codes(refused(line(rank=rank), line=10_000)) == [("E_RANK", 1)]


@pytest.mark.parametrize(
    ("text", "count", "hint"),
    [
        (b"301 0 D1 1\n", 4, "This looks like relevance judgments, not a run."),
        (b"301 Q0 D1 1 9.5\n", 5, "Is the run tag missing?"),
        (b"301 Q0 D 1 1 9.5 bm25\n", 7, "Docnos cannot contain spaces. Remove them."),
        (b"301 Q0 D1 1 9.5 my run\n", 7, "Run tags cannot contain spaces. Use my-run as the tag?"),
        (
            b"301\tD1\t9.5\n",
            3,
            "Is this topic, docno and score? Add Q0, rank and tag columns.",
        ),
        (b"301,Q0,D1,1,9.5,bm25\n", 1, "Separate columns with spaces or tabs, not commas."),
        (b"<html><body>\n", 1, "This looks like HTML or XML."),
        (b"qid docno score\n", 3, "If this is a header, remove it."),
        (b"20150720 MB228 Q0 D1 1 0.9 tag\n", 7, "This looks like a Microblog track run,"),
    ],
)
def test_a_wrong_number_of_columns_is_told_with_what_the_line_may_be(text, count, hint):
    (problem,) = refused(text)
    expected = f"expected 6 columns (topic Q0 docno rank score tag) but found {count}"
    assert (problem.code, problem.message) == ("E_COLUMNS", expected)
    assert problem.hint.startswith(hint)
    assert bool(problem.hint) == bool(hint)
    assert problem.found == text.decode().strip().replace("\t", "\\t")


def test_every_fault_of_a_line_is_named():
    text = line("D9", "nan", topic="999", rank="x", tag="my!run")
    found = {"E_RANK", "E_SCORE", "E_TAG", "E_UNKNOWN_DOC", "E_UNKNOWN_TOPIC"}
    assert {problem.code for problem in refused(text)} == found


def test_lines_are_physical_and_problems_come_in_their_order():
    text = b"# by hand\n\n" + line("D1") + line("D2", "x") + b"\n" + line("D1") + line("D9")
    expected = [("E_SCORE", 4), ("E_DUP_DOC", 6), ("E_UNKNOWN_DOC", 7)]
    assert codes(refused(text)) == expected


def test_a_duplicate_names_the_line_of_the_first():
    text = line("D1") + line("D1", topic="302") + line("D2", "3") + line("D1", "2")
    (problem,) = refused(text)
    assert (problem.code, problem.line, problem.found) == ("E_DUP_DOC", 4, "D1")
    assert problem.message == "the document is already retrieved for topic 301 at line 1"


def test_duplicates_keep_their_best_score_where_the_track_says_so():
    text = line("D1", "1") + line("D2", "2") + line("D1", "3")
    run = accepted(text, duplicates="keep_best", topics=None)
    assert run.rankings[b"301"].docnos == [b"D1", b"D2"]
    assert run.rankings[b"301"].scores.tolist() == [3, 2]
    assert ("W_DUP_DOC", 3) in codes(run.problems)


def test_unknown_documents_are_dropped_where_the_track_says_so():
    run = accepted(line("D9") + line("D2", "3"), unknown_documents="drop", topics=None)
    assert run.rankings[b"301"].docnos == [b"D2"]
    assert codes(run.problems) == [("W_UNKNOWN_DOC", 1)]


def test_a_run_of_unknown_documents_alone_is_empty():
    assert codes(refused(line("D9"), unknown_documents="drop")) == [("E_EMPTY", None)]


@pytest.mark.parametrize(
    ("topic", "hint"),
    [("0301", 'Did you mean topic "301"?'), ("q301", 'Did you mean topic "301"?'), ("7", "")],
)
def test_an_unknown_topic_comes_with_the_closest_one(topic, hint):
    (problem,) = refused(GOOD + line("D1", topic=topic) + line("D2", "1", topic=topic))
    assert (problem.code, problem.line, problem.hint) == ("E_UNKNOWN_TOPIC", 4, hint)
    assert problem.message == "the topic is not in this track; unknown topics: 1 of 3"


def test_a_wrong_topic_set_is_told_as_such():
    problems = refused(line(topic="a") + line(topic="b"))
    assert problems[0].message == "the topic is not in this track; unknown topics: 2 of 2"
    assert problems[0].hint == "Is this run for other topics?"


@pytest.mark.parametrize(
    ("first", "second", "hint"),
    [
        ("0301", "0302", 'Without leading zeros they all match: "0301" is "301".'),
        ("q301", "q302", "Without the prefix they all match"),
        ("D1", "D2", "These are docnos. Are the topic and docno columns swapped?"),
    ],
)
def test_one_change_that_makes_all_topics_known_is_offered(first, second, hint):
    problems = refused(line(topic=first) + line(topic=second))
    assert [problem.hint.startswith(hint) for problem in problems] == [True]


def test_as_many_topics_as_the_track_has_may_be_numbered_otherwise():
    text = b"".join(line(topic=topic) for topic in ("1", "4", "9"))
    problems = refused(text, topics={b"1", b"2", b"3"})
    hint = "The file has 3 topics, as many as the track. Are they numbered differently?"
    assert [problem.hint for problem in problems] == [hint]


def test_a_run_of_mostly_unknown_documents_says_how_they_differ():
    with pytest.raises(Refused) as refusal:
        accepted(line("X1") + line("X2") + line("D3"), docnos={b"D1", b"D3"})
    (note,) = refusal.value.problems.of("note")
    assert (note.code, note.message) == ("W_MOSTLY_UNKNOWN", "2 of 3 lines have unknown documents")
    assert note.hint == 'The file has "X1", the collection "D1". Same document?'


@pytest.mark.parametrize(
    ("docno", "hint"),
    [
        ("1", 'The collection has "D1".'),
        ("d1", 'The collection has "D1".'),
        ("D1.txt", 'The collection has "D1".'),
        ("X", ""),
    ],
)
def test_an_unknown_document_comes_with_what_may_be_meant(docno, hint):
    (problem,) = refused(GOOD + line(docno, "1"))
    assert (problem.code, problem.line, problem.hint) == ("E_UNKNOWN_DOC", 4, hint)


def test_documents_counted_from_zero_are_recognised():
    (problem,) = refused(line("0"), docnos={b"1", b"2"})
    assert problem.hint == "The collection numbers documents from 1. Does the run start at 0?"


def test_too_deep_a_ranking_names_the_first_line_too_many():
    (problem,) = refused(GOOD, depth=1, topics={b"301", b"302"})
    assert (problem.code, problem.line) == ("E_DEPTH", 2)
    assert problem.message == "topic 301 has 2 documents; the track allows 1"


def test_a_document_twice_makes_no_ranking_too_deep():
    text = line("D1") + line("D2") + line("D1", "8") + line("D3")
    assert codes(refused(text, depth=2)) == [("E_DUP_DOC", 3), ("E_DEPTH", 4)]
    assert codes(refused(text, depth=3)) == [("E_DUP_DOC", 3)]


def test_the_best_of_each_document_counts_for_the_depth():
    text = line("D1", "5") + line("D2", "7") + line("D1", "9")
    run = accepted(text, depth=2, duplicates="keep_best")
    assert run.rankings[b"301"].docnos == [b"D1", b"D2"]
    assert ("W_DUP_DOC", 3) in codes(run.problems)


def test_missing_topics_are_refused_where_the_track_says_so():
    (problem,) = refused(line(), missing_topics="refuse")
    assert problem.code == "E_MISSING_TOPIC"
    assert problem.message == "no documents for 1 of the 2 topics: 302"


@pytest.mark.parametrize("how", ["warn", "refuse"])
def test_a_run_that_answers_every_judged_topic_misses_none(how):
    assert codes(accepted(line(), judged=[b"301"], missing_topics=how).problems) == []


def test_missing_judged_topics_are_counted_among_the_judged_ones():
    (problem,) = accepted(line(), topics=[b"301", b"302", b"303"], judged=[b"301", b"303"]).problems
    assert problem.message == "no documents for 1 of the 2 judged topics: 303"
    assert problem.hint == "They score 0."


def test_where_nothing_says_what_is_judged_no_topic_is_said_to_score_0():
    (problem,) = accepted(line()).problems
    assert problem.hint == "Those that are judged score 0."


def test_a_topic_whose_only_line_is_broken_is_not_called_missing():
    assert codes(refused(line() + b"302 Q0 D1 1\n", missing_topics="refuse")) == [("E_COLUMNS", 2)]


@pytest.mark.parametrize("tag", ["", "my!run", "x" * 65, ".", "..", "tägg"])
def test_a_tag_that_is_not_allowed_is_told_once(tag):
    text = line("D1", tag=tag) + line("D2", "1", tag=tag)
    assert [problem.code for problem in refused(text)][:1] == ["E_TAG" if tag else "E_COLUMNS"]
    assert not tag or len(refused(text)) == 1


def test_a_second_tag_is_told_at_its_first_line():
    text = line("D1") + line("D2", "1", tag="b") + line("D3", "1", tag="b") + line("D4", "0")
    (problem,) = refused(text)
    assert (problem.code, problem.line, problem.found) == ("E_TAG", 2, "b")


def test_the_tag_of_the_file_must_be_the_one_given_with_it():
    assert codes(refused(GOOD, tag="bm26")) == [("E_TAG", 1)]
    assert accepted(GOOD, tag="bm25").tag == "bm25"


@pytest.mark.parametrize(
    ("text", "code", "at"),
    [
        (GOOD.replace(b"D2", b"D\x002"), "E_CHAR", 2),
        (GOOD.replace(b" D2", b"\x0bD2"), "E_CHAR", 2),
        (GOOD.replace(b"\n", b"\r"), "E_CHAR", 1),
        (line("D\u20281"), "E_CHAR", 1),
        (line("D\u00a01"), "E_CHAR", 1),
        (line("D\u200b1"), "E_CHAR", 1),
        (line("D" * 1025), "E_DOCID", 1),
        (line(topic="3" * 1025), "E_TOPIC", 1),
        (GOOD.replace(b"D2", b"D\xe92"), "E_ENCODING", 2),
        (GOOD.replace(b"D2", b"D\xc0\xaf"), "E_ENCODING", 2),
        (GOOD.decode().encode("utf-16"), "E_ENCODING", None),
        (GOOD + b"x" * 4097 + b"\n", "E_LINE_LONG", 4),
        (b"", "E_EMPTY", None),
        (b"\n# nothing\n", "E_EMPTY", None),
    ],
)
def test_bytes_that_are_no_clean_text_are_refused(text, code, at):
    assert codes(refused(text)) == [(code, at)]


def test_a_docno_of_any_script_is_taken_byte_by_byte():
    run = accepted(line("brø") + line("パン", "2"), docnos={"brø".encode(), "パン".encode()})
    assert list(run.rankings[b"301"].docnos) == ["brø".encode(), "パン".encode()]
    assert codes(refused(line("bro\u0308"), docnos={"brö".encode()})) == [("E_UNKNOWN_DOC", 1)]


def test_a_line_of_exactly_the_limit_is_read_and_the_lines_after_a_long_one_too():
    assert accepted(line().rstrip().ljust(4096) + b"\r\n").lines == 1
    assert codes(refused(line().rstrip().ljust(4097) + b"\n")) == [("E_LINE_LONG", 1)]
    assert codes(refused(b"x" * 3_000_000 + b"\n" + line("D1", "nan"))) == [
        ("E_LINE_LONG", 1),
        ("E_SCORE", 2),
    ]


def test_a_cut_off_upload_keeps_the_problems_found_before():
    packed = gzip.compress(b"".join(line(f"D{i}", "x") for i in range(20_000)))
    with pytest.raises(Refused) as refusal:
        read_run(unpacked(BytesIO(packed[: len(packed) // 2])), TRACK)
    container, scores, _ = refusal.value.problems.of("error")
    assert (scores.code, scores.count > 100) == ("E_SCORE", True)
    assert "it ends early (after line" in container.message


def test_so_many_errors_end_the_reading():
    problems = refused(b"x\n" * (KEPT + 5))
    assert codes(problems) == [("E_COLUMNS", 1), ("E_TOO_MANY_ERRORS", KEPT)]
    assert problems[0].count == KEPT


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("bom_crlf_tabs", None),
        ("dup_docs", "E_DUP_DOC"),
        ("five_columns", "E_COLUMNS"),
        ("missing_topics", None),
        ("nan_inf_scores", "E_SCORE"),
        ("raw_query_ids", "E_UNKNOWN_TOPIC"),
        ("unknown_docids", "E_UNKNOWN_DOC"),
        ("zero_based_docids", "E_UNKNOWN_DOC"),
    ],
)
def test_the_faulty_runs_on_cranfield_are_refused_for_their_fault(data: Path, name, expected):
    rules = RunRules(
        topics={b"%d" % number for number in range(1, 226)},
        docnos={b"%d" % number for number in range(1, 1401)},
    )
    with (data / "data" / "cranfield" / "faulty" / f"{name}.run.gz").open("rb") as file:
        try:
            problems = read_run(unpacked(file), rules).problems
        except Refused as refusal:
            problems = refusal.problems
    assert {problem.code for problem in problems if problem.severity == "error"} == (
        {expected} if expected else set()
    )


@pytest.mark.data
def test_the_good_runs_on_cranfield_are_accepted(data: Path):
    for path in sorted((data / "data" / "cranfield" / "runs").iterdir()):
        with path.open("rb") as file:
            run = read_run(unpacked(file))
        assert len(run.rankings) == 225, path.name
        assert set(run.problems.totals()) <= {"W_TIES"}, path.name
