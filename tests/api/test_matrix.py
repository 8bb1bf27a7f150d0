"""Who may call what: every call of the API with every role, on tracks of every kind.

The calls are those of the OpenAPI document, so one without a row here fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.utils import timezone

from leaderboard.actions import assessments, runs
from leaderboard.actions import pools as pool_verbs
from leaderboard.actions.partial_uploads import begin_upload
from leaderboard.api import api
from leaderboard.assessments.drawing import draw_documents
from leaderboard.assessments.marking import SentMark, record_mark
from leaderboard.models import (
    Assessment,
    Assignment,
    Battles,
    Benchmark,
    Collection,
    Job,
    JudgmentSet,
    Pool,
    Run,
    System,
    SystemVersion,
    Track,
    User,
)
from tests.api.conftest import Program
from tests.assessments.marks import judge_everything
from tests.builders import (
    OTHER_RUN,
    QRELS,
    RUN,
    SCALE,
    TOPICS,
    make_assessment,
    make_collection,
    make_pool,
    make_results_file,
    make_run,
    make_track,
    make_user,
    store_an_answer,
    store_nuggets,
    store_replies,
    work,
)
from tests.conftest import copy_files, made_once

pytestmark = pytest.mark.long

ROLES = ["anonymous", "cat", "ben", "dan", "eve", "ada", "kim", "sue"]
# without a token; Cat, a stranger; Ben, whose run it is; Dan of another team; Eve, who organises
# something else; Ada, who organises this; Kim, her co-organiser; Sue of the staff.
EVERYBODY = [200] * 8
WITH_TOKEN = [401] + [200] * 7
OWN_TEAM = [404, 404, 200, 404, 404, 200, 200, 200]
# Cat judges a pool of another track.
OWN_TOPIC = [401, 200, 404, 404, 404, 404, 404, 404]
OWN_UPLOAD = [401, 404, 200, 404, 404, 404, 404, 404]
ORGANISERS_SEE = [404, 404, 404, 404, 404, 200, 200, 200]
REFUSED_TO_OTHERS = [403, 403, 403, 403, 403, 200, 200, 200]
SCOPES = ("read", "submit", "organise")


def by_organisers(done: int, refused: int = 403) -> list[int]:
    return [401, *[refused] * 4, done, done, done]


@dataclass(frozen=True)
class Call:
    """A call that is right in itself: whatever is refused is refused to its caller."""

    address: str
    statuses: list[int]
    scope: str = "read"
    body: Any = None
    form: dict[str, str] = field(default_factory=dict)
    piece: bytes = b""


TRACK = {
    "slug": "new-track",
    "name": "New",
    "collection": "bread",
    "judgments": "v1",
    "measures": ["AP"],
    "primary_measure": "AP",
}
ASSESSMENT = {
    "pool": "pool-4",
    "scale": [{"grade": 0, "name": "Not relevant"}, {"grade": 1, "name": "Relevant"}],
}
VERSION = {"version": "v9"}
VOTE = '{"topic": "1", "left": "ben-bm25", "right": "other", "vote": "tie", "voter": "v1"}\n'
JUDGING = "/tracks/rolls/assessments/judging"
# In a form, what has several lines goes as a file.
CALLS = {
    "get /me": Call("/me", WITH_TOKEN),
    "get /collections": Call("/collections", EVERYBODY),
    "post /collections": Call(
        "/collections",
        [401, 403, 403, 403, 202, 202, 403, 202],
        "organise",
        form={"slug": "oats", "name": "Oats", "topics": TOPICS},
    ),
    "get /collections/{slug}": Call("/collections/bread", EVERYBODY),
    "patch /collections/{slug}": Call(
        "/collections/bread", by_organisers(200), "organise", body={"licence": "CC0"}
    ),
    "post /collections/{slug}/confirm": Call(
        "/collections/rye/confirm", by_organisers(202, refused=404), "organise", body={}
    ),
    "post /collections/{slug}/machine-judgments": Call(
        "/collections/bread/machine-judgments",
        by_organisers(202),
        "organise",
        form={"version": "v3", "model": "GPT-4o", "prompt": "Grade it.", "file": QRELS},
    ),
    "post /collections/{slug}/fill-unjudged": Call(
        "/collections/bread/fill-unjudged",
        by_organisers(202),
        "organise",
        body={"people": "v1", "machine": "gpt", "version": "v3"},
    ),
    "get /collections/{slug}/judgments/{version}/prompts": Call(
        "/collections/bread/judgments/v1/prompts", ORGANISERS_SEE
    ),
    "get /tracks/{slug}/pools": Call("/tracks/rolls/pools", ORGANISERS_SEE),
    "post /tracks/{slug}/pools": Call(
        "/tracks/rolls/pools", by_organisers(202), "organise", body={"method": "depth"}
    ),
    "get /tracks/{slug}/pools/{pool}": Call("/tracks/rolls/pools/pool-1", ORGANISERS_SEE),
    "get /tracks/{slug}/pools/{pool}/file": Call("/tracks/rolls/pools/pool-1/file", ORGANISERS_SEE),
    "post /tracks/{slug}/pools/{pool}/approve": Call(
        "/tracks/rolls/pools/pool-5/approve", by_organisers(200), "organise", body={}
    ),
    "delete /tracks/{slug}/pools/{pool}": Call(
        "/tracks/rolls/pools/pool-5", by_organisers(204), "organise"
    ),
    "get /tracks/{slug}/pools/{pool}/prompts": Call(
        "/tracks/rolls/pools/pool-1/prompts", ORGANISERS_SEE
    ),
    "get /tracks/{slug}/assessments/{name}/prompts": Call(
        "/tracks/rolls/assessments/judging-1/prompts", ORGANISERS_SEE
    ),
    "post /collections/{slug}/judgments": Call(
        "/collections/bread/judgments",
        by_organisers(202),
        "organise",
        form={"version": "v3", "file": QRELS},
    ),
    "get /collections/{slug}/judgments/{version}": Call(
        "/collections/bread/judgments/v2", ORGANISERS_SEE
    ),
    "post /collections/{slug}/judgments/{version}/confirm": Call(
        "/collections/bread/judgments/v2/confirm", by_organisers(202), "organise", body={}
    ),
    "post /collections/{slug}/judgments/{version}/replace": Call(
        "/collections/bread/judgments/v2/replace",
        by_organisers(202),
        "organise",
        form={"file": QRELS},
    ),
    "delete /collections/{slug}/judgments/{version}": Call(
        "/collections/bread/judgments/v2", by_organisers(204), "organise"
    ),
    "get /tracks": Call("/tracks", EVERYBODY),
    "post /tracks": Call(
        "/tracks", [401, 403, 403, 403, 403, 201, 403, 201], "organise", body=TRACK
    ),
    "get /tracks/{slug}": Call("/tracks/blind", EVERYBODY),
    "patch /tracks/{slug}": Call(
        "/tracks/blind", by_organisers(200), "organise", body={"name": "Mine"}
    ),
    "post /tracks/{slug}/copy": Call(
        "/tracks/blind/copy",
        [401, *[403] * 4, 201, 403, 201],
        "organise",
        body={"slug": "second", "name": "Second"},
    ),
    # It is open already.
    "post /tracks/{slug}/open": Call("/tracks/rolls/open", by_organisers(200), "organise", body={}),
    "post /tracks/{slug}/release": Call(
        "/tracks/blind/release", by_organisers(200), "organise", body={}
    ),
    "get /tracks/{slug}/failed-jobs": Call(
        "/tracks/blind/failed-jobs", by_organisers(200), "organise"
    ),
    "post /tracks/{slug}/failed-jobs/{job}/again": Call(
        "/tracks/blind/failed-jobs/{failed}/again", by_organisers(202), "organise", body={}
    ),
    "post /tracks/{slug}/deadlines": Call(
        "/tracks/blind/deadlines",
        by_organisers(200),
        "organise",
        body={"team": "ben", "closes_at": None},
    ),
    "get /tracks/{slug}/leaderboard": Call("/tracks/blind/leaderboard", ORGANISERS_SEE),
    "get /tracks/{slug}/compare": Call("/tracks/blind/compare?a={run}&b={other}", ORGANISERS_SEE),
    "get /tracks/{slug}/gate": Call(
        "/tracks/blind/gate?run={run}&reference={other}&margin=.1", ORGANISERS_SEE
    ),
    "get /tracks/{slug}/runs": Call("/tracks/blind/runs", EVERYBODY),
    "post /tracks/{slug}/runs": Call(
        "/tracks/blind/runs",
        [401] + [201] * 7,
        "submit",
        form={"file": "1 Q0 d1 1 1.0 new\n", "facts": "{}"},
    ),
    "post /benchmarks/{slug}/systems": Call(
        "/benchmarks/meal/systems",
        [401, *[202] * 7],
        "submit",
        form={"name": "oven", "files": "1 Q0 d1 1 1.0 new\n"},
    ),
    "get /benchmarks": Call("/benchmarks", EVERYBODY),
    "post /benchmarks": Call(
        "/benchmarks",
        [401, *[422] * 4, 201, 201, 201],
        "organise",
        body={"slug": "supper", "name": "Supper", "tracks": ["rolls"]},
    ),
    "get /benchmarks/{slug}": Call("/benchmarks/meal", EVERYBODY),
    "patch /benchmarks/{slug}": Call(
        "/benchmarks/meal", by_organisers(200), "organise", body={"name": "Mine"}
    ),
    "post /benchmarks/{slug}/copy": Call(
        "/benchmarks/meal/copy",
        [401, *[403] * 4, 201, 403, 201],
        "organise",
        body={"slug": "supper", "name": "Supper"},
    ),
    "get /benchmarks/{slug}/archive": Call(
        "/benchmarks/meal/archive", by_organisers(200), "organise"
    ),
    "get /benchmarks/{slug}/registration": Call("/benchmarks/meal/registration", EVERYBODY),
    "patch /benchmarks/{slug}/registration": Call(
        "/benchmarks/meal/registration",
        by_organisers(200),
        "organise",
        body={"asked": ["country"], "agreement": "Do not pass it on."},
    ),
    "get /benchmarks/{slug}/requests": Call(
        "/benchmarks/meal/requests", by_organisers(200), "organise"
    ),
    "post /benchmarks/{slug}/requests": Call(
        "/benchmarks/asks/requests", [401] + [202] * 7, "submit", body={"team": "Rolls"}
    ),
    "post /benchmarks/{slug}/requests/approve": Call(
        "/benchmarks/asks/requests/approve",
        by_organisers(200),
        "organise",
        body={"teams": ["Crumbs"]},
    ),
    "post /benchmarks/{slug}/join": Call("/benchmarks/meal/join", WITH_TOKEN, "submit", body={}),
    "post /benchmarks/{slug}/teams": Call(
        "/benchmarks/meal/teams", by_organisers(201), "organise", body={"name": "Crumbs"}
    ),
    "post /benchmarks/{slug}/teams/merge": Call(
        "/benchmarks/meal/teams/merge",
        by_organisers(200),
        "organise",
        body={"team": "dan", "into": "ben"},
    ),
    "get /benchmarks/{slug}/message-groups": Call(
        "/benchmarks/meal/message-groups", by_organisers(200), "organise"
    ),
    "post /benchmarks/{slug}/messages": Call(
        "/benchmarks/meal/messages",
        by_organisers(201),
        "organise",
        body={"groups": ["teams"], "subject": "Soon", "text": "Soon.", "preview": True},
    ),
    # Without an email server nobody is invited, but this address was before.
    "post /benchmarks/{slug}/invitations": Call(
        "/benchmarks/meal/invitations",
        by_organisers(201),
        "organise",
        body={"addresses": ["fay@example.org"]},
    ),
    "get /tracks/{slug}/snapshots": Call("/tracks/blind/snapshots", ORGANISERS_SEE),
    "get /tracks/{slug}/snapshots/{name}": Call("/tracks/blind/snapshots/final", ORGANISERS_SEE),
    "get /benchmarks/{slug}/board": Call("/benchmarks/meal/board", EVERYBODY),
    "get /benchmarks/{slug}/by-date": Call("/benchmarks/meal/by-date", EVERYBODY),
    "get /benchmarks/{slug}/new-collections": Call("/benchmarks/meal/new-collections", EVERYBODY),
    "get /benchmarks/{slug}/reported-results": Call(
        "/benchmarks/meal/reported-results", REFUSED_TO_OTHERS
    ),
    "post /benchmarks/{slug}/reported-results": Call(
        "/benchmarks/meal/reported-results",
        by_organisers(202),
        "organise",
        form={"source": "others", "file": "{}\n"},
    ),
    "get /benchmarks/{slug}/reported-results/{version}": Call(
        "/benchmarks/meal/reported-results/v1", REFUSED_TO_OTHERS
    ),
    "delete /benchmarks/{slug}/reported-results/{version}": Call(
        "/benchmarks/meal/reported-results/v1", by_organisers(204), "organise"
    ),
    "post /benchmarks/{slug}/reported-results/{version}/confirm": Call(
        "/benchmarks/meal/reported-results/v1/confirm", by_organisers(202), "organise", body={}
    ),
    "get /benchmarks/{slug}/snapshots": Call("/benchmarks/meal/snapshots", EVERYBODY),
    "get /benchmarks/{slug}/snapshots/{name}": Call(
        "/benchmarks/meal/snapshots/final", ORGANISERS_SEE
    ),
    "get /benchmarks/{slug}/systems": Call("/benchmarks/meal/systems", EVERYBODY),
    "get /benchmarks/{slug}/systems/{system_id}/versions/{label}": Call(
        "/benchmarks/meal/systems/{system}/versions/v1", OWN_TEAM
    ),
    "post /tracks/{slug}/uploads": Call(
        "/tracks/blind/uploads",
        [401] + [201] * 7,
        "submit",
        body={"name": "my.run", "size": 9, "sha256": "0" * 64},
    ),
    "post /benchmarks/{slug}/uploads": Call(
        "/benchmarks/meal/uploads",
        [401] + [201] * 7,
        "submit",
        body={"name": "my.run", "size": 9, "sha256": "0" * 64},
    ),
    "get /uploads/{upload_id}": Call("/uploads/{upload}", OWN_UPLOAD, "submit"),
    "patch /uploads/{upload_id}": Call("/uploads/{upload}", OWN_UPLOAD, "submit", piece=b"1 Q0"),
    "delete /uploads/{upload_id}": Call(
        "/uploads/{upload}", [401, 404, 204, 404, 404, 404, 404, 404], "submit"
    ),
    "get /runs/{run_id}": Call("/runs/{run}", OWN_TEAM),
    "patch /runs/{run_id}": Call(
        "/runs/{run}",
        [401, 404, 200, 404, 404, 200, 200, 200],
        "submit",
        body={"facts": {"kind": "manual"}},
    ),
    "delete /runs/{run_id}": Call(
        "/runs/{run}", [401, 404, 204, 404, 404, 204, 204, 204], "submit"
    ),
    "post /runs/{run_id}/undo-withdrawal": Call(
        "/runs/{gone}/undo-withdrawal", [401, 404, 200, 404, 404, 200, 200, 200], "submit"
    ),
    "post /runs/{run_id}/repair": Call(
        "/runs/{faulty}/repair",
        [401, 404, 200, 404, 404, 200, 200, 200],
        "submit",
        body={"fix": "tag"},
    ),
    "get /runs/{run_id}/topics": Call("/runs/{run}/topics", ORGANISERS_SEE),
    "get /runs/{run_id}/groups": Call("/runs/{run}/groups", ORGANISERS_SEE),
    "get /runs/{run_id}/answer": Call("/runs/{run}/answer?topic=1", OWN_TEAM),
    "get /runs/{run_id}/file": Call("/runs/{run}/file", OWN_TEAM),
    "get /runs/{run_id}/problems": Call("/runs/{run}/problems", OWN_TEAM),
    "get /tracks/{slug}/assessments": Call("/tracks/rolls/assessments", ORGANISERS_SEE),
    "post /tracks/{slug}/assessments": Call(
        "/tracks/rolls/assessments", by_organisers(201), "organise", body=ASSESSMENT
    ),
    "get /tracks/{slug}/assessments/{name}": Call(f"{JUDGING}-1", ORGANISERS_SEE),
    "post /tracks/{slug}/assessments/{name}/open": Call(
        f"{JUDGING}-3/open", by_organisers(200), "organise", body={}
    ),
    "post /tracks/{slug}/assessments/{name}/pause": Call(
        f"{JUDGING}-1/pause", by_organisers(200), "organise", body={}
    ),
    "post /tracks/{slug}/assessments/{name}/resume": Call(
        f"{JUDGING}-2/resume", by_organisers(200), "organise", body={}
    ),
    "post /tracks/{slug}/assessments/{name}/close": Call(
        f"{JUDGING}-1/close",
        by_organisers(202),
        "organise",
        body={"version": "v4", "early": True},
    ),
    "post /tracks/{slug}/assessments/{name}/third-opinions": Call(
        f"{JUDGING}-4/third-opinions", by_organisers(200), "organise", body={}
    ),
    "get /tracks/{slug}/nuggets": Call("/tracks/blind/nuggets", EVERYBODY),
    "get /tracks/{slug}/judges": Call("/tracks/judged/judges", EVERYBODY),
    "get /tracks/{slug}/judges/boards": Call("/tracks/judged/judges/boards", EVERYBODY),
    # Its systems have no scores that everybody sees, and Kim does not organise it.
    "get /tracks/{slug}/judges/systems": Call(
        "/tracks/ordered/judges/systems", [404, 404, 404, 404, 404, 200, 404, 200]
    ),
    "get /tracks/{slug}/battles": Call("/tracks/blind/battles", ORGANISERS_SEE),
    "get /tracks/{slug}/battles/votes": Call("/tracks/blind/battles/votes", ORGANISERS_SEE),
    "post /tracks/{slug}/battles/votes": Call(
        "/tracks/blind/battles/votes", by_organisers(201), "organise", form={"file": VOTE}
    ),
    "post /tracks/{slug}/nuggets": Call(
        "/tracks/blind/nuggets", by_organisers(202), "organise", form={**VERSION, "file": "{}\n"}
    ),
    "get /tracks/{slug}/nuggets/{version}": Call("/tracks/blind/nuggets/v1", ORGANISERS_SEE),
    "delete /tracks/{slug}/nuggets/{version}": Call(
        "/tracks/blind/nuggets/v2", by_organisers(204), "organise"
    ),
    "post /tracks/{slug}/nuggets/{version}/confirm": Call(
        "/tracks/blind/nuggets/v2/confirm", by_organisers(202), "organise", body={}
    ),
    "get /tracks/{slug}/nuggets/{version}/file": Call(
        "/tracks/blind/nuggets/v1/file", ORGANISERS_SEE
    ),
    "get /tracks/{slug}/nugget-draft": Call("/tracks/blind/nugget-draft", ORGANISERS_SEE),
    "post /tracks/{slug}/nugget-draft": Call(
        "/tracks/lead/nugget-draft", by_organisers(201), "organise", body={"based_on": "v1"}
    ),
    "delete /tracks/{slug}/nugget-draft": Call(
        "/tracks/blind/nugget-draft", by_organisers(204), "organise"
    ),
    "post /tracks/{slug}/nugget-draft/freeze": Call(
        "/tracks/blind/nugget-draft/freeze", by_organisers(202), "organise", body=VERSION
    ),
    "get /tracks/{slug}/nugget-draft/topic": Call(
        "/tracks/blind/nugget-draft/topic?topic=1", ORGANISERS_SEE
    ),
    "post /tracks/{slug}/nugget-draft/steps": Call(
        "/tracks/blind/nugget-draft/steps?topic=1",
        by_organisers(200),
        "organise",
        body={"act": "remove", "key": "1-1"},
    ),
    "get /tracks/{slug}/layers": Call("/tracks/blind/layers", EVERYBODY),
    "post /tracks/{slug}/layers": Call(
        "/tracks/blind/layers", by_organisers(202), "organise", form={**VERSION, "file": "oak\n"}
    ),
    "get /tracks/{slug}/layers/{version}": Call("/tracks/blind/layers/v1", ORGANISERS_SEE),
    "delete /tracks/{slug}/layers/{version}": Call(
        "/tracks/blind/layers/v2", by_organisers(204), "organise"
    ),
    "post /tracks/{slug}/layers/{version}/confirm": Call(
        "/tracks/blind/layers/v2/confirm", by_organisers(202), "organise", body={}
    ),
    "get /tracks/{slug}/layers/{version}/file": Call(
        "/tracks/blind/layers/v1/file", ORGANISERS_SEE
    ),
    "get /tracks/{slug}/layers/{version}/replies": Call(
        "/tracks/blind/layers/gpt/replies", ORGANISERS_SEE
    ),
    "get /collections/{slug}/judgments/{version}/replies": Call(
        "/collections/bread/judgments/v1/replies", ORGANISERS_SEE
    ),
    "get /tracks/{slug}/assessments/{name}/assignments": Call(
        f"{JUDGING}-1/assignments", ORGANISERS_SEE
    ),
    "post /tracks/{slug}/assessments/{name}/assignments": Call(
        f"{JUDGING}-1/assignments", by_organisers(200), "organise", body={}
    ),
    "get /tracks/{slug}/assessments/{name}/disagreements": Call(
        f"{JUDGING}-1/disagreements", ORGANISERS_SEE
    ),
    "post /tracks/{slug}/assessments/{name}/disagreements": Call(
        f"{JUDGING}-4/disagreements",
        by_organisers(200),
        "organise",
        body={"topic": "3", "docno": "d10", "grade": 1},
    ),
    "get /tracks/{slug}/assessments/{name}/agreement": Call(
        f"{JUDGING}-1/agreement", ORGANISERS_SEE
    ),
    "get /tracks/{slug}/corrected-means": Call(
        "/tracks/blind/corrected-means?machine=v1", ORGANISERS_SEE
    ),
    "get /collections/{slug}/agreement": Call(
        "/collections/bread/agreement?first=v1&second=v1", ORGANISERS_SEE
    ),
    "get /tracks/{slug}/assessments/{name}/marks": Call(f"{JUDGING}-1/marks", ORGANISERS_SEE),
    "post /tracks/{slug}/assessments/{name}/marks": Call(
        f"{JUDGING}-3/marks",
        by_organisers(200),
        "organise",
        form={"file": "1 ann d9 1\n", "format": "trec"},
    ),
    "get /assessments": Call("/assessments", WITH_TOKEN),
    "post /assessments/join": Call(
        "/assessments/join",
        # Teams of the track cannot judge it.
        [401, 200, 409, 409, 200, 200, 200, 200],
        "submit",
        body={"invitation": "to-judge"},
    ),
    "get /assignments/{assignment_id}/next": Call("/assignments/{assignment}/next", OWN_TOPIC),
    "get /assignments/{assignment_id}/marks": Call("/assignments/{assignment}/marks", OWN_TOPIC),
    "post /assignments/{assignment_id}/marks": Call(
        "/assignments/{assignment}/marks", OWN_TOPIC, "submit", body={"marks": []}
    ),
    "post /assignments/{assignment_id}/finish": Call(
        "/assignments/{judged_assignment}/finish", OWN_TOPIC, "submit", body={}
    ),
}
INSIDE = [403, 403, 200, 403, 403, 200, 200, 200]
# On an open track every reader has the scores; files and problems stay with their team.
OPEN_CALLS = {
    "get /collections/{slug}/judgments/{version}": Call(
        "/collections/bread/judgments/v1", EVERYBODY
    ),
    "get /tracks/{slug}/leaderboard": Call("/tracks/open/leaderboard", EVERYBODY),
    "get /tracks/{slug}/compare": Call(
        "/tracks/open/compare?a={open_run}&b={open_other}", EVERYBODY
    ),
    "get /tracks/{slug}/gate": Call(
        "/tracks/open/gate?run={open_run}&reference={open_other}&margin=.1", EVERYBODY
    ),
    "get /runs/{run_id}": Call("/runs/{open_run}", EVERYBODY),
    "patch /runs/{run_id}": Call(
        "/runs/{open_run}",
        [401, 403, 200, 403, 403, 200, 200, 200],
        "submit",
        body={"facts": {"kind": "manual"}},
    ),
    "delete /runs/{run_id}": Call(
        "/runs/{open_run}", [401, 403, 204, 403, 403, 204, 204, 204], "submit"
    ),
    "post /runs/{run_id}/undo-withdrawal": Call(
        "/runs/{open_gone}/undo-withdrawal", [401, 403, 200, 403, 403, 200, 200, 200], "submit"
    ),
    "get /runs/{run_id}/topics": Call("/runs/{open_run}/topics", EVERYBODY),
    "get /runs/{run_id}/groups": Call("/runs/{open_run}/groups", EVERYBODY),
    "get /runs/{run_id}/answer": Call("/runs/{open_run}/answer?topic=1", EVERYBODY),
    "get /tracks/{slug}/battles": Call("/tracks/open/battles", EVERYBODY),
    "get /tracks/{slug}/nuggets/{version}": Call("/tracks/open/nuggets/v1", EVERYBODY),
    "get /tracks/{slug}/nuggets/{version}/file": Call("/tracks/open/nuggets/v1/file", EVERYBODY),
    "get /tracks/{slug}/layers/{version}": Call("/tracks/open/layers/v1", EVERYBODY),
    "get /tracks/{slug}/layers/{version}/file": Call("/tracks/open/layers/v1/file", ORGANISERS_SEE),
    "get /tracks/{slug}/layers/{version}/replies": Call(
        "/tracks/open/layers/gpt/replies", ORGANISERS_SEE
    ),
    "get /runs/{run_id}/file": Call("/runs/{open_run}/file", INSIDE),
    "get /runs/{run_id}/problems": Call("/runs/{open_run}/problems", INSIDE),
}

# On a leaderboard of a secret part of the topics everybody reads means, and nothing behind them.
LEAD_CALLS = {
    "get /tracks/{slug}/leaderboard": Call("/tracks/lead/leaderboard", EVERYBODY),
    "get /tracks/{slug}/runs": Call("/tracks/lead/runs", EVERYBODY),
    "get /tracks/{slug}/compare": Call(
        "/tracks/lead/compare?a={lead_run}&b={lead_other}", ORGANISERS_SEE
    ),
    "get /tracks/{slug}/gate": Call(
        "/tracks/lead/gate?run={lead_run}&reference={lead_other}&margin=.1", ORGANISERS_SEE
    ),
    "get /runs/{run_id}": Call("/runs/{lead_run}", EVERYBODY),
    "get /runs/{run_id}/topics": Call("/runs/{lead_run}/topics", ORGANISERS_SEE),
    "get /runs/{run_id}/groups": Call("/runs/{lead_run}/groups", ORGANISERS_SEE),
    "get /runs/{run_id}/answer": Call("/runs/{lead_run}/answer?topic=1", OWN_TEAM),
    "get /tracks/{slug}/battles": Call("/tracks/lead/battles", ORGANISERS_SEE),
    "get /tracks/{slug}/nuggets/{version}": Call("/tracks/lead/nuggets/v1", ORGANISERS_SEE),
    "get /tracks/{slug}/layers/{version}": Call("/tracks/lead/layers/v1", ORGANISERS_SEE),
    "get /runs/{run_id}/file": Call("/runs/{lead_run}/file", INSIDE),
}


@pytest.fixture(scope="module")
def names_of_all(module_files, django_db_blocker):
    """The ids of `names`, made once for the module."""
    with made_once(django_db_blocker, module_files):
        return make_scene()


@pytest.fixture
def names(db, names_of_all, module_files, settings):
    """Ids of the runs by what the rows call them."""
    copy_files(module_files, settings)
    return names_of_all


@pytest.fixture
def people(names):
    return {role: User.objects.get(username=role) for role in ROLES if role != "anonymous"}


def make_people() -> dict[str, User]:
    organisers = {name: make_user(name, can_organise=True) for name in ("ada", "eve")}
    others = {name: make_user(name) for name in ("ben", "cat", "dan", "kim")}
    return {**organisers, **others, "sue": make_user("sue", is_staff=True)}


def make_scene() -> dict[str, str]:
    """Tracks with a run of Ben's and one of Dan's on each, withdrawn ones, and what waits."""
    people = make_people()
    collection = make_collection(people["ada"])
    blind_track = make_track(collection, slug="blind", disclosure="blind")
    open_track = make_track(collection, slug="open")
    make_track(collection, slug="judged", run_kind="judgments")
    make_track(collection, slug="ordered", run_kind="system_rankings")
    asks = make_track(collection, slug="asks", joining="approval").benchmark
    asks.co_organisers.add(people["kim"])
    asks.join_requests.create(user=make_user("fay"), team_name="Crumbs")
    lead_track = make_track(
        collection,
        slug="lead",
        disclosure="leaderboard",
        public_topics=["2"],
        ladder_step=0.01,
        pseudonyms=True,
    )
    waiting = Collection.objects.create(
        slug="rye", name="Rye", owner=people["ada"], state="preview", topics_file="none"
    )
    for each in (
        collection,
        waiting,
        *(made.benchmark for made in (blind_track, open_track, lead_track)),
    ):
        each.co_organisers.add(people["kim"])
    JudgmentSet.objects.create(
        collection=collection, version="v2", state="preview", created_by=people["ada"], file="none"
    )
    third = {"version": "gpt", "state": "ready", "made_by": "machine", "grade_counts": {"1": 1}}
    gpt = JudgmentSet.objects.create(
        collection=collection, created_by=people["ada"], file="none", **third
    )
    gpt.judgments.create(topic=collection.topics.first(), docno="d9", grade=1)
    names = {
        "run": make_run(blind_track, people["ben"]).pk,
        "other": make_run(blind_track, people["dan"], OTHER_RUN).pk,
        "open_run": make_run(open_track, people["ben"]).pk,
        "open_other": make_run(open_track, people["dan"], OTHER_RUN).pk,
        "gone": withdrawn(blind_track, people["ben"]).pk,
        "faulty": make_run(blind_track, people["ben"], RUN.replace("ben-bm25", "a b")).pk,
        "open_gone": withdrawn(open_track, people["ben"]).pk,
        "lead_run": make_run(lead_track, people["ben"]).pk,
        "lead_other": make_run(lead_track, people["dan"], OTHER_RUN).pk,
        "system": make_system(blind_track, people["ben"]),
        "failed": str(fail_tests(blind_track).pk),
        "upload": begin_upload(people["ben"], "my.run", 9, "1" * 64).upload.pk,
        **make_assessments(people),
    }
    Run.objects.update(answer_file=store_an_answer())
    for each in (blind_track, open_track, lead_track):
        store_nuggets(each)
        store_replies(each)
        Battles.objects.create(track=each, voters="signed in")
    lead_track.nugget_drafts.all().delete()
    return names


def fail_tests(track: Track) -> Job:
    edition = Track.objects.get(pk=track.pk).edition
    state = {"state": Job.State.FAILED, "finished_at": timezone.now()}
    return Job.objects.create(kind="compare", target_id=str(edition.pk), **state)


def make_system(track: Track, user: User) -> str:
    """A benchmark of the track alone, and a system with a version of the user's first run."""
    benchmark = track.benchmark
    Benchmark.objects.filter(pk=benchmark.pk).update(slug="meal", name="Meal")
    edition = Track.objects.get(pk=track.pk).edition
    frozen = {
        **{
            "slug": "final",
            "name": "final",
            "created_by": benchmark.owner,
            "caption": "All tracks.",
        },
        **{"heads": [], "rows": [], "files": {"json": "{}"}},
    }
    benchmark.snapshots.create(**frozen).editions.add(edition)
    track.snapshots.create(**frozen, edition=edition)
    make_results_file(benchmark)
    benchmark.invitations.create(email="fay@example.org", invited_by=benchmark.owner)
    team = track.team_of(user)
    system = System.objects.create(benchmark=benchmark, team=team, name="oven")
    version = SystemVersion.objects.create(system=system, label="v1", created_by=user)
    run = Run.objects.active().filter(track=track, submitted_by=user).earliest("received_at")
    Run.objects.filter(pk=run.pk).update(version=version)
    return str(system.pk)


def make_assessments(people: dict[str, User]) -> dict[str, str]:
    """A track with an open assessment, a paused one, a planned one and a pool without any."""
    collection = make_collection(people["ada"], slug="rolls")
    Collection.objects.filter(pk=collection.pk).update(licence="CC0")
    track = make_track(collection, slug="rolls", description="Find rolls.")
    track.benchmark.co_organisers.add(people["kim"])
    collection.co_organisers.add(people["kim"])
    run = make_run(track, people["ben"], OTHER_RUN)
    make_run(track, people["dan"])
    pools = [make_pool(track, people["ada"], [run]) for _ in range(4)]
    pool_verbs.create_pool(track, people["ada"], [run], "depth", 2)
    work()
    opened, paused = (make_assessment(pool, people["ada"], people["cat"]) for pool in pools[:2])
    assessments.pause_assessment(paused, people["ada"])
    draft = Assessment(pool=pools[2])
    assessments.plan_assessment(draft, people["ada"], "", SCALE)
    assessments.add_assessor(draft, people["cat"])
    judged, waiting = Assignment.objects.filter(assessor__assessment=opened)
    draw_documents(judged)
    for document in judged.documents.all():
        record_mark(judged, SentMark(document.pk, grade=1))
    Assessment.objects.filter(pk=draft.pk).update(invitation="to-judge")
    let_two_differ(make_pool(track, people["ada"], [run]), people["ada"])
    return {"assignment": str(waiting.pk), "judged_assignment": str(judged.pk)}


def let_two_differ(pool: Pool, ada: User) -> None:
    """Two of three assessors differ on every document."""
    uma, vic, wes = (User.objects.create_user(name) for name in ("uma", "vic", "wes"))
    third = {"overlap": "all", "overlap_size": 2, "rule": "agreed"}
    differing = make_assessment(pool, ada, uma, vic, **third)
    for name, grade in (("A1", 0), ("A2", 1)):
        judge_everything(differing, lambda document, grade=grade: grade, only=name)
    assessments.add_assessor(differing, wes)


def withdrawn(track: Track, user: User) -> Run:
    run = make_run(track, user, RUN.replace("ben-bm25", "ben-gone"))
    runs.withdraw_run(run, user, "a slip")
    return run


def status(program: Program, key: str, call: Call, names: dict[str, str]) -> int:
    """Each call is tried on the same state of the database."""
    address = "/api/v1" + call.address.format(**names)
    with transaction.atomic():
        try:
            return answer_to(program, key.split()[0], address, call).status_code
        finally:
            transaction.set_rollback(True)


def answer_to(program: Program, method: str, address: str, call: Call) -> Any:
    if call.form:
        return program.send(address, **{name: part(text) for name, text in call.form.items()})
    if call.piece:
        return program.append(address, 0, call.piece)
    return getattr(program, method)(address, *([] if call.body is None else [call.body]))


def part(text: str) -> str | SimpleUploadedFile:
    return SimpleUploadedFile("file", text.encode()) if "\n" in text else text


def found(
    people, key: str, call: Call, names: dict[str, str], roles: Sequence[str] = ROLES
) -> dict[str, int]:
    return {role: status(Program(people.get(role)), key, call, names) for role in roles}


TRIED = [each for calls in (CALLS, OPEN_CALLS, LEAD_CALLS) for each in calls.items()]


@pytest.mark.parametrize(("key", "call"), TRIED, ids=[call.address for _, call in TRIED])
def test_a_call_answers_each_role_as_it_should(people, names, key, call):
    expected = dict(zip(ROLES, call.statuses, strict=True))
    assert found(people, key, call, names) == expected


# Who does not see a track of members, by who may join it.
OUTSIDE = {
    "invitation": ("anonymous", "cat", "eve"),
    "approval": ("anonymous", "cat", "eve"),
    "everyone": ("anonymous",),
}
# Ben and Dan are in already; organisers hold the link and have to use it like everybody.
JOINED_BY_LINK = [401, 404, 200, 200, 404, 403, 403, 403]
ABOUT_TRACKS = (
    *("/tracks/blind", "/tracks/open", "/tracks/lead", "/tracks/rolls"),
    *("/runs/", "/collections/bread"),
)


# How others join changes nothing for those who are in, so by day they are asked once.
WAYS_IN = [
    pytest.param("invitation", ROLES, id="invitation"),
    pytest.param("everyone", ROLES, id="everyone-by-night", marks=pytest.mark.night),
    pytest.param("approval", ROLES, id="approval", marks=pytest.mark.night),
]


@pytest.mark.parametrize(("joining", "roles"), WAYS_IN)
def test_a_track_of_members_is_not_there_for_others(people, names, joining, roles):
    Track.objects.update(visibility="members")
    Benchmark.objects.update(joining=joining)
    for key, call in TRIED:
        if call.address.startswith(ABOUT_TRACKS):
            outside = {role: 404 for role in OUTSIDE[joining]}
            if call.statuses[0] == 401:
                outside["anonymous"] = 401
            by_link = call.address.endswith("/join") and joining != "everyone"
            statuses = JOINED_BY_LINK if by_link else call.statuses
            by_role = dict(zip(ROLES, statuses, strict=True)) | outside
            expected = {role: by_role[role] for role in roles}
            answers = found(people, key, call, names, roles)
            assert (call.address, answers) == (call.address, expected)


@pytest.mark.parametrize("key", CALLS)
def test_a_token_does_what_its_scopes_say(people, names, key):
    call = CALLS[key]
    able = people[next(role for role in people if call.statuses[ROLES.index(role)] < 300)]
    others = [scope for scope in SCOPES if scope != call.scope]
    assert status(Program(able, [call.scope]), key, call, names) < 300
    assert status(Program(able, others), key, call, names) == 403
    assert status(Guesser(), key, call, names) == 401


class Guesser(Program):
    """Sends a token that nobody was given."""

    def __init__(self) -> None:
        super().__init__()
        self.headers = {"Authorization": "Bearer rf_guessed"}


def calls_described() -> Iterator[str]:
    for path, calls in api.get_openapi_schema()["paths"].items():
        yield from (f"{method} {path.removeprefix('/api/v1')}" for method in calls)


def test_every_call_has_a_row():
    assert set(calls_described()) == set(CALLS)
