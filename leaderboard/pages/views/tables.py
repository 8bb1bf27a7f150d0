"""What an analysis shows, as a table for other programs: every digit, nothing cut."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields

from django.http import Http404, HttpRequest, HttpResponse

from evaluation.measures.ranks import LEVELS
from leaderboard.analysis import TopicBreakdown, TopicSummary
from leaderboard.analysis.agreement import MeasureAgreement
from leaderboard.analysis.gains import build_gain_curves, find_gain_scale
from leaderboard.analysis.holes import CUTOFFS, HoleTable, VerdictBounds
from leaderboard.analysis.impact import Impact
from leaderboard.analysis.losses import Loss
from leaderboard.analysis.matrices import SignificanceMatrix
from leaderboard.analysis.pairs import Pair, compute_overlaps
from leaderboard.analysis.rankings import find_visible_grades, load_ranking
from leaderboard.analysis.recall import TopicRecall
from leaderboard.analysis.subtopics import SubtopicLine, find_visible_coverage
from leaderboard.analysis.summaries import JudgedTopic
from leaderboard.analysis.topic_map import TopicMap
from leaderboard.analysis.topics import JudgedSubtopic
from leaderboard.boards.columns import Cell
from leaderboard.boards.disclosure import Sight
from leaderboard.boards.exports import export_cell, text_file
from leaderboard.boards.receipts import escape_formula
from leaderboard.models import Edition, Run, Topic
from leaderboard.pages.run_charts import PrecisionCharts, RunCharts


def wants_csv(request: HttpRequest) -> bool:
    return request.GET.get("format") == "csv"


def csv_file(name: str, head: Sequence[Cell], lines: Iterable[Sequence[Cell]]) -> HttpResponse:
    """A table to be kept as a file; names come from strangers, and none is a formula."""
    out = io.StringIO()
    writer = csv.writer(out)
    for line in [head, *lines]:
        writer.writerow(escape_formula(export_cell(cell)) for cell in line)
    return text_file(f"{name}.csv", out.getvalue(), "text/csv")


def pairs_csv(name: str, matrix: SignificanceMatrix) -> HttpResponse:
    """A line for each pair of the matrix: run minus other."""
    runs = [each.run for each in matrix.standings]
    lines = [
        [a.pk, a.tag, b.pk, b.tag, float(matrix.differences[i, j]), float(matrix.p[i, j])]
        for i, a in enumerate(runs)
        for j, b in enumerate(runs)
        if i < j
    ]
    return csv_file(name, ["run", "tag", "other", "other_tag", "difference", "p_adjusted"], lines)


def letters_csv(name: str, matrix: SignificanceMatrix) -> HttpResponse:
    """A line for each run: its mean, its ranks with confidence, and what it cannot be told from."""
    measure, runs = matrix.measure, zip(matrix.standings, matrix.letters, strict=True)
    lines = [
        [each.run.pk, each.run.tag, each.scores[measure], *(each.interval or ("", "")), letters]
        for each, letters in runs
    ]
    return csv_file(name, ["run", "tag", measure, "rank_from", "rank_to", "letters"], lines)


def ranks_csv(name: str, agreement: MeasureAgreement) -> HttpResponse:
    """A line for each run: its mean and its rank by every measure."""
    named = [words for measure in agreement.measures for words in (measure, f"rank by {measure}")]
    lines = [
        [
            each.run.pk,
            each.run.tag,
            *(
                cell
                for measure, rank in zip(agreement.measures, each.ranks, strict=True)
                for cell in (each.standing.scores[measure], rank)
            ),
            each.documents,
        ]
        for each in agreement.runs
    ]
    return csv_file(name, ["run", "tag", *named, "documents_a_topic"], lines)


def agreement_csv(name: str, agreement: MeasureAgreement) -> HttpResponse:
    """A line for every two measures; tau_ap holds the board of `measure` to that of `other`."""
    lines = [
        [one, other, float(agreement.tau[i, j]), float(agreement.tau_ap[i, j])]
        for i, one in enumerate(agreement.measures)
        for j, other in enumerate(agreement.measures)
        if i != j
    ]
    return csv_file(name, ["measure", "other", "tau_b", "tau_ap"], lines)


def impact_csv(name: str, impact: Impact) -> HttpResponse:
    """A line for each measure and run on both boards, with the old and new judgments."""
    lines = [
        [
            by.measure,
            *(each.run.pk, each.run.tag, each.old_rank, each.new_rank, each.old, each.new),
            *(each.before, each.after),
        ]
        for by in impact.measures
        for each in by.moves
    ]
    ranked = ["measure", "run", "tag", "old_rank", "new_rank", "old", "new"]
    return csv_file(name, [*ranked, "old_verdict", "new_verdict"], lines)


def impact_topics_csv(name: str, impact: Impact) -> HttpResponse:
    """A line for each measure and topic whose scores change, summed over all runs."""
    lines = [
        [by.measure, each.topic.number, each.change] for by in impact.measures for each in by.topics
    ]
    return csv_file(f"{name}-topics", ["measure", "topic", "change"], lines)


def map_csv(name: str, topics: TopicMap, with_correlation: bool) -> HttpResponse:
    """A line for each topic, a column for each run, by its tag; correlations for organisers."""
    rows = zip(topics.topics, topics.spread.T, topics.values.T, strict=True)
    lines = [
        [
            each.topic.number,
            each.topic.title or each.topic.description,
            each.summary.relevant,
            *([each.correlation] if with_correlation else []),
            *spread.tolist(),
            *column.tolist(),
        ]
        for each, spread, column in rows
    ]
    tags = [str(each.run) for each in topics.standings]
    correlation = ["correlation"] if with_correlation else []
    spread = ["lowest", "first_quartile", "median", "third_quartile", "highest"]
    return csv_file(name, ["topic", "title", "relevant", *correlation, *spread, *tags], lines)


def ranking_csv(sight: Sight, run: Run, topic: Topic) -> HttpResponse:
    """A line for each document that a run retrieves for a topic; grades where they may be seen."""
    ranked, grades = load_ranking(run, topic), find_visible_grades(sight, topic)
    gains = build_gain_curves(
        find_gain_scale(sight.track), grades, ranked.docnos, len(ranked.docnos)
    )
    lines: list[list[Cell]] = [
        [place + 1, docno, float(ranked.scores[place])] for place, docno in enumerate(ranked.docnos)
    ]
    if sight.edition is None:
        return csv_file(f"ranking-{run.pk}", ["rank", "docno", "score"], lines)
    curves = [gains.own, gains.reordered, gains.ideal] if gains is not None else []
    for place, line in enumerate(lines):
        line += [grades.get(ranked.docnos[place]), *(float(curve[place]) for curve in curves)]
    head = [
        "rank",
        "docno",
        "score",
        "grade",
        *["dcg", "dcg_reordered", "dcg_ideal"][: len(curves)],
    ]
    return csv_file(f"ranking-{run.pk}", head, lines)


def subtopics_csv(sight: Sight, run: Run, topic: Topic) -> HttpResponse:
    """A line for each subtopic of a topic, with the ranks at which a run covers it."""
    coverage = find_visible_coverage(sight, topic, load_ranking(run, topic).docnos)
    if coverage is None:
        raise Http404("no subtopics to see")
    lines = [line.cells for line in coverage.lines]
    return csv_file(f"subtopics-{run.pk}", [*SubtopicLine.COLUMNS], lines)


def judged_subtopics_csv(name: str, breakdown: TopicBreakdown) -> HttpResponse:
    """A line for each subtopic of a topic, with the number of runs that cover it."""
    lines = [subtopic.cells for subtopic in breakdown.subtopics]
    return csv_file(name, [*JudgedSubtopic.COLUMNS], lines)


def gains_csv(sight: Sight, run: Run, topic: Topic, cutoff: int) -> HttpResponse:
    """A line for each rank of the chart, also where the run retrieves no document any more."""
    ranked, grades = load_ranking(run, topic), find_visible_grades(sight, topic)
    gains = build_gain_curves(find_gain_scale(sight.track), grades, ranked.docnos, cutoff)
    if gains is None:
        raise Http404("no gains to see")
    curves = zip(gains.own.tolist(), gains.reordered.tolist(), gains.ideal.tolist(), strict=True)
    lines = [[rank, *each] for rank, each in enumerate(curves, start=1)]
    return csv_file(f"gains-{run.pk}", ["rank", "dcg", "dcg_reordered", "dcg_ideal"], lines)


def pair_csv(pair: Pair) -> HttpResponse:
    """A line for each topic, the largest difference of `b` minus `a` first."""
    known = compute_overlaps(pair.a, pair.b, pair.topics)
    lines = [
        [
            each.topic.number,
            each.topic.title or each.topic.description,
            each.b,
            each.a,
            each.difference,
            known[each.topic.number],
        ]
        for each in pair.by_size
    ]
    runs = [f"{pair.measure} of {run}" for run in (pair.b, pair.a)]
    name = f"compare-{pair.a.pk}-{pair.b.pk}"
    return csv_file(name, ["topic", "title", *runs, "difference", "overlap_rbo_.9"], lines)


def sides_csv(sight: Sight, pair: Pair, topic: Topic) -> HttpResponse:
    """A line for each document that one of the runs retrieves, with its rank in both."""
    grades = find_visible_grades(sight, topic)
    ranks = [
        {docno: rank for rank, docno in enumerate(load_ranking(run, topic).docnos, start=1)}
        for run in (pair.a, pair.b)
    ]
    lines = [
        [docno, grades.get(docno), *(of_run.get(docno) for of_run in ranks)]
        for docno in dict.fromkeys([*ranks[1], *ranks[0]])
    ]
    name = f"compare-{pair.a.pk}-{pair.b.pk}-topic"
    return csv_file(name, ["docno", "grade", f"rank in {pair.a}", f"rank in {pair.b}"], lines)


def judged_csv(slug: str, edition: Edition, topics: Sequence[JudgedTopic]) -> HttpResponse:
    """A line for each topic, a column for each grade that somebody gave."""
    grades = sorted((int(grade) for grade in edition.judgment_set.grade_counts), reverse=True)
    lines = [
        [
            each.topic.number,
            each.topic.title or each.topic.description,
            each.judged,
            each.relevant,
            *(each.grades.get(grade, 0) for grade in grades),
        ]
        for each in topics
    ]
    head = ["topic", "title", "judged", "relevant", *(f"grade {grade}" for grade in grades)]
    return csv_file(f"{slug}-judgments", head, lines)


def grades_csv(name: str, grades: Mapping[int, int]) -> HttpResponse:
    """A line for each grade, the highest first: how many documents have it."""
    lines = sorted(grades.items(), reverse=True)
    return csv_file(name, ["grade", "documents"], lines)


def holes_csv(slug: str, holes: HoleTable) -> HttpResponse:
    """A line for each run: what was judged of it, and what it and its verdict could become."""
    doubt = [field.name for field in fields(VerdictBounds)]
    lines = [
        [
            line.standing.run.pk,
            line.standing.run.tag,
            line.standing.run.team.name,
            *line.judged_at.values(),
            line.score,
            line.low,
            line.high,
            *(getattr(line.doubt, name, None) for name in doubt),
        ]
        for line in holes.lines
    ]
    judged = [f"judged_at_{cutoff}" for cutoff in CUTOFFS]
    bounds = [f"{holes.measure} low", f"{holes.measure} high"]
    named = [f"difference_{name}" if name in ("low", "high") else name for name in doubt]
    head = ["run", "tag", "team", *judged, holes.measure, *bounds, *named]
    return csv_file(f"{slug}-unjudged", head, lines)


def measures_csv(name: str, portrait: RunCharts, *_: object) -> HttpResponse:
    """A line for each measure: the run among all runs of the board."""
    lines = [
        [each.measure, each.mean, each.rank, each.of, each.median, each.best, each.best_run.tag]
        for each in portrait.breakdown.lines
    ]
    return csv_file(name, ["measure", "run", "rank", "of", "median", "best", "best_run"], lines)


def spread_csv(name: str, portrait: RunCharts, *_: object) -> HttpResponse:
    """A line for each step of the histogram; the last one has both its ends."""
    lines = [[each.low, each.high, each.own, each.other] for each in portrait.spread]
    return csv_file(name, ["from", "to", "topics", "topics of the baseline"], lines)


def recall_csv(name: str, _: RunCharts, precision: PrecisionCharts, *__: object) -> HttpResponse:
    """A line for each of the eleven levels of recall."""
    lines = [[each.recall, each.own, each.median, each.best] for each in precision.levels]
    return csv_file(name, ["recall", "run", "median", f"best run, {precision.best_run}"], lines)


def depth_csv(name: str, _: RunCharts, precision: PrecisionCharts, *__: object) -> HttpResponse:
    """A line for each depth."""
    lines = [[each.depth, each.own, each.median, each.best] for each in precision.depths]
    return csv_file(name, ["depth", "run", "median", "best"], lines)


def failures_csv(name: str, _: RunCharts, __: PrecisionCharts, losses: list[Loss]) -> HttpResponse:
    """A line for each topic that loses most, with the document that most explains it."""
    lines = []
    for loss in losses:
        line, missed, gains = loss.line, loss.missed, loss.gains
        lines.append(
            [
                line.topic.number,
                line.topic.title or line.topic.description,
                line.score,
                line.best,
                line.best_run.tag,
                missed.docno if missed is not None else None,
                missed.grade if missed is not None else None,
                missed.rank_in_best if missed is not None else None,
                missed.rank_here if missed is not None else None,
                missed.worth if missed is not None else None,
                gains.lost_by_ranking if gains is not None else None,
                gains.lost_by_retrieval if gains is not None else None,
            ]
        )
    scores = ["topic", "title", "run", "best", "best_run"]
    missed = ["docno", "grade", "rank_in_best", "rank_here", "worth"]
    lost = ["lost_by_ranking", "lost_by_retrieval"]
    return csv_file(name, [*scores, *missed, *lost], lines)


TABLES: dict[str, Callable[[str, RunCharts, PrecisionCharts, list[Loss]], HttpResponse]] = {
    "measures": measures_csv,
    "spread": spread_csv,
    "recall": recall_csv,
    "depth": depth_csv,
    "failures": failures_csv,
}


def answers_csv(name: str, breakdown: TopicBreakdown) -> HttpResponse:
    """A line for each run on the topic."""
    lines = [
        [
            each.rank,
            each.run.pk,
            each.run.tag,
            each.run.team.name,
            each.score,
            each.first_relevant,
            each.relevant_in_top,
            each.unjudged_in_top,
            each.retrieved,
        ]
        for each in breakdown.answers
    ]
    head = ["rank", "run", "tag", "team", breakdown.measure, "first_relevant"]
    return csv_file(name, [*head, "relevant_in_top_10", "unjudged_in_top_10", "retrieved"], lines)


def topic_recall_csv(name: str, recall: TopicRecall) -> HttpResponse:
    """A line for each run and level of recall."""
    lines = [
        [run.pk, run.tag, level, precision]
        for run, curve in zip(recall.runs, recall.by_recall.tolist(), strict=True)
        for level, precision in zip(LEVELS, curve, strict=True)
    ]
    return csv_file(name, ["run", "tag", "recall", "precision"], lines)


def grades_of_topic_csv(name: str, breakdown: TopicBreakdown) -> HttpResponse:
    return grades_csv(name, breakdown.grades)


def judged_documents_csv(name: str, breakdown: TopicBreakdown) -> HttpResponse:
    """A line for each judged document, a column of ranks for each run, by its tag."""
    runs = [each.run for each in breakdown.answers]
    lines: list[list[Cell]] = [
        [each.docno, each.grade, len(each.finders), *(each.ranks.get(run.pk) for run in runs)]
        for each in breakdown.documents
    ]
    head = ["docno", "grade", "found_in_top_100", *(run.tag for run in runs)]
    return csv_file(name, head, lines)


def unjudged_csv(name: str, breakdown: TopicBreakdown) -> HttpResponse:
    """A line for each document of the first tens that nobody judged."""
    lines = [[each.docno, each.runs, each.best_rank] for each in breakdown.unjudged]
    return csv_file(name, ["docno", "runs_in_top_10", "best_rank"], lines)


def summaries_csv(name: str, summaries: Iterable[TopicSummary]) -> HttpResponse:
    """A line for each topic of the list: its judgments, and how the runs did."""
    lines = [
        [
            each.topic.number,
            each.topic.title or each.topic.description,
            each.judged,
            each.relevant,
            each.worst,
            each.median,
            each.best,
            each.best_run.tag if each.best_run is not None else None,
            each.own,
        ]
        for each in summaries
    ]
    ends = ["worst", "median", "best", "best_run", "own"]
    return csv_file(name, ["topic", "title", "judged", "relevant", *ends], lines)
