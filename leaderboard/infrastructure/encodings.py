"""Which encodings a request may name for its query and its forms."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable
from typing import Any

from django.utils.http import parse_header_parameters

# What browsers and programs send text in.
SAFE = ("utf-8", "ascii", "iso8859-1", "cp1252")


class KnownEncodings:
    """A WSGI application whose requests are read as UTF-8, unless they name a safe encoding.

    Python has encodings that fail on any text, before Django can answer, and some that make half
    a character, which no database stores.
    """

    def __init__(self, application: Callable[..., Iterable[bytes]]) -> None:
        self.application = application

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        environ["CONTENT_TYPE"] = without_odd_encoding(environ.get("CONTENT_TYPE", ""))
        return self.application(environ, start_response)


def without_odd_encoding(content_type: str) -> str:
    """
    >>> without_odd_encoding("text/plain; charset=UTF-8"), without_odd_encoding("a/b; charset=hex")
    ('text/plain; charset=UTF-8', 'a/b')
    >>> without_odd_encoding("multipart/form-data; charset=rot13; boundary=x")
    'multipart/form-data; boundary="x"'
    """
    kind, named = parse_header_parameters(content_type)
    if "charset" not in named or is_safe(named["charset"]):
        return content_type
    return f'{kind}; boundary="{named["boundary"]}"' if "boundary" in named else kind


def is_safe(encoding: str) -> bool:
    try:
        return codecs.lookup(encoding).name in SAFE
    except (LookupError, ValueError):
        return False
