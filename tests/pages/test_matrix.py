"""Who may open what: every page and act with every role, on a blind track and on an open one.

The resolver is walked, so an address without a row here fails.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from leaderboard import freezing, organising
from leaderboard.disclosure import look
from leaderboard.models import ApiToken, JudgmentSet, Track
from leaderboard.standings import find_board
from tests.builders import OTHER_RUN, make_run, make_track, make_user, signed_in, work

ROLES = ["anonymous", "cat", "ben", "dan", "eve", "ada", "kim", "sue"]
# anonymous reader; Cat, a stranger; Ben, whose run it is; Dan of another team; Eve, who organises
# something else; Ada, who organises this; Kim, her co-organiser; Sue of the staff.
EVERYBODY = [200, 200, 200, 200, 200, 200, 200, 200]
SIGNED_IN = [302, 200, 200, 200, 200, 200, 200, 200]
OWN_TEAM = [404, 404, 200, 404, 404, 200, 200, 200]
ORGANISERS = [302, 403, 403, 403, 403, 200, 200, 200]
ORGANISERS_404 = [302, 404, 404, 404, 404, 200, 200, 200]
OPENED = [404, 404, 404, 404, 404, 200, 200, 200]
ACT = [302, 403, 403, 403, 403, 302, 302, 302]
EMPTY_FORM = [*ACT[:5], *[422] * (len(ROLES) - 5)]
ACT_404 = [302, 404, 404, 404, 404, 302, 302, 302]

PAGES = {
    "home": ("/", EVERYBODY),
    "tracks": ("/tracks/", [302] * 8),
    "board": ("/tracks/blind/", EVERYBODY),
    "about": ("/tracks/blind/about/", EVERYBODY),
    "pack": ("/tracks/blind/pack.zip?team=ben", ORGANISERS_404),
    "everything": ("/tracks/blind/everything.zip", OPENED),
    "archive": ("/tracks/blind/manage/archive.zip", ORGANISERS),
    "topics": ("/tracks/blind/topics/", EVERYBODY),
    "topic": ("/tracks/blind/topic/?number=1", EVERYBODY),
    "judgments": ("/tracks/blind/judgments/", EVERYBODY),
    "compare": (
        "/tracks/blind/compare/?a={run}&b={other}",
        [404, 404, 404, 404, 404, 200, 200, 200],
    ),
    "significance": ("/tracks/blind/significance/", [404, 404, 404, 404, 404, 200, 200, 200]),
    "cost": ("/tracks/blind/cost/", [404, 404, 404, 404, 404, 200, 200, 200]),
    "measures_agreement": ("/tracks/blind/measures/", [404, 404, 404, 404, 404, 200, 200, 200]),
    "topic_map": ("/tracks/blind/topics/map/", [404, 404, 404, 404, 404, 200, 200, 200]),
    "topic_map_image": ("/tracks/blind/topics/map.png", [404, 404, 404, 404, 404, 200, 200, 200]),
    "computed": ("/tracks/blind/computed/?run={run}", [404, 404, 404, 404, 404, 200, 200, 200]),
    "submit": ("/tracks/blind/submit/", SIGNED_IN),
    "my_runs": ("/tracks/blind/runs/", SIGNED_IN),
    "team": ("/tracks/blind/team/", [302, 404, 200, 200, 404, 404, 404, 404]),
    "join": ("/tracks/blind/join/", SIGNED_IN),
    "impact": ("/tracks/blind/judgments/v1/impact/", ORGANISERS),
    "snapshots": ("/tracks/blind/snapshots/", OPENED),
    "snapshot": ("/tracks/blind/snapshots/final/", OPENED),
    "pools": ("/tracks/blind/pools/", ORGANISERS),
    "pool": ("/tracks/blind/pools/pool-1/", ORGANISERS),
    "pool_file": ("/tracks/blind/pools/pool-1/pool.txt", ORGANISERS),
    "webhooks": ("/tracks/blind/manage/webhooks/", ORGANISERS),
    "history": ("/tracks/blind/history/", OPENED),
    "badge": ("/tracks/blind/badge.svg", [404] * len(ROLES)),
    "feed": ("/tracks/blind/feed.xml", [404] * len(ROLES)),
    "desk": ("/tracks/blind/desk/", ORGANISERS),
    "trail": ("/tracks/blind/desk/trail/", ORGANISERS),
    "manage": ("/tracks/blind/manage/", ORGANISERS),
    "refused_runs": ("/tracks/blind/manage/refused/", ORGANISERS),
    "release": ("/tracks/blind/manage/release/", ORGANISERS),
    "new_track": ("/collections/bread/tracks/new/", ORGANISERS_404),
    "run": ("/runs/{run}/", OWN_TEAM),
    "run_state": ("/runs/{run}/state/", OWN_TEAM),
    "ranking": ("/runs/{run}/ranking/?number=1", OWN_TEAM),
    "run_file": ("/runs/{run}/file/", OWN_TEAM),
    "run_problems": ("/runs/{run}/problems/", OWN_TEAM),
    "run_topics_csv": ("/runs/{run}/topics.csv", [404, 404, 404, 404, 404, 200, 200, 200]),
    "run_facts": ("/runs/{run}/facts/", [302, 404, 200, 404, 404, 200, 200, 200]),
    "run_metadata": ("/runs/{run}/metadata.yml", OWN_TEAM),
    "withdraw": ("/runs/{run}/withdraw/", [302, 404, 200, 404, 404, 200, 200, 200]),
    "take_off": ("/runs/{run}/take-off/", [302, 404, 403, 404, 404, 200, 200, 200]),
    "collections": ("/collections/", EVERYBODY),
    "new_collection": ("/collections/new/", [302, 403, 403, 403, 200, 200, 403, 200]),
    "collection": ("/collections/bread/", EVERYBODY),
    "collection_state": ("/collections/bread/state/", EVERYBODY),
    "changed_judgments": (
        "/collections/bread/judgments/v2/changes.csv",
        [302, 404, 404, 404, 404, 200, 200, 200],
    ),
    "topics_file": ("/collections/bread/topics.txt", EVERYBODY),
    "docnos_file": ("/collections/bread/docnos.txt", EVERYBODY),
    "document": ("/collections/bread/document/?docno=d1", EVERYBODY),
    "measures": ("/measures/", EVERYBODY),
    "limits": ("/limits/", EVERYBODY),
    "search": ("/search/?q=bread", EVERYBODY),
    "notices": ("/account/notices/", SIGNED_IN),
    "account": ("/account/", SIGNED_IN),
    "healthz": ("/healthz", EVERYBODY),
    "metrics": ("/metrics", [404] * 8),
}
ACTS = {
    "choose_baseline": ("/tracks/blind/manage/baseline/", ACT),
    "release": ("/tracks/blind/manage/release/", ACT),
    "try_judgments": ("/tracks/blind/judgments/v1/try/", ACT),
    "switch_judgments": ("/tracks/blind/judgments/v1/switch/", ACT),
    "remove_webhook": ("/tracks/blind/manage/webhooks/{webhook}/remove/", ACT),
    "change_team": ("/tracks/blind/team/change/", [302, 404, 404, 404, 404, 404, 404, 404]),
    "decide_request": ("/tracks/blind/manage/requests/{asked}/decide/", ACT),
    "announce": ("/tracks/blind/desk/announce/", EMPTY_FORM),
    "grant": ("/tracks/blind/desk/grant/", EMPTY_FORM),
    "try_job_again": ("/tracks/blind/desk/jobs/1/again/", ACT),
    "freeze": ("/tracks/blind/manage/freeze/", ACT),
    "keep_pool": ("/tracks/blind/pools/pool-1/keep/", ACT),
    "discard_pool": ("/tracks/blind/pools/pool-1/discard/", ACT),
    "judge_pool": (
        "/tracks/blind/pools/pool-1/judgments/",
        [302, 403, 403, 403, 403, 404, 404, 404],
    ),
    "score_again": ("/runs/{run}/again/", [302, 404, 302, 404, 404, 302, 302, 302]),
    "withdraw": ("/runs/{run}/withdraw/", [302, 404, 302, 404, 404, 302, 302, 302]),
    "run_facts": ("/runs/{run}/facts/", [302, 404, 422, 404, 404, 422, 422, 422]),
    "take_off": ("/runs/{run}/take-off/", [302, 404, 403, 404, 404, 422, 422, 422]),
    "bring_back": ("/runs/{run}/bring-back/", [302, 404, 403, 404, 404, 302, 302, 302]),
    "confirm_collection": ("/collections/bread/confirm/", ACT_404),
    "check_again": ("/collections/bread/again/", ACT_404),
    "discard_collection": ("/collections/bread/discard/", ACT_404),
    "new_judgments": ("/collections/bread/judgments/", [302, 404, 404, 404, 404, 422, 422, 422]),
    "confirm_judgments": ("/collections/bread/judgments/v2/confirm/", ACT_404),
    "check_judgments_again": ("/collections/bread/judgments/v2/again/", ACT_404),
    "discard_judgments": ("/collections/bread/judgments/v2/discard/", ACT_404),
    "revoke_token": ("/account/tokens/{token}/revoke/", [302, 404, 302, 404, 404, 404, 404, 404]),
}
# On an open track every reader opens scores, topics and rankings; files stay with their team.
OPEN_PAGES = {
    "history": ("/tracks/open/history/", EVERYBODY),
    "badge": ("/tracks/open/badge.svg", EVERYBODY),
    "feed": ("/tracks/open/feed.xml", EVERYBODY),
    "run": ("/runs/{open_run}/", EVERYBODY),
    "run_topics_csv": ("/runs/{open_run}/topics.csv", EVERYBODY),
    "ranking": ("/runs/{open_run}/ranking/?number=1", EVERYBODY),
    "compare": ("/tracks/open/compare/?a={open_run}&b={open_other}", EVERYBODY),
    "topic": ("/tracks/open/topic/?number=1", EVERYBODY),
    "computed": ("/tracks/open/computed/?run={open_run}", EVERYBODY),
    "cost": ("/tracks/open/cost/", EVERYBODY),
    "run_metadata": ("/runs/{open_run}/metadata.yml", EVERYBODY),
    "run_file": ("/runs/{open_run}/file/", OWN_TEAM),
    "run_problems": ("/runs/{open_run}/problems/", OWN_TEAM),
}

# On a leaderboard of means what is behind them opens after the deadline.
LEADERBOARD_PAGES = {
    "board": ("/tracks/lead/", EVERYBODY),
    "run": ("/runs/{lead_run}/", EVERYBODY),
    "computed": ("/tracks/lead/computed/?run={lead_run}", EVERYBODY),
    "run_topics_csv": ("/runs/{lead_run}/topics.csv", OPENED),
    "ranking": ("/runs/{lead_run}/ranking/?number=1", OWN_TEAM),
    "compare": ("/tracks/lead/compare/?a={lead_run}&b={lead_other}", OPENED),
    "significance": ("/tracks/lead/significance/", OPENED),
    "cost": ("/tracks/lead/cost/", OPENED),
    "measures_agreement": ("/tracks/lead/measures/", OPENED),
    "topic_map": ("/tracks/lead/topics/map/", OPENED),
    "snapshots": ("/tracks/lead/snapshots/", OPENED),
    "history": ("/tracks/lead/history/", OPENED),
    "badge": ("/tracks/lead/badge.svg", [404] * len(ROLES)),
    "feed": ("/tracks/lead/feed.xml", [404] * len(ROLES)),
    "everything": ("/tracks/lead/everything.zip", OPENED),
    "run_metadata": ("/runs/{lead_run}/metadata.yml", OWN_TEAM),
    "topics": ("/tracks/lead/topics/", EVERYBODY),
    "judgments": ("/tracks/lead/judgments/", EVERYBODY),
}


@pytest.fixture
def scene(blind_track, collection, ada, ben, cat, as_ada):
    """Two tracks with a run of Ben's and one of Dan's on each; clients by role, ids by name."""
    eve = make_user("eve", can_organise=True)
    people = {
        "cat": cat,
        "ben": ben,
        "dan": make_user("dan"),
        "eve": eve,
        "ada": ada,
        "kim": make_user("kim"),
        "sue": make_user("sue", is_staff=True),
    }
    open_track = make_track(collection, slug="open")
    lead = make_track(collection, slug="lead", disclosure="leaderboard")
    for each in (collection, blind_track, open_track, lead):
        each.co_organisers.add(people["kim"])
    token, _ = ApiToken.objects.issue(ben, ["read"])
    second = {"version": "v2", "state": "preview", "created_by": ada, "file": "none"}
    changes = default_storage.save("changes", ContentFile(b"topic,docno"))
    JudgmentSet.objects.create(collection=collection, changes=changes, **second)
    names = {
        "run": make_run(blind_track, ben).pk,
        "other": make_run(blind_track, people["dan"], OTHER_RUN).pk,
        "lead_run": make_run(lead, ben).pk,
        "lead_other": make_run(lead, people["dan"], OTHER_RUN).pk,
        "open_run": make_run(open_track, ben).pk,
        "open_other": make_run(open_track, people["dan"], OTHER_RUN).pk,
        "token": token.pk,
        "asked": blind_track.join_requests.create(user=eve, team_name="Eve").pk,
        "webhook": blind_track.webhooks.create(url="https://example.org", created_by=ada).pk,
    }
    organising.begin_pool(blind_track, ada, list(blind_track.runs.all()), "depth", 2)
    work()
    freezing.freeze(find_board(look(Track.objects.get(slug="blind"), ada)), ada, "final")
    clients = {role: signed_in(person) for role, person in people.items()}
    return {"anonymous": Client(), **clients}, names


def answers(scene, address: str, method: str) -> dict[str, int]:
    """The status for each role, each tried on the same state of the database."""
    clients, names = scene
    found = {}
    for role in ROLES:
        with transaction.atomic():
            send = getattr(clients[role], method)
            found[role] = send(address.format(**names)).status_code
            transaction.set_rollback(True)
    return found


@pytest.mark.parametrize("row", PAGES.values(), ids=list(PAGES))
def test_a_page_of_a_blind_track(scene, row):
    address, expected = row
    assert answers(scene, address, "get") == dict(zip(ROLES, expected, strict=True))


@pytest.mark.parametrize("row", ACTS.values(), ids=list(ACTS))
def test_an_act(scene, row):
    address, expected = row
    assert answers(scene, address, "post") == dict(zip(ROLES, expected, strict=True))


@pytest.mark.parametrize("row", LEADERBOARD_PAGES.values(), ids=list(LEADERBOARD_PAGES))
def test_a_page_of_a_leaderboard(scene, row):
    address, expected = row
    assert answers(scene, address, "get") == dict(zip(ROLES, expected, strict=True))


@pytest.mark.parametrize("row", OPEN_PAGES.values(), ids=list(OPEN_PAGES))
def test_a_page_of_an_open_track(scene, row):
    address, expected = row
    assert answers(scene, address, "get") == dict(zip(ROLES, expected, strict=True))


@pytest.mark.parametrize("row", ACTS.values(), ids=list(ACTS))
def test_an_act_is_never_done_by_a_link(scene, row):
    clients, names = scene
    status = clients["ada"].get(row[0].format(**names)).status_code
    assert status in (200, 404, 405)


def test_a_files_address_is_no_way_in(scene):
    clients, _ = scene
    for address in ("/media/../db.sqlite3", "/media/%2e%2e%2fdb.sqlite3", "/files/runs/", "/var/"):
        assert clients["ben"].get(address).status_code == 404


def test_the_judgments_are_nowhere_for_participants(scene, collection):
    clients, _ = scene
    name = collection.judgment_sets.get(version="v1").file.name
    for address in (f"/{name}", f"/media/{name}", f"/static/{name}", f"/files/{name}"):
        assert clients["ben"].get(address, follow=True).status_code in (404, 405)


def names_of(patterns: list[URLPattern | URLResolver]) -> Iterator[str]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            if not str(pattern.pattern).startswith(("api/", "account/")):
                yield from names_of(pattern.url_patterns)
        elif pattern.name:
            yield pattern.name


def test_every_address_has_a_row():
    assert set(names_of(get_resolver().url_patterns)) == set(PAGES) | set(ACTS)
