"""Room that uploads leave on the disk: the database and the workers need some to go on."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from typing import IO, Any

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler

from leaderboard.infrastructure.bodies import is_pipe

# Of the disk, but on a large one no more than so many bytes.
SHARE, MOST = 0.01, 256 * settings.MIB
# So far ahead of what has come room is taken.
STEP = 4 * settings.MIB


class LeavesRoom(FileUploadHandler):
    """Refuses a body that would leave too little room: unread, or where others came before it.

    Room is taken a step ahead of the bytes by a file without a name, which gives way as they
    come: so uploads at the same moment see each other, in whatever process, and a process that
    dies gives its room back.  Who announces much and sends nothing takes none.
    """

    room: IO[bytes] | None = None

    def handle_raw_input(
        self, input_data: Any, META: Any, content_length: int, *rest: Any, **named: Any
    ) -> None:
        # A pipe may be as long as that, but announces nothing.
        refuse_without_room(0 if is_pipe(META) else content_length)
        self.awaited, self.ahead = content_length, 0
        # Closed with the upload, or with its request.
        self.room = tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR)  # noqa: SIM115

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        assert self.room is not None
        if len(raw_data) > self.ahead:
            self.ahead = max(len(raw_data), min(self.awaited, STEP))
            set_aside(self.room, self.ahead)
            refuse_without_room(0)
        self.awaited -= len(raw_data)
        self.ahead -= len(raw_data)
        self.room.truncate(self.ahead)
        return raw_data

    def file_complete(self, file_size: int) -> None:
        return None

    def upload_complete(self) -> None:
        self.upload_interrupted()

    def upload_interrupted(self) -> None:
        if self.room is not None:
            self.room.close()


def refuse_without_room(size: int) -> None:
    """Whether so many bytes more leave enough. Raises OSError."""
    disk = shutil.disk_usage(settings.FILE_UPLOAD_TEMP_DIR)
    if disk.free - size < min(MOST, SHARE * disk.total):
        raise OSError(errno.ENOSPC, "an upload would fill the disk")


def set_aside(file: IO[bytes], size: int) -> None:
    """Have the disk keep so many bytes for a file; macOS has no call for that."""
    if size and hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
