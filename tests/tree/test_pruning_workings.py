"""Reduced-error pruning by hand: every decision with its rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from pellucid.tree.pruning.pruning_workings import reduced_error_workings

X = np.arange(1.0, 7.0)[:, None]
TREE = DecisionTreeClassifier(random_state=0).fit(X, [0, 0, 0, 1, 1, 0])
# node 0 asks x <= 3.5 (node 1: 0), node 2 asks x <= 5.5 (node 3: 1, node 4: 0)


def test_each_branch_is_compared_with_its_leaf():
    # node 2: row 4.2 is wrong in its branch; as a leaf it says 1, wrong for 4.2 and 6: kept
    # node 0: as a leaf it says 0, wrong for row 5 only: no worse than the branch, so it is cut
    work = reduced_error_workings(None, TREE, ([[1.0], [2.0], [4.2], [5.0], [6.0]], [0, 0, 0, 1, 0]))
    assert work.answer == {"cut": [0], "errors": 1, "n_leaves": 1}
    # with one more row of class 1 the leaf would make two errors: nothing is cut
    more = reduced_error_workings(None, TREE, ([[1.0], [2.0], [4.2], [5.0], [6.0], [4.5]], [0, 0, 0, 1, 0, 1]))
    assert more.answer == {"cut": [], "errors": 1, "n_leaves": 3}
    for printed in (work.html(), work.latex(), work.markdown()):
        assert "The pruned tree" in printed


def test_a_branch_without_rows_goes():
    work = reduced_error_workings(None, TREE, ([[1.0]], [0]))
    assert work.answer["n_leaves"] == 1
    assert "nothing speaks for the branch" in str(work).replace("\n│ ", " ")


def test_refuses_regression_and_a_validation_set_in_one_piece():
    with pytest.raises(ValueError, match="tree must be a classification tree of at most 15 nodes"):
        reduced_error_workings(None, DecisionTreeRegressor().fit(X, range(6)), (X, range(6)))
    with pytest.raises(ValueError, match=r"the validation set must be given as \(X, y\)"):
        reduced_error_workings(None, TREE, X)
