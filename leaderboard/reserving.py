"""Room that uploads leave on the disk: the database and the workers need some to go on."""

from __future__ import annotations

import errno
import shutil
from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler

# Of the disk, but on a large one no more than so many bytes.
SHARE, MOST = 0.01, 256 * settings.MIB


class LeavesRoom(FileUploadHandler):
    """Refuses a body before a byte of it is read, where it would leave too little room."""

    def handle_raw_input(
        self, input_data: Any, META: Any, content_length: int, *rest: Any, **named: Any
    ) -> None:
        disk = shutil.disk_usage(settings.FILE_UPLOAD_TEMP_DIR)
        if disk.free - content_length < min(MOST, SHARE * disk.total):
            raise OSError(errno.ENOSPC, "an upload would fill the disk")

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        return raw_data

    def file_complete(self, file_size: int) -> None:
        return None
