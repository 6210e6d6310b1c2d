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
    CHUNK,
    COPY,
    COUNT,
    COUNTED,
    DIRECTION,
    FINISH,
    FREE,
    GRADIENT,
    HAS_MISSING,
    HESSIAN,
    IS_CATEGORICAL,
    IS_SEARCH,
    LARGE,
    LAST,
    LEFT,
    LOWER,
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
)
from pellucid.ensemble.hist_gradient_boosting.histogram_kernels import FEATURE_SIZE, GROUP, round_rows
from pellucid.ensemble.hist_gradient_boosting.job_kernels import n_chunks, next_job
from pellucid.ensemble.hist_gradient_boosting.row_kernels import copy_chunk, count_group, finish_leaf, part_chunk
from pellucid.ensemble.hist_gradient_boosting.split_kernels import (
    ALLOWED,
    COUNT_BITS,
    NO_GAIN,
    PER_GRADIENT,
    PER_HESSIAN,
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
