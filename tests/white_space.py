"""Pages without the white space that nobody sees, so that tests quote them as they are read."""

from __future__ import annotations

import re
from typing import Any

from django.http import HttpResponse
from django.test import Client

BLOCKS = (
    "address|article|aside|blockquote|body|caption|dd|details|dialog|div|dl|dt|fieldset|figcaption"
    "|figure|footer|form|h[1-6]|head|header|hr|html|legend|li|link|main|meta|nav|ol|option|p|script"
    "|section|select|summary|table|tbody|td|tfoot|th|thead|title|tr|ul|br|button|progress"
)
KEPT = re.compile(r"(<pre\b.*?</pre>|<textarea\b.*?</textarea>|<script\b.*?</script>)", re.S)
AROUND_BLOCKS = re.compile(rf"\s*(</?(?:{BLOCKS})\b[^>]*>)\s*")


def squeeze(page: str) -> str:
    """Return a page without indentation, and without white space at the edges of blocks.

    >>> squeeze('<p>\\n  Bread <b\\n  >rises</b>\\n</p>\\n<p>')
    '<p>Bread <b>rises</b></p><p>'
    """
    parts = KEPT.split(page)
    parts[::2] = map(_squeeze_part, parts[::2])
    return "".join(parts)


def _squeeze_part(text: str) -> str:
    text = re.sub(r"\s+", " ", text).replace(" >", ">")
    return AROUND_BLOCKS.sub(r"\1", text)


def squeeze_answers() -> None:
    """Squeeze every page that a client of a test gets."""
    request = Client.request

    def squeezed(client: Client, **asked: Any) -> HttpResponse:
        answer = request(client, **asked)
        is_page = answer.headers.get("Content-Type", "").startswith("text/html")
        if is_page and not answer.streaming and "Content-Encoding" not in answer.headers:
            answer.content = squeeze(answer.content.decode()).encode()
        return answer

    Client.request = squeezed  # type: ignore[method-assign]
