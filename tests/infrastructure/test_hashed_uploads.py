"""Uploads are hashed while they arrive."""

from __future__ import annotations

import hashlib

from leaderboard.actions.uploads import hash_file
from leaderboard.infrastructure.hashed_uploads import HashingHandler
from leaderboard.models import Run
from tests.api.conftest import Program

PIECES = (b"1 Q0 d1 1 9.5 ben\n", b"1 Q0 d2 2 8.5 ben\n")


def test_the_digest_is_that_of_the_bytes_that_arrived():
    handler = HashingHandler()
    handler.new_file("file", "my.run", "text/plain", None)
    for piece in PIECES:
        handler.receive_data_chunk(piece, 0)
    file = handler.file_complete(sum(map(len, PIECES)))
    file.file.truncate(0)
    assert hash_file(file) == hashlib.sha256(b"".join(PIECES)).hexdigest()


def test_a_run_that_is_sent_has_the_digest_of_its_file(track, ben):
    assert Program(ben).send_run().status_code == 201
    run = Run.objects.get()
    assert run.sha256 == hashlib.sha256(run.file.read()).hexdigest()
