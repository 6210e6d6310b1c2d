r"""Nonnegative factors by multiplicative steps, for every beta divergence.

.. math:: W \leftarrow W \circ
          \left(\frac{(X \circ R^{\beta - 2})H'}{R^{\beta - 1}H' + \lambda_1 + \lambda_2 W}\right)^\gamma,\qquad R = WH,

and the same for ``H``. With :math:`\gamma = 1/(2 - \beta)` below 1, :math:`1/(\beta - 1)` above 2 and 1 between, no
step raises the objective (Fevotte and Idier). A zero stays a zero. A missing entry is what the product says.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.fit import Effort, Fit
from pellucid.core.threads import run_blocks, split_evenly
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.decomposition.nmf.nmf_problem import SMALLEST, NmfProblem, PartsOfRows, Penalties, filled, products_of
from pellucid.proofs.rounding import EPSILON, TINY

LOOK_EVERY = 10
"""Steps between two looks at the objective, as in scikit-learn."""

LARGE, NARROW_TOL = 1 << 18, 1e-6
"""Data of so many entries are multiplied in float32, unless a smaller ``tol`` asks for more digits."""

ENTRIES_AT_ONCE = 1 << 16
"""Entries of the data in one block: a few such blocks stay in the second-level cache."""


def multiplicative_factors(
    problem: NmfProblem, W: Array, H: Array, effort: Effort, *, learns_components: bool = True
) -> Fit:
    """Return factors at which ten more steps lower the error by little, from a start; or only such a ``W``."""
    W, H = (np.array(factor, dtype=np.float64, order="C") for factor in (W, H))
    steps, trace, stopped = _steps_for(problem, effort.goal), Trace(), "max_iter"
    first = before = np.sqrt(2.0 * max(problem.objective(W, H), 0.0))
    unit = max(min(first, float(np.sqrt(2.0 * problem.size))), TINY)
    for n_iter in range(1, effort.max_iter + 1):
        numerator, denominator = steps.of_weights(W, H)
        _multiply(W, numerator, denominator, problem.on_weights, problem.beta)
        if problem.beta < 1.0:
            W[W < EPSILON] = 0.0  # otherwise it tends to 0 for ever, by smaller and smaller numbers
        if learns_components:
            numerator, denominator = steps.of_components(W, H)
            _multiply(H, numerator, denominator, problem.on_components, problem.beta)
            if problem.beta <= 1.0:
                H[H < EPSILON] = 0.0
        is_last, stop = n_iter == effort.max_iter, effort.watch(H)
        if stop or is_last or n_iter % LOOK_EVERY == 0:
            objective = problem.objective(W, H)
            error = np.sqrt(2.0 * max(objective, 0.0))
            trace.add(iteration=n_iter, objective=objective, decrease=float((before - error) / unit))
            trace.keep(W=W, H=H)
            is_done = effort.goal > 0.0 and before - error <= effort.goal * unit and n_iter % LOOK_EVERY == 0
            if stop or is_done:
                stopped = "ten steps lower the error by less than tol" if is_done else "a callback"
                break
            before = error
    return Fit({"weights_": W, "components_": H, "n_iter_": n_iter}, trace, stopped)


def _multiply(factor: Array, numerator: Array, denominator: Array, penalties: Penalties, beta: float) -> None:
    """Multiply a factor, in place, by the quotient."""
    denominator = denominator + penalties.l1 + (penalties.l2 * factor if penalties.l2 else 0.0)
    denominator[denominator == 0.0] = SMALLEST
    numerator /= denominator
    if beta < 1.0:
        numerator **= 1.0 / (2.0 - beta)
    elif beta > 2.0:
        numerator **= 1.0 / (beta - 1.0)
    factor *= numerator


class _GramSteps:
    """Steps for the squared error without missing entries, from small products."""

    def __init__(self, problem: NmfProblem) -> None:
        self.data = products_of(problem.X)

    def of_weights(self, W: Array, H: Array) -> tuple[Array, Array]:
        """Return numerator and denominator of the step of ``W``."""
        return np.ascontiguousarray(self.data.with_rows(H).T), W @ (H @ H.T)

    def of_components(self, W: Array, H: Array) -> tuple[Array, Array]:
        """Return numerator and denominator of the step of ``H``."""
        return self.data.with_columns(np.ascontiguousarray(W.T)), (W.T @ W) @ H


class _SparseKullbackLeiblerSteps:
    """Steps for the Kullback-Leibler divergence of sparse data: only stored entries are looked at."""

    def __init__(self, problem: NmfProblem) -> None:
        X = sparse.csr_array(problem.X, dtype=np.float64)
        self.rows = PartsOfRows.of(X)
        places = sparse.csr_array((np.arange(X.nnz), X.indices, X.indptr), shape=X.shape).T.tocsr()
        self.order = places.data
        self.columns = PartsOfRows(np.empty(X.nnz), places.indices, places.indptr)
        self.ratios = PartsOfRows(np.empty(X.nnz), X.indices, X.indptr)

    def of_weights(self, W: Array, H: Array) -> tuple[Array, Array]:
        """Return numerator and denominator of the step of ``W``."""
        self._divide(W, H)
        return np.ascontiguousarray(self.ratios.times(H).T), _or_one(H.sum(axis=1))[None, :]

    def of_components(self, W: Array, H: Array) -> tuple[Array, Array]:
        """Return numerator and denominator of the step of ``H``."""
        self._divide(W, H)
        np.take(self.ratios.values, self.order, out=self.columns.values)
        return self.columns.times(np.ascontiguousarray(W.T)), _or_one(W.sum(axis=0))[:, None]

    def _divide(self, W: Array, H: Array) -> None:
        from pellucid.decomposition.nmf.nmf_kernels import ratios_of_rows

        columns, rows = np.ascontiguousarray(H.T), self.rows

        def work(part: slice) -> None:
            pointers = rows.indptr[part.start : part.stop + 1]
            ratios_of_rows(rows.values, rows.indices, pointers, W[part], columns, SMALLEST, self.ratios.values)

        run_blocks(work, rows.parts)


class _DenseSteps:
    """Steps for every divergence, in blocks of rows; sparse rows are made dense a block at a time."""

    def __init__(self, problem: NmfProblem, dtype: type) -> None:
        self.problem, self.dtype = problem, dtype
        n, d = problem.X.shape
        self.parts = split_evenly(n, -(-n * d // ENTRIES_AT_ONCE))

    def of_weights(self, W: Array, H: Array) -> tuple[Array, Array]:
        """Return numerator and denominator of the step of ``W``."""
        numerator, denominator = np.empty(W.shape), np.empty(W.shape)
        W, H = W.astype(self.dtype, copy=False), H.astype(self.dtype, copy=False)

        def work(rows: slice) -> None:
            above, below = self._powers(rows, W, H)
            numerator[rows] = above @ H.T
            if below is not None:
                denominator[rows] = below @ H.T

        run_blocks(work, self.parts)
        return numerator, _or_one(H.sum(axis=1))[None, :] if self.problem.beta == 1.0 else denominator

    def of_components(self, W: Array, H: Array) -> tuple[Array, Array]:
        """Return numerator and denominator of the step of ``H``, the blocks summed in their order."""
        W, H = W.astype(self.dtype, copy=False), H.astype(self.dtype, copy=False)

        def work(rows: slice) -> tuple[Array, Array]:
            above, below = self._powers(rows, W, H)
            return W[rows].T @ above, np.zeros(()) if below is None else W[rows].T @ below

        found = run_blocks(work, self.parts)
        numerator = np.asarray(np.sum([above for above, _ in found], axis=0, dtype=np.float64))
        if self.problem.beta == 1.0:
            return numerator, _or_one(W.sum(axis=0))[:, None]
        return numerator, np.asarray(np.sum([below for _, below in found], axis=0, dtype=np.float64))

    def _powers(self, rows: slice, W: Array, H: Array) -> tuple[Array, Array | None]:
        """Return the data times the power ``beta - 2`` of the product, and its power ``beta - 1`` unless that is 1."""
        beta, block = self.problem.beta, self.problem.X[rows]
        product = W[rows] @ H
        X = (block.toarray() if sparse.issparse(block) else block).astype(self.dtype, copy=False)
        if self.problem.has_missing:
            X = filled(X, product)
        if beta == 2.0:
            return X, product
        if beta < 2.0:
            np.maximum(product, SMALLEST, out=product)
        if beta == 1.0:
            return np.divide(X, product, out=product), None
        if beta == 0.0:
            below = 1.0 / product
            return X * (below * below), below
        above = product ** (beta - 2.0)
        return X * above, above * product


def _steps_for(problem: NmfProblem, goal: float) -> Any:
    """Return the cheapest way to compute the steps."""
    if problem.beta == 2.0 and not problem.has_missing:
        return _GramSteps(problem)
    if problem.beta == 1.0 and sparse.issparse(problem.X):
        return _SparseKullbackLeiblerSteps(problem)
    is_narrow = np.prod(problem.X.shape) >= LARGE and goal >= NARROW_TOL
    return _DenseSteps(problem, np.float32 if is_narrow else np.float64)


def _or_one(sums: Array) -> Array:
    return np.where(sums == 0.0, 1.0, sums)
