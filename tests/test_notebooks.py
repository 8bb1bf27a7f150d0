"""The notebooks and the page of the library print what the code of today prints."""

from __future__ import annotations

import doctest
import gzip
import json
import re

import pytest

from leaderboard.management.sample import FOLDER as SAMPLE
from leaderboard.management.sample import rankers
from tests.notebooks import FOLDER, cells_of, make_notebook

SCRIPTS = sorted(FOLDER.glob("*.py"))
DEPTH = 20


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_notebook_has_the_outputs_of_a_new_run(script):
    """`python -m tests.notebooks` writes them anew."""
    assert script.with_suffix(".ipynb").read_text() == make_notebook(script)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_every_code_cell_of_a_notebook_was_run_in_order(script):
    notebook = json.loads(script.with_suffix(".ipynb").read_text())
    counts = [c["execution_count"] for c in notebook["cells"] if c["cell_type"] == "code"]
    assert counts == list(range(1, len(counts) + 1)) and len(counts) > 5
    assert len(notebook["cells"]) == len(cells_of(script.read_text()))


@pytest.mark.parametrize("path", sorted(FOLDER.glob("harbour/*.gz")), ids=lambda path: path.name)
def test_a_run_of_the_notebooks_is_the_first_20_of_a_sample_run(path):
    [run] = rankers.runs(SAMPLE, [path.name.removesuffix(".run.gz")])
    lines = run.text.decode().splitlines(keepends=True)
    first = [line for line in lines if int(line.split()[3]) <= DEPTH]
    assert gzip.decompress(path.read_bytes()).decode() == "".join(first)


def test_the_examples_on_the_page_of_the_library_run():
    page = FOLDER.parent / "reference" / "library.md"
    blocks = re.findall(r"```pycon\n(.+?)```", page.read_text(), re.S)
    examples = doctest.DocTestParser().get_doctest("".join(blocks), {}, page.name, str(page), 0)
    results = doctest.DocTestRunner().run(examples)
    assert (results.failed, len(blocks)) == (0, 4)
