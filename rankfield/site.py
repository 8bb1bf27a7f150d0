"""A site as an object: submit, wait, read scores and boards."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from evaluation.problems import Problem
from evaluation.reading.objects import RunSource
from evaluation.reading.run_names import find_named, is_other_file, is_system_file
from rankfield.answers import (
    AnswerSettings,
    Benchmark,
    Board,
    Comparison,
    GateAnswer,
    Receipt,
    Run,
    TopicScore,
    Track,
    Version,
    list_parts,
    read_answer,
    read_board,
    read_comparison,
    read_gate,
    read_receipt,
    read_run,
    read_version,
)
from rankfield.checks import Repairs, TrackRules, answer_rules_of, check_file, rules_of
from rankfield.configuration import configuration_file, read_configuration
from rankfield.connection import API, Connection
from rankfield.errors import RejectedError, SiteError, UnreachableError
from rankfield.forms import Form, FormFile
from rankfield.frames import build_frame, run_lines
from rankfield.hosting import Hosting
from rankfield.judging import Judging
from rankfield.nugget_drafts import NuggetDraft
from rankfield.progress import ProgressBar, is_watched
from rankfield.uploads import LARGE, send_in_pieces

Family = Literal["", "baseline", "all"]
# A file, or an object in any form that `evaluate` takes.
RunFile = str | Path | RunSource

# Seconds between two looks at a run, which grow while nothing happens.
FIRST_LOOK, LONGEST_LOOK = 0.3, 5.0


class Site:
    """A Rankfield site, for the user of a token.

    Without `url` or `token`, those of the environment (`RANKFIELD_URL`, `RANKFIELD_TOKEN`) or of
    `rankfield login` are used. Public boards need no token. Every method raises
    UnreachableError if the site does not answer, and RejectedError if it rejects the request.
    """

    def __init__(self, url: str = "", token: str = "", *, timeout: float = 60.0) -> None:
        if not (url and token):
            stated = read_configuration(url)
            url, token = stated.url, token or stated.token
        if not url.startswith(("https://", "http://")):
            raise SiteError(
                "The site is not known. Set RANKFIELD_URL to its URL, with https://, or write "
                f'url = "https://..." in {configuration_file()}.'
            )
        self.connection = Connection(url.rstrip("/"), token, timeout)

    def __repr__(self) -> str:
        return f"Site({self.connection.url!r})"

    def account(self) -> str:
        """Return the name of the account of the token.  Raises RejectedError without one."""
        found: Any = self.connection.get(f"{API}/me")
        return str(found.get("user", "")) if isinstance(found, dict) else ""

    def track(self, slug: str) -> Track:
        """Return a track with what its runs have to follow."""
        return read_answer(Track, self.connection.get(f"{API}/tracks/{quote(slug)}"))

    def judging(self, track: str) -> Judging:
        """Return the pools and the judging of a track, for its organisers."""
        return Judging(self.connection, track)

    def nugget_draft(self, track: str) -> NuggetDraft:
        """Return the draft of the nuggets of a track, for its organisers."""
        return NuggetDraft(self.connection, track)

    def hosting(self, benchmark: str) -> Hosting:
        """Return what organisers do with a benchmark: people, messages, tracks, archive, copy."""
        return Hosting(self.connection, benchmark)

    def check(
        self,
        track: str,
        run: RunFile,
        *,
        tag: str = "",
        format: str = "",
        fix: Sequence[str] = (),
    ) -> None:
        """Check a run by the rules of a track without submitting it.

        Raises RejectedError with all problems. The site checks once more: whether the docnos
        exist, and what the team submitted before, is not known here.
        """
        file = read_run_file(run, tag)
        check_file(file.name, file.content, self.rules(track), Repairs(tuple(fix), tag, format))

    def rules(self, track: str) -> TrackRules:
        """Return the rules of a track, with its topics if everyone may download them."""
        answer = self.connection.get(f"{API}/tracks/{quote(track)}")
        found, settings = read_answer(Track, answer), read_answer(AnswerSettings, answer)
        topics = self._topics(f"/collections/{quote(found.collection)}/topics.txt")
        judged = self._topics(f"{found.page}topics/judged.txt")
        ranked = rules_of(found, topics, judged)
        return TrackRules(ranked, answer_rules_of(found, settings, topics))

    def _topics(self, path: str) -> dict[bytes, bytes] | None:
        """Return the texts of a public list of topics by number; None if it is not public."""
        try:
            lines = self.connection.get_bytes(path).splitlines()
        except SiteError:
            return None
        parts = [line.partition(b"\t") for line in lines if line.strip()]
        return {number.strip(): text.strip() for number, _, text in parts}

    def submit(
        self,
        track: str,
        run: RunFile,
        *,
        tag: str = "",
        description: str = "",
        format: str = "",
        fix: Sequence[str] = (),
        team: str = "",
        replaces: str = "",
        facts: Mapping[str, Any] | None = None,
        commit: str = "",
        branch: str = "",
        configuration: str = "",
        progress: bool | None = None,
    ) -> Run:
        """Submit a run: a file, packed or not, or any object that `rankfield.evaluate` takes.

        It returns once the site has the bytes; `wait` returns the scores. Submitting the same file
        again returns the same run, and `message` then names who submitted it and when. A large file
        goes in pieces: if the connection breaks, also of another process, it continues there.
        """
        file = read_run_file(run, tag)
        fields = {
            "tag": tag,
            "description": description,
            "format": format,
            "fix": ",".join(fix),
            "team": team,
            "replaces": replaces,
            "facts": json.dumps(facts) if facts else "",
            "commit": commit,
            "branch": branch,
            "configuration": configuration,
        }
        path = f"{API}/tracks/{quote(track)}"
        sent = self._send_large(path, [file], progress)
        fields["upload"] = ",".join(sent.uploads)
        form = Form({name: value for name, value in fields.items() if value}, sent.others)
        return read_run(self.connection.post(f"{path}/runs", form))

    def _send_large(self, path: str, files: Iterable[FormFile], progress: bool | None) -> SentFiles:
        """Send the large files of a form before it, in pieces."""
        is_shown = is_watched() if progress is None else progress
        uploads, others = [], []
        for file in files:
            if file.size > LARGE and (
                upload := send_in_pieces(self.connection, f"{path}/uploads", file, is_shown)
            ):
                uploads.append(upload)
            else:
                others.append(file)
        return SentFiles(uploads, others)

    def benchmarks(self) -> list[Benchmark]:
        """Return the benchmarks that the token may know, by their slugs."""
        return [read_answer(Benchmark, each) for each in self._list(f"{API}/benchmarks")]

    def tracks(self) -> list[Track]:
        """Return the tracks that the token may know, by their slugs."""
        return [read_answer(Track, each) for each in self._list(f"{API}/tracks")]

    def _list(self, path: str) -> list[Mapping[str, Any]]:
        """Return the items of all pages of a list."""
        found: list[Mapping[str, Any]] = []
        after = ""
        while True:
            page = self.connection.get(path, {"after": after})
            found += list_parts(page, "items")
            after = str(page.get("next") or "")
            if not after:
                return found

    def benchmark(self, slug: str) -> Benchmark:
        """Return a benchmark with its tracks."""
        return read_answer(Benchmark, self.connection.get(f"{API}/benchmarks/{quote(slug)}"))

    def submit_system(
        self,
        benchmark: str,
        files: str | Path | Iterable[FormFile],
        name: str,
        *,
        version: str = "",
        description: str = "",
        commit: str = "",
        branch: str = "",
        configuration: str = "",
        facts: Mapping[str, Any] | None = None,
        progress: bool | None = None,
    ) -> Receipt:
        """Submit the runs of a version of a system: a folder or a zip.

        A file is for the track that it or its folder is named by, else for the one whose topics it
        answers. All become runs or none does. It returns at once; `wait_for_version` returns how
        the version does. The same files again are the same runs.
        """
        if isinstance(files, str | Path):
            files = read_run_files(files, self.benchmark(benchmark).tracks)
        fields = {
            "name": name,
            "version": version,
            "description": description,
            "commit": commit,
            "branch": branch,
            "configuration": configuration,
            "facts": json.dumps(facts) if facts else "",
        }
        path = f"{API}/benchmarks/{quote(benchmark)}"
        sent = self._send_large(path, files, progress)
        fields["uploads"] = ",".join(sent.uploads)
        form = Form({name: value for name, value in fields.items() if value}, sent.others)
        return read_receipt(self.connection.post(f"{path}/systems", form))

    def version(self, receipt: Receipt) -> Version:
        """Return a submitted version with its runs, and how it compares once they are done."""
        return read_version(self.connection.get(receipt.url))

    def wait_for_version(
        self, receipt: Receipt, *, progress: bool | None = None, timeout: float | None = None
    ) -> Version:
        """Wait until all runs of a version are scored, rejected or failed, and return it."""
        self.wait_for_all(
            [run.run for run in self.version(receipt).runs], progress=progress, timeout=timeout
        )
        return self.version(receipt)

    def run(self, run: str) -> Run:
        """Return a run by its ID."""
        return read_run(self.connection.get(f"{API}/runs/{quote(run)}"))

    def wait(
        self, run: Run | str, *, progress: bool | None = None, timeout: float | None = None
    ) -> Run:
        """Wait until a run is scored and return it with its scores.

        Raises RejectedError with the problems of a run that is rejected, and UnreachableError
        after `timeout` seconds. Without `progress`, a bar appears on terminals and in notebooks.
        """
        [found] = self.wait_for_all([run], progress=progress, timeout=timeout)
        if found.is_rejected:
            raise rejection_of(found)
        return found

    def wait_for_all(
        self,
        runs: Iterable[Run | str],
        *,
        progress: bool | None = None,
        timeout: float | None = None,
    ) -> list[Run]:
        """Wait until every run is scored, rejected or failed, and return them in their order."""
        found = [self.run(run if isinstance(run, str) else run.id) for run in runs]
        bar = ProgressBar(len(found), is_watched() if progress is None else progress)
        end = None if timeout is None else time.monotonic() + timeout
        pause = FIRST_LOOK
        while waiting := [place for place, run in enumerate(found) if not run.done]:
            bar.show(len(found) - len(waiting), describe_wait(found[waiting[0]]))
            if end is not None and time.monotonic() > end:
                raise UnreachableError(f"{describe_wait(found[waiting[0]])} after {timeout:g} s.")
            time.sleep(pause)
            pause = min(1.5 * pause, LONGEST_LOOK)
            for place in waiting:
                found[place] = self.run(found[place].id)
        bar.show(len(found))
        bar.end()
        return found

    def page_of(self, run: Run | str) -> str:
        """Return the URL of a run's page."""
        return f"{self.connection.url}/runs/{run_id(run)}/"

    def topic_scores(self, run: Run | str, measure: str = "") -> dict[str, float | None]:
        """Return the scores of a run by topic, by default of the measure that ranks the board."""
        path = f"{API}/runs/{quote(run_id(run))}/topics"
        answer = self.connection.get(path, {"measure": measure})
        topics = [read_answer(TopicScore, topic) for topic in list_parts(answer, "topics")]
        return {topic.number: topic.score for topic in topics}

    def topic_frame(self, run: Run | str, measures: Iterable[str] = ()) -> Any:
        """Return the scores of a run as a DataFrame: a row per topic, a column per measure.

        By default, every measure of the track. Needs pandas.
        """
        names = list(measures) or list((run if isinstance(run, Run) else self.run(run)).scores)
        scores = {name: self.topic_scores(run, name) for name in names}
        topics = dict.fromkeys(topic for column in scores.values() for topic in column)
        rows = (
            {"topic": topic, **{name: column.get(topic) for name, column in scores.items()}}
            for topic in topics
        )
        return build_frame(rows, "topic")

    def problems(self, run: Run | str) -> list[Problem]:
        """Return every problem of a run; the run itself has the first 50."""
        lines = self.connection.get_bytes(f"{API}/runs/{quote(run_id(run))}/problems")
        return [read_answer(Problem, self.connection.decode(line)) for line in lines.splitlines()]

    def withdraw(self, run: Run | str, reason: str = "") -> None:
        """Withdraw a run from the board."""
        self.connection.delete(f"{API}/runs/{quote(run_id(run))}", {"reason": reason})

    def board(
        self,
        track: str,
        *,
        measure: str = "",
        baseline: str = "",
        judgments: str = "",
        family: Family = "",
    ) -> Board:
        """Return the board of a track: `baseline` is the ID of a run, `judgments` a version."""
        query = {
            "measure": measure,
            "baseline": baseline,
            "judgments": judgments,
            "family": family,
        }
        return read_board(self.connection.get(f"{API}/tracks/{quote(track)}/leaderboard", query))

    def board_file(self, track: str, format: str = "csv", **choice: str) -> bytes:
        """Return the board as a file: csv, tsv, md or tex."""
        path = f"{API}/tracks/{quote(track)}/leaderboard"
        return self.connection.get_bytes(path, {"format": format, **choice})

    def board_frame(self, track: str, **choice: Any) -> Any:
        """Return the board as a DataFrame: a row per run, its scores by measure. Needs pandas."""
        rows = [asdict(standing) for standing in self.board(track, **choice).standings]
        scores = [row.pop("scores") for row in rows]
        return build_frame((row | more for row, more in zip(rows, scores, strict=True)), "rank")

    def compare(
        self,
        track: str,
        a: Run | str,
        b: Run | str,
        *,
        measure: str = "",
        family: Family = "",
    ) -> Comparison:
        """Compare run `b` with run `a`: differences are b minus a."""
        query = {"a": run_id(a), "b": run_id(b), "measure": measure, "family": family}
        return read_comparison(self.connection.get(f"{API}/tracks/{quote(track)}/compare", query))

    def gate(
        self,
        track: str,
        run: Run | str,
        margin: float,
        *,
        reference: Run | str = "",
        measure: str = "",
        builds: int = 50,
    ) -> GateAnswer:
        """Hold a run against a fixed reference, by default that of the main branch.

        Without a main branch it is the baseline. A loss of up to `margin` is accepted. `builds` is
        the budget of runs for one reference.
        """
        query = {
            "run": run_id(run),
            "margin": str(margin),
            "reference": run_id(reference),
            "measure": measure,
            "builds": str(builds),
        }
        return read_gate(self.connection.get(f"{API}/tracks/{quote(track)}/gate", query))


@dataclass(frozen=True)
class SentFiles:
    """The IDs of the files that were sent in pieces, and those that go with their form."""

    uploads: list[str]
    others: list[FormFile]


def run_id(run: Run | str) -> str:
    return run.id if isinstance(run, Run) else run


def read_run_file(run: RunFile, tag: str = "") -> FormFile:
    """Return a run as the file of a form; an object needs a tag."""
    if isinstance(run, str | Path):
        return FormFile("file", Path(run).name, Path(run))
    if not tag:
        raise ValueError("a table needs a tag, which names the run")
    return FormFile("file", f"{tag}.run", "".join(run_lines(run, tag)).encode())


def read_run_files(path: str | Path, tracks: Iterable[str]) -> list[FormFile]:
    """Return the runs in a folder, or a zip of them, as the files of a form.

    A form loses folders, so a run in the folder of a track is named by it.
    """
    path, tracks = Path(path), list(tracks)
    if not path.is_dir():
        return [FormFile("files", path.name, path)]
    found = []
    for file in sorted(path.rglob("*")):
        name = file.relative_to(path).as_posix()
        if not file.is_file() or is_system_file(name) or is_other_file(name):
            continue
        track = find_named(name, tracks)
        is_clear = not track or find_named(file.name, tracks) == track
        found.append(FormFile("files", file.name if is_clear else f"{track}.{file.name}", file))
    if not found:
        raise RejectedError(f"{path} has no run.")
    return found


def rejection_of(run: Run, name: str = "") -> RejectedError:
    """Return the error of a run that was rejected or failed; `name` is that of its file."""
    name = name or run.tag or run.id
    if run.state == "failed":
        return RejectedError(f"{name} failed: {run.reason}")
    errors = [problem for problem in run.problems if problem.severity == "error"]
    return RejectedError(f"{name} was rejected.", errors)


def describe_wait(run: Run) -> str:
    place = "" if run.queue_position is None else f", number {run.queue_position} in line"
    return f"{run.tag or run.id} is {run.state}{place}"
