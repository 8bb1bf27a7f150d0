"""A run that hardly differs from an earlier one is told by its rankings."""

from evaluation.reading.runs.likeness import NEARLY, likeness


def test_a_swap_deep_in_the_ranking_is_hardly_another_run_and_one_at_the_top_is():
    order = list(range(200))
    deep, top = [*order[:60], 61, 60, *order[62:]], [1, 0, *order[2:]]
    assert likeness({1: order}, {1: order}) == 1
    assert NEARLY < likeness({1: order}, {1: deep}, NEARLY) < 1
    assert likeness({1: order}, {1: top}, NEARLY) is None


def test_runs_on_different_topics_have_nothing_in_common():
    assert likeness({1: [1, 2]}, {2: [1, 2]}) == 0
