"""Collections of BEIR: a folder or a zip with corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv."""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import IO, TypeAlias

from django.core.files import File

from evaluation.reading.containers import DOCUMENT_LIMITS
from leaderboard.collections.published import UnavailableCollectionError, limit_size, write_lines

Opened: TypeAlias = Callable[[], IO[bytes]]
Source: TypeAlias = "Path | File"

USUAL_SPLIT = "test"
# A longer line is cut, which the import then reports.
LONGEST_LINE = 16 * 1024 * 1024
CORPUS, QUERIES = re.compile(r"(?:.*/)?corpus\.jsonl"), re.compile(r"(?:.*/)?queries\.jsonl")
QRELS = re.compile(r"(?:.*/)?qrels/([^/]+)\.tsv")


def write_beir_files(source: Source, split: str, folder: Path) -> dict[str, Path]:
    """Write topics, documents and judgments of one split, and return the paths by part.

    `source` is the path of a folder or a zip, or an opened zip.

    Topics are the queries that the split judges. Without a name, the split is test, or the only
    one. Raises UnavailableCollectionError with the reason, OSError.
    """
    with ExitStack() as stack:
        files = open_parts(source, stack)
        name = source.name or "the zip"
        qrels = files[find_split(files, split, name)]
        judged = {line.split("\t", 1)[0] for line in lines_of(qrels)}
        parts = {
            "topics": ("topics.jsonl", judged_queries(files[find(files, QUERIES, name)], judged)),
            "documents": ("documents.jsonl", lines_of(files[find(files, CORPUS, name)])),
            "judgments": ("qrels.tsv", lines_of(qrels)),
        }
        return {
            part: write_lines(folder / file, limit_size(lines, f"the {part} of {name}"))
            for part, (file, lines) in parts.items()
        }


def open_parts(source: Source, stack: ExitStack) -> dict[str, Opened]:
    """Return what opens each file of a folder or a zip, by its name within."""
    if isinstance(source, Path) and source.is_dir():
        found = (each for each in sorted(source.rglob("*")) if each.is_file())
        return {each.relative_to(source).as_posix(): partial(each.open, "rb") for each in found}
    try:
        archive = stack.enter_context(zipfile.ZipFile(source))
    except zipfile.BadZipFile:
        name = source.name or "the file"
        raise UnavailableCollectionError(f"{name} is neither a folder nor a zip") from None
    refuse_bomb(archive, source.name or "the file")
    names = (name for name in archive.namelist() if "__MACOSX" not in name)
    return {name: partial(archive.open, name) for name in names}


def refuse_bomb(archive: zipfile.ZipFile, name: str) -> None:
    """Raise UnavailableCollectionError if a zip unpacks to far more than its bytes.

    No member is read beyond the size that it states.
    """
    packed = sum(member.compress_size for member in archive.infolist())
    total = sum(member.file_size for member in archive.infolist())
    if total > DOCUMENT_LIMITS.ratio_above and total > DOCUMENT_LIMITS.ratio * packed:
        raise UnavailableCollectionError(
            f"{name} unpacks to more than {DOCUMENT_LIMITS.ratio} times its size"
        )


def find(files: Mapping[str, Opened], pattern: re.Pattern[str], name: str) -> str:
    """Return the one name that fits; raises UnavailableCollectionError without it."""
    found = [each for each in files if pattern.fullmatch(each)]
    if len(found) == 1:
        return found[0]
    what = pattern.pattern.rpartition("?")[2].replace("\\", "")
    how = "several files" if found else "no file"
    raise UnavailableCollectionError(f"{name} has {how} {what}")


def find_split(files: Mapping[str, Opened], split: str, name: str) -> str:
    """Return the name of the qrels of a split; raises UnavailableCollectionError without it."""
    splits = {found[1]: each for each in files if (found := QRELS.fullmatch(each))}
    if not splits:
        raise UnavailableCollectionError(f"{name} has no file qrels/test.tsv")
    chosen = split or (USUAL_SPLIT if USUAL_SPLIT in splits else "")
    if not chosen and len(splits) == 1:
        [chosen] = splits
    if chosen not in splits:
        listed = ", ".join(sorted(splits))
        raise UnavailableCollectionError(f"{name} has no split {chosen or 'test'}; it has {listed}")
    return splits[chosen]


def lines_of(opened: Opened) -> Iterator[str]:
    try:
        # A byte order mark is no part of the first topic.
        with opened() as file, TextIOWrapper(file, "utf-8-sig") as text:
            yield from iter(lambda: text.readline(LONGEST_LINE), "")
    except UnicodeDecodeError:
        raise UnavailableCollectionError("a file is not UTF-8") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise UnavailableCollectionError(f"the zip cannot be unpacked: {error}") from None


def judged_queries(opened: Opened, judged: set[str]) -> Iterator[str]:
    """Yield the lines of judged queries, and those that are not JSON, which the import reports."""
    for line in lines_of(opened):
        try:
            query = json.loads(line)
        except (ValueError, RecursionError):
            yield line
            continue
        if not isinstance(query, dict) or str(query.get("_id")) in judged:
            yield line
