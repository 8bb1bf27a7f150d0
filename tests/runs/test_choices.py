"""What a track can choose is what `evaluation` knows."""

from __future__ import annotations

from evaluation.conventions import CONVENTIONS
from evaluation.significance import TESTS
from leaderboard.models import Track


def test_every_test_can_be_chosen():
    assert set(Track.Test.values) == set(TESTS)


def test_every_convention_can_be_chosen():
    assert set(Track.Convention.values) == set(CONVENTIONS)


def test_migrations_are_complete(db, capsys):
    from django.core.management import call_command

    call_command("makemigrations", "--check", "--dry-run", verbosity=0)
