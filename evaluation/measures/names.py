"""From name to measure: our own names, and trec_eval's (`map`, `P.5,10`, `official`).

`parse_measure` reads a name that stands for one measure, `parse_measures` any name.

>>> [(asked.name, asked.measure) for asked in trec_measures("ndcg_cut.10,5")]
[('ndcg_cut_5', nDCG@5), ('ndcg_cut_10', nDCG@10)]
>>> trec_measures("ndcg.1=3,2=9")[0].measure
nDCG(gains={1:3,2:9})
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from evaluation.measures.declaring import MeasureError
from evaluation.measures.text import read_measure
from evaluation.measures.value import Measure, TrecMeasure

CUTOFFS = "5,10,15,20,30,100,200,500,1000"
LEVELS = ",".join(f"{step / 10:.2f}" for step in range(11))
MULTIPLES = ",".join(f"{step / 5:.2f}" for step in range(1, 11))

PLAIN = {
    "num_q": "NumQ",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
    "num_nonrel_judged_ret": "NumNonrelRet",
    "map": "AP",
    "gm_map": "GMAP",
    "Rprec": "Rprec",
    "bpref": "Bpref",
    "gm_bpref": "GMBpref",
    "recip_rank": "RR",
    "infAP": "infAP",
    "11pt_avg": "IPrec11",
    "binG": "binG",
    "yaap": "yaap",
    "dcg": "DCG",
    "ideal_dcg": "IDCG",
    "set_P": "SetP",
    "set_recall": "SetR",
    "set_relative_P": "SetRelP",
    "set_map": "SetAP",
}
NOT_BUILT = ("runid", "relstring", "prefs_", "qrels_jg")

OFFICIAL = """
num_q num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank iprec_at_recall P
"""
ALL_TREC = """
num_q num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank iprec_at_recall P recall
infAP gm_bpref Rprec_mult utility 11pt_avg binG G ndcg ndcg_rel Rndcg ndcg_cut map_cut relative_P
success set_P set_relative_P set_recall set_map set_F num_nonrel_judged_ret rbp rbp_resid unj
"""


@dataclass(frozen=True)
class Asked:
    """A measure and the name by which it was requested."""

    name: str
    measure: Measure


@dataclass(frozen=True)
class TrecAsked(Asked):
    """A measure requested by one of trec_eval's names."""

    measure: TrecMeasure


@dataclass(frozen=True)
class Series:
    """A name of trec_eval that takes a list, with one measure per member."""

    ours: str
    default: str
    shown: str = "{}"


SERIES = {
    "P": Series("P@{}", CUTOFFS),
    "recall": Series("R@{}", CUTOFFS),
    "relative_P": Series("RCap@{}", CUTOFFS),
    "success": Series("Success@{}", "1,5,10"),
    "map_cut": Series("AP@{}", CUTOFFS),
    "ndcg_cut": Series("nDCG@{}", CUTOFFS),
    "unj": Series("Unjudged@{}", "5,10,20"),
    "iprec_at_recall": Series("IPrec@{}", LEVELS, "{:.2f}"),
    "Rprec_mult": Series("RprecMult(x={})", MULTIPLES, "{:.2f}"),
}


def _f_measure(parameter: str) -> str:
    squared = float(parameter)
    if not 0 < squared < math.inf:
        raise ValueError(parameter)
    return f"SetF(beta={math.sqrt(squared)!r})"


def _worths(parameters: str) -> str:
    if "=" in parameters:
        raise ValueError(parameters)
    return f"Utility({parameters})"


def _persistence(ours: str) -> Callable[[str], str]:
    return lambda parameter: ours.format(float(parameter.removeprefix("p=")))


def _gain_map(ours: str) -> Callable[[str], str]:
    def write(parameter: str) -> str:
        if not re.fullmatch(r"[^=,]+=[^=,]+(,[^=,]+=[^=,]+)*", parameter):
            raise ValueError(parameter)
        return f"{ours}(gains={{{parameter.replace('=', ':')}}})"

    return write


# Names of one measure with parameters: our text without and with parameters.
SINGLE: dict[str, tuple[str, Callable[[str], str]]] = {
    "set_F": ("SetF", _f_measure),
    "utility": ("Utility", _worths),
    "ndcg": ("nDCG", _gain_map("nDCG")),
    "ndcg_rel": ("nDCGRel", _gain_map("nDCGRel")),
    "Rndcg": ("Rndcg", _gain_map("Rndcg")),
    "G": ("G", _gain_map("G")),
    "rbp": ("RBP(p=0.9,gain=graded)", _persistence("RBP(p={},gain=graded)")),
    "rbp_resid": ("RBPResidual(p=0.9)", _persistence("RBPResidual(p={})")),
}
SETS = {"official": OFFICIAL.split(), "all_trec": ALL_TREC.split()}
WITH_PARAMETERS = sorted((*SERIES, *SINGLE), key=len, reverse=True)


def trec_measures(text: str) -> tuple[TrecAsked, ...]:
    """Return the measures that one of trec_eval's names means, none for other names.

    Raises MeasureError for wrong parameters of a known name, and for measures of trec_eval that
    are not built.
    """
    if text in SETS:
        return tuple(asked for name in SETS[text] for asked in trec_measures(name))
    if text in PLAIN:
        return (TrecAsked(text, _trec_measure(text, PLAIN[text])),)
    if text.startswith(NOT_BUILT):
        raise MeasureError(f"{text}: a measure of trec_eval that is not implemented here")
    for name in WITH_PARAMETERS:
        if text == name or text.startswith((name + ".", name + "_")):
            return _with_parameters(name, text, text[len(name) + 1 :])
    for name in PLAIN:
        if text.startswith(name + "."):
            raise MeasureError(f"{text}: {name} takes no parameter")
    return ()


def _with_parameters(name: str, text: str, parameters: str) -> tuple[TrecAsked, ...]:
    if text not in (name,) and not parameters:
        raise MeasureError(f"{text}: the parameters are missing")
    if name in SERIES:
        return _series(name, text, parameters)
    default, write = SINGLE[name]
    try:
        ours = write(parameters) if parameters else default
    except ValueError:
        raise MeasureError(f"{text}: {parameters} are not parameters of {name}") from None
    return (
        TrecAsked(
            f"{name}_{parameters}" if parameters else name, _trec_measure(text, ours, parameters)
        ),
    )


def _series(name: str, text: str, parameters: str) -> tuple[TrecAsked, ...]:
    series = SERIES[name]
    measures: dict[float, TrecAsked] = {}
    for member in (parameters or series.default).split(","):
        measure = _trec_measure(text, series.ours.format(member))
        key = float(member)
        if key in measures:
            raise MeasureError(f"{text}: {member} is given twice")
        shown = f"{key:.2f}" if series.shown == "{:.2f}" else member
        measures[key] = TrecAsked(f"{name}_{shown}", measure)
    return tuple(measures[key] for key in sorted(measures))


def _trec_measure(text: str, ours: str, written: str = "") -> TrecMeasure:
    """Return trec_eval's form of the measure that we write as `ours`."""
    try:
        measure = read_measure(ours)
    except MeasureError as error:
        raise MeasureError(f"{text}: {str(error).partition(': ')[2]}") from None
    return TrecMeasure(measure.name, measure.given, measure.at, written)


def parse_measure(text: str) -> Measure:
    """Return the measure of ours that a text names: `AP`, `nDCG@10`, `map_cut_100`.

    Raises MeasureError, which says what is allowed.
    """
    found = trec_measures(text)
    if len(found) > 1 and not text.isidentifier():
        raise MeasureError(f"{text}: names {len(found)} measures; name one")
    return found[0].measure.ours if len(found) == 1 else read_measure(text)


def parse_measures(text: str) -> tuple[Asked, ...]:
    """Return all measures that a text requests, each with the name to print.

    >>> [asked.name for asked in parse_measures("P.5,10") + parse_measures("AP(rel=2)")]
    ['P_5', 'P_10', 'AP(rel=2)']
    """
    return trec_measures(text) or (Asked(text.strip(), read_measure(text)),)
