"""Digests of the uploaded files of collections, for readers who download them."""

from __future__ import annotations

from django.core.files.storage import default_storage
from django.db.models import Q

from leaderboard.infrastructure.logs import log_failure
from leaderboard.infrastructure.storage import sha256_of
from leaderboard.models import Collection
from leaderboard.models.collections import ImportState

FILES = ("topics", "documents")


def record_checksums(collection: Collection) -> None:
    """Store the digests of the uploaded files; those of a ready collection never change."""
    digests = {f"{part}_sha256": _digest(collection, part) for part in FILES}
    Collection.objects.filter(pk=collection.pk).update(**digests)


def record_missing_checksums() -> None:
    """Store the digests of collections that were imported before there were any."""
    without = Q(topics_sha256="") & ~Q(topics_file="")
    without |= Q(documents_sha256="") & ~Q(documents_file="")
    for collection in Collection.objects.filter(without, state=ImportState.READY):
        with log_failure(f"computing the checksums of collection {collection.slug}"):
            record_checksums(collection)


def _digest(collection: Collection, part: str) -> str:
    name = getattr(collection, f"{part}_file").name
    if not name:
        return ""
    with default_storage.open(name) as file:
        return sha256_of(file)
