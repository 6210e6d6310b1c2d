"""How many components to keep: a number, a share of the variance, Minka's evidence, or the bend of the scree plot."""

from __future__ import annotations

from math import lgamma, log, pi
from typing import Any

import numpy as np

from pellucid.core.types import Array

SMALLEST = 1e-15
"""A variance below this one counts as 0 for Minka's evidence."""

TALL, MOST_COLUMNS = 10, 1000
"""A covariance matrix is formed where rows are so many times the columns, and columns not above so many."""

SMALL, MOST = 500, 0.8
"""Up to this size all components are found, and where more than this part of them is wanted."""


def chosen_solver(parameters: Any, shape: tuple[int, int], *, is_sparse: bool) -> str:
    """Return the solver that the parameters mean for data of this shape, as scikit-learn chooses it."""
    solver, wanted = str(parameters.svd_solver), parameters.n_components
    if solver != "auto":
        return solver
    n, d = shape
    if is_sparse:
        return "arpack"
    if d <= MOST_COLUMNS and n >= TALL * d:
        return "covariance_eigh"
    if max(n, d) <= SMALL or wanted == "mle":
        return "full"
    count = min(n, d) if wanted is None else wanted
    return "randomized" if 1 <= count < MOST * min(n, d) else "full"


def check_count(wanted: Any, solver: str, shape: tuple[int, int]) -> None:
    """Refuse a number of components that cannot be found."""
    n, d = shape
    most, is_partial = min(n, d), solver in ("arpack", "randomized")
    if wanted == "mle":
        if is_partial:
            raise ValueError(
                f"n_components='mle' cannot be a string with svd_solver='{solver}'. Use svd_solver='full'."
            )
        if n < d:
            raise ValueError(
                f"n_components='mle' is only supported if n_samples >= n_features, got {n} and {d}. Give a number."
            )
        return
    if wanted is None:
        if solver == "arpack" and most < 2:
            raise ValueError(
                f"n_components must be below min(n_samples, n_features)={most} with svd_solver='arpack', and at least "
                "1: use svd_solver='full'."
            )
        return
    least = 1 if is_partial else 0
    if not least <= wanted <= most:
        raise ValueError(
            f"n_components={wanted!r} must be between {least} and min(n_samples, n_features)={most} with "
            f"svd_solver='{solver}'"
        )
    if solver == "arpack" and wanted == most:
        raise ValueError(
            f"n_components={wanted!r} must be strictly less than min(n_samples, n_features)={most} with "
            f"svd_solver='{solver}'"
        )


def fixed_count(wanted: Any, solver: str, most: int) -> int | None:
    """Return how many components are wanted, None where that depends on their variances."""
    if wanted is None:
        return most - (solver == "arpack")
    return None if wanted == "mle" or (isinstance(wanted, (float, np.floating)) and 0.0 < wanted < 1.0) else int(wanted)


def count_for_share(ratios: Array, share: float) -> int:
    """Return how many components hold more than a share of the variance.

    Examples
    --------
    >>> count_for_share(np.array([0.6, 0.3, 0.1]), 0.8)
    2
    """
    held = np.cumsum(ratios, dtype=np.float64)
    return min(int(np.searchsorted(held, share, side="right")) + 1, len(ratios))


def minka_evidence(variances: Array, n_rows: float) -> Array:
    r"""Return for each number of components from 1 to d - 1 the logarithm of Minka's evidence (2000, formula 30).

    It is Laplace's approximation of the chance of the rows under probabilistic PCA with so many components.
    """
    d = len(variances)
    spectrum = np.asarray(variances, dtype=np.float64)
    inverse = 1.0 / np.maximum(spectrum, SMALLEST)
    evidence = np.full(max(d - 1, 0), -np.inf)
    volume = 0.0
    for k in range(1, d):
        volume += lgamma((d - k + 1) / 2.0) - log(pi) * (d - k + 1) / 2.0
        if spectrum[k - 1] < SMALLEST:
            break
        noise = max(SMALLEST, float(spectrum[k:].mean()))
        fits = -n_rows / 2.0 * (float(np.log(spectrum[:k]).sum()) + log(noise) * (d - k))
        freedom = d * k - k * (k + 1) / 2.0
        shrunk = np.concatenate([inverse[:k], np.full(d - k, 1.0 / noise)])
        first, second = np.triu_indices(k, 1, d)
        with np.errstate(divide="ignore", invalid="ignore"):
            curvature = np.log((spectrum[first] - spectrum[second]) * (shrunk[second] - shrunk[first])).sum()
        evidence[k - 1] = (
            -k * log(2.0)
            + volume
            + fits
            + log(2.0 * pi) * (freedom + k) / 2.0
            - (curvature + len(first) * log(n_rows)) / 2.0
            - k * log(n_rows) / 2.0
        )
    return np.where(np.isnan(evidence), -np.inf, evidence)


def minka_count(variances: Array, n_rows: float) -> int:
    """Return the number of components with the largest evidence; 0 of a single column, as in scikit-learn."""
    evidence = minka_evidence(variances, n_rows)
    return int(np.argmax(evidence)) + 1 if len(evidence) else 0
