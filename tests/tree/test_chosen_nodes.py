"""Which nodes a proof looks at: never more at a fit than it can afford."""

import numpy as np
import pytest

from pellucid.proofs.sampling import drawing
from pellucid.proofs.tree.trees import affordable_nodes

COST = np.array([900, 0, 40, 50, 0, 60])


@pytest.mark.parametrize("most", [60, 100, 150])
def test_nodes_of_a_fit_cost_no_more_together_than_allowed(most):
    for seed in range(20):
        with drawing(seed):
            chosen = affordable_nodes(COST, 10, most)
        assert COST[chosen.nodes].sum() <= most or len(chosen.nodes) == 1
        assert (COST[chosen.nodes] > 0).all()
        assert not chosen.are_all


def test_where_all_cost_too_much_the_cheapest_is_looked_at():
    np.testing.assert_array_equal(affordable_nodes(COST, 10, 5).nodes, [2])


def test_all_nodes_are_looked_at_where_they_are_cheap_and_nothing_where_there_is_nothing():
    assert affordable_nodes(COST, 10, 2000).are_all
    assert len(affordable_nodes(np.zeros(3, int), 10, 2000).nodes) == 0
