"""Fits of the elastic net: one penalty or a path of them, one target or several, and the attributes they make."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.fit import Fit
from pellucid.core.input_rules import relative_weights
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.watching import Watch, ignore
from pellucid.linear_model.linear_predictor import one_target, stored_intercept
from pellucid.linear_model.sparse_regression.elastic_net_solvers import (
    Iterate,
    PassBudget,
    elastic_net_working_set,
    gap_at,
    least_squares,
    screen_by_strong_rule,
)
from pellucid.linear_model.sparse_regression.elastic_net_subproblem import (
    ElasticNetPenalty,
    elastic_net_certificate,
    gap_bound,
    intercept_bound,
)
from pellucid.linear_model.sparse_regression.working_gram import WorkingGram
from pellucid.proofs.certificate import Certificate, worst_of
from pellucid.proofs.training_data import TrainingData
from pellucid.solvers.dense_design import DenseDesign
from pellucid.solvers.design import Design, make_design


@dataclass(frozen=True)
class PenaltyPath:
    """Coefficients of shape (n_features, n_penalties), duality gaps and passes of coordinate descent."""

    coefs: Array
    gaps: Array
    n_iters: list[int]


def elastic_net_path(
    gram: WorkingGram, b: Array, penalties: list[ElasticNetPenalty], budget: PassBudget, start: Array | None = None
) -> PenaltyPath:
    """Solve for each penalty in turn; the working set and its Gram matrix are kept."""
    at = Iterate.start(gram, b, start)
    coefs = np.empty((gram.design.shape[1], len(penalties)), order="F")
    gaps, n_iters = np.empty(len(penalties)), []
    previous: ElasticNetPenalty | None = None
    for i, penalty in enumerate(penalties):
        if previous is not None:
            screen_by_strong_rule(gram, at, previous, penalty)
        gaps[i], n_iter = solve_at(gram, b, penalty, at, budget)
        coefs[:, i] = at.w
        n_iters.append(n_iter)
        previous = penalty
    return PenaltyPath(coefs, gaps, n_iters)


def solve_at(
    gram: WorkingGram, b: Array, penalty: ElasticNetPenalty, at: Iterate, budget: PassBudget
) -> tuple[float, int]:
    """Solve for one penalty; without a penalty and sign constraint the problem is plain least squares."""
    unpenalized = penalty.l1 == penalty.l2 == 0.0 and not penalty.positive
    gap, n_iter = (least_squares if unpenalized else elastic_net_working_set)(gram, b, penalty, at, budget)
    return gap, n_iter if budget.may_keep_start else max(1, n_iter)


@dataclass(frozen=True)
class Settings:
    """The parameters of one elastic net."""

    alpha: float
    l1_ratio: float
    fit_intercept: bool
    positive: bool
    tol: float
    max_iter: int
    precompute: Any = False
    rng: np.random.RandomState | None = None
    """Where the order of the coordinates comes from; None for cyclic order."""


class OneTarget(NamedTuple):
    """What is stored of one target."""

    coef: Array
    intercept: Any
    gap: float
    n_iter: int
    certificate: Certificate


def design_of(data: TrainingData, fit_intercept: bool) -> Design:
    """Return the centered design in which the weights have mean 1: the loss is a weighted mean."""
    return make_design(data.X, fit_intercept=fit_intercept, sample_weight=relative_weights(data.weight))


def elastic_net_fit(
    data: TrainingData, design: Design, settings: Settings, starts: list[Array] | None = None, watch: Watch = ignore
) -> Fit:
    """Return the fit of all targets, one by one; ``starts`` are coefficients to begin from."""
    gram = WorkingGram(design, given_gram(settings.precompute, design))
    targets, y_means = design.center(data.y)
    targets, y_means = targets.reshape(len(data.y), -1), np.atleast_1d(y_means)
    trace, lines = Trace(), np.zeros((data.X.shape[1], targets.shape[1]))
    found = [
        _fit_target(
            data.dtype,
            gram,
            b,
            y_means[k],
            settings,
            starts[k] if starts else None,
            trace,
            one_target(watch, lines, k),
        )
        for k, b in enumerate(targets.T)
    ]
    single = len(found) == 1
    intercepts = np.array([one.intercept for one in found])
    attributes = {
        "coef_": found[0].coef if single else np.array([one.coef for one in found]),
        "dual_gap_": found[0].gap if single else np.array([one.gap for one in found]),
        "n_iter_": found[0].n_iter if single else [one.n_iter for one in found],
        "intercept_": stored_intercept(
            intercepts, fit_intercept=settings.fit_intercept, one_dimensional=data.y.ndim == 1
        ),
    }
    return Fit(attributes, trace, certificate=worst_of([one.certificate for one in found]))


def _fit_target(
    dtype: np.dtype,
    gram: WorkingGram,
    b: Array,
    y_mean: float,
    settings: Settings,
    start: Array | None,
    trace: Trace,
    watch: Watch,
) -> OneTarget:
    design, n = gram.design, len(b)
    penalty = ElasticNetPenalty.of(settings.alpha, settings.l1_ratio, n, positive=settings.positive)
    mean_sq_target = float(b @ b) / n
    mean_sq_raw = mean_sq_target + float(y_mean) ** 2
    bound = gap_bound(settings.tol, mean_sq_target, mean_sq_raw)
    budget = PassBudget(
        goal=n * bound,
        max_iter=settings.max_iter,
        rng=settings.rng,
        watch=watch,
        trace=trace,
        scale=n,
        may_keep_start=start is not None,
        margin=0.5,  # a single fit can afford to end well below its bound
    )
    point = Iterate.start(gram, b, start)
    gap, n_iter = solve_at(gram, b, penalty, point, budget)
    coef = point.w.astype(dtype)
    intercept = dtype.type(y_mean - float((design.mean * coef).sum()))
    if not (np.isfinite(coef).all() and np.isfinite(intercept)):
        raise ValueError("X and y must have products within the range of floats, got an overflow. Rescale them.")
    w = coef.astype(np.float64)
    products = design.mean * w
    drift = y_mean - float(products.sum()) - float(intercept)
    if dtype == np.float32 and settings.alpha > 0:  # what is stored has fewer digits than what was found
        gap = gap_at(gram, b, penalty, w) + 0.5 * n * drift**2
    scale = np.sqrt(mean_sq_raw) + float(np.abs(products).sum()) + abs(float(intercept))
    certificate = elastic_net_certificate(
        gap=gap / n, bound=bound, drift=abs(drift), drift_bound=intercept_bound(float(intercept), scale, dtype)
    )
    return OneTarget(coef, intercept, gap / n, n_iter, certificate)


COMPARED = 5
"""Columns of the given matrix that are compared with the data."""


def given_gram(precompute: Any, design: Design) -> Array | None:
    """Return ``precompute`` as an array if it is the Gram matrix of the design, None if it is only a permission.

    Sparse designs ignore it, as in scikit-learn. With an intercept, it must be the matrix of centered data.
    """
    if not _is_matrix(precompute) or not isinstance(design, DenseDesign):
        return None
    gram, p = np.asarray(precompute, dtype=np.float64), design.shape[1]
    if gram.shape != (p, p):
        raise ValueError(f"precompute must be of shape {(p, p)}, got {gram.shape}. Pass the Gram matrix of X.")
    if not np.allclose(design.mean, 0.0):
        warnings.warn(
            "precompute should be the Gram matrix of a centered X when fit_intercept=True, got an X that is not "
            "centered. The matrix is not used: center X first.",
            stacklevel=4,
        )
        return None
    some = np.unique(np.linspace(0, p - 1, min(p, COMPARED)).astype(np.intp))
    expected = design.gram(some, some)
    tolerance = 1e-4 if np.asarray(precompute).dtype == np.float32 else 1e-7
    if not np.allclose(gram[np.ix_(some, some)], expected, rtol=tolerance, atol=tolerance * np.abs(expected).max()):
        raise ValueError(
            "precompute must be the Gram matrix of X (centered and weighted as in the fit), got other numbers. "
            "Leave it out, or compute it from the same data."
        )
    return gram


def _is_matrix(precompute: Any) -> bool:
    if precompute is None or isinstance(precompute, (bool, np.bool_)):
        return False
    if isinstance(precompute, str) and precompute == "auto":
        return False
    if isinstance(precompute, str):
        raise ValueError(f"precompute must be one of (True, False, 'auto') or a matrix, got {precompute!r}.")
    return True
