"""What the loops that grow a boosted tree are given, and where things stand in their arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

CHUNK = 8192
"""Rows that a thread parts, or rounds, at a time."""

BLOCK = 8 * CHUNK
"""Rows that are rounded before they are counted: their words stay in the cache."""

FIRST, LAST, LEFT, RIGHT, PARENT, DEPTH, SLOT, FEATURE, BIN, MISSING_SIDE, IS_CATEGORY = range(11)
GRADIENT, HESSIAN, GRADIENT_ON_LEFT, HESSIAN_ON_LEFT, BITS = range(11, 16)
NODE_SIZE = BITS + 8
"""Columns of ``nodes``: rows, children (0 for a leaf), place, histogram (-1: none), split, sums, left categories."""

GAIN, LOWER, UPPER, NODE_LOSS, VALUE = range(5)
MEASURE_SIZE = 5
"""Columns of ``measures``: the gain of a node's split, the bounds of its children, its loss and value."""

N_BINS_OF, HAS_MISSING, IS_CATEGORICAL, DIRECTION = range(4)
"""Columns of ``features``."""

PHASE, START, STOP, NODE, SMALL, LARGE, COUNTED, IS_KNOWN, IS_SEARCH = range(9)
N_NODES, MOST_LEAVES, MOST_DEPTH, N_FREE, N_SLOTS, FREE = range(9, 15)
"""Entries of ``job``: what is to be done now, limits, from ``FREE`` on the free slots, then the counts of chunks."""

PLANT, PART, COPY, ROUND, COUNT, SEARCH, FINISH = range(7)
"""Phases."""


class Data(NamedTuple):
    """What is known of the rows."""

    groups: Any
    """uint32 (n_groups, n_rows): the bins of four features each."""
    gradients: Any
    hessians: Any
    """float64 (n_rows,); a single hessian is that of all rows."""
    raw: Any
    """float64 (n_rows,): what the values of the leaves are added to, or nothing."""


class Lines(NamedTuple):
    """The rows, those of each node next to each other."""

    rows: Any
    buffer: Any
    """uint32 (n_rows,)."""
    pairs: Any
    """int64 (2 ``BLOCK``,): rounded gradients and hessians of a block."""


class Tree(NamedTuple):
    """What has been grown so far."""

    slots: Any
    """int64 (n_slots, n_groups ``GROUP_SIZE``): histograms."""
    nodes: Any
    """int64 (n_nodes, ``NODE_SIZE``)."""
    measures: Any
    """float64 (n_nodes, ``MEASURE_SIZE``)."""
    splits: Any
    """int64 (2 n_features, 5): the best splits of two children by each feature."""
    gains: Any
    """float64 (2 n_features,)."""
    job: Any
    """int64."""


class GrowingRules(NamedTuple):
    """What is known of the features, and the parameters as numbers."""

    features: Any
    """int64 (n_features, 4)."""
    settings: Any
    """float64: see ``split_kernels``."""


class SplitChoice(NamedTuple):
    """Which features a node may be split by, where these are not all."""

    keys: Any
    """float64 (n_nodes, n_features): a node draws those of the lowest keys; no rows: it draws none."""
    sets: Any
    """int64 (n_sets, n_features): which features may be on a path together; no rows: all may."""
