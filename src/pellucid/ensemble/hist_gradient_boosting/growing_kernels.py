"""One tree, grown leaf by leaf: the node whose split gains most is split next, of equal ones the older.

The tree is a chain of jobs: rows of a node are parted among its children, those of the smaller child are rounded to
whole numbers and counted, the best splits of both children are found. The larger child has what is left of its
parent's histogram, unless that was given up for want of space; then it is counted too. One thread leads and decides the
next job; all threads take pieces of the present one (see ``numerics.claim_kernels``). Every sum is a whole number, so
it does not matter who does what.

What a fit does not need is None, and the compiler leaves out the code for it: the ``choice`` among features, splits
``by_set`` of categories, ``directed`` ones. Only ``grow_tree`` is kept in the compiler's cache: the others are compiled
into it.
"""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.ensemble.hist_gradient_boosting.claim_kernels import (
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
from pellucid.ensemble.hist_gradient_boosting.growing_layout import (
    BIN,
    BITS,
    CHUNK,
    COPY,
    COUNT,
    COUNTED,
    DIRECTION,
    FEATURE,
    FINISH,
    FIRST,
    FREE,
    GRADIENT,
    HAS_MISSING,
    HESSIAN,
    IS_CATEGORICAL,
    IS_CATEGORY,
    IS_KNOWN,
    IS_SEARCH,
    LARGE,
    LAST,
    LEFT,
    LOWER,
    MISSING_SIDE,
    N_BINS_OF,
    N_SLOTS,
    NODE,
    NODE_LOSS,
    PART,
    PHASE,
    ROUND,
    SEARCH,
    SLOT,
    SMALL,
    START,
    STOP,
    UPPER,
    VALUE,
)
from pellucid.ensemble.hist_gradient_boosting.node_kernels import n_chunks, next_job
from pellucid.ensemble.hist_gradient_boosting.split_kernels import (
    ALLOWED,
    COUNT_BITS,
    FEATURE_SIZE,
    GROUP,
    GROUP_SIZE,
    L2,
    MISSING,
    N_BINS,
    NO_GAIN,
    PER_GRADIENT,
    PER_HESSIAN,
    SHRINKAGE,
    TABLE,
    bounded_value,
    count_rows,
    round_rows,
    search_histogram,
)
from pellucid.solvers.compiling_kernels import lean, lean_and_kept


@lean
def search_group(group, tree, rules, by_set, directed, ints, floats):
    """Find the best splits of both children by the features of a group."""
    p, job = rules.features.shape[0], tree.job
    for feature in range(GROUP * group, min(GROUP * (group + 1), p)):
        facts = rules.features[feature]
        for child in range(2):
            found, number = child * p + feature, job[LARGE] if child else job[SMALL]
            node, measures = tree.nodes[number], tree.measures[number]
            tree.gains[found] = NO_GAIN
            if tree.splits[found, ALLOWED]:
                tree.gains[found] = search_histogram(
                    tree.slots[node[SLOT], feature * FEATURE_SIZE : (feature + 1) * FEATURE_SIZE],
                    (facts[N_BINS_OF], facts[HAS_MISSING], facts[IS_CATEGORICAL], facts[DIRECTION]),
                    (node[GRADIENT], node[HESSIAN]),
                    (measures[LOWER], measures[UPPER], measures[NODE_LOSS]),
                    by_set, directed, rules.settings, tree.splits[found], ints, floats,
                )  # fmt: skip


@lean
def do_piece(piece, data, lines, tree, rules, by_set, directed, ints, floats):
    """Do one piece of the present job."""
    nodes, job, settings = tree.nodes, tree.job, rules.settings
    phase, counts = job[PHASE], job[FREE + job[N_SLOTS] :]
    start = job[START] + piece * CHUNK
    stop = min(start + CHUNK, job[STOP])
    is_search = phase == SEARCH
    if phase == COUNT:
        count_group(piece, data.groups, lines.rows, lines.pairs, tree.slots, nodes, job)
        is_search = job[IS_SEARCH] and job[STOP] == nodes[job[COUNTED], LAST]
    elif phase == ROUND:
        per_gradient, per_hessian, bits = settings[PER_GRADIENT], settings[PER_HESSIAN], np.int64(settings[COUNT_BITS])
        round_rows(
            lines.rows, data.gradients, data.hessians, per_gradient, per_hessian, bits, lines.pairs, start, stop,
            job[START],
        )  # fmt: skip
    elif phase == PART:
        counts[piece] = part_chunk(data.groups, lines.rows, lines.buffer, nodes[job[NODE]], by_set, start, stop, ints)
    elif phase == COPY:
        before, total = np.int64(0), np.int64(0)
        for k in range(n_chunks(job)):
            total += counts[k]
            before += counts[k] if k < piece else 0
        copy_chunk(lines.rows, lines.buffer, job[START], before, total, counts[piece], start, stop)
    elif phase == FINISH and nodes[piece, LEFT] == 0:
        finish_leaf(lines.rows, data, nodes[piece], tree.measures[piece], settings)
    if is_search:
        search_group(piece, tree, rules, by_set, directed, ints, floats)


@lean_and_kept
def grow_tree(thread, state, data, lines, tree, rules, choice, by_set, directed, ints, floats):
    """Grow a tree: thread 0 leads, others help.

    Its nodes stand in ``tree``, their number in its job. Where ``data.raw`` has entries, the values of the leaves are
    added to it.
    """
    n_pieces, spins, rows = np.int64(0), 0, lines.rows
    if thread == 0:
        for i in range(rows.shape[0]):
            rows[i] = i
        tree.nodes[0, LAST] = rows.shape[0]
    while True:
        piece = claim(state)
        if piece != NOTHING:
            spins = 0
            do_piece(piece, data, lines, tree, rules, by_set, directed, ints[thread], floats[thread])
            add(state, DONE, 1)
        elif thread == 0:
            await_done(state, n_pieces)
            n_pieces = next_job(data.groups.shape[0], tree, rules, choice, by_set, directed, ints[0], floats[0])
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


TABLE_PLACE = np.uint64(TABLE)


@lean
def part_chunk(groups, rows, buffer, node, by_set, start, stop, ints):
    """Put the rows of a chunk that go left at its front in the buffer and the others, backwards, at its end."""
    for b in range(N_BINS):
        ints[TABLE + b] = b <= node[BIN]
        if by_set is not None and node[IS_CATEGORY]:
            ints[TABLE + b] = (node[BITS + (b >> 5)] >> (b & 31)) & 1
    ints[TABLE + MISSING] = node[MISSING_SIDE]
    feature = node[FEATURE]
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
def count_group(group, groups, rows, pairs, slots, nodes, job):
    """Add a block of rows to the histograms of four features; the sibling's are what is then left of the parent's."""
    counted, start = nodes[job[COUNTED]], group * GROUP_SIZE
    histograms = slots[counted[SLOT], start : start + GROUP_SIZE]
    if job[START] == counted[FIRST]:
        for i in range(GROUP_SIZE):
            histograms[i] = 0
    count_rows(groups[group], rows, job[START], job[STOP], pairs, histograms)
    if job[IS_KNOWN] and job[STOP] == counted[LAST]:
        parent = slots[nodes[job[LARGE], SLOT], start : start + GROUP_SIZE]
        for i in range(GROUP_SIZE):
            parent[i] -= histograms[i]


@lean
def finish_leaf(rows, data, node, measures, settings):
    """Set the value of a leaf to its Newton step, shrunken, and add it to the predictions of its rows."""
    gradient, hessian = 0.0, 0.0
    is_constant = data.hessians.shape[0] == 1
    for i in range(node[FIRST], node[LAST]):
        gradient += data.gradients[rows[i]]
        hessian += data.hessians[0 if is_constant else rows[i]]
    value = bounded_value(gradient, hessian, settings[L2], measures[LOWER], measures[UPPER]) * settings[SHRINKAGE]
    measures[VALUE] = value
    if data.raw.shape[0]:
        for i in range(node[FIRST], node[LAST]):
            data.raw[rows[i]] += value
