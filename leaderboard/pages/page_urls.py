"""Addresses of a track's pages: what the reader chose of its board goes along."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from urllib.parse import quote_plus

from django.urls import reverse

# What a page of a track hands on to the next one.
CARRIED_PARAMETERS = ("measure", "baseline")


def carried_parameters(
    asked: Mapping[str, str], names: Sequence[str] = CARRIED_PARAMETERS
) -> dict[str, str]:
    """Of the parameters of an address those that the next page takes over.

    >>> carried_parameters({"measure": "P@5", "page": "3", "baseline": ""})
    {'measure': 'P@5'}
    """
    return {name: asked[name] for name in names if asked.get(name)}


def page_url(page: str, chosen: Mapping[str, str], *of: str, **query: str) -> str:
    """A page `of` a track or a run: its own parameters first, they win over what was chosen."""
    return reverse(page, args=of, query={**query, **chosen, **query})


def run_url_pattern(page: str, chosen: Mapping[str, str], **query: str) -> str:
    """A page of runs, the id of one to be put in: hundreds of them are not looked up one by one."""
    before, after = page_url(page, chosen, "0", **query).split("/0/")
    return f"{before}/{{}}/{after}"


def topic_url_builder(
    page: str, chosen: Mapping[str, str], of: str, **query: str
) -> Callable[[str], str]:
    """The same for the topics of a page, by their numbers: there may be thousands.

    A value holds no "=", so the first "number=" is the parameter.
    """
    before, name, after = page_url(page, chosen, of, **query, number="").partition("number=")
    return lambda number: f"{before}{name}{quote_plus(number)}{after}"
