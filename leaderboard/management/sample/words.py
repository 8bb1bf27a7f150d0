"""From text to words: small letters, no stop words, and Porter's stems.

>>> words("The lenses were turning, and ships' crews counted flashes.")
['lens', 'turn', 'ship', 'crew', 'count', 'flash']
>>> words("The lenses were turning.", stemming=False)
['lenses', 'turning']

Source of the stemmer: M. F. Porter, "An algorithm for suffix stripping", Program 14 (1980) 130-137.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

_STOP = """
    a about above after again against all also am an and any are as at be because been before
    being below between both but by can could did do does doing done down during each either else
    ever every few for from had has have having he her here hers him his how i if in into is it its
    itself just like made make many may me might more most much must my neither no nor not now of
    off on once one only or other our out over own per same she should since so some such than that
    the their them then there these they this those though through to too under until up upon us
    very was we well were what when where whether which while who whom whose why will with within
    without would yet you your"""
STOP_WORDS = frozenset(_STOP.split())

STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize",
    "abli": "able", "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize",
    "ation": "ate", "ator": "ate", "alism": "al", "iveness": "ive", "fulness": "ful",
    "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
}  # fmt: skip
STEP_3 = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
_GONE = "al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize"
STEP_4 = dict.fromkeys(_GONE.split(), "")


def words(text: str, stemming: bool = True) -> list[str]:
    """The words of `text` in order, without accents and stop words.

    >>> words("Kõpu's tower")
    ['kopu', 'tower']
    """
    plain = unicodedata.normalize("NFKD", text.lower().replace("’", "'"))
    plain = re.sub(r"'s\b|[\u0300-\u036f]", "", plain)
    kept = [word for word in re.findall(r"[a-z0-9]+", plain) if word not in STOP_WORDS]
    return [stem(word) for word in kept] if stemming else kept


@cache
def stem(word: str) -> str:
    """Porter's stem of one word in small letters.

    >>> [stem(word) for word in "ponies agreed hopping filing relational adoption tides".split()]
    ['poni', 'agre', 'hop', 'file', 'relat', 'adopt', 'tide']
    """
    if len(word) <= 2:
        return word
    word = _step_1c(_step_1b(_step_1a(word)))
    word = _replaced(word, STEP_2, longer_than=0)
    word = _replaced(word, STEP_3, longer_than=0)
    word = _replaced(word, STEP_4, longer_than=1)
    return _step_5(word)


def _shape(word: str) -> str:
    """The word as c for consonants and v for vowels; y is a vowel after a consonant.

    >>> _shape("syzygy"), _shape("toy")
    ('cvcvcv', 'cvc')
    """
    shape = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    """Porter's m: how often a vowel is followed by a consonant.

    >>> [_measure(word) for word in ("tree", "trouble", "private")]
    [0, 1, 2]
    """
    return _shape(word).count("vc")


def _ends_short(word: str) -> bool:
    """Whether the word ends consonant, vowel, consonant (not w, x, y), as in "hop"."""
    return _shape(word).endswith("cvc") and word[-1] not in "wxy"


def _replaced(word: str, endings: dict[str, str], longer_than: int) -> str:
    """The word with its longest known ending replaced, if what is left has a measure > m."""
    known = [ending for ending in endings if word.endswith(ending)]
    if not known:
        return word
    ending = max(known, key=len)
    left = word[: -len(ending)]
    if ending == "ion" and not left.endswith(("s", "t")):
        return word
    return left + endings[ending] if _measure(left) > longer_than else word


def _step_1a(word: str) -> str:
    """Plurals: ponies, caresses, cats."""
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _step_1b(word: str) -> str:
    """Past and present participles: agreed, plastered, motoring."""
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        left = word.removesuffix(ending)
        if left != word:
            return _restored(left) if "v" in _shape(left) else word
    return word


def _restored(left: str) -> str:
    """Restore the word that a participle leaves: conflat(e), hop(p), fil(e)."""
    if left.endswith(("at", "bl", "iz")):
        return left + "e"
    if _shape(left)[-2:] == "cc" and left[-1] == left[-2] and left[-1] not in "lsz":
        return left[:-1]
    return left + "e" if _measure(left) == 1 and _ends_short(left) else left


def _step_1c(word: str) -> str:
    """A last y after a vowel in the stem: happy, but not sky."""
    return word[:-1] + "i" if word.endswith("y") and "v" in _shape(word[:-1]) else word


def _step_5(word: str) -> str:
    """A last e, and one l of two."""
    if word.endswith("e"):
        left = word[:-1]
        if _measure(left) > 1 or (_measure(left) == 1 and not _ends_short(left)):
            word = left
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word
