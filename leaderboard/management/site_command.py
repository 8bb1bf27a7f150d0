"""What the commands of this site share."""

from __future__ import annotations

from typing import ClassVar

from django.core.checks import Tags
from django.core.management.base import BaseCommand


class SiteCommand(BaseCommand):
    """A command that checks the settings before it begins.

    Django's other checks import every page and the API, which takes longer than most commands.
    `manage.py check` makes them.
    """

    requires_system_checks: ClassVar[list[str]] = [Tags.security]
