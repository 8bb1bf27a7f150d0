"""The public pages of a track as a stored file, which a job makes."""

from __future__ import annotations

import secrets
import tempfile
from typing import Any

from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone

from leaderboard.archives.board_copies import copy_board, is_released
from leaderboard.archives.zip_files import stream_zip
from leaderboard.jobs import queue
from leaderboard.models import PagesCopy, Track
from leaderboard.models.jobs import Progress, Publish

FOLDER = "copies"


@transaction.atomic
def ask_for_copy(track: Track, site: str) -> None:
    """Queue a new copy of the pages, unless not everybody sees the scores."""
    if is_released(track):
        copy, _ = PagesCopy.objects.update_or_create(track=track, defaults={"site": site})
        queue.enqueue("copy_pages", copy)


def copy_pages(copy_id: str, progress: Progress) -> Publish:
    """Store the public pages of a track as one zip file."""
    copy = PagesCopy.objects.select_related("track").get(pk=copy_id)
    copied_at = timezone.now()
    members = copy_board(copy.track, copy.site, progress)
    with tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as file:
        for piece in stream_zip(members):
            file.write(piece)
        size = file.tell()
        file.seek(0)
        name = default_storage.save(f"{FOLDER}/{copy.pk}-{secrets.token_hex(4)}", File(file))
    # The cleanup deletes the file of an earlier copy.
    made = {"file": name, "size": size, "copied_at": copied_at}
    return lambda: record_copy(copy.pk, made)


def record_copy(copy_id: int, made: dict[str, Any]) -> None:
    PagesCopy.objects.filter(pk=copy_id).update(**made)
