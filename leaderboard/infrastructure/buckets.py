"""File storage in an S3-compatible bucket, for hosts that share no disk.

A file is first fetched whole to this host, because ranking files and documents are read in pieces
from any position and a run is unpacked from a seekable file.  A fetch needs the memory of one
piece, however large the file is.  The copies on this host are bounded; the oldest are deleted
first.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings
from django.core.files.base import File
from s3transfer.exceptions import RetriesExceededError
from storages.backends.s3 import S3Storage

from leaderboard.infrastructure.outages import StorageUnavailableError
from leaderboard.infrastructure.storage import evict_oldest, mark_used, sha256_of

NOT_FOUND_CODES = ("404", "NoSuchKey", "NotFound")
# Without limits a request to an unreachable store takes minutes.
CLIENT_CONFIG = Config(connect_timeout=5, read_timeout=30, retries={"total_max_attempts": 3})


@contextmanager
def translate_store_errors() -> Iterator[None]:
    """Raise StorageUnavailableError where the store does not answer or reports a fault."""
    try:
        yield
    except ClientError as error:
        if error.response["ResponseMetadata"]["HTTPStatusCode"] < 500:
            raise
        raise StorageUnavailableError(str(error)) from error
    except (BotoCoreError, RetriesExceededError) as error:
        raise StorageUnavailableError(str(error)) from error


class BucketStorage(S3Storage):
    """Storage in `S3_BUCKET` at `S3_ENDPOINT`, with copies in `RANKFIELD_HOME/cache/files`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.client_config = self.client_config.merge(CLIENT_CONFIG)

    def _open(self, name: str, mode: str = "rb") -> File:
        if mode != "rb":
            raise ValueError("a stored file is only read")
        return File(self._open_copy(name), name)

    def _open_copy(self, name: str) -> BinaryIO:
        path = self._copy_path(name)
        try:
            copy = path.open("rb")
            mark_used(path)
            return copy
        except FileNotFoundError:
            return self._fetch(name, path)

    def _fetch(self, name: str, path: Path) -> BinaryIO:
        """Fetch a file; of two processes at once each writes its own copy, and the last stays."""
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{secrets.token_hex(8)}")
        copy = part.open("w+b")
        try:
            with translate_store_errors():
                self.bucket.Object(self._normalize_name(name)).download_fileobj(copy)
            part.replace(path)
        except BaseException as error:
            copy.close()
            part.unlink(missing_ok=True)
            if (
                isinstance(error, ClientError)
                and error.response["Error"]["Code"] in NOT_FOUND_CODES
            ):
                raise FileNotFoundError(name) from None
            raise
        evict_oldest(path.parent, settings.S3_CACHE_BYTES)
        copy.seek(0)
        return copy

    def _copy_path(self, name: str) -> Path:
        folder = Path(settings.RANKFIELD_HOME) / "cache" / "files"
        return folder / hashlib.sha256(name.encode()).hexdigest()

    def _save(self, name: str, content: File) -> str:
        with translate_store_errors():
            return super()._save(name, content)

    def exists(self, name: str) -> bool:
        with translate_store_errors():
            return super().exists(name)

    def delete(self, name: str) -> None:
        with translate_store_errors():
            super().delete(name)
        with suppress(FileNotFoundError):
            self._copy_path(name).unlink()

    def stored_before(self, folder: str, instant: float) -> Iterator[str]:
        """Yield the names of the files in a folder that were stored before that time."""
        with translate_store_errors():
            for stored in self.bucket.objects.filter(Prefix=f"{folder}/"):
                if stored.last_modified.timestamp() < instant:
                    yield stored.key

    def stored_sizes(self) -> Iterator[tuple[str, int]]:
        """Yield the name and the size of every stored file, without asking for each."""
        with translate_store_errors():
            for stored in self.bucket.objects.all():
                yield stored.key, stored.size

    def hash_stored(self, name: str) -> str:
        """Return the SHA-256 of a file as the bucket has it, without a copy on this host."""
        with translate_store_errors():
            stored = self.bucket.Object(self._normalize_name(name)).get()["Body"]
            return sha256_of(stored)
