"""Trees some of whose branches were cut after they were grown."""

from __future__ import annotations

from pellucid.tree.decision_tree.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor


class PrunedTreeClassifier(DecisionTreeClassifier):
    """A :class:`DecisionTreeClassifier` some of whose branches may have been cut; what the functions of pruning return.

    All parameters and attributes are those of the tree it was; beside them ``grown_`` is that tree before the cuts and
    ``node_errors_`` the errors of its nodes by which they were made. ``verify`` proves the grown tree and cuts again.

    Examples
    --------
    >>> from pellucid.tree import DecisionTreeClassifier, prune_pessimistic
    >>> tree = DecisionTreeClassifier().fit([[k] for k in range(9)], [0, 0, 0, 1, 0, 0, 1, 1, 1])
    >>> prune_pessimistic(tree).get_n_leaves()
    2
    """


class PrunedTreeRegressor(DecisionTreeRegressor):
    """A :class:`DecisionTreeRegressor` some of whose branches may have been cut; see :class:`PrunedTreeClassifier`."""
