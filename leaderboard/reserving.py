"""Room that uploads leave on the disk: the database and the workers need some to go on."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from contextlib import ExitStack
from typing import IO, Any

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler

# Of the disk, but on a large one no more than so many bytes.
SHARE, MOST = 0.01, 256 * settings.MIB


class LeavesRoom(FileUploadHandler):
    """Refuses a body before a byte of it is read, where it would leave too little room.

    The room of a body that is awaited is taken by a file without a name, which gives way as the
    bytes come: so uploads at the same moment see each other, in whatever process, and a process
    that dies gives its room back.
    """

    def handle_raw_input(
        self, input_data: Any, META: Any, content_length: int, *rest: Any, **named: Any
    ) -> None:
        refuse_without_room(content_length)
        self.awaited = content_length
        with ExitStack() as stack:
            self.room = stack.enter_context(
                tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR)
            )
            set_aside(self.room, content_length)
            refuse_without_room(0)
            stack.pop_all()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        self.awaited = max(0, self.awaited - len(raw_data))
        self.room.truncate(self.awaited)
        return raw_data

    def file_complete(self, file_size: int) -> None:
        return None

    def upload_complete(self) -> None:
        self.room.close()

    def upload_interrupted(self) -> None:
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
