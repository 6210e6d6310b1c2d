"""shapley_values: what each column adds to a prediction of trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from pellucid.core.cards import card_of
from pellucid.core.threads import own_threads, run_blocks, split_evenly, thread_count
from pellucid.core.types import Array, Data
from pellucid.tree.packed_trees import PackedTrees
from pellucid.tree.tree_reading import way_down

if TYPE_CHECKING:
    import pandas as pd

BLOCK = 256
"""Rows that are taken through all leaves together."""


@dataclass(frozen=True)
class ShapleyValues:
    """What each column adds to the prediction of each row, from the expectation on.

    ``expected`` plus the sum over the columns is what the trees say.
    """

    values: Array
    """(n_samples, n_features), or (n_samples, n_features, n_outputs) for the shares of several classes."""
    expected: Array
    """Of shape () or (n_outputs,): what the trees say on average over their training rows."""
    names: tuple[str, ...]
    """Of the columns."""
    outputs: tuple[Any, ...] = ()
    """The classes, where there is an output for each."""

    @property
    def predictions(self) -> Array:
        """What the trees say about each row: shares of classes, means, or raw scores of boosting."""
        return np.asarray(self.expected + self.values.sum(axis=1))

    @property
    def importance(self) -> Array:
        """The mean size of what each column adds, of shape (n_features,) or (n_features, n_outputs)."""
        return np.asarray(np.abs(self.values).mean(axis=0))

    def frame(self, output: Any = None) -> pd.DataFrame:
        """Return the values as a data frame, one column for each column of X; of several outputs that of one class."""
        import pandas as pd

        if not self.outputs:
            return pd.DataFrame(self.values, columns=list(self.names))
        known = list(self.outputs)
        if output not in known:
            raise ValueError(f"output must be one of {known}, got {output!r}. Each class has values of its own.")
        return pd.DataFrame(self.values[:, :, known.index(output)], columns=list(self.names))


def shapley_values(model: Any, X: Data) -> ShapleyValues:
    r"""Return the exact Shapley values of the predictions of a tree, a forest or boosted trees.

    .. math:: \phi_j(x) = \sum_{S \not\ni j} \frac{|S|!\,(p - 1 - |S|)!}{p!}\,\bigl(f_{S \cup j}(x) - f_S(x)\bigr)

    where :math:`f_S(x)` is what the trees say if only the columns :math:`S` of the row are known: at a node that asks
    for another one both branches count, by the share of the training rows that took them (the path-dependent form). All
    subsets are summed exactly in time polynomial in the depth.

    Parameters
    ----------
    model : fitted tree, forest or gradient boosting of pellucid
        Forests: the mean over the trees. Boosting: the raw score, before the link (log odds for classes).
    X : array-like of shape (n_samples, n_features)
        The rows to explain.

    Examples
    --------
    >>> from pellucid.tree import OptimalTreeClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> found = shapley_values(OptimalTreeClassifier(2).fit(X, y), [[1, 1]])
    >>> found.expected[1], found.values[0, :, 1], found.predictions[0, 1]
    (np.float64(0.25), array([0.375, 0.375]), np.float64(1.0))
    """
    check_is_fitted(model)
    trees = getattr(model, "trees_", None)
    if not isinstance(trees, PackedTrees):
        raise TypeError(
            f"model must be a tree, a forest or gradient boosting of pellucid, got {type(model).__name__}. "
            "Fit the class of that name in pellucid."
        )
    if trees.value.shape[1] > 1:
        raise ValueError(f"model must have one target, got {trees.value.shape[1]}. Fit one model for each.")
    rows = card_of(type(model)).rules_for(model).check_rows(model, X)
    value, groups, start = _outputs(model, trees)
    expected = start + _expected_values(trees, value, groups, len(start))
    values = _summed(trees, rows, value, groups, len(start))
    names = getattr(model, "feature_names_in_", None)
    known = tuple(f"x{j}" for j in range(rows.shape[1])) if names is None else tuple(map(str, names))
    if len(start) == 1:
        return ShapleyValues(values[:, :, 0], expected[0], known)
    classes = getattr(model, "classes_", range(len(start)))
    return ShapleyValues(values, expected, known, tuple(np.asarray(classes).tolist()))


def _outputs(model: Any, trees: PackedTrees) -> tuple[Array, Array, Array]:
    """Return the values of the nodes, the first output of each tree, and what is there before any tree.

    Boosted trees take turns at the outputs and are added to the baseline; all others are averaged.
    """
    value = trees.value.reshape(trees.n_nodes, -1)
    baseline = getattr(model, "baseline_", None)
    if baseline is None:
        return value / trees.n_trees, np.zeros(trees.n_trees, dtype=np.int64), np.zeros(value.shape[1])
    start = np.atleast_1d(np.asarray(baseline, dtype=np.float64))
    return value, np.arange(trees.n_trees, dtype=np.int64) % len(start), start


def _expected_values(trees: PackedTrees, value: Array, groups: Array, n_outputs: int) -> Array:
    """Return the mean over the training rows of what the trees say."""
    leaf = np.flatnonzero(trees.is_leaf)
    of_tree = trees.tree_of_node[leaf]
    share = trees.weighted_n_node_samples[leaf] / trees.weighted_n_node_samples[trees.starts[of_tree]]
    expected = np.zeros(n_outputs)
    for c in range(value.shape[1]):
        np.add.at(expected, groups[of_tree] + c, share * value[leaf, c])
    return expected


def _summed(trees: PackedTrees, rows: Any, value: Array, groups: Array, n_outputs: int) -> Array:
    from pellucid.tree.explaining.shapley_kernels import add_shapley_values

    found = np.zeros((rows.shape[0], rows.shape[1], n_outputs))
    starts, steps, threshold, sets = way_down(trees, rows.shape[1])
    cover, deepest, value = trees.weighted_n_node_samples, int(trees.depths().max()), np.ascontiguousarray(value)

    def work(part: slice) -> None:
        block = rows[part]
        dense = block.toarray() if sparse.issparse(block) else np.ascontiguousarray(block)
        dense = dense.astype(np.float64, copy=False)
        add_shapley_values(dense, starts, steps, threshold, sets, cover, value, groups, deepest, found[part])

    with own_threads():
        n_blocks = max(thread_count(), -(-rows.shape[0] // BLOCK))
        run_blocks(work, split_evenly(rows.shape[0], n_blocks))
    return found
