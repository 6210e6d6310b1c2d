"""One pass over all pairs of places: the stress of a map, and where every place is pulled to.

``fastmath`` may reorder the sums of a row, which lets them be vectorized; the order does not depend on the threads.
"""

# mypy: allow-untyped-defs

import math

from pellucid.solvers.compiling_kernels import kept

REORDER = {"reassoc", "contract", "nsz"}


@kept(fastmath=REORDER, _nrt=False)
def stress_of_rows(places, first, wanted, weights, pulled, sums, squares, pulls):
    """Add up, for pairs of a row from ``first`` on with a later one, the stress and what places are pulled to.

    ``places`` (p, n) are coordinates, ``wanted`` (m, n) the distances that m rows should have, ``weights`` (m, n), or
    (1, n) for all. ``pulled`` (p, n) gets w delta / d times the differences, ``sums`` (2) get w (d - delta)^2 and
    w d^2; ``squares`` and ``pulls`` (n) are room. Rows at the same place do not pull. O(m n p).
    """
    p, n = places.shape
    stress = spread = 0.0
    for r in range(wanted.shape[0]):
        i, w = first + r, r if weights.shape[0] > 1 else 0
        for j in range(i + 1, n):
            squares[j] = 0.0
        for k in range(p):
            own = places[k, i]
            for j in range(i + 1, n):
                squares[j] += (own - places[k, j]) * (own - places[k, j])
        for j in range(i + 1, n):
            distance = math.sqrt(squares[j])
            off = distance - wanted[r, j]
            stress += weights[w, j] * off * off
            spread += weights[w, j] * squares[j]
            pulls[j] = weights[w, j] * wanted[r, j] / (distance if distance > 0.0 else math.inf)
        for k in range(p):
            own, total = places[k, i], 0.0
            for j in range(i + 1, n):
                pull = pulls[j] * (own - places[k, j])
                total += pull
                pulled[k, j] -= pull
            pulled[k, i] += total
    sums[0], sums[1] = stress, spread
