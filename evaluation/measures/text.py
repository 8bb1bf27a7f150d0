"""From text to measure: our own names, those of ir_measures and those of tutorials.

>>> read_measure("MRR@10"), read_measure("nDCG(dcg='exp-log2')@5")
(RR@10, nDCG(gain=exp)@5)
>>> read_measure("nDCG@0")
Traceback (most recent call last):
evaluation.measures.declaring.MeasureError: nDCG@0: k is an integer of at least 1
"""

from __future__ import annotations

import re

from evaluation.measures.declaring import (
    MEASURES,
    Definition,
    MeasureError,
    Parameter,
    Value,
)
from evaluation.measures.value import Measure

FORM = re.compile(r"\s*(?P<name>[\w#-]+)\s*(?:\((?P<inside>.*)\))?\s*(?:@\s*(?P<at>[^@()\s]+))?\s*")

# Parameters of other tools, and the same parameters of ours.
TRANSLATED = {
    ("dcg", "log2"): ("gain", "linear"),
    ("dcg", "exp-log2"): ("gain", "exp"),
    ("judged_only", "True"): ("holes", "condensed"),
    ("judged_only", "False"): ("holes", "nonrelevant"),
}
# Names of the F-measure with given parameters.
PRESET = {"f1": {"beta": "1"}, "f2": {"beta": "2"}}


def read_measure(text: str) -> Measure:
    """Return the measure that a text names, unless the name is one of trec_eval's.

    Raises MeasureError, which says what is allowed.
    """
    form = FORM.fullmatch(text)
    if form is None:
        raise MeasureError(f"{text}: a measure is written like AP, nDCG@10 or RBP(p=0.8)")
    name, preset = _known_name(form["name"], form["at"] is not None)
    definition = MEASURES[name]
    given = preset | _arguments(text, definition, form["inside"] or "")
    if definition.name == "SetP" and given.pop("relative", "False") == "True":
        definition = MEASURES["SetRelP"]
    if definition.name == "NumRet" and "rel" in given:
        definition = MEASURES["NumRelRet"]
    at = given.pop("cutoff", None) or given.pop("recall", None) or form["at"]
    return build_measure(text, definition, given, at)


def build_measure(
    text: str, definition: Definition, given: dict[str, str], at: str | None
) -> Measure:
    """Return the measure with these parameter texts, after checking each."""
    known = {p.name: p for p in definition.parameters}
    if unknown := [name for name in given if name not in known]:
        takes = ", ".join(known)
        raise MeasureError(f"{text}: no parameter {unknown[0]}; {definition.name} takes {takes}")
    if missing := [p for p in definition.parameters if p.required and p.name not in given]:
        raise MeasureError(f"{text}: {missing[0].name} is missing, {missing[0].allowed}")
    values = {name: read_value(text, known[name], given[name]) for name in known if name in given}
    cutoff = _cutoff(text, definition, at)
    if definition.check is not None:
        definition.check(values if cutoff is None else {**values, "k": cutoff})
    differing = ((name, value) for name, value in values.items() if value != known[name].default)
    return Measure(definition.name, tuple(differing), cutoff)


def _cutoff(text: str, definition: Definition, at: str | None) -> int | float | None:
    if definition.at is None and at is not None:
        raise MeasureError(f"{text}: {definition.name} takes no value after @")
    if definition.at is None or (at is None and not definition.at.required):
        return None
    if at is None:
        raise MeasureError(
            f"{text}: write {definition.name}@{definition.at.name}, {definition.at.allowed}"
        )
    value = read_value(text, definition.at, at)
    assert isinstance(value, int | float)
    return value


def read_value(text: str, parameter: Parameter, given: str) -> Value:
    """Return the value of a parameter; raises MeasureError with what is allowed."""
    try:
        return parameter.read(given)
    except ValueError:
        raise MeasureError(f"{text}: {parameter.name} is {parameter.allowed}") from None


def loosely(name: str) -> str:
    """Return a name without case, hyphens and underscores: R_cap, r-cap and RCap are equal.

    >>> loosely("AUC-ROC")
    'aucroc'
    """
    return re.sub("[-_]", "", name).lower()


def _known_name(name: str, has_cutoff: bool) -> tuple[str, dict[str, str]]:
    if name in MEASURES:
        return name, {}
    if name.lower() in PRESET:
        return "F" if has_cutoff else "SetF", dict(PRESET[name.lower()])
    meant = [d for d in MEASURES.values() if loosely(name) in map(loosely, (d.name, *d.also))]
    # Precision means P@k with a cutoff and SetP without.
    meant.sort(key=lambda definition: (definition.at is not None) != has_cutoff)
    if not meant:
        raise MeasureError(f"{name}: no such measure; there are {', '.join(MEASURES)}")
    return meant[0].name, {}


def _arguments(text: str, definition: Definition, inside: str) -> dict[str, str]:
    given: dict[str, str] = {}
    own = [p.name for p in definition.parameters if p.name not in ("rel", "holes")]
    # A comma inside braces belongs to a gain map.
    parts = re.split(r",(?![^{]*\})", inside) if inside.strip() else []
    for place, part in enumerate(parts):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            if place >= len(own):
                raise MeasureError(f"{text}: write parameters as name=value")
            name, value = own[place], name
        value = value.strip("'\"")
        name, value = TRANSLATED.get((name, value), (name, value))
        if name in given:
            raise MeasureError(f"{text}: {name} is given twice")
        given[name] = value.replace(" ", "")
    return given
