from django.apps import AppConfig


class LeaderboardConfig(AppConfig):
    name = "leaderboard"

    def ready(self) -> None:
        # Importing it registers the checks.
        from leaderboard import safeguards  # noqa: F401
