"""The lead of one system over another: collection by collection, and without each of them."""

import numpy as np
import pytest
from pytest import approx

from evaluation.measures import parse_measure
from evaluation.significance import (
    Collected,
    compare_all_pairs,
    compare_over_collections,
    compare_with_baseline,
    compute_lead,
    compute_leads,
    holm,
    scale_of,
)


def collections_with(gains: list[float], topics: int = 20, seed: int = 1) -> list[Collected]:
    """The second system is ahead of the first by these gains; a third has nothing to do with it."""
    draw, found = np.random.default_rng(seed), []
    for number, gain in enumerate(gains):
        scores = draw.normal(0.5, 0.1, (3, topics))
        noise = draw.normal(0, 0.02, topics)
        scores[1] = scores[0] + gain + noise - noise.mean()
        found.append(Collected(scores, [(number, topic) for topic in range(topics)]))
    return found


def test_a_lead_counts_the_collections_ahead_behind_and_equal():
    collections = collections_with([0.1, 0.001, -0.002])
    alike = Collected(np.ones((3, 8)), [("alike", topic) for topic in range(8)])
    lead = compute_lead([*collections, alike], 1, 0)
    assert (lead.ahead, lead.behind, lead.equal) == (2, 1, 1)
    assert (lead.significantly_ahead, lead.significantly_behind) == (1, 0)
    assert lead.differences == approx((0.1, 0.001, -0.002, 0))


def test_the_lead_of_the_other_system_is_its_mirror():
    collections = collections_with([0.1, 0.1, -0.1])
    one, other = compute_leads(collections, [(1, 0), (0, 1)], [0.5, 0.5])
    assert (one.ahead, one.behind) == (other.behind, other.ahead) == (2, 1)
    assert (one.significantly_ahead, one.significantly_behind) == (2, 1)
    assert other.significantly_behind == 2 and one.p_alone == other.p_alone
    assert one.without == approx([-rest for rest in other.without])


def test_the_difference_is_that_of_the_benchmark():
    collections = collections_with([0.1, 0.2, -0.1])
    found = compare_over_collections(collections)[1]
    lead = compute_lead(collections, 1, 0, found.p_adjusted)
    assert (lead.difference, lead.p_adjusted) == (approx(found.difference), found.p_adjusted)


def test_the_p_of_a_collection_is_that_of_its_own_board_by_holm():
    collections = collections_with([0.003, 0.006, 0.01])
    boards = [compare_with_baseline(each.scores[:2], 0)[1].p for each in collections]
    assert compute_lead(collections, 1, 0).p_alone == tuple(holm(np.array(boards)))


def test_the_order_of_a_file_changes_no_p_of_a_lead():
    [each] = collections_with([0.004])
    turned = Collected(each.scores[:, ::-1], each.topics[::-1])
    assert compute_lead([turned], 1, 0).p_alone == compute_lead([each], 1, 0).p_alone


def test_a_pair_chosen_by_its_scores_has_the_p_of_all_pairs():
    collections = collections_with([0.01, 0.02, 0.03])
    boards = [compare_all_pairs(each.scores).p[1, 0] for each in collections]
    lead = compute_leads(collections, [(1, 0)], [None], family="all")[0]
    assert lead.p_alone == tuple(holm(np.array(boards)))


def test_pairs_that_are_asked_together_are_adjusted_together():
    collections = collections_with([0.01, 0.02, 0.03])
    boards = [compare_with_baseline(each.scores, 0)[1].p_adjusted for each in collections]
    lead = compute_leads(collections, [(1, 0), (2, 0)], [None, None], family="asked")[0]
    assert lead.p_alone == tuple(holm(np.array(boards)))


def test_a_collection_of_five_topics_is_counted_but_not_tested():
    small = collections_with([0.5], topics=5, seed=2)[0]
    moved = Collected(small.scores, [("small", topic) for topic in range(5)])
    lead = compute_lead([*collections_with([0.1]), moved], 1, 0)
    assert (lead.ahead, lead.significantly_ahead, lead.p_alone[1]) == (2, 1, None)


@pytest.mark.parametrize(
    ("gains", "relies_on", "is_turned"),
    [
        ([0.01, 0.3, -0.05], 1, True),
        ([-0.01, -0.3, 0.05], 1, True),
        ([0.1, 0.3, 0.2], 1, False),
        ([0.1, 0.1, 0.1], None, False),
        ([0.1, -0.1], None, False),
        ([0.1], None, False),
    ],
)
def test_a_lead_names_the_collection_that_it_relies_on(gains, relies_on, is_turned):
    lead = compute_lead(collections_with(gains), 1, 0)
    assert (lead.relies_on, lead.is_turned) == (relies_on, is_turned)


def test_without_a_collection_the_others_have_their_mean():
    lead = compute_lead(collections_with([0.1, 0.2, 0.6]), 1, 0)
    assert lead.without == approx((0.4, 0.35, 0.15))


def test_lower_scores_are_ahead_where_the_measure_says_so():
    lead = compute_lead(collections_with([0.1, 0.2]), 1, 0, direction=-1)
    assert (lead.ahead, lead.significantly_behind) == (0, 2)


def test_geometric_means_lead_by_a_ratio():
    collections = [
        Collected(np.exp(each.scores), each.topics) for each in collections_with([0.1, 0.3])
    ]
    lead = compute_lead(collections, 1, 0, scale=scale_of(parse_measure("GMAP")))
    assert lead.unit == "ratio"
    assert (lead.difference, lead.without) == (approx(np.exp(0.2)), approx(np.exp([0.3, 0.1])))


def test_there_is_no_lead_on_a_collection_without_topics():
    empty = Collected(np.full((3, 2), np.nan), [("empty", 0), ("empty", 1)])
    with pytest.raises(ValueError, match="no topic with a score of every system"):
        compute_lead([*collections_with([0.1]), empty], 1, 0)
