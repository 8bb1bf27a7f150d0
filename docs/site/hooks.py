"""Hooks of mkdocs: what the code itself states becomes part of a page when the site is built.

A line such as `<!-- generated: measures -->` gives place to the text of that name.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from docs.site.reference import GENERATED

ROOT = Path(__file__).parents[2]
MARK = re.compile(r"^<!-- generated: (\w+) -->$", re.MULTILINE)


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the page for contributors, which is at the top of the repository."""
    text = (ROOT / "CONTRIBUTING.md").read_text().replace("](docs/", "](")
    files.append(File.generated(config, "contributing.md", content=text.replace('="docs/', '="')))
    return files


def on_page_markdown(markdown: str, **page: Any) -> str:
    return MARK.sub(lambda mark: GENERATED[mark[1]](), markdown)
