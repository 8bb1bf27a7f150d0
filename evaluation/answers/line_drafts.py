"""Drafts of the two dialects that are not JSON: R2C2, and ranked questions."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator

from evaluation.answers.drafts import Draft, DraftSentence, Pointer
from evaluation.answers.findings import Findings
from evaluation.answers.rules import AnswerRules
from evaluation.answers.runs import QuotedNugget
from evaluation.reading.lines import text_of

Lines = Iterable[tuple[int, bytes]]

START, END = re.compile(r"<([^<>\s/]+)>"), re.compile(r"</([^<>\s]+)>")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
WHOLE = re.compile(r"\d{1,9}")


def r2c2_drafts(lines: Lines, rules: AnswerRules, findings: Findings) -> Iterator[Draft]:
    """Yield the answers between `<ID>` and `</ID>`: text and confidence, then nuggets.

    The confidence is behind the last semicolon, since texts contain semicolons.
    """
    draft: Draft | None = None
    for number, line in lines:
        text = text_of(number, line, findings)
        if text is None or not text.strip():
            continue
        start, end = START.fullmatch(text.strip()), END.fullmatch(text.strip())
        if (start or end) and draft is not None:
            if start or (end and end[1] != draft.topic):
                message = f"the answer to {draft.topic} has no end </{draft.topic}>"
                findings.error("E_FORMAT", draft.line, message, topic=draft.topic)
            yield draft
            draft = None
        if start:
            draft = Draft(number, start[1], dialect="r2c2")
        elif draft is None and not end:
            findings.error("E_FORMAT", number, "the line is outside of any answer", line)
        elif draft is not None and not draft.sentences:
            _read_answer(draft, number, text, rules, findings)
        elif draft is not None:
            _read_nugget(draft, number, text, rules, findings)
    if draft is not None:
        message = f"the answer to {draft.topic} has no end </{draft.topic}>"
        findings.error("E_FORMAT", draft.line, message, topic=draft.topic)
        yield draft


def _read_answer(
    draft: Draft, number: int, line: str, rules: AnswerRules, findings: Findings
) -> None:
    text, separator, confidence = line.rpartition(";")
    stated = confidence.strip()
    if NUMBER.fullmatch(stated) and math.isfinite(float(stated)):
        draft.confidence = float(stated)
    elif rules.confidence != "none":
        message = f'topic {draft.topic}: the confidence "{stated[:40]}" is not a number'
        findings.error("E_CONFIDENCE", number, message, topic=draft.topic)
    draft.sentences = [DraftSentence(text if separator else line)]


def _read_nugget(
    draft: Draft, number: int, line: str, rules: AnswerRules, findings: Findings
) -> None:
    columns = line.split(";", 3)
    if len(columns) < 4 or not WHOLE.fullmatch(columns[2].strip()):
        message = "a nugget is written as number;run;rank;text"
        findings.error("E_COLUMNS", number, message, line, topic=draft.topic)
        return
    quoted = QuotedNugget(columns[3], columns[1].strip(), int(columns[2]))
    draft.quoted.append(quoted)
    docno = rules.passages.get((draft.topic, quoted.rank))
    if docno is not None:
        draft.sentences[0].citations.append(Pointer(docno))
    elif rules.passages:
        message = f"the run of passages has no rank {quoted.rank} for topic {draft.topic}"
        findings.error("E_UNRESOLVED", number, message, topic=draft.topic, sentence=1)


def read_passages(lines: Lines, findings: Findings) -> dict[tuple[str, int], str]:
    """Return the docno of each topic and rank of a run of passages: `topic;rank;docno;text`.

    >>> read_passages([(1, b"D001;1;docA;lakes; and ponds")], Findings())
    {('D001', 1): 'docA'}
    """
    found: dict[tuple[str, int], str] = {}
    for number, line in lines:
        columns = (text_of(number, line, findings) or "").split(";", 3)
        if len(columns) == 4 and WHOLE.fullmatch(columns[1].strip()):
            found[columns[0].strip(), int(columns[1])] = columns[2].strip()
        elif line.strip():
            findings.error("E_COLUMNS", number, "a passage is topic;rank;docno;text", line)
    return found


def question_drafts(lines: Lines, findings: Findings) -> Iterator[Draft]:
    """Yield the questions to each topic by rank, as its sentences."""
    drafts: dict[str, Draft] = {}
    ranks: dict[str, dict[int, str]] = {}
    for number, line in lines:
        text = text_of(number, line, findings)
        if text is None or not text.strip():
            continue
        columns = text.split("\t")
        if len(columns) != 5 or not WHOLE.fullmatch(columns[3].strip()):
            message = "a question is topic, team, run, rank and text, separated by tabs"
            findings.error("E_COLUMNS", number, message, line)
            continue
        topic, team, run, rank, question = (column.strip() for column in columns)
        draft = Draft(number, topic, run, "questions", extra={"team_id": team})
        drafts.setdefault(topic, draft)
        if run != drafts[topic].run:
            message = f"the run is called {run} here and {drafts[topic].run} before"
            findings.error("E_TAG", number, message, fix="tag")
        if int(rank) in ranks.setdefault(topic, {}):
            message = f"topic {topic} has rank {rank} twice"
            findings.error("E_RANK", number, message, topic=topic)
        ranks[topic][int(rank)] = question
    for topic, draft in drafts.items():
        draft.sentences = [DraftSentence(text) for _, text in sorted(ranks[topic].items())]
        yield draft
