"""Questions and answers of a benchmark."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.actions import questions as question_actions
from leaderboard.actions.refusals import ActionError
from leaderboard.boards.disclosure import benchmark_or_404
from leaderboard.pages.forms.questions import AnswerForm, QuestionForm
from leaderboard.pages.short_lists import shorten
from leaderboard.pages.views.lookups import organised_benchmark_or_403


@require_http_methods(["GET", "POST"])
def questions(request: HttpRequest, slug: str) -> HttpResponse:
    """List the questions that the reader may see; a POST asks one."""
    sight = benchmark_or_404(request.user, slug)
    if request.method == "POST" and not request.user.is_authenticated:
        return redirect_to_login(request.get_full_path())
    if request.method == "POST" and not sight.can_take_part:
        raise PermissionDenied
    form = QuestionForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            question_actions.ask(sight.benchmark, request.user, **form.cleaned_data)
            messages.success(request, "Sent. You get a notice of the answer.")
            return redirect("questions", slug=slug)
        except ActionError as reason:
            form.add_error("text", str(reason))
    seen = sight.benchmark.questions.visible_to(request.user, sight.is_organiser)
    listed = seen.select_related("user", "answered_by").most_useful_first()
    context = {
        "benchmark": sight.benchmark,
        "sight": sight,
        "form": form,
        "questions": shorten(request, "questions", "question", listed),
    }
    status = 422 if form.is_bound else 200
    return render(request, "benchmark/questions.html", context, status=status)


@login_required
@require_http_methods(["GET"])
def question(request: HttpRequest, slug: str, question_id: int) -> HttpResponse:
    """Show a question to organisers with the form for its answer."""
    sight = organised_benchmark_or_403(request, slug)
    found = get_object_or_404(sight.benchmark.questions, pk=question_id)
    form = AnswerForm(initial={"text": found.answer, "is_frequent": found.is_frequent})
    context = {"benchmark": sight.benchmark, "sight": sight, "question": found, "form": form}
    return render(request, "benchmark/question.html", context)


@login_required
@require_POST
def answer_question(request: HttpRequest, slug: str, question_id: int) -> HttpResponse:
    """Answer a question."""
    sight = organised_benchmark_or_403(request, slug)
    found = get_object_or_404(sight.benchmark.questions, pk=question_id)
    form = AnswerForm(request.POST)
    if form.is_valid():
        try:
            question_actions.answer(found, request.user, **form.cleaned_data)
            messages.success(request, "Answered.")
            return redirect("questions", slug=slug)
        except ActionError as reason:
            form.add_error("is_frequent", str(reason))
    context = {"benchmark": sight.benchmark, "sight": sight, "question": found, "form": form}
    return render(request, "benchmark/question.html", context, status=422)
