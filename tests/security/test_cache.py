"""T23: the cache keeps JSON and bytes, so nobody who writes to it runs code here."""

from __future__ import annotations

import json
import pickle
import re
import time
from pathlib import Path

import pytest
from django.core.cache import cache
from django.test import Client
from redis import Redis

from leaderboard import settings as own_settings
from leaderboard.infrastructure.cached_values import JsonOrBytes
from tests.security.test_deployment import manage
from tests.security.test_network import Pwned
from tests.security.test_second_factor import (  # noqa: F401
    clock,
    code_of,
    is_in,
    protected,
    sign_in,
)
from tests.services.conftest import redis  # noqa: F401

VALUES = [b"", b"\x80\x05bytes", 0, -7, True, None, "y", 0.1, [1_800_000_015.25], {"a": [1, "b"]}]
SHOWN = "import json; from django.conf import settings as s; print(json.dumps(s.CACHES))"


@pytest.fixture
def files(settings, tmp_path) -> Path:
    """The cache of a site without Redis, as the settings name it."""
    backend = own_settings.CACHES["default"]["BACKEND"]
    settings.CACHES = {"default": {"BACKEND": backend, "LOCATION": tmp_path / "pages"}}
    return tmp_path / "pages"


@pytest.fixture(params=["files", pytest.param("redis", marks=pytest.mark.services)])
def real_cache(request, settings) -> None:
    """What a site has: files, or Redis."""
    if request.param == "files":
        request.getfixturevalue("files")
    else:
        settings.CACHES = {"default": with_redis(request.getfixturevalue("redis").url)}
    cache.clear()


def with_redis(url: str) -> dict[str, object]:
    """The cache of a site with this Redis, as the settings name it."""
    told = manage(Path(own_settings.RANKFIELD_HOME), ["shell", "-c", SHOWN], REDIS_URL=url)
    return json.loads(told.stdout.splitlines()[-1])["default"]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_t23_what_is_cached_comes_back_the_same(real_cache, value):
    cache.set("value", value, 60)
    assert cache.get("value") == value and type(cache.get("value")) is type(value)
    assert cache.touch("value", 60) and not cache.add("value", 1)


def test_t23_a_count_in_the_cache_counts(real_cache):
    assert cache.add("writes", 0, 60) and cache.incr("writes") == 1 and cache.incr("writes") == 2


def test_t23_what_is_cached_ends(real_cache):
    cache.set("value", "y", 0.01)
    time.sleep(0.05)
    assert cache.get("value") is None and not cache.touch("value")


def test_t23_guesses_are_counted_in_a_real_cache(real_cache, ben):
    client = Client()
    for n in range(12):
        page = client.post("/account/login/", {"login": "ben", "password": f"guess {n}"})
    assert page.status_code == 429 or "Too many" in page.content.decode()


def test_t23_a_second_factor_counts_once_in_a_real_cache(real_cache, protected, clock):  # noqa: F811
    clock["is"] += 30
    code = code_of(protected, clock["is"])
    first, second = Client(), Client()
    first.post(sign_in(first, "ben"), {"code": code})
    second.post(sign_in(second, "ben"), {"code": code})
    assert is_in(first) and not is_in(second)


@pytest.mark.parametrize(
    "value",
    [(1, 2), {1: "a"}, {"a"}, float("nan"), Pwned()],
    ids=["tuple", "number as key", "set", "nan", "object"],
)
def test_t23_what_json_would_change_is_not_cached(value):
    with pytest.raises((TypeError, ValueError)):
        JsonOrBytes().dumps(value)


def test_t23_pickled_data_in_the_cache_is_not_opened(files):
    cache.set("value", "y", 60)
    [path] = files.iterdir()
    ends = path.read_bytes().splitlines()[0] + b"\n"
    for data in (pickle.dumps(Pwned()), pickle.dumps(time.time() + 60) + pickle.dumps(Pwned())):
        for planted in (data, ends + data):
            path.write_bytes(planted)
            assert cache.get("value") is None
    with pytest.raises(ValueError):
        JsonOrBytes().loads(pickle.dumps(Pwned()))


@pytest.mark.services
def test_t23_pickled_data_in_redis_is_not_opened(redis, settings):  # noqa: F811
    settings.CACHES = {"default": with_redis(redis.url)}
    with Redis.from_url(redis.url) as server:
        server.set(cache.make_key("value"), pickle.dumps(Pwned()))
    with pytest.raises(ValueError):
        cache.get("value")


def test_t23_no_code_of_ours_opens_a_pickle_from_outside():
    """Only forks of one process, which read or score runs together, write to each other in it."""
    root = Path(own_settings.BASE_DIR)
    files = [*(root / "leaderboard").rglob("*.py"), *(root / "evaluation").rglob("*.py")]
    users = [path.name for path in files if re.search(r"^\s*import pickle", path.read_text(), re.M)]
    assert sorted(users) == ["scored_files.py", "sharing.py"]
