"""Runs: the documents that a system retrieved for each topic, in scoring order.

A run is a text file of six columns, `topic Q0 docno rank score tag`, or in another format that
its track accepts. The order of a ranking is score descending, ties by docno descending in byte
order, as in trec_eval. The rank column and the order of lines have no effect.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from sys import maxsize
from typing import BinaryIO

import numpy as np

from evaluation.problems import Problems, Refused
from evaluation.reading.containers import RUN_LIMITS
from evaluation.reading.lines import BYTE_ORDER_MARK, errors_first, first_bytes, in_line_order
from evaluation.reading.recognition import run_by_first_bytes
from evaluation.reading.repairs import TAG
from evaluation.reading.runs import trec_eval_text
from evaluation.reading.runs.fast_reader import (
    Head,
    Scattered,
    line_number,
    read_scattered,
    warn,
)
from evaluation.reading.runs.rankings import Ranking, StoredRankings
from evaluation.reading.runs.run_checks import (
    check_ranks,
    check_scores,
    check_ties,
    traits_of_lines,
)
from evaluation.reading.runs.run_formats import WITH_RANKS, WITH_SCORES_ALONE, take_run
from evaluation.reading.runs.run_lines import (
    RunLines,
    TopicLines,
    report_duplicates,
    warn_of_duplicate,
    warn_of_tag,
)
from evaluation.reading.runs.run_metadata import check_tag, read_metadata
from evaluation.reading.runs.run_rules import RunRules
from evaluation.reading.runs.sharing import read_shared
from evaluation.reading.words import Unclear

# Problems of ranks and ties, which trec_eval ignores.
DISREGARDED = frozenset({"W_RANK", "W_RANK_FROM_0", "W_UPSIDE_DOWN", "W_TIES"})


@dataclass(frozen=True)
class Run:
    """An accepted run; `lines` counts its data lines, `problems` has only warnings and notes.

    `metadata` is its ir_metadata by path, such as "platform.hardware.cpu.model"; `description`
    its <SYSDESC>.
    """

    tag: str
    rankings: Mapping[bytes, Ranking]
    lines: int
    problems: Problems
    format: str = "trec"
    description: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)

    @property
    def num_answered(self) -> int:
        """Return the number of topics with a ranking."""
        return len(self.rankings)

    @property
    def num_retrieved(self) -> int:
        """Return the number of retrieved documents over all topics."""
        if isinstance(self.rankings, StoredRankings):
            return self.rankings.count
        return sum(len(ranking.docnos) for ranking in self.rankings.values())


def read_run(
    file: BinaryIO,
    rules: RunRules = RunRules(),
    store: Callable[[], StoredRankings] = StoredRankings,
    processes: int = 1,
) -> Run:
    """Read a run that follows every rule of its track, in a format that the track accepts.

    `store` creates the store for the rankings of a large run, such as a `judging.Judging`; if
    it only judges, several `processes` read a large file.

    The whole file is read; raises `Refused` with every problem, each at its physical line:
    E_SIZE, E_EMPTY, E_COLUMNS, E_ENCODING, E_CHAR, E_LINE_LONG, E_RANK, E_SCORE, E_TAG, E_DUP_DOC,
    E_UNKNOWN_TOPIC, E_UNKNOWN_DOC, E_TOPIC, E_DOCID, E_DEPTH, E_MISSING_TOPIC, and for other
    formats E_FORMAT, E_JSON, E_DUP_TOPIC; the reading ends with E_TOO_MANY_ERRORS. An accepted
    run may carry W_BOM, W_CRLF, W_BLANK, W_RANK, W_RANK_FROM_0, W_UPSIDE_DOWN, W_TIES,
    W_MAYBE_RANKS, W_TIES_AT_CUTOFF, W_MISSING_TOPIC, W_METADATA
    and, if the rules accept them, W_UNKNOWN_DOC and W_DUP_DOC; W_REPAIRED says what was
    repaired. Problems of many lines with one cause are one problem, with its `count`.

    >>> from io import BytesIO
    >>> read_run(BytesIO(b"7 Q0 d1 1 9.5 bm25\\n7 Q0 d2 2 8.5 bm25\\n")).rankings[b"7"].docnos
    [b'd1', b'd2']
    >>> read_run(BytesIO(b"7 Q0 d1 1 nan bm25\\n"))
    Traceback (most recent call last):
    evaluation.problems.Refused: line 1: E_SCORE: the score is not a finite decimal number: "nan"
    """
    start = file.tell() if file.seekable() else None
    if start is not None and rules.formats == ("trec",):
        try:
            return _read_fast(file, rules, store, processes)
        except (Unclear, Refused):
            file.seek(start)
    return read_run_plainly(file, rules)


def read_run_plainly(file: BinaryIO, rules: RunRules = RunRules()) -> Run:
    """Read a run line by line: this defines how runs are read, and reports their problems."""
    collected = RunLines(rules)
    try:
        heading = take_run(file, collected)
    except Refused as refusal:
        if refusal.problems is collected.problems:
            collected.problems.most = None
            collected.report_causes()
            _fold(collected)
        raise
    try:
        collected.check_whole()
    finally:
        _fold(collected)
    collected.problems.raise_if_refused()
    tag = collected.tag.decode()
    check_tag(heading.metadata, tag, collected.problems)
    traits = traits_of_lines(collected.by_topic, rules.cutoff)
    topics = list(collected.by_topic)
    first_lines = [rows.lines[0] for rows in collected.by_topic.values()]
    if heading.format in WITH_RANKS:
        check_ranks(traits, first_lines.__getitem__, collected.problems)
    elif heading.format in WITH_SCORES_ALONE:
        check_scores(collected.by_topic, collected.problems)
    check_ties(traits, topics, first_lines.__getitem__, rules.cutoff, collected.problems)
    rankings: dict[bytes, Ranking] = {}
    while collected.by_topic:
        topic = next(iter(collected.by_topic))
        rankings[topic] = _best_of_each(collected.by_topic.pop(topic), collected.problems)
    in_line_order(collected.problems)
    return Run(tag, rankings, collected.count, collected.problems, **asdict(heading))


def _fold(collected: RunLines) -> None:
    collected.problems.fold(collected.count)
    errors_first(collected.problems)


def _read_fast(
    file: BinaryIO, rules: RunRules, store: Callable[[], StoredRankings], processes: int = 1
) -> Run:
    """Read a run that the fast reader can prove valid; else raise `Unclear` or `Refused`."""
    start = file.tell()
    found = run_by_first_bytes(first_bytes(file))
    if found is not None and found.format != "markup":
        raise Unclear("another format")
    if isinstance(rules.topics, Sequence):
        rules = replace(rules, topics=frozenset(rules.topics))
    new_tag = rules.tag if "tag" in rules.fix else None
    if new_tag is not None:
        if not TAG.fullmatch(new_tag.encode()):
            raise Unclear("not a tag")
        rules = replace(rules, tag=None)
    problems = Problems()
    head = Head.of(file, rules.line, problems)
    metadata = read_metadata(head.comments, problems)
    try:
        run = read_shared(file, head.line, rules, store(), processes)
    except Scattered:
        file.seek(start)
        line = Head.of(file, rules.line, Problems()).line
        run = read_scattered(file, line, rules, store())

    if head.number - 1 + run.lines > rules.lines:
        raise Unclear("too many lines")

    def line_at(place: int) -> int:
        file.seek(start)
        return line_number(file, Head.of(file, rules.line, Problems()), place)

    warn(run, rules, line_at, problems)
    tag = run.tag.decode()
    if new_tag is not None and new_tag != tag:
        warn_of_tag(head.number, run.tag, new_tag.encode(), problems)
        tag = new_tag
    check_tag(metadata, tag, problems)
    return Run(tag, run.rankings, run.rankings.count, in_line_order(problems), metadata=metadata)


def read_run_leniently(
    file: BinaryIO,
    float32: bool = False,
    *,
    topics: Container[bytes] | None = None,
    depth: int | None = None,
    store: Callable[[], StoredRankings] = StoredRankings,
) -> Run:
    """Read a run like trec_eval: at least six columns, any score, any tag, any bytes.

    `float32` compares scores as 32-bit floats, as trec_eval 9.0.8 does. Like trec_eval, a
    repeated document of a topic is refused; with `topics` (the judged ones) and `depth`
    (trec_eval's -M) only in these topics and down to that rank, which also cuts the rankings.
    For `store` see `read_run`.

    Raises `Refused` with E_COLUMNS, E_DUP_DOC, E_CHAR, E_LINE_LONG or E_EMPTY.

    >>> from io import BytesIO
    >>> run = read_run_leniently(BytesIO(b"7 Q0 d1 1 abc my tag\\n7 Q0 d2 2 1,5 my tag\\n"))
    >>> run.tag, run.rankings[b"7"].docnos, run.rankings[b"7"].scores.tolist()
    ('my', [b'd2', b'd1'], [1.0, 0.0])
    """
    start = file.tell() if file.seekable() else None
    if start is not None and not float32 and depth is None:
        try:
            return _read_clean(file, store)
        except (Unclear, Refused):
            file.seek(start)
    return read_run_leniently_plainly(file, float32, topics=topics, depth=depth)


def _read_clean(file: BinaryIO, store: Callable[[], StoredRankings]) -> Run:
    """Read a run that trec_eval and we read alike; raise `Unclear` if they may differ."""
    start = file.tell()
    first = file.readline(RUN_LIMITS.line)
    file.seek(start)
    if first.startswith((BYTE_ORDER_MARK, b"#", b" ", b"\t", b"\r", b"\n")):
        raise Unclear("does not begin with a line of columns")
    run = _read_fast(file, RunRules(depth=maxsize), store)
    if not DISREGARDED.issuperset(run.problems.counts):
        raise Unclear("lines that trec_eval may read otherwise")
    return replace(run, problems=Problems())


def read_run_leniently_plainly(
    file: BinaryIO,
    float32: bool = False,
    *,
    topics: Container[bytes] | None = None,
    depth: int | None = None,
) -> Run:
    """Read a run like trec_eval, line by line."""
    problems = Problems()
    by_topic: dict[bytes, TopicLines] = {}
    tag = b""
    count = 0
    for number, line in trec_eval_text.data_lines(file, problems, of_run=True):
        columns = line.split(None, 6)
        count += 1
        if len(columns) < 6:
            expected = "expected 6 columns (topic Q0 docno rank score tag)"
            message = f"{expected} but found {len(columns)}"
            problems.error("E_COLUMNS", number, message, line.rstrip())
            continue
        topic, _, docno, _, score, tag = columns[:6]
        rows = by_topic.get(topic) or by_topic.setdefault(topic, TopicLines())
        rows.add(number, docno, trec_eval_text.number(score))
    if not count and not problems.errors:
        problems.error("E_EMPTY", None, "the run has no lines")
    rankings = {topic: _as_trec_eval(rows, float32, depth) for topic, rows in by_topic.items()}
    for topic, ranking in rankings.items():
        retrieved = set(ranking.docnos)
        if len(retrieved) < len(ranking.docnos) and (topics is None or topic in topics):
            report_duplicates(topic, by_topic[topic], retrieved, problems)
    in_line_order(problems).raise_if_refused()
    return Run(tag.decode("utf-8", "backslashreplace"), rankings, count, problems)


def _as_trec_eval(rows: TopicLines, float32: bool, depth: int | None) -> Ranking:
    scores = np.array(rows.scores, dtype=np.float64)
    if float32:
        with np.errstate(over="ignore", under="ignore"):
            scores = scores.astype(np.float32).astype(np.float64)
    ranking = Ranking.in_scoring_order(rows.docnos, scores)
    return ranking if depth is None else ranking.cut(depth)


def _best_of_each(rows: TopicLines, problems: Problems) -> Ranking:
    """Return the ranking; a repeated document keeps its best score."""
    ranking = Ranking.in_scoring_order(rows.docnos, np.array(rows.scores))
    if not rows.has_duplicates():
        return ranking
    best = {docno: i for i, docno in reversed(list(enumerate(ranking.docnos)))}
    seen: set[bytes] = set()
    for docno, line in zip(rows.docnos, rows.lines, strict=True):
        if docno in seen:
            warn_of_duplicate(line, problems)
        seen.add(docno)
    places = sorted(best.values())
    return Ranking([ranking.docnos[i] for i in places], ranking.scores[places])
