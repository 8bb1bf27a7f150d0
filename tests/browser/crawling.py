"""Every page of a site, found as a reader finds them: by its links."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.urls import Resolver404, resolve

from tests.pages.test_matrix import PAGES

# Addresses that answer no page of their own: files, images, moving parts, and the way out.
NO_PAGES = {
    "account_data",
    "account_logout",
    "aliases",
    "anonymous_release",
    "archive",
    "assessment_prompts",
    "badge",
    "badge_by_code",
    "baseline_file",
    "changed_judgments",
    "collection_state",
    "docnos_file",
    "documents_file",
    "everything",
    "feed",
    "healthz",
    "intents_file",
    "judged_topics_file",
    "judging_progress",
    "layer_results",
    "layer_file",
    "marks_file",
    "metrics",
    "new_judgments",
    "nuggets_file",
    "openapi-json",
    "pack",
    "pages_copy_file",
    "pool_file",
    "pool_prompts",
    "qrels_file",
    "ranking_file",
    "run_file",
    "run_metadata",
    "benchmark_archive",
    "benchmark_badge",
    "benchmark_badge_by_code",
    "run_problems",
    "run_state",
    "run_topics_csv",
    "sample_run",
    "topic_map_image",
    "topics_download",
    "topics_file",
    "version_prompts",
    "votes_file",
}


def pages_of(tab, *starts: str, within: tuple[str, ...] = ("/",)) -> dict[str, str]:
    """The first address met of every kind of page beneath some places, by the name of the kind.

    A second one is opened for its links: the first assessment met may be closed. Places that are
    for others are left out.
    """
    found: dict[str, dict[str, str]] = {}
    waiting = list(starts)
    while waiting:
        address = waiting.pop(0)
        name = name_of(address)
        if not name or name in NO_PAGES or not address.startswith(within):
            continue
        met, path = found.setdefault(name, {}), urlsplit(address).path
        if path in met or (len(met) >= 2 and address not in starts):
            continue
        if tab.goto(address).status in (403, 404) and address in starts:
            # For others.
            continue
        met[path] = address
        waiting += links_of(tab)
    return {name: next(iter(met.values())) for name, met in found.items() if met}


def name_of(address: str) -> str:
    try:
        return resolve(urlsplit(address).path).url_name or ""
    except Resolver404:
        return ""


def links_of(tab) -> list[str]:
    """The links of a page within the site; files to keep and answers of the API are no pages."""
    links = tab.evaluate(
        "[...document.links].filter(a => a.origin === location.origin && !a.download)"
        ".map(a => a.pathname + a.search)"
    )
    return [each for each in links if "format=" not in each and not each.startswith("/api/v1/r")]


def names_of_pages() -> set[str]:
    """What every reader's matrix calls a page; `test_every_address_has_a_row` keeps it whole.

    A page that tracks and benchmarks have has one name.
    """
    pages = PAGES.items()
    return {name if "{" in address else name_of(address) for name, (address, _) in pages} - NO_PAGES
