"""The search of the whole site: what a viewer may see, by name, tag, number or words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from django.db.models import Prefetch, Q, QuerySet

from leaderboard.boards.disclosure import (
    SeenTeam,
    Sight,
    find_runs_by_tag,
    find_teams_by_name,
    sights_of,
)
from leaderboard.collections.documents import has_known_document
from leaderboard.models import Benchmark, Collection, Run, Topic, Track
from leaderboard.sight.tracks import Viewer
from leaderboard.sight.visible_rows import find_hidden_documents

# Rows of each kind that are shown.
MOST = 50
# Collections that are asked for a docno: each has to be opened.
MOST_OPENED = 20


@dataclass(frozen=True)
class SiteSearch:
    """What was found, at most MOST of each kind.

    `with_document` are collections that have a document of this docno, and `with_words` those whose
    documents can be searched for words.
    """

    text: str
    benchmarks: Sequence[Benchmark] = ()
    tracks: Sequence[Track] = ()
    collections: Sequence[Collection] = ()
    teams: Sequence[SeenTeam] = ()
    runs: Sequence[Run] = ()
    topics: Sequence[Topic] = ()
    with_document: Sequence[Collection] = ()
    with_words: Sequence[Collection] = ()

    @property
    def has_found(self) -> bool:
        named = (self.benchmarks, self.tracks, self.collections, self.teams)
        return any((*named, self.runs, self.topics, self.with_document))


def search_site(viewer: Viewer, text: str) -> SiteSearch:
    """Find what this viewer may see, with as few queries for many tracks as for one."""
    if not text:
        return SiteSearch(text)
    tracks = list(Track.objects.visible_to(viewer).order_by("name"))
    sights = sights_of(tracks, viewer)
    named = Q(name__icontains=text) | Q(slug__icontains=text)
    benchmarks = Benchmark.objects.visible_to(viewer).of_several_tracks().filter(named)
    collections = list(Collection.objects.visible_to(viewer).ready().order_by("name"))
    hidden = find_hidden_documents(viewer)
    readable = [each for each in collections if each.documents and each.pk not in hidden]
    return SiteSearch(
        text,
        benchmarks=benchmarks.order_by("name")[:MOST],
        tracks=[each for each in tracks if is_named(each, text)][:MOST],
        collections=[each for each in collections if is_named(each, text)][:MOST],
        teams=find_teams_by_name(sights, text, MOST),
        runs=find_runs_by_tag(sights, text, MOST),
        topics=_find_topics(viewer, sights, text),
        with_document=[
            each for each in readable[:MOST_OPENED] if has_known_document(each.documents.name, text)
        ],
        with_words=list(islice((each for each in readable if each.words), MOST)),
    )


def is_named(row: Track | Collection, text: str) -> bool:
    """Whether the name of a track or a collection contains the text, in any case of letters."""
    return text.casefold() in row.name.casefold() or text.casefold() in row.slug


def _find_topics(viewer: Viewer, sights: Sequence[Sight], text: str) -> QuerySet[Topic]:
    """Find topics by title or number, each with the tracks of its collection in `seen_tracks`."""
    wanted = Q(title__icontains=text) | Q(number=text)
    shown = {sight.track.collection_id for sight in sights if sight.can_see_topics}
    # Named by their ids, so that PostgreSQL reads the topics of these alone.
    topics = Topic.objects.filter(wanted, collection__in=shown)
    seen = Prefetch("collection__tracks", Track.objects.visible_to(viewer), to_attr="seen_tracks")
    return topics.select_related("collection").prefetch_related(seen)[:MOST]
