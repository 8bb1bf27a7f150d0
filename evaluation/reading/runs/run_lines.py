"""The lines of a run, collected by topic and checked one by one."""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Set
from dataclasses import dataclass, field
from math import isfinite

from evaluation.phrases import counted
from evaluation.problems import KEPT, Problems
from evaluation.reading import hints
from evaluation.reading.columns import DECIMAL, WHOLE, check_identifier, columns_of
from evaluation.reading.repairs import (
    COMMA,
    LONGEST_TAG,
    TAG,
    TAG_RULE,
    THOUSANDS,
    Cause,
    Conflicts,
    guess_columns,
    guess_tag,
    is_decimal_comma,
    match_known_topics,
    refuse_other_topics,
)
from evaluation.reading.runs.run_rules import RunRules

SIX_COLUMNS = ("topic", "Q0", "docno", "rank", "score", "tag")
LONGEST_SCORE = 64
LISTED = 10
ZERO = "They score 0."
UNKNOWN = "Those that are judged score 0."
HINTED = 50

# Matches a line without problems; `RunLines.diagnose` explains any other line.
CLEAN_LINE = re.compile(
    rb"[ \t]*([!-~]{1,128})[ \t]+[!-~]+[ \t]+([!-~]{1,128})[ \t]+([+-]?\d{1,18})[ \t]+"
    rb"([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)[ \t]+([A-Za-z0-9._-]{1,%d})[ \t]*"
    % LONGEST_TAG
)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a run in any format, as written; a part that the format lacks is empty."""

    topic: bytes
    docno: bytes
    rank: bytes = b""
    score: bytes = b""
    tag: bytes = b""

    @property
    def columns(self) -> list[bytes]:
        return [self.topic, b"Q0", self.docno, self.rank, self.score, self.tag]


@dataclass(slots=True)
class TopicLines:
    """The lines of one topic in the order of the file; flat, since a run may have millions."""

    docnos: list[bytes] = field(default_factory=list)
    scores: array[float] = field(default_factory=lambda: array("d"))
    ranks: array[int] = field(default_factory=lambda: array("q"))
    lines: array[int] = field(default_factory=lambda: array("q"))
    too_many: int = 0
    first_too_many: int = 0
    _places: dict[bytes, int] = field(default_factory=dict)

    def add(self, line: int, docno: bytes, score: float, rank: int = 0) -> None:
        self.docnos.append(docno)
        self.scores.append(score)
        self.ranks.append(rank)
        self.lines.append(line)

    def places(self) -> dict[bytes, int]:
        """Return the first place of each document, built when a topic reaches the depth."""
        if not self._places:
            self._places = {docno: i for i, docno in reversed(list(enumerate(self.docnos)))}
        return self._places

    def has_duplicates(self) -> bool:
        return len(set(self.docnos)) < len(self.docnos)


@dataclass
class RunLines:
    """The lines of a run that have been read so far, with their problems."""

    rules: RunRules
    problems: Problems = field(default_factory=lambda: Problems(KEPT + 1, most=KEPT))
    by_topic: dict[bytes, TopicLines] = field(default_factory=dict)
    unknown_topics: dict[bytes, int] = field(default_factory=dict)
    tag: bytes = b""
    count: int = 0
    without_topic: int = 0
    unknown_document: bytes = b""
    tags: dict[bytes, int] = field(default_factory=dict)
    conflicts: Conflicts = field(default_factory=Conflicts)
    _causes: dict[str, Cause] = field(default_factory=dict)
    _has_other_commas: bool = False

    def take(self, number: int, line: bytes) -> None:
        self.count += 1
        match = CLEAN_LINE.fullmatch(line)
        if match is not None:
            topic, docno, rank, token, tag = match.groups()
            score = float(token)
            if isfinite(score) and len(token) <= LONGEST_SCORE:
                if tag != self.tag:
                    self._see_tag(number, tag)
                self._store(number, topic, docno, score, int(rank))
                return
        self.diagnose(number, line)

    def diagnose(self, number: int, line: bytes) -> None:
        """Report every problem of a line, and keep the parts that can be compared."""
        columns = columns_of(number, line, self.problems)
        meant = guess_columns(columns, self.rules.docnos)
        if meant is not None:
            if meant.lacks_q0:
                self._count_fault("q0", number, line)
            if not meant.tag:
                self._count_fault("no tag", number, line)
            elif b" " in meant.tag:
                self._count_fault("blank", number, line)
            row = Row(meant.topic, meant.docno, meant.rank, meant.score, meant.tag)
            self.take_row(number, row)
        elif len(columns) == 6:
            topic, _, docno, rank, score, tag = columns
            self.take_row(number, Row(topic, docno, rank, score, tag))
        else:
            self.without_topic += 1
            if columns:
                self.report_columns(number, line, columns, SIX_COLUMNS)

    def _count_fault(self, what: str, number: int, found: bytes) -> None:
        """Count a fault that is reported once for the whole file."""
        cause = self._causes.get(what)
        if cause is None:
            cause = self._causes[what] = Cause(number, found)
        cause.add(number)

    def take_row(self, number: int, row: Row) -> None:
        """Check every part of a line, and keep the parts that can be compared."""
        topic, docno = row.topic, row.docno
        good_topic = check_identifier("topic number", "E_TOPIC", number, topic, self.problems)
        good_docno = check_identifier("document", "E_DOCID", number, docno, self.problems)
        rank = self._rank_of(number, row)
        score = self._score_of(number, row) if row.score else -float(rank)
        if row.tag:
            self._see_tag(number, row.tag)
        if good_topic and good_docno:
            self._store(number, topic, docno, score, rank)
        else:
            self.without_topic += 1

    def check_whole(self) -> None:
        """Check what needs the whole file: tag, topics, depth, duplicates."""
        self.report_causes()
        self._report_unknown_topics()
        self._note_unknown_documents()
        if not self.by_topic and not self.problems.errors:
            message = "no valid lines remain" if self.count else "the run has no lines"
            self.problems.error("E_EMPTY", None, message)
        for topic, rows in self.by_topic.items():
            if rows.too_many:
                self._report_depth(topic, rows)
            if self.rules.duplicates == "refuse" and rows.has_duplicates():
                report_duplicates(topic, rows, set(rows.docnos), self.problems)
        if self.by_topic and not self.without_topic and self.conflicts.cause is None:
            report_missing_topics(self.by_topic.keys(), self.rules, self.problems)

    def _store(self, number: int, topic: bytes, docno: bytes, score: float, rank: int) -> None:
        rows = self.by_topic.get(topic)
        known = rows is not None or self._knows(number, topic)
        if self.rules.docnos is not None and docno not in self.rules.docnos:
            self._report_unknown_document(number, docno)
            if self.rules.unknown_documents == "drop":
                return
        if not known:
            return
        if rows is None:
            rows = self.by_topic[topic] = TopicLines()
        if len(rows.docnos) < self.rules.depth:
            rows.add(number, docno, score, rank)
        else:
            self._store_deep(number, topic, docno, score, rank)

    def _store_deep(self, number: int, topic: bytes, docno: bytes, score: float, rank: int) -> None:
        """Handle a line beyond the depth; a repeated document makes no ranking deeper."""
        rows = self.by_topic[topic]
        places = rows.places()
        place = places.get(docno)
        if place is None and len(places) < self.rules.depth:
            places[docno] = len(rows.docnos)
            rows.add(number, docno, score, rank)
        elif place is None:
            rows.too_many += 1
            rows.first_too_many = rows.first_too_many or number
        elif self.rules.duplicates == "refuse":
            report_duplicate(topic, docno, number, rows.lines[place], self.problems)
        else:
            warn_of_duplicate(number, self.problems)
            if score > rows.scores[place]:
                rows.scores[place], rows.ranks[place] = score, rank

    def _knows(self, number: int, topic: bytes) -> bool:
        if self.rules.topics is None or topic in self.rules.topics:
            return True
        if len(self.unknown_topics) < KEPT:
            self.unknown_topics.setdefault(topic, number)
        # Kept until the end of the file shows whether they are known topics in another form.
        return "topics" in self.rules.fix

    def _rank_of(self, number: int, row: Row) -> int:
        if WHOLE.fullmatch(row.rank):
            return int(row.rank.partition(b".")[0])
        if row.rank or not row.score:
            hint = hints.hint_for_rank(row.columns, self.rules.docnos)
            self.problems.error("E_RANK", number, "the rank is not an integer", row.rank, hint)
        return 0

    def _score_of(self, number: int, row: Row) -> float:
        if len(row.score) > LONGEST_SCORE:
            message = f"the score is longer than {LONGEST_SCORE} characters"
        elif COMMA.fullmatch(row.score) and isfinite(_with_point(row.score)):
            self._count_fault("comma", number, row.score)
            self._has_other_commas |= not THOUSANDS.fullmatch(row.score)
            return _with_point(row.score)
        elif not DECIMAL.fullmatch(row.score) or not isfinite(float(row.score)):
            message = "the score is not a finite decimal number"
        else:
            return float(row.score)
        hint = hints.hint_for_score(row.score, row.columns)
        self.problems.error("E_SCORE", number, message, row.score, hint)
        return 0.0

    def _see_tag(self, number: int, tag: bytes) -> None:
        """Remember each tag with its first line; the first valid one is the tag of the run."""
        if tag in self.tags:
            return
        if len(self.tags) < KEPT:
            self.tags[tag] = number
        if not self.tag and TAG.fullmatch(tag):
            self.tag = tag

    def report_causes(self) -> None:
        """Report or repair problems of many lines that have one cause."""
        self._settle_tag()
        self._settle_q0()
        self._settle_commas()
        cause = self.conflicts.cause
        if cause is not None:
            message = f"unresolved git conflict{cause.where(self.count + cause.count)}"
            hint = "Keep one side of each conflict and remove the markers."
            self.problems.error(
                "E_COLUMNS", cause.line, message, cause.found, hint, count=cause.count
            )

    def _settle_tag(self) -> None:
        asked = (self.rules.tag or "").encode()
        meant = guess_tag(self.tags) if self.tags else asked
        if "tag" in self.rules.fix and (asked or meant):
            self._replace_tag(asked or meant)
            return
        # A tag that was entered replaces one tag, not several.
        meant = asked if asked and meant else meant
        self._report_tag_columns("blank", meant)
        self._report_tag_columns("no tag", meant)
        self._report_tags(meant if TAG.fullmatch(meant) else b"")

    def _replace_tag(self, tag: bytes) -> None:
        untagged = self._causes.get("no tag")
        others = [(line, text) for text, line in self.tags.items() if text != tag]
        if untagged is not None:
            others.append((untagged.line, b""))
        if not TAG.fullmatch(tag):
            self.problems.error("E_TAG", None, TAG_RULE, tag)
        elif others:
            line, found = min(others)
            warn_of_tag(line, found, tag, self.problems)
        self.tag = tag

    def _report_tag_columns(self, what: str, meant: bytes) -> None:
        """Report E_COLUMNS if the tag has blanks or is missing."""
        cause = self._causes.get(what)
        if cause is None:
            return
        rest = "Is the run tag missing?" if what == "no tag" else "Run tags cannot contain spaces."
        hint = f"{rest} Use {meant.decode()} as the tag?" if meant else rest
        found = len(cause.found.split())
        self._report_cause(
            cause,
            f"expected 6 columns ({' '.join(SIX_COLUMNS)}) but found {found}",
            hint,
            "tag",
            meant.decode(),
        )

    def _report_tags(self, meant: bytes) -> None:
        """Report E_TAG for each tag that is invalid, a second one, or not the one entered."""
        asked, first = self.rules.tag, b""
        for tag, line in self.tags.items():
            if b" " in tag:
                continue
            hint, fix = (f"Use {meant.decode()} as the tag?", "tag") if meant else ("", "")
            if not TAG.fullmatch(tag):
                message = TAG_RULE
            elif first:
                message = f'the run tag differs from "{first.decode()}" above; use one tag per run'
                hint = hint or "Use the same tag on every line, or upload each run as its own file."
            else:
                first = tag
                if asked is None or tag == asked.encode():
                    continue
                message = f'the run tag is not "{asked}", the tag entered with the file'
                hint = hint or "Enter the tag in the file, or leave it empty to use that tag."
            suggested = meant.decode()
            self.problems.error("E_TAG", line, message, tag, hint, fix=fix, suggested=suggested)

    def _settle_q0(self) -> None:
        cause = self._causes.get("q0")
        if cause is None:
            return
        if "q0" in self.rules.fix:
            self._warn_of_repair(cause, "the missing Q0 column was added")
            return
        found = len(cause.found.split())
        message = f"expected 6 columns ({' '.join(SIX_COLUMNS)}) but found {found}"
        self._report_cause(cause, message, "The Q0 column is missing. Add Q0?", "q0")

    def _settle_commas(self) -> None:
        cause = self._causes.get("comma")
        if cause is None:
            return
        is_certain = is_decimal_comma(self._has_other_commas, cause.count, self.count)
        if "comma" in self.rules.fix and is_certain:
            self._warn_of_repair(cause, "commas in scores were read as decimal points")
            return
        comma = cause.found.decode()
        hint = "Use a decimal point, not a comma."
        if is_certain:
            hint += f" Read {comma} as {comma.replace(',', '.')}?"
        message = "the score is not a finite decimal number"
        self._report_cause(cause, message, hint, "comma" if is_certain else "", code="E_SCORE")

    def _report_cause(
        self,
        cause: Cause,
        message: str,
        hint: str,
        fix: str,
        suggested: str = "",
        *,
        code: str = "E_COLUMNS",
    ) -> None:
        self.problems.error(
            code,
            cause.line,
            message + cause.where(self.count),
            cause.found,
            hint,
            count=cause.count,
            fix=fix,
            suggested=suggested,
        )

    def _warn_of_repair(self, cause: Cause, message: str) -> None:
        message += cause.where(self.count)
        self.problems.warn("W_REPAIRED", cause.line, message, cause.found, count=cause.count)

    def report_columns(
        self, number: int, line: bytes, columns: list[bytes], expected: tuple[str, ...]
    ) -> None:
        names = f"{len(expected)} columns ({' '.join(expected)})"
        message = f"expected {names} but found {len(columns)}"
        hint = hints.hint_for_run_columns(columns, len(expected))
        self.problems.error("E_COLUMNS", number, message, line, hint)

    def _report_unknown_document(self, number: int, docno: bytes) -> None:
        hint = ""
        self.unknown_document = self.unknown_document or docno
        if self.problems.counts["E_UNKNOWN_DOC"] < HINTED and self.rules.docnos is not None:
            hint = hints.hint_for_unknown_document(docno, self.rules.docnos)
        message = "the document is not in the collection"
        if self.rules.unknown_documents == "drop":
            self.problems.warn("W_UNKNOWN_DOC", number, message + "; it was ignored", docno, hint)
        else:
            self.problems.error("E_UNKNOWN_DOC", number, message, docno, hint)

    def _report_unknown_topics(self) -> None:
        unknown = self.unknown_topics
        known = self.by_topic.keys() - unknown.keys()
        renamed = match_known_topics(unknown, self.rules.topics, known) if unknown else {}
        share = f"unknown topics: {len(unknown):,} of {len(unknown) + len(known):,}"
        if "topics" in self.rules.fix:
            self._rename_topics(renamed)
        elif renamed:
            self._offer_topics(renamed, share, len(known))
        left = {topic: line for topic, line in unknown.items() if topic not in renamed}
        message = f"the topic is not in this track; {share}"
        found = self._hints_for_topics(left, len(known))
        for topic, hint in found.items():
            count = len(left) if len(found) == 1 else 1
            self.problems.error("E_UNKNOWN_TOPIC", left[topic], message, topic, hint, count=count)

    def _hints_for_topics(self, unknown: dict[bytes, int], known: int) -> dict[bytes, str]:
        """Return the unknown topics to report, with hints; only one if a hint explains all."""
        topics = self.rules.topics
        at_once = hints.hint_for_unknown_topics(unknown, topics, self.rules.docnos, known)
        if at_once:
            return {next(iter(unknown)): at_once}
        looked_at = list(unknown)[:HINTED] if topics is not None else []
        own = {topic: hints.hint_for_unknown_topic(topic, topics) for topic in looked_at if topics}
        otherwise = "" if known else "Is this run for other topics?"
        if otherwise and len(unknown) > 1 and not any(own.values()):
            return {next(iter(unknown)): otherwise}
        return {topic: own.get(topic) or otherwise for topic in unknown}

    def _offer_topics(self, renamed: dict[bytes, bytes], share: str, known: int) -> None:
        first, meant = next(iter(renamed.items()))
        said = hints.hint_for_unknown_topics(renamed, self.rules.topics, known=known)
        offer = f"Read {first.decode()} as {meant.decode()}"
        hint = f"{said} {offer}, and so on?" if len(renamed) > 1 else f"{offer}?"
        message = f"the topic is not in this track; {share}"
        self.problems.error(
            "E_UNKNOWN_TOPIC",
            self.unknown_topics[first],
            message,
            first,
            hint.strip(),
            count=len(renamed),
            fix="topics",
        )

    def _rename_topics(self, renamed: dict[bytes, bytes]) -> None:
        """Give rows the topics that are meant; rows of other unknown topics are dropped."""
        self.by_topic = {
            renamed.get(topic, topic): rows
            for topic, rows in self.by_topic.items()
            if topic in renamed or topic not in self.unknown_topics
        }
        if renamed:
            first, meant = next(iter(renamed.items()))
            message = f"topics were read as the track writes them: {first.decode()} as"
            message += f" {meant.decode()} ({len(renamed):,} in total)"
            line = self.unknown_topics[first]
            self.problems.warn("W_REPAIRED", line, message, first, count=len(renamed))

    def _note_unknown_documents(self) -> None:
        unknown = self.problems.counts["E_UNKNOWN_DOC"] + self.problems.counts["W_UNKNOWN_DOC"]
        if 2 * unknown > self.count and self.rules.docnos is not None:
            verb = "has an unknown document" if unknown == 1 else "have unknown documents"
            message = f"{unknown:,} of {counted(self.count, 'line')} {verb}"
            hint = hints.hint_for_other_docnos(self.unknown_document, self.rules.docnos)
            self.problems.note("W_MOSTLY_UNKNOWN", None, message, self.unknown_document, hint)

    def _report_depth(self, topic: bytes, rows: TopicLines) -> None:
        count = len(rows.places()) + rows.too_many
        self.problems.error(
            "E_DEPTH",
            rows.first_too_many,
            f"topic {topic.decode()} has {counted(count, 'document')};"
            f" the track allows {self.rules.depth:,}",
            hint="Keep only the highest-scoring documents.",
        )


def _with_point(score: bytes) -> float:
    return float(score.replace(b",", b"."))


def warn_of_tag(line: int, found: bytes, tag: bytes, problems: Problems) -> None:
    message = f"the run tag was replaced by {tag.decode()}"
    problems.warn("W_REPAIRED", line, message, found)


def report_missing_topics(answered: Set[bytes], rules: RunRules, problems: Problems) -> None:
    """Report E_MISSING_TOPIC or W_MISSING_TOPIC if a topic that counts has no document.

    Topics without judgments have no score, so they are missing only if the rules do not say which
    topics are judged. A run without a judged topic has no score at all: E_UNKNOWN_TOPIC.
    """
    topics = rules.topics if rules.judged is None else rules.judged
    if not isinstance(topics, Collection):
        return
    missing = sorted(set(topics) - answered, key=lambda topic: (len(topic), topic))
    if not missing:
        return
    if rules.judged is not None and len(missing) == len(set(topics)):
        (problem,) = refuse_other_topics(answered, missing).problems
        problems.error(problem.code, None, problem.message, hint=problem.hint)
        return
    listed = b", ".join(missing[:LISTED]).decode("utf-8", "replace")
    more = f" and {len(missing) - LISTED:,} more" if len(missing) > LISTED else ""
    kind, hint = ("topics", UNKNOWN) if rules.judged is None else ("judged topics", ZERO)
    message = f"no documents for {len(missing):,} of the {len(topics):,} {kind}: {listed}{more}"
    if rules.missing_topics == "refuse":
        problems.error("E_MISSING_TOPIC", None, message)
    else:
        problems.warn("W_MISSING_TOPIC", None, message, hint=hint)


def report_duplicates(
    topic: bytes, rows: TopicLines, retrieved: set[bytes], problems: Problems
) -> None:
    """Report E_DUP_DOC for each repeated `retrieved` document; a line of JSON may have both."""
    first_line: dict[bytes, int] = {}
    for docno, line in zip(rows.docnos, rows.lines, strict=True):
        if docno not in retrieved:
            continue
        if docno in first_line:
            report_duplicate(topic, docno, line, first_line[docno], problems)
        first_line.setdefault(docno, line)


def report_duplicate(topic: bytes, docno: bytes, line: int, first: int, problems: Problems) -> None:
    message = f"the document is already retrieved for topic {topic.decode('utf-8', 'replace')}"
    message += f" at line {first:,}"
    problems.error("E_DUP_DOC", line, message, docno, "Keep one of them.")


def warn_of_duplicate(line: int, problems: Problems) -> None:
    problems.warn("W_DUP_DOC", line, "duplicate document; its best score is kept")
