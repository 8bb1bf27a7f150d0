"""A run that hardly differs from an earlier one is told by its rankings."""

from io import BytesIO

from evaluation.reading.likeness import NEARLY, nearly_equal
from evaluation.reading.runs import Run, read_run


def run(order: list[int], topic: int = 1) -> Run:
    lines = [f"{topic} Q0 D{place} {rank} {-rank} t\n" for rank, place in enumerate(order)]
    return read_run(BytesIO("".join(lines).encode()))


def test_a_swap_deep_in_the_ranking_is_nearly_equal_and_one_at_the_top_is_not():
    order = list(range(200))
    deep, top = [*order[:60], 61, 60, *order[62:]], [1, 0, *order[2:]]
    assert nearly_equal(run(order), run(order)) > 1 - 1e-12
    assert NEARLY < nearly_equal(run(order), run(deep)) < 1
    assert nearly_equal(run(order), run(top)) < NEARLY


def test_runs_on_different_topics_have_nothing_in_common():
    assert nearly_equal(run([1, 2]), run([1, 2], topic=2)) == 0
