"""Files of runs with their scores: one process scores them in turn, or several share them."""

from __future__ import annotations

import argparse
import os
import pickle
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass, replace
from functools import partial
from io import StringIO
from typing import TypeAlias

from evaluation.commands import files
from evaluation.forks import Fork, count_cores, run_forks
from evaluation.judging import Judgments
from evaluation.measures import Asked
from evaluation.problems import Problems, Refused
from evaluation.scoring import RunScores, score_run

# A further process pays off for every 16 MiB.
SHARE = 16 * 1024 * 1024
# The scores of a run, or why there are none.
Outcome: TypeAlias = RunScores | Refused | OSError


def count_processes(paths: Sequence[str]) -> int:
    """Return how many processes score these files the soonest; one for the standard input."""
    if "-" in paths:
        return 1
    size = sum(os.path.getsize(path) for path in paths if os.path.isfile(path))
    return max(1, min(count_cores(), size // SHARE))


@dataclass(frozen=True)
class FileScorer:
    """What scores the runs of a command."""

    judgments: Judgments
    asked: tuple[Asked, ...]
    options: argparse.Namespace

    def score_all(self) -> list[Outcome]:
        """Score every run, in their order."""
        paths, processes = self.options.runs, self.options.processes
        places = range(len(paths))
        if len(paths) == 1 or processes == 1 or "-" in paths:
            return self._score(places)
        alone = replace(self, options=argparse.Namespace(**{**vars(self.options), "processes": 1}))
        shares = [places[first::processes] for first in places[:processes]]
        with run_forks([partial(alone._send, share) for share in shares[1:]]) as forks:
            found = dict(zip(shares[0], alone._score(shares[0]), strict=True))
            for share, fork in zip(shares[1:], forks, strict=True):
                found.update(zip(share, alone._receive(fork, share), strict=True))
        return [found[place] for place in places]

    def _score(self, places: Sequence[int]) -> list[Outcome]:
        return [self._score_one(place) for place in places]

    def _score_one(self, place: int) -> Outcome:
        path, options = self.options.runs[place], self.options
        files.show_current_file(place + 1, options.runs)
        try:
            run = files.read_scored_run(path, self.judgments, options)
            return score_run(run, self.judgments, self.asked, files.rules_of(options), path)
        except (Refused, OSError) as reason:
            return reason

    def _send(self, places: Sequence[int]) -> bytes:
        """Score these runs in a fork; what it says of them is said by who receives it."""
        with redirect_stderr(StringIO()) as said:
            found = self._score(places)
        return pickle.dumps(([self._pack(each) for each in found], said.getvalue()))

    def _receive(self, fork: Fork, places: Sequence[int]) -> list[Outcome]:
        """Receive what a fork found; if it died, score its runs here."""
        answer = fork.receive()
        if not answer:
            return self._score(places)
        sent, said = pickle.loads(answer)
        sys.stderr.write(said)
        return [self._unpack(each) for each in sent]

    def _pack(self, outcome: Outcome) -> RunScores | Problems | OSError:
        """Measures are functions, which the receiver has."""
        if isinstance(outcome, RunScores):
            return replace(outcome, asked=())
        return outcome.problems if isinstance(outcome, Refused) else outcome

    def _unpack(self, sent: RunScores | Problems | OSError) -> Outcome:
        if isinstance(sent, RunScores):
            return replace(sent, asked=self.asked)
        return Refused(sent) if isinstance(sent, Problems) else sent
