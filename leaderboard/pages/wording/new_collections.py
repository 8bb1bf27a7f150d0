"""Sentences about what a benchmark says of collections that nobody has seen yet."""

from __future__ import annotations

from evaluation.significance.units import FEWEST_TOPICS
from leaderboard.analysis.new_collections import NewCollections
from leaderboard.display.numbers import counted, percent, score
from leaderboard.pages.wording.phrases import Phrase, Sentence, join_phrases, spell_number, strong


def describe_new_collections(found: NewCollections) -> Sentence:
    """Say how many pairs of systems differ on other collections too; empty without systems."""
    if not found.says_something:
        return []
    if found.unseen is None:
        return join_phrases(_explain_missing(found), _describe_left_out(found))
    systems = len(found.board.rows)
    pairs = counted(systems * (systems - 1) // 2, "pair")
    words = f"On collections of this kind {found.unseen.apart} of {pairs} can be told apart."
    return join_phrases(words, _describe_left_out(found))


def _explain_missing(found: NewCollections) -> str:
    if found.board.no_mean:
        return "Without a mean over tracks, nothing is known about other collections on average."
    if found.num_collections < FEWEST_TOPICS:
        number = counted(found.num_collections, "collection")
        fewest = spell_number(FEWEST_TOPICS)
        return f"{number} tell nothing about others of their kind on average; that takes {fewest}."
    if found.board.tests is None:
        return "What holds on collections of this kind is not computed."
    return "Tracks are on too few collections of similar number to say anything about others."


def _describe_left_out(found: NewCollections) -> Sentence:
    firsts = [each for each in found.left_out if each.leaders != found.board.leaders]
    if not firsts:
        return join_phrases(" Whichever collection is excluded, the same system is first.")
    number = f" Without {len(firsts)} of {found.num_collections} collections another is first"
    if len(firsts) > 1:
        return join_phrases(f"{number}.")
    names = ", ".join(row.name for row in firsts[0].leaders)
    return join_phrases(
        f"{number}: ", Phrase(name=names), ", without ", Phrase(name=firsts[0].name), "."
    )


def explain_ranks(found: NewCollections) -> list[str]:
    """Say what each column of ranks claims, and what makes a mean."""
    if not found.says_something:
        return []
    lines = [
        "On these: by the mean over these tracks, all pairs of systems at once. On their kind: by"
        " the mean over all collections that these are a sample of, all pairs at once, with whole"
        f" collections as the units of the test; it takes {spell_number(FEWEST_TOPICS)}.",
        "On the next: the rank of one system, named in advance, on one more collection of the"
        f" kind, with a probability of at least {percent(found.level)}. It is not true of all"
        " systems at once; with fewer than 39 collections it cannot reach 95 %. With one excluded:"
        " the ranks that the system has when each collection is excluded in turn.",
        "All of it supposes that the collections are a fair sample of their kind.",
    ]
    parts = found.components
    if parts is not None:
        lines.append(
            f"Between systems the standard deviation is {score(parts.systems, 3)}, between"
            f" collections {score(parts.collections, 3)}, and a system on a single collection"
            f" differs from both by {score(parts.both, 3)}, the luck of its topics included."
            + (
                f" Of the differences of these means {percent(parts.dependability)} are those of"
                " the systems."
                if parts.dependability is not None
                else ""
            )
        )
    return lines


def explain_silence(found: NewCollections) -> str:
    """Say why nothing can be said."""
    if found.board.no_mean == "phases":
        return "Choose a phase: nothing is computed over phases."
    if len(found.board.rows) < 2:
        return "It takes two systems that answer every track."
    return "It takes two collections. Tracks on one collection count as one."


def describe_gaps(found: NewCollections) -> Sentence:
    """Say which systems are ahead on open collections by more than the others; empty without."""
    if not found.gaps:
        return []
    private = int(found.private.sum())
    kinds = f"{found.num_collections - private} open and {private} private collections"
    if all(each.beyond.p is None for each in found.gaps):
        return join_phrases(f"{kinds.capitalize()} are too few to test a gap.")
    told = [each.row.name for each in found.gaps if each.is_told and each.beyond.difference > 0]
    if not told:
        return join_phrases(
            f"Between {kinds} no system loses significantly more than the others do."
        )
    return join_phrases(
        strong(counted(len(told), "system loses,systems lose")),
        f" significantly more than the others from {kinds}: ",
        Phrase(name=", ".join(told)),
        ".",
    )
