"""`manage.py export_activity`: print the activity log of the site as lines of JSON."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import UTC, date, datetime, time
from typing import Any

from leaderboard.analysis.activity_export import render_events
from leaderboard.management.site_command import SiteCommand
from leaderboard.models import AuditEvent


class Command(SiteCommand):
    help = "Print who did what, and when: one JSON object per line, the oldest first."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--since", type=date.fromisoformat, help="the first day (UTC), such as 2026-11-01"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        events = AuditEvent.objects.all()
        if options["since"]:
            began = datetime.combine(options["since"], time.min, UTC)
            events = events.filter(at__gte=began)
        for line in render_events(events):
            self.stdout.write(line, ending="")
