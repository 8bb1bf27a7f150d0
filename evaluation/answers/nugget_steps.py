"""Writing of nuggets: steps that end some nuggets of a topic and make others, and their replay.

Steps are only ever added, so every text that a nugget had stays known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from evaluation.answers.marks import PEOPLE
from evaluation.answers.nuggets import Nugget

EDITED = "edited by people"


@dataclass(frozen=True)
class NuggetStep:
    """A step on a topic: the keys of the nuggets that it ends, and the nuggets that it makes.

    One that undoes another has the number of that step.
    """

    number: int
    ended: tuple[str, ...] = ()
    made: tuple[Nugget, ...] = ()
    undoes: int | None = None


def standing_steps(steps: Iterable[NuggetStep]) -> list[NuggetStep]:
    """Return the steps that count: neither undone, nor one that undoes."""
    steps = list(steps)
    undone = {step.undoes for step in steps}
    return [step for step in steps if step.undoes is None and step.number not in undone]


def replay_steps(nuggets: Sequence[Nugget], steps: Iterable[NuggetStep]) -> tuple[Nugget, ...]:
    """Return the nuggets after these steps; what a step makes comes where it ended the first.

    >>> old = [Nugget("1", "1-1", "yeast"), Nugget("1", "1-2", "salt")]
    >>> steps = [NuggetStep(1, ("1-1",), (Nugget("1", "1-1", "wild yeast"),))]
    >>> [nugget.text for nugget in replay_steps(old, steps)]
    ['wild yeast', 'salt']
    >>> [nugget.text for nugget in replay_steps(old, [*steps, NuggetStep(2, undoes=1)])]
    ['yeast', 'salt']
    """
    current = list(nuggets)
    for step in standing_steps(steps):
        places = [place for place, nugget in enumerate(current) if nugget.key in step.ended]
        place = places[0] if places else len(current)
        current = [nugget for nugget in current if nugget.key not in step.ended]
        current[place:place] = step.made
    return tuple(current)


def revise(nugget: Nugget, text: str, importance: str, group: str | None) -> Nugget:
    """Return a nugget as a person leaves it; new words of a machine's nugget keep its own.

    >>> revise(Nugget("1", "1-1", "yeast", origin="machine x"), "wild yeast", "vital", None).origin
    'machine x, edited by people'
    """
    changed = replace(nugget, text=text, importance=importance, group=group)
    if text == nugget.text:
        return changed
    return replace(changed, origin=edited_origin([nugget]), originals=original_texts([nugget]))


def split(nugget: Nugget, texts: Sequence[str], used: Collection[str]) -> tuple[Nugget, ...]:
    """Return the parts of a nugget, which have its importance, group and documents.

    >>> [each.key for each in split(Nugget("1", "1-1", "yeast and salt"), ["yeast", "salt"], ())]
    ['1-p1', '1-p2']
    """
    parts: list[Nugget] = []
    for text in texts:
        key = next_key(nugget.topic, {*used, *(part.key for part in parts)})
        parts.append(replace(revise(nugget, text, nugget.importance, nugget.group), key=key))
    return tuple(parts)


def merge(nuggets: Sequence[Nugget], text: str, used: Collection[str]) -> Nugget:
    """Return one nugget instead of several: vital if one is, with the documents of all.

    >>> merge([Nugget("1", "a", "yeast", importance="okay")] * 2, "yeast", ()).key
    '1-p1'
    """
    first = next((nugget for nugget in nuggets if nugget.is_vital), nuggets[0])
    return replace(
        first,
        key=next_key(first.topic, used),
        text=text,
        documents=tuple(dict.fromkeys(docno for each in nuggets for docno in each.documents)),
        answers=tuple(dict.fromkeys(answer for each in nuggets for answer in each.answers)),
        origin=edited_origin(nuggets),
        originals=original_texts(nuggets),
    )


def edited_origin(nuggets: Iterable[Nugget]) -> str:
    """Return who made what people made of these nuggets."""
    origins = [nugget.origin for nugget in nuggets if nugget.origin != PEOPLE]
    if not origins:
        return PEOPLE
    made_by = origins[0].removesuffix(EDITED).removesuffix(", ")
    return f"{made_by}, {EDITED}" if made_by else EDITED


def original_texts(nuggets: Iterable[Nugget]) -> tuple[str, ...]:
    """Return the first texts of nuggets that people did not write themselves."""
    kept = (
        nugget.originals or (() if nugget.origin == PEOPLE else (nugget.text,))
        for nugget in nuggets
    )
    return tuple(dict.fromkeys(text for texts in kept for text in texts))


def next_key(topic: str, used: Collection[str]) -> str:
    """Return the first key of a nugget by people that is free."""
    number = 1
    while f"{topic}-p{number}" in used:
        number += 1
    return f"{topic}-p{number}"
