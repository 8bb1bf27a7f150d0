"""Views that withdraw, remove and restore runs."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.actions import runs
from leaderboard.actions.refusals import NotAccepted
from leaderboard.boards.disclosure import VisibleRun, run_or_404
from leaderboard.pages.forms.desk import RemoveRunForm
from leaderboard.pages.forms.rejections import rejections_on
from leaderboard.pages.forms.runs import WithdrawForm
from leaderboard.pages.views.lookups import managed_run_or_403


@login_required
@require_http_methods(["GET", "POST"])
def withdraw(request: HttpRequest, run_id: str) -> HttpResponse:
    seen = managed_run_or_403(request, run_id)
    form = WithdrawForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        runs.withdraw_run(seen.run, request.user, form.cleaned_data["reason"])
        return redirect("run", run_id=run_id)
    return _render_form(request, "run/withdraw.html", seen, form)


@login_required
@require_POST
def undo_withdrawal(request: HttpRequest, run_id: str) -> HttpResponse:
    seen = managed_run_or_403(request, run_id)
    try:
        runs.undo_withdrawal(seen.run, request.user)
        messages.success(request, "Run restored.")
    except NotAccepted as refusal:
        messages.error(request, f"Still withdrawn. {refusal.message}")
    return redirect("run", run_id=run_id)


@login_required
@require_http_methods(["GET", "POST"])
def take_off(request: HttpRequest, run_id: str) -> HttpResponse:
    seen = _organised_run_or_403(request, run_id)
    form = RemoveRunForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with rejections_on(form, "reason"):
            runs.remove_run(seen.run, request.user, **form.cleaned_data)
            return redirect("run", run_id=run_id)
    return _render_form(request, "run/take_off.html", seen, form)


@login_required
@require_POST
def bring_back(request: HttpRequest, run_id: str) -> HttpResponse:
    seen = _organised_run_or_403(request, run_id)
    runs.restore_run(seen.run, request.user)
    messages.success(request, "Run restored.")
    return redirect("run", run_id=run_id)


def _render_form(request: HttpRequest, template: str, seen: VisibleRun, form: Form) -> HttpResponse:
    context = {"sight": seen.sight, "track": seen.sight.track, "run": seen.run, "form": form}
    return render(request, template, context, status=422 if request.method == "POST" else 200)


def _organised_run_or_403(request: HttpRequest, run_id: str) -> VisibleRun:
    seen = run_or_404(request.user, run_id)
    if not seen.sight.is_organiser:
        raise PermissionDenied
    return seen
