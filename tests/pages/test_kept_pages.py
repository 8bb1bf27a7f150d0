"""Pages that are kept: made once, never stale, and the same as without keeping."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.actions import runs, submissions, tracks
from leaderboard.boards import kept_pages
from leaderboard.boards.disclosure import track_or_404
from leaderboard.boards.page_keys import find_seen_track
from leaderboard.boards.staleness import SHOWN
from leaderboard.infrastructure import page_store
from leaderboard.models import Job, Notice, Run, Team, Track, User, Worker
from leaderboard.pages.views import boards
from tests.benchmark_scene import ROLLS_RUN, make_benchmark, send
from tests.builders import OTHER_RUN, RUN, make_run, signed_in, upload, work
from tests.conftest import forget
from tests.white_space import squeeze

pytestmark = pytest.mark.long

BOARD = "/benchmarks/baking/tracks/bread/board/"
FILES = [f"{BOARD}?format={name}" for name in ("csv", "tsv", "json", "md", "tex")]
BENCHMARK = "/benchmarks/baking/board/"
OTHERS = [
    *(
        "/benchmarks/baking/tracks/bread/topics/",
        "/benchmarks/baking/tracks/bread/topics/?format=csv",
        "/benchmarks/baking/tracks/bread/topic/?number=1",
    ),
    *(
        "/benchmarks/baking/tracks/bread/topic/?number=3&measure=P@5",
        "/benchmarks/baking/tracks/bread/document/?docno=d1&number=1",
    ),
    *("/runs/{run}/", "/runs/{run}/topics/", "/runs/{run}/failures/"),
    *(BENCHMARK, f"{BENCHMARK}?format=csv", f"{BENCHMARK}?measure=P@5&family=all"),
    *("/api/v1/tracks/bread/leaderboard", "/api/v1/tracks/bread/leaderboard?format=tsv"),
    "/api/v1/benchmarks/baking/board",
]
OURS = re.compile(r'"(leaderboard_\w+)"\."')
NEVER_CHANGED = {"leaderboard_judgment", "leaderboard_stratum", "leaderboard_intent"}
# Of the version itself, of the banner of a stopped queue, and of a hole in the page.
PASSING = {f"leaderboard_{name}" for name in ("trackchange", "job", "worker", "notice")}
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="\w+"')
ANSWERED = re.compile(r"answered in \d+ ms|data-in=\"-?\d+\"")


def make_scene(ada: User, ben: User, cat: User) -> Track:
    """A track of a benchmark, with a run of Ben's system and one of Ada's."""
    benchmark = make_benchmark(ada, ben)
    send(benchmark, ben, {"bread.run": RUN, "rolls.run": ROLLS_RUN.replace("ben-bm25", "oven")})
    Track.objects.update(closes_at=timezone.now() + timedelta(days=9))
    track = Track.objects.get(slug="bread")
    make_run(track, ada, OTHER_RUN)
    return track


@pytest.fixture
def times_made(monkeypatch) -> Iterator[list[str]]:
    """The addresses of the boards that were made, and not found."""
    made: list[str] = []
    make = boards.find_visible_board
    monkeypatch.setattr(
        boards,
        "find_visible_board",
        lambda sight, choice: made.append(sight.track.slug) or make(sight, choice),
    )
    return made


def read(client: Client, address: str = BOARD, **headers: str) -> str:
    answer = client.get(address, headers=headers)
    assert answer.status_code == 200
    return answer.content.decode()


def without_moments(page: str) -> str:
    return ANSWERED.sub("", TOKEN.sub("", page))


@pytest.mark.parametrize("address", [BOARD, *FILES, *OTHERS])
@pytest.mark.parametrize("name", ["", "ada", "ben", "cat"])
def test_a_kept_answer_is_what_would_be_made(scene, name, address, monkeypatch):
    client = signed_in(User.objects.get(username=name)) if name else Client()
    address = address.format(run=Run.objects.get(tag="ben-bm25").pk)
    # The first look reads the notices about the page.
    assert client.get(address).has_header("ETag")
    first, second = read(client, address), read(client, address)
    monkeypatch.setattr(kept_pages, "_may_be_kept", lambda request: False)
    made = read(client, address)
    assert without_moments(first) == without_moments(second) == without_moments(made)
    assert not client.get(address).has_header("ETag")


@pytest.mark.parametrize("address", [BOARD, *FILES, *OTHERS])
def test_a_kept_answer_reads_only_tables_whose_changes_are_noted(scene, address):
    forget()
    address = address.format(run=Run.objects.get(tag="ben-bm25").pk)
    with CaptureQueriesContext(connection) as queries:
        assert signed_in(scene.benchmark.owner).get(address).status_code == 200
    read = {table for each in queries for table in OURS.findall(each["sql"])}
    assert read <= {each.model._meta.db_table for each in SHOWN} | NEVER_CHANGED | PASSING


@pytest.mark.parametrize("name", ["", "ada", "ben", "cat", "root"])
def test_what_is_seen_at_one_look_agrees_with_the_sight(scene, name):
    User.objects.create_superuser("root")
    scene.participations.update(closes_at=timezone.now() + timedelta(days=30))
    viewer = User.objects.get(username=name) if name else AnonymousUser()
    seen, sight = find_seen_track(viewer, "bread").sight, track_or_404(viewer, "bread")
    for told in ("is_organiser", "is_assessing", "accepts_runs", "can_see_scores", "team"):
        assert getattr(seen, told) == getattr(sight, told)
    assert seen.deadline == sight.deadline


def test_a_board_is_made_once_for_all_who_see_the_same(scene, times_made, cat):
    read(Client()), read(Client())
    assert len(times_made) == 1
    read(signed_in(cat)), read(signed_in(User.objects.create_user("dan")))
    assert len(times_made) == 2


def test_what_is_compressed_once_is_a_gzip_file(scene):
    answer = Client().get(BOARD, headers={"Accept-Encoding": "gzip"})
    assert answer["Content-Encoding"] == "gzip"
    page = squeeze(gzip.decompress(answer.content).decode())
    assert without_moments(page) == without_moments(read(Client()))


def test_a_reader_who_has_the_page_gets_no_page(scene):
    answer = Client().get(BOARD)
    again = Client().get(BOARD, headers={"If-None-Match": answer["ETag"]})
    assert again.status_code == 304 and not again.content and again["ETag"] == answer["ETag"]


@pytest.mark.parametrize("address", [BOARD, FILES[0]])
def test_an_unchanged_page_takes_at_most_two_queries(scene, address, cat):
    client = signed_in(cat)
    # The first answer sets the cookie that its forms need.
    tag = [client.get(address)["ETag"] for _ in range(2)][-1]
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address, headers={"If-None-Match": tag}).status_code == 304
    # The session, the user, and the track as the user sees it.
    assert len(queries) == 3


def test_a_run_that_is_scored_is_on_the_next_page(scene, cat):
    tag = Client().get(BOARD)["ETag"]
    make_run(scene, cat, RUN.replace("ben-bm25", "cats").replace("d9", "d8"))
    answer = Client().get(BOARD, headers={"If-None-Match": tag})
    assert answer.status_code == 200 and "cats" in answer.content.decode()


def test_a_run_that_is_withdrawn_is_on_no_later_page(scene, ben):
    assert "ben-bm25" in read(Client())
    runs.withdraw_run(Run.objects.get(tag="ben-bm25"), ben, "a slip")
    assert "ben-bm25" not in read(Client())


def test_a_team_that_is_renamed_is_so_on_the_next_page(scene):
    read(Client())
    Team.objects.filter(name="ben").update(name="Bakers")
    assert "Bakers" in read(Client())


def test_a_board_that_is_hidden_is_on_no_later_page(scene, as_cat):
    assert "ben-bm25" in read(as_cat)
    tracks.change_track(scene, scene.benchmark.owner, {"disclosure": "blind"})
    work()
    assert "ben-bm25" not in read(as_cat) + read(Client())
    assert "ben-bm25" in read(signed_in(scene.benchmark.owner))


def test_a_deadline_that_passes_changes_the_page(scene, monkeypatch):
    Track.objects.update(disclosure="leaderboard")
    assert "Means are rounded" in read(Client())
    now = timezone.now() + timedelta(days=10)
    monkeypatch.setattr(timezone, "now", lambda: now)
    assert "Means are rounded" not in read(Client())


@pytest.mark.parametrize(
    ("name", "address", "words"),
    [("topics_at", OTHERS[0], "sourdough bread"), ("documents_at", OTHERS[4], "Loaf 1 of twelve")],
)
def test_a_file_that_appears_is_on_no_earlier_page(scene, monkeypatch, name, address, words):
    """Scores stay hidden and runs are accepted later, so that nothing else changes that day."""
    now = timezone.now()
    dates = {name: now + timedelta(days=1), "opens_at": now + timedelta(days=2)}
    Track.objects.filter(slug="bread").update(**dates, disclosure="blind")
    assert words not in Client().get(address).text
    monkeypatch.setattr(timezone, "now", lambda: now + timedelta(days=1, hours=1))
    assert words in Client().get(address).text
    monkeypatch.setattr(timezone, "now", lambda: now)
    assert words not in Client().get(address).text


def test_a_distance_in_time_is_printed_for_each_reader(scene, monkeypatch, times_made):
    first = Client().get(BOARD)
    assert "in 8 days" in first.content.decode()
    Track.objects.update(closes_at=timezone.now() + timedelta(hours=1, minutes=1, seconds=1))
    assert "in 1 hour 1 minute" in read(Client())
    assert "leave" not in first.content.decode() and "|distance|" not in read(Client())


def test_an_unread_notice_is_counted_on_a_kept_page(scene, cat, times_made):
    client = signed_in(cat)
    tag = client.get(BOARD)["ETag"]
    Notice.objects.create(user=cat, track=scene, text="Released.", address="/")
    answer = client.get(BOARD, headers={"If-None-Match": tag})
    assert "1 unread notice" in answer.content.decode() and len(times_made) == 1


def test_a_form_of_a_kept_page_can_be_sent(scene, cat):
    client = Client(enforce_csrf_checks=True)
    client.force_login(cat)
    read(client)
    token = TOKEN.search(read(client))[0].rpartition('value="')[2].rstrip('"')
    assert client.post("/account/logout/", {"csrfmiddlewaretoken": token}).status_code == 302


def test_a_sign_in_changes_what_the_reader_has(scene, cat):
    client = signed_in(cat)
    client.get(BOARD)
    tag = client.get(BOARD)["ETag"]
    client.logout()
    assert client.get(BOARD, headers={"If-None-Match": tag}).status_code == 200
    client.force_login(cat)
    assert client.get(BOARD, headers={"If-None-Match": tag}).status_code == 200


def test_pages_of_a_stopped_queue_say_so_and_are_not_kept(scene):
    assert "Scoring is not running" not in read(Client())
    Worker.objects.all().delete()
    Job.objects.create(kind="check_run", target_id="x")
    assert "Scoring is not running" in read(Client())


def test_a_place_in_the_queue_is_told_anew(scene, ben):
    """Runs of other tracks move it, and they change nothing of this track."""
    Job.objects.create(kind="check_run", target_id="of another track", priority=0)
    submissions.accept_run(scene, ben, upload("more.run", RUN.replace("d9", "d8")))
    client = signed_in(ben)
    assert "second in the queue" in read(client)
    Job.objects.filter(target_id="of another track").delete()
    assert "first in the queue" in read(client)


def test_the_year_of_a_day_is_part_of_the_key(scene, monkeypatch, times_made):
    read(Client())
    next_year = timezone.now().replace(year=timezone.now().year + 1)
    Track.objects.update(closes_at=None)
    read(Client())
    monkeypatch.setattr(timezone, "now", lambda: next_year)
    read(Client())
    assert len(times_made) == 3


def test_another_setting_is_part_of_the_key(scene, settings, times_made):
    read(Client())
    settings.API_WRITES_PER_MINUTE += 1
    read(Client()), read(Client())
    assert len(times_made) == 2


def test_other_code_is_part_of_the_key(scene, monkeypatch, times_made):
    read(Client())
    monkeypatch.setattr(kept_pages, "code_digest", lambda: "of the next release")
    kept_pages.forget_release()
    read(Client()), read(Client())
    assert len(times_made) == 2


def test_what_changes_while_a_page_is_made_is_not_kept(scene, monkeypatch):
    make = boards.find_visible_board

    def find_and_change(sight, choice):
        found = make(sight, choice)
        Team.objects.filter(name="ben").update(name="Bakers")
        return found

    monkeypatch.setattr(boards, "find_visible_board", find_and_change)
    assert "Bakers" not in read(Client())
    monkeypatch.setattr(boards, "find_visible_board", make)
    assert "Bakers" in read(Client())


def test_a_word_that_looks_like_a_hole_stays_text(scene):
    Team.objects.filter(name="ben").update(name="{x|token|}")
    assert "{x|token|}" in read(Client())


def test_unknown_tracks_and_hidden_ones_are_missing(scene):
    Track.objects.update(visibility="members")
    assert (
        Client().get(BOARD).status_code
        == Client().get("/benchmarks/none/board/").status_code
        == 404
    )


def test_without_redis_pages_are_made_and_kept_in_memory(scene, settings, times_made):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    backend = "django.core.cache.backends.redis.RedisCache"
    settings.CACHES = {"default": {"BACKEND": backend, "LOCATION": settings.REDIS_URL}}
    assert "ben-bm25" in read(Client()) and page_store.redis.away_until
    assert "ben-bm25" in read(Client()) and len(times_made) == 1
    page_store.memory.clear()
    assert "ben-bm25" in read(Client()) and len(times_made) == 2


def test_what_is_kept_has_a_bound():
    answer = page_store.KeptPage.pack({}, "", [b"x" * 40])
    memory = page_store.AnswerMemory(most=2 * answer.size)
    for key in "abc":
        memory.keep(key, answer)
    assert [bool(memory.get(key)) for key in "abc"] == [False, True, True]


def test_headers_let_browsers_ask_again(scene, as_cat):
    public, own = Client().get(BOARD), as_cat.get(BOARD)
    assert public["Cache-Control"] == "no-cache"
    assert set(own["Cache-Control"].split(", ")) == {"private", "no-cache"}
    assert {"Cookie", "Accept-Encoding"} <= set(public["Vary"].split(", "))
