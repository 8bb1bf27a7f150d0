"""manage.py load_collection --beir: a folder or a zip becomes a collection."""

from __future__ import annotations

import json
import shutil
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from leaderboard.models import Collection, Topic

CORPUS = [{"_id": f"d{n}", "title": f"Loaf {n}", "text": "Baked."} for n in range(1, 5)]
QUERIES = [{"_id": "q1", "text": "sourdough"}, {"_id": "q2", "text": "rye"}]
HEADER = "query-id\tcorpus-id\tscore\n"


@pytest.fixture
def beir(tmp_path) -> Path:
    """A folder of BEIR, in which only q1 is judged by test."""
    folder = tmp_path / "bakery"
    (folder / "qrels").mkdir(parents=True)
    for name, rows in {"corpus": CORPUS, "queries": QUERIES}.items():
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (folder / "qrels" / "test.tsv").write_text(f"{HEADER}q1\td1\t1\n")
    (folder / "qrels" / "dev.tsv").write_text(f"{HEADER}q2\td2\t1\n")
    return folder


def load(path: Path, *words: str) -> Collection:
    given = ("load_collection", "bread", "--beir", str(path), "--yes", *words)
    call_command(*given, stdout=StringIO(), stderr=StringIO())
    return Collection.objects.get()


def test_a_folder_becomes_the_collection_of_its_test_split(ada, beir):
    collection = load(beir)
    assert (collection.state, collection.num_documents) == ("ready", 4)
    assert [topic.title for topic in Topic.objects.all()] == ["sourdough"]


def test_a_zip_has_another_split(ada, beir, tmp_path):
    packed = shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path, "bakery")
    load(Path(packed), "--split", "dev")
    assert [topic.title for topic in Topic.objects.all()] == ["rye"]


@pytest.mark.parametrize(
    ("lost", "said"),
    [
        ("corpus.jsonl", "bakery has no file corpus.jsonl"),
        ("qrels/test.tsv", "bakery has no split train; it has dev"),
    ],
)
def test_what_is_missing_is_named(ada, beir, lost, said):
    (beir / lost).unlink()
    with pytest.raises(CommandError, match=said):
        load(beir, "--split", "dev" if lost == "corpus.jsonl" else "train")
    assert not Collection.objects.exists()


def test_a_file_that_is_no_archive_is_refused(ada, beir):
    with pytest.raises(CommandError, match="is neither a folder nor a zip"):
        load(beir / "corpus.jsonl")
