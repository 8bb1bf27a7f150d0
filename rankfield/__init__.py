"""Rankfield from Python: evaluate runs here, or submit them to a site and read scores and boards.

    import rankfield

    scores = rankfield.evaluate({"7": {"d1": 1}}, {"7": {"d1": 9.5}}, ["nDCG@10", "AP"])

`evaluate`, `compare`, `rank_intervals`, `pool` and `kappa` are those of `evaluation`.

    from rankfield import Site

    site = Site("https://rankfield.example.org", "rf_...")
    run = site.wait(site.submit("bread", "my.run.gz"))
    print(run.scores)

The package never imports Django. `rankfield.__main__` is the command `rankfield`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from rankfield.version import VERSION as __version__

if TYPE_CHECKING:
    from evaluation import compare, evaluate, kappa, pool, rank_intervals
    from rankfield.answers import (
        Benchmark,
        Board,
        Comparison,
        Receipt,
        Run,
        Standing,
        Track,
        Version,
    )
    from rankfield.errors import RejectedError, SiteError, UnreachableError
    from rankfield.site import Site

__all__ = [
    "Benchmark",
    "Board",
    "Comparison",
    "Receipt",
    "RejectedError",
    "Run",
    "Site",
    "SiteError",
    "Standing",
    "Track",
    "UnreachableError",
    "Version",
    "__version__",
    "compare",
    "evaluate",
    "kappa",
    "pool",
    "rank_intervals",
]

# Loaded when a name is first used: the server reads the version alone, at every start.
_MODULES = dict.fromkeys(("RejectedError", "SiteError", "UnreachableError"), "rankfield.errors")
_MODULES |= {"Site": "rankfield.site"}
_MODULES |= dict.fromkeys(("compare", "evaluate", "kappa", "pool", "rank_intervals"), "evaluation")


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_MODULES.get(name, "rankfield.answers"))
    globals()[name] = getattr(module, name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
