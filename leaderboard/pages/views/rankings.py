"""One ranking of a run: its documents, its score and its gains."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from leaderboard.analysis import build_ranking_page, topic_or_404
from leaderboard.analysis.gains import CUTOFFS, GainCurves
from leaderboard.analysis.origins import find_topic_score, run_name
from leaderboard.analysis.rankings import load_ranking, tabulate_ranking
from leaderboard.analysis.subtopics import find_visible_coverage
from leaderboard.boards.disclosure import VisibleRun, run_or_404
from leaderboard.display import charts
from leaderboard.infrastructure.downloads import streamed_text
from leaderboard.models import Run, Topic
from leaderboard.pages import wording
from leaderboard.pages.views.lookups import requested_topics
from leaderboard.pages.views.tables import csv_file, wants_csv
from leaderboard.runs.rankings import render_rankings

# The number of missed relevant documents that are named.
NAMED = 20


@require_GET
def ranking(request: HttpRequest, run_id: str) -> HttpResponse:
    seen = run_or_404(request.user, run_id)
    if not seen.sight.can_see_text_of(seen.run) or not seen.run.ranking_file:
        raise Http404("no ranking to see")
    topic = topic_or_404(seen.sight, request.GET.get("number", ""))
    table = request.GET.get("table", "")
    if wants_csv(request) and table == "subtopics":
        return _subtopics_csv(seen, topic)
    if wants_csv(request) and table != "gains":
        return csv_file(f"ranking-{run_id}", *tabulate_ranking(seen.sight, seen.run, topic))
    found = build_ranking_page(
        seen.sight, seen.run, topic, request.GET.get("page"), _requested_cutoff(request)
    )
    if wants_csv(request):
        if found.gains is None:
            raise Http404("no gains to see")
        return csv_file(f"gains-{run_id}", *found.gains.table)
    edition = seen.sight.edition
    context = {
        "sight": seen.sight,
        "track": seen.sight.track,
        "run": seen.run,
        "ranking": found,
        "steps": requested_topics(request, seen.sight).chosen.around(topic),
        "further": found.further[:NAMED],
        "num_unnamed": len(found.further[NAMED:]),
        "topic_name": f"Topic {topic.number}",
        "top_grade": edition.judgment_set.top_grade if edition is not None else None,
        **_score_context(request, seen, topic),
        **(_gains_context(found.run, found.gains) if found.gains is not None else {}),
    }
    return render(request, "topic/ranking.html", context)


@require_GET
def ranking_file(request: HttpRequest, run_id: str) -> StreamingHttpResponse:
    """Download the rankings of a run as they were scored; of answers, what they cite."""
    seen = run_or_404(request.user, run_id)
    if not seen.sight.can_see_file(seen.run) or not seen.run.ranking_file:
        raise Http404("no rankings to see")
    return streamed_text(run_name(seen.run), render_rankings(seen.run))


def _subtopics_csv(seen: VisibleRun, topic: Topic) -> HttpResponse:
    coverage = find_visible_coverage(seen.sight, topic, load_ranking(seen.run, topic).docnos)
    if coverage is None:
        raise Http404("no subtopics to see")
    return csv_file(f"subtopics-{seen.run.pk}", *coverage.table)


def _requested_cutoff(request: HttpRequest) -> int:
    asked = request.GET.get("cutoff", "")
    return next((cutoff for cutoff in CUTOFFS if str(cutoff) == asked), CUTOFFS[0])


def _score_context(request: HttpRequest, seen: VisibleRun, topic: Topic) -> dict[str, object]:
    """Return the score of the ranking by the requested measure."""
    sight, edition = seen.sight, seen.sight.edition
    if edition is None or not sight.can_see_scores_of(seen.run):
        return {}
    measure = sight.measure_or_primary(request.GET.get("measure", ""))
    return {"measure": measure, "score": find_topic_score(edition, seen.run, measure, topic)}


def _gains_context(run: Run, gains: GainCurves) -> dict[str, object]:
    """Return a sentence, a chart and a table of the gains of the ranking."""
    return {
        "cutoffs": CUTOFFS,
        "verdict": wording.gain_verdict(run, gains),
        "chart": charts.gain_chart(gains, str(run), f"DCG of {run} by rank"),
    }
