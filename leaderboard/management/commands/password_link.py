"""`manage.py password_link`: let a user set a new password where the site sends no email."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from leaderboard.actions.accounts import create_password_link
from leaderboard.actions.refusals import ActionError
from leaderboard.management.site_command import SiteCommand
from leaderboard.models import User


class Command(SiteCommand):
    help = "Print a link with which a user sets a new password; it works once, for three days."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", help="the name of the account")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["user"]).first()
        if user is None:
            raise CommandError(f"No such account: {options['user']}.")
        try:
            self.stdout.write(f"{settings.SITE_URL}{create_password_link(user, None)}")
        except ActionError as refusal:
            raise CommandError(str(refusal)) from refusal
