"""The activity log as lines of JSON, for archives and log collectors."""

from __future__ import annotations

import json
from collections.abc import Iterator

from leaderboard.models.activity import AuditEventQuerySet


def render_events(events: AuditEventQuerySet) -> Iterator[str]:
    """Yield a line for each act, the oldest first: who did what to which object, and when."""
    rows = events.order_by("at", "pk").values_list(
        *("pk", "at", "actor__username", "act", "target_kind", "target_id"),
        *("track__slug", "benchmark__slug", "before", "after"),
    )
    names = ("id", "at", "user", "act", "kind", "target", "track", "benchmark", "before", "after")
    for row in rows.iterator():
        values = dict(zip(names, row, strict=True))
        values["at"] = values["at"].isoformat()
        yield json.dumps(values, ensure_ascii=False) + "\n"
