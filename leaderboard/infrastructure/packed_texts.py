"""Texts that are compressed once and sent many times, with other text between them.

Each text is a piece of a deflate stream that ends at a byte and refers to nothing before it, so
pieces are joined to one gzip file without compressing them again.  The checksum of the whole
follows from those of the pieces, as in zlib's crc32_combine.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from secrets import choice, randbelow

# CRC-32, with the bits reversed: the highest bit is the coefficient of x^0.
POLYNOMIAL = 0xEDB88320
ONE = 1 << 31
# No compression, "has a file name", no time, unknown system.
HEAD = b"\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\xff"
LETTERS = b"abcdefghijklmnopqrstuvwxyz"
# The length of answers tells nothing of the secrets in them, as in Django's own compression.
MOST_PADDING = 100
LAST_BLOCK = b"\x03\x00"
# For text that is compressed anew for each reader.
FAST = 1
THOROUGH = 6


@dataclass(frozen=True)
class PackedText:
    """A text as a piece of a deflate stream; `shift` combines checksums."""

    packed: bytes
    length: int
    checksum: int
    shift: int

    @property
    def text(self) -> bytes:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(self.packed)


def pack(text: bytes) -> PackedText:
    """Compress a text.

    >>> pack(b"bread " * 1000).text == b"bread " * 1000
    True
    """
    return PackedText(_deflate(text, THOROUGH), len(text), zlib.crc32(text), shift_of(len(text)))


def join_as_gzip(texts: Sequence[PackedText], between: Sequence[bytes]) -> bytes:
    """Return the texts, with the others between them, as one gzip file.

    >>> import gzip
    >>> gzip.decompress(join_as_gzip([pack(b"a" * 50), pack(b"c")], [b"bb"])) == b"a" * 50 + b"bbc"
    True
    """
    padding = bytes(choice(LETTERS) for _ in range(randbelow(MOST_PADDING) + 1))
    parts, checksum, length = [HEAD, padding, b"\0"], 0, 0
    for place, text in enumerate(texts):
        parts.append(text.packed)
        checksum = multiply(text.shift, checksum) ^ text.checksum
        length += text.length
        if place < len(between):
            parts.append(_deflate(between[place], FAST))
            checksum = zlib.crc32(between[place], checksum)
            length += len(between[place])
    parts += [LAST_BLOCK, checksum.to_bytes(4, "little"), (length % 2**32).to_bytes(4, "little")]
    return b"".join(parts)


def _deflate(text: bytes, level: int) -> bytes:
    packer = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(text) + packer.flush(zlib.Z_FULL_FLUSH)


def multiply(a: int, b: int) -> int:
    """Return the product of two polynomials modulo that of CRC-32."""
    product, bit = 0, ONE
    while a and bit:
        if a & bit:
            product ^= b
            a ^= bit
        bit >>= 1
        b = (b >> 1) ^ POLYNOMIAL if b & 1 else b >> 1
    return product


def shift_of(length: int) -> int:
    """Return x^(8 * length), which shifts a checksum by that many bytes.

    >>> both = multiply(shift_of(6), zlib.crc32(b"bread")) ^ zlib.crc32(b"crumbs")
    >>> both == zlib.crc32(b"breadcrumbs")
    True
    """
    product, place = ONE, 3
    while length:
        if length & 1:
            product = multiply(_power(place), product)
        length >>= 1
        place += 1
    return product


@cache
def _power(place: int) -> int:
    """Return x^(2^place)."""
    if place == 0:
        return ONE >> 1
    return multiply(_power(place - 1), _power(place - 1))
