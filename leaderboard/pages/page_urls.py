"""URLs of a track's pages, which keep the reader's measure and baseline."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from urllib.parse import quote_plus

from django.urls import get_script_prefix, reverse
from django.utils.http import urlencode

# Query parameters that links to the next page of a track keep.
CARRIED_PARAMETERS = ("measure", "baseline", "family")
# The fields by which a reader chooses topics, which pages by topic keep besides.
TOPIC_FIELDS = ("about", "group", "turn")
PAGES_BY_TOPIC = frozenset(
    ("topics", "topic_map", "topic_map_image", "topic", "track_document", "computed", "compare")
) | {"run_topics", "run_failures", "ranking", "answer", "nuggets", "nugget"}


def carried_parameters(
    asked: Mapping[str, str], names: Sequence[str] = CARRIED_PARAMETERS
) -> dict[str, str]:
    """Return the query parameters that links keep, without empty ones.

    >>> carried_parameters({"measure": "P@5", "page": "3", "baseline": ""})
    {'measure': 'P@5'}
    """
    return {name: asked[name] for name in names if asked.get(name)}


def linked_parameters(asked: Mapping[str, str]) -> dict[str, str]:
    """Return the query parameters that links keep, with those that only pages by topic take."""
    return carried_parameters(asked, (*CARRIED_PARAMETERS, *TOPIC_FIELDS))


def page_url(page: str, chosen: Mapping[str, str], *of: str, **query: str) -> str:
    """Return the URL of a page `of` a track or run; its own parameters come first and win.

    What a reader chose of the topics goes along to pages by topic alone.
    """
    path = _path_of(get_script_prefix(), page, of)
    if page not in PAGES_BY_TOPIC:
        chosen = {name: value for name, value in chosen.items() if name not in TOPIC_FIELDS}
    asked = urlencode({**query, **chosen, **query}, doseq=True)
    return f"{path}?{asked}" if asked else path


@lru_cache(maxsize=4096)
def _path_of(prefix: str, page: str, of: tuple[str, ...]) -> str:
    """Return the path of a page; a page has a hundred links to few others."""
    return reverse(page, args=of)


def run_url_pattern(page: str, chosen: Mapping[str, str], **query: str) -> str:
    """Return the URL of a run page with a placeholder for the run id.

    Reversing one URL per run would be slow for hundreds of runs.
    """
    before, after = page_url(page, chosen, "0", **query).split("/0/")
    return f"{before}/{{}}/{after}"


def topic_url_builder(
    page: str, chosen: Mapping[str, str], of: str, **query: str
) -> Callable[[str], str]:
    """Return a function that builds the URL of a topic from its number.

    A value holds no "=", so the first "number=" is the parameter.
    """
    before, name, after = page_url(page, chosen, of, **query, number="").partition("number=")
    return lambda number: f"{before}{name}{quote_plus(number)}{after}"
