"""Changes between two versions of nuggets: which are new, gone, or said in other words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from evaluation.answers.nuggets import Nugget, NuggetBank


@dataclass(frozen=True, slots=True)
class KeptNugget:
    """One nugget as both versions have it, and its place in the first, from 0."""

    old: Nugget
    new: Nugget
    old_place: int

    @property
    def is_reworded(self) -> bool:
        return _plain(self.old) != _plain(self.new)

    @property
    def is_reweighed(self) -> bool:
        before, after = (
            (nugget.importance, nugget.weight, nugget.group) for nugget in (self.old, self.new)
        )
        return before != after


@dataclass(frozen=True)
class BankChanges:
    """What happened to the nuggets of one version in another, topic by topic."""

    added: Sequence[Nugget]
    removed: Sequence[Nugget]
    kept: Mapping[str, Sequence[KeptNugget]]

    @cached_property
    def reworded(self) -> list[KeptNugget]:
        return [each for each in self._every if each.is_reworded]

    @cached_property
    def reweighed(self) -> list[KeptNugget]:
        return [each for each in self._every if each.is_reweighed]

    @property
    def num_same(self) -> int:
        """How many nuggets have the same words and count for as much."""
        return sum(not (each.is_reworded or each.is_reweighed) for each in self._every)

    @property
    def is_empty(self) -> bool:
        return not (self.added or self.removed or self.reworded or self.reweighed)

    @property
    def _every(self) -> Iterator[KeptNugget]:
        return (each for of_topic in self.kept.values() for each in of_topic)


def compare_banks(old: NuggetBank, new: NuggetBank) -> BankChanges:
    """Match the nuggets of two versions, first by their words and then by their keys.

    Words come first because many tools number nuggets by their place, so a key may name another
    nugget after one was put in before it.

    >>> from evaluation.problems import Problems
    >>> def bank(*texts: str) -> NuggetBank:
    ...     nuggets = tuple(Nugget("1", str(n), text) for n, text in enumerate(texts, 1))
    ...     return NuggetBank({"1": nuggets}, "", Problems())
    >>> changes = compare_banks(bank("yeast", "a day"), bank("Yeast", "salt", "two days"))
    >>> [nugget.text for nugget in changes.added], changes.num_same
    (['two days'], 1)
    >>> [(each.old.text, each.new.text) for each in changes.reworded]
    [('a day', 'salt')]
    """
    added: list[Nugget] = []
    removed: list[Nugget] = []
    kept: dict[str, list[KeptNugget]] = {}
    for topic in dict.fromkeys([*old.topics, *new.topics]):
        before, after = old.topics.get(topic, ()), new.topics.get(topic, ())
        places = _match(before, after)
        kept[topic] = [
            KeptNugget(before[was], after[now], was) for was, now in sorted(places.items())
        ]
        removed += [nugget for place, nugget in enumerate(before) if place not in places]
        found = set(places.values())
        added += [nugget for place, nugget in enumerate(after) if place not in found]
    return BankChanges(added, removed, kept)


def _match(before: Sequence[Nugget], after: Sequence[Nugget]) -> dict[int, int]:
    """Return the new place of each old place that has one."""
    places: dict[int, int] = {}
    by_words: dict[tuple[str, str], list[int]] = {}
    for place, nugget in enumerate(after):
        by_words.setdefault(_plain(nugget), []).append(place)
    for place, nugget in enumerate(before):
        if equal := by_words.get(_plain(nugget)):
            places[place] = equal.pop(0)
    found = set(places.values())
    by_key = {nugget.key: place for place, nugget in enumerate(after) if place not in found}
    for place, nugget in enumerate(before):
        if place not in places and nugget.key in by_key:
            places[place] = by_key.pop(nugget.key)
    return places


def _plain(nugget: Nugget) -> tuple[str, str]:
    """Return the words of a nugget, and those of its question, without case and spacing."""
    return " ".join(nugget.text.split()).casefold(), " ".join(nugget.question.split()).casefold()
