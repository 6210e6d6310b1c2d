"""Loops of total variation denoising. Arguments are float arrays that the caller has checked; weight and step are 1."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.solvers.compiling_kernels import kept, lean, lean_in_any_order

ANY_ORDER = {"nnan", "nsz", "reassoc", "contract"}


@lean_in_any_order
def extrapolated_row(data, p, old, i, above, q, x, momentum):
    """Write row i of q = p + momentum (p - old), and of x = y - D'q; ``above`` is q of the row before."""
    n = x.size
    vertical, horizontal, upper = q[0], q[1], above[0]
    p0, p1, old0, old1 = p[0, i], p[1, i], old[0, i], old[1, i]
    for j in range(n):
        vertical[j] = p0[j] + momentum * (p0[j] - old0[j])
    for j in range(n):
        horizontal[j] = p1[j] + momentum * (p1[j] - old1[j])
    x[0] = data[0] + vertical[0] - upper[0] + horizontal[0]
    for j in range(1, n):
        x[j] = data[j] + (vertical[j] - upper[j]) + (horizontal[j] - horizontal[j - 1])


@lean_in_any_order
def invert(lengths):
    """Replace numbers of at least 1 by one over them: two at a time, as a division takes as long as ten products."""
    half = lengths.size // 2
    one, left, right = lengths.dtype.type(1.0), lengths[:half], lengths[half : 2 * half]
    for j in range(half):
        both = one / (left[j] * right[j])
        left[j], right[j] = both * right[j], both * left[j]
    if lengths.size % 2:
        lengths[2 * half] = one / lengths[2 * half]


@lean_in_any_order
def projected_row(out, i, q, x, below, step, isotropic, scale):
    """Write row i of the dual field: q + step D x, brought back into the unit ball."""
    n = x.size
    vertical, horizontal, p0, p1 = q[0], q[1], out[0, i], out[1, i]
    one = scale.dtype.type(1.0)
    for j in range(n):
        vertical[j] += step * (below[j] - x[j])
    for j in range(n - 1):
        horizontal[j] += step * (x[j + 1] - x[j])
    horizontal[n - 1] = step - step
    if isotropic:
        for j in range(n):
            scale[j] = max(vertical[j] * vertical[j] + horizontal[j] * horizontal[j], one)
        for j in range(n):  # apart from the division: together they take half as long again
            scale[j] = np.sqrt(scale[j])
        invert(scale)
        for j in range(n):
            p0[j], p1[j] = vertical[j] * scale[j], horizontal[j] * scale[j]
    else:
        for j in range(n):
            p0[j] = min(max(vertical[j], -one), one)
        for j in range(n):
            p1[j] = min(max(horizontal[j], -one), one)


@lean
def copied_rows(source, first, last, target, start):
    """Copy rows ``first`` to ``last`` of both parts of a field to rows from ``start`` on."""
    for part in range(2):
        for i in range(first, last):
            row, copy = source[part, i], target[part, start + i - first]
            for j in range(row.size):
                copy[j] = row[j]


@kept(fastmath=ANY_ORDER, _nrt=False)
def advance(y, p, old, first, last, momenta, step, isotropic, p_out, old_out, p_here, old_here, rows):
    """Write rows ``first`` to ``last`` of the dual field after ``momenta.size`` steps, and of the one a step before.

    A row after k steps depends on k rows above and below it, so that the rows of a margin are computed as well, fewer
    by one at each step: blocks need not wait for each other. ``p_here``, ``old_here`` and ``rows`` are room for what
    is computed, the last of 9 rows of zeros. O(rows n) per step.
    """
    n_rows, n_steps = y.shape[0], momenta.size
    top, bottom = max(0, first - n_steps), min(n_rows, last + n_steps)
    copied_rows(p, top, bottom, p_here, 0)
    copied_rows(old, top, bottom, old_here, 0)
    q, x, nothing, scale = (rows[0:2], rows[2:4]), (rows[4], rows[5]), rows[6:8], rows[8]
    for k in range(n_steps):
        start = 0 if top == 0 else k
        stop = bottom - top if bottom == n_rows else bottom - top - k
        momentum = momenta[k]
        # the row above the margin is unknown: what it spoils moves down one row a step, and never arrives
        odd = start & 1
        extrapolated_row(y[top + start], p_here, old_here, start, nothing, q[odd], x[odd], momentum)
        for i in range(start + 1, stop):
            odd = i & 1
            extrapolated_row(y[top + i], p_here, old_here, i, q[1 - odd], q[odd], x[odd], momentum)
            projected_row(old_here, i - 1, q[1 - odd], x[1 - odd], x[odd], step, isotropic, scale)
        if bottom == n_rows:
            odd = (stop - 1) & 1
            projected_row(old_here, stop - 1, q[odd], x[odd], x[odd], step, isotropic, scale)
        p_here, old_here = old_here, p_here
    copied_rows(p_here, first - top, last - top, p_out, first)
    copied_rows(old_here, first - top, last - top, old_out, first)


@kept
def feasible_dual(p, weight, isotropic, dual):
    """Write ``weight`` times the dual field into ``dual``, each vector brought back into its ball in float64. O(n)."""
    for i in range(p.shape[1]):
        for j in range(p.shape[2]):
            a, b = np.float64(p[0, i, j]), np.float64(p[1, i, j])
            if isotropic:
                longest = max(1.0, np.sqrt(a * a + b * b))
                dual[0, i, j], dual[1, i, j] = weight * (a / longest), weight * (b / longest)
            else:
                dual[0, i, j] = weight * min(max(a, -1.0), 1.0)
                dual[1, i, j] = weight * min(max(b, -1.0), 1.0)


@lean
def root_of(parent, i):
    """Return the representative of a pixel's region, and make the way there shorter."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@lean
def joined(parent, i, j):
    """Make one region of the regions of two pixels; the earlier pixel represents it."""
    a, b = root_of(parent, i), root_of(parent, j)
    if a < b:
        parent[b] = a
    else:
        parent[a] = b


@lean
def flat_means(parent, total, count, x):
    """Replace the pixels ``x`` by their mean over each region. O(n)."""
    total[:], count[:] = 0.0, 0
    for i in range(x.size):
        root = parent[parent[i]]  # a pixel comes after what represents it, whose own entry is final
        parent[i] = root
        total[root] += x[i]
        count[root] += 1
    for i in range(x.size):
        x[i] = total[parent[i]] / count[parent[i]]


@lean
def join_against(dual, least, isotropic, x, parent):
    """Make one region of pixels between which the image falls where the dual field rises, or across it. O(n)."""
    _, n_rows, n = dual.shape
    for i in range(n_rows):
        for j in range(n):
            here = i * n + j
            down = x[here + n] - x[here] if i + 1 < n_rows else 0.0
            right = x[here + 1] - x[here] if j + 1 < n else 0.0
            if down == 0.0 and right == 0.0:
                continue
            along_down, along_right = dual[0, i, j] * down, dual[1, i, j] * right
            if isotropic:
                along = max(along_down + along_right, 0.0)
                join_down = join_right = along * along < least * least * (down * down + right * right)
            else:
                join_down, join_right = along_down < least * abs(down), along_right < least * abs(right)
            if join_down and i + 1 < n_rows:
                joined(parent, here, here + n)
            if join_right and j + 1 < n:
                joined(parent, here, here + 1)


@kept
def flattened(dual, limit, least, isotropic, x, parent, total, count):
    """Replace the pixels ``x`` by their mean over each region inside which the dual field is shorter than ``limit``.

    Where the dual field is strictly inside its ball, the minimizer has no difference: pixels on both sides are of one
    region. Without this the gap would fall with the error of ``x``, with it it falls with the square of the error.
    Then regions are joined between which the image rises by less than ``least`` along the field. O(n) but for the
    inverse of Ackermann's function.
    """
    _, n_rows, n = dual.shape
    for i in range(n_rows * n):
        parent[i] = i
    for i in range(n_rows):
        for j in range(n):
            a, b = dual[0, i, j], dual[1, i, j]
            if isotropic:
                down = right = a * a + b * b < limit * limit
            else:
                down, right = abs(a) < limit, abs(b) < limit
            if down and i + 1 < n_rows:
                joined(parent, i * n + j, (i + 1) * n + j)
            if right and j + 1 < n:
                joined(parent, i * n + j, i * n + j + 1)
    flat_means(parent, total, count, x)
    join_against(dual, least, isotropic, x, parent)
    flat_means(parent, total, count, x)


@lean
def dual_pixel(y, p, i, j):
    """Return pixel (i, j) of y - D'p."""
    total = y[i, j] + p[0, i, j] + p[1, i, j]
    if i > 0:
        total -= p[0, i - 1, j]
    if j > 0:
        total -= p[1, i, j - 1]
    return total


@kept
def primal_image(y, p, x):
    """Write x = y - D'p, in float64. O(n)."""
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            x[i, j] = dual_pixel(y, p, i, j)


@kept(_nrt=False)
def add_image(y, p, weight, share, first, last, total):
    """Add ``share`` of rows ``first`` to ``last`` of y - weight D'p to ``total``, in float64. O(n)."""
    for i in range(first, last):
        for j in range(y.shape[1]):
            inward = np.float64(p[0, i, j]) + p[1, i, j]
            if i > 0:
                inward -= p[0, i - 1, j]
            if j > 0:
                inward -= p[1, i, j - 1]
            total[i, j] += share * (y[i, j] + weight * inward)


@kept
def half_way(y, p, x):
    """Move x half way to y - D'p. O(n)."""
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            x[i, j] = 0.5 * (x[i, j] + dual_pixel(y, p, i, j))


@kept
def gap_of(x, y, p, weight, isotropic):
    """Return the gap: half the squared distance to y - D'p, and what the weighted variation is above <p, Dx>. O(n)."""
    n_rows, n = x.shape
    gap = 0.0
    for i in range(n_rows):
        of_row = 0.0
        for j in range(n):
            down = x[i + 1, j] - x[i, j] if i + 1 < n_rows else 0.0
            right = x[i, j + 1] - x[i, j] if j + 1 < n else 0.0
            variation = np.sqrt(down * down + right * right) if isotropic else abs(down) + abs(right)
            of_row += 0.5 * (x[i, j] - dual_pixel(y, p, i, j)) ** 2
            of_row += weight * variation - p[0, i, j] * down - p[1, i, j] * right
        gap += of_row
    return gap
