"""Documents on which assessors differ: who gave which grade, why, and by which passages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from leaderboard.assessments.kinds import title_items
from leaderboard.assessments.progress import Dispute, find_disputes
from leaderboard.models import Assessment, AssignedDocument, Mark, Topic


@dataclass(frozen=True)
class Given:
    """The grade of one assessor for a document, under the pseudonym."""

    assessor: str
    turn: int
    mark: Mark


@dataclass(frozen=True)
class Disagreement:
    """A document with the grades that assessors gave, first opinion first."""

    topic: Topic
    docno: str
    title: str
    given: list[Given]

    @property
    def remarks(self) -> list[Given]:
        """The opinions that come with a remark."""
        return [each for each in self.given if each.mark.rationale]


@dataclass(frozen=True)
class Passage:
    """A piece of a text with the pseudonyms of those who marked it; mostly no one."""

    text: str
    assessors: tuple[str, ...] = ()


def load_disagreements(assessment: Assessment, disputes: Sequence[Dispute]) -> list[Disagreement]:
    """Return disputes with topics, titles and grades, in the same order."""
    topics = Topic.objects.in_bulk({each.topic for each in disputes})
    named = [(topics[each.topic], each.docno) for each in disputes]
    titles = title_items(assessment.pool, named)
    given = _load_given(assessment, disputes)
    return [
        Disagreement(
            topic=topics[each.topic],
            docno=each.docno,
            title=titles[each.topic, each.docno],
            given=given[each.topic, each.docno],
        )
        for each in disputes
    ]


def _load_given(
    assessment: Assessment, disputes: Sequence[Dispute]
) -> dict[tuple[int, str], list[Given]]:
    judged = AssignedDocument.objects.of(assessment).graded()
    disputed = judged.filter(
        assignment__topic__in={each.topic for each in disputes},
        docno__in={each.docno for each in disputes},
    )
    found: dict[tuple[int, str], list[Given]] = defaultdict(list)
    for document in disputed.select_related("mark", "assignment__assessor").order_by(
        "assignment__turn", "assignment__pk"
    ):
        own = document.assignment
        found[own.topic_id, document.docno].append(
            Given(own.assessor.name, own.turn, document.mark)
        )
    return found


def find_disagreement(assessment: Assessment, topic: Topic, docno: str) -> Disagreement | None:
    """Return one document with more than one grade, also if it is settled already."""
    asked = Dispute(topic.pk, docno, 0, 0)
    found = load_disagreements(assessment, [asked])[0]
    return found if len(found.given) > 1 else None


def next_dispute(assessment: Assessment) -> Dispute | None:
    """Return the widest dispute that is left."""
    return next(iter(find_disputes(assessment)), None)


def mark_passages(text: str, given: Iterable[Given]) -> list[Passage]:
    """Cut a text where the marked passages of assessors begin and end.

    Passages are positions of characters in the text of a document.
    """
    spans = [(*span, each.assessor) for each in given for span in each.mark.spans]
    return list(cut_passages(text, [(start, end, name) for start, end, name in spans]))


def cut_passages(text: str, spans: Sequence[tuple[int, int, str]]) -> Iterator[Passage]:
    """Yield the pieces of a text in order, with the names of those whose spans cover them.

    >>> list(cut_passages("abcd", [(1, 3, "A1"), (2, 9, "A2")]))[1:3]
    [Passage(text='b', assessors=('A1',)), Passage(text='c', assessors=('A1', 'A2'))]
    """
    within = [(min(start, len(text)), min(end, len(text)), name) for start, end, name in spans]
    edges = sorted({0, len(text), *(at for span in within for at in span[:2])})
    for start, end in pairwise(edges):
        names = sorted({name for first, last, name in within if first <= start and end <= last})
        yield Passage(text[start:end], tuple(names))
