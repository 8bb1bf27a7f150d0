"""Large files go to a site in pieces and continue where a connection broke."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass

from rankfield.answers import read_answer
from rankfield.connection import ATTEMPTS, FIRST_PAUSE, LONGEST_PAUSE, Connection
from rankfield.errors import RejectedError, SiteError, UnreachableError
from rankfield.forms import FormFile
from rankfield.progress import ProgressBar

MIB = 2**20
# A larger file goes in pieces.
LARGE = 8 * MIB
PIECE = 4 * MIB
# Statuses of sites that know no uploads in pieces.
UNKNOWN = (404, 405)
# Other bytes have arrived than we know of.
CONFLICT = 409


@dataclass(frozen=True)
class Upload:
    """What has arrived of a file."""

    id: str
    url: str
    size: int
    received: int
    piece_limit: int


def send_in_pieces(
    connection: Connection, path: str, file: FormFile, is_shown: bool = False
) -> str:
    """Send a file and return the ID of its upload; empty if the site knows no uploads in pieces.

    A file of which a part has arrived before continues there, also in another process.
    """
    announced = {"name": file.name, "size": file.size, "sha256": hash_file(file)}
    try:
        upload = read_answer(Upload, connection.post_json(path, announced))
    except RejectedError as error:
        if error.status in UNKNOWN:
            return ""
        raise
    bar = ProgressBar(-(-upload.size // MIB), is_shown, unit="MiB")
    failures = 0
    while 0 <= upload.received < file.size:
        bar.show(upload.received // MIB, file.name)
        before = upload.received
        try:
            upload = send_piece(connection, upload, file)
        except SiteError as error:
            if not may_continue(error) or failures + 1 == ATTEMPTS:
                raise
            time.sleep(max(FIRST_PAUSE * (failures + 1), error.retry_after or 0))
            upload = read_answer(Upload, connection.get(upload.url))
        failures = 0 if upload.received > before else failures + 1
        if failures == ATTEMPTS:
            raise UnreachableError(f"{connection.url} takes no bytes of {file.name}.")
    bar.show(bar.total, file.name)
    bar.end()
    return upload.id


def send_piece(connection: Connection, upload: Upload, file: FormFile) -> Upload:
    piece = file.read(upload.received, min(PIECE, max(upload.piece_limit, 1)))
    offset = {"Upload-Offset": str(upload.received)}
    return read_answer(Upload, connection.patch(upload.url, piece, offset))


def may_continue(error: SiteError) -> bool:
    if isinstance(error, RejectedError) and error.status == CONFLICT:
        return True
    return error.retry_after is not None and error.retry_after <= LONGEST_PAUSE


def hash_file(file: FormFile) -> str:
    """Return the SHA-256 of a file."""
    digest = hashlib.sha256()
    for piece in file:
        digest.update(piece)
    return digest.hexdigest()
