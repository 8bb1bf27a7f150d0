"""What makes a copy of a board citable: who made it, under which licence, and what it holds.

    CITATION.cff     how to cite it, for GitHub and reference managers (Citation File Format 1.2)
    .zenodo.json     the same for a deposit at Zenodo
    croissant.json   the collection with the digests of its files (MLCommons Croissant 1.0)

Names of people are written as they stand; no program can tell which part is the family name.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.urls import reverse
from django.utils import timezone

from leaderboard.actions import snapshots
from leaderboard.actions.overviews import (
    Author,
    find_overview,
    list_authors,
    render_track_bibtex,
)
from leaderboard.archives.zip_files import ZipEntry
from leaderboard.boards.data_files import find_data_files
from leaderboard.boards.disclosure import Sight
from leaderboard.display.markdown import render_markdown
from leaderboard.models import BenchmarkSnapshot, Snapshot, Track

KEYWORDS = ("information retrieval", "test collection", "evaluation")
CREATIVE_COMMONS = re.compile(
    r"cc[ -](?P<terms>by(?:-nc)?(?:-sa|-nd)?)[ -](?P<version>[1-4]\.\d)", re.IGNORECASE
)
# Licences by a name of theirs, in small letters, without blanks and dashes.
LICENCES = {
    "apache2.0": "Apache-2.0",
    "bsd3clause": "BSD-3-Clause",
    "cc0": "CC0-1.0",
    "cc01.0": "CC0-1.0",
    "mit": "MIT",
    "odbl1.0": "ODbL-1.0",
    "pddl1.0": "PDDL-1.0",
}
NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
MEDIA_TYPES = {"jsonl": "application/jsonlines", "gz": "application/gzip"}
QRELS_COLUMNS = {
    "topic": ("sc:Text", r"^(\S+)"),
    "docno": ("sc:Text", r"^\S+\s+\S+\s+(\S+)"),
    "grade": ("sc:Integer", r"^\S+\s+\S+\s+\S+\s+(\S+)"),
}


@dataclass(frozen=True)
class Citation:
    """What is cited; without `address` it has none."""

    key: str
    title: str
    authors: Sequence[Author]
    description: str
    published: date
    address: str = ""
    licence: str = ""
    # How the organisers want it cited, in words.
    request: str = ""
    bibtex: str = ""


@dataclass(frozen=True)
class DescribedFile:
    """A file of the collection: in the copy, or at an address of the site."""

    name: str
    description: str
    address: str
    sha256: str
    size: int | None = None
    is_qrels: bool = False


def build_citation_members(
    track: Track, site: str, copied: Mapping[str, tuple[str, bytes]]
) -> Iterator[ZipEntry]:
    """Yield the files of metadata; `copied` has name and content of data files by address."""
    citation = cite_track(track, site)
    yield ZipEntry("CITATION.cff", [render_citation_file(citation).encode()])
    yield ZipEntry(".zenodo.json", [render_zenodo(citation).encode()])
    files = list(describe_files(track, site, copied))
    yield ZipEntry("croissant.json", [render_croissant(track, citation, files).encode()])


def build_deposit_members(
    snapshot: Snapshot | BenchmarkSnapshot, address: str
) -> Iterator[ZipEntry]:
    """Yield the files of a snapshot as they were frozen, with how to cite it at this address."""
    citation = cite_snapshot(snapshot, address)
    yield ZipEntry("README.txt", [f"{citation.title}\n\n{citation.description}\n".encode()])
    for format, text in snapshot.files.items():
        yield ZipEntry(f"board.{format}", [text.encode()])
    yield ZipEntry("citation.bib", [citation.bibtex.encode()])
    yield ZipEntry("CITATION.cff", [render_citation_file(citation).encode()])
    yield ZipEntry(".zenodo.json", [render_zenodo(citation).encode()])


def cite_snapshot(snapshot: Snapshot | BenchmarkSnapshot, address: str) -> Citation:
    """Return how to cite a frozen board."""
    subject = snapshot.subject
    notes = [snapshot.caption, snapshot.note]
    return Citation(
        key=f"{subject.slug}-{snapshot.slug}",
        title=f"{subject.name}: {snapshot.name}",
        authors=snapshots.list_snapshot_authors(snapshot),
        description="\n\n".join(note for note in notes if note),
        published=snapshot.created_at.date(),
        address=address,
        licence=snapshot.track.collection.licence if isinstance(snapshot, Snapshot) else "",
        bibtex=snapshots.render_bibtex(snapshot, address),
    )


def cite_track(track: Track, site: str) -> Citation:
    """Return how to cite the results of a track: as of its release, or of today if it is open."""
    page = find_overview(track)
    authors = list_authors(track, page)
    address = f"{site}{reverse('board', args=[track.address])}" if site else ""
    return Citation(
        key=track.slug,
        title=f"{track.name}: topics, judgments and results",
        authors=authors,
        description=track.description or f"The board of the track {track.name}.",
        published=(track.released_at or timezone.now()).date(),
        address=address,
        licence=track.collection.licence,
        request=" ".join(page.citation.split()),
        bibtex=render_track_bibtex(track, authors, address),
    )


def describe_files(
    track: Track, site: str, copied: Mapping[str, tuple[str, bytes]]
) -> Iterator[DescribedFile]:
    """Yield what everybody can download of the collection and has a digest."""
    taken: set[str] = set()
    for file in find_data_files(Sight.of_everybody(track)):
        about = f"{file.label}: {file.detail}"
        if file.address in copied:
            name, content = copied[file.address]
            digest = hashlib.sha256(content).hexdigest()
            is_qrels = file.label == "Judgments"
            yield DescribedFile(name, about, name, digest, len(content), is_qrels)
        elif site and file.address and file.sha256:
            # A baseline may have the name of another file.
            name = f"{file.label.lower()}/{file.name}" if file.name in taken else file.name
            taken.add(name)
            yield DescribedFile(name, about, f"{site}{file.address}", file.sha256, file.size)


def render_citation_file(citation: Citation) -> str:
    """Return a citation as YAML; texts are quoted as in JSON, which YAML allows.

    >>> bread = Citation("bread", "Bread", [Author("Ada")], "Loaves.", date(2027, 5, 1))
    >>> print(render_citation_file(bread), end="")
    cff-version: 1.2.0
    type: dataset
    message: "Please cite these results if you use them."
    title: "Bread"
    abstract: "Loaves."
    authors:
      - name: "Ada"
    keywords: ["information retrieval", "test collection", "evaluation"]
    date-released: "2027-05-01"
    """
    wanted = f"Please cite: {citation.request}" if citation.request else ""
    known = find_licence(citation.licence)
    lines = [
        "cff-version: 1.2.0",
        "type: dataset",
        f"message: {quote(wanted or 'Please cite these results if you use them.')}",
        f"title: {quote(citation.title)}",
        f"abstract: {quote(citation.description)}",
        "authors:",
        *(f"  - name: {quote(author.name)}" for author in citation.authors),
        f"keywords: {quote(KEYWORDS)}",
        f"date-released: {quote(citation.published.isoformat())}",
        *([f"url: {quote(citation.address)}"] if citation.address else []),
        *([f"license: {quote(known)}"] if known else []),
    ]
    return "\n".join(lines) + "\n"


def quote(value: str | Sequence[str]) -> str:
    """Return a value as JSON that YAML reads alike: it allows fewer characters to stand bare."""
    text = json.dumps(value, ensure_ascii=False)
    return NOT_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def render_zenodo(citation: Citation) -> str:
    """Return the metadata of a deposit, as Zenodo reads them."""
    known = find_licence(citation.licence)
    notes = [
        f"Please cite: {citation.request}" if citation.request else "",
        f"Licence: {citation.licence}" if citation.licence and not known else "",
    ]
    fields = {
        "title": citation.title,
        "upload_type": "dataset",
        "description": str(render_markdown(citation.description)),
        "creators": [
            {"name": author.name, "affiliation": author.affiliation}
            if author.affiliation
            else {"name": author.name}
            for author in citation.authors
        ],
        "publication_date": citation.published.isoformat(),
        "keywords": list(KEYWORDS),
        "license": known.lower(),
        "notes": "\n".join(note for note in notes if note),
        "related_identifiers": [
            {"identifier": citation.address, "relation": "isDerivedFrom", "scheme": "url"}
        ]
        if citation.address
        else [],
    }
    return render_json({name: value for name, value in fields.items() if value})


def render_croissant(track: Track, citation: Citation, files: Sequence[DescribedFile]) -> str:
    """Return the collection of a track as Croissant, with its judgments as records.

    The topics are described as a file alone: its readers make numbers of them, and 051 would
    become 51.
    """
    collection = track.collection
    fields = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "name": collection.name,
        "description": collection.description or citation.description,
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "license": citation.licence,
        "url": citation.address,
        "creator": [{"@type": "sc:Person", "name": author.name} for author in citation.authors],
        "datePublished": citation.published.isoformat(),
        # In the form that Croissant wants of versions.
        "version": f"{citation.published:%Y.%-m.%-d}",
        "keywords": list(KEYWORDS),
        "citeAs": citation.bibtex,
        "distribution": [describe_file(file) for file in files],
        "recordSet": [describe_judgments(file.name) for file in files if file.is_qrels],
    }
    return render_json({name: value for name, value in fields.items() if value})


def describe_file(file: DescribedFile) -> dict[str, Any]:
    ending = file.name.rpartition(".")[2]
    size = {} if file.size is None else {"contentSize": f"{file.size} B"}
    return {
        "@type": "cr:FileObject",
        "@id": file.name,
        "name": file.name,
        "description": file.description,
        "contentUrl": file.address,
        **size,
        "encodingFormat": MEDIA_TYPES.get(ending, "text/plain"),
        "sha256": file.sha256,
    }


def describe_judgments(name: str) -> dict[str, Any]:
    """Describe the lines of a qrels file; all its forms have topic, docno and grade there."""
    columns = [
        {
            "@type": "cr:Field",
            "@id": f"judgments/{column}",
            "name": column,
            "dataType": kind,
            "source": {
                "fileObject": {"@id": name},
                "extract": {"fileProperty": "lines"},
                "transform": {"regex": pattern},
            },
        }
        for column, (kind, pattern) in QRELS_COLUMNS.items()
    ]
    return {"@type": "cr:RecordSet", "@id": "judgments", "name": "judgments", "field": columns}


def find_licence(text: str) -> str:
    """Return the SPDX identifier of a licence, or nothing if the text names none that we know.

    >>> find_licence("CC BY-SA 4.0"), find_licence("cc0"), find_licence("on request")
    ('CC-BY-SA-4.0', 'CC0-1.0', '')
    """
    if found := CREATIVE_COMMONS.fullmatch(text.strip()):
        return f"CC-{found['terms'].upper()}-{found['version']}"
    return LICENCES.get(re.sub(r"[\s-]", "", text.lower()), "")


def render_json(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False, indent=2) + "\n"


# What the names of Croissant 1.0 mean; every file of it repeats them.
OWN_NAMES = (
    *("citeAs", "column", "equivalentProperty", "extract", "field", "fileObject", "fileProperty"),
    *("fileSet", "format", "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField"),
    *("path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate"),
    *("separator", "source", "subField", "transform"),
)
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{name: f"cr:{name}" for name in OWN_NAMES},
}
