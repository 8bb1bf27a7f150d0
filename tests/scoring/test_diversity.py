"""Boards on judgments with strata or subtopics: scored as the commands score."""

from __future__ import annotations

import json

import pytest

from evaluation.__main__ import main
from evaluation.judging import judge, prepare
from evaluation.pooling.reusability import without_judgments
from leaderboard.actions import tracks, uploads
from leaderboard.actions.refusals import ActionError
from leaderboard.analysis.rescoring import load_rescoring
from leaderboard.boards.disclosure import hides_judgments
from leaderboard.models import Score, ScoreSet, Track
from leaderboard.scoring.editions import find_trial_judgments
from tests.builders import (
    INTENTS,
    OTHER_RUN,
    QRELS,
    RUN,
    STRATA,
    SUBTOPICS,
    make_collection,
    make_run,
    make_track,
    upload,
    work,
)
from tests.conftest import forget

DIVERSE = [
    *("alpha-nDCG@5", "alpha-nDCG(alpha=0.9)@2", "ERR-IA@5", "nERR-IA@5", "P-IA@5", "AP-IA"),
    *("strec@2", "D-nDCG@5", "D#-nDCG@5", "AP", "nDCG@5"),
]
SAMPLED = ["xinfAP", "xinfAP(rel=2)", "infNDCG", "AP"]


def diverse_track(ada, intents: str | None = INTENTS, **fields) -> Track:
    collection = make_collection(ada, qrels=SUBTOPICS, intents=intents)
    fields.setdefault("measures", DIVERSE)
    return make_track(collection, primary_measure=fields["measures"][0], **fields)


def sampled_track(ada, **fields) -> Track:
    collection = make_collection(ada, qrels=STRATA)
    return make_track(collection, measures=SAMPLED, primary_measure="xinfAP", **fields)


def printed(folder, capsys, qrels: str, run: str, measures: list[str], *more: str):
    """The values of a run by measure, on each topic and on the whole, as the command prints."""
    for name, text in (("qrels", qrels), ("intents", INTENTS), ("run", run)):
        (folder / name).write_text(text)
    asked = [word for measure in measures for word in ("-m", measure)]
    files = [str(folder / name) for name in ("qrels", "run")]
    options = [
        *more,
        "--top-grade",
        str(max(int(line.split()[-1]) for line in qrels.split("\n")[:-1])),
    ]
    assert (
        main(["score", *files, "-q", *asked, *options, "--format", "json", "--digits", "17"]) == 0
    )
    scores = json.loads(capsys.readouterr().out)["runs"][0]["scores"]
    return {name: [*found["topics"].values(), found["all"]] for name, found in scores.items()}


def stored(run) -> dict[str, list[float]]:
    scores = Score.objects.filter(score_set__run=run).order_by("pk")
    return {score.measure: [*score.values.tolist(), score.mean] for score in scores}


@pytest.mark.parametrize("text", [RUN, OTHER_RUN])
def test_a_job_scores_subtopics_as_the_command_does(ada, ben, tmp_path, capsys, text):
    run = make_run(diverse_track(ada), ben, text)
    with_intents = ("--intents", str(tmp_path / "intents"))
    assert stored(run) == printed(tmp_path, capsys, SUBTOPICS, text, DIVERSE, *with_intents)


def test_subtopics_without_probabilities_count_alike(ada, ben, tmp_path, capsys):
    run = make_run(diverse_track(ada, intents=None), ben, OTHER_RUN)
    assert stored(run) == printed(tmp_path, capsys, SUBTOPICS, OTHER_RUN, DIVERSE)


@pytest.mark.parametrize("text", [RUN, OTHER_RUN])
def test_a_job_estimates_from_a_sample_as_the_command_does(ada, ben, tmp_path, capsys, text):
    run = make_run(sampled_track(ada), ben, text)
    assert stored(run) == printed(tmp_path, capsys, STRATA, text, SAMPLED)


def test_a_measure_added_later_is_computed_from_the_stored_record(ada, ben, tmp_path, capsys):
    track = diverse_track(ada, measures=["AP"])
    run = make_run(track, ben, OTHER_RUN)
    tracks.change_track(Track.objects.get(), ada, {"measures": DIVERSE})
    forget()
    work()
    with_intents = ("--intents", str(tmp_path / "intents"))
    known = printed(tmp_path, capsys, SUBTOPICS, OTHER_RUN, DIVERSE, *with_intents)
    assert dict(sorted(stored(run).items())) == dict(sorted(known.items()))


def test_scoring_again_changes_no_score(ada, ben, caplog):
    track = diverse_track(ada)
    run = make_run(track, ben, OTHER_RUN)
    before = stored(run)
    tracks.rescore_track(Track.objects.get(), ada)
    forget()
    work()
    assert stored(run) == before and "had other scores" not in caplog.text


@pytest.mark.parametrize("of", ["diverse", "sampled"])
def test_a_board_read_again_with_all_judgments_has_the_same_means(ada, ben, of):
    track = diverse_track(ada) if of == "diverse" else sampled_track(ada)
    run = make_run(track, ben, OTHER_RUN)
    for score in Score.objects.filter(score_set__run=run):
        read = load_rescoring(score.score_set.edition_id, score.measure, [run.pk])
        assert read.means(read.qrels, [0])[0] == pytest.approx(score.mean, abs=1e-15)


@pytest.mark.parametrize("of", ["diverse", "sampled"])
def test_a_board_read_again_with_fewer_judgments_scores_as_these_alone_would(ada, ben, of):
    track = diverse_track(ada) if of == "diverse" else sampled_track(ada)
    run = make_run(track, ben, OTHER_RUN)
    read = load_rescoring(track.edition_id, track.primary_measure, [run.pk])
    fewer = without_judgments(read.qrels, {b"1": {b"d1"}, b"3": {b"d6"}})
    judged = judge(read.runs[0], prepare(fewer, read.judgments.topics, 3))
    expected = read.measure.aggregate(read.measure.scores(judged))
    assert read.means(fewer, [0])[0] == expected != read.means(read.qrels, [0])[0]


NEEDS = [
    ("alpha-nDCG@10", "alpha-nDCG needs judgments of subtopics, and v1 has none"),
    ("xinfAP", "xinfAP needs a stratified sample, and v1 is none"),
]


@pytest.mark.parametrize(("measure", "reason"), NEEDS)
def test_a_measure_that_the_judgments_cannot_give_is_refused(ada, track, measure, reason):
    with pytest.raises(ActionError, match=reason):
        tracks.change_track(track, ada, {"measures": ["AP", measure]})
    assert Track.objects.get().measures == ["AP", "nDCG@10", "P@5"]


def test_judgments_that_cannot_give_a_measure_of_the_track_are_refused(ada, ben):
    track = diverse_track(ada)
    second = second_version(track, ada, QRELS)
    for act in (
        lambda: tracks.change_track(Track.objects.get(), ada, {"judgment_set": second}),
        lambda: tracks.try_judgments(Track.objects.get(), ada, second),
    ):
        with pytest.raises(ActionError, match="needs judgments of subtopics, and v2 has none"):
            act()
    assert find_trial_judgments(Track.objects.get()) is None


def second_version(track, ada, text: str):
    made = uploads.accept_judgments(
        track.collection, upload("v2", text), "v2", ada, asks_first=False
    )
    work()
    made.refresh_from_db()
    return made


def test_a_measure_is_undefined_on_earlier_judgments_that_cannot_give_it(ada, ben, track):
    run = make_run(track, ben)
    second = second_version(track, ada, SUBTOPICS)
    change = {"measures": ["alpha-nDCG@5", "AP"], "primary_measure": "AP", "judgment_set": second}
    tracks.change_track(Track.objects.get(), ada, change)
    make_run(Track.objects.get(), ada, OTHER_RUN)
    means = ScoreSet.objects.filter(run=run).values_list(
        "edition__judgment_set__version", "scores__mean"
    )
    diverse = means.filter(scores__measure="alpha-nDCG@5")
    assert all(mean is not None for version, mean in diverse if version == "v2")
    late = Score.objects.filter(score_set__edition__judgment_set__version="v1")
    assert not late.filter(measure="alpha-nDCG@5", mean__isnull=False).exists()


def test_rounded_means_of_diversity_may_be_shown():
    assert hides_judgments("alpha-nDCG@10") and not hides_judgments("infNDCG")
