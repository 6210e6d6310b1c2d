"""Loops of sparse coding. Arguments are float64 arrays that the caller has checked; atoms are rows of length 1."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.solvers.compiling_kernels import kept, lean, lean_in_any_order

ANY_ORDER = {"nnan", "nsz", "reassoc", "contract"}

DEPENDENT = 1e-10
"""An atom whose part outside of those taken has a smaller square is no new direction."""

SPENT = 1e-13
"""A residual whose square is a smaller share of the signal's is rounding."""


@lean_in_any_order
def subtracted(row, factor, target):
    """Subtract ``factor`` times a row."""
    for j in range(row.size):
        target[j] -= factor * row[j]


@lean_in_any_order
def largest_of(values):
    """Return the largest absolute value."""
    largest = 0.0
    for j in range(values.size):
        largest = max(largest, abs(values[j]))
    return largest


@lean
def solve_factored(factor, k, x):
    """Write the solution of factor factor' x = b where the first ``k`` numbers of b stand. O(k^2)."""
    for i in range(k):
        total = x[i]
        for j in range(i):
            total -= factor[i, j] * x[j]
        x[i] = total / factor[i, i]
    for i in range(k - 1, -1, -1):
        total = x[i]
        for j in range(i + 1, k):
            total -= factor[j, i] * x[j]
        x[i] = total / factor[i, i]


@kept(_nrt=False)
def omp_block(products, gram, squares, goals, counts, atoms, values, factor, rest):
    """Write the code of each signal: each turn takes the atom of largest correlation and fits all that were taken.

    ``products`` are those of signals and atoms, ``squares`` the squared lengths of signals; turns end where the squared
    residual is at most ``goals``, or ``atoms`` has no more columns. ``factor`` is room for a Cholesky factor, ``rest``
    for correlations. Of equal correlations the first atom is taken. O(k (K + k^2)) for k of K atoms.
    """
    most = atoms.shape[1]
    for s in range(products.shape[0]):
        chosen, gamma, product = atoms[s], values[s], products[s]
        for j in range(rest.size):
            rest[j] = product[j]
        k, square = 0, squares[s]
        while k < most and square > goals[s] and square > SPENT * squares[s]:
            largest, best = largest_of(rest), 0
            if largest == 0.0:
                break
            while abs(rest[best]) != largest:
                best += 1
            outside = gram[best, best]
            for i in range(k):  # factor w = gram[taken, best], row by row
                w = gram[best, chosen[i]]
                for j in range(i):
                    w -= factor[i, j] * factor[k, j]
                factor[k, i] = w / factor[i, i]
                outside -= factor[k, i] ** 2
            if outside <= DEPENDENT:
                break
            factor[k, k], chosen[k] = np.sqrt(outside), best
            k += 1
            for i in range(k):
                gamma[i] = product[chosen[i]]
            solve_factored(factor, k, gamma)
            square = squares[s]
            for j in range(rest.size):
                rest[j] = product[j]
            for i in range(k):
                square -= gamma[i] * product[chosen[i]]
                subtracted(gram[chosen[i]], gamma[i], rest)
        counts[s] = k


@lean
def solved_on_support(code, product, gram, alpha, support, factor, goal):
    """Move a code to the least objective among those of its support and signs, or to the first that loses an atom.

    Returns whether it got there, so that the signs hold; if not, one coefficient became 0 and it can be tried again.
    The way there is downhill all along (the feature signs of Lee, Battle, Raina and Ng 2007). ``support``, ``factor``
    and ``goal`` are room. A support that is too large or dependent is left as it is.
    """
    m = 0
    for i in range(code.size):
        if code[i] != 0.0:
            if m == goal.size:
                return True
            support[m] = i
            m += 1
    for a in range(m):
        for b in range(a + 1):
            w = gram[support[a], support[b]]
            for k in range(b):
                w -= factor[a, k] * factor[b, k]
            if b < a:
                factor[a, b] = w / factor[b, b]
            elif w <= DEPENDENT:
                return True
            else:
                factor[a, a] = np.sqrt(w)
    for a in range(m):
        goal[a] = product[support[a]] - alpha * np.sign(code[support[a]])
    solve_factored(factor, m, goal)
    step, leaving = 1.0, -1
    for a in range(m):
        old = code[support[a]]
        if goal[a] * old <= 0.0 and old / (old - goal[a]) < step:
            step, leaving = old / (old - goal[a]), a
    for a in range(m):
        code[support[a]] += step * (goal[a] - code[support[a]])
    if leaving >= 0:
        code[support[leaving]] = 0.0
    return leaving < 0


@kept(_nrt=False)
def lasso_block(products, gram, squares, alphas, tol, max_iter, codes, gaps, rest, support, factor, goal):
    """Write codes of least 1/2 |x - D'c|^2 + alpha |c|_1 over ``codes``, and their gaps.

    A pass of coordinate descent over all atoms finds which have a part and with which sign; then the equations of these
    are solved. Ends where the gap is at most ``tol`` times half the signal's square, or after ``max_iter`` passes.
    ``rest`` is room for correlations of the residual, the others as in ``solved_on_support``.
    """
    n_atoms = gram.shape[0]
    for s in range(products.shape[0]):
        code, product, alpha = codes[s], products[s], alphas[s]
        for n_passes in range(max_iter + 1):
            for j in range(n_atoms):
                rest[j] = product[j]
            for i in range(n_atoms):
                if code[i] != 0.0:
                    subtracted(gram[i], code[i], rest)
            size, along, inner = 0.0, 0.0, squares[s]
            for i in range(n_atoms):
                size += abs(code[i])
                along += code[i] * rest[i]
                inner -= code[i] * product[i]  # of residual and signal
            square, largest = inner - along, largest_of(rest)
            scale = min(1.0, alpha / largest) if largest > 0.0 else 1.0  # until no atom is above alpha
            gaps[s] = max(0.5 * square + alpha * size - scale * inner + 0.5 * scale * scale * square, 0.0)
            if gaps[s] <= 0.5 * tol * squares[s] or n_passes == max_iter:
                break
            for i in range(n_atoms):
                pull = rest[i] + gram[i, i] * code[i]
                new = np.sign(pull) * max(abs(pull) - alpha, 0.0) / gram[i, i]
                step = new - code[i]
                if step != 0.0:
                    code[i] = new
                    subtracted(gram[i], step, rest)
            for _ in range(n_atoms):
                if solved_on_support(code, product, gram, alpha, support, factor, goal):
                    break


@kept(_nrt=False)
def add_patches(patches, n_columns, height, width, total):
    """Add each patch, a row of ``height * width`` numbers, to ``total`` where it stands; they come row by row."""
    for s in range(patches.shape[0]):
        top, left = s // n_columns, s % n_columns
        for a in range(height):
            for b in range(width):
                total[top + a, left + b] += patches[s, a * width + b]


@lean_in_any_order
def pack_seen(patch, mask, atoms, packed, shown):
    """Write what was seen of a patch, twice, and of each atom, made of length 1; return how many pixels were seen.

    The length that an atom had there stands behind its last pixel. O(K n).
    """
    n_atoms, n = atoms.shape
    n_seen = 0
    for j in range(n):
        if mask[j]:
            shown[0, n_seen], shown[1, n_seen] = patch[j], patch[j]
            n_seen += 1
    for a in range(n_atoms):
        place, square = 0, 0.0
        for j in range(n):
            if mask[j]:
                packed[a, place] = atoms[a, j]
                square += atoms[a, j] * atoms[a, j]
                place += 1
        packed[a, n] = np.sqrt(square)
        if square > DEPENDENT:
            for j in range(n_seen):
                packed[a, j] /= packed[a, n]
    return n_seen


@lean_in_any_order
def extend_factor(packed, n_seen, taken, k, best, factor):
    """Write row k of the Cholesky factor of the atoms taken and ``best``; return whether that one is independent."""
    outside = 1.0
    for i in range(k):
        w = 0.0
        for j in range(n_seen):
            w += packed[best, j] * packed[taken[i], j]
        for j in range(i):
            w -= factor[i, j] * factor[k, j]
        factor[k, i] = w / factor[i, i]
        outside -= factor[k, i] * factor[k, i]
    if outside <= DEPENDENT:
        return False
    factor[k, k] = np.sqrt(outside)
    return True


@lean_in_any_order
def fit_seen(packed, n_seen, taken, k, factor, gamma, shown):
    """Write the best code with k atoms, and the residual into ``shown[1]``; return the residual's square. O(k n)."""
    for i in range(k):
        total = 0.0
        for j in range(n_seen):
            total += packed[taken[i], j] * shown[0, j]
        gamma[i] = total
    solve_factored(factor, k, gamma)
    for j in range(n_seen):
        shown[1, j] = shown[0, j]
    for i in range(k):
        for j in range(n_seen):
            shown[1, j] -= gamma[i] * packed[taken[i], j]
    square = 0.0
    for j in range(n_seen):
        square += shown[1, j] * shown[1, j]
    return square


@lean_in_any_order
def most_alike(packed, n_seen, n, residual):
    """Return the atom, but for the constant one, with the largest product with the residual; -1 if all are 0."""
    largest, best = 0.0, -1
    for a in range(packed.shape[0] - 1):
        if packed[a, n] * packed[a, n] > DEPENDENT:
            along = 0.0
            for j in range(n_seen):
                along += packed[a, j] * residual[j]
            if abs(along) > largest:
                largest, best = abs(along), a
    return best


@kept(_nrt=False, fastmath=ANY_ORDER)
def fill_block(patches, seen, atoms, noise, counts, chosen, values, factor, packed, shown):
    """Write the code of each patch that fits its seen pixels, found by orthogonal matching pursuit on them.

    The last atom is the constant one and is always taken, first. A residual of ``noise`` squared per seen pixel is
    small enough, and a code of half as many atoms as pixels were seen long enough. ``packed`` and ``shown`` are room
    for the atoms at seen pixels, each made of length 1, and the residual. Patches without a seen pixel have an empty
    code. O(k K n).
    """
    n_atoms, n = atoms.shape
    for s in range(patches.shape[0]):
        taken, gamma = chosen[s], values[s]
        n_seen = pack_seen(patches[s], seen[s], atoms, packed, shown)
        most = min(max(1, n_seen // 2), taken.size - 1) + 1 if n_seen else 0
        k, best = 0, n_atoms - 1
        while k < most and best >= 0 and extend_factor(packed, n_seen, taken, k, best, factor):
            taken[k] = best
            k += 1
            square = fit_seen(packed, n_seen, taken, k, factor, gamma, shown)
            best = most_alike(packed, n_seen, n, shown[1]) if k < most and square > n_seen * noise * noise else -1
        for i in range(k):  # from atoms of length 1 at seen pixels to those of length 1
            gamma[i] /= packed[taken[i], n]
        counts[s] = k
