"""One tree as scikit-learn's tools read it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.types import Array, Data
from pellucid.tree.packed_trees import PER_NODE, PackedTrees
from pellucid.tree.tree_reading import decision_path, feature_importances, leaves


class TreeView:
    """What ``tree_`` is: the arrays and methods of scikit-learn's ``Tree``, on the arrays that the estimator stores.

    ``plot_tree``, ``export_text``, ``export_graphviz`` and other people's tools read it. Changing an array of it
    changes the model.
    """

    def __init__(self, trees: PackedTrees, n_features: int, n_classes: Array | int) -> None:
        self._trees = trees
        self.n_features = n_features
        self.n_classes = np.atleast_1d(np.asarray(n_classes, dtype=np.intp))

    def __getattr__(self, name: str) -> Any:
        if name in PER_NODE or name == "left_categories":
            return getattr(self._trees, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self))

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    @property
    def packed(self) -> PackedTrees:
        """The arrays, as a pack of one tree."""
        return self._trees

    @property
    def node_count(self) -> int:
        """Nodes, leaves included."""
        return self._trees.n_nodes

    @property
    def capacity(self) -> int:
        """The same: nothing is kept in reserve."""
        return self.node_count

    @property
    def n_outputs(self) -> int:
        """Targets."""
        return int(self._trees.value.shape[1])

    @property
    def max_n_classes(self) -> int:
        """Classes of the target that has most."""
        return int(self._trees.value.shape[2])

    @property
    def n_leaves(self) -> int:
        """Nodes without children."""
        return int(self._trees.is_leaf.sum())

    @property
    def max_depth(self) -> int:
        """Splits on the longest way."""
        return int(self._trees.depths().max())

    def apply(self, X: Data) -> Array:
        """Return the leaf of each row."""
        return leaves(self._trees, X)[:, 0].astype(np.intp)

    def predict(self, X: Data) -> Array:
        """Return the values at the leaves, of shape (n_samples, n_outputs, n_values), the middle one only if needed."""
        found = self._trees.value[self.apply(X)]
        return found[:, 0] if self.n_outputs == 1 else found

    def decision_path(self, X: Data) -> sparse.csr_matrix:
        """Return which nodes each row passes."""
        return decision_path(self._trees, X)

    def compute_feature_importances(self, normalize: bool = True) -> Array:
        """Return how much the splits of each column lower the impurity."""
        return feature_importances(self._trees, self.n_features, normalize=normalize)

    def compute_node_depths(self) -> Array:
        """Return the depth of each node, the root's being 1."""
        return self._trees.depths() + 1
