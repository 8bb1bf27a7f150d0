"""Rankfield from Python: submit runs to a site, wait, and read scores and boards.

    from rankfield import Site

    site = Site("https://rankfield.example.org", "rf_...")
    run = site.wait(site.submit("bread", "my.run.gz"))
    print(run.scores)

The package never imports Django. `rankfield.__main__` is the command `rankfield`.
"""

from rankfield.answers import Board, Comparison, Run, Standing, Track
from rankfield.errors import RejectedError, SiteError, UnreachableError
from rankfield.site import Site
from rankfield.version import VERSION as __version__

__all__ = [
    "Board",
    "Comparison",
    "RejectedError",
    "Run",
    "Site",
    "SiteError",
    "Standing",
    "Track",
    "UnreachableError",
    "__version__",
]
