"""A collection by its name in ir_datasets, with the library itself."""

from __future__ import annotations

import importlib
from itertools import count
from pathlib import Path

import pytest
from pytest_django.asserts import assertContains, assertNotContains

from leaderboard.models import Collection
from tests.builders import QRELS, TOPICS, upload, work

pytestmark = pytest.mark.long

NUMBERS = count()
FILES = {
    "docs_tsv": "".join(f"d{n}\tLoaf {n}, baked.\n" for n in range(1, 9)),
    "queries_tsv": "1\tsourdough bread\n2\trye flour\n3\toven\n",
    "qrels_trec": QRELS,
}


@pytest.fixture(autouse=True)
def offered(settings) -> None:
    settings.IR_DATASETS = True


def register(folder: Path, *parts: str) -> str:
    """Register a dataset of local files under a new name, which is returned."""
    library = importlib.import_module("ir_datasets")
    for part in parts:
        (folder / part).write_text(FILES[part])
    name = f"named-loaves/{next(NUMBERS)}"
    dataset = library.create_dataset(**{part: str(folder / part) for part in parts})
    library.registry.register(name, dataset)
    return name


def bring(client, dataset: str, **fields):
    return client.post("/collections/new/", {"name": "Bread", "dataset": dataset, **fields})


def test_a_named_dataset_is_reviewed_and_imported_like_an_upload(as_ada, tmp_path):
    bring(as_ada, register(tmp_path, *FILES), version="first")
    work()
    page = as_ada.get("/collections/bread/")
    for found in ("3 topics", "8 documents", "8 judgments"):
        assertContains(page, f"<b>{found}</b>")
    as_ada.post("/collections/bread/confirm/")
    work()
    judgments = Collection.objects.get(state="ready").judgment_sets.get()
    assert (judgments.version, judgments.num_judgments) == ("first", 8)


def test_the_page_says_that_a_dataset_is_on_its_way(as_ada, tmp_path):
    name = register(tmp_path, *FILES)
    bring(as_ada, name)
    assertContains(as_ada.get("/collections/bread/"), "<b>Fetched</b>: next in the queue")
    Collection.objects.update(state="checking")
    page = as_ada.get("/collections/bread/")
    assertContains(page, f'a worker is downloading <bdi class="mono">{name}</bdi>')


def test_a_dataset_is_named_only_where_one_can_be(as_ada, settings):
    page = as_ada.post("/collections/new/", {"name": "Bread"})
    assertContains(page, "Upload topics, or a zip of BEIR, or name a dataset.", status_code=422)
    settings.IR_DATASETS = False
    page = as_ada.post("/collections/new/", {"name": "Bread", "dataset": "rye"})
    assertContains(page, "Upload topics, or a zip of BEIR.", status_code=422)


@pytest.mark.parametrize("name", ["rye", "../../etc/passwd", "/etc/passwd"])
def test_a_name_that_the_registry_does_not_have_is_refused_at_once(as_ada, name):
    page = bring(as_ada, name)
    assertContains(page, f"ir_datasets does not have {name}.", status_code=422)
    assert not Collection.objects.exists()


def test_a_dataset_and_files_together_are_refused(as_ada, tmp_path):
    page = bring(as_ada, register(tmp_path, *FILES), topics=upload("topics.trec", TOPICS))
    assertContains(page, "Name a dataset or upload files, not both.", status_code=422)
    assert not Collection.objects.exists()


@pytest.mark.parametrize(
    ("left_out", "missing"),
    [("queries_tsv", "topics"), ("docs_tsv", "documents"), ("qrels_trec", "judgments")],
)
def test_a_dataset_that_lacks_a_part_is_told_on_its_page(as_ada, tmp_path, left_out, missing):
    name = register(tmp_path, *(part for part in FILES if part != left_out))
    bring(as_ada, name)
    work()
    assertContains(as_ada.get("/collections/bread/"), f"{name} has no {missing}")


def test_a_dataset_above_the_limit_is_told_on_its_page(as_ada, tmp_path, settings):
    settings.COLLECTION_UPLOAD_LIMIT = 300
    bring(as_ada, register(tmp_path, *FILES))
    work()
    assertContains(as_ada.get("/collections/bread/"), "are too large; the limit is 300 bytes")


def test_a_dataset_beyond_the_room_of_the_site_is_told_on_its_page(as_ada, tmp_path, settings):
    settings.SITE_BYTES = 300
    bring(as_ada, register(tmp_path, *FILES))
    work()
    assertContains(as_ada.get("/collections/bread/"), "larger than what this site may still keep")


@pytest.fixture
def offline(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path))
    monkeypatch.setenv("IR_DATASETS_DL_TRIES", "1")
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")


def test_a_download_that_fails_is_told_on_the_page_of_the_collection(as_ada, offline):
    bring(as_ada, "vaswani")
    work()
    page = as_ada.get("/collections/bread/")
    assertContains(page, "ir_datasets could not download vaswani")
    assertNotContains(page, "Something went wrong on our side")


def test_files_may_take_the_place_of_a_dataset_that_failed(as_ada, offline):
    bring(as_ada, "vaswani")
    work()
    as_ada.post("/collections/bread/again/", {"topics": upload("topics.trec", TOPICS)})
    work()
    collection = Collection.objects.get(state="preview")
    assert collection.preview["topics"]["count"] == 3
    assert not collection.judgment_sets.exists()


def test_without_the_setting_there_is_no_field_and_its_value_is_ignored(as_ada, tmp_path, settings):
    assertContains(as_ada.get("/collections/new/"), 'name="dataset"')
    settings.IR_DATASETS = False
    assertNotContains(as_ada.get("/collections/new/"), 'name="dataset"')
    bring(as_ada, register(tmp_path, *FILES), topics=upload("topics.trec", TOPICS))
    assert Collection.objects.get().dataset == ""
    assert Collection.objects.get().topics_filename == "topics.trec"
