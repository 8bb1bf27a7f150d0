"""manage.py load_collection --ir-datasets, with the library itself"""

from __future__ import annotations

import importlib
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from leaderboard.models import Collection
from tests.builders import QRELS

pytestmark = pytest.mark.long


def register(folder: Path, name: str) -> None:
    """Register a dataset of local files, as users of the library do."""
    library = importlib.import_module("ir_datasets")
    (folder / "docs.tsv").write_text("".join(f"d{n}\tLoaf {n}, baked.\n" for n in range(1, 9)))
    (folder / "queries.tsv").write_text("1\tsourdough bread\n2\trye flour\n3\toven\n")
    (folder / "qrels.txt").write_text(QRELS)
    dataset = library.create_dataset(
        docs_tsv=str(folder / "docs.tsv"),
        queries_tsv=str(folder / "queries.tsv"),
        qrels_trec=str(folder / "qrels.txt"),
    )
    library.registry.register(name, dataset)


def load(name: str) -> None:
    words = ("load_collection", "bread", "--ir-datasets", name, "--yes")
    call_command(*words, stdout=StringIO(), stderr=StringIO())


def test_a_registered_dataset_becomes_a_collection(ada, tmp_path):
    register(tmp_path, "bakery/loaves")
    load("bakery/loaves")
    collection = Collection.objects.get()
    assert (collection.num_topics, collection.num_documents) == (3, 8)
    assert collection.judgment_sets.get().num_judgments == 8


def test_a_dataset_that_cannot_be_downloaded_is_explained(ada, tmp_path, monkeypatch):
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path))
    monkeypatch.setenv("IR_DATASETS_DL_TRIES", "1")
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with pytest.raises(CommandError, match="ir_datasets could not download vaswani"):
        load("vaswani")
    assert not Collection.objects.exists()
