"""A fixture that is copied is as it was when it was made."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import transaction

from leaderboard.models import Collection, Judgment, User
from tests.builders import make_collection, make_user
from tests.recording import make_or_copy


@contextmanager
def earlier_test() -> Iterator[None]:
    """Roll back what is done within, as after a test."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
    shutil.rmtree(settings.MEDIA_ROOT)


def copied(owner: User) -> Collection:
    return make_or_copy("copied", owner, Collection, lambda: make_collection(owner))


def judged() -> set[tuple[str, str, int]]:
    return set(Judgment.objects.values_list("topic__number", "docno", "grade"))


def test_a_copy_has_the_rows_and_files_of_the_first(ada):
    with earlier_test():
        copied(ada)
        first = judged()
    again = copied(ada)
    assert judged() == first and len(first) == 8
    assert again.num_documents == 12 and again.documents.read()


def test_a_copy_belongs_to_who_asks_for_it(ada):
    with earlier_test():
        copied(ada)
    assert copied(make_user("dora")).owner.username == "dora"


def test_a_second_one_of_a_test_is_made_anew(ada):
    first = make_collection(ada, slug="first")
    assert copied(ada).pk != first.pk
