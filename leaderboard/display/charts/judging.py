"""How much of a topic an assessor has judged, as a short bar."""

from __future__ import annotations

from django.utils.safestring import SafeString, mark_safe

from leaderboard.display.charts.drawing import coord
from leaderboard.display.numbers import count


def judged_bar(done: int, every: int, turn: int = 1) -> SafeString:
    """Return a bar of the documents that are done; that of a second opinion is hatched."""
    kind = "second" if turn > 1 else "first"
    ends = "finished" if done >= every else "going"
    words = f"{'second' if turn > 1 else 'first'} opinion, {count(done)} of {count(every)}"
    filled = f'<rect class="done" width="{coord(100 * done / max(every, 1))}%" height="7"/>'
    return mark_safe(
        f'<svg class="judged {kind} {ends}" role="img"><title>{words}</title>'
        f'<rect class="every" width="100%" height="7"/>{filled if done else ""}</svg>'
    )
