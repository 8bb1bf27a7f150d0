"""Rankfield from Python: submit runs to a site, wait, and read scores and boards.

    from rankfield import Site

    site = Site("https://rankfield.example.org", "rf_...")
    run = site.wait(site.submit("bread", "my.run.gz"))
    print(run.scores)

The package never imports Django. `rankfield.__main__` is the command `rankfield`.
"""

from rankfield.answers import Board, Comparison, Receipt, Run, Standing, Task, Track, Version
from rankfield.errors import RejectedError, SiteError, UnreachableError
from rankfield.site import Site
from rankfield.version import VERSION as __version__

__all__ = [
    "Board",
    "Comparison",
    "Receipt",
    "RejectedError",
    "Run",
    "Site",
    "SiteError",
    "Standing",
    "Task",
    "Track",
    "UnreachableError",
    "Version",
    "__version__",
]
