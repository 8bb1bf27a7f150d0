"""Downloads as one zip file: a team's runs, a board with all scores, a whole track."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from leaderboard.archives import benchmark_export
from leaderboard.archives.anonymous_releases import build_anonymous_members, list_aliases
from leaderboard.archives.board_copies import ask_for_copy, is_released
from leaderboard.archives.result_archives import TeamResults, build_board_members
from leaderboard.archives.zip_files import ZipEntry, stream_zip
from leaderboard.boards.disclosure import Sight, track_at_or_404
from leaderboard.boards.standings import Board, find_board
from leaderboard.infrastructure.downloads import streamed_bytes
from leaderboard.models import Job, PagesCopy, Team, Track
from leaderboard.pages.views.lookups import organised_benchmark_or_403, organised_sight_or_403
from leaderboard.pages.views.tables import csv_file


@login_required
@require_GET
def pack(request: HttpRequest, address: str) -> HttpResponse:
    """Return the results of the reader's team, or for organisers of any `?team=`."""
    sight = track_at_or_404(request.user, address)
    team = _team_or_404(sight, request.GET.get("team", ""))
    found = TeamResults(_board_with_all_scores_or_404(sight.with_every_run()), team)
    if not found.standings:
        raise Http404("no scored run of this team")
    return zip_file(f"{sight.track.slug}-runs.zip", found.members())


def _team_or_404(sight: Sight, name: str) -> Team:
    """Return the reader's team; organisers can name any team."""
    named = (
        sight.track.benchmark.teams.filter(name=name.replace("\0", "")).first() if name else None
    )
    team = named if name and sight.is_organiser else sight.team
    if team is None:
        raise Http404("no such team")
    return team


@require_GET
def everything(request: HttpRequest, address: str) -> HttpResponse:
    """Return the board with the scores of all runs on every topic."""
    board = _board_with_all_scores_or_404(track_at_or_404(request.user, address))
    return zip_file(f"{board.sight.track.slug}-everything.zip", build_board_members(board))


def _board_with_all_scores_or_404(sight: Sight) -> Board:
    """Return the board if the reader may see its scores on every topic."""
    board = find_board(sight) if sight.can_see_scores else None
    if board is None or not board.standings:
        raise Http404("no board to see")
    return board


@login_required
@require_GET
def archive(request: HttpRequest, address: str) -> HttpResponse:
    """Return a benchmark with one track for `import_benchmark`; `?documents=1` adds documents."""
    track = organised_sight_or_403(request, address).track
    with_documents = request.GET.get("documents") == "1"
    members = benchmark_export.build_benchmark_members(track.benchmark, with_documents, [track])
    return zip_file(f"{track.slug}.zip", members)


@login_required
@require_GET
def anonymous_release(request: HttpRequest, address: str) -> HttpResponse:
    """Return the runs and scores of a track under aliases."""
    board = _board_with_all_scores_or_404(organised_sight_or_403(request, address))
    return zip_file(f"{board.sight.track.slug}-anonymous.zip", build_anonymous_members(board))


@login_required
@require_GET
def aliases(request: HttpRequest, address: str) -> HttpResponse:
    """Return which alias is whose, for organisers."""
    board = _board_with_all_scores_or_404(organised_sight_or_403(request, address))
    return csv_file(f"{board.sight.track.slug}-aliases", *list_aliases(board))


@login_required
@require_http_methods(["GET", "POST"])
def pages_copy(request: HttpRequest, address: str) -> HttpResponse:
    """Show how far the copy of the public pages is; a POST asks for a new one."""
    sight = organised_sight_or_403(request, address)
    if request.method == "POST":
        ask_for_copy(sight.track, f"{request.scheme}://{request.get_host()}")
        return redirect("pages_copy", address=address)
    copy = PagesCopy.objects.filter(track=sight.track).first()
    context = {
        "sight": sight,
        "track": sight.track,
        "is_released": is_released(sight.track),
        "copy": copy,
        "job": Job.objects.of("copy_pages", copy).last() if copy else None,
    }
    return render(request, "track/pages_copy.html", context)


@login_required
@require_GET
def pages_copy_file(request: HttpRequest, address: str) -> HttpResponse:
    """Return the pages of a released track as files that need no server."""
    track = organised_sight_or_403(request, address).track
    copy = get_object_or_404(PagesCopy.objects.exclude(file=""), track=track)
    return FileResponse(copy.file.open(), as_attachment=True, filename=f"{track.slug}-pages.zip")


@login_required
@require_GET
def benchmark_archive(request: HttpRequest, slug: str) -> HttpResponse:
    """Return a benchmark for `import_benchmark`; only for who organises all its tracks."""
    benchmark = organised_benchmark_or_403(request, slug).benchmark
    organised = Track.objects.organised_by(request.user).values("pk")
    if benchmark.tracks.in_order().exclude(pk__in=organised).exists():
        raise PermissionDenied
    with_documents = request.GET.get("documents") == "1"
    return zip_file(
        f"{slug}.zip", benchmark_export.build_benchmark_members(benchmark, with_documents)
    )


def zip_file(name: str, members: Iterable[ZipEntry]) -> StreamingHttpResponse:
    return streamed_bytes(name, stream_zip(members), "application/zip")
