"""Where a number comes from: in full, with what entered it and the commands that give it again."""

from __future__ import annotations

import re
import shlex
from html import unescape
from pathlib import Path

import pytest

from leaderboard.actions import tracks
from leaderboard.models import Run, Track
from tests.builders import OTHER_RUN, QRELS, RUN, make_run, make_track, work
from tests.pages.commands import commands, printed_by
from tests.pages.reading import page_at, words

pytestmark = pytest.mark.long


@pytest.fixture
def run(track, ben) -> Run:
    return make_run(track, ben)


def computed(client, run: Run, measure: str = "AP") -> str:
    return page_at(client, f"/benchmarks/{run.track.slug}/computed/?run={run.pk}&measure={measure}")


def test_the_value_in_full(run, client):
    said = words(computed(client, run))
    assert "AP of ben-bm25 on Bread track" in said
    assert ".6944full value 0.6944444444444443" in said


def test_measure_settings_judgments_and_run_are_named(run, client):
    said = words(computed(client, run, "P@5"))
    assert "Share of relevant documents in the first k" in said
    assert "mean over topics" in said
    assert "grade 1 or higher; unjudged documents count as not relevant" in said
    assert "1,000 documents per topic" in said and "scoring version 2" in said
    assert run.sha256 in said and "v1, 8 judgments" in said


def test_a_number_of_one_topic_is_explained_as_such(run, client):
    page = page_at(client, "/benchmarks/bread/topic/?number=3")
    number = re.search(r'href="(/benchmarks/bread/computed/[^"]+)"', page)[1]
    said = words(page_at(client, unescape(number)))
    assert "AP of ben-bm25 on topic 3 of Bread track.5833full value 0.58333" in said
    assert "Topic3 oven temperature" in said and "over topics" not in said


def test_the_parameters_of_a_measure_are_named(run, client):
    said = words(computed(client, run, "nDCG@10"))
    assert "Parametersgain linear, discount log2, base 2, ideal judged" in said


def mean_by(command: str, folder: Path, run: str = RUN) -> float:
    """What our command prints as the mean, to the last bit."""
    (folder / "qrels.v1.txt").write_text(QRELS)
    (folder / "ben-bm25.run").write_text(run)
    return float(printed_by(command, folder, "--digits", "17").split()[-1])


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({}, "--top-grade 3"),
        ({"excluded_topics": ["2"]}, "--without-topics=2"),
        ({"excluded_topics": ["3", "1"]}, "'--without-topics=1 3'"),
        (
            {"drop_empty_topics": True, "relevance_threshold": 2},
            "-l 2 --drop-empty-topics",
        ),
    ],
)
def test_our_command_gives_the_same_number(run, ada, client, tmp_path: Path, choices, said):
    tracks.change_track(run.track, ada, choices)
    work()
    command = commands(computed(client, run, "nDCG@10"))[0]
    edition = Track.objects.get().edition
    score = run.score_sets.get(edition=edition).scores.get(measure="nDCG@10")
    assert said in command and mean_by(command, tmp_path) == score.mean


THREE = "1 d1 1\n1 d2 2\n2 d5 1\n2 d4 2\n3 d6 1\n"
AS_SUBMITTED = {
    "decimal commas": (RUN.replace(".0", ",5"), {"fixes": ("comma",)}, "--fix comma"),
    "no Q0": (RUN.replace(" Q0", ""), {"fixes": ("q0",)}, "--fix q0"),
    "another tag": (RUN.replace("ben", "eve", 1), {"fixes": ("tag",)}, "--fix tag"),
    "topics with zeros": ("00" + RUN[:-1].replace("\n", "\n00"), {"fixes": ("topics",)}, "topics"),
    "ranks alone": (THREE, {"format": "msmarco"}, "--takes msmarco"),
    "repeated documents": (RUN + "2 Q0 d4 3 9.5 ben-bm25\n", {}, "--duplicates keep_best"),
    "unknown documents": (RUN + "2 Q0 x 3 9.5 ben-bm25\n", {}, "--docnos docnos.txt"),
    "an old run": (RUN.replace("9.0", "9.0e0"), {"lenient": True}, "--lenient"),
}


@pytest.mark.parametrize("case", AS_SUBMITTED)
def test_the_command_reads_the_run_as_the_track_did(collection, ada, ben, client, tmp_path, case):
    text, details, said = AS_SUBMITTED[case]
    how = {"run_formats": ["trec", "msmarco"], "duplicates": "keep_best"}
    track = make_track(collection, unknown_documents="drop", **how)
    sender = ada if details.get("lenient") else ben
    run = make_run(track, sender, text, **{"tag": "ben-bm25", **details})
    (tmp_path / "docnos.txt").write_text("".join(f"d{n}\n" for n in range(1, 13)))
    ours, *trec_evals = commands(computed(client, run))
    assert said in ours and bool(trec_evals) == (case == "an old run")
    assert mean_by(ours, tmp_path, text) == run.score_sets.get().scores.get(measure="AP").mean


@pytest.mark.parametrize(
    ("measure", "trec_eval"),
    [("AP", "map"), ("nDCG@10", "ndcg_cut.10"), ("P@5", "P.5")],
)
def test_trec_evals_command(run, client, measure, trec_eval):
    command = f"trec_eval -c -M 1000 -m {trec_eval} qrels.v1.txt ben-bm25.run"
    assert command in commands(computed(client, run, measure))


def test_the_threshold_stands_in_both_commands(run, ada, client):
    tracks.change_track(run.track, ada, {"relevance_threshold": 2})
    work()
    ours, trec_evals = commands(computed(client, run))
    assert "-m 'AP(rel=2)'" in ours and "-l 2 -m map" in trec_evals


def test_trec_eval_does_not_have_every_measure(run, client):
    assert len(commands(computed(client, run, "Judged@10"))) == 1


def test_trec_eval_leaves_no_topic_out(run, ada, client):
    tracks.change_track(run.track, ada, {"excluded_topics": ["2"]})
    work()
    assert len(commands(computed(client, run))) == 1


def test_no_command_tells_which_topics_are_kept_back(collection, ben, client):
    lead = {"disclosure": "leaderboard", "public_topics": ["2"]}
    page = computed(client, make_run(make_track(collection, slug="lead", **lead), ben))
    assert not commands(page) and "are secret until release" in words(page)


def test_where_the_judgments_are_shared_both_commands_say_where_they_are(run, ada, client):
    tracks.choose_baseline(run.track, ada, make_run(run.track, ada, OTHER_RUN))
    difference = f"/benchmarks/bread/computed/difference/?run={run.pk}"
    link = '<a href="/benchmarks/bread/judgments/v1/qrels.txt">judgments</a>'
    assert "Ask the organisers for it" in page_at(client, difference)
    Track.objects.update(shares_judgments=True)
    assert link in computed(client, run) and link in page_at(client, difference)


def test_judged_at_ten_is_explained_too(run, client):
    assert f"full value {run.score_sets.get().judged_at_10!r}" in words(
        computed(client, run, "Judged@10")
    )


def test_a_measure_alone_is_explained_without_a_value(track, client):
    page = page_at(client, "/benchmarks/bread/computed/?measure=AP")
    assert "full value" not in page and "Mean of the precision" in words(page)


def test_an_undefined_value_is_a_dash(run, client):
    run.score_sets.get().scores.filter(measure="AP").update(mean=None, num_undefined=3)
    said = words(computed(client, run))
    assert "–full value –" in said and "undefined on 3" in said


@pytest.mark.parametrize("more", ["?measure=GMAP", "?measure=%00", "?run=nosuch", "?run=%00"])
def test_what_is_no_number_of_this_track(run, client, more):
    assert client.get(f"/benchmarks/bread/computed/{more}").status_code == 404


def test_a_run_of_another_track_is_no_run_of_this_one(run, collection, ben, client):
    other = make_run(make_track(collection, slug="second"), ben, OTHER_RUN)
    assert client.get(f"/benchmarks/bread/computed/?run={other.pk}").status_code == 404


def test_a_blind_track_explains_nothing(blind_track, ben, as_ben):
    run = make_run(blind_track, ben)
    for more in ("", f"?run={run.pk}"):
        assert as_ben.get(f"/benchmarks/blind/computed/{more}").status_code == 404


def test_tags_of_strangers_are_quoted_for_the_shell(run, client):
    Run.objects.filter(pk=run.pk).update(tag="$(touch x)</pre>")
    ours = commands(computed(client, run))[0]
    assert "'$(touch x)</pre>.run'" in ours
    assert shlex.split(ours)[5] == "$(touch x)</pre>.run"


def test_the_drawer_finds_the_part_it_shows(run, client):
    assert '<article class="computed">' in computed(client, run)
    assert Track.objects.get().name in computed(client, run)
