"""Battles of a track: the board, the page of a voter, the invitation, and what organisers set."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from evaluation.battles import KINDS, Kind
from evaluation.problems import Refused
from evaluation.reading.judging.votes import write_votes
from leaderboard.actions import battles as acts
from leaderboard.actions.refusals import ActionError, NotAccepted
from leaderboard.analysis.battles import battles_or_404, find_battle_standings, read_sides
from leaderboard.assessments.battles import load_all_votes, measure_voting
from leaderboard.boards.disclosure import Sight, track_at_or_404
from leaderboard.boards.receipts import group_problems
from leaderboard.collections.checking import problems_as_json
from leaderboard.display import charts
from leaderboard.infrastructure.downloads import streamed_text
from leaderboard.infrastructure.whole_numbers import read_whole_number
from leaderboard.models import Battles
from leaderboard.pages import wording
from leaderboard.pages.battle_cells import draw_preferences
from leaderboard.pages.forms.battles import BattlesForm, VotesForm
from leaderboard.pages.forms.rejections import rejections_on
from leaderboard.pages.views.lookups import organised_sight_or_403, text_of
from leaderboard.pages.views.tables import csv_file, wants_csv
from leaderboard.sight.battles import can_vote


@require_GET
def battle_board(request: HttpRequest, address: str) -> HttpResponse:
    """Show the runs by the votes of people or of machines, for anyone who sees scores by topic."""
    sight = track_at_or_404(request.user, address)
    battles = battles_or_404(sight)
    if not sight.can_see_scores:
        raise Http404("no battles to see")
    kind: Kind = next((each for each in KINDS if each == request.GET.get("voters")), "person")
    found = find_battle_standings(sight, battles, kind)
    if wants_csv(request):
        if found.standings is None:
            raise Http404("no votes yet")
        return csv_file(f"{sight.track.slug}-battles", *found.standings.table)
    context = {
        "sight": sight,
        "track": sight.track,
        "battles": battles,
        "found": found,
        "can_vote": battles.accepts_votes and can_vote(sight, battles),
    }
    if found.standings is not None:
        column, cells = draw_preferences(found.standings.rows)
        context |= {
            "standings": found.standings,
            "axis": charts.column_head(column),
            "rows": list(zip(found.standings.rows, cells, strict=True)),
            "verdict": wording.describe_battles(found.standings),
            "effects": wording.describe_effects(found.standings),
        }
    return render(request, "battles/board.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def battle(request: HttpRequest, address: str) -> HttpResponse:
    """Show a voter the next pair; a POST decides it, keeps it for later or undoes the last vote."""
    sight = track_at_or_404(request.user, address)
    battles = battles_or_404(sight)
    if not can_vote(sight, battles):
        raise Http404("no battles to decide")
    if request.method == "POST":
        _act_on_pair(request, battles)
        return redirect("battle", address=address)
    vote = acts.hand_out_pair(sight, battles, request.user) if battles.accepts_votes else None
    context = {
        "track": sight.track,
        "battles": battles,
        "vote": vote,
        "sides": read_sides(vote) if vote is not None else [],
        "progress": measure_voting(sight, battles),
        "seconds": acts.FEWEST_SECONDS,
    }
    return render(request, "battles/battle.html", context)


def _act_on_pair(request: HttpRequest, battles: Battles) -> None:
    """Do what a voter asked for; what is rejected is said on the page that follows."""
    vote_id = read_whole_number(text_of(request.POST, "vote")) or 0
    choice = text_of(request.POST, "choice")
    try:
        if choice == "undo":
            acts.undo_vote(battles, request.user)
        elif choice == "later":
            acts.put_off(battles, request.user, vote_id)
        else:
            reason = text_of(request.POST, "reason")
            acts.cast_vote(battles, request.user, vote_id, choice, reason)
    except (ActionError, NotAccepted) as refusal:
        messages.error(request, str(refusal))


@require_http_methods(["GET", "POST"])
def join_battles(request: HttpRequest, code: str) -> HttpResponseBase:
    """Say what an invitation to vote is for; a POST accepts it."""
    battles = get_object_or_404(Battles.objects.select_related("track"), invitation=code)
    is_over = not battles.accepts_votes
    if request.method == "POST" and not request.user.is_authenticated:
        return redirect_to_login(request.get_full_path())
    if request.method == "POST" and not is_over:
        acts.accept_invitation(battles, request.user)
        return redirect("battle", address=battles.track.address)
    context = {"battles": battles, "track": battles.track, "is_over": is_over}
    return render(request, "battles/invitation.html", context, status=410 if is_over else 200)


@login_required
@require_http_methods(["GET", "POST"])
def battle_settings(request: HttpRequest, address: str) -> HttpResponse:
    """Open the battles of a track, or change them."""
    sight = organised_sight_or_403(request, address)
    known = Battles.objects.filter(track=sight.track).first()
    form = BattlesForm(request.POST or None, instance=known or Battles(track=sight.track))
    if request.method == "POST" and form.is_valid():
        acts.save_battles(form.save(commit=False), request.user)
        messages.success(request, "Saved.")
        return redirect("battle_settings", address=address)
    context = _settings_context(request, sight, known, form, VotesForm())
    return render(request, "battles/settings.html", context, status=422 if form.is_bound else 200)


@login_required
@require_POST
def import_votes(request: HttpRequest, address: str) -> HttpResponse:
    """Import votes that were given elsewhere: all of them or none."""
    sight = organised_sight_or_403(request, address)
    battles = battles_or_404(sight)
    form, groups = VotesForm(request.POST, request.FILES), []
    if form.is_valid():
        try:
            with rejections_on(form):
                number = acts.import_votes(battles, request.user, form.cleaned_data["file"])
                messages.success(request, f"{number:,} votes imported.")
                return redirect("battle_settings", address=address)
        except Refused as refusal:
            found = problems_as_json(refusal.problems)
            groups = group_problems(found["problems"], found["problem_totals"])
    context = _settings_context(request, sight, battles, BattlesForm(instance=battles), form)
    return render(request, "battles/settings.html", {**context, "groups": groups}, status=422)


def _settings_context(
    request: HttpRequest, sight: Sight, known: Battles | None, form: BattlesForm, votes: VotesForm
) -> dict[str, Any]:
    invitation = reverse("join_battles", args=[known.invitation]) if known else ""
    return {
        "sight": sight,
        "track": sight.track,
        "battles": known,
        "invitation": request.build_absolute_uri(invitation),
        "form": form,
        "votes_form": votes,
        "num_votes": known.votes.cast().count() if known else 0,
    }


@login_required
@require_GET
def votes_file(request: HttpRequest, address: str) -> HttpResponseBase:
    """Download every vote on runs in place, voters under pseudonyms."""
    battles = battles_or_404(organised_sight_or_403(request, address))
    lines = write_votes(load_all_votes(battles))
    return streamed_text(f"{battles.track.slug}-votes.jsonl", lines, "application/jsonl")
