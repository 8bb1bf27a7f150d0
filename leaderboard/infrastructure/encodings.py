"""Encodings that a request may name for its query and its forms."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable
from typing import Any

from django.utils.http import parse_header_parameters

# Browsers and programs send text in these.
SAFE_ENCODINGS = ("utf-8", "ascii", "iso8859-1", "cp1252")


class SafeEncodings:
    """A WSGI application whose requests are read as UTF-8, unless they name a safe encoding.

    Python has encodings that fail on any text, before Django can answer, and some that make half
    a character, which no database stores.
    """

    def __init__(self, application: Callable[..., Iterable[bytes]]) -> None:
        self.application = application

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        environ["CONTENT_TYPE"] = remove_unsafe_encoding(environ.get("CONTENT_TYPE", ""))
        return self.application(environ, start_response)


def remove_unsafe_encoding(content_type: str) -> str:
    """Return a content type without a charset that is not safe.

    >>> remove_unsafe_encoding("text/plain; charset=UTF-8")
    'text/plain; charset=UTF-8'
    >>> remove_unsafe_encoding("a/b; charset=hex")
    'a/b'
    >>> remove_unsafe_encoding("multipart/form-data; charset=rot13; boundary=x")
    'multipart/form-data; boundary="x"'
    """
    kind, parameters = parse_header_parameters(content_type)
    if "charset" not in parameters or is_safe_encoding(parameters["charset"]):
        return content_type
    return f'{kind}; boundary="{parameters["boundary"]}"' if "boundary" in parameters else kind


def is_safe_encoding(encoding: str) -> bool:
    try:
        return codecs.lookup(encoding).name in SAFE_ENCODINGS
    except (LookupError, ValueError):
        return False
