"""Uploads in pieces, which continue after a connection broke.

A file is announced with its size and its SHA-256. Its pieces arrive in order, each in a request of
its own, and what arrived stays. Once all bytes are here, they become a run as one file.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import PurePosixPath
from secrets import token_hex
from typing import IO, Protocol

from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile
from django.db import IntegrityError, transaction
from django.db.models import QuerySet, Sum
from django.utils import timezone

from leaderboard.actions.refusals import NotAccepted
from leaderboard.actions.submission_rules import refuse_full_site, refuse_size
from leaderboard.display.numbers import counted
from leaderboard.infrastructure.free_space import check_free_space
from leaderboard.models import PartialUpload, UploadPiece, User

# The most bytes of a piece, and the most pieces of a file.
PIECE_LIMIT = 8 * settings.MIB
MOST_PIECES = 10_000
# How long an upload stays after its last piece, and after a run was made of it.
UPLOADS_KEPT, FINISHED_KEPT = timedelta(days=1), timedelta(hours=1)
# The most unfinished uploads of a user, and how often the limit of a run they have together.
MOST_UPLOADS, MOST_LIMITS = 100, 4
CHUNK = 256 * 1024


class Body(Protocol):
    def read(self, size: int, /) -> bytes: ...


@dataclass(frozen=True)
class BegunUpload:
    """An announced file, and whether it was announced before."""

    upload: PartialUpload
    is_new: bool


def begin_upload(user: User, name: str, size: int, sha256: str) -> BegunUpload:
    """Announce a file, or find it with what has arrived of it.  Raises NotAccepted."""
    known = PartialUpload.objects.filter(user=user, sha256=sha256, size=size).first()
    if known is not None and extend_upload(known):
        return BegunUpload(known, is_new=False)
    refuse_size(size, settings.RUN_UPLOAD_LIMIT)
    refuse_full_site(size)
    with transaction.atomic():
        # Two requests at once would both find room for one more.
        User.objects.select_for_update(no_key=True).get(pk=user.pk)
        make_room(user, size)
        upload, is_new = PartialUpload.objects.get_or_create(
            user=user,
            sha256=sha256,
            defaults={
                "name": name_file(name),
                "size": size,
                "expires_at": timezone.now() + UPLOADS_KEPT,
            },
        )
    if upload.size != size:
        raise NotAccepted("E_CONFLICT", f"This SHA-256 was announced with {upload.size:,} bytes.")
    return BegunUpload(upload, is_new)


def name_file(name: str) -> str:
    """Return the name of a file without its folders.

    >>> name_file("runs/bm25.run"), name_file("..")
    ('bm25.run', 'run')
    """
    return PurePosixPath(name).name.strip(".") or "run"


def make_room(user: User, size: int) -> None:
    """Delete the oldest uploads that became runs, or raise NotAccepted if that is not enough."""
    mine = PartialUpload.objects.filter(user=user)
    most = MOST_LIMITS * settings.RUN_UPLOAD_LIMIT
    while mine.count() >= MOST_UPLOADS or total_size(mine) + size > most:
        oldest = mine.exclude(finished_at=None).first()
        if oldest is None:
            raise NotAccepted(
                "E_QUOTA",
                f"You have {counted(mine.count(), 'unfinished upload')} with"
                f" {total_size(mine):,} bytes. Finish or delete some of them first.",
            )
        delete_upload(oldest)


def total_size(uploads: QuerySet[PartialUpload]) -> int:
    return uploads.order_by().aggregate(total=Sum("size"))["total"] or 0


def append_piece(upload: PartialUpload, offset: int, body: Body, size: int) -> None:
    """Store what arrives of a piece, also if the connection breaks.  Raises NotAccepted."""
    refuse_offset(upload, offset)
    refuse_size(size, PIECE_LIMIT)
    if offset + size > upload.size:
        raise NotAccepted("E_SIZE", f"The file was announced with {upload.size:,} bytes.")
    if upload.pieces.count() >= MOST_PIECES:
        raise NotAccepted(
            "E_QUOTA", f"A file has at most {MOST_PIECES:,} pieces. Send larger ones."
        )
    check_free_space(size)
    refuse_full_site(size)
    with tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as piece:
        if arrived := copy_arriving(body, piece):
            store_piece(upload, offset, arrived, piece)


def refuse_offset(upload: PartialUpload, offset: int) -> None:
    received = upload.received
    if offset != received:
        message = f"Upload-Offset: {received:,} bytes have arrived, so the next piece begins there."
        raise NotAccepted("E_CONFLICT", message)


def copy_arriving(body: Body, piece: IO[bytes]) -> int:
    """Copy a body up to its end or to the end of its connection; return the number of bytes."""
    while data := read_arriving(body):
        piece.write(data)
    return piece.tell()


def read_arriving(body: Body) -> bytes:
    try:
        return body.read(CHUNK)
    except OSError:
        return b""


def store_piece(upload: PartialUpload, offset: int, size: int, piece: IO[bytes]) -> None:
    piece.seek(0)
    # A second attempt may come while the first is being stored: each has a file of its own.
    name = default_storage.save(f"uploads/{upload.pk}/{offset}-{token_hex(4)}", File(piece))
    try:
        with transaction.atomic():
            UploadPiece.objects.create(upload=upload, offset=offset, size=size, file=name)
            if not extend_upload(upload):
                raise IntegrityError("the upload is gone")
    except IntegrityError:
        # Another attempt of the same piece was first, or the upload was deleted meanwhile.
        default_storage.delete(name)
        raise NotAccepted("E_CONFLICT", "This piece has already arrived.") from None


def extend_upload(upload: PartialUpload) -> bool:
    """Keep an upload for another day; return whether it is still there."""
    end = timezone.now() + UPLOADS_KEPT
    return bool(PartialUpload.objects.filter(pk=upload.pk).update(expires_at=end))


@contextmanager
def open_uploads(uploads: Iterable[PartialUpload]) -> Iterator[list[UploadedFile]]:
    """Join the pieces of each upload to a file.  Raises NotAccepted if bytes are missing."""
    with ExitStack() as stack:
        yield [stack.enter_context(open_upload(upload)) for upload in uploads]


@contextmanager
def open_upload(upload: PartialUpload) -> Iterator[UploadedFile]:
    received = upload.received
    if received < upload.size:
        message = f"Only {received:,} of {upload.size:,} bytes of {upload.name} have arrived."
        raise NotAccepted("E_CONFLICT", message)
    check_free_space(upload.size)
    with TemporaryUploadedFile(upload.name, "application/octet-stream", upload.size, None) as file:
        digest = hashlib.sha256()
        for piece in upload.pieces.all():
            with default_storage.open(piece.file.name) as stored:
                for data in stored.chunks(CHUNK):
                    digest.update(data)
                    file.write(data)
        if digest.hexdigest() != upload.sha256:
            delete_upload(upload)
            message = f"{upload.name} has another SHA-256 than announced. Upload it again."
            raise NotAccepted("E_CONFLICT", message)
        file.seek(0)
        yield file


def finish_uploads(uploads: Iterable[PartialUpload]) -> None:
    """Mark uploads of which runs were made; a repeated request still finds them for a while."""
    now = timezone.now()
    PartialUpload.objects.filter(pk__in=[upload.pk for upload in uploads]).update(
        finished_at=now, expires_at=now + FINISHED_KEPT
    )


def delete_upload(upload: PartialUpload) -> None:
    """Delete an upload, and the files of its pieces once that is committed."""
    names = list(upload.pieces.values_list("file", flat=True))
    upload.delete()
    for name in names:
        transaction.on_commit(partial(default_storage.delete, name))


def uploads_of(user: User) -> QuerySet[PartialUpload]:
    """Return the uploads of a user that have not expired."""
    return PartialUpload.objects.filter(user=user, expires_at__gt=timezone.now())
