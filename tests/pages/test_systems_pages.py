"""Systems of a benchmark on their pages: submit, list, change, and compare with main."""

from __future__ import annotations

import pytest

from leaderboard.actions import people
from leaderboard.boards.disclosure import benchmark_sight_of
from leaderboard.boards.systems import find_verdict
from leaderboard.models import Benchmark, Run, System, Track
from leaderboard.scoring.version_verdicts import VersionVerdict
from tests.benchmark_scene import (
    BOTH,
    ROLLS_OTHER,
    ROLLS_RUN,
    make_benchmark,
    send,
    zipped,
)
from tests.builders import OTHER_RUN, RUN, make_run, upload
from tests.pages.reading import words

BENCHMARK = "/benchmarks/baking"
OTHERS = {"bread.run": OTHER_RUN, "rolls.run": ROLLS_OTHER}


def make_scene(ada, ben, cat):
    return make_benchmark(ada, ben, main_branch="main")


@pytest.fixture
def benchmark(scene):
    return scene


def submit(client, files, **fields):
    sent = [upload(name, content) for name, content in files.items()]
    form = {"name": "oven", "kind": "automatic", "files": sent, **fields}
    return client.post(f"{BENCHMARK}/submit/", form)


def test_the_page_says_file_by_file_which_track_it_was_recognised_for(benchmark, as_ben):
    answer = submit(as_ben, {"bread.run": RUN, "mine.txt": ROLLS_RUN})
    assert answer.status_code == 200
    page = words(answer.text)
    assert "bread.runBread track by its name" in page
    assert "mine.txtRolls track by its topics" in page
    assert "No run yet" not in page


def test_missing_tracks_are_named_and_their_files_added_later(benchmark, as_ben):
    page = submit(as_ben, {"bread.run": RUN}, version="v1")
    assert "No run yet on 1 track: Rolls track" in words(page.text)
    system = System.objects.get()
    link = f"{BENCHMARK}/submit/?system={system.pk}&amp;version=v1"
    assert link in page.text
    form = as_ben.get(link.replace("&amp;", "&")).text
    assert 'value="v1"' in form and "selected>oven" in form
    submit(as_ben, {"rolls.run": ROLLS_RUN}, version="v1", system=system.pk, name="")
    assert system.versions.get().runs.count() == 2


def test_a_folder_and_a_zip_are_taken_too(benchmark, as_ben):
    folder = [upload("a.run", RUN), upload("README.md", "x"), upload(".DS_Store", "x")]
    paths = "runs/bread/a.run\nruns/README.md\nruns/.DS_Store"
    page = submit(as_ben, {}, folder=folder, paths=paths)
    assert "runs/bread/a.runBread track by its name" in words(page.text)
    assert "runs/README.md" in page.text and ".DS_Store" not in page.text
    members = {"rolls/b.run": ROLLS_RUN, "bread/b.run": OTHER_RUN}
    page = submit(as_ben, {"all.zip": zipped(members)}, name="other")
    assert "rolls/b.runRolls track by its name" in words(page.text)


def test_a_refused_request_gives_the_reason_of_each_file(benchmark, as_ben):
    Track.objects.update(closes_at="2020-01-01T00:00:00Z")
    answer = submit(as_ben, BOTH)
    assert answer.status_code == 403 and not Run.objects.exists()
    assert words(answer.text).count("Closed: runs were accepted until") == 2


@pytest.mark.parametrize("fields", [{"name": ""}, {"kind": "x"}, {"system": "9"}])
def test_a_form_that_lacks_something_comes_back(benchmark, as_ben, fields):
    assert submit(as_ben, BOTH, **fields).status_code == 422
    assert not Run.objects.exists()


def test_the_list_has_versions_states_and_missing_tracks(benchmark, ben, as_ben, as_cat):
    send(benchmark, ben, {"bread.run": RUN}, version="v1")
    page = words(as_ben.get(f"{BENCHMARK}/systems/").text)
    assert "oven yours" in page and "1 of 2" in page and "rolls" in page
    assert "yours" not in words(as_cat.get(f"{BENCHMARK}/systems/").text)


def test_a_stranger_finds_no_system_without_a_visible_run(benchmark, ben, as_ben, as_cat, as_ada):
    Track.objects.update(disclosure="blind")
    sent = send(benchmark, ben, BOTH)
    address = f"{BENCHMARK}/systems/{sent.version.system_id}/"
    assert as_cat.get(address).status_code == 404
    assert "oven" not in as_cat.get(f"{BENCHMARK}/systems/").text
    page = words(as_ben.get(address).text)
    assert page.count("Valid") == 2 and "Scored" not in page
    assert "Scored" in words(as_ada.get(address).text)


def test_a_team_renames_its_system_and_withdraws_a_version(benchmark, ben, as_ben, as_cat):
    version = send(benchmark, ben, BOTH).version
    address = f"{BENCHMARK}/systems/{version.system_id}"
    assert as_cat.post(f"{address}/change/", {"name": "mine"}).status_code == 403
    as_ben.post(f"{address}/change/", {"name": "stove", "description": "hot"})
    assert "stove" in as_ben.get(f"{address}/").text
    form = {"version": version.pk, "reason": "a slip"}
    assert as_ben.post(f"{address}/withdraw/", form).status_code == 302
    assert words(as_ben.get(f"{address}/").text).count("Withdrawn") == 2


def test_an_earlier_run_is_added_from_the_page(benchmark, ben, as_ben):
    version = send(benchmark, ben, {"rolls.run": ROLLS_RUN}).version
    run = make_run(Track.objects.get(slug="bread"), ben)
    address = f"{BENCHMARK}/systems/{version.system_id}"
    assert "Add an earlier run" in as_ben.get(f"{address}/").text
    as_ben.post(f"{address}/add-run/", {"run": run.pk, "version": version.pk})
    assert version.runs.count() == 2


def test_facts_are_stated_once(benchmark, ben, as_ben):
    version = send(benchmark, ben, BOTH).version
    address = f"{BENCHMARK}/systems/{version.system_id}"
    as_ben.post(f"{address}/facts/", {"kind": "manual", "models": "BM25"})
    assert {run.facts["models"] for run in version.runs.all()} == {"BM25"}
    assert {run.kind for run in version.runs.all()} == {"manual"}
    assert "BM25" in as_ben.get(f"{address}/").text


def verdict_of_cats(benchmark, viewer, version):
    return find_verdict(benchmark_sight_of(benchmark, viewer), version)


def test_a_version_is_compared_with_the_newest_complete_one_of_main(benchmark, ben, cat):
    send(benchmark, ben, OTHERS, commit="aaa", branch="main")
    send(benchmark, ben, {"bread.run": RUN}, commit="bbb", branch="main")
    new = send(benchmark, ben, BOTH, commit="ccc", branch="faster").version
    found = verdict_of_cats(benchmark, cat, new)
    assert (found.other.label, found.branch, found.verdict) == ("aaa", "main", "not significant")
    # AP of the two runs: (1 + 1/2 + 7/12) / 3 and (5/12 + 1 + 1/6) / 3, on both tracks.
    assert found.difference == pytest.approx(25 / 36 - 19 / 36)
    assert [one.difference for one in found.tracks] == pytest.approx([6 / 36] * 2)
    assert found.sentence.startswith("oven ccc does not differ significantly from main (oven aaa)")


def test_a_verdict_counts_only_tracks_whose_scores_the_viewer_sees(benchmark, ben, ada, cat):
    send(benchmark, ben, OTHERS, commit="aaa", branch="main")
    new = send(benchmark, ben, BOTH, commit="bbb").version
    Track.objects.filter(slug="rolls").update(disclosure="blind")
    assert [one.track.slug for one in verdict_of_cats(benchmark, cat, new).tracks] == ["bread"]
    assert len(verdict_of_cats(benchmark, ada, new).tracks) == 2
    Track.objects.filter(slug="bread").update(disclosure="leaderboard", public_topics=["2"])
    assert verdict_of_cats(benchmark, ben, new) is None


def test_what_main_lacks_is_left_to_the_baseline(benchmark, ben, cat):
    people.create_team(benchmark, cat, cat.username)
    base = send(benchmark, cat, OTHERS, name="base").version
    Benchmark.objects.update(baseline=base.system)
    benchmark.refresh_from_db()
    new = send(benchmark, ben, BOTH).version
    found = verdict_of_cats(benchmark, cat, new)
    assert found.branch == "" and "the baseline (base 1)" in found.sentence


def test_the_page_says_how_the_newest_version_compares(benchmark, ben, as_cat):
    send(benchmark, ben, OTHERS, commit="aaa", branch="main")
    new = send(benchmark, ben, BOTH, commit="bbb", branch="main").version
    page = words(as_cat.get(f"{BENCHMARK}/systems/{new.system_id}/").text)
    assert "oven bbb does not differ significantly from main (oven aaa) over 2 tracks" in page


def test_the_history_has_the_complete_versions_of_main(benchmark, ben, as_cat):
    Benchmark.objects.update(commit_url="https://example.org/{commit}")
    send(benchmark, ben, OTHERS, commit="aaa", branch="main")
    send(benchmark, ben, {"bread.run": RUN}, commit="bbb", branch="main")
    send(benchmark, ben, BOTH, commit="ccc", branch="faster")
    page = as_cat.get(f"{BENCHMARK}/history/")
    assert 'href="https://example.org/aaa"' in page.text
    assert "oven bbb" not in page.text and "oven ccc" not in page.text
    table = as_cat.get(f"{BENCHMARK}/history/?format=csv").text.splitlines()
    assert len(table) == 2 and "0.5277777" in table[1]


def test_a_badge_shows_the_best_mean_that_everybody_sees(benchmark, ben, client):
    send(benchmark, ben, BOTH)
    assert "mean AP .694" in client.get(f"{BENCHMARK}/badge.svg").content.decode().replace(
        "0.", "."
    )
    Track.objects.filter(slug="rolls").update(disclosure="blind")
    assert "mean AP" in client.get(f"{BENCHMARK}/badge.svg").content.decode()
    Track.objects.update(disclosure="blind")
    assert client.get(f"{BENCHMARK}/badge.svg").status_code == 404


def test_the_badge_of_a_hidden_benchmark_needs_its_code(benchmark, ben, as_ada, client):
    send(benchmark, ben, BOTH)
    Track.objects.update(visibility="members")
    Benchmark.objects.update(joining="invitation")
    assert client.get(f"{BENCHMARK}/badge.svg").status_code == 404
    as_ada.post(f"{BENCHMARK}/manage/badge/", {"act": "renew"})
    code = Benchmark.objects.get().badge_code
    assert "mean AP" in client.get(f"/benchmark-badges/{code}.svg").content.decode()
    as_ada.post(f"{BENCHMARK}/manage/badge/", {"act": "remove"})
    assert client.get(f"/benchmark-badges/{code}.svg").status_code == 404


def test_a_form_without_files_comes_back(benchmark, as_ben):
    assert submit(as_ben, {}).status_code == 422


def test_a_tiny_p_is_printed_with_one_sign():
    found = VersionVerdict("oven 2", "oven 1", "main", [], 2, 0.1, 0.0001, "better")
    assert "+.1000, p\xa0<\xa0.001" in found.sentence
