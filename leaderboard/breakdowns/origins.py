"""Where a number comes from: its measure, what entered it, and how to compute it again."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

import numpy as np
from django.http import Http404

from evaluation.measures import Measure, parse_measure
from evaluation.measures.declaring import value_text
from leaderboard.disclosure import Sight
from leaderboard.models import Edition, Run, Score, ScoreSet, Topic
from leaderboard.scoring import JUDGED_AT_10


@dataclass(frozen=True)
class Origin:
    """A measure on an edition, of a run and perhaps on one topic alone.

    `run` and `value` are None where no run is asked for.
    """

    edition: Edition
    measure: Measure
    run: Run | None
    value: float | None
    num_undefined: int
    topic: Topic | None = None

    @property
    def parameters(self) -> list[str]:
        """What the measure was set to, beside what counts as relevant and the cutoff."""
        told = {"rel", "holes", getattr(self.measure.definition.at, "name", "")}
        return [
            f"{name} {value_text(value)}"
            for name, value in self.measure.parameters.items()
            if name not in told and value not in (None, ())
        ]

    @property
    def relevant_from(self) -> object:
        """The lowest grade that counts as relevant; None where grades count by their value."""
        return (self.measure.parameters["rel"] or 1) if self.measure.takes_rel else None

    @property
    def condensed(self) -> bool:
        """Whether unjudged documents are taken out before measuring."""
        return self.measure.parameters.get("holes") == "condensed"

    @property
    def aggregate(self) -> str:
        return self.measure.definition.aggregate

    @property
    def command(self) -> str:
        """Ours; "" where topics are left out."""
        words = command_of(self.edition, [str(self.measure)], self._files)
        return f"{words} -q" if words and self.topic is not None else words

    @property
    def trec_command(self) -> str:
        """trec_eval's; "" where it does not have the measure, or where ours is ""."""
        name = re.sub(r"_(\d[\d.]*)$", r".\1", self.measure.trec_name)
        if not name or not self.command:
            return ""
        words = ["trec_eval", "-c", "-M", str(self.edition.settings["depth"])]
        relevance = self.measure.parameters.get("rel")
        if relevance not in (None, 1):
            words += ["-l", str(relevance)]
        by_topic = ["-q"] if self.topic is not None else []
        return shlex.join([*words, *by_topic, "-m", name, *self._files])

    @property
    def _files(self) -> list[str]:
        """As the files are called here; both commands read them unpacked or packed by us."""
        run = self.run.tag if self.run is not None and self.run.tag else "RUN"
        return [f"qrels.{self.edition.judgment_set.version}.txt", f"{run}.run"]


def command_of(edition: Edition, measures: list[str], files: list[str]) -> str:
    """What computes these measures again; "" where the edition leaves topics out.

    The command line averages over all judged topics.
    """
    choices = edition.settings
    if choices["drop_empty_topics"] or choices["excluded_topics"]:
        return ""
    words = ["python", "-m", "evaluation", "score", *files]
    for measure in measures:
        words += ["-m", measure]
    words += ["-M", str(choices["depth"]), "--top-grade", str(edition.judgment_set.top_grade)]
    if edition.convention != "house":
        words += ["--convention", edition.convention]
    return shlex.join(words)


def origin_of(sight: Sight, text: str, run_id: str = "", number: str = "") -> Origin:
    """How a measure of the track was computed: in general, of a run, of a run on a topic."""
    edition = sight.board_edition
    if edition is None or text not in [*sight.track.measures, str(JUDGED_AT_10)]:
        raise Http404("no such number")
    measure = parse_measure(text).resolved(edition.settings["relevance_threshold"])
    if not run_id:
        return Origin(edition, measure, None, None, 0)
    # PostgreSQL takes no NUL, not even to look for it.
    run = sight.runs().filter(pk=run_id.replace("\0", "")).first()
    if run is None or not sight.means_of(run):
        raise Http404("no such run")
    if number:
        topic = _topic(sight, number)
        value = _value_on(edition, run, text, topic)
        return Origin(edition, measure, sight.named(run), value, 0, topic)
    value, undefined = _value(edition, run, text)
    if not sight.everything:
        value, undefined = sight.rounded(text, value), 0
    return Origin(edition, measure, sight.named(run), value, undefined)


def _topic(sight: Sight, number: str) -> Topic:
    topics = sight.track.collection.topics.filter(number=number.replace("\0", ""))
    topic = topics.first() if sight.everything else None
    if topic is None:
        raise Http404("no such topic")
    return topic


def _value_on(edition: Edition, run: Run, text: str, topic: Topic) -> float:
    scores = Score.objects.filter(score_set__edition=edition, score_set__run=run, measure=text)
    by_topic = scores.values_list("by_topic", flat=True).first()
    if by_topic is None:
        raise Http404("no such number")
    return float(np.frombuffer(by_topic, dtype="<f8")[topic.position])


def _value(edition: Edition, run: Run, text: str) -> tuple[float | None, int]:
    score = Score.objects.filter(
        score_set__edition=edition, score_set__run=run, measure=text
    ).first()
    if score is not None:
        return score.mean, score.num_undefined
    sets = ScoreSet.objects.filter(edition=edition, run=run)
    return sets.values_list("judged_at_10", flat=True).first(), 0
