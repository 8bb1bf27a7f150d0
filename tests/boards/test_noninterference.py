"""Nothing of a blind track depends on its judgments: installations that differ in them alone.

Nor does anything that others read of a track of pseudonyms depend on who takes part.

Each world is built, acted in, walked and rolled back, so that its keys are those of the others;
whatever a participant or a stranger can receive must be the same, byte for byte and header for
header. By day one world of each kind is walked, by night all of them and those that do differ.
"""

from __future__ import annotations

import io
import random
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import pytest
from django.apps import apps
from django.core.management.color import no_style
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from leaderboard.actions import people as membership
from leaderboard.actions import tracks, uploads
from leaderboard.models import (
    ApiToken,
    Assignment,
    Collection,
    Edition,
    Guideline,
    Overview,
    Run,
    Track,
    User,
    Worker,
)
from tests.benchmark_scene import join_tracks
from tests.builders import (
    DOCUMENTS,
    OTHER_RUN,
    QRELS,
    RUN,
    STRATA,
    SUBTOPICS,
    make_assessment,
    make_collection,
    make_pool,
    make_run,
    make_track,
    make_user,
    signed_in,
    upload,
    work,
)
from tests.conftest import forget
from tests.pages.test_matrix import PAGES, make_benchmark_of_runs
from tests.scoring.test_answer_runs import ANSWERS
from tests.scoring.test_marks import ASSIGNMENTS, make_layer, make_nuggets

pytestmark = pytest.mark.long

OTHER_GRADES = "1 0 d9 1\n1 0 d1 0\n2 0 d5 3\n3 0 d7 1\n3 0 d6 0\n3 0 d8 0\n"
FEWER_TOPICS = "2 0 d12 1\n"
NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)
NEVER = "nobody has judged yet"
# Nobody retrieves d11 or d12, and what is judged not relevant changes no mean.
LONGER = QRELS + "2 0 d11 2\n"
SAME_MEANS = QRELS.replace("3 0 d7 0\n", "") + "1 0 d9 0\n2 0 d12 2\n3 0 d10 0\n"
WORLDS = {
    "other grades": OTHER_GRADES,
    "fewer topics": FEWER_TOPICS,
    "no judgments": NEVER,
    "subtopics": SUBTOPICS,
    "a sample": STRATA,
}

FAULTY_RUNS = {
    "twice": RUN + "1 Q0 d1 4 6.0 ben-bm25\n",
    "unknown": RUN.replace("d9", "d99"),
    "columns": RUN.replace("2 Q0 d5 1 9.0 ben-bm25", "2 d5 1 9.0"),
    "rising": "".join(f"1 Q0 d{n} {n} {n}.5 rising\n" for n in range(1, 9)),
    "short": "2 Q0 d4 1 1.0 short\n",
}
CALLS = [
    "/api/v1/me",
    "/api/v1/tracks",
    "/api/v1/tracks/blind",
    "/api/v1/tracks/blind/runs",
    "/api/v1/tracks/blind/leaderboard",
    "/api/v1/tracks/blind/leaderboard?measure=P@5&format=csv",
    "/benchmarks/meal/tracks/blind/board/?column=all",
    "/benchmarks/meal/tracks/blind/board/?column=fact.models&sort=fact.models&text=models=none",
    "/api/v1/tracks/blind/compare?a={run}&b={other}",
    "/api/v1/collections",
    "/api/v1/collections/bread",
    "/api/v1/collections/bread/judgments/v1",
    "/api/v1/runs/{run}",
    "/api/v1/runs/{run}/topics?measure=AP",
    "/api/v1/runs/{run}/file",
    "/api/v1/runs/{run}/problems",
    "/api/v1/runs/{other}",
    "/api/v1/runs/{twice}",
    "/api/v1/runs/{twice}/problems",
]
# What an assessor reads besides.
JUDGING = [
    "/judging/",
    "/judging/{assignment}/before/",
    "/judging/{assignment}/?tab=a",
    "/judging/{assignment}/end/",
    "/api/v1/assessments",
    "/api/v1/assignments/{assignment}/next",
    "/api/v1/assignments/{assignment}/marks",
]

CHANGING = re.compile(
    r"""csrfmiddlewaretoken"\ value="\w+
    | \d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)?     # an instant
    | \d{1,2}\ \w{3}\ \d{4},\ \d\d:\d\d(:\d\d)?  # the same for people
    | data-in="-?\d+">[^<]*                  # how far off it is
    | \b\d[\d.,]*\ (ms|s|seconds?)\b          # how long it took
    | (idempotency_)?key"\ value="[\w-]+
    | \brf_\w+                               # the start of a token
    | \?team=[\w-]+                        # the link that lets others in
    """,
    re.VERBOSE,
)
DIGEST = re.compile(r"\b[0-9a-f]{64}\b")
SILENT_HEADERS = {
    "Content-Length": "the body is compared, without the time that it took to make",
    "X-Request-Id": "drawn for each request",
    "ETag": "a digest of what is printed, with its moments: two walks may be a minute apart",
    "Expires": "the moment of the answer, on a page that is never kept",
}


@dataclass(frozen=True)
class Act:
    """What somebody may send; `{sent}` is the run that the first act made."""

    who: str
    address: str
    form: Mapping[str, Any]
    method: str = "post"


GOOD = RUN.replace("8.0 ben-bm25", "7.5 ben-bm25")
SUBMIT, RUNS = "/benchmarks/meal/submit/", "/api/v1/tracks/blind/runs"
STATED = {"kind": "manual", "description": "by hand"}
PARTICIPANTS_ACTS = [
    Act("ben", SUBMIT, {"file": GOOD, "kind": "automatic"}),
    Act("ben", SUBMIT, {"file": GOOD, "kind": "automatic"}),
    Act("ben's program", RUNS, {"file": GOOD}),
    *(Act("ben", SUBMIT, {"file": text + "\n", "kind": "automatic"}) for text in ("", "1 d1")),
    *(Act("ben's program", RUNS, {"file": text}) for text in (RUN, OTHER_RUN, "1 d1\n")),
    Act("ben's program", RUNS, {"file": RUN, "tag": "another"}),
    Act("dan", SUBMIT, {"file": GOOD, "kind": "automatic"}),
    Act("anybody", SUBMIT, {"file": GOOD, "kind": "automatic"}),
    Act("anybody", RUNS, {"file": GOOD}),
    Act("ben", "/runs/{run}/facts/", STATED),
    Act("dan", "/runs/{run}/facts/", STATED),
    Act("ben", "/runs/{run}/again/", {}),
    Act("ben", "/benchmarks/meal/join/", {"team_name": "Crumbs"}),
    Act("ben", "/benchmarks/meal/team/change/", {"act": "leave"}),
    Act("ben", "/benchmarks/meal/manage/release/", {}),
    Act("ben", "/benchmarks/meal/manage/freeze/", {"name": "mine"}),
    Act("ben", "/benchmarks/meal/judgments/v1/switch/", {}),
    Act("ben's program", "/api/v1/runs/{run}", {"facts": {"models": "none"}}, "patch"),
    Act("ben's program", "/api/v1/runs/{other}", {"facts": {"models": "none"}}, "patch"),
    Act("ben's program", "/api/v1/benchmarks/blind/join", {}),
    Act("ben's program", "/api/v1/tracks/blind/release", {}),
    Act("ben's program", "/api/v1/runs/{other}", {}, "delete"),
    Act("dan", "/runs/{sent}/withdraw/", {"reason": "not mine"}),
    Act("ben", "/runs/{sent}/withdraw/", {"reason": "a slip"}),
    Act("dan", "/runs/{sent}/withdraw/undo/", {}),
    Act("ben's program", "/api/v1/runs/{sent}/undo-withdrawal", {}),
    Act("ben", "/account/notices/", {}),
]


@dataclass(frozen=True)
class Heard:
    """One answer, without what changes from one second to the next."""

    who: str
    address: str
    status: int
    headers: tuple[str, ...]
    body: str


def heard(who: str, address: str, response) -> Heard:
    body = b"".join(response) if response.streaming else response.content
    if response.headers.get("Content-Type") == "application/zip":
        body = unzipped(body)
    headers = tuple(
        f"{name}: {CHANGING.sub('~', value)}"
        for name, value in sorted(response.headers.items())
        if name not in SILENT_HEADERS
    )
    cookies = tuple(sorted(response.cookies))
    text = CHANGING.sub("~", body.decode("utf-8", "backslashreplace"))
    return Heard(who, address, response.status_code, (*headers, *cookies), text)


def told_apart(one: list[Heard], other: list[Heard]) -> list[str]:
    """What only the first world hears, line by line, each after who hears it and where."""
    found = []
    for mine in one:
        if mine in other:
            continue
        there = [each for each in other if (each.who, each.address) == (mine.who, mine.address)]
        lines = lines_of(mine).difference(*map(lines_of, there)) or {"the lines in another order"}
        found += [f"{mine.who} {mine.address}: {line}" for line in lines]
    return found


def lines_of(each: Heard) -> set[str]:
    return {str(each.status), *each.headers, *each.body.splitlines()}


def unzipped(body: bytes) -> bytes:
    """The members of a file one after the other, without the digests of them all."""
    with zipfile.ZipFile(io.BytesIO(body)) as file:
        names = [name for name in file.namelist() if name != "SHA256SUMS"]
        return b"".join(name.encode() + b"\n" + file.read(name) for name in names)


def participants(ben: User, dan: User) -> dict[str, tuple[Client, dict[str, str]]]:
    """Ben and Dan in the browser and by token, and somebody who never signed in."""
    return {
        "ben": (signed_in(ben), {}),
        "dan": (signed_in(dan), {}),
        "ben's program": (Client(), token_of(ben)),
        "dan's program": (Client(), token_of(dan)),
        "anybody": (Client(), {}),
    }


def token_of(user: User) -> dict[str, str]:
    _, secret = ApiToken.objects.issue(user, ["read", "submit"])
    return {"Authorization": f"Bearer {secret}"}


def send_faulty_runs(track: Track, ben: User) -> dict[str, str]:
    return {name: make_run(track, ben, text).pk for name, text in FAULTY_RUNS.items()}


def judge(track: Track, ada: User, qrels: str) -> None:
    if qrels != NEVER:
        uploads.accept_judgments(track.collection, upload("q", qrels), "v1", ada, asks_first=False)
        work()
        tracks.change_track(track, ada, {"judgment_set": track.collection.judgment_sets.get()})
        work()


def judge_here(track: Track, ada: User, dan: User) -> Assignment:
    """Let Dan judge a pool of the runs on the board; return the first of his topics."""
    pool = make_pool(track, ada, list(track.runs.on_the_board()))
    make_assessment(pool, ada, dan, allows_participants=True, order="docno")
    Assignment.objects.update(read_guideline=Guideline.objects.get())
    return Assignment.objects.first()


@dataclass(frozen=True)
class World:
    qrels: str = QRELS
    disclosure: str = "blind"
    pseudonyms: bool = False
    public_topics: tuple[str, ...] = ()
    listeners: tuple[str, ...] = ("ben", "dan", "ben's program", "anybody")
    acts: bool = False
    # Whether Dan judges what is unjudged of all runs.
    dan_judges: bool = False
    # What Ben tells of himself with his first run.
    team: str = "ben"
    tag: str = "ben-bm25"


def walk(ada: User, world: World) -> list[Heard]:
    """Everything that is heard around the track of that world."""
    ben, dan = make_user("ben"), make_user("dan")
    track = make_track(
        make_collection(ada, qrels=None),
        slug="blind",
        disclosure=world.disclosure,
        pseudonyms=world.pseudonyms,
        public_topics=list(world.public_topics),
    )
    membership.admit(track.benchmark, ben, membership.JoinDetails(team_name=world.team))
    told = {"description": f"the {world.tag} of {world.team}", "facts": {"models": world.tag}}
    told["facts"][f"k of {world.team}"] = len(world.tag)
    names = {
        "run": make_run(track, ben, RUN.replace("ben-bm25", world.tag), **told).pk,
        "other": make_run(track, dan, OTHER_RUN).pk,
    }
    judge(track, ada, world.qrels)
    names |= send_faulty_runs(track, ben)
    names |= make_benchmark_of_runs(track)
    names |= {"token": "1", "assignment": "0"}
    if world.dan_judges:
        names["assignment"] = str(judge_here(track, ada, dan).pk)
    people = {"ada": (signed_in(ada), {}), **participants(ben, dan)}
    listeners = {who: people[who] for who in world.listeners}
    acted = list(answers_to_acts(listeners, names)) if world.acts else []
    work()
    date_everything()
    return acted + list(answers(listeners, names))


# Stands for `secrets` while a world is heard.
drawn = random.Random()

Listeners = dict[str, tuple[Client, dict[str, str]]]


def answers_to_acts(people: Listeners, names: dict[str, str]) -> Iterator[Heard]:
    """What everybody hears of what they send; a worker looks at each before the next."""
    for act in PARTICIPANTS_ACTS:
        if "sent" not in names and (sent := Run.objects.filter(sha256=digest(GOOD)).first()):
            names["sent"] = sent.pk
        client, headers = people[act.who]
        path = act.address.format(**names)
        form = {name: sent_as(value) for name, value in act.form.items()}
        as_json = act.address.startswith("/api/") and "file" not in form
        kind = {"content_type": "application/json"} if as_json else {}
        yield heard(act.who, path, getattr(client, act.method)(path, form, headers=headers, **kind))
        work()


def sent_as(value: Any) -> Any:
    return upload("run.txt", value) if isinstance(value, str) and "\n" in value else value


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def date_everything() -> None:
    """A minute between two runs: charts draw when they came."""
    for place, run in enumerate(Run.objects.order_by("received_at", "pk")):
        Run.objects.filter(pk=run.pk).update(received_at=NOON + timedelta(minutes=place))
    Edition.objects.update(ready_at=NOON)


def answers(
    people: dict[str, tuple[Client, dict[str, str]]], names: dict[str, str]
) -> Iterator[Heard]:
    # The track is alone in its benchmark here.
    pages = [address.replace("/tracks/blind", "") for address, _ in PAGES.values()]
    addresses = pages + CALLS + JUDGING
    addresses += [f"/runs/{{{name}}}/" for name in FAULTY_RUNS]
    addresses += [f"/api/v1/runs/{{{name}}}" for name in FAULTY_RUNS]
    for who, (client, headers) in people.items():
        # How many secrets were drawn for one tells the next nothing; ETags contain them.
        drawn.seed(7)
        for address in addresses:
            path = address.format(**names)
            yield heard(who, path, client.get(path, headers=headers))


def begin_keys_anew() -> None:
    """PostgreSQL does not take back the keys that it gave in a transaction that was rolled back."""
    models = apps.get_models(include_auto_created=True)
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), models):
            cursor.execute(statement)


@pytest.fixture
def alone(monkeypatch):
    """What is heard in a world of its own; nothing of that world is left behind."""

    def alone(hear: Callable[[], list[Heard]]) -> list[Heard]:
        seeded = random.Random(7)
        drawn.seed(7)
        monkeypatch.setattr("secrets.choice", drawn.choice)
        monkeypatch.setattr("secrets.token_urlsafe", lambda _: seeded.randbytes(12).hex())
        # However long a walk takes, its worker counts as alive.
        monkeypatch.setattr(Worker, "SILENCE", 86_400)
        forget()
        begin_keys_anew()
        with transaction.atomic():
            found = hear()
            transaction.set_rollback(True)
        return found

    return alone


@pytest.fixture
def walked(ada, alone):
    """What is heard in a world with these judgments."""

    def walked(qrels: str, disclosure: str = "blind", **told: object) -> list[Heard]:
        return alone(lambda: walk(ada, World(qrels, disclosure, **told)))

    return walked


# What shows nuggets and marks, on a track of answers.
OF_ANSWERS = [
    *("/benchmarks/said/board/", "/benchmarks/said/", "/benchmarks/said/judgments/"),
    *("/benchmarks/said/nuggets/", "/benchmarks/said/nugget/?number=1&key=1-1"),
    *("/benchmarks/said/nuggets/v1/nuggets.nuggetizer", "/benchmarks/said/marks/people/marks.txt"),
    *("/benchmarks/said/marks/gpt/replies/", "/api/v1/tracks/said/layers/gpt/replies"),
    *("/benchmarks/said/topics/", "/benchmarks/said/topic/?number=1", "/benchmarks/said/runs/"),
    *("/runs/{run}/", "/runs/{run}/answer/?number=1"),
    *("/api/v1/tracks/said", "/api/v1/tracks/said/nuggets", "/api/v1/tracks/said/layers"),
    *("/api/v1/tracks/said/nuggets/v1", "/api/v1/tracks/said/nuggets/v1/file"),
    *("/api/v1/tracks/said/layers/people", "/api/v1/tracks/said/layers/people/file"),
    *("/api/v1/runs/{run}", "/api/v1/runs/{run}/answer?topic=1"),
]


REPLY = '{"topic": "1", "run": "ben-rag", "nugget": "1-1", "label": "support", "reply": "Yes."}'


def walk_answers(ada: User, marks: str) -> list[Heard]:
    """Everything that is heard of answers on a blind track, whose organiser imported marks."""
    ben, dan = make_user("ben"), make_user("dan")
    track = make_track(make_collection(ada), "said", run_kind="answers", disclosure="blind")
    run = make_run(track, ben, ANSWERS).pk
    if marks:
        make_nuggets(track)
        make_layer(track, marks)
        make_layer(track, REPLY, version="gpt", made_by="machine", machine="gpt-x")
        tracks.change_track(track, ada, {"assignments": "people"})
        work()
    date_everything()
    return [
        heard(who, address, client.get(address.format(run=run), headers=headers))
        for who, (client, headers) in participants(ben, dan).items()
        for address in OF_ANSWERS
    ]


@pytest.mark.parametrize("marks", ["", ASSIGNMENTS.replace("not_support", "support")])
def test_no_answer_depends_on_nuggets_and_marks(ada, alone, marks):
    one, other = (alone(lambda each=each: walk_answers(ada, each)) for each in (ASSIGNMENTS, marks))
    assert any(each.status == 200 for each in one if "/answer/" in each.address)
    assert told_apart(one, other) == []


# What shows an open track of rankings of systems, and the blind track of these.
OF_RANKINGS = [
    *("/tracks/", "/benchmarks/two/", "/benchmarks/two/board/", "/search/?q=dan-secret"),
    *(f"/benchmarks/two/tracks/order/{page}" for page in ("", "board/", "judges/", "topics/")),
    *(f"/benchmarks/two/tracks/order/{page}" for page in ("judgments/", "runs/", "submit/")),
    *("/benchmarks/two/tracks/order/topic/?number=1", "/benchmarks/two/tracks/order/feed.xml"),
    *("/benchmarks/two/tracks/order/judges/?format=csv&table=systems", "/account/notices/"),
    *(f"/runs/{{{name}}}/" for name in ("own", "guess", "system")),
    *("/runs/{own}/topics/", "/runs/{own}/ranking/?number=1", "/runs/{own}/problems.csv"),
    *("/api/v1/tracks", "/api/v1/tracks/order", "/api/v1/tracks/systems"),
    *("/api/v1/tracks/order/leaderboard", "/api/v1/tracks/order/judges/systems"),
    *("/api/v1/tracks/order/runs", "/api/v1/tracks/systems/runs"),
    *("/api/v1/runs/{own}", "/api/v1/runs/{own}/topics?measure=AP", "/api/v1/runs/{own}/problems"),
    *("/api/v1/runs/{guess}", "/api/v1/runs/{guess}/problems", "/api/v1/runs/{system}"),
]


def walk_rankings(ada: User, qrels: str, tag: str) -> list[Heard]:
    """Everything that is heard of rankings of the systems of a blind track.

    Ben ranks his own system and another, whose id he was given, and guesses a tag.
    """
    ben, dan = make_user("ben"), make_user("dan")
    collection = make_collection(ada, qrels=None)
    systems = make_track(collection, "systems", disclosure="blind")
    order = make_track(collection, "order", run_kind="system_rankings")
    join_tracks([systems, order], slug="two", name="Two")
    tracks.change_track(Track.objects.get(slug="order"), ada, {"systems": "systems"})
    systems, order = (Track.objects.get(slug=slug) for slug in ("systems", "order"))
    make_run(systems, ben)
    names = {"system": make_run(systems, dan, OTHER_RUN.replace("other", tag)).pk}
    judge(systems, ada, qrels)
    if qrels != NEVER:
        given = collection.judgment_sets.get()
        tracks.change_track(Track.objects.get(slug="order"), ada, {"judgment_set": given})
        work()
    order = Track.objects.get(slug="order")
    names["own"] = make_run(order, ben, f"{names['system']}\nben-bm25\n", tag="own").pk
    names["guess"] = make_run(order, ben, "dan-secret\nben-bm25\n", tag="guess").pk
    work()
    date_everything()
    return [
        heard(who, address, client.get(address.format(**names), headers=headers))
        for who, (client, headers) in participants(ben, dan).items()
        # Dan knows his own tag.
        if not who.startswith("dan")
        for address in OF_RANKINGS
    ]


@pytest.mark.parametrize("qrels", [OTHER_GRADES, NEVER])
def test_no_answer_on_rankings_depends_on_systems_that_are_not_shown(ada, alone, qrels):
    one = alone(lambda: walk_rankings(ada, QRELS, "dan-secret"))
    other = alone(lambda: walk_rankings(ada, qrels, "dan-other"))
    (own, guess) = (
        [each for each in one if each.who == "ben's program" and each.address.endswith(end)]
        for end in ("/topics?measure=AP", "/problems")
    )
    assert own[0].status != 200 and "E_UNKNOWN_SYSTEM" in guess[-1].body
    assert told_apart(one, other) == []


# What shows topics, with a topic that is in one world and not in the other.
OF_TOPICS = [
    *("/tracks/", "/benchmarks/soon/board/", "/benchmarks/soon/", "/benchmarks/soon/data/"),
    *(
        "/benchmarks/soon/topics/",
        "/benchmarks/soon/topic/?number=1",
        "/benchmarks/soon/topic/?number=9",
    ),
    *("/benchmarks/soon/document/?docno=d1&number=1", "/benchmarks/soon/topics/map/"),
    *("/benchmarks/soon/runs/", "/benchmarks/soon/data/baseline.run", "/benchmarks/soon/feed.xml"),
    *("/benchmarks/soon/topics/judged.txt", "/benchmarks/soon/submit/"),
    *("/runs/{run}/", "/runs/{run}/topics/", "/runs/{run}/ranking/?number=1"),
    *("/collections/", "/collections/bread/", "/collections/bread/topics.txt"),
    *("/collections/bread/topics.trec", "/collections/bread/topics.jsonl"),
    *("/collections/bread/sample.run", "/search/?q=sour", "/search/?q=rye", "/search/?q=9"),
    *("/api/v1/tracks", "/api/v1/tracks/soon", "/api/v1/tracks/soon/runs"),
    *("/api/v1/tracks/soon/leaderboard", "/api/v1/collections/bread", "/api/v1/runs/{run}"),
    *("/api/v1/runs/{run}/topics?measure=AP", "/api/v1/runs/{run}/file"),
]


def walk_topics(ada: User, number: str, title: str) -> list[Heard]:
    """Everything that is heard of an open track whose topics appear in a day."""
    ben, dan = make_user("ben"), make_user("dan")
    collection = make_collection(ada)
    collection.topics.filter(number="1").update(number=number, title=title)
    due = timezone.now() + timedelta(days=1)
    track = make_track(
        collection,
        "soon",
        topics_at=due,
        excluded_topics=[number],
        exclusion_reason="A typing error.",
    )
    # Another track of the collection says no more.
    make_track(collection, "late")
    baseline = make_run(track, ada, f"{number} Q0 d1 1 1 bm25\n")
    tracks.choose_baseline(track, ada, baseline)
    Overview.objects.create(track=track, shares_baseline=True)
    people = participants(ben, dan)
    sent = upload("run.txt", "1 Q0 d1 1 1 ben\n")
    refused = people["ben"][0].post("/benchmarks/soon/submit/", {"file": sent})
    date_everything()
    return [heard("ben", "sent", refused)] + [
        heard(who, address, client.get(address.format(run=baseline.pk), headers=headers))
        for who, (client, headers) in people.items()
        for address in (*OF_TOPICS, "/benchmarks/late/topics/", "/benchmarks/late/topic/?number=1")
    ]


def test_no_answer_depends_on_topics_that_are_not_out(ada, alone):
    one = alone(lambda: walk_topics(ada, "1", "sour dough"))
    other = alone(lambda: walk_topics(ada, "9", "rye dough"))
    assert "topics appear" in one[0].body
    assert told_apart(one, other) == []


# What shows documents, with one that is in one world and not in the other.
OF_DOCUMENTS = [
    *("/tracks/", "/benchmarks/soon/board/", "/benchmarks/soon/", "/benchmarks/soon/data/"),
    *("/benchmarks/soon/topics/", "/benchmarks/soon/topic/?number=1", "/benchmarks/soon/submit/"),
    *("/benchmarks/soon/document/?docno=d9", "/benchmarks/soon/document/?docno=e9"),
    *("/benchmarks/soon/data/baseline.run", "/benchmarks/soon/feed.xml", "/benchmarks/soon/runs/"),
    *("/runs/{run}/", "/runs/{run}/ranking/?number=1", "/runs/{run}/topics/"),
    *("/collections/", "/collections/bread/", "/collections/bread/documents/"),
    *("/collections/bread/documents/?words=rye", "/collections/bread/documents/?docno=d9"),
    *("/collections/bread/document/?docno=d9", "/collections/bread/document/?docno=e9"),
    *("/collections/bread/docnos.txt", "/collections/bread/documents.file"),
    *("/collections/bread/sample.run", "/search/?q=rye", "/search/?q=d9", "/search/?q=e9"),
    *("/api/v1/tracks", "/api/v1/tracks/soon", "/api/v1/tracks/soon/runs"),
    *("/api/v1/tracks/soon/leaderboard", "/api/v1/collections", "/api/v1/collections/bread"),
    *("/api/v1/runs/{run}", "/api/v1/runs/{run}/topics?measure=AP", "/api/v1/runs/{run}/file"),
    *("/benchmarks/late/data/", "/benchmarks/late/document/?docno=d9"),
]


def walk_documents(ada: User, docno: str, text: str) -> list[Heard]:
    """Everything that is heard of an open track whose documents appear in a day."""
    ben, dan = make_user("ben"), make_user("dan")
    documents = DOCUMENTS.replace('"d9"', f'"{docno}"').replace("Loaf 9", text)
    collection = make_collection(ada, documents=documents)
    Collection.objects.update(shares_documents=True)
    due = timezone.now() + timedelta(days=1)
    track = make_track(collection, "soon", documents_at=due)
    # Another track of the collection says no more.
    make_track(collection, "late")
    baseline = make_run(track, ada, f"1 Q0 {docno} 1 1 bm25\n")
    tracks.choose_baseline(track, ada, baseline)
    Overview.objects.create(track=track, shares_baseline=True)
    people = participants(ben, dan)
    sent = upload("run.txt", "1 Q0 d9 1 1 ben\n")
    refused = people["ben"][0].post("/benchmarks/soon/submit/", {"file": sent})
    date_everything()
    return [heard("ben", "sent", refused)] + [
        heard(who, address, client.get(address.format(run=baseline.pk), headers=headers))
        for who, (client, headers) in people.items()
        for address in OF_DOCUMENTS
    ]


def test_no_answer_depends_on_documents_that_are_not_out(ada, alone):
    one = alone(lambda: walk_documents(ada, "d9", "Loaf 9"))
    other = alone(lambda: walk_documents(ada, "e9", "Rye 9"))
    assert "documents appear" in one[0].body
    assert told_apart(one, other) == []


def others_by_night(*values: str) -> list[Any]:
    return [values[0], *(pytest.param(value, marks=pytest.mark.night) for value in values[1:])]


@pytest.mark.parametrize("judgments", others_by_night(*WORLDS.values()), ids=list(WORLDS))
def test_no_answer_depends_on_the_judgments(walked, judgments):
    one, other = walked(QRELS, acts=True), walked(judgments, acts=True)
    assert len(one) >= 200
    assert told_apart(one, other) == []
    assert one == other


@pytest.mark.night
def test_a_leaderboard_tells_no_more_than_its_means(walked):
    one, other = walked(LONGER, "leaderboard"), walked(SAME_MEANS, "leaderboard")
    assert any('"nDCG@10": 0.' in each.body for each in one)
    assert told_apart(one, other) == []


@pytest.mark.night
def test_no_answer_depends_on_what_the_organiser_read_before(walked):
    """Ada fills the cache with every page of her track, and then Dan and a stranger read them."""
    told = {"listeners": ("ada", "dan", "anybody")}
    one, other = walked(QRELS, **told), walked(OTHER_GRADES, **told)
    apart = told_apart(one, other)
    assert any(line.startswith("ada /benchmarks/meal/board/:") for line in apart)
    assert [line for line in apart if not line.startswith("ada ")] == []


@pytest.mark.night
def test_a_leaderboard_tells_of_other_means(walked):
    assert walked(QRELS, "leaderboard") != walked(OTHER_GRADES, "leaderboard")


@pytest.mark.night
def test_a_split_leaderboard_tells_nothing_of_the_topics_that_it_keeps_back(walked):
    of_two = "".join(line for line in QRELS.splitlines(keepends=True) if line[0] == "2")
    elsewhere = "1 0 d9 1\n1 0 d1 0\n3 0 d7 3\n3 0 d6 0\n3 0 d10 1\n"
    one = walked(QRELS, "leaderboard", public_topics=("2",))
    other = walked(of_two + elsewhere, "leaderboard", public_topics=("2",))
    assert any('"AP": 0.5' in each.body for each in one)
    assert told_apart(one, other) == []


# The same documents are judged, and all else is other.
OPPOSITE = re.sub(r" (\d)$", lambda grade: f" {3 - int(grade[1])}", QRELS, flags=re.MULTILINE)


OF_EVERYBODY = ("/badge.svg", "/feed.xml", "/benchmark-badges/code-of-meal.svg")


def is_of_an_assessor(each: Heard) -> bool:
    """Whether the answer is for Dan himself: a token is for the API, and practice shows grades."""
    is_call = each.address.startswith("/api/")
    is_public = each.address.endswith((*OF_EVERYBODY, "/before/"))
    return not is_public and is_call == (each.who == "dan's program")


@pytest.mark.night
def test_nothing_that_an_assessor_reads_depends_on_the_judgments(walked):
    """Dan takes part in an open track and judges it: he sees no score, nor a trace of one."""
    told = {"listeners": ("dan", "dan's program"), "dan_judges": True}
    one, other = (
        [each for each in walked(qrels, "open", **told) if is_of_an_assessor(each)]
        for qrels in (QRELS, OPPOSITE)
    )
    assert any("baked slowly" in each.body and each.address.endswith("/next") for each in one)
    assert told_apart(one, other) == []


@pytest.mark.night
def test_a_team_that_does_not_judge_reads_the_scores_of_that_track(walked):
    told = {"listeners": ("ben",), "dan_judges": True}
    assert walked(QRELS, "open", **told) != walked(OPPOSITE, "open", **told)


@pytest.fixture
def heard_by_others(walked):
    """What all but Ben hear; a digest of bytes tells something only to who has them."""

    def heard_by_others(disclosure: str, pseudonyms: bool, **of_ben: str) -> list[Heard]:
        told = {"pseudonyms": pseudonyms, "listeners": ("dan", "anybody"), **of_ben}
        found = walked(QRELS, disclosure, **told)
        return [replace(each, body=DIGEST.sub("~", each.body)) for each in found]

    return heard_by_others


ZEBRA = {"team": "Zebra", "tag": "zebra-splade"}


@pytest.mark.night
@pytest.mark.parametrize("disclosure", ["leaderboard", "open"])
def test_no_answer_to_others_depends_on_who_takes_part(heard_by_others, disclosure):
    one = heard_by_others(disclosure, pseudonyms=True)
    other = heard_by_others(disclosure, pseudonyms=True, **ZEBRA)
    assert not any("zebra" in each.body.casefold() for each in other)
    assert told_apart(one, other) == []


@pytest.mark.night
def test_without_pseudonyms_others_read_who_takes_part(heard_by_others):
    other = heard_by_others("open", pseudonyms=False, **ZEBRA)
    assert any("zebra-splade" in each.body for each in other)


@pytest.mark.night
def test_the_same_walk_tells_the_judgments_once_they_are_released(walked, monkeypatch):
    monkeypatch.setattr("leaderboard.boards.disclosure.Sight.can_see_scores", True)
    assert walked(QRELS) != walked(OTHER_GRADES)


@pytest.mark.parametrize("address", ["/runs/{}/", "/runs/{}/state/", "/api/v1/runs/{}"])
def test_a_run_that_is_scored_answers_as_one_that_is_checked(blind_track, ben, as_ben, address):
    run = make_run(blind_track, ben)
    answers = set()
    for state in ("checking", "scoring"):
        Run.objects.filter(pk=run.pk).update(state=state)
        answers.add(heard("ben", address, as_ben.get(address.format(run.pk))))
    assert len(answers) == 1
