"""Coordinate descent for bridge regression. Arguments are float64 arrays and scalars that the caller has checked."""

# mypy: allow-untyped-defs

from pellucid.solvers.compiling_kernels import kept


@kept
def bridge_root(a, c, penalty, q, low):
    """Return the root of ``a w - c + penalty q w^(q-1)`` between ``low`` and ``c / a``, where it increases."""
    high = c / a
    w = high
    for _ in range(200):
        slope = a * w - c + penalty * q * w ** (q - 1.0)
        if slope > 0.0:
            high = w
        else:
            low = w
        curvature = a + penalty * q * (q - 1.0) * w ** (q - 2.0)
        step = w - slope / curvature
        # Newton's step where it stays in the bracket, otherwise halve the bracket.
        nxt = step if low < step < high else 0.5 * (low + high)
        if abs(nxt - w) <= 1e-16 * w:
            return nxt
        w = nxt
    return w


@kept
def bridge_minimizer(a, c, penalty, q):
    """Return the global minimizer of ``a w^2 / 2 - c w + penalty |w|^q``; of two equal ones, 0."""
    size = abs(c)
    if a <= 0.0 or size == 0.0:
        return 0.0
    sign = 1.0 if c > 0.0 else -1.0
    if q == 1.0:
        return sign * (size - penalty) / a if size > penalty else 0.0
    if q > 1.0:
        return sign * bridge_root(a, size, penalty, q, 0.0)
    turn = (penalty * q * (1.0 - q) / a) ** (1.0 / (2.0 - q))  # left of it the slope falls
    if turn >= size / a or a * turn - size + penalty * q * turn ** (q - 1.0) >= 0.0:
        return 0.0
    w = bridge_root(a, size, penalty, q, turn)
    return sign * w if 0.5 * a * w * w - size * w + penalty * w**q < 0.0 else 0.0


@kept
def bridge_pass(gram, gradient, w, penalty, q):
    """Minimize over each ``w[j]`` in turn, in place; keep ``gradient == A'b - gram @ w``. O(p^2).

    Returns the largest change of the fit, ``max_j |step_j| |a_j|``.
    """
    largest = 0.0
    for j in range(len(w)):
        a = gram[j, j]
        old = w[j]
        new = bridge_minimizer(a, gradient[j] + a * old, penalty, q)
        step = new - old
        if step != 0.0:
            w[j] = new
            for k in range(len(w)):
                gradient[k] -= step * gram[k, j]
            largest = max(largest, abs(step) * a**0.5)
    return largest
