"""Forms with files as the body of a request, streamed piece by piece."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

CHUNK = 256 * 1024


@dataclass(frozen=True)
class FormFile:
    """A file of a form: a path, or its bytes."""

    field: str
    name: str
    content: Path | bytes

    @property
    def size(self) -> int:
        return len(self.content) if isinstance(self.content, bytes) else self.content.stat().st_size

    def read(self, offset: int, size: int) -> bytes:
        """Return up to `size` bytes from `offset` on."""
        if isinstance(self.content, bytes):
            return self.content[offset : offset + size]
        with self.content.open("rb") as file:
            file.seek(offset)
            return file.read(size)

    def __iter__(self) -> Iterator[bytes]:
        if isinstance(self.content, bytes):
            yield self.content
            return
        with self.content.open("rb") as file:
            while piece := file.read(CHUNK):
                yield piece


@dataclass(frozen=True)
class Form:
    """Fields and files, which can be read again for another attempt.

    >>> form = Form({"tag": "bm25"}, [FormFile("file", "my.run", b"1 Q0 d1 1 9 bm25")])
    >>> len(b"".join(form)) == form.size
    True
    """

    fields: Mapping[str, str] = field(default_factory=dict)
    files: Sequence[FormFile] = ()
    boundary: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def content_type(self) -> str:
        return f"multipart/form-data; boundary={self.boundary}"

    @property
    def size(self) -> int:
        return sum(len(part) if isinstance(part, bytes) else part.size for part in self._parts())

    def __iter__(self) -> Iterator[bytes]:
        for part in self._parts():
            if isinstance(part, bytes):
                yield part
            else:
                yield from part

    def _parts(self) -> Iterator[bytes | FormFile]:
        for name, value in self.fields.items():
            yield self._head(f'name="{name}"') + value.encode() + b"\r\n"
        for file in self.files:
            name = file.name.translate({ord('"'): "%22", ord("\r"): "%0D", ord("\n"): "%0A"})
            yield self._head(f'name="{file.field}"; filename="{name}"')
            yield file
            yield b"\r\n"
        yield f"--{self.boundary}--\r\n".encode()

    def _head(self, disposition: str) -> bytes:
        head = f"--{self.boundary}\r\nContent-Disposition: form-data; {disposition}\r\n\r\n"
        return head.encode()
