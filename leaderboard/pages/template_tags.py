"""Template tags: signs, states, badges, grades, notices and links.

A colour is never the only signal: every tag also shows a shape or a word.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from secrets import token_urlsafe
from typing import Literal

from django import template
from django.template import Context
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from evaluation.answers.any_measure import parse_measure
from leaderboard.assessments.disagreements import Passage
from leaderboard.collections.topic_words import WordPiece
from leaderboard.display import charts
from leaderboard.display.charts.grades import RAMP, grade_class
from leaderboard.display.numbers import MISSING, difference_text
from leaderboard.display.page_gaps import leave_gap
from leaderboard.display.phases import WORDS as PHASE_WORDS
from leaderboard.display.phases import Phase
from leaderboard.display.signs import badge, marked, nugget_mark
from leaderboard.infrastructure.logs import request_number
from leaderboard.models.assessments import GradeText
from leaderboard.pages import page_urls
from leaderboard.pages.tabs import Tabs, link_tabs
from leaderboard.pages.wording.phrases import Phrase

register = template.Library()

Verdict = Literal["better", "worse", "not significant"]


@dataclass(frozen=True, slots=True)
class State:
    """The sign and the word for a state."""

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
    "draft": State("queued", "Draft"),
    "open": State("full", "Open"),
    "paused": State("half", "Paused"),
    "closed": State("withdrawn", "Closed"),
}
PHASE_SIGNS = {
    Phase.DRAFT: "queued",
    Phase.PLANNED: "queued",
    Phase.OPEN: "full",
    Phase.JUDGING: "half",
    Phase.CLOSED: "withdrawn",
    Phase.RELEASED: "full",
}
NOTICES = ("ok", "info", "warn", "bad")
MESSAGE_LEVELS = {"debug": "info", "success": "ok", "warning": "warn", "error": "bad"}


@register.simple_tag
def sign(name: str) -> SafeString:
    """Render a shape of `_signs.html`; the text beside it has the same meaning."""
    return mark_safe(f'<svg class="sign" aria-hidden="true"><use href="#sign-{name}"/></svg>')


@register.simple_tag
def state(name: str, detail: str = "") -> SafeString:
    """Render a state with its detail: "Scoring, topic 141 of 225"."""
    shown = STATES[name]
    detail = f", {detail}" if detail else ""
    return format_html(
        '<span class="state {}">{}<b>{}</b>{}</span>', name, sign(shown.sign), shown.word, detail
    )


@register.simple_tag
def once() -> SafeString:
    """Render a hidden form field that lets the server detect a repeated submission."""
    return format_html('<input type="hidden" name="once" value="{}">', token_urlsafe(16))


@register.simple_tag
def chip(name: str) -> SafeString:
    """Render a state as an outlined chip, for page headings only."""
    shown = STATES[name]
    return _outlined(name, shown.sign, shown.word)


@register.simple_tag
def phase_chip(phase: Phase) -> SafeString:
    """Render the phase of a track as an outlined chip."""
    return _outlined(phase, PHASE_SIGNS[phase], PHASE_WORDS[phase].lower())


def _outlined(name: str, shape: str, word: str) -> SafeString:
    return format_html('<span class="chip {}">{}{}</span>', name, sign(shape), word)


@register.simple_tag
def grade(value: int | None, top: int = RAMP) -> SafeString:
    """Render the grade of a document; `top` is the highest grade of the judgments."""
    if value is None:
        return mark_safe('<span class="grade unjudged">unjudged</span>')
    return format_html(
        '<span class="grade {}"><span class="aside">grade </span>{}</span>',
        grade_class(value, top),
        str(value).replace("-", "−"),
    )


@register.simple_tag
def reply(value: int | None, scale: Sequence[GradeText], top: int = RAMP) -> SafeString:
    """Render a grade of a scale, or the sign of a label of answers.

    Without a scale `top` is the highest grade.
    """
    label = next((each for each in scale or () if each.grade == value and each.key), None)
    if label is not None:
        return nugget_mark(label.grade, label.name)
    return grade(value, scale[0].grade if scale else top)


@register.simple_tag
def difference(
    value: float | None, verdict: Verdict | None = None, digits: int = 3, unit: str = "mean"
) -> SafeString:
    """Render a signed difference; the style sheet adds ▲, ▼ or ≈ for a verdict."""
    printed = difference_text(value, unit, digits)
    return mark_safe(marked(printed, verdict) if value is not None else MISSING)


@register.simple_tag
def sentence(phrases: Sequence[Phrase]) -> SafeString:
    """Render a sentence: names of strangers apart, numbers strong, differences with a verdict."""
    return format_html_join("", "{}", ((_phrase(each),) for each in phrases))


def _phrase(phrase: Phrase) -> str:
    if phrase.name:
        return format_html("<b><bdi>{}</bdi></b>", phrase.name)
    if phrase.strong:
        return format_html("<b>{}</b>", phrase.strong)
    if phrase.code:
        return format_html("<code><bdi>{}</bdi></code>", phrase.code)
    if phrase.verdict:
        return difference(phrase.difference, phrase.verdict, 3, phrase.unit)
    return phrase.words


@register.simple_tag
def topic_words(pieces: Iterable[WordPiece], kind: str = "") -> SafeString:
    """Render a text with the words of its topic marked.

    A tag and no template, because white space within a text counts: marks of assessors are places
    in it.
    """
    opening = format_html('<mark class="{}">', kind) if kind else "<mark>"
    # Hundreds of pieces: to format each one takes five times as long as to escape it.
    words = (
        f"{opening}{html.escape(each.words)}</mark>" if each.is_term else html.escape(each.words)
        for each in pieces
    )
    return mark_safe("".join(words))


@register.simple_tag
def passages(pieces: Iterable[Passage]) -> SafeString:
    """Render a text with the passages that assessors marked, and whose they are."""
    mark = '<mark class="span">{}<sup>{}</sup></mark>'
    return format_html_join(
        "",
        "{}",
        (
            (
                format_html(mark, each.text, ", ".join(each.assessors))
                if each.assessors
                else each.text,
            )
            for each in pieces
        ),
    )


@register.simple_tag
def crumbs(*steps: str) -> SafeString:
    """Render breadcrumbs from alternating names and URLs; the last is this page's name."""
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
    """Break lines of a command only between words; browsers also break after `--`."""
    return format_html_join(" ", "<span>{}</span>", ((word,) for word in command.split(" ")))


@register.simple_tag(takes_context=True)
def address(context: Context, page: str, *of: str, **query: str) -> str:
    """Return the URL of a page `of` a track or run; it keeps the reader's measure and baseline."""
    return page_urls.page_url(
        page, page_urls.linked_parameters(context["request"].GET), *of, **query
    )


@register.simple_tag(takes_context=True)
def explained(
    context: Context, name: str, asked: Mapping[str, object] | None = None, **query: str
) -> SafeString:
    """Render the link that explains a statistic; `name` is a key of STATISTICS.

    `asked` and `query` are its parameters.
    """
    href = address(context, "statistic", context["track"].address, name, **(asked or {}), **query)
    return format_html('<a data-drawer href="{}">How is this computed?</a>', href)


@register.simple_tag
def measure(name: str) -> SafeString:
    """Render the name of a measure as a link to its definition."""
    page = f"{reverse('measures')}#{parse_measure(name).name}"
    return format_html('<a href="{}">{}</a>', page, name)


@register.simple_tag
def tab(name: str, address: str, current: str, note: str | int = "") -> SafeString:
    """Render a tab; it is current if `current` is its name in lower case."""
    return format_html(
        '<a href="{}"{}>{}{}</a>',
        address,
        mark_safe(' aria-current="page"' if name.lower() == current else ""),
        name,
        format_html(" <small>{}</small>", note) if note != "" else "",
    )


@register.simple_tag(takes_context=True)
def tabs_around(context: Context, current: str) -> Tabs:
    """Return the tabs of a page of a track or a benchmark; `current` names its view."""
    return link_tabs(context["sight"], current, context["request"].GET)


@register.simple_block_tag
def notice(content: str, kind: str = "info") -> SafeString:
    """Render a notice of a kind: ok, info, warn, bad or a level of Django's messages."""
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
def empty_state(content: str, title: str) -> SafeString:
    """Render an empty state: a title and how it fills."""
    return format_html('<div class="empty"><h2>{}</h2>{}</div>', title, content)


@register.simple_tag(takes_context=True)
def follow(context: Context, trigger: str = "every 2s", page: str = "") -> SafeString:
    """Render the attributes of an element that updates its page while something is awaited.

    It takes what the page shows by then, or another `page`; what was said beside it stays.
    """
    return format_html(
        'hx-get="{}" hx-trigger="{}" hx-select="main" hx-target="main" hx-swap="outerHTML" '
        'hx-select-oob="#unread"',
        page or context["request"].get_full_path(),
        trigger,
    )


@register.simple_tag(takes_context=True)
def account_menu(context: Context) -> SafeString:
    """Render the menu of a signed-in reader; a page that is kept has a gap there."""
    names = ("user", "num_unread", "csrf_token")
    return leave_gap("account") or mark_safe(
        render_to_string("account/_menu.html", {name: context[name] for name in names})
    )


@register.simple_tag
def request_id() -> str:
    """Return the id of this request, as in the log."""
    return request_number.get()


# Badges, and charts in table cells, which every cell of a column draws on one axis.
for cell in (
    badge,
    charts.bounds_cell,
    charts.column_head,
    charts.grade_stack,
    charts.judged_bar,
    charts.range_cell,
    nugget_mark,
):
    register.simple_tag(cell)
