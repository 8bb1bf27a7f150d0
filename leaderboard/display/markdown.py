"""Markdown by organisers as safe HTML: text, lists, tables and links; no raw HTML, no images."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import nh3
from django import template
from django.utils.safestring import SafeString, mark_safe

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

register = template.Library()

TAGS = {
    *("h3", "h4", "h5", "h6", "p", "br", "hr", "blockquote", "pre", "code", "em", "strong", "s"),
    *("ul", "ol", "li", "a", "table", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
SCHEMES = {"http", "https", "mailto"}
# The page has its own h1 and h2, so the headings of a text start below them.
HIGHEST, LOWEST = 3, 6
SCROLLS = '<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>'


@cache
def parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # An image would be fetched from elsewhere and tell that site who reads the page.
    rules = MarkdownIt("commonmark", {"html": False, "breaks": True})
    return rules.enable(["table", "strikethrough"]).disable(["image", "html_inline", "html_block"])


@register.filter(name="markdown")
def render_markdown(text: str) -> SafeString:
    """Render Markdown as HTML that may stand on a page.

    What the renderer made is cleaned once more by a sanitiser, so that a fault of one of the two
    does no harm.

    >>> render_markdown("# Aim\\n\\nFind *loaves*. <b>[Rules](javascript:alert(1))</b>")
    '<h3>Aim</h3>\\n<p>Find <em>loaves</em>. &lt;b&gt;[Rules](javascript:alert(1))&lt;/b&gt;</p>\\n'
    """
    tokens = parser().parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            level = int(token.tag[1]) + HIGHEST - 1
            token.tag = f"h{min(level, LOWEST)}"
    html = parser().renderer.render(tokens, parser().options, {})
    clean = nh3.clean(
        html,
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes=SCHEMES,
        link_rel="nofollow noopener",
    )
    tables = clean.replace("<table>", SCROLLS).replace("</table>", "</table></div>")
    return mark_safe(tables)
