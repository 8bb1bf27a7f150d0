"""Free space that uploads must leave on the disk for the database and the workers."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from typing import IO, Any

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler

from leaderboard.infrastructure.request_bodies import is_chunked

# This share of the disk stays free, but at most this many bytes.
SHARE, MOST = 0.01, 256 * settings.MIB
# Space is reserved this far ahead of the bytes that have arrived.
STEP = 4 * settings.MIB
# And given back in such steps, since the disk may take a millisecond for each.
STEP_BACK = settings.MIB


class FreeSpaceGuard(FileUploadHandler):
    """Refuse an upload that would leave too little free space, before or while it is read.

    A file without a name reserves space a step ahead of the bytes and shrinks as they arrive. So
    uploads at the same time see each other in every process, and the space of a process that dies
    is free again.  A long stated length alone reserves nothing.
    """

    reserve: IO[bytes] | None = None

    def handle_raw_input(
        self, input_data: Any, META: Any, content_length: int, *rest: Any, **named: Any
    ) -> None:
        # For a chunked body `content_length` is its limit, not its length.
        check_free_space(0 if is_chunked(META) else content_length)
        self.awaited, self.ahead, self.reserved = content_length, 0, 0
        # Closed with the upload, or with its request.
        self.reserve = tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR)  # noqa: SIM115

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        assert self.reserve is not None
        if len(raw_data) > self.ahead:
            self.ahead = max(len(raw_data), min(self.awaited, STEP))
            reserve_space(self.reserve, self.ahead)
            self.reserved = max(self.reserved, self.ahead)
            check_free_space(0)
        self.awaited -= len(raw_data)
        self.ahead -= len(raw_data)
        if self.reserved - self.ahead >= STEP_BACK:
            self.reserve.truncate(self.ahead)
            self.reserved = self.ahead
        return raw_data

    def file_complete(self, file_size: int) -> None:
        return None

    def upload_complete(self) -> None:
        self.upload_interrupted()

    def upload_interrupted(self) -> None:
        if self.reserve is not None:
            self.reserve.close()


def check_free_space(size: int) -> None:
    """Raise OSError if this many bytes more would leave too little free space."""
    disk = shutil.disk_usage(settings.FILE_UPLOAD_TEMP_DIR)
    if disk.free - size < min(MOST, SHARE * disk.total):
        raise OSError(errno.ENOSPC, "an upload would fill the disk")


def reserve_space(file: IO[bytes], size: int) -> None:
    """Reserve disk space for a file; macOS has no call for that."""
    if size and hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
