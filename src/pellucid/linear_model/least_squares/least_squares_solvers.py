"""Direct solvers of least squares, with or without an l2 penalty: fast where safe, orthogonal where not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from scipy.linalg import eigvalsh, svdvals

from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.linear_model.least_squares.line_claims import (
    MANY_FEATURES,
    LineEvidence,
    coefficient_error,
    gradient_evidence,
    size_of_fit,
)
from pellucid.linear_model.least_squares.normal_factor import (
    EPS,
    NormalFactor,
    cholesky_factor,
    spectral_factor,
    triangular_factor,
)
from pellucid.linear_model.least_squares.precise_gradient import PreciseGradient
from pellucid.solvers.design import Design, centering_noise

MOST_REFINEMENTS = 8

SETTLED = 4 * EPS
"""A correction that moves the fit by less than this, relative to its size, is rounding."""

SMALLEST = 1e-150
"""Squares of smaller numbers underflow in float64."""

SAMPLED_ROWS = 64

PLAIN_CONDITION = 300.0
"""Up to this condition number a float64 gradient refines to the last digits; beyond, it takes twice the precision."""


@dataclass(frozen=True)
class MeasuredLine:
    """A candidate with what was measured there."""

    coef: Array  # (p, t)
    rss: Array  # (t,), |b - A coef|^2
    gradient: Array  # (p, t), A'residual - alpha coef
    correction: Array  # (p, t), w* - w as one more refinement estimates it
    norms: Array  # (p,), |a_j|
    size: Array  # (t,), size of the fit; see size_of_fit

    @cached_property
    def relative_change(self) -> float:
        """What the correction would move, at most, over the targets, relative to the size of the fit."""
        moved = self.norms @ np.abs(self.correction)
        return float((moved / np.where(self.size > 0, self.size, 1.0)).max(initial=0.0))

    @property
    def fitted_error(self) -> float:
        """``|A (w* - w)|`` relative to the size of the fit, the largest over the targets."""
        energy = np.sqrt(np.abs(_inner_products(self.gradient, self.correction)))
        return float((energy / np.where(self.size > 0, self.size, 1.0)).max(initial=0.0))


@dataclass(frozen=True)
class PreciseProblem:
    """The same measurements in twice the precision."""

    gradient: PreciseGradient
    alpha: float

    def measure(self, w: Array) -> tuple[Array, Array]:
        """Return ``b - A w`` and ``A'(b - A w) - alpha w``, each rounded once."""
        return self.gradient.residual_and_gradient(w, self.alpha)

    def intercept(self, w: Array) -> Array:
        """Return what undoes the centering, rounded once."""
        return self.gradient.intercept(w)


@dataclass(frozen=True)
class DirectFit:
    """The answer of a direct solver."""

    at: MeasuredLine
    intercept: Array  # (t,)
    y_mean: Array  # (t,)
    b_norm: Array  # (t,)
    factor: NormalFactor
    alpha: float
    singular: Callable[[], Array]
    """Computes the singular values of ``A``, largest first: a decomposition that few ask for."""
    rank: int
    trace: Trace

    @property
    def coef(self) -> Array:
        """The coefficients, of shape (n_features, n_targets)."""
        return self.at.coef

    def evidence(self) -> LineEvidence:
        """Return the numbers of the certificate."""
        at = self.at
        r_norm = np.sqrt(at.rss + self.alpha * _inner_products(at.coef, at.coef))
        return LineEvidence(
            normal_equations=gradient_evidence(at.gradient, at.norms, at.size, np.array(self.alpha), at.coef),
            fitted_values=at.fitted_error,
            coefficients=coefficient_error(self.factor.condition, r_norm, at.size),
        )


@dataclass(frozen=True)
class LeastSquaresProblem:
    """``min |b - A w|^2 + alpha |w|^2`` for each column of ``y``, and how to measure a candidate."""

    design: Design
    y: Array  # (n, t), as given
    alpha: float

    @cached_property
    def _centered(self) -> tuple[Array, Array]:
        return self.design.center(self.y)

    @property
    def b(self) -> Array:
        """The centered, weighted targets."""
        return self._centered[0]

    @property
    def y_mean(self) -> Array:
        """What was subtracted from the targets."""
        return self._centered[1]

    @cached_property
    def b_norm(self) -> Array:
        """Norms of the centered, weighted targets."""
        return np.sqrt(_inner_products(self.b, self.b))

    def measure(self, w: Array) -> tuple[Array, Array]:
        """Return ``b - A w`` and ``A'(b - A w) - alpha w`` in float64."""
        residual, correlations = self.design.residual_and_correlations(self.b, w)
        return residual, correlations - self.alpha * w

    def intercept(self, w: Array) -> Array:
        """Return what undoes the centering."""
        return self.y_mean - self.design.mean @ w


def solve_directly(
    design: Design,
    y: Array,
    alpha: float = 0.0,
    *,
    gram: Array | None = None,
    cutoff: float | None = None,
    orthogonal: bool = False,
) -> DirectFit:
    """Minimize ``|b - A w|^2 + alpha |w|^2`` for each column of ``y``.

    ``A'A`` is factored when its condition number allows; otherwise, or when ``orthogonal``, the problem is reduced by
    QR and SVD. Fewer rows than columns are solved through ``A A'``. In each case the answer is refined with
    the gradient of the data until nothing is left but rounding. A ``cutoff`` drops singular values below that
    fraction of the largest.
    """
    problem = LeastSquaresProblem(design, y, alpha)
    if alpha == 0.0:
        _refuse_vanishing_columns(design)
    fast = None
    if not orthogonal and cutoff is None:
        fast = _solve_tall(problem, gram) if design.shape[0] >= design.shape[1] else _solve_wide(problem)
    return fast or _solve_orthogonally(problem, cutoff)


def _solve_tall(problem: LeastSquaresProblem, gram: Array | None) -> DirectFit | None:
    """Solve ``(A'A + alpha I) w = A'b``, or return None where that would lose digits."""
    design, alpha = problem.design, problem.alpha
    if gram is None:
        gram, pull = design.normal_equations(problem.b)
    else:
        pull = design.transposed_times(problem.b)
    factor = cholesky_factor(gram, centering_noise(design) if alpha == 0.0 else np.zeros(len(gram)), alpha)
    if factor is None:
        return None
    norms = np.sqrt(np.maximum(gram.diagonal(), 0.0) + centering_noise(design))
    start = factor.solve(pull)
    return _refine(problem, start, factor, norms, factor.singular_values, lambda _, gradient: factor.solve(gradient))


def _solve_wide(problem: LeastSquaresProblem) -> DirectFit | None:
    """Solve ``(A A' + alpha I) z = b`` and return ``w = A'z``, the answer of least norm; None where unsafe."""
    design, alpha = problem.design, problem.alpha
    squares, noise = design.sq_norms(), centering_noise(design)
    if np.all(squares <= noise):  # every column is constant: nothing to factor but rounding
        return None
    kernel = design.row_gram()
    factor = cholesky_factor(_without_null_vector(kernel, design, alpha), np.zeros(len(kernel)), alpha)
    if factor is None:
        return None
    z = factor.solve(problem.b)

    def correct(residual: Array, _gradient: Array) -> Array:
        nonlocal z
        dz = factor.solve(residual - alpha * z)
        z = z + dz
        return design.transposed_times(dz)

    norms = np.sqrt(squares + noise)
    fit = _refine(problem, design.transposed_times(z), factor, norms, partial(_roots, kernel), correct)
    return replace(fit, rank=factor.rank - design.fit_intercept)


def _solve_orthogonally(problem: LeastSquaresProblem, cutoff: float | None) -> DirectFit:
    """Solve by QR (of blocks of rows) and SVD: nothing is squared."""
    design, alpha = problem.design, problem.alpha
    n, p = design.shape
    if n >= p:
        triangle, q = triangular_factor(design, problem.b)
        factor = spectral_factor(triangle, centering_noise(design), alpha, cutoff)
    else:
        triangle, q = design.columns(np.arange(p)), problem.b
        factor = spectral_factor(
            triangle, centering_noise(design), alpha, max(100, 10 * n) * EPS if cutoff is None else cutoff
        )
    norms = np.sqrt(np.sum(triangle**2, axis=0) + centering_noise(design))
    start = factor.first_solution(q)
    truncates = cutoff is not None and factor.rank < min(n, p)  # the gradient keeps what was cut off on purpose
    most = 1 if truncates else MOST_REFINEMENTS
    return _refine(
        problem, start, factor, norms, partial(svdvals, triangle), lambda _, gradient: factor.solve(gradient), most
    )


def _refine(
    problem: LeastSquaresProblem,
    w: Array,
    factor: NormalFactor,
    norms: Array,
    singular: Callable[[], Array],
    correct: Callable[[Array, Array], Array],
    most: int = MOST_REFINEMENTS,
) -> DirectFit:
    """Add corrections until they are rounding or stop shrinking; return the best candidate."""
    source: LeastSquaresProblem | PreciseProblem = problem
    if factor.condition > PLAIN_CONDITION and most > 1:
        source = PreciseProblem(PreciseGradient(problem.design, problem.y), problem.alpha)
    settled = SETTLED * max(1.0, np.sqrt(len(w) / MANY_FEATURES))
    trace, best = Trace(), None
    for n_iter in range(1, most + 1):
        residual, gradient = source.measure(w)
        correction = correct(residual, gradient)
        rss = _inner_products(residual, residual)
        at = MeasuredLine(w, rss, gradient, correction, norms, size_of_fit(norms, w, problem.b_norm))
        objective = 0.5 * float(rss.sum() + problem.alpha * np.vdot(w, w))
        trace.add(iteration=n_iter, objective=objective, correction=at.relative_change)
        trace.keep(coef=w)
        shrinks = best is None or at.relative_change < 0.5 * best.relative_change
        if best is None or at.relative_change < best.relative_change:
            best = at
        if at.relative_change <= settled or not shrinks:
            break
        w = w + correction
    assert best is not None
    if best.relative_change <= settled:  # the last correction is rounding and costs nothing: take it
        best = replace(best, coef=best.coef + best.correction)
    intercept = source.intercept(best.coef)
    return DirectFit(
        best, intercept, problem.y_mean, problem.b_norm, factor, problem.alpha, singular, factor.rank, trace
    )


def _refuse_vanishing_columns(design: Design) -> None:
    """Refuse columns that vary but whose squares underflow: they would count as constant and get no coefficient."""
    sample = design.raw_rows(slice(0, min(SAMPLED_ROWS, design.shape[0])))
    with np.errstate(invalid="ignore"):  # of infinities, which the normal equations will show
        narrow = np.flatnonzero(np.ptp(sample, axis=0) < SMALLEST)
    for j in narrow:
        size = float(np.abs(design.columns(np.array([j]))).max())
        if 0.0 < size < SMALLEST and size > 10 * EPS * abs(design.mean[j]):
            raise ValueError(
                f"X must have columns that are constant or vary by at least {SMALLEST:g}, "
                f"got {size:.3g} in column {j}. "
                "Change its units: its squares underflow."
            )


def _without_null_vector(kernel: Array, design: Design, alpha: float) -> Array:
    """Return ``A A'``; without a penalty made regular along the root weights, which centering maps to 0."""
    n = len(kernel)
    if alpha > 0.0 or not design.fit_intercept:
        return kernel
    u = np.ones(n) if design.root_weight is None else design.root_weight
    return kernel + (np.trace(kernel) / n or 1.0) * np.outer(u, u) / (u @ u)


def _inner_products(first: Array, second: Array) -> Array:
    """Return the product of each column with the one beside it; for one column BLAS is quicker."""
    if first.shape[1] == 1:
        return np.array([np.vdot(first, second)])
    return np.einsum("ij,ij->j", first, second)


def _roots(gram: Array) -> Array:
    """Return the singular values of ``A`` from the eigenvalues of its Gram matrix, largest first."""
    return np.sqrt(np.maximum(eigvalsh(gram, check_finite=False)[::-1], 0.0))
