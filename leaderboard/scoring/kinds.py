"""The kinds of runs: how the file of a run is read, what is stored of it, what tells runs apart.

Every kind has rankings, in a ranking file of its own or of what it cites, so boards, pools and
pages ask no kind. A track has runs of one kind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from evaluation.reading.runs import reader
from leaderboard.models import Run, Track
from leaderboard.runs.rankings import load_tops
from leaderboard.runs.topic_files import Tops
from leaderboard.scoring.files import read_ranked_run, store_rankings


@dataclass(frozen=True)
class RunKind:
    """One kind of run.

    `read` checks the stored file by the rules of the track and raises Refused; `store` stores what
    was read and names its files in the run. `load_tops` gives the first items of every topic,
    called `items` in a message: two runs with the same are duplicates.
    """

    name: str
    read: Callable[[Run], reader.Run]
    store: Callable[[Run, reader.Run], None]
    load_tops: Callable[[Run], Tops]
    items: str


RANKED = RunKind("ranked", read_ranked_run, store_rankings, load_tops, "documents")
KINDS = {kind.name: kind for kind in (RANKED,)}


def kind_of(track: Track) -> RunKind:
    """Return the kind of the runs of a track."""
    return KINDS[track.run_kind]


def read_run_file(run: Run) -> reader.Run:
    """Read and check the file of a run under the rules of its track. Raises Refused."""
    return kind_of(run.track).read(run)
