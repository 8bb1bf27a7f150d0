"""The texts in an object of JSON, by name, also of objects and lists within."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

ENGLISH = ("en", "eng", "english")
LANGUAGE = ("lang", "language")
# The name of a text that is an object because it also has, say, a source.
VALUE = ("value", "raw", "#text", "$t")
DEEPEST = 5


def texts_by_name(value: Mapping[str, object], deepest: int = DEEPEST) -> dict[str, str]:
    """Return the strings and whole numbers of an object; a list of strings is a text.

    A text of an object within has its own name; one further out has precedence, and texts of
    equals are paragraphs. Of a text in several languages, English or the first is taken.

    >>> texts_by_name({"_id": 7, "_source": {"title": "Lock", "text": ["Of brick.", "Of wood."]}})
    {'_id': '7', 'title': 'Lock', 'text': 'Of brick.\\nOf wood.'}
    >>> texts_by_name({"id": "0", "narratives": {"fas": "-", "eng": "Only reports."}})
    {'id': '0', 'narratives': 'Only reports.'}
    """
    texts: dict[str, str] = {}
    within: dict[str, list[str]] = {}
    for name, part in value.items():
        text = text_of_part(part)
        if text:
            texts[name] = text
        for inner in _objects_in(part) if deepest else ():
            for below, text in texts_by_name(inner, deepest - 1).items():
                within.setdefault(below, []).append(text)
    joined = {name: "\n".join(paragraphs) for name, paragraphs in within.items()}
    return texts | {name: text for name, text in joined.items() if name not in texts}


def text_of_part(part: object) -> str:
    """Return a string, a whole number, strings as paragraphs, or the text that an object is for."""
    if isinstance(part, list) and all(isinstance(value, str) for value in part):
        return "\n".join(part)
    if isinstance(part, dict):
        texts = (part.get(name) for name in (*ENGLISH, *VALUE))
        return next((text for text in texts if isinstance(text, str)), "")
    whole_number = isinstance(part, int) and not isinstance(part, bool)
    return str(part) if isinstance(part, str) or whole_number else ""


def _objects_in(part: object) -> Sequence[Mapping[str, object]]:
    """Return the objects to read: one, all of a list, or the one of a list in English."""
    if isinstance(part, dict):
        return [] if text_of_part(part) else [part]
    objects = [each for each in part if isinstance(each, dict)] if isinstance(part, list) else []
    languages = [next((each[name] for name in LANGUAGE if name in each), None) for each in objects]
    if None in languages:
        return objects
    at = next((at for at, language in enumerate(languages) if language in ENGLISH), 0)
    return objects[at : at + 1]
