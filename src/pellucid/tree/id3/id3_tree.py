"""MultiwayTree: a tree whose nodes may have many branches, as a few arrays; and columns as it reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.core.checks import column_values
from pellucid.core.types import Array

NO_SPLIT = -2
"""Feature and threshold of a leaf, as scikit-learn writes them; also the threshold of a split by category."""
NO_CHILD = -1


@dataclass(frozen=True)
class MultiwayTree:
    """Nodes in the order in which they were made, the root first; the children of a node stand next to each other.

    A split by category has one child for each category of its column, in their order; a split by threshold has two,
    the first for values up to the threshold. Children stand behind their parent, so there is no circle.
    """

    feature: Array
    """int32 (n_nodes): the column a node asks for, ``NO_SPLIT`` at a leaf."""
    threshold: Array
    """float64 (n_nodes): of a split by threshold; ``NO_SPLIT`` elsewhere."""
    first_child: Array
    """int32 (n_nodes): ``NO_CHILD`` at a leaf."""
    n_children: Array
    """int32 (n_nodes): 0 at a leaf."""
    value: Array
    """float64 (n_nodes, n_classes): weight of the rows of each class; of a branch without rows, its parent's."""
    weight: Array
    """float64 (n_nodes): weight of the training rows; 0 for a branch without rows."""

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return len(self.feature)

    @property
    def n_leaves(self) -> int:
        """Number of leaves, branches without rows among them."""
        return int(np.sum(self.feature == NO_SPLIT))

    @property
    def depths(self) -> Array:
        """How many questions lead to each node."""
        depth = np.zeros(self.node_count, dtype=np.int64)
        for node in np.flatnonzero(self.feature != NO_SPLIT):
            start = self.first_child[node]
            depth[start : start + self.n_children[node]] = depth[node] + 1
        return depth

    @property
    def max_depth(self) -> int:
        """The most questions that a row is asked."""
        return int(self.depths.max())

    def stops_of(self, codes: Array, values: Array, is_numeric: Array) -> Array:
        """Return the node where each row stops: a leaf, or where a category is asked for that training did not have.

        ``codes`` holds the category of each row in each column, -1 where training did not have it, and ``values`` the
        numbers of the columns that are split by threshold, which ``is_numeric`` marks.
        """
        nodes, rows = np.zeros(len(codes), dtype=np.intp), np.arange(len(codes))
        while len(rows):
            rows = rows[self.feature[nodes[rows]] != NO_SPLIT]
            here = nodes[rows]
            asked = self.feature[here]
            is_above = values[rows, asked] > self.threshold[here]
            branch = np.where(is_numeric[asked], is_above, codes[rows, asked])
            rows, here, branch = rows[branch >= 0], here[branch >= 0], branch[branch >= 0]
            nodes[rows] = self.first_child[here] + branch
        return nodes


def tree_fault(tree: MultiwayTree, n_features: int, n_classes: int) -> str:
    """Return in words what makes the arrays no tree, nothing if they are one; looks at an index before it is used."""
    n = len(tree.feature)
    whole, real = ((tree.feature, tree.first_child, tree.n_children), (tree.threshold, tree.weight))
    if n == 0 or any(part.shape != (n,) for part in (*whole, *real)) or tree.value.shape != (n, n_classes):
        return "its arrays have different lengths"
    if any(part.dtype != np.int32 for part in whole) or any(part.dtype != np.float64 for part in (*real, tree.value)):
        return "its arrays are of other dtypes"
    if not all(np.isfinite(part).all() for part in (*real, tree.value)) or min(tree.weight.min(), tree.value.min()) < 0:
        return "a weight is negative or not finite"
    is_leaf = tree.feature == NO_SPLIT
    if np.any(~is_leaf & ((tree.feature < 0) | (tree.feature >= n_features))):
        return "a node asks for a column that is not there"
    if np.any((tree.first_child == NO_CHILD) != is_leaf) or np.any((tree.n_children == 0) != is_leaf):
        return "a leaf has children, or a split has none"
    if np.any(is_leaf & (tree.threshold != NO_SPLIT)):
        return "a leaf has a threshold"
    if np.any(~is_leaf & ((tree.n_children < 0) | (tree.n_children > n))):
        return "a node has more children than there are nodes"
    starts, sizes = tree.first_child[~is_leaf].astype(np.int64), tree.n_children[~is_leaf].astype(np.int64)
    if np.any(starts != 1 + np.concatenate([[0], np.cumsum(sizes)[:-1]]) if len(starts) else False):
        return "children do not follow the children of the node before"  # so a node would be reached twice, or never
    if np.any(starts <= np.flatnonzero(~is_leaf)) or 1 + sizes.sum() != n:
        return "a child stands before its parent, or a node is not reached"
    return ""


def held_back(validation: Any, n: int) -> Array:
    """Return the rows that are held back of ``n``: those named, or the last ones of a share."""
    share = np.ndim(validation) == 0
    named = range(n - max(1, round(float(validation) * n)), n) if share else validation
    rows = np.unique(np.asarray(named, dtype=np.intp))
    if len(rows) and rows[-1] >= n:
        raise ValueError(f"validation must name rows from 0 to {n - 1}, got {int(rows[-1])}.")
    if len(rows) in (0, n):
        raise ValueError(f"validation must leave rows to learn from and hold some back, got {len(rows)} of {n} rows.")
    return rows


AUTO, NEVER = "auto", "never"
MANY = 20
"""More different whole numbers than these are measurements, not categories."""


@dataclass(frozen=True)
class CodedColumns:
    """Rows as a multiway tree reads them: categories as codes, numbers as they are."""

    codes: Array
    """int32 (n_rows, n_columns): -1 for a category that is not known, and in columns of numbers."""
    values: Array
    """float64 (n_rows, n_columns): 0 in columns of categories."""
    is_numeric: Array
    """bool (n_columns)."""


def numeric_columns(wanted: Any, columns: Sequence[Array], names: Sequence[str] | None) -> Array:
    """Return for each column whether it is split by threshold.

    ``"auto"``: a column of numbers of which one is not whole, or of which there are many. ``"never"``: none. Or the
    columns named.
    """
    if isinstance(wanted, str):
        return np.array([wanted == AUTO and _is_measured(column) for column in columns])
    known = {name: j for j, name in enumerate(names or ())} | {j: j for j in range(len(columns))}
    found = np.zeros(len(columns), dtype=bool)
    for key in wanted:
        if key not in known:
            raise ValueError(f"numeric must name columns of X, got {key!r}. Columns are {list(known)}.")
        if columns[known[key]].dtype.kind == "U":
            raise ValueError(f"numeric must name columns of numbers, got {key!r}, which holds texts. Leave it out.")
        found[known[key]] = True
    return found


def coded_columns(X: Array, categories: Sequence[Array]) -> CodedColumns:
    """Return rows as codes of the categories of each column; a column without categories holds numbers."""
    is_numeric = np.array([len(known) == 0 for known in categories])
    codes, values = np.full(X.shape, -1, dtype=np.int32), np.zeros(X.shape)
    for j, known in enumerate(categories):
        column = column_values(X, j)
        if is_numeric[j]:
            if column.dtype.kind == "U":
                raise ValueError(f"X must hold numbers in column {j} as in the fit, got the text {str(column[0])!r}.")
            values[:, j] = column
        elif column.dtype.kind == known.dtype.kind:  # of texts where training had numbers none is known
            places = np.minimum(np.searchsorted(known, column), len(known) - 1)
            codes[:, j] = np.where(known[places] == column, places, -1)
    return CodedColumns(codes, values, is_numeric)


def _is_measured(column: Array) -> bool:
    """Return whether numbers are measurements, not codes: fractions, or many different ones."""
    if column.dtype.kind != "f":
        return False
    return bool(np.any(column != np.floor(column))) or len(np.unique(column)) > MANY
