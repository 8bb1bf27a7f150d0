"""Files in an S3-compatible store, for any number of hosts that share no disk.

What is read is first fetched whole to this host: ranking files and documents are read in pieces
from everywhere, and a run is unpacked from a file that can be searched.  A fetch takes the memory
of a piece, whatever the file has.  The copies are bounded, those used longest ago go first.
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

from leaderboard.infrastructure.outages import StoreAway
from leaderboard.infrastructure.storage import forget_oldest, mark_used

GONE = ("404", "NoSuchKey", "NotFound")
# By itself a request to a store that is away takes minutes.
SOON = Config(connect_timeout=5, read_timeout=30, retries={"total_max_attempts": 3})


@contextmanager
def telling_when_away() -> Iterator[None]:
    """Raises StoreAway where the store does not answer, or not now."""
    try:
        yield
    except ClientError as error:
        if error.response["ResponseMetadata"]["HTTPStatusCode"] < 500:
            raise
        raise StoreAway(str(error)) from error
    except (BotoCoreError, RetriesExceededError) as error:
        raise StoreAway(str(error)) from error


class InBucket(S3Storage):
    """`S3_BUCKET` at `S3_ENDPOINT`, with copies in `RANKFIELD_HOME/cache/files`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.client_config = self.client_config.merge(SOON)

    def _open(self, name: str, mode: str = "rb") -> File:
        if mode != "rb":
            raise ValueError("a stored file is only read")
        return File(self._copy_of(name), name)

    def _copy_of(self, name: str) -> BinaryIO:
        path = self._place(name)
        try:
            copy = path.open("rb")
            mark_used(path)
            return copy
        except FileNotFoundError:
            return self._fetch(name, path)

    def _fetch(self, name: str, path: Path) -> BinaryIO:
        """Two processes may fetch the same at once: each has its own, and the last stays."""
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{secrets.token_hex(8)}")
        copy = part.open("w+b")
        try:
            with telling_when_away():
                self.bucket.Object(self._normalize_name(name)).download_fileobj(copy)
            part.replace(path)
        except BaseException as error:
            copy.close()
            part.unlink(missing_ok=True)
            if isinstance(error, ClientError) and error.response["Error"]["Code"] in GONE:
                raise FileNotFoundError(name) from None
            raise
        forget_oldest(path.parent, settings.S3_CACHE_BYTES)
        copy.seek(0)
        return copy

    def _place(self, name: str) -> Path:
        folder = Path(settings.RANKFIELD_HOME) / "cache" / "files"
        return folder / hashlib.sha256(name.encode()).hexdigest()

    def _save(self, name: str, content: File) -> str:
        with telling_when_away():
            return super()._save(name, content)

    def exists(self, name: str) -> bool:
        with telling_when_away():
            return super().exists(name)

    def delete(self, name: str) -> None:
        with telling_when_away():
            super().delete(name)
        with suppress(FileNotFoundError):
            self._place(name).unlink()

    def stored_before(self, folder: str, instant: float) -> Iterator[str]:
        """The names of the files in a folder that were stored before that time."""
        with telling_when_away():
            for each in self.bucket.objects.filter(Prefix=f"{folder}/"):
                if each.last_modified.timestamp() < instant:
                    yield each.key
