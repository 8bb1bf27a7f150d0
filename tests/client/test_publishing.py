"""A run in the formats in which models are published."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest
import yaml

from leaderboard.models import ApiToken
from rankfield.__main__ import main
from rankfield.answers import PreviousBest, Run, Track
from rankfield.errors import SiteError
from rankfield.publishing import WRITERS, Publication
from tests.builders import make_run
from tests.client.conftest import URL

RUN = Run(
    "a7",
    "scored",
    True,
    "/api/v1/runs/a7",
    tag="bm25",
    scores={"nDCG@10": 0.6944, "NumRet": 30.0, "AP": None},
    facts={"models": "bakery/words"},
    provenance={"sha256": "ab" * 32, "judgments": "v2", "command": "rankfield score q r"},
)
TRACK = Track(
    *("bread", "Bread", "loaves", "open", "open", ["nDCG@10"], "nDCG@10"),
    *(1000, ["trec"], "warn", "refuse"),
)
PAGE = "https://board.example/runs/a7/"
FOUND = Publication(
    *(RUN, TRACK, PAGE, "nDCG@10", "bakery/loaves", "default", ""),
    published=datetime(2026, 11, 28, tzinfo=UTC),
)


def test_an_entry_of_eval_results_is_what_the_hub_documents():
    [entry] = yaml.safe_load(WRITERS["eval-results"](FOUND))
    assert entry == {
        "dataset": {"id": "bakery/loaves", "task_id": "default"},
        "value": 0.6944,
        "source": {"url": PAGE, "name": "Rankfield"},
        "notes": "nDCG@10; loaves, judgments v2",
    }


@pytest.mark.night
def test_the_library_of_the_hub_keeps_a_card_as_it_is():
    hub = pytest.importorskip("huggingface_hub")
    card = hub.ModelCard("---\nlicense: mit\n---\n" + WRITERS["card"](FOUND))
    assert (card.data.license, card.text) == ("mit", WRITERS["card"](FOUND))


@pytest.mark.night
def test_the_library_of_the_hub_reads_the_entry():
    hub = pytest.importorskip("huggingface_hub")
    [read] = hub.parse_eval_result_entries(yaml.safe_load(WRITERS["eval-results"](FOUND)))
    assert (read.dataset_id, read.value, read.source_url) == ("bakery/loaves", 0.6944, PAGE)


def test_without_a_data_set_there_is_no_entry():
    with pytest.raises(SiteError, match="--dataset ORGANISATION/NAME"):
        WRITERS["eval-results"](replace(FOUND, dataset=""))


def test_a_card_has_scores_and_what_proves_them():
    card = WRITERS["card"](FOUND)
    assert card.startswith(f"[bm25]({PAGE}) on loaves, judgments v2\n")
    assert "| nDCG@10 | 0.6944 |\n" in card
    assert f"`{'ab' * 32}`" in card and "rankfield score q r" in card


def test_a_card_says_how_the_run_compares():
    pair = ("nDCG@10", 0.1, 0.02, 0.18, 0.01, 0.02, "topic", "baseline", "max_t", 0.5, 7, 2, 1)
    compared = replace(RUN, verdict=PreviousBest(*pair, "better", "a1", "old_run"))
    card = WRITERS["card"](replace(FOUND, run=compared))
    assert "nDCG@10 +0.1000, 95 % interval +0.0200 to +0.1800 beside old\\_run: better.\n" in card


def test_a_record_of_every_eval_ever_has_a_result_per_measure():
    record = json.loads(WRITERS["every-eval-ever"](FOUND))
    [ndcg, retrieved] = record["evaluation_results"]
    assert ndcg["score_details"] == {"score": 0.6944}
    assert (ndcg["metric_config"]["min_score"], ndcg["metric_config"]["max_score"]) == (0, 1)
    # It has no highest value.
    assert "score_type" not in retrieved["metric_config"]
    assert record["source_metadata"]["additional_details"]["judgments"] == "v2"


@pytest.mark.night
@pytest.mark.parametrize("dataset", ["", "bakery/loaves"])
def test_every_eval_ever_itself_accepts_the_record(dataset, tmp_path):
    validator = pytest.importorskip("every_eval_ever.validator.validation_core")
    place = f"data/bread/bakery/words/{uuid4()}.json"
    file = tmp_path / place.rpartition("/")[2]
    file.write_text(WRITERS["every-eval-ever"](replace(FOUND, dataset=dataset)))
    report = validator.validate_file(file, repo_path=place, run_semantic_checks=True)
    assert (report.errors, report.warnings) == ([], [])


def test_a_badge_stays_as_it_is_and_leads_to_the_proof():
    assert "recomputed by Rankfield, as of 2026-11-28" in WRITERS["badge"](FOUND)
    assert WRITERS["badge-link"](FOUND).endswith(f"](rankfield.svg)]({PAGE})\n")


@pytest.mark.parametrize("form", ["eval-results", "badge"])
def test_a_measure_without_a_score_is_named(form):
    with pytest.raises(SiteError, match=r"bm25 has no AP; its scores: nDCG@10, NumRet, AP"):
        WRITERS[form](replace(FOUND, measure="AP"))


def test_the_command_asks_the_site(network, track, ben, monkeypatch, tmp_path, capsys):
    _, token = ApiToken.objects.issue(ben, ["read"])
    monkeypatch.setenv("RANKFIELD_URL", URL)
    monkeypatch.setenv("RANKFIELD_TOKEN", token)
    run = make_run(track, ben)
    assert main(["publish", "bread", run.pk]) == 0
    printed = capsys.readouterr().out
    assert f"({URL}/runs/{run.pk}/)" in printed and run.sha256 in printed
    assert main(["publish", "bread", run.pk, "--as", "badge", "-o", str(tmp_path / "b.svg")]) == 0
    assert (tmp_path / "b.svg").read_text().startswith("<svg")


def test_the_command_says_what_it_published_as_json(
    network, track, ben, monkeypatch, tmp_path, capsys
):
    _, token = ApiToken.objects.issue(ben, ["read"])
    monkeypatch.setenv("RANKFIELD_URL", URL)
    monkeypatch.setenv("RANKFIELD_TOKEN", token)
    run, badge = make_run(track, ben), str(tmp_path / "b.svg")
    assert main(["publish", "bread", run.pk, "--as", "badge-link", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["tag"], said["proof"]["sha256"]) == (run.tag, run.sha256)
    assert said["text"].endswith(f"]({said['page']})\n")
    main(["publish", "bread", run.pk, "--as", "badge", "-o", badge, "--json"])
    assert json.loads(capsys.readouterr().out)["file"] == badge
