"""What a machine said beside its grades or marks, topic by topic."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import Http404

from evaluation.reading.judging.machine_replies import MachineReply
from leaderboard.collections.machine_replies import (
    Judged,
    find_replies,
    load_replies,
    without_prompt,
)
from leaderboard.models import JudgmentSet, MachineReplies


@dataclass(frozen=True)
class FoundReplies:
    """The replies of a machine on one topic; `topics` are those with any, in their order."""

    judged: Judged
    topics: list[MachineReplies]
    current: MachineReplies
    replies: list[MachineReply]

    @property
    def total(self) -> int:
        return sum(row.num_replies for row in self.topics)

    @property
    def is_of_documents(self) -> bool:
        return isinstance(self.judged, JudgmentSet)

    @property
    def cost(self) -> float | None:
        """What the replies of this topic cost together, where the file says so."""
        costs = [reply.cost for reply in self.replies if reply.cost is not None]
        return sum(costs) if costs else None


def find_machine_replies(
    judged: Judged, number: str, item: str, shows_prompts: bool
) -> FoundReplies:
    """Return the replies on a topic, the first by default, or those about one item of it.

    Raises Http404 where nothing is kept.
    """
    topics = list(find_replies(judged).defer("packed"))
    current = next((row for row in topics if row.topic.number == number), None)
    if not topics or (number and current is None):
        raise Http404("no replies to see")
    current = current or topics[0]
    replies = [
        reply if shows_prompts else without_prompt(reply)
        for reply in load_replies(judged, current.topic)
        if item in ("", reply.item)
    ]
    return FoundReplies(judged, topics, current, replies)
