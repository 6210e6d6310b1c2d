"""The jobs of growing a tree, one after another: what the leading thread decides."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.ensemble.hist_gradient_boosting.claim_kernels import NOTHING
from pellucid.ensemble.hist_gradient_boosting.growing_layout import (
    BLOCK,
    CHUNK,
    COPY,
    COUNT,
    COUNTED,
    FINISH,
    FIRST,
    FREE,
    GAIN,
    IS_KNOWN,
    IS_SEARCH,
    LARGE,
    LAST,
    LEFT,
    MOST_LEAVES,
    N_FREE,
    N_NODES,
    N_SLOTS,
    NODE,
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
)
from pellucid.ensemble.hist_gradient_boosting.node_kernels import (
    allow_features,
    choose_split,
    is_open,
    make_children,
    plant_root,
)
from pellucid.solvers.compiling_kernels import lean

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
