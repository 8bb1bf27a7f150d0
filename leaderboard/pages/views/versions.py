"""Versions of a track's judgments: trial, impact on the board and switch."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from leaderboard.actions import pools, tracks
from leaderboard.actions.collections import record_download, state_judged_by_people
from leaderboard.actions.refusals import ActionError
from leaderboard.analysis.impact import Impact, MeasureImpact, compute_impact
from leaderboard.analysis.origins import intents_name, qrels_name
from leaderboard.assessments.sample_frames import choose_depth
from leaderboard.assessments.samples import check_machine, find_machine_version
from leaderboard.boards.deferred_tests import request_tests
from leaderboard.boards.disclosure import Sight, track_at_or_404
from leaderboard.boards.judges import name_who_judged
from leaderboard.collections.pools import find_pool
from leaderboard.collections.stored_judgments import render_intents, render_qrels
from leaderboard.infrastructure.downloads import streamed_text
from leaderboard.infrastructure.whole_numbers import read_whole_number
from leaderboard.jobs.calculations import Awaited
from leaderboard.models import Edition, Job, JudgmentSet, MachineCard, Track
from leaderboard.models.collections import ImportState
from leaderboard.notifications.notices import count_notified_of_judgments
from leaderboard.pages import wording
from leaderboard.pages.views.lookups import organised_sight_or_403, requested_topics
from leaderboard.pages.views.tables import csv_file, wants_csv
from leaderboard.pages.views.tokens import accept_token
from leaderboard.pages.wording.changes import describe_notified
from leaderboard.pages.wording.phrases import Sentence
from leaderboard.scoring.contests import contest_on
from leaderboard.scoring.editions import find_edition_with
from leaderboard.scoring.families import find_measures, ranking_measure


@login_required
@require_GET
def impact(request: HttpRequest, address: str, version: str) -> HttpResponse:
    """Show the impact of a version of the judgments on the board."""
    sight = organised_sight_or_403(request, address)
    judgment_set = _version_or_404(sight.track, version)
    edition = find_edition_with(sight.track, judgment_set)
    found = find_impact(sight, edition) if edition is not None else None
    choice = requested_topics(request, sight)
    if found is not None and wants_csv(request):
        if request.GET.get("table") == "topics":
            if not found.has_same_makers:
                raise Http404("scores by different judges have no difference")
            table = found.on(choice.chosen).topic_table
            return csv_file(f"{sight.track.slug}-{version}-impact-topics", *table)
        return csv_file(f"{sight.track.slug}-{version}-impact", *found.table)
    shown = found.by(request.GET.get("measure", "")) if found is not None else None
    context = {
        "sight": sight,
        "track": sight.track,
        "judgment_set": judgment_set,
        "pool": find_pool(judgment_set, request.user),
        "machine_card": MachineCard.objects.behind(judgment_set),
        "who": name_who_judged(judgment_set),
        "organises_collection": sight.track.collection.is_organised_by(request.user),
        **_sample_context(sight.track, judgment_set),
        "edition": edition,
        "building": edition is not None and edition.state != Edition.State.READY,
        "job": Job.objects.open().of("build_edition", edition).first() if edition else None,
        "impact": found,
        "shown": shown.on(choice.chosen) if shown is not None else None,
        "topic_choice": choice,
        "tests_follow": _request_tests(sight, found) if found is not None else "",
        "notified": describe_notified(count_notified_of_judgments(sight.track)),
        "verdict": _describe_impact(sight, shown) if shown is not None else [],
    }
    return render(request, "judgments/impact.html", context)


def find_impact(sight: Sight, edition: Edition) -> Impact | None:
    """Return what another edition changes on the board, None where there is nothing to compare."""
    current = sight.track.edition
    if (
        sight.is_assessing
        or current is None
        or edition == current
        or edition.state != Edition.State.READY
    ):
        return None
    current.track = edition.track = sight.track
    tried = find_measures(edition)
    shared = [each for each in find_measures(current) if each in tried]
    if not shared:
        return None
    first = ranking_measure(sight.track, shared)
    return compute_impact(current, edition, sorted(shared, key=lambda each: each != first))


def _describe_impact(sight: Sight, shown: MeasureImpact) -> Sentence:
    return wording.impact_verdict(shown, has_baseline=sight.track.baseline_id is not None)


def _request_tests(sight: Sight, found: Impact) -> Awaited:
    """Queue the missing tests of both boards; return whether any are on their way."""
    baseline = sight.track.baseline_id
    asked = [
        request_tests(contest_on(edition, each.measure, (), baseline))
        for each in found.measures
        for edition in each.untested
    ]
    return next(filter(None, asked), Awaited.NOTHING)


@require_GET
@accept_token
def qrels_file(request: HttpRequest, address: str, version: str) -> StreamingHttpResponse:
    """Return the judgments as this track counts them, for the commands on pages."""
    sight = track_at_or_404(request.user, address)
    judgment_set, kept = _downloadable_or_404(sight, version)
    collection = sight.track.collection
    name = f"qrels {judgment_set.version}"
    record_download(request.user, collection, name, collection.judgments_readers)
    return streamed_text(qrels_name(judgment_set), render_qrels(judgment_set, kept))


@require_GET
def intents_file(request: HttpRequest, address: str, version: str) -> StreamingHttpResponse:
    """Return the probabilities of subtopics; 404 if the judgments have none."""
    judgment_set, kept = _downloadable_or_404(track_at_or_404(request.user, address), version)
    if not judgment_set.num_intents:
        raise Http404("no probabilities of subtopics")
    return streamed_text(intents_name(judgment_set), render_intents(judgment_set, kept))


def _downloadable_or_404(sight: Sight, version: str) -> tuple[JudgmentSet, list[str]]:
    """Return a version and the topics that are excluded from its files for this viewer."""
    if sight.is_organiser:
        return _version_or_404(sight.track, version), []
    return _shared_or_404(sight, version)


def _shared_or_404(sight: Sight, version: str) -> tuple[JudgmentSet, list[str]]:
    """Return the shared judgments of a board and the topics that are excluded from the file."""
    shown = sight.with_judgments(version)
    if not shown.can_download_judgments or shown.edition is None:
        raise Http404("no judgments to take home")
    return shown.edition.judgment_set, shown.withheld_topics


@login_required
@require_POST
def try_judgments(request: HttpRequest, address: str, version: str) -> HttpResponse:
    """Score every run with these judgments on trial; the board stays unchanged."""
    track = organised_sight_or_403(request, address).track
    try:
        tracks.try_judgments(track, request.user, _version_or_404(track, version))
    except ActionError as reason:
        messages.error(request, str(reason))
    return redirect("impact", address=address, version=version)


@login_required
@require_POST
def switch_judgments(request: HttpRequest, address: str, version: str) -> HttpResponse:
    """Switch the board to these judgments."""
    track = organised_sight_or_403(request, address).track
    judgment_set = _version_or_404(track, version)
    try:
        tracks.change_track(track, request.user, {"judgment_set": judgment_set})
    except ActionError as reason:
        messages.error(request, str(reason))
        return redirect("impact", address=address, version=version)
    messages.success(request, f"The board will switch to {version} when scoring finishes.")
    return redirect("desk", address=address)


@login_required
@require_POST
def draw_sample(request: HttpRequest, address: str, version: str) -> HttpResponse:
    """Draw documents of judgments by a machine, which people judge."""
    track = organised_sight_or_403(request, address).track
    size = read_whole_number(request.POST.get("size", ""))
    size = size if size in pools.SAMPLE_SIZES else pools.NUM_DRAWN
    try:
        made = pools.draw_sample(_version_or_404(track, version), track, request.user, size)
    except ActionError as reason:
        messages.error(request, str(reason))
        return redirect("impact", address=address, version=version)
    messages.success(request, "Sample drawn. Judge it here: assessors see no grade of the machine.")
    return redirect("pool", address=address, name=made.name)


def _sample_context(track: Track, judgment_set: JudgmentSet) -> dict[str, object]:
    """Return what people have checked of a machine, and what a sample would have."""
    by_machine = find_machine_version(judgment_set)
    if by_machine is None:
        return {}
    return {
        "by_machine": by_machine,
        "check": check_machine(by_machine),
        "waiting_sample": pools.find_waiting_sample(by_machine, track),
        "depth": choose_depth(track),
        "has_runs": track.runs.accepted().not_removed().exists(),
        "sizes": pools.SAMPLE_SIZES,
        "expected": wording.describe_measured_widths(),
    }


@login_required
@require_POST
def judged_by_people(request: HttpRequest, address: str, version: str) -> HttpResponse:
    """State that people made judgments of which nobody has said so."""
    sight = organised_sight_or_403(request, address)
    if not sight.track.collection.is_organised_by(request.user):
        raise Http404("not an organiser of the collection")
    try:
        state_judged_by_people(_version_or_404(sight.track, version), request.user)
        messages.success(request, f"Judgments {version} are judged by people.")
    except ActionError as reason:
        messages.error(request, str(reason))
    return redirect("impact", address=address, version=version)


def _version_or_404(track: Track, version: str) -> JudgmentSet:
    ready = track.collection.judgment_sets.filter(state=ImportState.READY)
    return get_object_or_404(ready, version=version)
