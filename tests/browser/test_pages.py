"""Every page, with and without JavaScript: it fits, it says nothing to the console, axe is content.

Pages are found by their links, so one that is new is walked too, and one without a link is missed.
By day, one page of each kind that Ada opens stands for all of them.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from leaderboard.display.numbers import size
from leaderboard.pages.middleware import POLICY
from rankfield import Site as Client
from tests.browser.crawling import names_of_pages, pages_of
from tests.browser.test_journey import WORD, choose, sign_up
from tests.builders import OTHER_RUN, QRELS, RUN
from tests.scoring.test_answer_runs import ANSWERS
from tests.services.machines import Site, until
from tests.services.test_systems import SLUGS, make_benchmark

# Forms lead there, and no link; where one may not be; what is not there.
BEYOND_LINKS = [
    "/search/?q=bread",
    "/benchmarks/blind/manage/",
    "/benchmarks/blind/manage/section/runs/",
    "/benchmarks/blind/manage/section/scores/",
    "/benchmarks/blind/desk/deadlines/",
    "/benchmarks/blind/manage/release/",
    "/benchmarks/open/judging/judging-1/close/",
    "/nowhere/",
]


# One page of each kind: a list, a board, tables beside charts, a document's text, forms.
KINDS = [
    "/",
    "/benchmarks/open/board/",
    "/benchmarks/open/significance/",
    "/benchmarks/open/topics/map/",
    "/benchmarks/open/topic/?number=1",
    "/benchmarks/open/submit/",
    "/benchmarks/open/manage/",
    "/collections/bread/",
]

NOBODY: dict = {"cookies": [], "origins": []}


@dataclass
class Reader:
    """Somebody's cookies, and the pages that this one finds."""

    cookies: dict
    pages: dict[str, str]
    # On a track that nobody else looks at.
    is_alone: bool = False


@pytest.fixture(scope="package")
def ada(browser, scene: Site) -> dict:
    """The cookies of Ada, with a pool, new judgments, and runs in every state."""
    set_password = (
        "from leaderboard.models import User; u = User.objects.get(username='ada');"
        f" u.set_password('{WORD}'); u.save()"
    )
    scene.manage("shell", "-c", set_password)
    token = scene.manage("create_token", "ada", "--organiser")
    for text in (RUN, RUN.replace("9.0", "nan", 1)):
        file = SimpleUploadedFile("more.run", text.encode())
        scene.ask("/tracks/open/runs", token, file=file)
    more = SimpleUploadedFile("more.qrels", (QRELS + "1 0 d9 2\n").encode())
    scene.ask("/collections/bread/judgments", token, version="v2", file=more)
    until(lambda: states(scene, token) == {"scored", "refused"}, "the runs are done")
    submit_systems(scene)
    context = browser.new_context(base_url=scene.url)
    tab = context.new_page()
    tab.goto("/account/login/")
    tab.get_by_label("Name").fill("ada")
    tab.get_by_label("Password").fill(WORD)
    tab.get_by_role("button", name="Sign in").click()
    gather_a_pool(tab)
    keep_the_pool(tab)
    gather_a_pool(tab)
    gather_a_pool(tab)
    keep_the_pool(tab)
    plan_to_judge_the_pool(tab)
    freeze_the_board(tab, "/benchmarks/open/snapshots/")
    freeze_the_board(tab, "/benchmarks/fruit/snapshots/")
    cookies = context.storage_state()
    context.close()
    return cookies


def states(scene: Site, token: str) -> set[str]:
    return {run["state"] for run in scene.ask("/tracks/open/runs", token)["items"]}


def gather_a_pool(tab) -> None:
    tab.goto("/benchmarks/open/pools/")
    tab.locator("[name=runs]").first.check()
    with tab.expect_navigation():
        tab.get_by_role("button", name="Create pool").click()


def keep_the_pool(tab) -> None:
    keep = tab.get_by_role("button", name="Approve pool")
    until(lambda: tab.reload() and keep.count(), "the pool is gathered")
    with tab.expect_navigation():
        keep.click()


def plan_to_judge_the_pool(tab) -> None:
    tab.get_by_role("link", name="Judge it here").click()
    with tab.expect_navigation():
        tab.get_by_role("button", name="Make the draft").click()


def submit_systems(scene: Site) -> None:
    """Two versions of a system of Ada's, and one of another, to a benchmark of two tracks."""
    client = Client(scene.url, make_benchmark(scene))
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("press", RUN), ("press", OTHER_RUN), ("mill", RUN)):
            for slug in SLUGS:
                Path(folder, f"{slug}.run").write_text(text.replace("ben-bm25", name))
            client.wait_for_version(client.submit_system("fruit", folder, name), timeout=60)


def submit_answers(scene: Site) -> str:
    """The page of a scored run of answers of Ada's, on a track of their own."""
    token = scene.manage("create_token", "ada", "--organiser")
    settings = {"slug": "said", "name": "Said", "collection": "bread", "judgments": "v1"}
    measures = {"measures": ["AP"], "primary_measure": "AP"}
    scene.ask("/tracks", token, {**settings, **measures, "run_kind": "answers"})
    file = SimpleUploadedFile("said.jsonl", ANSWERS.encode())
    run = scene.ask("/tracks/said/runs", token, file=file)["id"]
    until(lambda: scene.ask(f"/runs/{run}", token)["state"] == "scored", "the answers are scored")
    return f"/runs/{run}/"


SELDOM = """
from leaderboard.models import Track
from tests.browser.seldom import make_seldom
make_seldom(Track.objects.get(slug="said"))
"""


def freeze_the_board(tab, address: str) -> None:
    tab.goto(address)
    tab.get_by_label("Name").fill("As published")
    with tab.expect_navigation():
        tab.get_by_role("button", name="Freeze board").click()


@pytest.fixture(scope="package")
def organiser(browser, scene: Site, ada: dict) -> Reader:
    """Ada, who walks by every link, and on a track of answers too."""
    context = browser.new_context(base_url=scene.url, storage_state=ada)
    tab, run = context.new_page(), submit_answers(scene)
    scene.manage("shell", "-c", SELDOM)
    answers = pages_of(tab, f"{run}ranking/?number=1", within=(run,))
    reader = found_by(context, tab)
    return replace(reader, pages={"answer": answers["answer"], **reader.pages})


@pytest.fixture(scope="package")
def participant(browser, scene: Site, organiser: Reader, tmp_path_factory) -> Reader:
    """Flo, with a run on the open track and one on the blind track."""
    context = browser.new_context(base_url=scene.url)
    tab = context.new_page()
    sign_up(tab, "flo")
    for slug in ("open", "blind"):
        tab.goto(f"/benchmarks/{slug}/submit/")
        choose(tab, tmp_path_factory.mktemp("flo") / "flo.run", RUN.replace("9.0", "9.5"))
        tab.get_by_role("button", name="Submit run").click()
        tab.wait_for_url("**/runs/*/")
    return found_by(context, tab)


@pytest.fixture(scope="package")
def stranger(browser, scene: Site, organiser: Reader) -> Reader:
    """Nobody, who is not signed in."""
    context = browser.new_context(base_url=scene.url)
    return found_by(context, context.new_page())


# What few tracks have, and what one section of settings alone leads to.
STARTS = (
    *(f"/benchmarks/open/manage/section/{name}/" for name in ("programs", "archive")),
    *("/benchmarks/open/board/", "/benchmarks/open/systems/", "/benchmarks/years/board/"),
    *("/benchmarks/said/nuggets/", "/benchmarks/said/battles/", "/benchmarks/judges/judges/"),
    *("/benchmarks/years/register/", "/benchmarks/years/manage/registration/"),
)


def found_by(context, tab) -> Reader:
    reader = Reader(context.storage_state(), pages_of(tab, *STARTS))
    context.close()
    return reader


@pytest.fixture(scope="package")
def visitor(browser, crowd: Site) -> Reader:
    """Nobody either, who looks at the long board alone: second pages, tests, costs."""
    context = browser.new_context(base_url=crowd.url)
    tab = context.new_page()
    found = pages_of(tab, "/benchmarks/many/board/")
    pages = {name: each for name, each in found.items() if each.startswith(ABOUT_IT)}
    again = {f"{name} again": second_page(tab, each) for name, each in pages.items()}
    pages |= {name: each for name, each in again.items() if each}
    context.close()
    return Reader(NOBODY, pages, is_alone=True)


ABOUT_IT = ("/benchmarks/many/", "/runs/")


def second_page(tab, address: str) -> str:
    """Where a page goes on, if it does."""
    tab.goto(address)
    return tab.evaluate("""(following => following ? following.pathname + following.search : "")(
        document.querySelector(".pager a[rel=next]"))""")


@pytest.fixture(params=["organiser", "participant", "stranger", "visitor"])
def reader(request) -> Reader:
    return request.getfixturevalue(request.param)


def test_no_kind_of_page_scrolls_sideways_or_fails_axe(page, ada):
    page.context.add_cookies(ada["cookies"])
    wrong = wrong_of(page, KINDS)
    assert not wrong, "\n".join(wrong)


# A browser of their own judges there, in `tests/services/test_judging.py`.
# No message is sent there, emails alone lead to the end of email, and a link is given to voters.
BY_EMAIL = {"join_battles", "message", "unsubscribe"}
OF_ASSESSORS = {"my_judging", "join_judging", "before_topic", "judge", "topic_end"}


@pytest.mark.night
def test_links_lead_to_every_page(organiser, participant, stranger):
    linked = {*organiser.pages, *participant.pages, *stranger.pages}
    found = linked | {"search", "release", "close_assessment"} | OF_ASSESSORS | BY_EMAIL
    assert names_of_pages() - found == set()


@pytest.mark.night
def test_strangers_find_all_of_the_long_board(visitor):
    assert {"cost", "compare", "history", "measures_correlation", "run"} <= set(visitor.pages)
    assert {"ranking again", "topics again", "topic_map again"} <= set(visitor.pages)


@pytest.mark.night
def test_no_page_scrolls_sideways_or_fails_axe(page, reader, organiser):
    page.context.add_cookies(reader.cookies["cookies"])
    wrong = wrong_of(page, new_to(reader, organiser))
    assert not wrong, "\n".join(wrong)


@pytest.mark.night
@pytest.mark.parametrize(
    ("slug", "said"),
    [
        ("unjudged", "The board appears once judgments exist."),
        ("empty", "The board appears once a run is scored."),
        ("planned", "Not open yet"),
        ("rounded", "Means are rounded to 2 decimals."),
    ],
)
def test_a_track_in_an_odd_state_passes_too(page, odd, slug, said):
    page.goto(f"/benchmarks/{slug}/board/")
    assert said in page.locator("main").inner_text()
    within = (f"/benchmarks/{slug}/", "/runs/")
    pages = pages_of(page, f"/benchmarks/{slug}/board/", within=within)
    wrong = wrong_of(page, pages.values())
    assert not wrong, "\n".join(wrong)


@pytest.mark.night
def test_what_is_said_of_a_run_that_was_taken_off_passes_too(page, odd):
    ((run,),) = odd.rows("select id from leaderboard_run where disqualified_at is not null")
    assert page.goto(f"/runs/{run}/").status == 410
    assert seen(page) == []


@pytest.mark.night
def test_the_refusal_of_what_organisers_alone_see_passes_too(page, participant):
    page.context.add_cookies(participant.cookies["cookies"])
    assert page.goto("/benchmarks/open/manage/").status == 403
    assert seen(page) == []


def test_what_a_form_says_that_was_open_too_long_passes_too(page):
    page.goto("/account/login/")
    page.get_by_label("Name").fill("ada")
    page.get_by_label("Password").fill(WORD)
    page.context.clear_cookies()
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Form not sent").wait_for()
    assert seen(page) == []


@pytest.mark.parametrize(
    "template", ["500.html", pytest.param("site/outage.html", marks=pytest.mark.night)]
)
def test_the_pages_for_trouble_pass_too(page, scene, template):
    """No address gives them while all is well, so the site prints them."""
    body = scene.manage("shell", "-v0", "-c", PRINT.format(template))
    policy = {"Content-Security-Policy": POLICY}
    page.route("**/trouble/", lambda route: route.fulfill(body=body, headers=policy))
    page.goto("/trouble/")
    assert page.locator("h1").is_visible() and page.evaluate("document.styleSheets.length") == 1
    assert seen(page) == []


PRINT = (
    "from django.template.loader import render_to_string;"
    " from leaderboard.infrastructure import outages;"
    " print(render_to_string('{}', {{'outage': outages.DATABASE_DOWN}}))"
)


def wrong_of(page, addresses: Iterable[str]) -> list[str]:
    wrong: list[str] = []
    for address in addresses:
        page.goto(address)
        wrong += [f"{address} {fault}" for fault in seen(page)]
        if page.evaluate(OPEN_ALL):
            wrong += [f"{address} opened {fault}" for fault in seen(page, within="details")]
    return wrong


# Closed, the tables beneath the charts are hidden from axe too.
OPEN_ALL = """[...document.querySelectorAll("details:not([open])")]
  .map((each) => { each.open = true; }).length"""


def seen(page, within: str = "html") -> list[str]:
    """What is wrong with a page on a desk by day and on a phone by night."""
    wrong: list[str] = []
    for width, scheme in ((1280, "light"), (390, "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        if page.evaluate("document.documentElement.scrollWidth") > width:
            wrong.append(f"is wider than {width}")
        wrong += [f"at {width} hides some of {each}" for each in hiding(page)]
        wrong += [f"at {width}, {scheme}: {fault}" for fault in faults(page, within)]
    return wrong


@pytest.mark.parametrize("address", ["/benchmarks/open/pools/pool-2/", "/collections/bread/"])
def test_on_a_phone_the_buttons_of_a_heading_fill_its_line(page, ada, address):
    page.context.add_cookies(ada["cookies"])
    page.set_viewport_size({"width": 390, "height": 900})
    page.goto(address)
    shown = page.locator(".head .actions :is(a, button, summary):visible").all()
    boxes = [each.bounding_box() for each in shown]
    gaps = 12 * (len(boxes) - 1)
    assert sum(each["width"] for each in boxes) + gaps == pytest.approx(390 - 2 * 16, abs=1)


@pytest.mark.parametrize("address", ["/benchmarks/open/judgments/", "/benchmarks/open/runs/"])
def test_on_a_phone_a_table_of_few_columns_does_not_scroll_sideways(page, ada, address):
    page.context.add_cookies(ada["cookies"])
    page.set_viewport_size({"width": 390, "height": 900})
    page.goto(address)
    frames = page.locator(".scroll.fits:visible")
    wider = "(frames) => frames.filter((each) => each.scrollWidth > each.clientWidth).length"
    assert (frames.count() > 0, frames.evaluate_all(wider)) == (True, 0)


def test_two_clicks_make_one_token(page, ada):
    page.context.add_cookies(ada["cookies"])
    for name in ("first", "second", "third"):
        page.goto("/account/")
        page.get_by_label("Purpose").fill(name)
        page.get_by_role("button", name="Create token").dblclick(delay=40)
        page.locator("#secret").wait_for()
    page.goto("/account/")
    made = page.get_by_role("rowheader").all_inner_texts()
    assert [made.count(name) for name in ("first", "second", "third")] == [1, 1, 1]


def test_a_number_opens_how_it_is_computed_and_gets_the_focus_back(page, ada):
    page.goto("/benchmarks/open/topic/?number=1")
    number = page.locator("a.number").first
    number.click()
    drawer = page.get_by_role("dialog", name="How is this computed?")
    drawer.get_by_text("full value").wait_for()
    assert faults(page) == []
    page.keyboard.press("Escape")
    assert not drawer.is_visible()
    assert number.evaluate("each => each === document.activeElement")


def test_going_back_closes_the_drawer_and_stays_on_the_page(page, ada):
    page.goto("/measures/")
    page.goto("/benchmarks/open/topic/?number=1")
    page.locator("a.number").first.click()
    drawer = page.get_by_role("dialog", name="How is this computed?")
    drawer.get_by_text("full value").wait_for()
    page.go_back()
    drawer.wait_for(state="hidden")
    assert page.url.endswith("/benchmarks/open/topic/?number=1")
    page.go_back()
    page.wait_for_url("**/measures/")


def test_arrow_keys_go_through_the_topics_of_two_runs(page, scene, ada):
    (one,), (other,), *_ = scene.rows(SCORED_ON_THE_OPEN_TRACK)
    page.goto(f"/benchmarks/open/compare/?a={one}&b={other}")
    topic = page.locator("#topic h2")
    topics = [topic.inner_text()]
    for key in ("ArrowRight", "ArrowLeft"):
        with page.expect_navigation():
            page.keyboard.press(key)
        topics.append(topic.inner_text())
    assert topics[0] == topics[2] != topics[1]


SCORED_ON_THE_OPEN_TRACK = (
    "select run.id from leaderboard_run run join leaderboard_track track on track.id = track_id"
    " where slug = 'open' and state = 'scored'"
)


def new_to(reader: Reader, organiser: Reader) -> list[str]:
    """The pages of a reader; of others than the organiser those that look different to them."""
    if reader is organiser:
        return [*reader.pages.values(), *BEYOND_LINKS]
    if reader.is_alone:
        return list(reader.pages.values())
    different = {"home", "board", "run"} | (set(reader.pages) - set(organiser.pages))
    return [address for name, address in reader.pages.items() if name in different]


# Frames that are narrower than what stands in them, and whose edges have no shade that says so.
HIDING = """[...document.querySelectorAll("body *")].filter((each) => {
  const style = getComputedStyle(each);
  const scrolls = /auto|scroll/.test(style.overflowX) && each.scrollWidth > each.clientWidth;
  // What is folded keeps the width that the page had when it came.
  return scrolls && each.checkVisibility() && !style.backgroundAttachment.includes("local");
}).map((each) => each.className || each.outerHTML.slice(0, 80))"""


def hiding(page) -> list[str]:
    return page.evaluate(HIDING)


def faults(page, within: str = "html") -> list[str]:
    """What axe finds: rule and the first element that breaks it."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, context=within).response["violations"]
    return [f"{each['id']}: {each['nodes'][0]['html']}" for each in found]


@pytest.mark.night
def test_every_page_says_the_same_without_javascript(browser, scene, reader):
    plain, scripted = (
        browser.new_context(
            base_url=scene.url, java_script_enabled=has_script, storage_state=reader.cookies
        )
        for has_script in (False, True)
    )
    bare, full = plain.new_page(), scripted.new_page()
    until(lambda: is_idle(scene), "no page is going to change by itself", seconds=600)
    for address in reader.pages.values():
        assert bare.goto(address).status in (200, 410), address
        full.goto(address)
        assert said_by(bare) ^ said_by(full) == set(), address
        assert bare.locator("h1").count() == 1, address
    plain.close()
    scripted.close()


def test_the_columns_to_choose_from_scroll_in_a_low_window(page, ada):
    page.set_viewport_size({"width": 1280, "height": 300})
    page.goto("/benchmarks/open/board/")
    page.get_by_text("Columns").first.click()
    assert page.locator(".columns[open] > div").bounding_box()["height"] <= 150


@pytest.mark.parametrize("num_bytes", [1, 640, 999, 1000, 16_400, 16_500, 999_600, 2_250_000])
def test_a_file_has_one_size_in_the_browser_and_on_the_server(page, num_bytes):
    page.goto("/")
    assert page.evaluate(f"bytes({num_bytes})") == size(num_bytes)


def is_idle(scene: Site) -> bool:
    open_jobs = "select 1 from leaderboard_job where state in ('queued', 'running')"
    return not scene.rows(open_jobs)


# What a page says of this moment: seconds since something, when it was answered, who works; and
# all that a script adds, the times of the reader's own zone.
MOMENTS = re.compile(
    r"\d+ (?:s|min|seconds?|minutes?)\b|\d\d:\d\d(?::\d\d)?|just now|rankfield-\d+@.*"
    r"| \([^()]* your time\)"
)


def said_by(tab) -> set[str]:
    """Headings, cells, links, fields and sentences of the page, without what changes by itself."""
    words = tab.locator("main").locator("h1, h2, h3, th, td, a, label, button, p, dt, li")
    return {MOMENTS.sub("", " ".join(each.split())) for each in words.all_text_contents()}
