"""Registration of teams: what they say and sign, and how organisers ask and approve."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from leaderboard.actions import people, registrations
from leaderboard.actions.refusals import ActionError
from leaderboard.boards.disclosure import BenchmarkSight, benchmark_or_404
from leaderboard.boards.registered_teams import (
    find_registered_teams,
    find_requests,
    tabulate_downloads,
    tabulate_teams,
)
from leaderboard.infrastructure.whole_numbers import read_whole_number
from leaderboard.models import Benchmark, Registration
from leaderboard.pages.forms.people import RegistrationForm
from leaderboard.pages.forms.registrations import AgreementForm, ApprovalForm, AskedForm
from leaderboard.pages.views.lookups import organised_benchmark_or_403
from leaderboard.pages.views.tables import csv_file, wants_csv

TABLES = {"teams": tabulate_teams, "downloads": tabulate_downloads}


@login_required
@require_http_methods(["GET", "POST"])
def registration(request: HttpRequest, slug: str) -> HttpResponse:
    """Choose what teams are asked, and show what they said and signed."""
    sight = organised_benchmark_or_403(request, slug)
    if wants_csv(request):
        name = request.GET.get("table", "teams")
        if name not in TABLES:
            raise Http404("no such table")
        table = TABLES[name](sight.benchmark)
        return csv_file(f"{slug}-{name}", table.head, table.rows)
    form = AskedForm(request.POST or None, benchmark=sight.benchmark)
    if request.method == "POST" and form.is_valid():
        registrations.ask_teams(sight.benchmark, request.user, **form.cleaned_data)
        messages.success(request, "Saved. Teams that join from now on are asked for this.")
        return redirect("registration", slug=slug)
    return _show(request, sight, form=form)


def _show(request: HttpRequest, sight: BenchmarkSight, **forms: object) -> HttpResponse:
    agreement = sight.benchmark.agreement
    context = {
        "benchmark": sight.benchmark,
        "sight": sight,
        "form": AskedForm(benchmark=sight.benchmark),
        "agreement_form": _agreement_form(sight.benchmark),
        "agreement": agreement,
        "requests": find_requests(sight.benchmark),
        "teams": find_registered_teams(sight.benchmark),
        **forms,
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "benchmark/registration.html", context, status=status)


def _agreement_form(benchmark: Benchmark, sent: QueryDict | None = None) -> AgreementForm:
    """Return the form filled with the latest version."""
    agreement = benchmark.agreement
    return AgreementForm(sent, initial={"text": agreement.text if agreement else ""})


@login_required
@require_POST
def write_agreement(request: HttpRequest, slug: str) -> HttpResponse:
    """Write the next version of the agreement."""
    sight = organised_benchmark_or_403(request, slug)
    form = _agreement_form(sight.benchmark, request.POST)
    if form.is_valid():
        try:
            text = form.cleaned_data["text"]
            written = registrations.write_agreement(sight.benchmark, request.user, text)
            messages.success(request, f"The agreement has {written} now, which teams sign.")
            return redirect("registration", slug=slug)
        except ActionError as reason:
            form.add_error("text", str(reason))
    return _show(request, sight, agreement_form=form)


@login_required
@require_POST
def approve_teams(request: HttpRequest, slug: str) -> HttpResponse:
    """Approve the chosen requests to join; one whose name changed meanwhile waits on."""
    sight = organised_benchmark_or_403(request, slug)
    form = ApprovalForm(request.POST, benchmark=sight.benchmark)
    if not form.is_valid():
        messages.error(request, "Choose teams that are waiting.")
        return redirect("registration", slug=slug)
    for chosen in form.cleaned_data["chosen"]:
        key, _, name = chosen.partition(" ")
        asked = get_object_or_404(sight.benchmark.join_requests, pk=key)
        asked.team_name = name
        try:
            team = people.approve_request(asked, request.user)
            messages.success(request, f"{team} takes part.")
        except people.JoinError as reason:
            messages.error(request, str(reason))
    return redirect("registration", slug=slug)


@require_GET
def agreement(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a version of the agreement, the latest unless another is asked for."""
    sight = benchmark_or_404(request.user, slug)
    versions = sight.benchmark.agreements.all()
    if wanted := request.GET.get("version"):
        versions = versions.filter(version=read_whole_number(wanted))
    found = versions.last()
    if found is None:
        raise Http404("no such version")
    context = {"benchmark": sight.benchmark, "sight": sight, "agreement": found}
    return render(request, "benchmark/agreement.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def register_team(request: HttpRequest, slug: str) -> HttpResponse:
    """Register a team that takes part already, or sign a new version for it."""
    sight = benchmark_or_404(request.user, slug)
    benchmark = sight.benchmark
    team = benchmark.team_of(request.user)
    if team is None:
        return redirect("join", address=slug)
    known = Registration.objects.filter(team=team).first()
    form = RegistrationForm(request.POST or None, benchmark=benchmark, known=known)
    if request.method == "POST" and form.is_valid():
        try:
            registrations.register(benchmark, request.user, form.registration, team)
            messages.success(request, f"{team} is registered.")
            return redirect("benchmark_home", slug=slug)
        except registrations.RegistrationError as reason:
            form.add_error(None, str(reason))
    signature = known.signatures.first() if known is not None else None
    context = {
        "benchmark": benchmark,
        "sight": sight,
        "team": team,
        "form": form,
        "signature": signature,
        "is_signed": signature is not None and signature.agreement == benchmark.agreement,
    }
    return render(request, "benchmark/register.html", context, status=422 if form.is_bound else 200)
