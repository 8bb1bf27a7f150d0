"""Uploads that are hashed while they arrive."""

from __future__ import annotations

import hashlib
from typing import Any

from django.core.files.uploadedfile import TemporaryUploadedFile
from django.core.files.uploadhandler import TemporaryFileUploadHandler


class HashingHandler(TemporaryFileUploadHandler):
    """Write an upload into a temporary file and hash it, so that nothing is read again for that.

    The file has its digest as `sha256`.
    """

    def new_file(self, *args: Any, **named: Any) -> None:
        super().new_file(*args, **named)
        self.digest = hashlib.sha256()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self.digest.update(raw_data)
        super().receive_data_chunk(raw_data, start)

    def file_complete(self, file_size: int) -> TemporaryUploadedFile:
        file: Any = super().file_complete(file_size)
        file.sha256 = self.digest.hexdigest()
        return file  # type: ignore[no-any-return]
