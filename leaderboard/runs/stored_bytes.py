"""The stored bytes of teams, benchmarks and the site, compared with their limits."""

from __future__ import annotations

from django.conf import settings
from django.db.models import Model, QuerySet, Sum

from leaderboard.models import (
    Benchmark,
    Collection,
    JudgmentSet,
    MarkLayer,
    NuggetVersion,
    ResultsFile,
    Run,
    Team,
    UploadPiece,
)


def bytes_of_team(team: Team) -> int:
    """Return the total size of the stored run files of a team."""
    return _total(Run.objects.filter(team=team).exclude(file=""))


def bytes_of_benchmark(benchmark: Benchmark) -> int:
    """Return the total size of the files of a benchmark; collections are shared by several."""
    runs = Run.objects.filter(track__benchmark=benchmark).exclude(file="")
    versions = (NuggetVersion, MarkLayer)
    of_tracks = (_total(model.objects.filter(track__benchmark=benchmark)) for model in versions)
    return _total(runs) + sum(of_tracks) + _total(ResultsFile.objects.filter(benchmark=benchmark))


def limit_of_benchmark(benchmark: Benchmark) -> int:
    """Return how many bytes the files of a benchmark may take; 0 for no limit."""
    return benchmark.max_bytes or settings.BENCHMARK_BYTES


def bytes_of_site() -> int:
    """Return the total size of all stored files of users."""
    runs = Run.objects.exclude(file="")
    others = (Collection, JudgmentSet, NuggetVersion, MarkLayer, ResultsFile, UploadPiece)
    return _total(runs) + sum(_total(model.objects.all()) for model in others)


def exceeds_team(team: Team, size: int) -> bool:
    return 0 < settings.TEAM_BYTES < bytes_of_team(team) + size


def exceeds_benchmark(benchmark: Benchmark, size: int) -> bool:
    limit = limit_of_benchmark(benchmark)
    return 0 < limit < bytes_of_benchmark(benchmark) + size


def exceeds_site(size: int) -> bool:
    return 0 < settings.SITE_BYTES < bytes_of_site() + size


def _total(rows: QuerySet[Model]) -> int:
    # Without the order of the model: it would be a column of the query.
    total: int | None = rows.order_by().aggregate(total=Sum("size"))["total"]
    return total or 0
