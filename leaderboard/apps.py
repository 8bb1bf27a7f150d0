import logging

from django.apps import AppConfig
from django.conf import settings
from django.db.models.signals import post_migrate, pre_migrate


class LeaderboardConfig(AppConfig):
    name = "leaderboard"

    def ready(self) -> None:
        # Importing it registers the checks.
        from leaderboard import safeguards  # noqa: F401
        from leaderboard.boards import staleness

        pre_migrate.connect(staleness.drop_before_migrating, sender=self)
        post_migrate.connect(staleness.install_after_migrating, sender=self)

        # A program that reads the log expects lines of JSON only.
        logging.captureWarnings(settings.LOG_FORMAT == "json")
