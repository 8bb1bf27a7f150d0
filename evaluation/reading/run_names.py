"""What the names of files in a folder or an archive say: which are runs, and of which track."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

# What archives contain besides runs, by name or by ending.
OTHER_NAMES = ("readme", "licence", "license", "changelog", "makefile")
OTHER_ENDINGS = (
    *(".md", ".pdf", ".html", ".png", ".jpg", ".py", ".sh", ".ipynb", ".yml", ".yaml"),
    *(".docx", ".toml", ".ini"),
)
# Whole names, without an ending or with one of a text.
NOTES = {
    *("about", "authors", "citation", "contact", "copying", "copyright", "description", "info"),
    *("manifest", "notes", "notice", "sources", "terms", "todo", "version"),
}
TEXT_ENDINGS = ("", ".txt", ".text", ".rst", ".log")
# Of golden sets and settings: data only where nothing else is.
YAML_ENDINGS = (".yml", ".yaml")


def is_system_file(name: str) -> bool:
    """Return whether a system wrote the file beside the runs, as macOS does."""
    parts = PurePosixPath(name).parts
    return "__MACOSX" in parts or any(part.startswith(".") and part != ".." for part in parts)


def is_other_file(name: str) -> bool:
    """Return whether a file has the name of something that lies beside runs, such as a README."""
    last = PurePosixPath(PurePosixPath(name).name.casefold())
    is_note = last.stem in NOTES and last.suffix in TEXT_ENDINGS
    return is_note or last.name.startswith(OTHER_NAMES) or last.name.endswith(OTHER_ENDINGS)


def find_data_files(names: Iterable[str]) -> list[str]:
    """Return the names of what an archive is for, without what systems and people put beside it.

    >>> find_data_files(["qrels.txt", "README.md", "__MACOSX/._qrels.txt", "my/notes.txt"])
    ['qrels.txt']
    >>> find_data_files(["golden.yaml", "LICENSE"]), find_data_files(["README.txt"])
    (['golden.yaml'], ['README.txt'])
    """
    given = list(names)
    shown = [name for name in given if not is_system_file(name)] or given
    data = [name for name in shown if not is_other_file(name)]
    return data or [name for name in shown if name.endswith(YAML_ENDINGS)] or shown


def find_named(name: str, slugs: Iterable[str]) -> str:
    """Return the slug that a file or its nearest folder is named by; "" if it is none.

    >>> slugs = ["cranfield", "dl19"]
    >>> [find_named(name, slugs) for name in ("DL19.run.gz", "mine/cranfield/a.run")]
    ['dl19', 'cranfield']
    >>> find_named("cranfield-2.run", slugs)
    ''
    """
    known = {slug.casefold(): slug for slug in slugs}
    path = PurePosixPath(name)
    stems = [path.name.partition(".")[0], *reversed(path.parts[:-1])]
    return next((known[stem.casefold()] for stem in stems if stem.casefold() in known), "")
