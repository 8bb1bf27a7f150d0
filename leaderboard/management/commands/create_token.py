"""`manage.py create_token USER`: create an API token for scripts."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.db import transaction

from leaderboard.management.migrating import migrate_first
from leaderboard.management.site_command import SiteCommand
from leaderboard.models import ApiToken, User


class Command(SiteCommand):
    help = "Create an API token for a user and print it once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", help="created without a password if it does not exist")
        parser.add_argument(
            "--organiser",
            action="store_true",
            help="let the user and token add collections and open tracks",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        migrate_first()
        self.stdout.write(self.secret(options))

    @transaction.atomic
    def secret(self, options: dict[str, Any]) -> str:
        user = User.objects.filter(username=options["user"]).first() or self.new(options["user"])
        scopes = ["read", "submit"]
        if options["organiser"]:
            User.objects.filter(pk=user.pk).update(can_organise=True)
            scopes.append("organise")
        _, secret = ApiToken.objects.issue(user, scopes, name="create_token")
        return secret

    def new(self, name: str) -> User:
        user = User(username=name)
        user.set_unusable_password()
        try:
            user.full_clean()
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from None
        user.save()
        return user
