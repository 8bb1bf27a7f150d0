"""T1 to T4: nothing that a participant does or asks tells of judgments and hidden scores."""

from __future__ import annotations

import json
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from leaderboard.actions import tracks
from tests.api.conftest import Program
from tests.builders import OTHER_RUN, make_run, make_track, make_user, signed_in, work

pytestmark = pytest.mark.long

DOCNOS = [f"d{n}" for n in range(1, 10)]
# Queries more than a name that nobody has.
FEW = 5


def probe(track, program: Program) -> dict[str, str]:
    """Send one run for each document, it alone and first; what is said of each but its name."""
    said = {}
    for docno in DOCNOS:
        text = f"1 Q0 {docno} 1 1.0 tag-{docno}\n"
        run = make_run(track, program.token.user, text)
        answers = [
            program.get(f"/api/v1/runs/{run.pk}").content,
            program.get(f"/api/v1/runs/{run.pk}/topics?measure=AP").content,
            program.get(f"/api/v1/tracks/{track.slug}/leaderboard").content,
        ]
        said[docno] = without_names(b"".join(answers).decode(), run)
    return said


def without_names(text: str, run) -> str:
    text = text.replace(run.pk, "RUN").replace(run.sha256, "SHA").replace(run.tag, "TAG")
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z|\d+ bytes", "~", text)


def test_t01_a_probing_client_learns_nothing_while_blind(blind_track, ben):
    said = probe(blind_track, Program(ben))
    assert len(set(said.values())) == 1


def test_t01_the_same_probes_tell_the_judgments_of_an_open_track(track, ben):
    said = probe(track, Program(ben))
    assert '"AP":' in said["d1"].replace(" ", "") and said["d1"] != said["d3"]


def test_t01_a_leaderboard_has_no_digit_more_than_it_says(leaderboard_track, ben, as_ben):
    run = make_run(leaderboard_track, ben)
    make_run(leaderboard_track, make_user("dan"), OTHER_RUN)
    program = Program(ben)
    pages = [
        as_ben.get(address).content.decode()
        for address in ("/benchmarks/lead/board/", f"/runs/{run.pk}/")
    ]
    calls = [program.get("/api/v1/tracks/lead/leaderboard"), program.get(f"/api/v1/runs/{run.pk}")]
    calls += [
        program.get(f"/api/v1/tracks/lead/leaderboard?format={each}") for each in ("csv", "md")
    ]
    scores = {"0.6944444", "0.694", ".694", "0.5278", ".528", "69.4"}
    for text in [*pages, *(each.content.decode() for each in calls)]:
        assert not [each for each in scores if each in text]
        assert not re.search(
            r"0?\.\d{3,}(?!\d* ?s)", re.sub(r"[\d.]+ ?m?s\b|T[\d:.]+Z", "", json_of(text))
        )


def json_of(text: str) -> str:
    """Of an answer of the API the scores alone; of a page its tables, without charts."""
    if text.startswith("{"):
        body = json.loads(text)
        return json.dumps([body.get("scores"), body.get("standings")])
    return re.sub(r"<svg.*?</svg>|<style.*?</style>|<footer.*", "", text, flags=re.S)


PRIVATE = [
    "/runs/{}/",
    "/runs/{}/file/",
    "/runs/{}/problems/",
    "/runs/{}/metadata.yml",
    "/runs/{}/ranking/?number=1",
    "/api/v1/runs/{}",
    "/api/v1/runs/{}/file",
    "/api/v1/runs/{}/topics?measure=AP",
]


@pytest.mark.parametrize("address", PRIVATE)
def test_t02_the_run_of_another_team_answers_like_one_that_is_not_there(
    blind_track, ben, as_cat, address
):
    run = make_run(blind_track, ben)
    theirs, nobodys = as_cat.get(address.format(run.pk)), as_cat.get(address.format("zzzzzzzzzz"))
    assert theirs.status_code == nobodys.status_code == 404
    assert comparable(theirs).replace(run.pk, "") == comparable(nobodys).replace("zzzzzzzzzz", "")
    assert headers_of(theirs) == headers_of(nobodys)


def comparable(answer) -> str:
    return re.sub(r'"\w{64}"|\d+(\.\d+)? m?s', "", answer.content.decode())


def headers_of(answer) -> dict[str, str]:
    """All but the number that each request has for itself, and the length of how long it took."""
    own = {"X-Request-Id", "Content-Length"}
    return {name: word for name, word in answer.headers.items() if name not in own}


def test_t02_the_name_of_a_run_cannot_be_guessed(track, ben):
    names = {make_run(track, ben, f"1 Q0 d{n} 1 1.0 a\n").pk for n in range(1, 7)}
    # 31 letters to the power of 10 are 49 bits.
    assert len(names) == 6 and all(re.fullmatch(r"[a-z2-9]{10}", name) for name in names)


def test_t02_no_file_has_an_address_of_its_own(settings, track, ben, client):
    run = make_run(track, ben)
    assert not settings.MEDIA_URL.strip("/")
    for name in (run.file.name, run.ranking_file.name):
        for root in ("/", "/media/", "/files/", "/static/", "/static/../files/"):
            assert client.get(root + name).status_code in (404, 405)


ORDERS = [
    "?ordering=-scores",
    "?order_by=score",
    "?sort=AP",
    "?sort=-nDCG@10",
    "?score_sets__record__gt=0",
    "?state=scored",
    "?judgment_set__judgments__grade=2",
    "?q=scored",
    "?limit=50&order=-score_sets__scores__mean",
]


@pytest.mark.parametrize("order", ORDERS)
def test_t03_no_parameter_orders_or_filters_by_what_is_hidden(blind_track, ben, as_ben, order):
    for text in ("1 Q0 d1 1 1.0 a\n", "1 Q0 d3 1 1.0 b\n", "1 Q0 d2 1 1.0 c\n"):
        make_run(blind_track, ben, text)
    for address in ("/api/v1/tracks/blind/runs", "/api/v1/tracks", "/api/v1/collections/bread"):
        assert as_ben.get(address + order).content == as_ben.get(address).content
    pages = [
        as_ben.get(each + order) for each in ("/benchmarks/blind/board/", "/benchmarks/blind/runs/")
    ]
    assert [page.status_code for page in pages] == [200, 200]
    tags = [re.findall(r">([abc])</a>", page.content.decode()) for page in pages]
    assert tags == [
        re.findall(r">([abc])</a>", as_ben.get(each).content.decode())
        for each in ("/benchmarks/blind/board/", "/benchmarks/blind/runs/")
    ]


def test_t04_a_hidden_run_takes_little_more_than_none(blind_track, ben, cat):
    hidden, client = make_run(blind_track, ben).pk, signed_in(cat)
    asked = {name: questions(client, f"/api/v1/runs/{name}") for name in (hidden, "zzzzzzzzzz")}
    # What is left is a few queries by primary key: no more than the network hides.
    assert asked[hidden] - asked["zzzzzzzzzz"] <= FEW


def questions(client, address: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address).status_code == 404
    return len(queries)


def test_t04_a_blind_run_says_the_same_before_and_after_it_is_scored(collection, ada, ben):
    track = make_track(collection, slug="late", disclosure="blind", judgment_set=None)
    run = make_run(track, ben)
    program = Program(ben)
    before = program.get(f"/api/v1/runs/{run.pk}")
    tracks.change_track(track, ada, {"judgment_set": collection.judgment_sets.get()})
    work()
    run.refresh_from_db()
    after = program.get(f"/api/v1/runs/{run.pk}")
    assert run.state == "scored"
    assert (before.content, headers_of(before)) == (after.content, headers_of(after))
