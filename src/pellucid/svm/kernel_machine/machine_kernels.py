"""Pairs of coefficients that change together, within one working set. Arrays the caller has checked."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.numerics.compiling_kernels import kept, lean, lean_and_kept, lean_in_any_order

FLAT = 1e-12
"""The least curvature along a pair, so that the step is finite where two rows are the same."""


CHUNK = 128
"""Coefficients of a working set that are looked at in one go: the best of a chunk is found by vector instructions."""


@lean_in_any_order
def add_and_find_least(row, other, step, gradient, rise):
    """Add ``step`` times the difference of two rows to the gradient; return the least slope upwards."""
    least = np.inf
    for k in range(row.shape[0]):
        gradient[k] += step * (np.float64(row[k]) - np.float64(other[k]))
        slope = gradient[k] + rise[k]
        least = slope if slope < least else least
    return least


@lean_in_any_order
def best_gain(row, first, diagonal, gradient, fall, steepest):
    """Return the most that the first coefficient gains with one of these, and the largest violation."""
    worst = best = 0.0
    for k in range(row.shape[0]):
        drop = gradient[k] + fall[k] - steepest
        drop = drop if drop > 0.0 else 0.0
        worst = drop if drop > worst else worst
        bend = first + diagonal[k] - 2.0 * row[k]
        bend = bend if bend > FLAT else FLAT
        gain = drop * drop / bend
        best = gain if gain > best else best
    return best, worst


@lean
def rise_of(coef, upper, tube):
    """Return what the tube adds to the slope upwards; infinity where the box ends."""
    if coef >= upper:
        return np.inf
    return tube if coef >= 0.0 else -tube


@lean
def fall_of(coef, lower, tube):
    """Return what the tube adds to the slope downwards; minus infinity where the box ends."""
    if coef <= lower:
        return -np.inf
    return tube if coef > 0.0 else -tube


@kept
def pair_steps(K, coef, gradient, lower, upper, tube, tol, most):
    """Move pairs of coefficients until no pair of this set violates by more than ``tol``; return how many moved.

    ``K`` are the products within the set, (q, q); q is a whole number of chunks, filled up by coefficients that may
    not move. Writes ``coef`` and keeps ``gradient == K @ coef - t`` for the set, where other coefficients add
    constants. The first of a pair has the steepest slope upwards, the second gains most with it by the second-order
    model. O(q) a pair.
    """
    q = coef.shape[0]
    n_chunks = q // CHUNK
    products, chunked = K.reshape(q, n_chunks, CHUNK), gradient.reshape(n_chunks, CHUNK)
    diagonal, rise, fall = np.empty(q), np.empty(q), np.empty(q)
    for k in range(q):
        diagonal[k] = K[k, k]
        rise[k], fall[k] = rise_of(coef[k], upper[k], tube), fall_of(coef[k], lower[k], tube)
    diagonals, rises, falls = (
        diagonal.reshape(n_chunks, CHUNK),
        rise.reshape(n_chunks, CHUNK),
        fall.reshape(n_chunks, CHUNK),
    )
    done, i, j, step = 0, 0, 0, 0.0
    while True:
        steepest, chunk = np.inf, 0
        for c in range(n_chunks):
            least = add_and_find_least(products[i, c], products[j, c], step, chunked[c], rises[c])
            if least < steepest:
                steepest, chunk = least, c
        if done >= most or steepest == np.inf:
            return done
        i = chunk * CHUNK + int(np.argmin(chunked[chunk] + rises[chunk]))
        best, worst, chunk = 0.0, 0.0, 0
        for c in range(n_chunks):
            gain, drop = best_gain(products[i, c], diagonal[i], diagonals[c], chunked[c], falls[c], steepest)
            worst = max(worst, drop)
            if gain > best:
                best, chunk = gain, c
        if worst <= tol or best == 0.0:
            return done
        j, best = 0, -1.0
        for k in range(chunk * CHUNK, chunk * CHUNK + CHUNK):
            drop = max(gradient[k] + fall[k] - steepest, 0.0)
            gain = drop * drop / max(diagonal[i] + diagonal[k] - 2.0 * K[i, k], FLAT)
            if gain > best:
                j, best = k, gain
        bend = max(diagonal[i] + diagonal[j] - 2.0 * K[i, j], FLAT)
        room_up = -coef[i] if coef[i] < 0.0 else upper[i] - coef[i]  # the tube has a kink at 0: stop there
        room_down = coef[j] if coef[j] > 0.0 else coef[j] - lower[j]
        step = min((gradient[j] + fall[j] - steepest) / bend, room_up, room_down)
        if not step > 0.0:
            return done
        coef[i] = (0.0 if coef[i] < 0.0 else upper[i]) if step == room_up else coef[i] + step
        coef[j] = (0.0 if coef[j] > 0.0 else lower[j]) if step == room_down else coef[j] - step
        for k in (i, j):
            rise[k], fall[k] = rise_of(coef[k], upper[k], tube), fall_of(coef[k], lower[k], tube)
        done += 1


@lean_and_kept
def survey(coef, gradient, lower, upper, tube, rising, falling):
    """Write the slopes of ``machine_problem.slopes``; return the least upwards, the largest downwards, and the gap.

    The gap is measured at the bias between the two slopes, for these rows alone.
    """
    least, largest = np.inf, -np.inf
    for k in range(coef.shape[0]):
        rising[k] = np.inf
        falling[k] = -np.inf
        if coef[k] < upper[k]:
            rising[k] = gradient[k] + tube if coef[k] >= 0.0 else gradient[k] - tube
            least = min(least, rising[k])
        if coef[k] > lower[k]:
            falling[k] = gradient[k] + tube if coef[k] > 0.0 else gradient[k] - tube
            largest = max(largest, falling[k])
    middle, gap = 0.5 * (least + largest), 0.0
    for k in range(coef.shape[0]):
        residual = middle - gradient[k]
        cost = max(0.0, upper[k] * (residual - tube), lower[k] * (residual + tube))
        gap += cost - coef[k] * residual + tube * abs(coef[k])
    return least, largest, gap


@lean_and_kept
def add_rows(products, slots, change, gradient, start, stop):
    """Add ``change[r]`` times row ``slots[r]`` of the products to ``gradient[start:stop]``, four rows at a time."""
    r = 0
    while r + 4 <= slots.shape[0]:
        a, b, c, d = slots[r], slots[r + 1], slots[r + 2], slots[r + 3]
        p, q, s, t = change[r], change[r + 1], change[r + 2], change[r + 3]
        for k in range(start, stop):
            gradient[k] += p * products[a, k] + q * products[b, k] + s * products[c, k] + t * products[d, k]
        r += 4
    while r < slots.shape[0]:
        a, p = slots[r], change[r]
        for k in range(start, stop):
            gradient[k] += p * products[a, k]
        r += 1


@lean_and_kept
def pick(products, slots, columns, out, start, stop):
    """Write the chosen columns of the chosen rows to rows of ``out``, and zeros to what is left of them."""
    for r in range(start, stop):
        filled = columns.shape[0] if r < slots.shape[0] else 0
        for c in range(filled):
            out[r, c] = products[slots[r], columns[c]]
        for c in range(filled, out.shape[1]):
            out[r, c] = 0.0


@lean_and_kept
def compact(products, slots, places, room):
    """Move the chosen columns of the chosen rows to the front of the room they stand in, both in rising order."""
    end = 0
    for r in range(slots.shape[0]):
        for c in range(places.shape[0]):
            room[end] = products[slots[r], places[c]]
            end += 1
