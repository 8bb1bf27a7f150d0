"""Runs and judgments as ranx and pandas store them, where the libraries that read them are."""

import io
import sys

import pytest

from evaluation.problems import Refused
from evaluation.reading.containers import unpacked
from evaluation.reading.judging.qrels import read_qrels
from evaluation.reading.runs.reader import read_run
from evaluation.reading.runs.run_rules import RunRules

# What ranx 0.3.21 writes for Run({"q1": {"d1": 0.5}}) as .lz4: CBOR within LZ4 within LZ4.
RANX = bytes.fromhex(
    "04224d184040c0270000008204224d18684011000100f00be811000080a1627131a1626431fb3fe0"
    "0000000000000000000000000000"
)
BROKEN = {"lz4": RANX[:30], "pyarrow": b"PAR1" + b"x" * 40}


@pytest.mark.parametrize(("library", "content"), BROKEN.items())
def test_without_its_library_a_file_says_how_to_get_it(library, content, monkeypatch):
    for name in ("lz4.frame", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(Refused) as refused:
        unpacked(io.BytesIO(content)).read()
    (problem,) = refused.value.problems
    assert (problem.code, f"pip install {library}" in problem.hint) == ("E_CONTAINER", True)


@pytest.mark.night
@pytest.mark.parametrize("content", BROKEN.values())
def test_a_damaged_file_is_rejected(content):
    with pytest.raises(Refused, match=r"E_CONTAINER: the .* is damaged"):
        unpacked(io.BytesIO(content)).read()


@pytest.mark.night
def test_a_run_of_ranx_is_read():
    file = unpacked(io.BytesIO(RANX))
    run = read_run(file, RunRules(formats=("json",), fix=("tag",), tag="oak"))
    assert run.rankings[b"q1"].docnos == [b"d1"]


@pytest.mark.night
def test_a_table_in_parquet_is_read():
    import pyarrow
    from pyarrow import parquet

    stored = io.BytesIO()
    table = {"q_id": ["q1", "q1"], "doc_id": ["d1", "d2"], "score": [2, 0]}
    parquet.write_table(pyarrow.table(table), stored)
    assert read_qrels(unpacked(stored), format="jsonl").grades == {b"q1": {b"d1": 2, b"d2": 0}}
