"""PCA: which way to the components, and what a model stores of them."""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma, log, pi
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.fit import Fit
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.decomposition.directions_at_fit import certificate_at_fit
from pellucid.decomposition.principal_directions import (
    SQUARED_LOSS,
    PrincipalDirections,
    completed,
    from_gram,
    from_rows,
    in_ordinary_units,
    leading_directions,
)
from pellucid.proofs.rounding import TINY
from pellucid.proofs.training_data import TrainingData
from pellucid.solvers.design import Design, make_design
from pellucid.solvers.leading_eigenvectors import eigenpairs_at_once


def find_components(data: TrainingData, parameters: Any, seed: int) -> Fit:
    """Return the components of the rows."""
    X, unit = in_ordinary_units(data.X)
    known = data.known if unit == 1.0 else None
    design = make_design(X, fit_intercept=True, sample_weight=data.weight, known=known)
    refuse_one_row(design.total_weight)
    shape = (int(design.total_weight), X.shape[1])
    solver = chosen_solver(parameters, shape, is_sparse=sparse.issparse(X))
    check_count(parameters.n_components, solver, shape)
    found, total = _directions(
        design, fixed_count(parameters.n_components, solver, min(shape)), solver, parameters, seed
    )
    spread = SpreadOfRows(design.total_weight, shape[1], design.mean, found.squares, total, unit)
    k = wanted_count(parameters.n_components, solver, min(shape), spread)
    attributes = stored_components(spread, found.vectors[:, :k], data.dtype)
    if parameters.n_components == "mle" or isinstance(parameters.n_components, float):
        attributes["n_components_"] = np.int64(k)  # as scikit-learn's, where the number was chosen from the data
    certificate = certificate_at_fit(found, k, design, total, data, float(parameters.tol))
    return Fit(attributes, found.trace, certificate=certificate)


def refuse_one_row(n_rows: float) -> None:
    """Refuse rows that have no variance: one, or a total weight of no more than one."""
    if not n_rows > 1.0:
        raise ValueError(
            f"X must have more than one row, or a total weight above 1, to have a variance, got n_samples={n_rows:g}. "
            "Give more rows."
        )


@dataclass(frozen=True)
class SpreadOfRows:
    """How rows spread about their mean."""

    n_rows: float
    """Their number, or the sum of their weights."""
    n_columns: int
    mean: Array
    squares: Array
    """Squared singular values of the centered rows, falling: all of them, or the largest."""
    total: float
    """The sum of all of them."""
    unit: float = 1.0
    """The power of two that the rows were multiplied by."""

    @property
    def variances(self) -> Array:
        """The squares as variances of the rows as they were."""
        return self.squares / (self.n_rows - 1.0) / self.unit / self.unit


def wanted_count(n_components: Any, solver: str, most: int, spread: SpreadOfRows) -> int:
    """Return how many components to keep."""
    k = fixed_count(n_components, solver, most)
    if k is not None:
        return k
    if n_components == "mle":
        return minka_count(spread.variances, spread.n_rows)
    return count_for_share(spread.squares[:most] / max(spread.total, TINY), float(n_components))


def stored_components(spread: SpreadOfRows, vectors: Array, dtype: np.dtype) -> dict[str, Any]:
    """Return the fitted attributes for directions given as columns, in the dtype of the rows."""
    k, most = vectors.shape[1], min(int(spread.n_rows), spread.n_columns)
    squares = spread.squares[:k]
    is_whole = len(spread.squares) >= most
    left = float(spread.squares[k:].sum()) if is_whole else max(spread.total - float(squares.sum()), 0.0)
    rest = left / (most - k) if k < most else 0.0
    is_whole = float(spread.n_rows).is_integer()
    return {
        "components_": np.ascontiguousarray(vectors.T, dtype=dtype),
        "explained_variance_": spread.variances[:k].astype(dtype),
        "explained_variance_ratio_": (squares / max(spread.total, TINY)).astype(dtype),
        "singular_values_": (np.sqrt(squares) / spread.unit).astype(dtype),
        "mean_": (spread.mean / spread.unit).astype(dtype),
        "n_components_": k,
        "n_samples_": int(spread.n_rows) if is_whole else float(spread.n_rows),
        "noise_variance_": float(rest / (spread.n_rows - 1.0) / spread.unit / spread.unit),
    }


def _directions(
    design: Design, k: int | None, solver: str, parameters: Any, seed: int
) -> tuple[PrincipalDirections, float]:
    """Return the ``k`` leading directions, all for None, and the sum of all squared singular values."""
    if k is not None and k > min(design.shape):  # rows with weights stand for more rows than there are
        found = from_gram(design, k)
    elif solver in ("arpack", "randomized") and k is not None:
        found = leading_directions(design, k, tol=float(parameters.tol), seed=seed)
    elif solver == "covariance_eigh":
        found = from_gram(design, design.shape[1] if k is None else k, all_values=k is None)
    else:
        found = from_rows(design)
    if found.gram is not None:
        return found, float(found.gram.trace())
    is_whole = len(found.squares) == min(design.shape)
    return found, float(found.squares.sum() if is_whole else design.sq_norms().sum())


def known_scatter(model: Any) -> Array:
    """Return the scatter of the rows of a model so far: stored by ``partial_fit``, or held by all its components."""
    if hasattr(model, "scatter_"):
        return np.asarray(model.scatter_)
    if model.n_components_ < min(int(model.n_samples_), model.n_features_in_):
        raise ValueError(
            f"partial_fit must follow partial_fit, or a fit of all components, got a fit of {model.n_components_}, "
            "from which the scatter of its rows is not known. Start with partial_fit on a clone."
        )
    V = model.components_.astype(np.float64)
    return np.asarray((V.T * model.singular_values_.astype(np.float64) ** 2) @ V)


def add_rows(data: TrainingData, parameters: Any, earlier: Any) -> Fit:
    """Return the components of the rows and of all those before, whose scatter about their mean is known.

    With n and m rows, means a and b: the scatters add up, plus nm / (n + m) (a - b)(a - b)'.
    """
    design = make_design(data.X, fit_intercept=True, sample_weight=data.weight)
    n, mean, scatter, trace = design.total_weight, design.mean, design.gram(), Trace()
    if earlier is not None:
        m, gap = float(earlier.n_samples_), mean - earlier.mean_
        scatter += known_scatter(earlier) + np.outer(gap, gap) * (n * m / (n + m))
        mean, n, trace = earlier.mean_ + gap * (n / (n + m)), n + m, Trace.joined([earlier.trace_])
    refuse_one_row(n)
    shape = (int(n), data.X.shape[1])
    check_count(parameters.n_components, "covariance_eigh", shape)
    pairs = eigenpairs_at_once(scatter, shape[1])
    squares, vectors = completed(pairs.values, pairs.vectors, SQUARED_LOSS * shape[1])
    spread = SpreadOfRows(n, shape[1], mean, squares, float(scatter.trace()))
    k = wanted_count(parameters.n_components, "covariance_eigh", min(shape), spread)
    trace.add(iteration=len(trace) + 1, captured=float(spread.squares[:k].sum()))
    found = PrincipalDirections(spread.squares, vectors[:, :k], trace, scatter)
    attributes = stored_components(spread, found.vectors, data.dtype) | {"scatter_": scatter, "mean_": mean}
    return Fit(attributes, trace, certificate=certificate_at_fit(found, k, design, spread.total, data))


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
