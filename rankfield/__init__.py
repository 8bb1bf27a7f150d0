"""Rankfield from Python: submit runs to a site, wait, and read scores and boards.

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
]

# Loaded when a name is first used: the server reads the version alone, at every start.
_MODULES = {"RejectedError": "errors", "SiteError": "errors", "UnreachableError": "errors"}
_MODULES |= {"Site": "site"}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"{__name__}.{_MODULES.get(name, 'answers')}")
    globals()[name] = getattr(module, name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
