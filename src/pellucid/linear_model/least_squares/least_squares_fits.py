"""The ways to fit a line by least squares with an l2 penalty, each from checked data to evidence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import optimize

from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.watching import Watch, ignore
from pellucid.linear_model.least_squares.gaussian_inference import NoiseStatistics, noise_statistics, unknown_noise
from pellucid.linear_model.least_squares.least_squares_solvers import DirectFit, solve_directly
from pellucid.linear_model.least_squares.line_claims import (
    LineEvidence,
    dropped_sentence,
    gradient_evidence,
    nonnegative_gradient,
    size_of_fit,
)
from pellucid.linear_model.least_squares.normal_factor import triangular_factor
from pellucid.solvers.dense_design import DenseDesign
from pellucid.solvers.design import Design, centering_noise


@dataclass(frozen=True)
class DesignSolution:
    """Coefficients of shape (n_features, n_targets) and all that is known about them."""

    coef: Array
    intercept: Array
    y_mean: Array
    b_norm: Array
    evidence: LineEvidence
    trace: Trace
    noise: NoiseStatistics
    n_iter: Array
    tol: float = 0.0
    rank: int | None = None
    singular: Callable[[], Array] | None = None


def fit_directly(
    design: Design,
    y: Array,
    alpha: Array,
    *,
    one_target: bool = True,
    cutoff: float | None = None,
    orthogonal: bool = False,
    gram: Array | None = None,
) -> DesignSolution:
    """Fit by a factorization; targets with the same penalty share it."""
    values = alpha[:1] if (alpha == alpha[0]).all() else np.unique(alpha)
    tall = design.shape[0] >= design.shape[1]
    if gram is None and tall and len(values) > 1 and not orthogonal:
        gram = design.gram()
    groups = [np.flatnonzero(alpha == value) for value in values]
    fits = [
        solve_directly(
            design,
            y if len(groups) == 1 else y[:, group],
            float(value),
            gram=gram,
            cutoff=cutoff,
            orthogonal=orthogonal,
        )
        for value, group in zip(values, groups, strict=True)
    ]
    if len(fits) == 1:
        coef, intercept, y_mean, b_norm = fits[0].coef, fits[0].intercept, fits[0].y_mean, fits[0].b_norm
        n_iter = np.full(y.shape[1], len(fits[0].trace))
    else:
        coef, intercept = np.empty((design.shape[1], y.shape[1])), np.empty(y.shape[1])
        y_mean, b_norm, n_iter = np.empty(y.shape[1]), np.empty(y.shape[1]), np.ones(y.shape[1], dtype=int)
        for group, fit in zip(groups, fits, strict=True):
            coef[:, group], intercept[group], n_iter[group] = fit.coef, fit.intercept, len(fit.trace)
            y_mean[group], b_norm[group] = fit.y_mean, fit.b_norm
    truncated = cutoff is not None and fits[0].rank < min(design.shape)
    evidence = LineEvidence(fits[0].evidence().normal_equations) if truncated else _worst([f.evidence() for f in fits])
    n, p = design.shape
    if not truncated and float(alpha.max(initial=0.0)) == 0.0 and fits[0].rank < p < n:
        said = f"{dropped_sentence(p - fits[0].rank, p)} verify says what they would change if they were real."
        evidence = replace(evidence, dropped=said)
    return DesignSolution(
        coef=coef,
        intercept=intercept,
        y_mean=y_mean,
        b_norm=b_norm,
        # What was cut off on purpose stays in the gradient: at most the cutoff, relatively.
        evidence=evidence,
        trace=fits[0].trace if len(fits) == 1 else Trace.joined([fit.trace for fit in fits], renumber=True),
        noise=_noise(design, fits, one_target=one_target),
        n_iter=n_iter,
        tol=float(cutoff or 0.0) if truncated else 0.0,
        rank=fits[0].rank,
        singular=fits[0].singular,
    )


def fit_nonnegative(design: Design, y: Array, alpha: Array) -> DesignSolution:
    """Fit with coefficients of at least 0."""
    b, y_mean = design.center(y)
    w = solve_nonnegative(design, b, alpha)
    return _measured(design, b, y_mean, w, alpha, positive=True)


def fit_by_conjugate_gradients(
    design: Design, y: Array, alpha: Array, *, tol: float, max_iter: int | None, watch: Watch = ignore
) -> DesignSolution:
    """Fit by conjugate gradients, stopping at ``tol``."""
    b, y_mean = design.center(y)
    most = max(1000, 10 * min(design.shape)) if max_iter is None else max_iter
    w, n_iter, trace = least_squares_cg(design, b, alpha, tol=tol, max_iter=most, watch=watch)
    return _measured(design, b, y_mean, w, alpha, trace=trace, n_iter=n_iter, tol=tol)


def fit_by_average_gradients(
    design: Design,
    y: Array,
    alpha: Array,
    *,
    tol: float,
    max_iter: int | None,
    random_state: np.random.RandomState,
    unbiased: bool,
    watch: Watch = ignore,
) -> DesignSolution:
    """Fit by stochastic average gradients, stopping at ``tol``."""
    assert isinstance(design, DenseDesign)
    b, y_mean = design.center(y)
    w, n_iter, trace = ridge_average_gradient(
        design,
        b,
        alpha,
        tol=tol,
        max_iter=1000 if max_iter is None else max_iter,
        random_state=random_state,
        unbiased=unbiased,
        watch=watch,
    )
    return _measured(design, b, y_mean, w, alpha, trace=trace, n_iter=n_iter, tol=tol)


def _measured(
    design: Design,
    b: Array,
    y_mean: Array,
    w: Array,
    alpha: Array,
    *,
    positive: bool = False,
    trace: Trace | None = None,
    n_iter: Array | None = None,
    tol: float = 0.0,
) -> DesignSolution:
    """Return the fit with its gradient measured on the data."""
    residual, correlations = design.residual_and_correlations(b, w)
    gradient = correlations - alpha * w
    b_norm = np.linalg.norm(b, axis=0)
    if positive:
        gradient = nonnegative_gradient(gradient, w)
    norms = np.sqrt(design.sq_norms() + centering_noise(design))
    size = size_of_fit(norms, w, b_norm)
    if trace is None:
        trace = Trace()
        objective = 0.5 * float(np.sum(residual**2) + np.sum(alpha * np.sum(w**2, axis=0)))
        trace.add(iteration=1, objective=objective)
        trace.keep(coef=w)
    return DesignSolution(
        coef=w,
        intercept=y_mean - design.mean @ w,
        y_mean=y_mean,
        b_norm=b_norm,
        evidence=LineEvidence(normal_equations=gradient_evidence(gradient, norms, size, alpha, w)),
        trace=trace,
        noise=unknown_noise(design),
        n_iter=np.ones(w.shape[1], dtype=int) if n_iter is None else n_iter,
        tol=tol,
    )


def _worst(evidence: list[LineEvidence]) -> LineEvidence:
    return LineEvidence(
        normal_equations=max(e.normal_equations for e in evidence),
        fitted_values=max(e.fitted_values or 0.0 for e in evidence),
        coefficients=max(e.coefficients or 0.0 for e in evidence),
    )


def _noise(design: Design, fits: list[DirectFit], *, one_target: bool) -> NoiseStatistics:
    if len(fits) > 1:  # each target has its own penalty and so its own covariance
        return unknown_noise(design)
    return noise_statistics(design, fits[0], one_target=one_target)


def solve_nonnegative(design: Design, b: Array, alpha: Array) -> Array:
    r"""Minimize :math:`\|b - Aw\|^2 + \alpha\|w\|^2` over :math:`w \ge 0`, one column of ``b`` per entry of ``alpha``.

    The data are first reduced to their triangular factor, so that the active-set method works on p rows, not on n.
    """
    p = design.shape[1]
    triangle, q = triangular_factor(design, b)
    w = np.empty((p, b.shape[1]))
    for k, value in enumerate(alpha):
        stacked = np.vstack([triangle, np.sqrt(value) * np.eye(p)]) if value > 0 else triangle
        w[:, k] = optimize.nnls(stacked, np.concatenate([q[:, k], np.zeros(len(stacked) - len(q))]))[0]
    return w


# Conjugate gradients for least squares and ridge: only products with the data, nothing factored.
#
# .. math::
# (A'A + \alpha I) w = A'b, \qquad
# p_{k+1} = s_{k+1} + \frac{|s_{k+1}|^2}{|s_k|^2} p_k, \quad s = A'(b - Aw) - \alpha w


def least_squares_cg(
    design: Design,
    b: Array,
    alpha: Array,
    *,
    tol: float,
    max_iter: int,
    watch: Watch = ignore,
) -> tuple[Array, Array, Trace]:
    """Minimize ``|b - A w|^2 + alpha |w|^2`` for every column of ``b`` from ``w = 0``.

    Stops when no ``|s_j|`` exceeds ``tol |a_j|`` times the size of the fit. Without a penalty the answer is the one of
    least norm. Returns ``w`` of shape (p, t), the iterations per target and the trace.
    """
    w = np.zeros((design.shape[1], b.shape[1]))
    norms, b_norm = np.sqrt(design.sq_norms() + centering_noise(design)), np.linalg.norm(b, axis=0)
    residual = b.copy()
    s = design.transposed_times(residual)
    direction, squared = s.copy(), np.sum(s**2, axis=0)
    n_iter, trace = np.zeros(b.shape[1], dtype=int), Trace()
    active = squared > 0
    for iteration in range(1, max_iter + 1):
        if not active.any():
            break
        image = design.times(direction)
        curvature = np.sum(image**2, axis=0) + alpha * np.sum(direction**2, axis=0)
        step = np.where(active, squared / np.where(curvature > 0, curvature, 1.0), 0.0)
        w = w + step * direction
        residual = residual - step * image
        s = design.transposed_times(residual) - alpha * w
        before, squared = squared, np.sum(s**2, axis=0)
        direction = s + squared / np.where(before > 0, before, 1.0) * direction
        n_iter[active] = iteration
        size = size_of_fit(norms, w, b_norm)
        gaps = [gradient_evidence(s[:, [k]], norms, size[[k]], alpha[[k]], w[:, [k]]) for k in range(len(alpha))]
        active = active & (np.array(gaps) > tol) & (squared > 0)
        objective = 0.5 * float(np.sum(residual**2) + np.sum(alpha * np.sum(w**2, axis=0)))
        trace.add(iteration=iteration, objective=objective, gradient=max(gaps))
        trace.keep(coef=w)
        if watch(w):
            break
    return w, n_iter, trace


# Ridge by stochastic average gradients, SAG and SAGA, on a dense design.
#
# .. math:: \min_w \frac{1}{2n}\sum_i (a_i'w - b_i)^2 + \frac{\alpha}{2n}\|w\|^2


def ridge_average_gradient(
    design: DenseDesign,
    b: Array,
    alpha: Array,
    *,
    tol: float,
    max_iter: int,
    random_state: np.random.RandomState,
    unbiased: bool,
    watch: Watch = ignore,
) -> tuple[Array, Array, Trace]:
    """Return ``w`` of shape (p, t), the epochs per target and the trace; an epoch draws n rows with replacement."""
    n, p = design.shape
    w, n_iter, trace = np.zeros((p, b.shape[1])), np.zeros(b.shape[1], dtype=int), Trace()
    norms, b_norm = np.sqrt(design.sq_norms() + centering_noise(design)), np.linalg.norm(b, axis=0)
    steepest = max(float(np.max(np.einsum("ij,ij->i", block, block))) for _, block in design.row_blocks())
    for k in range(b.shape[1]):
        epoch = _Epoch(design, b[:, k], float(alpha[k]), steepest, unbiased)
        for _ in range(max_iter):
            epoch.run(np.asarray(random_state.randint(n, size=n)))
            n_iter[k] += 1
            w[:, k] = epoch.w
            residual = b[:, k] - design.times(epoch.w)
            gradient = (design.transposed_times(residual) - alpha[k] * epoch.w)[:, None]
            size = size_of_fit(norms, w[:, [k]], b_norm[[k]])
            gap = gradient_evidence(gradient, norms, size, alpha[[k]], w[:, [k]])
            objective = 0.5 * float(residual @ residual + alpha[k] * (epoch.w @ epoch.w))
            trace.add(iteration=len(trace) + 1, objective=objective, gradient=gap)
            trace.keep(coef=w)
            if watch(w) or gap <= tol:
                break
    return w, n_iter, trace


class _Epoch:
    """The state of the method for one target."""

    def __init__(self, design: DenseDesign, b: Array, alpha: float, steepest: float, unbiased: bool) -> None:
        n, p = design.shape
        self.design, self.b, self.unbiased = design, b, unbiased
        self.penalty = alpha / n
        lipschitz = steepest + self.penalty
        self.step = 1.0 / (3.0 * lipschitz) if lipschitz > 0 else 1.0
        self.root_weight = np.ones(n) if design.root_weight is None else design.root_weight
        self.w, self.gradient = np.zeros(p), np.zeros(p)
        self.errors, self.seen = np.zeros(n), np.zeros(n, dtype=np.bool_)

    def run(self, order: Array) -> None:
        from pellucid.linear_model.least_squares.stochastic_average_kernels import average_gradient_epoch

        average_gradient_epoch(
            self.design.X, self.design.mean, self.root_weight, self.b, order, self.w, self.errors, self.gradient,
            self.seen, self.penalty, self.step, self.unbiased,
        )  # fmt: skip
