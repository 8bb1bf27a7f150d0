"""Markdown by organisers as safe HTML: text, lists, tables and links; no raw HTML, no images."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import nh3
from django import template
from django.template.defaultfilters import linebreaks
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
# What a text may have at most: marks such as * and [, and cells of tables, counted as if each line
# were as long as the longest. Beyond that its rendering takes seconds.
MARKS, MOST_MARKS, MOST_CELLS = "[_*`~<&!", 4_000, 20_000
SCROLLS = '<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>'


@cache
def parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # An image would be fetched from elsewhere and tell that site who reads the page.
    rules = MarkdownIt("commonmark", {"html": False, "breaks": True})
    return rules.enable(["table", "strikethrough"]).disable(["image", "html_inline", "html_block"])


def find_excess(text: str) -> str:
    """Return why a text takes too long to render; "" for any text that people write.

    >>> find_excess("[" * 5000), find_excess("| a | b |\\n" * 400)
    ('has over 4,000 marks of Markdown, such as * and [', '')
    """
    if sum(map(text.count, MARKS)) > MOST_MARKS:
        return f"has over {MOST_MARKS:,} marks of Markdown, such as * and ["
    lines = text.splitlines()
    rows = [line.count("|") for line in lines if "|" in line]
    if max(rows, default=0) * len(lines) > MOST_CELLS and len(rows) > 1:
        return f"has tables of over {MOST_CELLS:,} cells"
    return ""


@register.filter(name="markdown")
def render_markdown(text: str) -> SafeString:
    """Render Markdown as HTML that may stand on a page.

    What the renderer made is cleaned once more by a sanitiser, so that a fault of one of the two
    does no harm. A text that takes too long is shown as it was written.

    >>> render_markdown("# Aim\\n\\nFind *loaves*. <b>[Rules](javascript:alert(1))</b>")
    '<h3>Aim</h3>\\n<p>Find <em>loaves</em>. &lt;b&gt;[Rules](javascript:alert(1))&lt;/b&gt;</p>\\n'
    """
    if find_excess(text):
        return linebreaks(text, autoescape=True)
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
