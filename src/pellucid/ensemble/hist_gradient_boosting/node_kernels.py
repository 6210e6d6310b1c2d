"""Nodes of a boosted tree: sums, features they may be split by, best split, children; and jobs for threads."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.ensemble.hist_gradient_boosting.claim_kernels import NOTHING
from pellucid.ensemble.hist_gradient_boosting.growing_layout import (
    BIN,
    BITS,
    BLOCK,
    CHUNK,
    COPY,
    COUNT,
    COUNTED,
    DEPTH,
    DIRECTION,
    FEATURE,
    FINISH,
    FIRST,
    FREE,
    GAIN,
    GRADIENT,
    GRADIENT_ON_LEFT,
    HAS_MISSING,
    HESSIAN,
    HESSIAN_ON_LEFT,
    IS_CATEGORICAL,
    IS_CATEGORY,
    IS_KNOWN,
    IS_SEARCH,
    LARGE,
    LAST,
    LEFT,
    LOWER,
    MISSING_SIDE,
    MOST_DEPTH,
    MOST_LEAVES,
    N_BINS_OF,
    N_FREE,
    N_NODES,
    N_SLOTS,
    NODE,
    NODE_LOSS,
    NODE_SIZE,
    PARENT,
    PART,
    PHASE,
    PLANT,
    RIGHT,
    ROUND,
    SEARCH,
    SLOT,
    SMALL,
    START,
    STOP,
    UPPER,
    VALUE,
)
from pellucid.ensemble.hist_gradient_boosting.split_kernels import (
    ALLOWED,
    COUNT_BITS,
    FEATURE_SHARE,
    FEATURE_SIZE,
    GRADIENT_UNIT,
    HESSIAN_UNIT,
    L2,
    LEAST_HESSIAN,
    LEAST_ROWS,
    LEFT_GRADIENT,
    LEFT_HESSIAN,
    MISSING,
    MISSING_LEFT,
    N_BINS,
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


ROOT, NO, YES = np.int64(0), np.int64(0), np.int64(1)  # for a plain number, what takes it would be compiled anew


@lean
def open_slot(node, job):
    """Give a node a free slot."""
    job[N_FREE] -= 1
    node[SLOT] = job[FREE + job[N_FREE]]


@lean
def close_slot(node, job):
    """Take the slot of a node back."""
    job[FREE + job[N_FREE]] = node[SLOT]
    job[N_FREE] += 1
    node[SLOT] = -1


@lean
def n_chunks(job):
    """Return the number of chunks of the rows of the present job."""
    return (job[STOP] - job[START] + CHUNK - 1) // CHUNK


@lean
def begin_block(node, job, start):
    """Make the job that rounds a block of rows of a node, which are then counted."""
    job[PHASE], job[START], job[STOP] = ROUND, start, min(start + BLOCK, node[LAST])


@lean
def begin_count(nodes, job, number, is_search):
    """Make the job that counts the first block of rows of a node."""
    job[COUNTED], job[IS_SEARCH] = number, is_search
    begin_block(nodes[number], job, nodes[number, FIRST])


@lean
def begin_children(nodes, rules, choice, splits, job):
    """Make the job that counts the children of a node, and say whether there is one."""
    node = nodes[job[NODE]]
    small, large = node[RIGHT], node[LEFT]
    if nodes[large, LAST] - nodes[large, FIRST] < nodes[small, LAST] - nodes[small, FIRST]:
        small, large = large, small
    job[SMALL], job[LARGE], job[IS_KNOWN] = small, large, node[SLOT] >= 0
    n_open = 0
    for child in range(2):
        number = large if child else small
        may_split = is_open(nodes[number], rules.settings, job)
        n_open += may_split
        allow_features(nodes, rules, choice, splits, child, number, may_split)
    if job[IS_KNOWN]:
        if n_open == 0:
            close_slot(node, job)
            return False
        nodes[large, SLOT], node[SLOT] = node[SLOT], -1
    elif n_open == 0:
        return False
    else:
        open_slot(nodes[large], job)
    open_slot(nodes[small], job)
    begin_count(nodes, job, small if job[IS_KNOWN] else large, job[IS_KNOWN])
    return True


@lean
def end_count(tree, rules, by_set, job, ints, floats):
    """Write the best splits of two children, or of the root, into their nodes."""
    for child in range(2 if job[COUNTED] else 1):
        number = job[LARGE] if child else job[SMALL]
        choose_split(tree, rules, by_set, child, number, ints, floats)
        # two slots must stay free for the next children; who has none is counted again when it is split
        if tree.measures[number, GAIN] <= 0.0 or job[N_FREE] < 2:
            close_slot(tree.nodes[number], job)


@lean
def next_split(nodes, measures, job):
    """Make the job that parts the rows of the leaf whose split gains most; failing that, the last job."""
    best = NOTHING
    for number in range(job[N_NODES] if job[N_NODES] + 1 < 2 * job[MOST_LEAVES] else 0):
        gain = measures[number, GAIN]
        if nodes[number, LEFT] == 0 and gain > 0.0 and (best < 0 or gain > measures[best, GAIN]):
            best = number
    job[PHASE], job[NODE] = PART if best >= 0 else FINISH, best
    if best >= 0:
        job[START], job[STOP] = nodes[best, FIRST], nodes[best, LAST]


@lean
def end_parting(tree, rules, choice, directed, job):
    """Make the children of a node whose rows are parted, and the job that counts them or one that comes instead."""
    n_left = np.int64(0)
    for k in range(n_chunks(job)):
        n_left += job[FREE + job[N_SLOTS] + k]
    make_children(tree.nodes, tree.measures, rules.features, rules.settings, directed, job[NODE], job[N_NODES], n_left)
    job[N_NODES] += 2
    is_last = job[N_NODES] + 1 >= 2 * job[MOST_LEAVES]
    if is_last or not begin_children(tree.nodes, rules, choice, tree.splits, job):
        next_split(tree.nodes, tree.measures, job)


@lean
def next_job(n_groups, tree, rules, choice, by_set, directed, ints, floats):
    """Make the job that follows the present one; return its number of pieces, 0 at the end."""
    nodes, job = tree.nodes, tree.job
    phase, counted = job[PHASE], nodes[job[COUNTED]]
    if phase == FINISH:
        return 0
    if phase == PLANT:
        open_slot(nodes[0], job)
        begin_count(nodes, job, ROOT, NO)
    elif phase == PART:
        job[PHASE] = COPY
    elif phase == ROUND:
        job[PHASE] = COUNT
    elif phase == COPY:
        end_parting(tree, rules, choice, directed, job)
    elif job[STOP] < counted[LAST]:
        begin_block(counted, job, job[STOP])
    elif job[COUNTED] == 0 and phase == COUNT:
        plant_root(nodes[0], tree.measures[0], rules.settings, tree.slots)
        allow_features(nodes, rules, choice, tree.splits, NO, ROOT, is_open(nodes[0], rules.settings, job))
        job[PHASE] = SEARCH
    elif job[IS_SEARCH] == 0 and phase == COUNT:
        begin_count(nodes, job, job[SMALL], YES)
    else:
        end_count(tree, rules, by_set, job, ints, floats)
        next_split(nodes, tree.measures, job)
    if job[PHASE] == COUNT or job[PHASE] == SEARCH:
        return n_groups
    return job[N_NODES] if job[PHASE] == FINISH else n_chunks(job)
