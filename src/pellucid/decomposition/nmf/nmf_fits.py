"""From checked data and parameters to nonnegative factors: the start, the solver, the units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, check_random_state

from pellucid.core.array_api import array_namespace, device
from pellucid.core.arrays import as_numpy, is_foreign, like
from pellucid.core.fit import Effort, Fit
from pellucid.core.types import Array, Data, RandomState, SparseOrDense
from pellucid.core.user_warnings import warn_user
from pellucid.core.watching import Watch
from pellucid.decomposition.nmf.multiplicative_solvers import multiplicative_factors
from pellucid.decomposition.nmf.nmf_problem import NmfProblem, beta_of
from pellucid.decomposition.nmf.nmf_solvers import FactorDescent, best_weights, coordinate_factors
from pellucid.proofs.rounding import rounding_unit
from pellucid.proofs.training_data import TrainingData
from pellucid.solvers.leading_eigenvectors import eigenpairs_at_once, leading_eigenpairs, leading_eigenpairs_there

RESIDUAL = 1e-9
"""The least residual that is asked for, whatever ``tol`` says."""


def fit_factors(parameters: Any, data: TrainingData, W: Data, H: Data, watch: Watch) -> Fit:
    """Return the fit of both factors, in the units and the precision of the data."""
    X = data.X
    check_observed(X, parameters.beta_loss)
    problem = NmfProblem.of(X, parameters)
    W, H = _start(parameters, problem, W, H, X.dtype)
    stored = rounding_unit(X.dtype) if X.dtype != np.float64 else 0.0
    effort = Effort(max(float(parameters.tol), RESIDUAL, stored), parameters.max_iter, watch)
    if parameters.solver == "cd":
        found = coordinate_factors(FactorDescent(problem, W, H, orders_of(parameters, len(H))), effort)
    else:
        found = multiplicative_factors(problem, W, H, replace(effort, goal=float(parameters.tol)))
    W, H = (_given_units(found.attributes[name], problem, X.dtype) for name in ("weights_", "components_"))
    attributes = {
        "components_": H,
        "weights_": W,
        "n_components_": len(H),
        "reconstruction_err_": error_of(problem, W, H),
        "n_iter_": found.attributes["n_iter_"],
    }
    return replace(found, attributes=attributes)


def orders_of(parameters: Any, q: int) -> Callable[[], Array]:
    """Return what says in which order the parts are swept, each time anew where they are shuffled."""
    rng = check_random_state(parameters.random_state)
    return lambda: rng.permutation(q) if parameters.shuffle else np.arange(q)


def weights_for(parameters: Any, X: SparseOrDense, H: Array) -> tuple[Array, int]:
    """Return the best ``W`` for given parts, and the rounds that took."""
    check_observed(X, parameters.beta_loss)
    problem = NmfProblem.of(X, parameters)
    narrow = np.asarray(H, dtype=np.float64) / problem.root
    if problem.beta == 2.0:
        return _given_units(best_weights(problem, narrow), problem, X.dtype), 1
    mean = float(np.nanmean(problem.X)) if not sparse.issparse(X) else float(problem.X.mean())
    start = np.full((X.shape[0], len(H)), np.sqrt(mean / len(H)))
    effort = Effort(float(parameters.tol), parameters.max_iter)
    found = multiplicative_factors(problem, start, narrow, effort, learns_components=False)
    return _given_units(found.attributes["weights_"], problem, X.dtype), found.attributes["n_iter_"]


def error_of(problem: NmfProblem, W: Array, H: Array) -> float:
    """Return the square root of twice the divergence, in the units of the data."""
    W, H = (factor.astype(np.float64) / problem.root for factor in (W, H))
    return float(np.sqrt(2.0 * max(problem.divergence(W, H), 0.0)) * problem.unit_of_error)


def check_nonnegative(X: SparseOrDense, whom: str = "NMF") -> None:
    """Refuse entries below 0; NaN is not one."""
    values = X.data if sparse.issparse(X) else X
    if is_foreign(X):
        least = float(X.min())
    else:
        least = float(np.fmin.reduce(values, axis=None)) if values.size else 0.0  # NaN where there is nothing else
    if least < 0.0:
        raise ValueError(
            f"Negative values in data passed to {whom}: entries must be at least 0, got {least:g}. Shift or clip them."
        )


def check_observed(X: SparseOrDense, beta_loss: Any) -> None:
    """Refuse rows and columns of which nothing is known, NaN in sparse data, and zeros that a divergence forbids."""
    values = X.data if sparse.issparse(X) else X
    if np.isnan(np.sum(values)):
        if sparse.issparse(X):
            raise ValueError("X must be dense to have missing entries, got a sparse matrix that contains NaN.")
        there = ~np.isnan(X)
        for axis, name in ((1, "row"), (0, "column")):
            empty = np.flatnonzero(~there.any(axis=axis))
            if len(empty):
                raise ValueError(
                    f"X must have an entry that is not NaN in every {name}, got a {name} that contains none, the one "
                    f"with index {empty[0]}. Leave it out."
                )
    if beta_of(beta_loss) <= 0.0 and (
        np.nanmin(values, initial=np.inf) == 0.0 or (sparse.issparse(X) and X.nnz < np.prod(X.shape))
    ):
        raise ValueError(
            "When beta_loss <= 0 and X contains zeros, the solver may diverge. Please add small values to X, or use a "
            "positive beta_loss."
        )


def _start(parameters: Any, problem: NmfProblem, W: Data, H: Data, dtype: np.dtype) -> tuple[Array, Array]:
    """Return the factors to begin with, in the units of the problem: given ones, or those that ``init`` names."""
    n, d = problem.X.shape
    q = parameters.n_components
    if parameters.init == "custom":
        H = check_start(H, (q, d), "H", dtype)
        W = check_start(W, (n, len(H)), "W", dtype)
        return W / problem.root, H / problem.root
    if W is not None or H is not None:
        warn_user(
            "When init!='custom', provided W or H are ignored. Set  init='custom' to use them as initialization.",
            RuntimeWarning,
        )
    complete = problem.X
    if problem.has_missing:
        complete = np.where(np.isnan(complete), np.nanmean(complete, axis=0), complete)
    return start_factors(complete, parts_of(parameters, d), parameters.init, parameters.random_state)


def parts_of(parameters: Any, d: int) -> int:
    """Return how many parts are asked for of data of so many columns."""
    return d if parameters.n_components in ("auto", None) else int(parameters.n_components)


def check_start(
    factor: Data, shape: tuple[Any, int], name: str, dtype: np.dtype, *, may_be_zero: bool = False
) -> Array:
    """Return a given factor; refuse another shape or kind of number, negative entries, or zeros alone."""
    if factor is None:
        raise ValueError(f"{name} must be given for init='custom', got None. Pass {name} to fit.")
    factor, whom = check_array(factor), f"NMF (input {name})"
    for axis, word in enumerate(("first", "second")):
        if isinstance(shape[axis], (int, np.integer)) and factor.shape[axis] != shape[axis]:
            raise ValueError(
                f"Array with wrong {word} dimension passed to {whom}. Expected {shape[axis]}, "
                f"but got {factor.shape[axis]}."
            )
    check_nonnegative(factor, whom)
    if not factor.any() and not may_be_zero:
        raise ValueError(f"Array passed to {whom} is full of zeros. Start from numbers above 0.")
    if factor.dtype != dtype:
        raise TypeError(f"{name} should have the same dtype as X, {np.dtype(dtype).name}, got {factor.dtype.name}.")
    return factor.astype(np.float64)


def _given_units(factor: Array, problem: NmfProblem, dtype: np.dtype) -> Array:
    return np.ascontiguousarray(factor * problem.root, dtype=dtype)


AT_ONCE = 500
"""Rows or columns, whichever are fewer, up to which all singular vectors are found at once."""

FEW = 0.1
"""Part of these up to which the components wanted are few."""

GOAL = 1e-4
"""Residuals of singular vectors, in parts of the largest squared singular value: they are a start."""

NOTHING = 1e-6
"""Entries below this part of 1, or of the largest if that is less, count as 0, as in scikit-learn."""


def start_factors(X: SparseOrDense, q: int, init: str | None, random_state: RandomState) -> tuple[Array, Array]:
    """Return ``W`` of shape (n, q) and ``H`` of shape (q, d), in float64; ``X`` has no missing entries.

    It may be a tensor: factors that come from its singular vectors are made where it is.
    """
    n, d = X.shape
    refuse_many_parts(init, q, (n, d))
    rng, mean = check_random_state(random_state), float(X.mean())
    if init == "random" or q > min(n, d):
        stored = str(X.dtype).rpartition(".")[2]  # of a tensor, too
        H, W = (random_part(mean, shape, q, rng).astype(stored) for shape in ((q, d), (n, q)))
        return W.astype(np.float64), H.astype(np.float64)
    W, H = (filled_part(factor, init, mean, rng) for factor in _singular_parts(X, q))
    return W, H


def refuse_many_parts(init: str | None, q: int, shape: tuple[int, int]) -> None:
    """Refuse a start from more singular vectors than there are."""
    n, d = shape
    if init not in (None, "random") and q > min(n, d):
        raise ValueError(
            f"init = '{init}' can only be used when n_components <= min(n_samples, n_features), got {q} components of "
            f"{n} rows and {d} columns. Use init='random'."
        )


def random_part(mean: float, shape: tuple[int, int], q: int, rng: np.random.RandomState) -> Array:
    """Return a factor of absolute values of normal numbers: the product of two is about as large as the data."""
    return np.abs(float(np.sqrt(mean / q)) * rng.standard_normal(size=shape))


def filled_part(factor: Array, init: str | None, mean: float, rng: np.random.RandomState) -> Array:
    """Return a factor from singular vectors with what ``init`` puts in the place of zeros, and of what is next to."""
    factor[factor < NOTHING * min(1.0, float(factor.max()))] = 0.0
    empty = factor == 0.0
    if init == "nndsvdar":
        factor[empty] = like(np.abs(mean * rng.standard_normal(size=int(empty.sum())) / 100), factor)
    elif init != "nndsvd":
        factor[empty] = mean
    return factor


def _singular_parts(X: SparseOrDense, q: int) -> tuple[Array, Array]:
    """Return, of each pair of singular vectors, those parts of one sign whose product is larger (NNDSVD)."""
    U, values, V = leading_singular_vectors(X, q)
    u, v = lengths_of_parts(U), lengths_of_parts(V)
    return larger_parts(U, u, v, values), larger_parts(V, v, u, values).T


def lengths_of_parts(vectors: Array) -> tuple[Array, Array]:
    """Return the lengths of the parts above 0, and of those below, of vectors in columns."""
    above, below = (array_namespace(vectors).linalg.vector_norm((s * vectors).clip(0.0), axis=0) for s in (1.0, -1.0))
    return above, below


def larger_parts(vectors: Array, lengths: tuple[Array, Array], beside: tuple[Array, Array], values: Array) -> Array:
    """Return those parts that are longer times the lengths beside them, as long as those beside in units of values."""
    xp = array_namespace(vectors)
    is_below = lengths[1] * beside[1] > lengths[0] * beside[0]
    length, other = (xp.where(is_below, below, above) for above, below in (lengths, beside))
    scale = xp.sqrt(values * length * other) / xp.where(length > 0.0, length, 1.0)
    return scale * xp.where(is_below, -vectors, vectors).clip(0.0)


def leading_singular_vectors(X: SparseOrDense, q: int) -> tuple[Array, Array, Array]:
    """Return the first singular vectors, as columns, and values, from the products of the rows or of the columns.

    The vectors of values that are 0 are 0. Those of a tensor are found where it is.
    """
    n, d = X.shape
    is_wide, is_there = d > n, is_foreign(X)
    rows = X.T if is_wide else X
    m = min(n, d)

    def image(block: Any) -> Any:
        if is_there:
            return array_namespace(X).astype(rows.T @ (rows @ like(block, X)), block.dtype)
        return as_numpy(rows.T @ (rows @ block.astype(X.dtype)))

    if m <= AT_ONCE or q > FEW * m:
        gram = rows.T @ rows
        gram = as_numpy(gram.toarray() if sparse.issparse(gram) else gram)
        found = eigenpairs_at_once((gram + gram.T) / 2.0, q)
    elif is_there:
        found = leading_eigenpairs_there(image, m, q, device(X), goal=GOAL)
    else:
        found = leading_eigenpairs(image, m, q, goal=GOAL)
    values = np.sqrt(np.maximum(found.values, 0.0))
    own = found.vectors * (values > 1e-7 * values.max(initial=0.0))
    if is_there:
        xp = array_namespace(X)
        own, values = (xp.asarray(part, device=device(X)) for part in (own, values))
        other = xp.astype(rows @ xp.astype(own, X.dtype), xp.float64) / xp.where(values > 0.0, values, 1.0)
    else:
        other = as_numpy(rows @ own) / np.where(values > 0.0, values, 1.0)
    return (own, values, other) if is_wide else (other, values, own)
