"""Files as libraries store them: LZ4 of ranx, and Parquet of ranx, pandas and Hugging Face.

Their libraries are optional. A file of ranx is LZ4 within LZ4, and in them CBOR
`{"topic": {"docno": score}}`; LZ4 around a text is read as well.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from importlib import import_module
from typing import Any, BinaryIO

from evaluation.problems import Refused, refuse

LZ4, PARQUET = b"\x04\x22\x4d\x18", b"PAR1"
MIB = 1024 * 1024
# CBOR is read in one piece, and each LZ4 may unpack to 255 times its size.
LONGEST = 256 * MIB
ROWS = 10_000


def rows_of_parquet(file: BinaryIO) -> Generator[bytes, None, None]:
    """Yield the rows of a table as JSON objects, one a line, under the names of its columns.

    Raises `Refused` with E_CONTAINER for a damaged file, and where pyarrow is not installed.
    """
    [parquet, arrow] = _libraries("a Parquet file", "pyarrow", ("pyarrow.parquet", "pyarrow"))
    file.seek(0)
    try:
        for batch in parquet.ParquetFile(file).iter_batches(ROWS):
            for row in batch.to_pylist():
                yield json.dumps(row, ensure_ascii=False, default=str).encode() + b"\n"
    except (arrow.ArrowException, OSError) as error:
        raise refuse("E_CONTAINER", "the Parquet file is damaged", str(error)) from error


def content_of_lz4(file: BinaryIO) -> Generator[bytes, None, None]:
    """Yield what is in a file of LZ4: a text as it is, CBOR as JSON.

    Raises `Refused`: E_CONTAINER for a damaged file and without the libraries, E_BOMB.
    """
    [frame, cbor] = _libraries("an LZ4 file", "lz4 cbor2", ("lz4.frame", "cbor2"))
    file.seek(0)
    content = _unpacked(file, frame)
    try:
        if content[:1] not in (b"", b"{") and not content[:80].isascii():
            content = json.dumps(cbor.loads(content), ensure_ascii=False).encode()
    except (cbor.CBORDecodeError, TypeError, ValueError, RecursionError) as error:
        raise _damaged("it is neither text nor CBOR") from error
    yield content


def _libraries(kind: str, packages: str, names: tuple[str, ...]) -> list[Any]:
    """Import optional libraries; raises `Refused` with how to install them."""
    try:
        return [import_module(name) for name in names]
    except ModuleNotFoundError:
        hint = f"It is read where these are installed: pip install {packages}. Or save it as text."
        raise refuse("E_CONTAINER", f"the file is {kind}", hint=hint) from None


def _unpacked(file: BinaryIO, frame: Any) -> bytes:
    try:
        outer = frame.open(file)
        is_double = outer.read(len(LZ4)) == LZ4
        outer.seek(0)
        content: bytes = (frame.open(outer) if is_double else outer).read(LONGEST + 1)
    except (RuntimeError, EOFError, OSError) as error:
        raise _damaged("its bytes or their checksum are wrong, or it ends early") from error
    if len(content) > LONGEST:
        raise refuse("E_BOMB", f"the unpacked file exceeds {LONGEST // MIB} MiB")
    return content


def _damaged(how: str) -> Refused:
    return refuse("E_CONTAINER", f"the LZ4 file is damaged: {how}")
