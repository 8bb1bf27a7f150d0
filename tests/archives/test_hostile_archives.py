"""Archives that somebody changed: an import ends well or with a clear error, never a traceback."""

from __future__ import annotations

import json
import random
import zipfile
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError

from leaderboard.jobs.erasure import erase_collection
from leaderboard.models import Collection, Overview, Track
from tests.archives.test_archives import (
    AWAY,
    command,
    export_alone,
    file,
    grown,
    judged_file,
    repacked,
    scored,
)
from tests.benchmark_scene import make_benchmark
from tests.builders import make_run, make_track, signed_in

__all__ = ["file", "grown", "judged_file", "scored"]

# Rows that contradict one another are met by the database, and what was imported goes then.
pytestmark = [pytest.mark.long, pytest.mark.django_db(transaction=True)]

ODD = [
    *(None, "", "x", "\0", "x" * 100_000, "javascript:alert(1)", "../../x", "🍞" * 40),
    *(-1, 0, 10**30, 1e308, True, [], {}, [None], [[]], {"x": {}}, {"": None}, "0001-01-01"),
]
Path_ = tuple[str | int, ...]


def places_of(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Every key and place of a JSON value."""
    keys = value if isinstance(value, dict) else range(len(value) if isinstance(value, list) else 0)
    for key in keys:
        yield (*path, key)
        yield from places_of(value[key], (*path, key))


def changed(manifest: Any, path: Path_, odd: Any) -> bytes:
    """The manifest with one value replaced; without it where `odd` is the class `object`."""
    other = deepcopy(manifest)
    *above, last = path
    holder = other
    for key in above:
        holder = holder[key]
    if odd is object:
        del holder[last]
    else:
        holder[last] = odd
    return json.dumps(other).encode()


def changes_of(manifest: Any, times: int) -> Iterator[bytes]:
    chance = random.Random(42)
    places = list(places_of(manifest))
    for path in chance.sample(places, min(times, len(places))):
        yield changed(manifest, path, chance.choice([object, *ODD]))


def manifest_of(path: Path, name: str = "manifest.json") -> Any:
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read(name))


def import_or_refuse(path: Path, *words: str) -> bool:
    """Whether the track was imported; what was refused leaves nothing behind."""
    before = Collection.objects.count()
    try:
        command(*words[:1], path, *words[1:])
    except CommandError:
        assert Collection.objects.count() == before or Track.objects.filter(slug="away").exists()
    return Collection.objects.count() > before


def check_pages(reader: Any) -> None:
    for page in ("board/", "", "topics/", "judgments/", "data/", "snapshots/", "history/"):
        answer = reader.get(f"/benchmarks/away/{page}")
        assert answer.status_code < 500
        if answer.status_code == 200:
            text = b"".join(answer.streaming_content) if answer.streaming else answer.content
            assert b'href="javascript' not in text


TIMES = [15, pytest.param(1500, marks=pytest.mark.night)]


@pytest.mark.parametrize("times", TIMES)
def test_no_value_of_a_manifest_is_our_bug(grown, ada, tmp_path, times):
    path = tmp_path / "grown.zip"
    export_alone("bread", path)
    for text in changes_of(manifest_of(path), times):
        if import_or_refuse(repacked(path, {"manifest.json": text}), "import_benchmark", *AWAY):
            check_pages(signed_in(ada))
            erase_collection(Collection.objects.get(slug="elsewhere"))


def test_a_grade_that_no_column_takes_leaves_nothing(grown, tmp_path):
    path = tmp_path / "grown.zip"
    export_alone("bread", path)
    manifest = manifest_of(path)
    manifest["judgments"][0]["relevant_from"] = -1
    text = json.dumps(manifest).encode()
    assert not import_or_refuse(repacked(path, {"manifest.json": text}), "import_benchmark", *AWAY)


@pytest.mark.parametrize("times", TIMES)
def test_no_value_of_an_assessment_is_our_bug(judged_file, times):
    manifest = manifest_of(judged_file)
    for text in changes_of(manifest["assessments"], times):
        other = json.dumps({**manifest, "assessments": json.loads(text)}).encode()
        if import_or_refuse(
            repacked(judged_file, {"manifest.json": other}), "import_benchmark", *AWAY
        ):
            erase_collection(Collection.objects.get(slug="elsewhere"))


@pytest.mark.parametrize("times", [12, pytest.param(500, marks=pytest.mark.night)])
def test_no_value_of_the_archive_of_a_benchmark_is_our_bug(ada, ben, tmp_path, times):
    make_benchmark(ada, ben)
    make_run(Track.objects.get(slug="bread"), ben)
    path = tmp_path / "benchmark.zip"
    command("export_benchmark", "baking", path)
    for text in changes_of(manifest_of(path), times):
        other = repacked(path, {"manifest.json": text})
        import_or_refuse(other, "import_benchmark", "--benchmark", "away", "--prefix", "away-")
        for collection in Collection.objects.filter(slug__startswith="away-"):
            erase_collection(collection)


LINKS = ["javascript:alert(1)", "data:text/html,x", "//evil.example", "JAVASCRIPT:x//@y.org"]


@pytest.mark.parametrize("link", LINKS)
def test_a_contact_that_is_no_address_is_refused(collection, ada, tmp_path, link):
    Overview.objects.create(track=make_track(collection), contact=link)
    export_alone("bread", tmp_path / "bread.zip")
    with pytest.raises(CommandError, match="neither an email address nor a URL"):
        command("import_benchmark", tmp_path / "bread.zip", *AWAY)


@pytest.mark.parametrize("link", LINKS[:3])
def test_a_source_that_is_no_web_address_is_refused(collection, ada, client, tmp_path, link):
    Collection.objects.update(source_url=link)
    make_track(collection)
    assert f'href="{link}' not in client.get("/benchmarks/bread/data/").content.decode()
    export_alone("bread", tmp_path / "bread.zip")
    with pytest.raises(CommandError, match="source_url"):
        command("import_benchmark", tmp_path / "bread.zip", *AWAY)


def test_a_contact_that_an_earlier_version_let_in_is_no_link(collection, client):
    Overview.objects.create(track=make_track(collection), contact="javascript:alert(1)")
    assert "javascript:" not in client.get("/benchmarks/bread/").content.decode()
