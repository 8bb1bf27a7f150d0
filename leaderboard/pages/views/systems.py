"""Systems of a benchmark: submit a version, and pages of systems with what their teams change."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from leaderboard.actions import people, submissions, systems
from leaderboard.actions.refusals import ActionError, NotAccepted
from leaderboard.actions.submissions import FilesRefusedError, SubmittedVersion, SystemDetails
from leaderboard.analysis.system_profiles import build_profile
from leaderboard.boards.disclosure import BenchmarkSight, benchmark_or_404
from leaderboard.boards.systems import (
    VisibleSystem,
    find_verdict,
    load_systems,
    system_or_404,
    visible_systems,
)
from leaderboard.infrastructure.request_slots import received_at
from leaderboard.infrastructure.whole_numbers import read_whole_number
from leaderboard.models import Run, System
from leaderboard.pages import limits
from leaderboard.pages.forms.systems import (
    AddRunForm,
    ChangeSystemForm,
    SystemForm,
    WithdrawVersionForm,
    common_fact_rules,
)
from leaderboard.pages.system_strips import SystemStrips
from leaderboard.pages.views.lookups import page_number, text_of
from leaderboard.pages.views.tables import csv_file, wants_csv
from leaderboard.runs.facts import FactsForm, build_rows
from leaderboard.runs.facts.values import EMPTY_VALUES

# Systems per page of the list.
SYSTEMS = 50


@login_required
@require_http_methods(["GET", "POST"])
def benchmark_submit(request: HttpRequest, slug: str) -> HttpResponse:
    """Submit the runs of a version of a system to the tracks of a benchmark, all at once."""
    sight = benchmark_or_404(request.user, slug)
    asks = request.method == "GET" and not sight.is_organiser
    if asks and sight.sights and not sight.accepts_runs:
        return render(request, "benchmark/submit_closed.html", _context(sight))
    if asks and _must_join_first(sight):
        return redirect("join", address=slug)
    form, facts = _build_forms(request, sight, request.POST or None, request.FILES or None)
    refused: FilesRefusedError | None = None
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid() and (form.cleaned_data["system"] or facts.is_valid()):
            try:
                return _show_submitted(request, sight, _submit(request, sight, form, facts))
            except FilesRefusedError as refusal:
                refused = refusal
                form.add_error(None, "Nothing was submitted. Each line below gives a reason.")
            except NotAccepted as refusal:
                form.add_error(None, refusal.message)
            status = 403
    context = _context(sight) | {
        "form": form,
        "facts": facts,
        "refused": refused,
        "limits": limits.track_limits(sight.sights[0].track) if sight.sights else None,
        "slugs": " ".join(seen.track.slug for seen in sight.sights),
    }
    return render(request, "benchmark/submit.html", context, status=status)


def _must_join_first(sight: BenchmarkSight) -> bool:
    """Whether the viewer has no team, and a first submission cannot make one."""
    if sight.team is not None or sight.is_organiser:
        return False
    return not people.can_join_by_run(sight.benchmark)


def _build_forms(
    request: HttpRequest, sight: BenchmarkSight, data: Any, files: Any
) -> tuple[SystemForm, FactsForm]:
    """Build both forms; a link names the system and version that files are added to."""
    own = System.objects.filter(benchmark=sight.benchmark, team=sight.team)
    asked = text_of(request.GET, "system")
    initial = {"version": text_of(request.GET, "version")[:40]}
    if own.filter(pk=read_whole_number(asked)).exists():
        initial["system"] = asked
    rules = common_fact_rules(sight.benchmark, [seen.track for seen in sight.sights])
    form = SystemForm(data, files, systems=own, initial=initial)
    return form, FactsForm(data, track=rules, is_strict=not sight.is_organiser)


def _submit(
    request: HttpRequest, sight: BenchmarkSight, form: SystemForm, facts: FactsForm
) -> SubmittedVersion:
    values = form.cleaned_data
    system = values["system"]
    # An existing system has its facts; the form asks for those of a new one.
    stated = {} if system else facts.facts
    names = ("version", "commit", "branch", "configuration", "description", "idempotency_key")
    details = SystemDetails(
        system.name if system else values["name"],
        facts={name: fact for name, fact in stated.items() if fact not in EMPTY_VALUES},
        **{name: values[name] for name in names},
    )
    tracks = [seen.track for seen in sight.sights]
    at = received_at(request)
    return submissions.submit_version(
        sight.benchmark, request.user, tracks, form.run_files, details, at
    )


def _show_submitted(
    request: HttpRequest, sight: BenchmarkSight, sent: SubmittedVersion
) -> HttpResponse:
    """Say of every file which track it was recognised for; a repeated request changes nothing."""
    return render(request, "benchmark/submitted.html", _context(sight) | {"sent": sent})


def _context(sight: BenchmarkSight) -> dict[str, Any]:
    return {"benchmark": sight.benchmark, "sight": sight}


@require_GET
def benchmark_systems(request: HttpRequest, slug: str) -> HttpResponse:
    """List the systems of a benchmark that the viewer may see; their own come first."""
    sight = benchmark_or_404(request.user, slug)
    seen = visible_systems(sight).order_by("name", "pk")
    own = seen.filter(team=sight.team)
    page = Paginator(seen, SYSTEMS).get_page(page_number(request))
    context = _context(sight) | {
        "page": page,
        "systems": load_systems(sight, page.object_list),
        "num_own": own.count(),
    }
    return render(request, "benchmark/systems.html", context)


@require_GET
def benchmark_system(request: HttpRequest, slug: str, system_id: int) -> HttpResponse:
    """Show a system: its versions, their runs by track, and how the newest compares with main."""
    sight = benchmark_or_404(request.user, slug)
    seen = system_or_404(sight, system_id)
    if wants_csv(request):
        return csv_file(f"{slug}-system-{system_id}", *build_profile(sight, seen.system).table)
    return _render_system(request, sight, seen)


def _render_system(
    request: HttpRequest, sight: BenchmarkSight, seen: VisibleSystem, **forms: Any
) -> HttpResponse:
    shown = [version for version in seen.versions if version.answered and version.is_done]
    newest = shown[0] if shown else None
    profile = build_profile(sight, seen.system)
    context = _context(sight) | {
        "seen": seen,
        "system": seen.system,
        "may_change": _may_change(sight, seen),
        "stated": build_rows(seen.system.facts),
        "compared": newest,
        "profile": profile,
        "strips": SystemStrips(profile),
        "verdict": find_verdict(sight, newest.version) if newest is not None else None,
        "follows": any(not version.is_done for version in seen.versions),
        **(_forms(seen) | forms if _may_change(sight, seen) else {}),
    }
    status = 422 if forms else 200
    return render(request, "benchmark/system.html", context, status=status)


def _may_change(sight: BenchmarkSight, seen: VisibleSystem) -> bool:
    return seen.is_own or sight.is_organiser


def _forms(seen: VisibleSystem) -> dict[str, Any]:
    versions = seen.system.versions.all()
    active = versions.filter(pk__in=Run.objects.active().values("version"))
    free = _free_runs(seen)
    return {
        "change_form": ChangeSystemForm(instance=seen.system),
        "withdraw_form": WithdrawVersionForm(versions=active) if active else None,
        "add_form": AddRunForm(runs=free, versions=versions) if free and versions else None,
    }


def _free_runs(seen: VisibleSystem) -> Any:
    """Return the runs of the team that are in no version."""
    runs = Run.objects.active().filter(version=None, team=seen.system.team_id)
    places = seen.system.benchmark.tracks.values("pk")
    return runs.filter(track__in=places).select_related("track", "team")


def _own_system_or_403(
    request: HttpRequest, slug: str, system_id: int
) -> tuple[BenchmarkSight, VisibleSystem]:
    """Return a system to its team and the organisers; everyone else is refused."""
    sight = benchmark_or_404(request.user, slug)
    seen = system_or_404(sight, system_id)
    if not _may_change(sight, seen):
        raise PermissionDenied
    return sight, seen


@login_required
@require_POST
def change_system(request: HttpRequest, slug: str, system_id: int) -> HttpResponse:
    """Rename or describe a system."""
    sight, seen = _own_system_or_403(request, slug, system_id)
    form = ChangeSystemForm(request.POST, instance=System.objects.get(pk=system_id))
    if form.is_valid():
        try:
            systems.change_system(seen.system, request.user, **form.cleaned_data)
            return redirect("benchmark_system", slug, system_id)
        except (ActionError, NotAccepted) as reason:
            form.add_error("name", str(reason))
    return _render_system(request, sight, seen, change_form=form)


@login_required
@require_POST
def withdraw_version(request: HttpRequest, slug: str, system_id: int) -> HttpResponse:
    """Withdraw all runs of a version."""
    sight, seen = _own_system_or_403(request, slug, system_id)
    form = WithdrawVersionForm(request.POST, versions=seen.system.versions.all())
    if not form.is_valid():
        return _render_system(request, sight, seen, withdraw_form=form)
    version, reason = form.cleaned_data["version"], form.cleaned_data["reason"]
    systems.withdraw_version(version, request.user, reason)
    messages.success(request, f"Version {version.label} is withdrawn.")
    return redirect("benchmark_system", slug, system_id)


@login_required
@require_POST
def add_run(request: HttpRequest, slug: str, system_id: int) -> HttpResponse:
    """Put an earlier run of the team into a version."""
    sight, seen = _own_system_or_403(request, slug, system_id)
    form = AddRunForm(request.POST, runs=_free_runs(seen), versions=seen.system.versions.all())
    if form.is_valid():
        version, run = form.cleaned_data["version"], form.cleaned_data["run"]
        try:
            systems.add_run(version, request.user, run)
            messages.success(request, f"{run} is part of version {version.label}.")
            return redirect("benchmark_system", slug, system_id)
        except ActionError as reason:
            form.add_error("run", str(reason))
    return _render_system(request, sight, seen, add_form=form)


@login_required
@require_http_methods(["GET", "POST"])
def system_facts(request: HttpRequest, slug: str, system_id: int) -> HttpResponse:
    """State the facts of a system once for all its runs."""
    sight, seen = _own_system_or_403(request, slug, system_id)
    form = FactsForm(
        request.POST if request.method == "POST" else None,
        track=common_fact_rules(sight.benchmark, [one.track for one in sight.sights]),
        is_strict=not sight.is_organiser,
        facts=seen.system.facts,
    )
    if request.method == "POST" and form.is_valid():
        fixed = systems.state_facts(seen.system, request.user, form.facts)
        said = "Facts saved for the system and its runs."
        if fixed:
            said += f" {fixed} of its runs are on released tracks and keep what they state."
        messages.success(request, said)
        return redirect("benchmark_system", slug, system_id)
    context = _context(sight) | {"system": seen.system, "form": form}
    return render(
        request, "benchmark/system_facts.html", context, status=422 if form.is_bound else 200
    )
