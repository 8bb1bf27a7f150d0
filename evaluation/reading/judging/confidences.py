"""How sure a judge is of a grade: a number from 0 to 1, or a probability for each grade.

Of probabilities that of the given grade counts, so judges of both kinds can be compared.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from evaluation.reading.columns import DECIMAL, WHOLE

CONFIDENCE, PROBABILITIES = "confidence", "probabilities"
RULE = "the confidence is not a number from 0 to 1, nor probabilities of grades that add up to 1"
# Probabilities are often printed with two or three digits.
TOLERANCE = 0.02


def read_confidence(token: bytes) -> float | None:
    """Return a confidence as a number; None where it is none.

    >>> read_confidence(b"0.85"), read_confidence(b"85")
    (0.85, None)
    """
    if not DECIMAL.fullmatch(token):
        return None
    value = float(token)
    return value if 0 <= value <= 1 else None


def read_probabilities(value: object) -> dict[int, float]:
    """Return the probability of each grade, of an object by grade or a list from grade 0 on.

    Empty where they are no probabilities that add up to 1.

    >>> read_probabilities({"0": 0.2, "2": 0.8}), read_probabilities([0.5, 0.5])
    ({0: 0.2, 2: 0.8}, {0: 0.5, 1: 0.5})
    >>> read_probabilities([0.5, 0.9]), read_probabilities("high")
    ({}, {})
    """
    named = dict(enumerate(value)) if isinstance(value, list) else value
    if not isinstance(named, dict):
        return {}
    found: dict[int, float] = {}
    for grade, share in named.items():
        if not _is_share(share) or not WHOLE.fullmatch(str(grade).encode()):
            return {}
        found[int(str(grade).partition(".")[0])] = float(share)
    return found if abs(sum(found.values()) - 1) <= TOLERANCE else {}


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def likeliest_grade(probabilities: Mapping[int, float]) -> int:
    """Return the grade with the highest probability, the lower of two.

    >>> likeliest_grade({0: 0.4, 1: 0.4, 2: 0.2})
    0
    """
    return min(probabilities, key=lambda grade: (-probabilities[grade], grade))


def find_confidence(parts: Mapping[str, object], grade: bytes) -> bytes:
    """Return what an object says of its grade, as a token; what is no confidence is kept as is.

    >>> find_confidence({"confidence": 0.7}, b"2"), find_confidence({"grade": 2}, b"2")
    (b'0.7', b'')
    >>> find_confidence({"probabilities": [0.1, 0.2, 0.7]}, b"2")
    b'0.7'
    """
    stated = parts.get(CONFIDENCE)
    if stated is None:
        stated = parts.get(PROBABILITIES)
        if shares := read_probabilities(stated):
            whole = WHOLE.fullmatch(grade)
            stated = shares.get(int(grade.partition(b".")[0]), 0.0) if whole else None
    return b"" if stated is None else json.dumps(stated, ensure_ascii=False).strip('"').encode()
