"""What a submission led to: printed for people, and as files for CI."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

from evaluation import tables
from evaluation.tables import Table

# The worst is first: one verdict stands for several runs.
VERDICTS = ("rejected", "worse", "cannot tell", "not significant", "pass", "better", "none")
# Problems beyond these are on the page of the run; a comment has at most 65,536 characters.
MOST_CHARACTERS = 20_000


@dataclass
class Report:
    """A table of scores, sentences that compare them, and the problems of what was rejected."""

    title: str
    table: Table | None = None
    sentences: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    verdicts: list[str] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)
    # The files of the runs, by ID.
    files: dict[str, str] = field(default_factory=dict)
    is_rejected: bool = False

    @property
    def verdict(self) -> str:
        """The worst verdict; `none` if nothing was compared."""
        found = ["rejected"] if self.is_rejected else self.verdicts
        return min(found, key=VERDICTS.index, default="none")

    def add_problem(self, text: str) -> None:
        """Print a problem at once and keep it."""
        print(text, file=sys.stderr)
        self.problems.append(text)
        self.is_rejected = True

    def print_passed_check(self) -> None:
        """Say that every file passed the check, which is all that was asked for."""
        self.sentences.append("Every file passed the check. Nothing was submitted.")
        self.sentences.append("Only the site can check whether the docnos exist.")
        self.print_text()

    def print_text(self) -> None:
        if self.table is not None:
            tables.print_table(self.table, "text")
        for sentence in self.sentences:
            print(sentence)

    def write(self, options: argparse.Namespace) -> None:
        """Add to the files that were asked for, as CI expects it."""
        if options.summary:
            append(Path(options.summary), self.markdown())
        if options.outputs:
            append(Path(options.outputs), self.outputs())

    def markdown(self) -> str:
        """Return a heading, the sentences, the table and the problems as Markdown."""
        parts = [f"### Rankfield: {self.title}", *self.sentences]
        if self.table is not None and self.table.rows:
            parts.append(markdown_table(self.table))
        if self.problems:
            text = "\n".join(self.problems)[:MOST_CHARACTERS].replace("~~~~", "~~~")
            parts.append(f"~~~~text\n{text}\n~~~~")
        return "\n\n".join(parts) + "\n"

    def outputs(self) -> str:
        """Return lines of names and values, for GITHUB_OUTPUT and for dotenv reports of GitLab.

        >>> print(Report("bread", runs=["a2"], verdicts=["better"]).outputs(), end="")
        verdict=better
        runs=a2
        pages=
        """
        # A line break in what the site calls a run would be another output.
        runs, pages = (" ".join(" ".join(each).split()) for each in (self.runs, self.pages))
        return f"verdict={self.verdict}\nruns={runs}\npages={pages}\n"


def append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def markdown_table(table: Table) -> str:
    """Return a table as Markdown, numbers to the right and URLs as links.

    >>> print(markdown_table(Table(["run", "AP"], [["a|b", "0.5"]], texts=1)))
    | run | AP |
    | :-- | --: |
    | a\\|b | 0.5 |
    """
    rows = [[markdown_cell(cell) for cell in row] for row in table.rows]
    return tables.table_bytes(replace(table, rows=rows), "md").decode().rstrip("\n")


def markdown_cell(text: str) -> str:
    """Return a cell whose text can be no tag; the table itself takes care of columns."""
    if text.startswith(("https://", "http://")):
        return f"[page]({text})"
    return text.replace("\\", "\\\\").replace("<", "&lt;")
