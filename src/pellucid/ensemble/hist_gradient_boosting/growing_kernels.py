"""One tree, grown leaf by leaf: the node whose split gains most is split next, of equal ones the older.

The tree is a chain of jobs: rows of a node are parted among its children, those of the smaller child are rounded to
whole numbers and counted, the best splits of both children are found. The larger child has what is left of its
parent's histogram, unless that was given up for want of space; then it is counted too. One thread leads and decides the
next job; all threads take pieces of the present one (see ``numerics.claim_kernels``). Every sum is a whole number, so
it does not matter who does what.

The loops allocate nothing, so their arrays need no reference counts (``_nrt``). Only ``grow_tree`` is kept in the
compiler's cache: the others are compiled into it.
"""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.ensemble.hist_gradient_boosting.histogram_kernels import (
    FEATURE_SIZE,
    GROUP,
    GROUP_SIZE,
    MISSING,
    N_BINS,
    count_rows,
    round_rows,
)
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
    PER_GRADIENT,
    PER_HESSIAN,
    SHRINKAGE,
    SPLIT_BIN,
    TABLE,
    bounded_value,
    search_histogram,
    sort_categories,
)
from pellucid.numerics.claim_kernels import (
    CLOSED,
    DONE,
    NOTHING,
    SPINS,
    TICKET,
    add,
    await_done,
    claim,
    give_way,
    publish,
    read,
    write,
)
from pellucid.numerics.memory_kernels import lean, lean_and_kept

TABLE_PLACE = np.uint64(TABLE)

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

N_BINS_OF, HAS_MISSING, IS_CATEGORICAL, DIRECTION, SETS = range(5)
"""Columns of ``features``; from ``SETS`` on, one per set of features that may interact: whether it is in."""

PHASE, START, STOP, NODE, SMALL, LARGE, COUNTED, IS_KNOWN, IS_SEARCH = range(9)
N_NODES, MOST_LEAVES, MOST_DEPTH, N_FREE, N_SLOTS, FREE = range(9, 15)
"""Entries of ``job``: what is to be done now, limits, from ``FREE`` on the free slots, then the counts of chunks."""

PLANT, PART, COPY, ROUND, COUNT, SEARCH, FINISH = range(7)


@lean
def part_chunk(groups, rows, buffer, nodes, number, start, stop, ints):
    """Put the rows of a chunk that go left at its front in the buffer and the others, backwards, at its end."""
    for b in range(N_BINS):
        if b == MISSING:
            ints[TABLE + b] = nodes[number, MISSING_SIDE]
        elif nodes[number, IS_CATEGORY]:
            ints[TABLE + b] = (nodes[number, BITS + (b >> 5)] >> (b & 31)) & 1
        else:
            ints[TABLE + b] = b <= nodes[number, BIN]
    feature = nodes[number, FEATURE]
    column, shift = groups[feature // GROUP], np.uint32(8 * (feature % GROUP))
    front, back = np.uint64(start), np.uint64(stop - 1)  # signed places would be looked at for counting from the end
    for i in range(start, stop):
        row = rows[i]
        is_left = np.uint64(ints[TABLE_PLACE + np.uint64((column[row] >> shift) & np.uint32(MISSING))])
        buffer[front] = row  # one of the two stays: no branch to mispredict
        buffer[back] = row
        front += is_left
        back -= np.uint64(1) - is_left
    return np.int64(front) - start


@lean
def copy_chunk(rows, buffer, first, n_left_before, n_left_in_all, n_left, start, stop):
    """Put a parted chunk where its rows belong: left rows before, right ones after, in their old order."""
    left, right = first + n_left_before, first + n_left_in_all + (start - first - n_left_before)
    for i in range(n_left):
        rows[left + i] = buffer[start + i]
    for i in range(stop - start - n_left):
        rows[right + i] = buffer[stop - 1 - i]


@lean
def finish_leaf(rows, first, last, gradients, hessians, measures, number, settings, raw):
    """Set the value of a leaf to its Newton step, shrunken, and add it to the predictions of its rows."""
    gradient, hessian = 0.0, 0.0
    is_constant = hessians.shape[0] == 1
    for i in range(first, last):
        gradient += gradients[rows[i]]
        hessian += hessians[0 if is_constant else rows[i]]
    value = bounded_value(gradient, hessian, settings[L2], measures[number, LOWER], measures[number, UPPER])
    value *= settings[SHRINKAGE]
    measures[number, VALUE] = value
    if raw.shape[0]:
        for i in range(first, last):
            raw[rows[i]] += value


@lean
def search_group(group, slots, nodes, measures, features, settings, splits, gains, job, ints, floats):
    """Find the best splits of both children by the features of a group."""
    p = features.shape[0]
    for feature in range(GROUP * group, min(GROUP * (group + 1), p)):
        for child in range(2):
            found, number = child * p + feature, job[LARGE] if child else job[SMALL]
            gains[found] = NO_GAIN
            if splits[found, ALLOWED]:
                gains[found] = search_histogram(
                    slots[nodes[number, SLOT], feature * FEATURE_SIZE : (feature + 1) * FEATURE_SIZE],
                    features[feature, N_BINS_OF],
                    features[feature, HAS_MISSING],
                    features[feature, IS_CATEGORICAL],
                    (nodes[number, GRADIENT], nodes[number, HESSIAN]),
                    (measures[number, LOWER], measures[number, UPPER], measures[number, NODE_LOSS]),
                    features[feature, DIRECTION],
                    settings,
                    splits[found],
                    ints,
                    floats,
                )


@lean
def count_group(group, groups, rows, pairs, slots, nodes, job):
    """Add a block of rows to the histograms of four features; the sibling's are what is then left of the parent's."""
    counted, other = nodes[job[COUNTED], SLOT], nodes[job[LARGE], SLOT]
    histograms = slots[counted, group * GROUP_SIZE : (group + 1) * GROUP_SIZE]
    if job[START] == nodes[job[COUNTED], FIRST]:
        for i in range(GROUP_SIZE):
            histograms[i] = 0
    count_rows(groups[group], rows, job[START], job[STOP], pairs, histograms)
    if job[IS_KNOWN] and job[STOP] == nodes[job[COUNTED], LAST]:
        parent = slots[other, group * GROUP_SIZE : (group + 1) * GROUP_SIZE]
        for i in range(GROUP_SIZE):
            parent[i] -= histograms[i]


@lean
def do_piece(
    piece, groups, rows, buffer, gradients, hessians, raw, pairs, slots, nodes, measures, features, settings, splits,
    gains, job, ints, floats,
):  # fmt: skip
    """Do one piece of the present job."""
    phase, number, counts = job[PHASE], job[NODE], FREE + job[N_SLOTS]
    start = job[START] + piece * CHUNK
    stop = min(start + CHUNK, job[STOP])
    if phase == COUNT:
        count_group(piece, groups, rows, pairs, slots, nodes, job)
        if job[IS_SEARCH] and job[STOP] == nodes[job[COUNTED], LAST]:
            search_group(piece, slots, nodes, measures, features, settings, splits, gains, job, ints, floats)
    elif phase == ROUND:
        per_gradient, per_hessian, bits = settings[PER_GRADIENT], settings[PER_HESSIAN], np.int64(settings[COUNT_BITS])
        round_rows(rows, gradients, hessians, per_gradient, per_hessian, bits, pairs, start, stop, job[START])
    elif phase == PART:
        job[counts + piece] = part_chunk(groups, rows, buffer, nodes, number, start, stop, ints)
    elif phase == COPY:
        before, total = np.int64(0), np.int64(0)
        for k in range((job[STOP] - job[START] + CHUNK - 1) // CHUNK):
            total += job[counts + k]
            before += job[counts + k] if k < piece else 0
        copy_chunk(rows, buffer, job[START], before, total, job[counts + piece], start, stop)
    elif phase == SEARCH:
        search_group(piece, slots, nodes, measures, features, settings, splits, gains, job, ints, floats)
    elif phase == FINISH and nodes[piece, LEFT] == 0:
        first, last = nodes[piece, FIRST], nodes[piece, LAST]
        finish_leaf(rows, first, last, gradients, hessians, measures, piece, settings, raw)


@lean
def set_sums(nodes, measures, number, gradient, hessian, lower, upper, settings):
    """Write the sums of a node (of hessians with the count), its value, and the bounds of its children."""
    nodes[number, GRADIENT], nodes[number, HESSIAN] = gradient, hessian
    slope, curvature = (
        gradient * settings[GRADIENT_UNIT],
        (hessian >> np.int64(settings[COUNT_BITS])) * settings[HESSIAN_UNIT],
    )
    value = bounded_value(slope, curvature, settings[L2], lower, upper)
    measures[number, VALUE], measures[number, NODE_LOSS], measures[number, GAIN] = value, slope * value, NO_GAIN
    measures[number, LOWER], measures[number, UPPER] = lower, upper


@lean
def plant_root(nodes, measures, settings, slots):
    """Write the sums of the root, which are those of any feature; before its first split nothing is predicted."""
    gradient, hessian = np.int64(0), np.int64(0)
    for b in range(N_BINS):
        gradient += slots[nodes[0, SLOT], 2 * b]
        hessian += slots[nodes[0, SLOT], 2 * b + 1]
    set_sums(nodes, measures, 0, gradient, hessian, -np.inf, np.inf, settings)
    measures[0, NODE_LOSS] = 0.0


@lean
def make_children(nodes, measures, features, settings, number, left, n_left):
    """Write the two children of a node; a monotonic feature parts what is below them at the mean of their values."""
    right, middle = left + 1, nodes[number, FIRST] + n_left
    for child in range(left, left + 2):
        for k in range(NODE_SIZE):
            nodes[child, k] = 0
        nodes[child, FIRST] = nodes[number, FIRST] if child == left else middle
        nodes[child, LAST] = middle if child == left else nodes[number, LAST]
        nodes[child, PARENT], nodes[child, DEPTH], nodes[child, SLOT] = number, nodes[number, DEPTH] + 1, -1
    nodes[number, LEFT], nodes[number, RIGHT] = left, right
    lower, upper = measures[number, LOWER], measures[number, UPPER]
    gradient, hessian = nodes[number, GRADIENT_ON_LEFT], nodes[number, HESSIAN_ON_LEFT]
    set_sums(nodes, measures, left, gradient, hessian, lower, upper, settings)
    gradient, hessian = nodes[number, GRADIENT] - gradient, nodes[number, HESSIAN] - hessian
    set_sums(nodes, measures, right, gradient, hessian, lower, upper, settings)
    direction = features[nodes[number, FEATURE], DIRECTION]
    if direction != 0:
        mean = (measures[left, VALUE] + measures[right, VALUE]) / 2.0
        measures[left if direction > 0 else right, UPPER] = mean
        measures[right if direction > 0 else left, LOWER] = mean
    if features[nodes[number, FEATURE], HAS_MISSING] == 0:  # a value missing later goes where most rows went
        nodes[number, MISSING_SIDE] = n_left > nodes[number, LAST] - middle


@lean
def allow_features(nodes, features, settings, keys, splits, child, number, may_split):
    """Mark the features that may split a child: of the sets with all features above it, those of lowest keys."""
    p, n_sets = features.shape[0], features.shape[1] - SETS
    n_allowed = np.int64(0)
    for feature in range(p):
        splits[child * p + feature, ALLOWED] = may_split and n_sets == 0
    for k in range(SETS, SETS + n_sets if may_split else SETS):
        above, is_whole = number, True
        while above > 0 and is_whole:
            above = nodes[above, PARENT]
            is_whole = features[nodes[above, FEATURE], k] == 1
        for feature in range(p if is_whole else 0):
            splits[child * p + feature, ALLOWED] |= features[feature, k]
    if keys.shape[0] == 0:
        return
    for feature in range(p):
        n_allowed += splits[child * p + feature, ALLOWED]
    kept = np.int64(np.ceil(settings[FEATURE_SHARE] * n_allowed))
    for _ in range(n_allowed - max(kept, np.int64(1))):
        worst = -1
        for feature in range(p):
            is_worse = worst < 0 or keys[number % keys.shape[0], feature] > keys[number % keys.shape[0], worst]
            if splits[child * p + feature, ALLOWED] and is_worse:
                worst = feature
        splits[child * p + worst, ALLOWED] = 0


@lean
def choose_split(slots, nodes, measures, features, settings, splits, gains, child, number, ints, floats):
    """Write the best split of a child into its node; the first feature of the highest gain is taken."""
    p = features.shape[0]
    best = 0
    for feature in range(p):
        if gains[child * p + feature] > gains[child * p + best]:
            best = feature
    found = child * p + best
    measures[number, GAIN] = gains[found]
    if gains[found] <= 0.0:
        return
    nodes[number, FEATURE], nodes[number, BIN] = best, splits[found, SPLIT_BIN]
    nodes[number, MISSING_SIDE], nodes[number, IS_CATEGORY] = (
        splits[found, MISSING_LEFT],
        features[best, IS_CATEGORICAL],
    )
    nodes[number, GRADIENT_ON_LEFT] = splits[found, LEFT_GRADIENT]
    nodes[number, HESSIAN_ON_LEFT] = splits[found, LEFT_HESSIAN]
    if nodes[number, IS_CATEGORY]:
        histogram = slots[nodes[number, SLOT], best * FEATURE_SIZE : (best + 1) * FEATURE_SIZE]
        sums = nodes[number, GRADIENT], nodes[number, HESSIAN]
        n_used = sort_categories(histogram, features[best, N_BINS_OF], sums, settings, ints, floats)
        nodes[number, MISSING_SIDE] = 0
        for k in range(8):
            nodes[number, BITS + k] = 0
        for i in range(splits[found, SPLIT_BIN] + 1):
            b = ints[ORDER + n_used - 1 - i] if splits[found, MISSING_LEFT] else ints[ORDER + i]
            if b == MISSING:
                nodes[number, MISSING_SIDE] = 1
            else:
                nodes[number, BITS + (b >> 5)] |= 1 << (b & 31)


@lean
def is_open(nodes, number, settings, job):
    """Return whether a node has rows, depth and hessian enough to be split."""
    return (
        nodes[number, DEPTH] < job[MOST_DEPTH]
        and nodes[number, LAST] - nodes[number, FIRST] >= 2 * settings[LEAST_ROWS]
        and (nodes[number, HESSIAN] >> np.int64(settings[COUNT_BITS])) * settings[HESSIAN_UNIT] >= LEAST_HESSIAN
    )


@lean
def open_slot(nodes, job, number):
    """Give a node a free slot."""
    job[N_FREE] -= 1
    nodes[number, SLOT] = job[FREE + job[N_FREE]]


@lean
def close_slot(nodes, job, number):
    """Take the slot of a node back."""
    job[FREE + job[N_FREE]] = nodes[number, SLOT]
    job[N_FREE] += 1
    nodes[number, SLOT] = -1


@lean
def begin_count(nodes, job, number, is_search):
    """Make the job that counts the first block of rows of a node."""
    job[PHASE], job[COUNTED], job[IS_SEARCH] = ROUND, number, is_search
    job[START] = nodes[number, FIRST]
    job[STOP] = min(job[START] + BLOCK, nodes[number, LAST])


@lean
def begin_children(nodes, features, settings, keys, splits, job):
    """Make the job that counts the children of a node, and say whether there is one."""
    number = job[NODE]
    left, right = nodes[number, LEFT], nodes[number, RIGHT]
    is_left_small = nodes[left, LAST] - nodes[left, FIRST] < nodes[right, LAST] - nodes[right, FIRST]
    small, large = (left, right) if is_left_small else (right, left)
    job[SMALL], job[LARGE], job[IS_KNOWN] = small, large, nodes[number, SLOT] >= 0
    if not is_open(nodes, left, settings, job) and not is_open(nodes, right, settings, job):
        if job[IS_KNOWN]:
            close_slot(nodes, job, number)
        return False
    if job[IS_KNOWN]:
        nodes[large, SLOT], nodes[number, SLOT] = nodes[number, SLOT], -1
    else:
        open_slot(nodes, job, large)
    open_slot(nodes, job, small)
    for child in range(2):
        number = large if child else small
        allow_features(nodes, features, settings, keys, splits, child, number, is_open(nodes, number, settings, job))
    begin_count(nodes, job, small if job[IS_KNOWN] else large, job[IS_KNOWN])
    return True


@lean
def end_count(slots, nodes, measures, features, settings, splits, gains, job, ints, floats):
    """Write the best splits of two children, or of the root, into their nodes."""
    for child in range(2 if job[COUNTED] else 1):
        number = job[LARGE] if child else job[SMALL]
        choose_split(slots, nodes, measures, features, settings, splits, gains, child, number, ints, floats)
        # two slots must stay free for the next children; who has none is counted again when it is split
        if measures[number, GAIN] <= 0.0 or job[N_FREE] < 2:
            close_slot(nodes, job, number)


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
def next_job(n_groups, slots, nodes, measures, features, settings, keys, splits, gains, job, ints, floats):
    """Make the job that follows the present one; return its number of pieces, 0 at the end."""
    phase = job[PHASE]
    if phase == FINISH:
        return 0
    if phase == PLANT:
        job[SMALL] = job[LARGE] = job[IS_KNOWN] = job[COUNTED]
        open_slot(nodes, job, job[COUNTED])
        begin_count(nodes, job, job[COUNTED], job[IS_KNOWN])
    elif phase == PART:
        job[PHASE] = COPY
    elif phase == ROUND:
        job[PHASE] = COUNT
    elif phase == COPY:
        n_left = np.int64(0)
        for k in range((job[STOP] - job[START] + CHUNK - 1) // CHUNK):
            n_left += job[FREE + job[N_SLOTS] + k]
        make_children(nodes, measures, features, settings, job[NODE], job[N_NODES], n_left)
        job[N_NODES] += 2
        is_last = job[N_NODES] + 1 >= 2 * job[MOST_LEAVES]
        if is_last or not begin_children(nodes, features, settings, keys, splits, job):
            next_split(nodes, measures, job)
    elif job[STOP] < nodes[job[COUNTED], LAST]:
        job[PHASE], job[START] = ROUND, job[STOP]
        job[STOP] = min(job[START] + BLOCK, nodes[job[COUNTED], LAST])
    elif job[COUNTED] == 0 and phase == COUNT:
        plant_root(nodes, measures, settings, slots)
        allow_features(
            nodes, features, settings, keys, splits, job[SMALL], job[SMALL], is_open(nodes, job[SMALL], settings, job)
        )
        job[PHASE] = SEARCH
    elif job[IS_SEARCH] == 0 and phase == COUNT:
        begin_count(nodes, job, job[SMALL], job[N_NODES])
    else:
        end_count(slots, nodes, measures, features, settings, splits, gains, job, ints, floats)
        next_split(nodes, measures, job)
    if job[PHASE] == COUNT or job[PHASE] == SEARCH:
        return n_groups
    return job[N_NODES] if job[PHASE] == FINISH else (job[STOP] - job[START] + CHUNK - 1) // CHUNK


@lean_and_kept
def grow_tree(
    thread, state, groups, rows, buffer, gradients, hessians, raw, pairs, slots, nodes, measures, features, settings,
    keys, splits, gains, job, ints, floats,
):  # fmt: skip
    """Grow a tree: thread 0 leads, others help. Its nodes stand in ``nodes`` and ``measures``, their number in ``job``.

    Where ``raw`` has entries, the values of the leaves are added to it.
    """
    n_pieces, spins = 0, 0
    if thread == 0:
        for i in range(rows.shape[0]):
            rows[i] = i
        nodes[0, LAST] = rows.shape[0]
    while True:
        piece = claim(state)
        if piece != NOTHING:
            spins = 0
            do_piece(
                piece, groups, rows, buffer, gradients, hessians, raw, pairs, slots, nodes, measures, features,
                settings, splits, gains, job, ints[thread], floats[thread],
            )  # fmt: skip
            add(state, DONE, 1)
        elif thread == 0:
            await_done(state, n_pieces)
            n_pieces = next_job(
                groups.shape[0],
                slots,
                nodes,
                measures,
                features,
                settings,
                keys,
                splits,
                gains,
                job,
                ints[0],
                floats[0],
            )
            if n_pieces == 0:
                write(state, TICKET, CLOSED)
                return
            publish(state, n_pieces)
        elif read(state, TICKET) == CLOSED:
            return
        else:
            spins += 1
            if spins > SPINS:
                give_way()
