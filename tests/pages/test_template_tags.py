"""The small parts of pages: every meaning is said by a word or a shape, not by colour alone."""

import re

import pytest
from django.core.paginator import Paginator
from django.template import Context, Template
from django.template.loader import render_to_string

from leaderboard.models import Run
from leaderboard.pages.template_tags import STATES

SIGNS = "templates/parts/signs.html"


def page(written, **context):
    return Template(written).render(Context(context))


@pytest.mark.parametrize("name", Run.State.values)
def test_every_state_of_a_run_has_a_shape_and_a_word(name):
    told = page("{% state name %}", name=name)
    assert f"<b>{STATES[name].word}</b>" in told
    assert f'href="#sign-{STATES[name].sign}"' in told


def test_a_state_says_how_far_it_is():
    assert "<b>Scoring</b>, topic 141 of 225" in page('{% state "scoring" "topic 141 of 225" %}')


def test_every_sign_in_use_is_drawn(settings):
    drawn = re.findall(r'id="sign-(\w+)"', (settings.BASE_DIR / SIGNS).read_text())
    used = {state.sign for state in STATES.values()} | {"ok", "info", "warn", "bad", "file"}
    assert used <= set(drawn)


@pytest.mark.parametrize(
    ("verdict", "classes"), [("better", "better"), ("worse", "worse"), ("not significant", "same")]
)
def test_a_verdict_stands_before_its_difference(verdict, classes):
    told = page("{% difference value verdict %}", value=-0.025, verdict=verdict)
    assert told == f'<span class="{classes}">−.025</span>'


def test_a_missing_difference_is_a_dash():
    assert page("{% difference value %}", value=None) == "–"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (3, '<span class="grade g4"><span class="aside">grade </span>3</span>'),
        (-1, '<span class="grade g0"><span class="aside">grade </span>−1</span>'),
        (None, '<span class="grade unjudged">unjudged</span>'),
    ],
)
def test_a_grade_says_its_number_and_unjudged_says_so(value, shown):
    assert page("{% grade value 3 %}", value=value) == shown


def test_crumbs_lead_back_and_end_here():
    told = page('{% crumbs "Tracks" "/" name "/benchmarks/b/board/" "Submit" %}', name="A & <b>")
    assert '<a href="/benchmarks/b/board/"><bdi>A &amp; &lt;b&gt;</bdi></a>' in told
    assert '<li aria-current="page"><bdi>Submit</bdi></li>' in told


def test_the_current_tab_says_that_it_is():
    assert page('{% tab "My runs" "/r/" "my runs" 0 %}') == (
        '<a href="/r/" aria-current="page">My runs <small>0</small></a>'
    )
    assert "aria-current" not in page('{% tab "Board" "/b/" "my runs" %}')


@pytest.mark.parametrize(
    ("kind", "role", "sign"),
    [("bad", "alert", "bad"), ("error", "alert", "bad"), ("success", "status", "ok")],
)
def test_a_notice_has_its_shape_and_bad_news_is_said_at_once(kind, role, sign):
    told = page("{% notice kind %}{{ words }}{% endnotice %}", kind=kind, words="<i>")
    assert f'role="{role}"' in told
    assert f"#sign-{sign}" in told
    assert "<div>&lt;i&gt;</div>" in told


def test_an_empty_place_says_why_under_its_heading():
    told = page('{% empty_state "No run yet" %}<p>Opens tomorrow.</p>{% endempty_state %}')
    assert told == '<div class="empty"><h2>No run yet</h2><p>Opens tomorrow.</p></div>'


def test_a_pager_keeps_the_other_choices_of_its_page(rf):
    words = Paginator(range(225), 100).page(2)
    request = rf.get("/topics/", {"measure": "P@10", "page": "2"})
    told = render_to_string("parts/pager.html", {"page": words, "noun": "topic"}, request)
    assert "101 to 200 of 225 topics" in told
    assert 'rel="next" href="?measure=P%4010&amp;page=3"' in told


def test_one_page_has_no_pager():
    assert not render_to_string(
        "parts/pager.html", {"page": Paginator(range(5), 9).page(1)}
    ).strip()
