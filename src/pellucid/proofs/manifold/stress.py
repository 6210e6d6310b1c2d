r"""Claims about a map of least stress: the stress is as stored, and one more step would hardly lower it.

A step goes to the minimum of a parabola that touches the stress from above, :math:`Z^+ = V^+B(Z)Z`. It lowers the
stress by at least :math:`\mathrm{tr}(Z^+ - Z)'V(Z^+ - Z)`, which is 0 only where the gradient is. All is plain
algebra on matrices of all pairs. Turned and mirrored maps have the same stress: the one along its main axes is stored.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve
from scipy.spatial.distance import cdist

from pellucid.core.trace import Trace
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Claim
from pellucid.proofs.matrices.eigenpairs import wrong_signs
from pellucid.proofs.rounding import EPSILON, TINY, sum_error


def stress_claims(
    places: Array, wanted: Array, weights: Array | None, stored: float, *, eps: float, remedy: str
) -> list[Claim]:
    """Return the claims about places, given the wanted distances (n, n) and weights (n, n); None is 1 for all."""
    with np.errstate(over="ignore", invalid="ignore"):
        stress, spread, moved = _one_step(places, wanted, weights)
        size = max(spread, float(np.sum(wanted**2 if weights is None else weights * wanted**2)) / 2.0, TINY)
        off = abs(stored - stress) / max(stress, 1e3 * EPSILON * size)
    return [
        Claim("stress", "difference of the stored stress from that of the places, as a part of it", off, 1e-9),
        Claim(
            "stationary",
            "what one more step would lower the stress by at least, in parts of the weighted squared distances",
            moved / size,
            eps + 8 * sum_error(len(places)),
            remedy,
        ),
    ]


def orientation_claim(places: Array, rounding: float = 0.0) -> Claim:
    """Return the claim that a map is about its middle, along its main axes, and not mirrored.

    ``rounding`` is the relative error of places that are stored with fewer digits.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        size = max(float(np.max(np.abs(places), initial=0.0)), TINY)
        unit = places / size
        products = unit.T @ unit
        spreads = products.diagonal()
        off = np.abs(products - np.diag(spreads)).max(initial=0.0) / max(float(spreads.max(initial=0.0)), TINY)
        rise = np.max(np.diff(spreads), initial=0.0) / max(float(spreads.max(initial=0.0)), TINY)
        middle = np.max(np.abs(unit.mean(axis=0)), initial=0.0)
    mirrored = wrong_signs(unit[:, spreads > 0.0], max(1e-7, 4.0 * rounding))
    return Claim(
        "orientation",
        "distance of the map from being about its middle and along its main axes, and columns of the other sign",
        float(np.max([off, rise, middle])) + mirrored,
        1e-9 + 4.0 * rounding,
    )


def _one_step(places: Array, wanted: Array, weights: Array | None) -> tuple[float, float, float]:
    """Return stress, weighted squared distances, and the squared length, in V, of one more step."""
    n = len(places)
    distances = cdist(places, places)
    w = np.ones((n, n)) if weights is None else weights
    stress, spread = float(np.sum(w * (distances - wanted) ** 2)) / 2.0, float(np.sum(w * distances**2)) / 2.0
    ratio = w * wanted / np.where(distances > 0.0, distances, np.inf)
    pull = ratio.sum(axis=1)[:, None] * places - ratio @ places  # B(Z) Z
    centered = places - places.mean(axis=0)
    held = (w.sum(axis=1) - w.diagonal())[:, None] * centered - (w - np.diag(w.diagonal())) @ centered  # V Z
    gradient = held - pull
    if not np.isfinite(gradient).all():
        return stress, spread, float("inf")
    if weights is None:
        return stress, spread, float(np.sum(gradient**2)) / n
    V = np.diag(w.sum(axis=1) - w.diagonal()) - (w - np.diag(w.diagonal()))
    step = solve(V + V.trace() / n**2, gradient, assume_a="sym") if V.any() else gradient
    return stress, spread, float(np.sum(gradient * step))


def descent_claim(trace: Trace, size: float) -> Claim:
    """Return the claim that the stress never rose on the way; ``size`` is that of the weighted squared distances."""
    values = np.asarray(trace["objective"], dtype=np.float64)
    level = max(float(np.abs(values).max(initial=0.0)), 1e3 * EPSILON * size, TINY)
    rise = float(np.max(np.diff(values), initial=0.0)) / level
    return Claim("descent", "largest rise of the stress in a step, in parts of the largest", rise, 1e-9)
