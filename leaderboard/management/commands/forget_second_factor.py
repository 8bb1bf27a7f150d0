"""`manage.py forget_second_factor`: remove a second factor whose phone and codes are lost."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from leaderboard.actions.accounts import forget_second_factor
from leaderboard.actions.refusals import ActionError
from leaderboard.management.site_command import SiteCommand
from leaderboard.models import User


class Command(SiteCommand):
    help = "Remove a user's second factor, so they sign in with the password only."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", help="the name of the account")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["user"]).first()
        if user is None:
            raise CommandError(f"No such account: {options['user']}.")
        try:
            forget_second_factor(user, None)
        except ActionError as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(f"{user} now signs in with the password only.")
