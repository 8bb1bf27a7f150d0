"""Labels of assignments and of support, as people, machines and tools write them.

>>> [read_assignment(text) for text in ("Partial Support", "not_support", "failed", "maybe")]
[1, 0, 255, None]
>>> [read_support_label(text) for text in ("FS", "1", "-2", "-1", "Not relevant")]
[2, 1, 3, 255, 0]
"""

from __future__ import annotations

import re

NONE, PARTIAL, SUPPORT, CONTRADICTS, UNJUDGED = 0, 1, 2, 3, 255
NAMES = {
    NONE: "none",
    PARTIAL: "partial",
    SUPPORT: "support",
    CONTRADICTS: "contradicts",
    UNJUDGED: "unjudged",
}
_SHARED = {
    SUPPORT: "fs support supports supported full fullsupport fullsupports yes true",
    PARTIAL: "ps partial partialsupport partialsupports partially partialsupported similar half",
    NONE: "ns none no nosupport notsupport notsupported false neutral notrelevant irrelevant",
    CONTRADICTS: "cs contradicts contradict contradicted contradiction contradictory",
    UNJUDGED: "failed unjudged cannot cannotbejudged notjudged",
}
_ASSIGNMENTS = {SUPPORT: "1 1.0", PARTIAL: "0.5 .5", NONE: "0 0.0", CONTRADICTS: "", UNJUDGED: "-1"}
_SUPPORT = {SUPPORT: "2", PARTIAL: "1", NONE: "0", CONTRADICTS: "-2", UNJUDGED: "-1"}
# How similar a run's question is to one of a rubric.
_QUESTIONS = {SUPPORT: "verysimilar", PARTIAL: "similar", NONE: "different verydifferent"}


def _table(*parts: dict[int, str]) -> dict[str, int]:
    return {word: code for part in parts for code, words in part.items() for word in words.split()}


ASSIGNMENTS, SUPPORTS = _table(_SHARED, _ASSIGNMENTS), _table(_SHARED, _SUPPORT)
QUESTIONS = _table(_QUESTIONS)
FITTING = "support, partial, none, contradicts; FS, PS, NS, CS; yes, no; numbers"


def plain_label(text: object) -> str:
    """Return a label without case, blanks, hyphens and underscores; numbers as they are."""
    words = str(text).strip().lower()
    return words if re.fullmatch(r"-?[\d.]+", words) else re.sub(r"[\s_-]", "", words)


def read_assignment(text: object) -> int | None:
    """Return the code of an assignment; None where the label fits nothing."""
    return ASSIGNMENTS.get(plain_label(text))


def read_support_label(text: object) -> int | None:
    """Return the code of a support mark; None where the label fits nothing."""
    return SUPPORTS.get(plain_label(text))
