"""Rankfield: leaderboards for ranked retrieval."""

from leaderboard.celery import app as celery_app

__all__ = ["celery_app"]
