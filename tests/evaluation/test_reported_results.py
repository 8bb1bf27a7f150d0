"""Results that others report: which are read, and which part of their table is complete."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest

from evaluation.complete_cells import RULES, count_points, find_complete_part
from evaluation.problems import Refused
from evaluation.reading.results import ReportedSystem, files_of_results, read_results
from tests.builders import render_result


def test_a_score_is_the_mean_over_splits_and_subsets():
    found = read_results([("results/lab__one/r1/a.json", render_result("a", 0.25, 0.75))])
    assert found.systems == [ReportedSystem("lab/one", "r1")]
    assert (found.collections, found.scores.tolist()) == (["a"], [[0.5]])


def test_cells_that_nobody_reports_are_missing():
    found = read_results(
        [("one/r1/a.json", render_result("a", 0.5)), ("two/r1/b.json", render_result("b", 0))]
    )
    assert np.isnan(found.scores).tolist() == [[False, True], [True, False]]
    assert (found.num_cells, found.scores[1, 1]) == (2, 0)


UNREAD = {
    "no JSON": ("one/r1/b.json", b"{", "W_RESULT"),
    "not finite": ("one/r1/b.json", render_result("b", float("nan")), "W_RESULT"),
    "no number": (
        "one/r1/b.json",
        json.dumps({"task_name": "b", "scores": {"test": [{"main_score": None}]}}).encode(),
        "W_RESULT",
    ),
    "empty": ("one/r1/b.json", render_result("b"), "W_RESULT"),
    "unprintable": ("one/r1/b.json", render_result("b\0", 0.5), "W_RESULT"),
    "twice": ("one/r1/c.json", render_result("a", 0.5), "W_RESULT_TWICE"),
    "without a revision": ("one/b.json", render_result("b", 0.5), "W_RESULT_PATH"),
}


@pytest.mark.parametrize("kind", UNREAD)
def test_a_file_that_is_no_result_is_left_out_with_a_warning(kind):
    path, content, code = UNREAD[kind]
    found = read_results([("one/r1/a.json", render_result("a", 0.25)), (path, content)])
    assert (found.num_cells, found.scores.tolist()) == (1, [[0.25]])
    assert dict(found.problems.counts) == {code: 1}


def test_files_without_any_result_are_refused():
    with pytest.raises(Refused, match="E_FORMAT"):
        read_results([("one/r1/model_meta.json", b"{}"), ("one/r1/a.json", b"[]")])


def test_revisions_of_the_data_are_told():
    stated = [("one", "v1"), ("two", "v2")]
    found = read_results(
        (f"{name}/r1/a.json", render_result("a", 0.5, dataset_revision=revision))
        for name, revision in stated
    )
    assert found.revised == ["a"]


def test_a_folder_and_its_archive_have_the_same_results(tmp_path):
    folder = tmp_path / "results" / "lab__one" / "r1"
    folder.mkdir(parents=True)
    (folder / "a.json").write_bytes(render_result("a", 0.5))
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.write(folder / "a.json", "results/lab__one/r1/a.json")
    of_folder, of_archive = (list(files_of_results(tmp_path / n)) for n in ("results", "all.zip"))
    assert read_results(of_folder).scores == read_results(of_archive).scores == [[0.5]]


def test_another_file_is_no_archive(tmp_path):
    (tmp_path / "results.zip").write_bytes(b"PK\3\4 and nothing else")
    with pytest.raises(Refused, match="E_CONTAINER"):
        list(files_of_results(tmp_path / "results.zip"))


@pytest.mark.parametrize("rule", RULES)
def test_a_complete_part_lacks_no_cell(rule):
    random = np.random.default_rng(3)
    for _ in range(50):
        known = random.random(random.integers(1, 12, 2)) < 0.7
        part = find_complete_part(known, rule)
        assert known[np.ix_(part.systems, part.collections)].all()


def greedy_by_hand(known):
    """The most cells of the parts that the same order of collections gives, step by step."""
    rows, left, taken, most = list(range(len(known))), list(range(known.shape[1])), 0, 0
    while left:
        has = {column: [row for row in rows if known[row][column]] for column in left}
        column = max(left, key=lambda each: len(has[each]))
        if len(has[column]) < 2:
            break
        rows, taken = has[column], taken + 1
        left.remove(column)
        most = max(most, len(rows) * taken)
    return most


def test_the_largest_part_is_that_of_the_steps_by_hand():
    random = np.random.default_rng(5)
    for _ in range(100):
        known = random.random(random.integers(2, 15, 2)) < random.uniform(0.3, 0.95)
        assert find_complete_part(known, "largest").num_cells == greedy_by_hand(known)


def test_points_are_those_of_all_pairs():
    values = np.random.default_rng(1).integers(0, 4, (7, 5)) / 4
    apart = values[:, np.newaxis] - values[np.newaxis]
    pairs = (apart > 0).sum(axis=(1, 2)) + (apart == 0).sum(axis=(1, 2)) / 2 - 5 / 2
    assert count_points(values).tolist() == pairs.tolist()


@pytest.mark.parametrize("stated", [None, [1], float("nan")])
def test_a_score_that_is_no_number_is_told_in_words(stated):
    rows = {"test": [{"hf_subset": "default", "main_score": stated}]}
    broken = json.dumps({"task_name": "T1", "scores": rows}).encode()
    whole = broken.replace(json.dumps(stated).encode(), b"0.5", 1)
    found = read_results([("a/r1/T1.json", broken), ("a/r2/T1.json", whole)])
    (warning,) = found.problems
    assert "Error" not in warning.message and "main_score" in warning.hint
