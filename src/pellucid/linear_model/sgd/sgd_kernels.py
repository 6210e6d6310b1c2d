"""Epochs of learning row by row. Arguments are arrays that the caller has checked, and a :class:`StepRule`.

The weights are ``state[SCALE] * w``, so that an l2 penalty shrinks all of them by one product; the average of the
weights over the steps is ``(average + state[AVERAGE_PART] * w) / state[AVERAGE_SIZE]``, so that a step changes it
only where its row is not 0. ``fastmath`` may reorder the sums of a dot product, which lets it be vectorized: an epoch
of 50,000 x 50 takes 2.8 ms instead of 3.8.

Code that was kept on disk names the module of the rule: where that moves, these lines must stand elsewhere.
"""

# mypy: allow-untyped-defs

from pellucid.losses.loss_kernels import loss_and_slope
from pellucid.solvers.compiling_kernels import kept

REORDER = {"reassoc", "contract", "nsz"}
LARGEST_SLOPE = 1e12
SMALLEST_SCALE = 1e-9

INTERCEPT, AVERAGE_INTERCEPT, SCALE, STEP, ETA, PULL, SQ_NORM, L1_NORM = 0, 1, 2, 3, 4, 5, 6, 7
AVERAGE_PART, AVERAGE_SIZE, OBJECTIVE, UPDATES = 8, 9, 10, 11
STATE_SIZE = 12
"""Places in ``state``: ``PULL`` is what the l1 penalty may have taken from a weight since the start, ``OBJECTIVE`` the
weighted sum of loss and penalty just before each step of the epoch, ``UPDATES`` the steps that moved the weights."""


@kept
def decide(rule, state, y, score, weight, cost, sq_norm):
    """Return how much of the row to add to the weights; set ``ETA`` and add to ``OBJECTIVE``. O(1)."""
    loss, slope = loss_and_slope(rule.loss, rule.width, y, score)
    if rule.schedule >= 3:  # passive-aggressive: as far as the loss of this row asks for; its objective is the loss
        state[OBJECTIVE] += weight * loss
        size = min(rule.eta0, loss / sq_norm) if rule.schedule == 3 else loss / (sq_norm + 0.5 / rule.eta0)
        return y * size * cost
    if rule.shrink + rule.truncate > 0.0:
        scale = state[SCALE]
        loss += scale * (0.5 * rule.shrink * scale * state[SQ_NORM] + rule.truncate * state[L1_NORM])
    state[OBJECTIVE] += weight * loss
    if rule.schedule == 1:
        state[ETA] = 1.0 / (rule.alpha * (rule.optimal_start + state[STEP] - 1.0))
    elif rule.schedule == 2:
        state[ETA] = rule.eta0 / state[STEP] ** rule.power_t
    if slope == 0.0:
        return 0.0
    return -state[ETA] * min(max(slope, -LARGEST_SLOPE), LARGEST_SLOPE) * cost


@kept
def rescale(w, average, dual, state):
    """Move the factors of the weights and of their average into the arrays. O(n + p)."""
    if state[AVERAGE_PART] != 0.0 or state[AVERAGE_SIZE] != 1.0:
        for j in range(average.shape[0]):
            average[j] = (average[j] + state[AVERAGE_PART] * w[j]) / state[AVERAGE_SIZE]
        state[AVERAGE_PART], state[AVERAGE_SIZE] = 0.0, 1.0
    scale = state[SCALE]
    if scale != 1.0:
        for j in range(w.shape[0]):
            w[j] *= scale
        for i in range(dual.shape[0]):
            dual[i] *= scale
        state[SQ_NORM] *= scale * scale
        state[L1_NORM] *= scale
        state[SCALE] = 1.0


@kept
def finish_step(rule, state, update):
    """Move the intercept, its average and the counts; return the factor of the row's share in ``average``. O(1)."""
    state[INTERCEPT] += update * rule.intercept_rate
    state[PULL] += state[ETA] * rule.truncate
    part = state[AVERAGE_PART]
    if 0.0 < rule.average_from <= state[STEP]:
        count = state[STEP] - rule.average_from + 1.0
        state[AVERAGE_INTERCEPT] += (state[INTERCEPT] - state[AVERAGE_INTERCEPT]) / count
        if count > 1.0:
            state[AVERAGE_SIZE] /= 1.0 - 1.0 / count
        state[AVERAGE_PART] += state[AVERAGE_SIZE] / count * state[SCALE]
    state[STEP] += 1.0
    state[UPDATES] += update != 0.0
    return part


@kept
def truncate(w, paid, average, state, j, change, share):
    """Add to one weight and take the l1 penalty due from it, but for what it has paid; never across 0. O(1)."""
    old, scale = w[j], state[SCALE]
    due = scale * (old + change)
    left = due
    if due > 0.0:
        left = max(0.0, due - (state[PULL] + paid[j]))
    elif due < 0.0:
        left = min(0.0, due + (state[PULL] - paid[j]))
    paid[j] += left - due
    new = left / scale
    w[j] = new
    average[j] -= share * (new - old)
    state[L1_NORM] += abs(new) - abs(old)
    state[SQ_NORM] += new * new - old * old


@kept(fastmath=REORDER)
def dense_epoch(X, order, y, weight, cost, sq_norms, w, paid, average, dual, state, rule):
    """Show the rows in ``order``; write ``w``, ``paid``, ``average``, ``dual`` and ``state``. O(len(order) p).

    ``dual`` keeps ``w == X' dual`` unless there is an l1 penalty.
    """
    p = X.shape[1]
    for i in order:
        if rule.schedule == 3 and sq_norms[i] == 0.0:  # nothing to learn from, and no step
            continue
        product = 0.0
        for j in range(p):
            product += X[i, j] * w[j]
        score = state[SCALE] * product + state[INTERCEPT]
        update = decide(rule, state, y[i], score, weight[i], cost[i], sq_norms[i])
        if rule.shrink > 0.0:
            state[SCALE] *= max(0.0, 1.0 - state[ETA] * rule.shrink)
            if state[SCALE] < SMALLEST_SCALE:
                product *= state[SCALE]
                rescale(w, average, dual, state)
        share = finish_step(rule, state, update)
        if rule.truncate > 0.0:
            change = update / state[SCALE]
            for j in range(p):
                truncate(w, paid, average, state, j, change * X[i, j], share)
        elif update != 0.0:
            change = update / state[SCALE]
            state[SQ_NORM] += change * (2.0 * product + change * sq_norms[i])
            dual[i] += change
            for j in range(p):
                w[j] += change * X[i, j]
            if share != 0.0:
                for j in range(p):
                    average[j] -= share * change * X[i, j]


@kept(fastmath=REORDER)
def sparse_epoch(data, columns, ends, order, y, weight, cost, sq_norms, w, paid, average, dual, state, rule):
    """Do the same for rows in CSR without repeated entries. O(entries of the rows in ``order``)."""
    for i in order:
        if rule.schedule == 3 and sq_norms[i] == 0.0:
            continue
        start, end = ends[i], ends[i + 1]
        product = 0.0
        for e in range(start, end):
            product += data[e] * w[columns[e]]
        score = state[SCALE] * product + state[INTERCEPT]
        update = decide(rule, state, y[i], score, weight[i], cost[i], sq_norms[i])
        if rule.shrink > 0.0:
            state[SCALE] *= max(0.0, 1.0 - state[ETA] * rule.shrink)
            if state[SCALE] < SMALLEST_SCALE:
                product *= state[SCALE]
                rescale(w, average, dual, state)
        share = finish_step(rule, state, update)
        if rule.truncate > 0.0:
            change = update / state[SCALE]
            for e in range(start, end):
                truncate(w, paid, average, state, columns[e], change * data[e], share)
        elif update != 0.0:
            change = update / state[SCALE]
            state[SQ_NORM] += change * (2.0 * product + change * sq_norms[i])
            dual[i] += change
            for e in range(start, end):
                w[columns[e]] += change * data[e]
            if share != 0.0:
                for e in range(start, end):
                    average[columns[e]] -= share * change * data[e]
