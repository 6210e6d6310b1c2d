"""Nodes of a boosted tree: their sums, the features they may be split by, their best split and their children."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.ensemble.hist_gradient_boosting.growing_layout import (
    BIN,
    BITS,
    DEPTH,
    DIRECTION,
    FEATURE,
    FIRST,
    GAIN,
    GRADIENT,
    GRADIENT_ON_LEFT,
    HAS_MISSING,
    HESSIAN,
    HESSIAN_ON_LEFT,
    IS_CATEGORICAL,
    IS_CATEGORY,
    LAST,
    LEFT,
    LOWER,
    MISSING_SIDE,
    MOST_DEPTH,
    N_BINS_OF,
    NODE_LOSS,
    NODE_SIZE,
    PARENT,
    RIGHT,
    SLOT,
    UPPER,
    VALUE,
)
from pellucid.ensemble.hist_gradient_boosting.histogram_kernels import FEATURE_SIZE, MISSING, N_BINS
from pellucid.ensemble.hist_gradient_boosting.split_kernels import (
    ALLOWED,
    COUNT_BITS,
    FEATURE_SHARE,
    GRADIENT_UNIT,
    HESSIAN_UNIT,
    L2,
    LEAST_HESSIAN,
    LEAST_ROWS,
    LEFT_GRADIENT,
    LEFT_HESSIAN,
    MISSING_LEFT,
    NO_GAIN,
    ORDER,
    SPLIT_BIN,
    bounded_value,
    sort_categories,
)
from pellucid.solvers.compiling_kernels import lean


@lean
def set_sums(node, measures, gradient, hessian, lower, upper, settings):
    """Write the sums of a node (of hessians with the count), its value, and the bounds of its children."""
    node[GRADIENT], node[HESSIAN] = gradient, hessian
    slope = gradient * settings[GRADIENT_UNIT]
    curvature = (hessian >> np.int64(settings[COUNT_BITS])) * settings[HESSIAN_UNIT]
    value = bounded_value(slope, curvature, settings[L2], lower, upper)
    measures[VALUE], measures[NODE_LOSS], measures[GAIN] = value, slope * value, NO_GAIN
    measures[LOWER], measures[UPPER] = lower, upper


@lean
def plant_root(node, measures, settings, slots):
    """Write the sums of the root, which are those of any feature; before its first split nothing is predicted."""
    gradient, hessian, histogram = np.int64(0), np.int64(0), slots[node[SLOT]]
    for b in range(N_BINS):
        gradient += histogram[2 * b]
        hessian += histogram[2 * b + 1]
    set_sums(node, measures, gradient, hessian, -np.inf, np.inf, settings)
    measures[NODE_LOSS] = 0.0


@lean
def make_children(nodes, measures, features, settings, directed, number, left, n_left):
    """Write the two children of a node; a monotonic feature parts what is below them at the mean of their values."""
    node, bounds = nodes[number], measures[number]
    feature, middle = features[node[FEATURE]], node[FIRST] + n_left
    for side in range(2):
        child = nodes[left + side]
        for k in range(NODE_SIZE):
            child[k] = 0
        child[FIRST] = middle if side else node[FIRST]
        child[LAST] = node[LAST] if side else middle
        child[PARENT], child[DEPTH], child[SLOT] = number, node[DEPTH] + 1, -1
        gradient, hessian = node[GRADIENT_ON_LEFT], node[HESSIAN_ON_LEFT]
        if side:
            gradient, hessian = node[GRADIENT] - gradient, node[HESSIAN] - hessian
        set_sums(child, measures[left + side], gradient, hessian, bounds[LOWER], bounds[UPPER], settings)
    node[LEFT], node[RIGHT] = left, left + 1
    if directed is not None and feature[DIRECTION] != 0:
        low, high = (left, left + 1) if feature[DIRECTION] > 0 else (left + 1, left)
        measures[low, UPPER] = measures[high, LOWER] = (measures[left, VALUE] + measures[left + 1, VALUE]) / 2.0
    if feature[HAS_MISSING] == 0:  # a value missing later goes where most rows went
        node[MISSING_SIDE] = n_left > node[LAST] - middle


@lean
def is_open(node, settings, job):
    """Return whether a node has rows, depth and hessian enough to be split."""
    return (
        node[DEPTH] < job[MOST_DEPTH]
        and node[LAST] - node[FIRST] >= 2 * settings[LEAST_ROWS]
        and (node[HESSIAN] >> np.int64(settings[COUNT_BITS])) * settings[HESSIAN_UNIT] >= LEAST_HESSIAN
    )


@lean
def allow_features(nodes, rules, choice, splits, child, number, may_split):
    """Mark the features that may split a child of the given number."""
    p = rules.features.shape[0]
    allowed = splits[child * p : (child + 1) * p]
    for feature in range(p):
        allowed[feature, ALLOWED] = may_split
    if choice is not None and may_split:
        if choice.sets.shape[0]:
            keep_together(nodes, choice.sets, allowed, number)
        if choice.keys.shape[0]:
            draw_features(choice.keys[number % choice.keys.shape[0]], rules.settings[FEATURE_SHARE], allowed)


@lean
def keep_together(nodes, sets, allowed, number):
    """Allow the features of those sets only that all features above the node are in."""
    for feature in range(sets.shape[1]):
        allowed[feature, ALLOWED] = 0
    for k in range(sets.shape[0]):
        above, is_whole = number, True
        while above > 0 and is_whole:
            above = nodes[above, PARENT]
            is_whole = sets[k, nodes[above, FEATURE]] == 1
        for feature in range(sets.shape[1] if is_whole else 0):
            allowed[feature, ALLOWED] |= sets[k, feature]


@lean
def draw_features(keys, share, allowed):
    """Keep a share of the allowed features, rounded up: those of the lowest keys."""
    n_allowed = np.int64(0)
    for feature in range(keys.shape[0]):
        n_allowed += allowed[feature, ALLOWED]
    for _ in range(n_allowed - max(np.int64(np.ceil(share * n_allowed)), np.int64(1))):
        worst = -1
        for feature in range(keys.shape[0]):
            if allowed[feature, ALLOWED] and (worst < 0 or keys[feature] > keys[worst]):
                worst = feature
        allowed[worst, ALLOWED] = 0


@lean
def choose_split(tree, rules, by_set, child, number, ints, floats):
    """Write the best split of a child into its node; the first feature of the highest gain is taken."""
    p, best, gains, node = rules.features.shape[0], 0, tree.gains, tree.nodes[number]
    for feature in range(p):
        if gains[child * p + feature] > gains[child * p + best]:
            best = feature
    split = tree.splits[child * p + best]
    tree.measures[number, GAIN] = gains[child * p + best]
    if gains[child * p + best] <= 0.0:
        return
    node[FEATURE], node[BIN], node[MISSING_SIDE] = best, split[SPLIT_BIN], split[MISSING_LEFT]
    node[GRADIENT_ON_LEFT], node[HESSIAN_ON_LEFT] = split[LEFT_GRADIENT], split[LEFT_HESSIAN]
    if by_set is not None and rules.features[best, IS_CATEGORICAL]:
        histogram = tree.slots[node[SLOT], best * FEATURE_SIZE : (best + 1) * FEATURE_SIZE]
        write_set(histogram, rules.features[best, N_BINS_OF], node, split, rules.settings, ints, floats)


@lean
def write_set(histogram, n_bins, node, split, settings, ints, floats):
    """Write the categories that go left into a node."""
    n_used = sort_categories(histogram, n_bins, (node[GRADIENT], node[HESSIAN]), settings, ints, floats)
    node[IS_CATEGORY], node[MISSING_SIDE] = 1, 0
    for k in range(8):
        node[BITS + k] = 0
    for i in range(split[SPLIT_BIN] + 1):
        b = ints[ORDER + n_used - 1 - i] if split[MISSING_LEFT] else ints[ORDER + i]
        if b == MISSING:
            node[MISSING_SIDE] = 1
        else:
            node[BITS + (b >> 5)] |= 1 << (b & 31)
