"""One answer of a run, with its citations and the passage that a reader opened."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from leaderboard.analysis import topic_or_404
from leaderboard.analysis.answers import build_answer_page
from leaderboard.boards.disclosure import run_or_404
from leaderboard.pages.views.lookups import requested_topics


@require_GET
def answer(request: HttpRequest, run_id: str) -> HttpResponse:
    seen = run_or_404(request.user, run_id)
    sight = seen.sight
    if not sight.can_see_text_of(seen.run) or not seen.run.answer_file:
        raise Http404("no answer to see")
    topic = topic_or_404(sight, request.GET.get("number", ""))
    asked = request.GET.get("sentence", ""), request.GET.get("docno", "")
    context = {
        "sight": sight,
        "track": sight.track,
        "run": seen.run,
        "steps": requested_topics(request, sight).chosen.around(topic),
        "answer": build_answer_page(sight, seen.run, topic, asked),
        "topic_name": f"Topic {topic.number}",
        "top_grade": sight.edition.judgment_set.top_grade if sight.edition is not None else None,
    }
    return render(request, "topic/answer.html", context)
