"""Coordinate descent on a Gram matrix. Arguments are float64 arrays and scalars that the caller has checked."""

# mypy: allow-untyped-defs

from pellucid.solvers.compiling_kernels import kept


@kept
def soft_threshold(z, threshold, positive):
    """Return the ``u`` that minimizes ``(u - z)^2 / 2 + threshold |u|``, over ``u >= 0`` if positive."""
    if z > threshold:
        return z - threshold
    if z < -threshold and not positive:
        return z + threshold
    return 0.0


@kept
def elastic_net_gap(g, w, sq_residual, l1, l2, positive):
    """Return the duality gap of the elastic net over the columns whose correlations with the residual are ``g``. O(k).

    The smaller of the gaps of two dual points. Every summand is at least 0, so that the gap stays accurate when it is
    many orders of magnitude smaller than the objective.
    """
    gap = _gap_of_shrunk_residual(g, w, sq_residual, l1, l2, positive)
    return min(gap, _gap_of_residual(g, w, l1, l2, positive)) if l2 > 0.0 else gap


@kept
def _gap_of_shrunk_residual(g, w, sq_residual, l1, l2, positive):
    """Take the residual, with rows ``sqrt(l2) I`` appended to ``A``, shrunk until it is feasible, as dual point."""
    steepest = 0.0
    for j in range(w.shape[0]):
        slope = g[j] - l2 * w[j]
        steepest = max(steepest, slope if positive else abs(slope))
    shrink = 1.0 if steepest <= l1 else l1 / steepest
    gap = 0.5 * (1.0 - shrink) ** 2 * sq_residual
    for j in range(w.shape[0]):
        if w[j] != 0.0:
            gap += 0.5 * (1.0 - shrink) ** 2 * l2 * w[j] ** 2
            gap += max(0.0, l1 * abs(w[j]) - shrink * w[j] * (g[j] - l2 * w[j]))
    return gap


@kept
def _gap_of_residual(g, w, l1, l2, positive):
    """Take the residual itself as dual point: with ``l2 > 0`` the conjugate of the penalty is a squared excess."""
    gap = 0.0
    for j in range(w.shape[0]):
        excess = max(0.0, (g[j] if positive else abs(g[j])) - l1)
        along = -g[j] if w[j] < 0.0 else g[j]  # correlation in the direction of the coefficient
        if w[j] == 0.0:
            gap += excess**2 / (2.0 * l2)
        elif along > l1:
            gap += (l2 * abs(w[j]) - (along - l1)) ** 2 / (2.0 * l2)
        else:
            gap += abs(w[j]) * (l1 - along) + 0.5 * l2 * w[j] ** 2 + excess**2 / (2.0 * l2)
    return gap


@kept
def gram_descent(G, g, w, order, l1, l2, positive, sq_residual, goal, patience, max_passes):
    """Minimize ``|b - A w|^2 / 2 + l1 |w|_1 + l2 |w|^2 / 2`` over the ``k`` columns with Gram matrix ``G[:k, :k]``.

    Writes ``w`` and ``g``, keeping ``g == A'(b - A w)``. Stops when the gap is at most ``goal``, when the signs of
    ``w`` have not changed for ``patience`` passes, or after ``max_passes``. Returns the passes done, the gap and
    ``|b - A w|^2``. A pass costs O(k) plus O(k) for every coordinate that moves.
    """
    k = w.shape[0]
    settled = 0
    gap = elastic_net_gap(g, w, sq_residual, l1, l2, positive)
    for n_passes in range(1, max_passes + 1):
        changed = False
        for position in range(k):
            j = order[position]
            curvature = G[j, j] + l2
            if curvature <= 0.0:  # a constant column after centering: w[j] stays
                continue
            old = w[j]
            new = soft_threshold(g[j] + G[j, j] * old, l1, positive) / curvature
            step = new - old
            if step == 0.0:
                continue
            changed = changed or (new > 0.0) != (old > 0.0) or (new < 0.0) != (old < 0.0)
            sq_residual += step * (step * G[j, j] - 2.0 * g[j])
            w[j] = new
            for i in range(k):
                g[i] -= step * G[j, i]
        sq_residual = max(sq_residual, 0.0)
        settled = 0 if changed else settled + 1
        gap = elastic_net_gap(g, w, sq_residual, l1, l2, positive)
        if gap <= goal or settled >= patience:
            return n_passes, gap, sq_residual
    return max_passes, gap, sq_residual


@kept
def gather_block(G, indices, block):
    """Write ``G[indices][:, indices]`` to ``block``."""
    for i in range(indices.shape[0]):
        for j in range(indices.shape[0]):
            block[i, j] = G[indices[i], indices[j]]
