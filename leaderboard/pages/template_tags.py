"""The small parts of pages as tags: signs, states, badges, grades, notices.

A colour never stands alone: every part here says its meaning by a shape or a word first.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from secrets import token_urlsafe
from typing import Literal

from django import template
from django.template import Context
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from evaluation.measures import parse_measure
from leaderboard.display.charts.grades import RAMP, grade_class
from leaderboard.display.numbers import MISSING, signed
from leaderboard.infrastructure.logs import request_number
from leaderboard.pages import page_urls

register = template.Library()

Verdict = Literal["better", "worse", "not significant"]


@dataclass(frozen=True, slots=True)
class State:
    """Where something stands: the shape and the word that say so."""

    sign: str
    word: str


STATES = {
    "queued": State("queued", "Queued"),
    "checking": State("half", "Checking"),
    "refused": State("bad", "Rejected"),
    "valid": State("ok", "Valid"),
    "scoring": State("half", "Scoring"),
    "scored": State("full", "Scored"),
    "failed": State("failed", "Failed"),
    "withdrawn": State("withdrawn", "Withdrawn"),
    "hidden": State("withdrawn", "Hidden"),
    "disqualified": State("withdrawn", "Disqualified"),
    "preview": State("queued", "Ready to review"),
    "proposed": State("queued", "Awaiting approval"),
    "kept": State("full", "Approved"),
    "importing": State("half", "Importing"),
    "ready": State("full", "Ready"),
    "open": State("full", "open"),
    "closed": State("withdrawn", "closed"),
    "upcoming": State("queued", "not open yet"),
    "waiting": State("half", "waiting for judgments"),
}
NOTICES = ("ok", "info", "warn", "bad")
MESSAGE_LEVELS = {"debug": "info", "success": "ok", "warning": "warn", "error": "bad"}
DIFFERENCE_CLASSES = {"better": "better", "worse": "worse", "not significant": "same", None: ""}


@register.simple_tag
def sign(name: str) -> SafeString:
    """A shape of `_signs.html`; the words beside it carry the same meaning."""
    return mark_safe(f'<svg class="sign" aria-hidden="true"><use href="#sign-{name}"/></svg>')


@register.simple_tag
def state(name: str, detail: str = "") -> SafeString:
    """Where a run stands, in a line of text: "Scoring, topic 141 of 225"."""
    shown = STATES[name]
    detail = f", {detail}" if detail else ""
    return format_html(
        '<span class="state {}">{}<b>{}</b>{}</span>', name, sign(shown.sign), shown.word, detail
    )


@register.simple_tag
def once() -> SafeString:
    """In a form: what makes its second sending known as such."""
    return format_html('<input type="hidden" name="once" value="{}">', token_urlsafe(16))


@register.simple_tag
def chip(name: str) -> SafeString:
    """The state in an outline, beside the heading of a page and nowhere else."""
    shown = STATES[name]
    return format_html('<span class="chip {}">{}{}</span>', name, sign(shown.sign), shown.word)


@register.simple_tag
def badge(kind: str) -> SafeString:
    """What a run is: baseline, yours, late, manual, unpooled, internal, blind."""
    word = escape(kind)
    return mark_safe(f'<span class="badge {word.replace(" ", "-")}">{word}</span>')


@register.simple_tag
def grade(value: int | None, top: int = RAMP) -> SafeString:
    """The grade of a document; `top` is the highest grade of its judgments."""
    if value is None:
        return mark_safe('<span class="grade unjudged">unjudged</span>')
    return format_html(
        '<span class="grade {}"><span class="aside">grade </span>{}</span>',
        grade_class(value, top),
        str(value).replace("-", "−"),
    )


@register.simple_tag
def difference(value: float | None, verdict: Verdict | None = None, digits: int = 3) -> SafeString:
    """A signed difference; with a verdict the style sheet puts ▲, ▼ or ≈ before it."""
    return mark_safe(marked(signed(value, digits), verdict) if value is not None else MISSING)


def marked(printed: str, verdict: str | None) -> str:
    """A difference that is printed already, with the sign of its verdict."""
    return f'<span class="{DIFFERENCE_CLASSES[verdict or None]}">{printed}</span>'


@register.simple_tag
def crumbs(*steps: str) -> SafeString:
    """The way here: names and addresses by turns, at last the name of this page alone."""
    *way, here = steps
    links = format_html_join(
        "",
        '<li><a href="{}"><bdi>{}</bdi></a></li>',
        zip(way[1::2], way[::2], strict=True),
    )
    return format_html(
        '<nav class="crumbs" aria-label="Breadcrumb"><ol>{}'
        '<li aria-current="page"><bdi>{}</bdi></li></ol></nav>',
        links,
        here,
    )


@register.filter
def by_words(command: str) -> SafeString:
    """A command that lines break between its words: by itself a browser also parts `--` from it."""
    return format_html_join(" ", "<span>{}</span>", ((word,) for word in command.split(" ")))


@register.simple_tag(takes_context=True)
def address(context: Context, page: str, *of: str, **query: str) -> str:
    """A page of the track or the run `of`; the reader's measure and baseline go along."""
    return page_urls.page_url(
        page, page_urls.carried_parameters(context["request"].GET), *of, **query
    )


@register.simple_tag(takes_context=True)
def explained(context: Context, name: str, **query: str) -> SafeString:
    """The way to how a number beside the measures is made; `name` is one of STATISTICS."""
    href = address(context, "statistic", context["track"].slug, name, **query)
    return format_html('<a data-drawer href="{}">How is this computed?</a>', href)


@register.simple_tag
def measure(name: str) -> SafeString:
    """A measure's name, which leads to what the page of all measures says of it."""
    page = f"{reverse('measures')}#{parse_measure(name).name}"
    return format_html('<a href="{}">{}</a>', page, name)


@register.simple_tag
def tab(name: str, address: str, current: str, note: str | int = "") -> SafeString:
    """One tab; it is the current one where its name in lower case is."""
    return format_html(
        '<a href="{}"{}>{}{}</a>',
        address,
        mark_safe(' aria-current="page"' if name.lower() == current else ""),
        name,
        format_html(" <small>{}</small>", note) if note != "" else "",
    )


@register.simple_block_tag
def notice(content: str, kind: str = "info") -> SafeString:
    """A message with its shape: ok, info, warn, bad, or a level of Django's messages."""
    kind = MESSAGE_LEVELS.get(kind, kind if kind in NOTICES else "info")
    role = mark_safe(' role="alert"' if kind == "bad" else ' role="status"')
    return format_html(
        '<div class="notice {}"{}>{}<div>{}</div></div>',
        kind,
        role,
        sign(kind),
        content,
    )


@register.simple_block_tag
def empty(content: str, title: str) -> SafeString:
    """A place with nothing in it yet: why, and what comes when."""
    return format_html('<div class="empty"><h2>{}</h2>{}</div>', title, content)


@register.simple_tag
def request_id() -> str:
    """The number by which the log knows this request."""
    return request_number.get()
