"""The kinds of runs: how the file of a run is read, what is stored of it, what tells runs apart.

Every kind has rankings, in a ranking file of its own or of what it cites, so boards, pools and
pages ask no kind. A track has runs of one kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from evaluation.answers.dialects import DIALECTS
from evaluation.answers.objects import LONGEST_LINE
from evaluation.answers.rules import FIXES as ANSWER_FIXES
from evaluation.phrases import counted
from evaluation.reading.recognition import RUN_FORMATS
from evaluation.reading.repairs import FIXES
from evaluation.reading.runs import reader
from evaluation.reading.system_rankings import RANKING_FORMATS
from leaderboard.models import Edition, Run, Track
from leaderboard.models.tracks import RANKS_SYSTEMS
from leaderboard.runs.answers import load_sentences
from leaderboard.runs.rankings import load_tops
from leaderboard.runs.topic_files import Tops
from leaderboard.scoring.answer_marks import MarkedScore, score_by_marks
from leaderboard.scoring.answer_runs import (
    answer_check_options,
    describe_limit,
    find_answer_rules,
    read_answer_run,
    store_answers,
)
from leaderboard.scoring.files import (
    check_options,
    read_ranked_run,
    reading_options,
    run_limits,
    store_rankings,
)
from leaderboard.scoring.judge_runs import (
    QRELS_FORMATS,
    judge_check_options,
    read_judge_run,
    read_mark_run,
)
from leaderboard.scoring.mark_runs import NUGGET_FORMATS, SUPPORT_FORMATS, mark_check_options
from leaderboard.scoring.system_runs import read_system_run


@dataclass(frozen=True)
class RunKind:
    """One kind of run.

    `read` checks the stored file by the rules of the track and raises Refused; `store` stores what
    was read and names its files in the run. `load_tops` gives the first items of every topic,
    called `items` in a message: two runs with the same are duplicates. `command` checks a file
    offline, with the options of a track; with `reading_options` commands read runs as the site did,
    of which None are those that no option reads so.
    """

    name: str
    label: str
    # What a run does, as a request.
    asks: str
    # How much of it a topic may have, in words; "" if there is no limit.
    most: Callable[[Track], str]
    read: Callable[[Run], reader.Run]
    store: Callable[[Run, reader.Run], None]
    # In bytes.
    longest_line: Callable[[], int]
    load_tops: Callable[[Run], Tops]
    # Scores a run by measures that are not of rankings.
    score: Callable[[Run, Edition, Sequence[str]], Mapping[str, MarkedScore]]
    items: str
    formats: Mapping[str, str]
    accepted: Callable[[Track], Iterable[str]]
    fixes: Iterable[str]
    command: str
    check_options: Callable[[Track], Mapping[str, str]]
    reading_options: Callable[[Sequence[Run]], list[str] | None]
    # Whether an archive of several files is one run, not several.
    is_one_archive: bool = False
    # Whether a run says something on a topic, which has a page then.
    has_texts: bool = False
    # Whether a file of rankings is a run, such as the sample run and a baseline by BM25.
    takes_rankings: bool = True
    # Whether its runs are judges, which are compared with people.
    is_of_judges: bool = False

    @property
    def topic_page(self) -> str:
        """The page of a run on one topic."""
        return "answer" if self.has_texts else "ranking"

    def formats_of(self, track: Track) -> dict[str, str]:
        """Return the formats that a track takes, by name, each in words."""
        return {name: self.formats[name] for name in self.accepted(track)}

    def check_command(self, track: Track) -> str:
        """Return the command that checks a run of this track offline, as the worker does."""
        asked = [f"--{name} {value}" for name, value in self.check_options(track).items() if value]
        return " \\\n  ".join([self.command, *asked])


RANKED = RunKind(
    name="ranked",
    label="Ranked documents",
    asks="Rank the documents for every topic.",
    most=lambda track: counted(track.depth, "document"),
    read=read_ranked_run,
    store=store_rankings,
    longest_line=lambda: run_limits().line,
    load_tops=load_tops,
    score=lambda run, edition, measures: {},
    items="documents",
    formats=RUN_FORMATS,
    accepted=lambda track: track.run_formats,
    fixes=FIXES,
    command="python -m evaluation check my.run.gz",
    check_options=check_options,
    reading_options=reading_options,
)
ANSWERS = RunKind(
    name="answers",
    label="Generated answers with citations",
    asks="Answer every topic in sentences that cite documents.",
    most=describe_limit,
    read=read_answer_run,
    store=store_answers,
    longest_line=lambda: LONGEST_LINE,
    load_tops=load_sentences,
    score=score_by_marks,
    items="sentences",
    formats=DIALECTS,
    accepted=lambda track: [find_answer_rules(track).dialect],
    fixes=ANSWER_FIXES,
    command="python -m evaluation answers check my.answers.jsonl.gz",
    check_options=answer_check_options,
    # Commands read the ranking of a run, in six columns.
    reading_options=lambda runs: [],
    is_one_archive=True,
    has_texts=True,
    takes_rankings=False,
)
JUDGED = RunKind(
    name="judgments",
    label="Judgments of judges, compared with people",
    asks="Grade documents of every topic.",
    most=lambda track: "",
    read=read_judge_run,
    store=store_rankings,
    longest_line=lambda: run_limits().line,
    load_tops=load_tops,
    score=lambda run, edition, measures: {},
    items="documents",
    formats=QRELS_FORMATS,
    accepted=lambda track: QRELS_FORMATS,
    fixes=(),
    command="python -m evaluation check my.qrels --judge",
    check_options=judge_check_options,
    # Commands read the ranking of a run, in six columns.
    reading_options=lambda runs: [],
    takes_rankings=False,
    is_of_judges=True,
)
NUGGET_MARKS = replace(
    JUDGED,
    name="nugget_marks",
    label="Marks of nuggets by judges, compared with people",
    asks="Say of every answer which nuggets it has.",
    read=read_mark_run,
    items="pairs",
    formats=NUGGET_FORMATS,
    accepted=lambda track: NUGGET_FORMATS,
    command="python -m evaluation check my.marks.jsonl",
    check_options=mark_check_options,
)
SUPPORT_MARKS = replace(
    NUGGET_MARKS,
    name="support_marks",
    label="Marks of support by judges, compared with people",
    asks="Say of every sentence whether the documents that it cites support it.",
    formats=SUPPORT_FORMATS,
    accepted=lambda track: SUPPORT_FORMATS,
)
SYSTEM_RANKINGS = replace(
    JUDGED,
    name=RANKS_SYSTEMS,
    label="Rankings of systems, compared with their scores",
    asks="Rank the systems of another track.",
    read=read_system_run,
    items="systems",
    formats=RANKING_FORMATS,
    accepted=lambda track: RANKING_FORMATS,
    command="python -m evaluation check my.systems.tsv --ranking",
    check_options=lambda track: {},
)
KINDS = {
    kind.name: kind
    for kind in (RANKED, ANSWERS, JUDGED, NUGGET_MARKS, SUPPORT_MARKS, SYSTEM_RANKINGS)
}
# The repairs of any kind.
EVERY_FIX = tuple(dict.fromkeys(fix for kind in KINDS.values() for fix in kind.fixes))


def kind_of(track: Track) -> RunKind:
    """Return the kind of the runs of a track."""
    return KINDS[track.run_kind]


def read_run_file(run: Run) -> reader.Run:
    """Read and check the file of a run under the rules of its track. Raises Refused."""
    return kind_of(run.track).read(run)
