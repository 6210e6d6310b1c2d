"""Pairs of coefficients that change together, within one working set. Arrays the caller has checked."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.solvers.compiling_kernels import lean, lean_and_kept, lean_in_any_order

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


@lean_and_kept
def pair_steps(K, coef, gradient, lower, upper, tube, tol, most, diagonal, rise, fall):
    """Move pairs of coefficients until no pair of this set violates by more than ``tol``; return how many moved.

    All arrays are cut into chunks: ``K``, the products within the set, is (q, q / CHUNK, CHUNK), the others are
    (q / CHUNK, CHUNK), filled up by coefficients that may not move; the last three are room. Writes ``coef`` and keeps
    ``gradient == K @ coef - t`` for the set, where other coefficients add constants. The first of a pair has the
    steepest slope upwards, the second gains most with it by the second-order model. O(q) a pair.
    """
    n_chunks = coef.shape[0]
    for c in range(n_chunks):
        for k in range(CHUNK):
            diagonal[c, k] = K[c * CHUNK + k, c, k]
            rise[c, k] = rise_of(coef[c, k], upper[c, k], tube)
            fall[c, k] = fall_of(coef[c, k], lower[c, k], tube)
    done, step = 0, 0.0
    ic, ik, jc, jk = 0, 0, 0, 0  # chunk and place in it, of the first and the second of the pair
    while True:
        row, other = K[ic * CHUNK + ik], K[jc * CHUNK + jk]
        steepest = np.inf
        for c in range(n_chunks):
            least = add_and_find_least(row[c], other[c], step, gradient[c], rise[c])
            if least < steepest:
                steepest, ic = least, c
        if done >= most or steepest == np.inf:
            return done
        steepest = np.inf
        for k in range(CHUNK):
            if gradient[ic, k] + rise[ic, k] < steepest:
                ik, steepest = k, gradient[ic, k] + rise[ic, k]
        row, own = K[ic * CHUNK + ik], diagonal[ic, ik]
        best, worst = 0.0, 0.0
        for c in range(n_chunks):
            gain, drop = best_gain(row[c], own, diagonal[c], gradient[c], fall[c], steepest)
            worst = max(worst, drop)
            if gain > best:
                best, jc = gain, c
        if worst <= tol or best == 0.0:
            return done
        best, descent, curvature = -1.0, 0.0, FLAT
        for k in range(CHUNK):
            drop = max(gradient[jc, k] + fall[jc, k] - steepest, 0.0)
            bend = max(own + diagonal[jc, k] - 2.0 * row[jc, k], FLAT)
            if drop * drop / bend > best:
                jk, best, descent, curvature = k, drop * drop / bend, drop, bend
        up, down = coef[ic, ik], coef[jc, jk]
        room_up = -up if up < 0.0 else upper[ic, ik] - up  # the tube has a kink at 0: stop there
        room_down = down if down > 0.0 else down - lower[jc, jk]
        step = min(descent / curvature, room_up, room_down)
        if not step > 0.0:
            return done
        coef[ic, ik] = (0.0 if up < 0.0 else upper[ic, ik]) if step == room_up else up + step
        coef[jc, jk] = (0.0 if down > 0.0 else lower[jc, jk]) if step == room_down else down - step
        rise[ic, ik] = rise_of(coef[ic, ik], upper[ic, ik], tube)
        fall[ic, ik] = fall_of(coef[ic, ik], lower[ic, ik], tube)
        rise[jc, jk] = rise_of(coef[jc, jk], upper[jc, jk], tube)
        fall[jc, jk] = fall_of(coef[jc, jk], lower[jc, jk], tube)
        done += 1


@lean_and_kept
def survey(coef, gradient, lower, upper, tube, rising, falling):
    """Write the slope of the objective as each coefficient rises, and mirrored as it falls; infinite at a box's end.

    No slope upwards is below a slope downwards at the minimum. Return the least upwards, the largest downwards, and the
    gap at the bias between the two, for these rows alone.
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
    return least, largest, cost_and_gap(-0.5 * (least + largest), coef, gradient, lower, upper, tube)[1]


@lean_and_kept
def cost_and_gap(intercept, coef, gradient, lower, upper, tube):
    """Return what the residuals at an intercept cost, and how far that primal objective is above the dual one.

    Every term of the gap is at least 0 up to rounding. Where a box is infinite the excess is a constraint and costs
    nothing.
    """
    total, gap = 0.0, 0.0
    for k in range(coef.shape[0]):
        residual, cost = -gradient[k] - intercept, 0.0
        if residual > tube and upper[k] < np.inf:
            cost = upper[k] * (residual - tube)
        elif residual < -tube and lower[k] > -np.inf:
            cost = -lower[k] * (-residual - tube)
        total += cost
        gap += abs(cost - coef[k] * residual + tube * abs(coef[k]))
    return total, gap


@lean_and_kept
def measured(coef, gradient, target, lower, upper, tube):
    r"""Return what a point says: the range of its intercept, the one chosen, by how much pairs violate, and four sums.

    The sums are :math:`\|w\|^2`, the cost, the gap there and the dual objective. Rows with coefficients inside their
    boxes ask for one intercept and count by the widths of these, as a row that stands for k rows has a box k times as
    wide; if there are none, it is the middle of what others allow, their finite end if one is, or else 0.
    """
    low, high = -np.inf, np.inf
    asked, width, plainly, n_free = 0.0, 0.0, 0.0, 0
    squared, dual = 0.0, 0.0
    for k in range(coef.shape[0]):
        squared += coef[k] * (gradient[k] + target[k])
        dual += 0.5 * (target[k] - gradient[k]) * coef[k] - tube * abs(coef[k])
        up = -gradient[k] - (tube if coef[k] >= 0.0 else -tube)
        down = -gradient[k] - (tube if coef[k] > 0.0 else -tube)
        if coef[k] < upper[k]:
            low = max(low, up)
        if coef[k] > lower[k]:
            high = min(high, down)
        if lower[k] < coef[k] < upper[k] and up == down:  # with a tube, 0 is at its border
            asked, width = asked + up * (upper[k] - lower[k]), width + (upper[k] - lower[k])
            plainly, n_free = plainly + up, n_free + 1
    violation = low - high if -np.inf < low and high < np.inf and low > high else 0.0
    if n_free > 0:
        low = high = asked / width if width < np.inf else plainly / n_free
    low, high = min(low, high), max(low, high)
    first = low if low > -np.inf else high
    last = high if high < np.inf else low
    intercept = 0.5 * (first + last) if abs(first) < np.inf else 0.0
    cost, gap = cost_and_gap(intercept, coef, gradient, lower, upper, tube)
    return low, high, intercept, violation, squared, cost, gap, dual


@lean_and_kept
def pair_steps_of_all(products, point, boxes, tube, tol, most, room, seen):
    """Move pairs among all rows, from 0, in one call; return how many moved.

    ``products`` is (n, n); ``point`` holds the coefficients, the gradient, which must be that at 0, and room for two
    kinds of slopes; ``boxes`` the ends of the boxes. ``room`` of zeros is for all that ``pair_steps`` takes, ``K`` in
    front. The two rows of ``seen`` are what ``survey`` returns at first and at last.
    """
    n = products.shape[0]
    K, chunked, more = room[:-7], room[-7:-3], room[-3:]
    coef, gradient, rising, falling = point
    seen[0, 0], seen[0, 1], seen[0, 2] = survey(coef, gradient, boxes[0], boxes[1], tube, rising, falling)
    for start in range(0, n, CHUNK):
        c, width = start // CHUNK, min(CHUNK, n - start)
        for k in range(width):
            chunked[0, c, k], chunked[1, c, k] = coef[start + k], gradient[start + k]
            chunked[2, c, k], chunked[3, c, k] = boxes[0, start + k], boxes[1, start + k]
        for r in range(n):
            row, part = products[r, start:], K[r, c]
            for k in range(width):
                part[k] = row[k]
    done = pair_steps(K, chunked[0], chunked[1], chunked[2], chunked[3], tube, tol, most, more[0], more[1], more[2])
    for k in range(n):
        coef[k], gradient[k] = chunked[0, k // CHUNK, k % CHUNK], chunked[1, k // CHUNK, k % CHUNK]
    seen[1, 0], seen[1, 1], seen[1, 2] = survey(coef, gradient, boxes[0], boxes[1], tube, rising, falling)
    return done


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
        if filled:
            row = products[slots[r]]
            for c in range(filled):
                out[r, c] = row[np.uintp(columns[c])]  # never counted from the end: a third less time
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
