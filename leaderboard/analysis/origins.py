"""The origin of a number: its measure, its data, and the command that computes it again."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from django.http import Http404

from evaluation.answers.any_measure import is_of_rankings, parse_measure
from evaluation.judging import JudgedRun
from evaluation.measures import SAMPLED, Measure
from evaluation.measures.declaring import value_text
from evaluation.significance import Difference, scale_of, sign_flip
from leaderboard.analysis.pairs import PERSISTENCE, compare_runs
from leaderboard.analysis.planning import DEPTHS, PlanRequest
from leaderboard.analysis.rankings import topic_or_404
from leaderboard.analysis.reusability import pool_depth_of, teams_of
from leaderboard.analysis.unjudged import CUTOFFS
from leaderboard.boards.disclosure import Sight
from leaderboard.boards.nugget_files import marks_name, nuggets_name
from leaderboard.boards.rows import AGAINST_ALL, AGAINST_BASELINE
from leaderboard.boards.standings import Board, Standing
from leaderboard.models import Edition, JudgmentSet, Run, Score, ScoreSet, Topic, Track
from leaderboard.runs.topic_files import TOP
from leaderboard.scoring.answer_marks import find_layer
from leaderboard.scoring.contests import compare_pair
from leaderboard.scoring.editions import with_marks
from leaderboard.scoring.judgments import is_not_estimated, load_judgments
from leaderboard.scoring.kinds import kind_of
from leaderboard.scoring.scores import tested_scores

JUDGED = [f"Judged@{cutoff}" for cutoff in CUTOFFS]

# The name of the downloaded file with the group of each topic.
GROUPS_NAME = "topics.groups"


@dataclass(frozen=True)
class Origin:
    """A measure on an edition, for a run or for a run on one topic.

    `run` and `value` are None if no run is requested.
    """

    edition: Edition
    measure: Measure
    run: Run | None
    value: float | None
    num_undefined: int
    topic: Topic | None = None

    @property
    def parameters(self) -> list[str]:
        """The parameters of the measure, except the relevance threshold and the cutoff."""
        shown_elsewhere = {"rel", "holes", getattr(self.measure.definition.at, "name", "")}
        return [
            f"{name} {value_text(value)}"
            for name, value in self.measure.parameters.items()
            if name not in shown_elsewhere and value not in (None, ())
        ]

    @property
    def relevant_from(self) -> object:
        """The lowest grade that counts as relevant; None if grades count by their value."""
        return (self.measure.parameters["rel"] or 1) if self.measure.takes_rel else None

    @property
    def condensed(self) -> bool:
        """Whether unjudged documents are removed before measuring."""
        return self.measure.parameters.get("holes") == "condensed"

    @property
    def is_not_estimated(self) -> bool:
        """Whether documents of a sample that were not drawn count as not relevant."""
        return is_not_estimated(str(self.measure), self.edition.judgment_set)

    @property
    def is_estimated(self) -> bool:
        """Whether the value is estimated from a stratified sample."""
        return self.measure.name in SAMPLED

    @property
    def aggregate(self) -> str:
        return self.measure.definition.aggregate

    @property
    def command(self) -> str:
        """Our command that computes the number; empty if the topics are secret."""
        words = score_command(self.edition, [str(self.measure)], self._runs)
        return f"{words} -q" if words and self.topic is not None else words

    @property
    def trec_command(self) -> str:
        """The trec_eval command; empty if it would not print the number.

        It lacks the measure, reads the judgments or the run otherwise, or cannot exclude topics.
        """
        name = re.sub(r"_(\d[\d.]*)$", r".\1", self.measure.trec_name)
        judged = self.edition.judgment_set
        in_other_columns = judged.num_strata or judged.num_subtopics
        is_read_otherwise = _reading_options(self.edition.track, self._runs) not in (
            [],
            ["--lenient"],
        )
        if not name or not self.command or in_other_columns or is_read_otherwise:
            return ""
        if _topics_left_out(self.edition):
            return ""
        words = ["trec_eval", "-c", "-M", str(self.edition.settings["depth"])]
        relevance = self.measure.parameters.get("rel")
        if relevance not in (None, 1):
            words += ["-l", str(relevance)]
        by_topic = ["-q"] if self.topic is not None else []
        return shlex.join([*words, *by_topic, "-m", name, *_file_names(judged, self._runs)])

    @property
    def _runs(self) -> list[Run]:
        return [] if self.run is None else [self.run]


def score_command(edition: Edition, measures: Sequence[str], runs: Sequence[Run]) -> str:
    """Return the command for these measures; empty if it would reveal the private topics.

    Without a run its file is called RUN.run.
    """
    if not all(map(is_of_rankings, measures)):
        return _answers_command(edition, ["score"], runs, measures)
    return _command(edition, ["score"], runs, _options(edition, measures))


def _answers_command(
    edition: Edition,
    words: Sequence[str],
    runs: Sequence[Run],
    measures: Sequence[str],
    options: Sequence[str] = (),
) -> str:
    """Return a command that reads answers and the files of the page of nuggets; empty as above.

    It counts all topics of the judgments, so it has no topics that are excluded.
    """
    if edition.is_part or _topics_left_out(edition):
        return ""
    words = ["answers", *words]
    for setting, name in {"assignments": "--assignments", "support": "--support"}.items():
        layer = find_layer(with_marks(edition), setting)
        if layer is not None and layer.nuggets is not None:
            words += ["--nuggets", nuggets_name(edition.track.slug, layer.nuggets.version)]
        if layer is not None:
            words += [name, marks_name(edition.track.slug, layer.version)]
    words += ["--qrels", qrels_name(edition.judgment_set)]
    words += [word for measure in measures for word in ("-m", measure)]
    files = [run.saved_as for run in runs] or ["RUN.jsonl"]
    return _join_words([*words, *options, *files])


def compare_command(board: Board, question: str, other: Run, *first: Run) -> str:
    """Return the command that compares the family of a board with one run; empty as above."""
    edition = board.edition
    rest = [run for run in family_runs(board) if run not in (other, *first)]
    how = ["--family", "all"] if question == AGAINST_ALL else ["--test", edition.track.test]
    how += _group_options(edition)
    runs = [other, *first, *rest]
    if not is_of_rankings(board.measure):
        return _answers_command(edition, ["compare"], runs, [board.measure], how)
    return _command(edition, ["compare"], runs, [*_options(edition, [board.measure]), *how])


def probability_command(board: Board, run: Run, other: Run, region: float) -> str:
    """Return the command for the probability that a run is better than another; empty as above."""
    edition = board.edition
    how = [*_group_options(edition), "--region", str(region)]
    if not is_of_rankings(board.measure):
        return _answers_command(edition, ["compare"], [other, run], [board.measure], how)
    options = [*_options(edition, [board.measure]), *how]
    return _command(edition, ["compare"], [other, run], options)


def family_runs(board: Board) -> list[Run]:
    """Return the runs that the tests of a board count, under the names that the viewer sees."""
    shown = {standing.run.pk: standing.run for standing in board.standings}
    others = [run_id for run_id in board.tests.family.runs if run_id not in shown]
    for run in Run.objects.filter(pk__in=others).select_related("team"):
        shown[run.pk] = board.sight.with_shown_name(run)
    return [shown[run_id] for run_id in board.tests.family.runs]


def pairs_command(board: Board) -> str:
    """Return the command that compares all pairs of the family of a board; empty as above."""
    edition, runs, groups = board.edition, family_runs(board), _group_options(board.edition)
    if not is_of_rankings(board.measure):
        return _answers_command(edition, ["pairs"], runs, [board.measure], groups)
    return _command(edition, ["pairs"], runs, [*_options(edition, [board.measure]), *groups])


def board_command(board: Board, words: Sequence[str], measures: Sequence[str]) -> str:
    """Return a command over all runs of the board; empty as above."""
    if not is_of_rankings(board.measure):
        return ""
    runs = [standing.run for standing in board.ranked]
    ranked = [measure for measure in measures if is_of_rankings(measure)]
    return _command(board.edition, words, runs, _options(board.edition, ranked))


def overlap_command(board: Board, run_id: str, other_id: str) -> str:
    """Return the command for the overlap of two runs, which needs no judgments."""
    runs = [standing_or_404(board, named_id).run for named_id in (other_id, run_id)]
    reading = _reading_options(board.sight.track, runs)
    if reading is None:
        return ""
    cut = ["-p", str(PERSISTENCE), "-M", str(TOP)]
    return _join_words(["overlap", *map(run_name, runs), *cut, *reading])


def curve_command(board: Board, number: str, run_id: str) -> str:
    """Return the command for precision and recall on a topic of one run, or of all; empty as above.

    The threshold of the track decides what is relevant, so no measure is named.
    """
    edition = board.edition
    runs = [standing_or_404(board, run_id).run] if run_id else [s.run for s in board.ranked]
    words = ["--topic", number, "--levels", *_options(edition, [])]
    if not edition.settings["drop_empty_topics"]:
        words += ["-l", str(edition.settings["relevance_threshold"])]
    return _command(edition, ["curve"], runs, words)


def reuse_command(board: Board) -> str:
    """Return the command that leaves out one team at a time; empty as above.

    A run that no option names is a team of its own. A tag with a comma cannot be listed.
    """
    words = ["--pool-depth", str(pool_depth_of(board))]
    threshold = board.edition.settings["relevance_threshold"]
    if not board.edition.settings["drop_empty_topics"]:
        words += ["-l", str(threshold)]
    for team, standings in teams_of(board).items():
        tags = [standing.run.tag for standing in standings]
        if len(tags) > 1 and any("," in tag or not tag for tag in tags):
            return ""
        if len(tags) > 1:
            words.append(f"--team={team.name.replace('=', '-')}={','.join(tags)}")
    command = board_command(board, ["reuse"], [board.measure])
    return f"{command} {shlex.join(words)}" if command else ""


def plan_command(board: Board, asked: PlanRequest) -> str:
    """Return the command that plans from a board, or from a typed variance; empty as above."""
    values = {
        "difference": asked.difference,
        "width": asked.width,
        "runs": asked.runs,
        "alpha": asked.alpha,
        "power": asked.power,
    }
    words = [word for name, value in values.items() for word in (f"--{name}", str(value))]
    if asked.variance is not None:
        words = ["plan", "--variance", str(asked.variance), *words]
        return "" if board.edition.is_part else _join_words(words)
    words += ["--seconds", str(asked.seconds), "--depth", *map(str, DEPTHS)]
    words += _group_options(board.edition)
    if not board.edition.settings["drop_empty_topics"]:
        words += ["-l", str(board.edition.settings["relevance_threshold"])]
    command = board_command(board, ["plan"], [board.measure])
    return f"{command} {shlex.join(words)}" if command else ""


def _command(
    edition: Edition, words: Sequence[str], runs: Sequence[Run], options: Sequence[str]
) -> str:
    """Return a command that reads runs as the site did; empty if it must not or cannot."""
    reading = _reading_options(edition.track, runs)
    if edition.is_part or reading is None:
        return ""
    names = _file_names(edition.judgment_set, runs)
    return _join_words([*words, *names, *options, *reading])


def _file_names(judgment_set: JudgmentSet, runs: Sequence[Run]) -> list[str]:
    """Return the names of the downloaded files; commands also read them compressed."""
    return [qrels_name(judgment_set), *(map(run_name, runs) if runs else ["RUN.run"])]


def _reading_options(track: Track, runs: Sequence[Run]) -> list[str] | None:
    """Return the options by which a command reads runs as the site did; None if there are none."""
    return kind_of(track).reading_options(runs)


def _join_words(words: Sequence[str]) -> str:
    return shlex.join(["python", "-m", "evaluation", *words])


def _options(edition: Edition, measures: Sequence[str]) -> list[str]:
    threshold = edition.settings["relevance_threshold"]
    resolved = [str(parse_measure(measure).resolved(threshold)) for measure in measures]
    words = [word for measure in resolved for word in ("-m", measure)]
    words += ["-M", str(edition.settings["depth"])]
    words += ["--top-grade", str(edition.judgment_set.top_grade)]
    if edition.judgment_set.num_subtopics:
        words.append("--subtopics")
    if edition.judgment_set.num_intents:
        words += ["--intents", intents_name(edition.judgment_set)]
    if edition.convention != "house":
        words += ["--convention", edition.convention]
    return [*words, *_topics_left_out(edition)]


def _topics_left_out(edition: Edition) -> list[str]:
    """Return the options that exclude the topics that the edition excludes."""
    choices, words = edition.settings, []
    if choices["drop_empty_topics"]:
        words += ["-l", str(choices["relevance_threshold"]), "--drop-empty-topics"]
    if choices["excluded_topics"]:
        # The "=" is needed because a topic number may begin with a dash.
        words.append(f"--without-topics={' '.join(choices['excluded_topics'])}")
    return words


def _group_options(edition: Edition) -> list[str]:
    """Return the option by which tests flip whole groups of topics, where there are groups."""
    return ["--groups", GROUPS_NAME] if edition.track.collection.num_groups else []


def qrels_name(judgment_set: JudgmentSet) -> str:
    """Return the name of the downloaded judgments file."""
    return f"qrels.{judgment_set.version}.txt"


def intents_name(judgment_set: JudgmentSet) -> str:
    """Return the name of the downloaded file of probabilities of subtopics."""
    return f"intents.{judgment_set.version}.txt"


def run_name(run: Run) -> str:
    return f"{run.tag or 'RUN'}.run"


def find_origin(sight: Sight, text: str, run_id: str = "", number: str = "") -> Origin:
    """Return how a measure was computed: in general, for a run, or for a run on a topic."""
    edition = sight.shown_edition
    if edition is None or text not in [*sight.measures, *JUDGED]:
        raise Http404("no such number")
    measure = parse_measure(text).resolved(edition.settings["relevance_threshold"])
    if not run_id:
        return Origin(edition, measure, None, None, 0)
    # PostgreSQL rejects NUL, even in a query.
    run = sight.runs().filter(pk=run_id.replace("\0", "")).first()
    if run is None or not sight.can_see_means_of(run):
        raise Http404("no such run")
    if number:
        topic = _topic(sight, number)
        value = find_topic_score(edition, run, text, topic)
        if value is None:
            raise Http404("no such number")
        return Origin(edition, measure, sight.with_shown_name(run), value, 0, topic)
    value, undefined = _mean(edition, run, text)
    if not sight.can_see_scores:
        value, undefined = sight.round_mean(text, value), 0
    return Origin(edition, measure, sight.with_shown_name(run), value, undefined)


def find_topic_score(edition: Edition, run: Run, measure: str, topic: Topic) -> float | None:
    """Return the score of a run on a topic: NaN if undefined, None if not computed."""
    score = _score(edition, run, measure)
    return None if score is None else float(score.values[topic.position])


@dataclass(frozen=True)
class RunComparison:
    """A run compared with another, p adjusted for the family of a question of `num_runs` runs.

    `alone` is the p of these two runs as if nothing else were asked: exact, by sign flips, but by
    maximum t where topics are in groups.
    """

    run: Run
    other: Run
    against: Difference
    question: str
    num_runs: int
    alone: float | None
    command: str


def compare_run_with_baseline(board: Board, run_id: str) -> RunComparison:
    """Compare a run with the baseline, as the board does."""
    if board.baseline is None or run_id == board.baseline.pk:
        raise Http404("no comparison")
    return compare_run_with_run(board, run_id, board.baseline.pk)


def compare_run_with_run(board: Board, run_id: str, other_id: str) -> RunComparison:
    """Compare two runs, with the verdict of the board about them."""
    run, other = standing_or_404(board, run_id).run, standing_or_404(board, other_id).run
    pair = compare_runs(board, other, run)
    # The command compares with the baseline, whichever run the page holds to the other.
    turned = pair.question == AGAINST_BASELINE and board.baseline == run
    first, second = (other, run) if turned else (run, other)
    return RunComparison(
        run=run,
        other=other,
        against=pair.against,
        question=pair.question,
        num_runs=board.num_in_family if pair.question == AGAINST_ALL else board.num_compared,
        alone=_p_alone(board, run, other),
        command=compare_command(board, pair.question, second, first),
    )


def _p_alone(board: Board, run: Run, other: Run) -> float | None:
    if board.num_groups and board.has_enough_topics:
        return compare_pair(board.edition, board.measure, other.pk, run.pk).p
    scale = scale_of(parse_measure(board.measure))
    pair = [run.pk, other.pk]
    scores = scale.tested(tested_scores(board.edition, board.measure, pair))
    difference = scores[0] - scores[1]
    return sign_flip(difference).p if board.has_enough_topics else None


def standing_or_404(board: Board, run_id: str) -> Standing:
    standing = board.standing_with(run_id)
    if standing is None:
        raise Http404("no such run on this board")
    return standing


def _topic(sight: Sight, number: str) -> Topic:
    if not sight.can_see_scores:
        raise Http404("no such topic")
    return topic_or_404(sight, number)


def _score(edition: Edition, run: Run, text: str) -> Score | None:
    sets = {"score_set__edition": edition, "score_set__run": run}
    return Score.objects.filter(**sets, measure=text).first()


def _mean(edition: Edition, run: Run, text: str) -> tuple[float | None, int]:
    """Return the mean and the number of topics on which the measure is undefined."""
    score = _score(edition, run, text)
    if score is not None:
        return score.mean, score.num_undefined
    if text not in JUDGED:
        raise Http404("no such number")
    score_set = ScoreSet.objects.filter(edition=edition, run=run).first()
    if score_set is None:
        raise Http404("no such number")
    measure = parse_measure(text)
    judged = JudgedRun.unpack(bytes(score_set.record), load_judgments(edition.pk))
    return measure.aggregate(measure.scores(judged)), 0
