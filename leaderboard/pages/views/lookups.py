"""Lookups of tracks, runs and boards that several views share."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, cast

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, QueryDict
from django.shortcuts import get_object_or_404

from evaluation.answers.any_measure import is_of_rankings
from evaluation.complete_cells import RULES, Rule
from leaderboard.analysis.topic_choice import EVERY_TOPIC, ChosenTopics, TopicFields, choose_topics
from leaderboard.assessments.kinds import kind_of_judging
from leaderboard.assessments.progress import find_disputes
from leaderboard.boards.benchmark_boards import BenchmarkChoice
from leaderboard.boards.disclosure import (
    BenchmarkSight,
    Sight,
    VisibleRun,
    benchmark_or_404,
    run_or_404,
    sight_of,
    track_at_or_404,
)
from leaderboard.boards.organised_runs import OrganisedChoice
from leaderboard.boards.reported_boards import ReportedChoice
from leaderboard.boards.rows import FROM, OF_PARAMETERS, TO, Limits
from leaderboard.boards.standings import Board, BoardChoice, find_board_with
from leaderboard.collections.documents import Document, open_documents
from leaderboard.infrastructure.whole_numbers import read_whole_number
from leaderboard.models import Assessment, Collection
from leaderboard.models.tracks import DATE_PATTERN
from leaderboard.pages.page_urls import TOPIC_FIELDS, carried_parameters, linked_parameters
from leaderboard.runs.facts import FILTERS
from leaderboard.runs.facts.parameters import read_number
from leaderboard.sight.visible_rows import can_see_marks

# What the form that chooses topics does not keep of an address.
NOT_KEPT = (*TOPIC_FIELDS, "page", "number")
# The part of the limits of a parameter that each name of the address states.
LIMITS = {OF_PARAMETERS: "word", FROM: "least", TO: "most"}


def organised_sight_or_403(request: HttpRequest, address: str) -> Sight:
    """Return the track for its organisers; everyone else is refused."""
    sight = track_at_or_404(request.user, address)
    if not sight.is_organiser:
        raise PermissionDenied
    return sight


def organised_benchmark_or_403(request: HttpRequest, slug: str) -> BenchmarkSight:
    """Return the benchmark for its organisers; everyone else is refused."""
    sight = benchmark_or_404(request.user, slug)
    if not sight.is_organiser:
        raise PermissionDenied
    return sight


@dataclass(frozen=True)
class OrganisedAssessment:
    """An assessment with its organiser's view of the track.

    `shows_marks` is False while the organiser judges in it too.
    """

    sight: Sight
    assessment: Assessment
    shows_marks: bool

    @property
    def context(self) -> dict[str, Any]:
        """What every page of an assessment prints."""
        return {
            "sight": self.sight,
            "track": self.sight.track,
            "assessment": self.assessment,
            "kind": kind_of_judging(self.assessment),
            "shows_marks": self.shows_marks,
            "num_disputes": len(find_disputes(self.assessment)) if self.shows_marks else 0,
        }


def organised_assessment_or_404(
    request: HttpRequest, address: str, name: str
) -> OrganisedAssessment:
    """Return an assessment for the organisers of its track; everyone else is refused."""
    sight = organised_sight_or_403(request, address)
    found = get_object_or_404(sight.track.assessments.select_related("pool__judged_in"), name=name)
    found.track = found.pool.track = sight.track
    return OrganisedAssessment(sight, found, can_see_marks(found, request.user))


def requested_sight(request: HttpRequest, address: str) -> Sight:
    """Return the track as requested: live, with other judgments or as the public sees it."""
    sight = track_at_or_404(request.user, address)
    if request.GET.get("as") == "everybody" and not sight.is_assessing:
        return Sight.of_everybody(sight.track)
    return sight.with_judgments(request.GET.get("judgments", ""))


def public_sight_or_404(request: HttpRequest, address: str) -> Sight:
    """Return the track as the public sees it; an assessor of the track sees nothing here."""
    sight = track_at_or_404(AnonymousUser(), address)
    if sight_of(sight.track, request.user).is_assessing:
        raise Http404("hidden from assessors")
    return sight


def managed_run_or_403(request: HttpRequest, run_id: str) -> VisibleRun:
    """Return the run for its team and its organisers; everyone else is refused."""
    seen = run_or_404(request.user, run_id)
    if not seen.sight.can_see_file(seen.run):
        raise PermissionDenied
    return seen


def requested_choice(request: HttpRequest) -> BoardChoice:
    """Read the reader's choice for the board of a track from the query parameters."""
    asked = request.GET
    return BoardChoice(
        **read_choice(asked),
        kind=text_of(asked, "kind"),
        best_per_team=bool(asked.get("best")),
        parameters=_read_limits(asked),
        carried=linked_parameters(asked),
    )


def _read_limits(asked: QueryDict) -> dict[str, Limits]:
    """Read what a reader wants of parameters: a value in words, or a number within limits."""
    found: dict[str, Limits] = {}
    for full_name in asked:
        for prefix, part in LIMITS.items():
            if not full_name.startswith(prefix):
                continue
            text, name = text_of(asked, full_name), full_name.removeprefix(prefix)
            value = text if part == "word" else read_number(text)
            if value not in ("", None):
                found[name] = replace(found.get(name, Limits()), **{part: value})
    return found


def requested_organised_choice(request: HttpRequest) -> OrganisedChoice:
    """Read what an organiser chooses among all runs from the query parameters."""
    own = {name: text_of(request.GET, name) for name in ("state", "judged", "late")}
    return OrganisedChoice(**read_choice(request.GET), **own)


def requested_benchmark_choice(request: HttpRequest) -> BenchmarkChoice:
    """Read the reader's choice for the board of a benchmark from the query parameters."""
    asked = request.GET
    return BenchmarkChoice(
        **read_choice(asked),
        phase=text_of(asked, "phase") if "phase" in asked else None,
        tracks=tuple(asked.getlist("track")),
        until=read_date(asked),
        versions=text_of(asked, "versions"),
        opened=tuple(asked.getlist("open")),
        folded=tuple(asked.getlist("fold")),
    )


def read_date(asked: QueryDict) -> str:
    """Read the date up to which collections count; one that is none counts all."""
    date = text_of(asked, "until")
    return date if re.fullmatch(DATE_PATTERN, date) else ""


def requested_reported_choice(request: HttpRequest) -> ReportedChoice:
    """Read the reader's choice for the board of reported scores from the query parameters."""
    asked, rule = request.GET, text_of(request.GET, "rule")
    return ReportedChoice(
        **read_choice(asked),
        rule=cast("Rule", rule) if rule in RULES else RULES[0],
        groups=tuple(asked.getlist("group")),
        opened=tuple(asked.getlist("open")),
        window=page_number(request, "collections"),
        version=read_whole_number(asked.get("version", "")),
    )


@dataclass(frozen=True)
class TopicChoice:
    """The form that chooses topics by their fields, and what was chosen."""

    chosen: ChosenTopics
    has_groups: bool
    # The other parameters of the page, which the form keeps.
    kept: list[tuple[str, str]]
    # What the API is asked for the same.
    query: str

    @property
    def wanted(self) -> TopicFields:
        return self.chosen.wanted

    @property
    def is_made(self) -> bool:
        return not self.wanted.wants_all


def requested_topics(request: HttpRequest, sight: Sight) -> TopicChoice:
    """Read which topics a reader chooses; none of topics that are not out yet."""
    return choose_requested_topics(request, sight.track.collection, sight.can_see_topics)


def choose_requested_topics(
    request: HttpRequest, collection: Collection, are_seen: bool = True
) -> TopicChoice:
    """Read which topics of a collection a reader chooses; every topic if none may be seen."""
    asked = request.GET
    wanted = TopicFields(
        text_of(asked, "about").strip(),
        text_of(asked, "group").strip(),
        read_whole_number(asked.get("turn", "")),
    )
    found = choose_topics(collection, wanted) if are_seen else EVERY_TOPIC
    kept = [
        (name, value) for name, values in asked.lists() for value in values if name not in NOT_KEPT
    ]
    query = QueryDict(mutable=True)
    query.update(carried_parameters(asked, ("measure", *TOPIC_FIELDS)))
    return TopicChoice(found, bool(collection.num_groups), kept, query.urlencode())


def read_choice(asked: QueryDict) -> dict[str, Any]:
    """Read what a reader may choose on any board."""
    words = ("measure", "baseline", "family", "sort", "team", "text")
    return {
        **{name: text_of(asked, name) for name in words},
        "facts": {
            name: asked[name] for name in FILTERS if asked.get(name) in FILTERS[name].options
        },
        "columns": tuple(asked.getlist("column")),
    }


def board_or_404(sight: Sight, request: HttpRequest) -> Board:
    """Return the board if the viewer may see one."""
    return board_with_runs_or_404(sight, request)


def board_of_rankings_or_404(sight: Sight, request: HttpRequest) -> Board:
    """Return the board by a measure of rankings, for pages that judge again: the asked or first."""
    board = board_or_404(sight, request)
    if is_of_rankings(board.measure):
        return board
    measure = next(filter(is_of_rankings, board.measures), None)
    found = find_board_with(sight, replace(requested_choice(request), measure=measure or ""))
    if measure is None or found is None:
        raise Http404("no measure of rankings")
    return found


def board_with_runs_or_404(sight: Sight, request: HttpRequest, *run_ids: str) -> Board:
    """Return a board that includes these runs, if needed the board of every run."""
    board = find_board_with(sight, requested_choice(request), *filter(None, run_ids))
    if board is None:
        raise Http404("no board to see")
    return board


def organised_collection_or_404(request: HttpRequest, slug: str) -> Collection:
    """Return a collection for its organisers; for everyone else it does not exist."""
    return get_object_or_404(Collection.objects.organised_by(request.user), slug=slug)


def document_or_404(collection: Collection, docno: str) -> Document:
    """Return a document of the collection by its docno."""
    found = open_documents(collection.documents.name).find(docno) if collection.documents else None
    if found is None:
        raise Http404("no such document")
    return found


def text_of(values: QueryDict, name: str) -> str:
    """Return a parameter without NUL, which PostgreSQL compares with no text."""
    return values.get(name, "").replace("\0", "")


def texts_of(values: QueryDict, name: str) -> list[str]:
    """Return every value of a parameter that may be given several times, without NUL."""
    return [value.replace("\0", "") for value in values.getlist(name)]


def page_number(request: HttpRequest, name: str = "page") -> int:
    asked = read_whole_number(request.GET.get(name, "1"))
    return asked if asked is not None and asked < 10**6 else 1
