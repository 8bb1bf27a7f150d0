"""Topics sent to a search engine over HTTP, and what it answers as rankings.

The answers of OpenSearch, Elasticsearch, Solr and Vespa are recognised by where their hits are.
"""

from __future__ import annotations

import json
import math
import re
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPException
from itertools import pairwise
from typing import Any
from urllib.parse import quote

from evaluation.reading.topics import Topic
from rankfield.version import VERSION

# Repeated: too many requests, and an engine that starts or is overloaded.
REPEATED = (429, 502, 503, 504)
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
LONGEST_ANSWER = 2**26
# After this many topics without one that succeeds, the others are not sent.
HOPELESS = 10


class ReplayError(Exception):
    """A topic has no ranking, with the reason."""


@dataclass(frozen=True)
class Shape:
    """Where an answer has its hits, and a hit its document and its score: names with dots."""

    hits: str
    docno: str
    score: str


# The first whose hits are in an answer.
SHAPES = {
    "opensearch": Shape("hits.hits", "_id", "_score"),
    "solr": Shape("response.docs", "id", "score"),
    "vespa": Shape("root.children", "id", "relevance"),
    "results": Shape("results", "id", "score"),
}
PLACE = re.compile(r"\{(query|topic|depth)\}")


@dataclass(frozen=True)
class Requests:
    """How a topic becomes a request.

    `{query}`, `{topic}` and `{depth}` in the URL, and in the texts of the template, stand for the
    text of a topic, its number and how many documents are asked for. A text that is only `{depth}`
    becomes a number. Without a template the request is a GET.
    """

    url: str
    template: Any = None
    depth: int = 1000
    headers: Mapping[str, str] = field(default_factory=dict)

    def build(self, topic: Topic) -> urllib.request.Request:
        text = topic.title or topic.description
        values = {"query": text, "topic": topic.number, "depth": str(self.depth)}
        url = PLACE.sub(lambda found: quote(values[found[1]], safe=""), self.url)
        headers = {"User-Agent": f"Rankfield/{VERSION}", **self.headers}
        if self.template is None:
            return urllib.request.Request(url, headers=headers)
        body = json.dumps(fill(self.template, values, self.depth)).encode()
        headers = {"Content-Type": "application/json", **headers}
        return urllib.request.Request(url, body, headers, method="POST")


def fill(template: Any, values: Mapping[str, str], depth: int) -> Any:
    """Return a template with the values in its texts, so that no query can change its structure.

    >>> fill({"q": {"match": "{query}"}, "size": "{depth}"}, {"query": '"} {topic}'}, 5)
    {'q': {'match': '"} {topic}'}, 'size': 5}
    """
    if isinstance(template, dict):
        return {name: fill(each, values, depth) for name, each in template.items()}
    if isinstance(template, list):
        return [fill(each, values, depth) for each in template]
    if template == "{depth}":
        return depth
    if not isinstance(template, str):
        return template
    # All at once: what a query says in braces stays as it is.
    return PLACE.sub(lambda found: values[found[1]], template)


@dataclass(frozen=True)
class Ranked:
    """The ranking of a topic, best first; `note` is what was done to it."""

    topic: str
    documents: list[tuple[str, float]]
    note: str = ""


@dataclass(frozen=True)
class Failed:
    """A topic without a ranking."""

    topic: str
    reason: str


@dataclass
class Replay:
    """Sends topics, several at a time; what fails for a while is sent again."""

    requests: Requests
    shape: Shape | None = None
    concurrency: int = 4
    attempts: int = 4
    timeout: float = 30.0
    succeeded: int = 0
    failed: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(
        self, topics: Sequence[Topic], show: Callable[[int], None] = lambda done: None
    ) -> Iterator[Ranked | Failed]:
        """Yield the outcome of each topic in their order."""
        with ThreadPoolExecutor(self.concurrency) as pool:
            for done, outcome in enumerate(pool.map(self.send, topics), 1):
                show(done)
                yield outcome

    def send(self, topic: Topic) -> Ranked | Failed:
        if not self.succeeded and self.failed >= HOPELESS:
            return Failed(topic.number, "not sent, since the topics before it all failed")
        try:
            content = self.open_repeatedly(self.requests.build(topic))
            ranked = read_ranking(topic.number, content, self.shape, self.requests.depth)
        except (ReplayError, ValueError) as error:
            with self.lock:
                self.failed += 1
            return Failed(topic.number, str(error))
        with self.lock:
            self.succeeded += 1
        return ranked

    def open_repeatedly(self, request: urllib.request.Request) -> bytes:
        """Return an answer.  Raises ReplayError once no further attempt is made."""
        pause = FIRST_PAUSE
        for attempt in range(1, self.attempts + 1):
            try:
                with urllib.request.urlopen(request, timeout=self.timeout) as answer:
                    content: bytes = answer.read(LONGEST_ANSWER + 1)
                if len(content) > LONGEST_ANSWER:
                    raise ReplayError(f"the answer exceeds {LONGEST_ANSWER // 2**20} MiB")
                return content
            except urllib.error.HTTPError as error:
                said = error.read(200).decode(errors="replace").strip()
                reason = f"status {error.code}" + (f": {said}" if said else "")
                asked = error.headers.get("Retry-After", "")
                if error.code not in REPEATED:
                    raise ReplayError(reason) from None
            except (OSError, HTTPException) as error:
                reason, asked = str(getattr(error, "reason", error)) or repr(error), ""
            if attempt < self.attempts:
                wanted = float(asked) if asked.isascii() and asked.isdigit() else 0.0
                time.sleep(min(max(pause, wanted), LONGEST_PAUSE))
                pause *= 2
        raise ReplayError(f"{reason}, after {self.attempts} attempts")


def read_ranking(topic: str, content: bytes, shape: Shape | None, depth: int) -> Ranked:
    """Return the ranking in an answer.  Raises ReplayError for one that has none.

    Scores that are missing or contradict the order become k, k - 1 ... 1. Of a document that is
    there twice, as passages of it are, the first counts.
    """
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        raise ReplayError("the answer is no JSON") from None
    shape = shape or find_shape(answer)
    hits = find_value(answer, shape.hits)
    hits = [] if hits is None else hits
    if not isinstance(hits, list):
        raise ReplayError(f"{shape.hits} of the answer is no list of hits")
    found: dict[str, Any] = {}
    for hit in hits:
        docno = read_docno(find_value(hit, shape.docno), shape)
        found.setdefault(docno, find_value(hit, shape.score))
    documents = list(found.items())[:depth]
    notes = ["documents twice"] if len(found) < len(hits) else []
    scores = [score for _, score in documents]
    if not are_falling(scores):
        notes.append("scores by rank")
        scores = [float(len(documents) - place) for place in range(len(documents))]
    ranked = [(docno, float(score)) for (docno, _), score in zip(documents, scores, strict=True)]
    return Ranked(topic, ranked, ", ".join(notes))


def find_shape(answer: Any) -> Shape:
    """Return the shape of an answer by where its hits are.  Raises ReplayError."""
    for shape in SHAPES.values():
        if isinstance(find_value(answer, shape.hits), list):
            return shape
    # Vespa leaves out the children of an answer without hits.
    if isinstance(find_value(answer, "root.fields"), dict):
        return SHAPES["vespa"]
    if isinstance(answer, dict) and "error" in answer:
        raise ReplayError(f"the engine reports an error: {json.dumps(answer['error'])[:200]}")
    raise ReplayError("the hits of the answer are not found: name their place with --hits")


def find_value(value: Any, path: str) -> Any:
    """Return what is at a path of names with dots; None where there is nothing.

    >>> find_value({"hits": {"hits": [1]}}, "hits.hits"), find_value({"a.b": 2}, "a.b")
    ([1], 2)
    """
    if isinstance(value, dict) and path in value:
        return value[path]
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def read_docno(value: Any, shape: Shape) -> str:
    """Return the identifier of a hit.  Raises ReplayError without one, or with a blank in it.

    >>> read_docno("id:news:article::d7", SHAPES["vespa"]), read_docno(["d7"], SHAPES["solr"])
    ('d7', 'd7')
    """
    if isinstance(value, list) and len(value) == 1:
        [value] = value
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise ReplayError(f"a hit has no {shape.docno}: name the field of the docno with --docno")
    docno = str(value)
    if shape == SHAPES["vespa"] and docno.startswith("id:"):
        docno = docno.partition("::")[2] or docno
    if len(docno.split()) != 1:
        raise ReplayError(f"the docno has a blank: {docno!r}")
    return docno


def are_falling(scores: Sequence[Any]) -> bool:
    """Return whether all are finite numbers, none higher than the one before."""
    if any(isinstance(score, bool) or not isinstance(score, int | float) for score in scores):
        return False
    is_finite = all(map(math.isfinite, scores))
    return is_finite and all(a >= b for a, b in pairwise(scores))
