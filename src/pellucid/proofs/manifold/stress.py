r"""Proofs of maps of least stress, MDS and Sammon's: distances, stress, and that one more step would hardly lower it.

A step goes to the minimum of a parabola that touches the stress from above, :math:`Z^+ = V^+B(Z)Z`. It lowers the
stress by at least :math:`\mathrm{tr}(Z^+ - Z)'V(Z^+ - Z)`, which is 0 only where the gradient is. All is plain
algebra on matrices of all pairs. Turned and mirrored maps have the same stress: the one along its main axes is stored.
Non-metric maps aim at disparities, found again by a monotone regression of the distances on the map.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve
from scipy.optimize import isotonic_regression
from scipy.spatial.distance import cdist

from pellucid.proofs.arrays import Array, largest
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.distances import is_given
from pellucid.proofs.kernels.ridge_equations import rows_claim
from pellucid.proofs.manifold.classical_mds import all_distances, difference_claim, distances_claim
from pellucid.proofs.matrices.eigenpairs import wrong_signs
from pellucid.proofs.on_device import pairs_of_map
from pellucid.proofs.rounding import EPSILON, TINY, sum_error
from pellucid.proofs.seen import Seen, misshapen
from pellucid.proofs.training_data import TrainingData


def prove_mds(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate, with everything computed again from the data."""
    n, places = data.X.shape[0], fitted.embedding_
    also = {"embedding_": places.ndim == 2 and len(places) == n}
    if wrong := misshapen("stationary", fitted, also, dissimilarity_matrix_=(n, n)):
        return wrong
    # scikit-learn's older words: ``metric`` says whether distances are meant, ``dissimilarity`` which ones
    is_metric = bool(parameters.metric if isinstance(parameters.metric, bool) else parameters.metric_mds)
    metric = "euclidean" if isinstance(parameters.metric, bool) else parameters.metric
    metric = metric if parameters.dissimilarity == "deprecated" else parameters.dissimilarity
    stored, kind = float(fitted.stress_), parameters.normalized_stress
    is_normalized = not is_metric if isinstance(kind, str) else kind  # Kruskal's, in parts of the squares on the map
    effort: dict[str, Any] = {"eps": float(parameters.eps), "remedy": "Raise max_iter, or eps."}
    if hasattr(fitted.dissimilarity_matrix_, "cpu"):  # Euclidean distances of a metric map that stay on a device
        apart, stress, spread, size, moved = pairs_of_map(data.X, places, fitted.dissimilarity_matrix_)
        stored = stored * abs(stored) * spread if is_normalized else stored
        claims = _step_claims(n, (stress, max(spread, size, TINY), moved), stored, **effort)
        return _map_certificate(fitted, metric, data, difference_claim(apart), claims)
    between = all_distances(metric, parameters.metric_params, data.X, fitted.dissimilarity_matrix_)
    wanted = between if is_metric else _disparities(between, places)
    if is_normalized:
        stored = stored * abs(stored) * float(np.sum(np.triu(cdist(places, places)) ** 2))
    claims = stress_claims(places, wanted, None, stored, **effort)
    return _map_certificate(fitted, metric, data, distances_claim(fitted.dissimilarity_matrix_, between), claims)


def prove_sammon_mapping(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    r"""Return the certificate of a map with weights :math:`1/\delta` or :math:`1/\delta^2`, where rows are apart."""
    n, k = data.X.shape[0], parameters.n_components
    if wrong := misshapen("stationary", fitted, embedding_=(n, k), dissimilarity_matrix_=(n, n)):
        return wrong
    between = all_distances(parameters.metric, parameters.metric_params, data.X, fitted.dissimilarity_matrix_)
    is_apart = between > 0.0
    mean = float(between[is_apart].mean()) if is_apart.any() else 1.0  # a unit in which nothing overflows
    power = 1 if parameters.weighting == "inverse" else 2
    weights = np.where(is_apart, (mean / np.where(is_apart, between, mean)) ** power, 0.0)
    # both weightings are divided by what makes the sum over pairs, in this unit, their number times the unit squared
    stored = float(fitted.stress_) * max(float(np.sum(is_apart)) / 2.0 * mean**2, TINY)
    remedy = "Raise max_iter, or tol."
    claims = stress_claims(fitted.embedding_, between, weights, stored, eps=float(parameters.tol), remedy=remedy)
    known = distances_claim(fitted.dissimilarity_matrix_, between)
    return _map_certificate(fitted, parameters.metric, data, known, claims)


def _map_certificate(fitted: Seen, metric: Any, data: TrainingData, known: Claim, claims: list[Claim]) -> Certificate:
    rows = [] if is_given(metric) else [rows_claim(fitted.X_fit_, data.X)]
    return Certificate("stationary", (*rows, known, orientation_claim(fitted.embedding_), *claims))


def _disparities(between: Array, places: Array) -> Array:
    """Return distances on the map made to rise with the dissimilarities; those of 0 are missing, and have none.

    Pairs of equal dissimilarity get their mean; the mean square over all pairs is 1.
    """
    upper = np.triu_indices(len(between), 1)
    wanted, seen = between[upper], cdist(places, places)[upper]
    levels, level, counts = np.unique(wanted[wanted != 0.0], return_inverse=True, return_counts=True)
    means = np.bincount(level, weights=seen[wanted != 0.0], minlength=len(levels)) / counts
    found = np.zeros(len(wanted))
    found[wanted != 0.0] = isotonic_regression(means, weights=counts).x[level]
    size = float(np.sqrt(np.mean(found**2))) if len(found) else 0.0
    matrix = np.zeros(between.shape)
    matrix[upper] = found / size if size > 0.0 else found
    return matrix + matrix.T


def stress_claims(
    places: Array, wanted: Array, weights: Array | None, stored: float, *, eps: float, remedy: str
) -> list[Claim]:
    """Return the claims about places, given the wanted distances (n, n) and weights (n, n); None is 1 for all."""
    with np.errstate(over="ignore", invalid="ignore"):
        stress, spread, moved = _one_step(places, wanted, weights)
        size = max(spread, float(np.sum(wanted**2 if weights is None else weights * wanted**2)) / 2.0, TINY)
    return _step_claims(len(places), (stress, size, moved), stored, eps=eps, remedy=remedy)


def _step_claims(n: int, sums: tuple[float, float, float], stored: float, *, eps: float, remedy: str) -> list[Claim]:
    """Return the same from stress, the size of the squared distances, and the squared length of one more step."""
    stress, size, moved = sums
    off = abs(stored - stress) / max(stress, 1e3 * EPSILON * size)
    return [
        Claim("stress", "difference of the stored stress from that of the places, as a part of it", off, 1e-9),
        Claim("stationary",
              "what one more step would lower the stress by at least, in parts of the weighted squared distances",
              moved / size, eps + 8 * sum_error(n), remedy),
    ]  # fmt: skip


def orientation_claim(places: Array, rounding: float = 0.0) -> Claim:
    """Return the claim that a map is about its middle, along its main axes, and not mirrored.

    ``rounding`` is the relative error of places that are stored with fewer digits.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        size = max(largest(places), TINY)
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


PROVES = {"MDS": prove_mds, "SammonMapping": prove_sammon_mapping}
