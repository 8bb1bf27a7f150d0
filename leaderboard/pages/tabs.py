"""Tabs of a track and of a benchmark, and the views beneath the current tab.

A page says which view it is by the name of its URL; pages beneath a view say that of the view.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evaluation.answers.any_measure import is_of_rankings
from leaderboard.boards.disclosure import BenchmarkSight, Sight
from leaderboard.pages.page_urls import (
    PAGES_BY_TOPIC,
    carried_parameters,
    linked_parameters,
    page_url,
)
from leaderboard.scoring.kinds import kind_of

# Pages of a track that keep the reader's measure and baseline.
READ_BY_MEASURE = {
    *("board", "significance", "compare", "history", "measures_correlation", "cost", "parameters"),
    *("topics", "topic_map", "judgments", "nuggets", "reusability", "plan"),
}


@dataclass(frozen=True, slots=True)
class View:
    """One page of a tab; `page` is the name of its URL."""

    name: str
    page: str
    is_shown: bool = True


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab, which leads to the first of its views that is shown."""

    name: str
    views: tuple[View, ...]
    note: str | int = ""


@dataclass(frozen=True, slots=True)
class Link:
    """A tab or a view as it is printed; `current` is what `aria-current` says of it."""

    name: str
    address: str
    current: str = ""
    note: str | int = ""


@dataclass(frozen=True, slots=True)
class Tabs:
    """The tabs of a page, and the views of the current one."""

    of: str
    links: list[Link]
    views: list[Link]


def link_tabs(sight: Sight | BenchmarkSight, current: str, asked: Mapping[str, str]) -> Tabs:
    """Return the tabs around a page; `asked` are its query parameters."""
    if isinstance(sight, Sight):
        return _link("Track", _tabs_of_track(sight), current, sight.track.address, asked)
    if sight.sights and sight.sights[0].track.is_alone:
        return link_tabs(sight.sights[0], current, asked)
    return _link("Benchmark", _tabs_of_benchmark(sight), current, sight.benchmark.slug, asked)


def _tabs_of_track(sight: Sight) -> list[Tab]:
    track, organises, scores = sight.track, sight.is_organiser, sight.can_see_scores
    alone = track.is_alone
    judged = track.judgment_set if scores else None
    version = judged.version if judged is not None and judged.has_documents else ""
    reusable = scores and any(map(is_of_rankings, track.measures))
    judging = [View("Pools", "pools", organises), View("Assessments", "assessments", organises)]
    # Judging begins with a pool.
    if organises and track.assessments.exists():
        judging.reverse()
    return [
        Tab(
            "Overview",
            (View("Overview", "overview"), View("Questions", "questions", alone)),
        ),
        Tab(
            "Board",
            (
                View("Runs", "board"),
                View("All pairs", "significance", sight.edition is not None),
                View("Compare two", "compare", scores),
                View("Over time", "history", scores),
                View("Measures", "measures_correlation", scores),
                View("Cost", "cost", scores),
                View("Parameters", "parameters", scores),
                View(
                    "Rankings" if track.ranks_systems else "Judges",
                    "judges",
                    scores and kind_of(track).is_of_judges,
                ),
                View("Battles", "battle_board", scores and hasattr(track, "battles")),
                View("Plan", "plan", scores and not organises),
                View("Reported", "reported_board", alone and track.benchmark.has_reported_scores),
            ),
        ),
        Tab(
            "Topics",
            (View("Topics", "topics"), View("Map", "topic_map", scores)),
            track.collection.num_topics,
        ),
        Tab(
            "Data",
            (
                View("Files", "data"),
                View("Judgments", "judgments"),
                View("Nuggets", "nuggets", track.run_kind == "answers"),
                View("Reusability", "reusability", reusable and not organises),
                View("Snapshots", "snapshots", sight.can_see_snapshots),
            ),
            version,
        ),
        Tab(
            "My runs",
            (View("My runs", "my_runs", sight.viewer.is_authenticated),),
            sight.own_runs().count() if sight.team else "",
        ),
        Tab(
            "Judging",
            (
                *judging,
                View("Reusability", "reusability", reusable and organises),
                View("Plan", "plan", organises and scores),
                View("Battles", "battle_settings", organises),
            ),
        ),
        Tab(
            "Organise",
            (
                View("Set up", "setup", organises and track.is_draft),
                View("Now", "desk", organises),
                View("Runs", "organised_runs", organises),
                View("Findings", "findings", organises),
                View("People", "people", organises and alone),
                View("Dates", "deadlines", organises),
                View("Registration", "registration", organises and alone),
                View("Messages", "messages", organises and alone),
                View("Invitations", "invitations", organises and alone),
                View("Reported scores", "reported_results", organises and alone),
                View("Settings", "manage", organises),
                View("Activity", "trail", organises),
            ),
        ),
    ]


def _tabs_of_benchmark(sight: BenchmarkSight) -> list[Tab]:
    takes_part = sight.viewer.is_authenticated and sight.can_take_part
    return [
        Tab("Overview", (View("Overview", "overview"),)),
        Tab(
            "Board",
            (
                View("Systems", "board"),
                View("Differences", "benchmark_differences"),
                View("Compare two", "compare"),
                View("New collections", "new_collections"),
                View("By date", "benchmark_series", sight.has_dates),
                View("Reported", "reported_board", sight.benchmark.has_reported_scores),
                View("Over time", "history"),
                View("Snapshots", "snapshots"),
            ),
        ),
        Tab("Systems", (View("Systems", "benchmark_systems"),)),
        Tab("Questions", (View("Questions", "questions"),)),
        Tab("Submit", (View("Submit", "submit", takes_part),)),
        Tab(
            "Organise",
            (
                View("Settings", "manage", sight.is_organiser),
                View("Dates", "deadlines", sight.is_organiser),
                View("People", "people", sight.is_organiser),
                View("Registration", "registration", sight.is_organiser),
                View("Messages", "messages", sight.is_organiser),
                View("Invitations", "invitations", sight.is_organiser),
                View("Reported scores", "reported_results", sight.is_organiser),
            ),
        ),
    ]


def _link(name: str, tabs: list[Tab], current: str, of: str, asked: Mapping[str, str]) -> Tabs:
    keep = linked_parameters if current in PAGES_BY_TOPIC else carried_parameters
    chosen = keep(asked)

    def link(view: View, label: str, sign: str, note: str | int = "") -> Link:
        kept = chosen if view.page in READ_BY_MEASURE else {}
        return Link(label, page_url(view.page, kept, of), sign, note)

    links, beneath = [], []
    for tab in tabs:
        views = [view for view in tab.views if view.is_shown]
        if not views:
            continue
        if current in {view.page for view in views}:
            beneath = views if len(views) > 1 else []
            sign = "page" if views[0].page == current else "true"
        else:
            sign = ""
        links.append(link(views[0], tab.name, sign, tab.note))
    signs = {current: "page"}
    return Tabs(name, links, [link(view, view.name, signs.get(view.page, "")) for view in beneath])
