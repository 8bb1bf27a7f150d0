"""Who may download the files of a collection."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser

from leaderboard.models import Collection, Registration, User
from leaderboard.models.registrations import FileReaders

Viewer = User | AnonymousUser


def is_reader(viewer: Viewer, collection: Collection, readers: str) -> bool:
    """Whether a viewer is one of the readers of a file; who organises it always is."""
    if readers == FileReaders.EVERYONE:
        return True
    if readers == FileReaders.SIGNED_IN:
        return viewer.is_authenticated
    known = Registration.objects.of_member(viewer).opening(collection)
    if (known.signed() if readers == FileReaders.SIGNED else known).exists():
        return True
    organised = collection.tracks.organised_by(viewer)
    return organised.exists() or collection.is_organised_by(viewer)
