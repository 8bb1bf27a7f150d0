"""Make the notebooks of docs/notebooks/ from their scripts, with what their cells print.

    python -m tests.notebooks

A cell begins with `# %%`, one of text with `# %% [markdown]`.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "docs" / "notebooks"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


@dataclass(frozen=True)
class Cell:
    """A cell of a script: text or code."""

    is_text: bool
    source: str


def cells_of(script: str) -> list[Cell]:
    """Return the cells of a script, text without its comment signs."""
    found = []
    for part in re.split(r"^# %%", script, flags=re.M)[1:]:
        head, _, body = part.partition("\n")
        is_text = head.strip() == "[markdown]"
        source = re.sub(r"^# ?", "", body, flags=re.M) if is_text else body
        found.append(Cell(is_text, source.strip()))
    return found


def run_cell(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """Run a cell among the names of those before it; return its outputs."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if text := printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines_of(text)})
    if value is not None:
        shown = {"text/plain": lines_of(repr(value))}
        result = {"data": shown, "execution_count": number, "metadata": {}}
        outputs.append(result | {"output_type": "execute_result"})
    return outputs


def lines_of(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def make_notebook(script: Path) -> str:
    """Run a script cell by cell in its folder; return the notebook (nbformat 4.5)."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells: list[dict[str, Any]] = []
    number = 0
    before = os.getcwd()
    os.chdir(script.parent)
    try:
        for place, cell in enumerate(cells_of(script.read_text()), 1):
            made = {"id": f"cell-{place}", "metadata": {}, "source": lines_of(cell.source)}
            if cell.is_text:
                cells.append({"cell_type": "markdown", **made})
                continue
            number += 1
            outputs = run_cell(cell.source, names, number)
            about = {"cell_type": "code", "execution_count": number, "outputs": outputs}
            cells.append(about | made)
    finally:
        os.chdir(before)
    notebook = {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


if __name__ == "__main__":
    for script in sorted(FOLDER.glob("*.py")):
        script.with_suffix(".ipynb").write_text(make_notebook(script))
