"""What an analysis shows, as a table for other programs: every digit, nothing cut."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from django.http import HttpRequest, HttpResponse

from leaderboard.breakdowns.agreement import MeasureAgreement
from leaderboard.breakdowns.gains import gain_curves, scale_of
from leaderboard.breakdowns.matrices import SignificanceMatrix
from leaderboard.breakdowns.pairs import Pair, overlaps
from leaderboard.breakdowns.rankings import grades_seen, ranking_of
from leaderboard.breakdowns.topic_map import TopicMap
from leaderboard.disclosure import Sight
from leaderboard.exports import Cell, exactly
from leaderboard.models import Run, Topic
from leaderboard.receipts import inert


def wants_csv(request: HttpRequest) -> bool:
    return request.GET.get("format") == "csv"


def csv_file(name: str, head: Sequence[Cell], lines: Iterable[Sequence[Cell]]) -> HttpResponse:
    """A table to be kept as a file; names come from strangers, and none is a formula."""
    out = io.StringIO()
    writer = csv.writer(out)
    for line in [head, *lines]:
        writer.writerow(inert(exactly(cell)) for cell in line)
    response = HttpResponse(out.getvalue(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response


def pairs_csv(name: str, matrix: SignificanceMatrix) -> HttpResponse:
    """A line for each pair that the matrix shows: run minus other."""
    runs = [each.run for each in matrix.standings]
    lines = [
        [a.pk, a.tag, b.pk, b.tag, float(matrix.differences[i, j]), float(matrix.p[i, j])]
        for i, a in enumerate(runs)
        for j, b in enumerate(runs)
        if i < j
    ]
    return csv_file(name, ["run", "tag", "other", "other_tag", "difference", "p_hsd"], lines)


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


def impact_csv(name: str, impact: Impact) -> HttpResponse:
    """A line for each run on both boards: its ranks and means with the old and new judgments."""
    lines = [
        [each.run.pk, each.run.tag, each.old_rank, each.new_rank, each.old, each.new]
        for each in impact.moves
    ]
    head = ["run", "tag", "old_rank", "new_rank", "old", "new"]
    return csv_file(name, head, lines)


def map_csv(name: str, topics: TopicMap) -> HttpResponse:
    """A line for each topic, a column for each run, by its tag."""
    lines = [
        [each.topic.number, each.summary.relevant, each.summary.median, *column.tolist()]
        for each, column in zip(topics.topics, topics.values.T, strict=True)
    ]
    tags = [str(each.run) for each in topics.standings]
    return csv_file(name, ["topic", "relevant", "median", *tags], lines)


def ranking_csv(sight: Sight, run: Run, topic: Topic) -> HttpResponse:
    """A line for each document that a run retrieves for a topic; grades where they may be seen."""
    ranked, grades = ranking_of(run, topic), grades_seen(sight, topic)
    gains = gain_curves(scale_of(sight.track), grades, ranked.docnos, len(ranked.docnos))
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


def pair_csv(pair: Pair) -> HttpResponse:
    """A line for each topic, the largest difference of `b` minus `a` first."""
    known = overlaps(pair.a, pair.b, pair.topics)
    lines = [
        [each.topic.number, each.a, each.b, each.difference, known[each.topic.number]]
        for each in pair.by_size
    ]
    name = f"compare-{pair.a.pk}-{pair.b.pk}"
    return csv_file(name, ["topic", "a", "b", "difference", "overlap"], lines)


def sides_csv(sight: Sight, pair: Pair, topic: Topic) -> HttpResponse:
    """A line for each document that one of the runs retrieves, with its rank in both."""
    grades = grades_seen(sight, topic)
    ranks = [
        {docno: rank for rank, docno in enumerate(ranking_of(run, topic).docnos, start=1)}
        for run in (pair.a, pair.b)
    ]
    lines = [
        [docno, grades.get(docno), *(of_run.get(docno) for of_run in ranks)]
        for docno in dict.fromkeys([*ranks[1], *ranks[0]])
    ]
    name = f"compare-{pair.a.pk}-{pair.b.pk}-topic"
    return csv_file(name, ["docno", "grade", "rank_a", "rank_b"], lines)
