"""From text to measure of answers: our names, and those of the tools."""

from __future__ import annotations

import re

from evaluation.answers.measures.declaring import ANSWER_MEASURES
from evaluation.answers.measures.value import AnswerMeasure
from evaluation.measures.declaring import MeasureError, Value
from evaluation.measures.text import loosely, read_value

FORM = re.compile(r"\s*([\w#-]+)\s*(?:\((.*)\))?\s*")
ALIASES = {
    "strict_vital": "Nuggets(of=vital,partial=0)",
    "strict_all": "Nuggets(partial=0)",
    "vital": "Nuggets(of=vital)",
    "all": "Nuggets",
    "nugget_coverage": "Nuggets(partial=0)",
    "nugget_coverage_weighted": "WNuggets",
    "supportive_score": "RubricSupport",
    "contradictory_score": "RubricContradiction",
    "weighted_precision_first_citation": "SupportP",
    "weighted_recall_first_citation": "SupportR",
    "weighted_precision_all_judged_citations": "SupportP(cites=all)",
    "weighted_recall_all_judged_citations": "SupportR(cites=all)",
    "hard_precision": "SupportP(partial=0)",
    "hard_recall": "SupportR(partial=0)",
    "citation_support": "CitationP",
    "f1": "AnswerF1",
}
# nuggetizer prints these names.
ALIASES |= {
    f"{name}_score": ALIASES[name] for name in ("strict_vital", "strict_all", "vital", "all")
}


def split_measures(text: str) -> list[str]:
    """Return the parts between commas outside of parentheses.

    >>> split_measures("all, AnswerF1(p=SupportP,r=WNuggets(partial=0)),Words")
    ['all', 'AnswerF1(p=SupportP,r=WNuggets(partial=0))', 'Words']
    """
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def parse_answer_measure(text: str) -> AnswerMeasure:
    """Return the measure of answers that a text names; raises MeasureError with what is allowed.

    >>> parse_answer_measure("f1"), parse_answer_measure("CitedP(2)")
    (AnswerF1, CitedP(rel=2))
    >>> parse_answer_measure("Nuggets(of=none)")
    Traceback (most recent call last):
    evaluation.measures.declaring.MeasureError: Nuggets(of=none): of is one of all, vital
    """
    form = FORM.fullmatch(ALIASES.get(text.strip().lower(), text))
    if form is None:
        raise MeasureError(f"{text}: a measure is written like Nuggets or SupportP(cites=all)")
    name = _known_name(form[1])
    known = {p.name: p for p in ANSWER_MEASURES[name].parameters}
    given: dict[str, Value] = {}
    for place, part in enumerate(split_measures(form[2] or "")):
        key, value = _argument(text, place, part, list(known))
        if key not in known:
            takes = ", ".join(known) or "no parameter"
            raise MeasureError(f"{text}: no parameter {key}; {name} takes {takes}")
        given[key] = read_value(text, known[key], value)
    differing = [(n, given[n]) for n in known if n in given and given[n] != known[n].default]
    return AnswerMeasure(name, tuple(differing))


def is_answer_measure(text: str) -> bool:
    """Return whether a text begins with the name of a measure of answers.

    >>> is_answer_measure("Nuggets(of=none)"), is_answer_measure("nDCG@10")
    (True, False)
    """
    form = FORM.fullmatch(ALIASES.get(text.strip().lower(), text))
    try:
        return form is not None and bool(_known_name(form[1]))
    except MeasureError:
        return False


def _argument(text: str, place: int, part: str, names: list[str]) -> tuple[str, str]:
    """Return name and value; a value alone is that of the parameter at its place."""
    name, equals, value = part.partition("=")
    if equals and "(" not in name:
        return name.strip(), value.strip().strip("'\"")
    if place >= len(names):
        raise MeasureError(f"{text}: write parameters as name=value")
    return names[place], part


def _known_name(name: str) -> str:
    for known, definition in ANSWER_MEASURES.items():
        if loosely(name) in map(loosely, (known, *definition.also)):
            return known
    raise MeasureError(f"{name}: no such measure; there are {', '.join(ANSWER_MEASURES)}")
