r"""Proofs of SVC and SVR: duality gap and optimality conditions of each machine, recomputed from the training data.

The scores of all rows follow from the stored support vectors, in blocks, in float64. With :math:`r_i = t_i - f(x_i)`
and the excess over the tube as loss, the primal objective exceeds the dual one by

.. math:: P - D = \sum_i\bigl(u_i\max(0, r_i - \varepsilon) - l_i\max(0, -r_i - \varepsilon) - \beta_ir_i
          + \varepsilon|\beta_i|\bigr),

if :math:`\sum\beta_i = 0`. Every term is at least 0 inside the box :math:`l_i \le \beta_i \le u_i`, so nothing cancels
and the sum is precise. Where a box is infinite (a hard margin) the loss is a constraint instead: its excess counts
among the conditions, and the gap is that of the problem whose constraints are loosened by that excess.

A product of two rows is computed up to ``PRODUCT_ERROR`` of the largest product of a row with itself, so a score up to
that times the total of the coefficients. Nothing that is stored may differ by more from what follows from them.

Probabilities: the slopes are the best for the stored scores of held-out rows; the machines that these come from are not
fitted again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cholesky, eigh
from scipy.special import expit

from pellucid.proofs.arrays import Array, dense
from pellucid.proofs.certificate import Certificate, Claim, worst_claim
from pellucid.proofs.classes import class_weights
from pellucid.proofs.kernels.matrices import (
    ProofKernel,
    gamma_value,
    has_given_products,
    kernel_diagonal,
    kernel_matrix,
    kernel_times,
    resolved_kernel,
)
from pellucid.proofs.rounding import ROUNDING, sum_error
from pellucid.proofs.seen import refusal
from pellucid.proofs.training_data import TrainingData

LARGEST_GAP = 1e-3
"""Part of the objective that the gap may be at most, whatever ``tol``."""

PRODUCT_ERROR = 4e-11
"""Part of the largest product of a row with itself by which two computations of a product may differ."""

SLOPE_ERROR = 1e-9
"""Part of the total of the scores that the derivative of the log loss may be: slopes are exact up to rounding."""

MOST_ROWS = 1000
"""Training rows up to which a kernel is shown to be an inner product on them, which takes as long as a small fit."""

FAR, SAME = 1e3, 1e-13
"""Distance from 0, in spreads, from which rows are moved to it, and spread, in distances, of a constant column."""

TRIED = 60
"""Rows among which a combination of negative squared length is looked for."""

REMEDY = "Raise max_iter or cache_size, or standardize X."


@dataclass(frozen=True)
class ProvedMachine:
    """The problem of one machine as numbers, and the point stored for it; rows may have been moved to their mean."""

    target: Array
    lower: Array
    upper: Array
    tube: float
    coef: Array
    products: Array
    r""":math:`K\beta`."""
    intercept: float
    shift: float
    """By how much the stored intercept is less, as the rows were moved."""

    @property
    def squared_length(self) -> float:
        r""":math:`\|w\|^2 = \beta'K\beta`."""
        return float(self.coef @ self.products)

    @property
    def residual(self) -> Array:
        """What is missing to the targets."""
        return self.target - self.products - self.intercept

    @property
    def losses(self) -> Array:
        """What the excess over the tube costs; nothing where it is a constraint."""
        above, below = np.maximum(self.residual - self.tube, 0.0), np.maximum(-self.residual - self.tube, 0.0)
        upper, lower = (np.where(np.isinf(bound), 0.0, bound) for bound in (self.upper, self.lower))
        return upper * above - lower * below

    @property
    def objective(self) -> float:
        """The primal objective."""
        return 0.5 * self.squared_length + float(self.losses.sum())

    @property
    def gap(self) -> float:
        """How far the primal objective is above the dual one; see the head of this file."""
        return float(np.abs(self.losses - self.coef * self.residual + self.tube * np.abs(self.coef)).sum())

    @property
    def relative_gap(self) -> float:
        """The gap as a part of the objective; 0 if both are."""
        return self.gap / abs(self.objective) if self.objective else 0.0 if self.gap == 0.0 else np.inf

    @property
    def violation(self) -> float:
        """By how much the residual of a row is not what its coefficient asks for, at most.

        A coefficient that may rise asks for a residual of at most the tube, of minus the tube where it is below 0; one
        that may fall for one of at least minus the tube, or the tube where it is above 0.
        """
        most = np.where(self.coef >= 0.0, self.tube, -self.tube)
        least = np.where(self.coef > 0.0, self.tube, -self.tube)
        wrong = [
            np.where(self.coef < self.upper, self.residual - most, 0.0),
            np.where(self.coef > self.lower, least - self.residual, 0.0),
            np.where(np.isinf(self.upper), self.residual - self.tube, 0.0),
            np.where(np.isinf(self.lower), -self.residual - self.tube, 0.0),
        ]
        return float(np.max(wrong, initial=0.0))

    @property
    def infeasibility(self) -> float:
        """How far the coefficients leave their boxes, or their sum 0, as a part of their total."""
        total = float(np.abs(self.coef).sum())
        outside = np.max([self.coef - self.upper, self.lower - self.coef], initial=0.0)
        return float(np.maximum(outside, abs(self.coef.sum())) / total) if total != 0.0 else 0.0

    @property
    def intercept_range(self) -> tuple[float, float]:
        """The intercepts that the conditions allow: one, their weighted mean, if some coefficients are free."""
        aim = self.target - self.products
        is_free = (self.coef > self.lower) & (self.coef < self.upper) & ((self.coef != 0.0) | (self.tube == 0.0))
        if is_free.any():
            width = (self.upper - self.lower)[is_free]  # a row that stands for k rows has a box k times as wide
            asked = (aim - self.tube * np.sign(self.coef))[is_free]
            mean = float(np.average(asked, weights=width if np.isfinite(width).all() else None))
            return mean, mean
        least = (aim - np.where(self.coef >= 0.0, self.tube, -self.tube))[self.coef < self.upper]
        most = (aim - np.where(self.coef > 0.0, self.tube, -self.tube))[self.coef > self.lower]
        low, high = float(np.max(least, initial=-np.inf)), float(np.min(most, initial=np.inf))
        return min(low, high), max(low, high)

    @property
    def wanted_intercept(self) -> float:
        """The middle of the range; its finite end if it has one only, 0 if it has none."""
        ends = [end for end in self.intercept_range if math.isfinite(end)]
        return sum(ends) / len(ends) if ends else 0.0

    @property
    def margin_width(self) -> float:
        r"""The distance :math:`2/\|w\|` of the lines of scores -1 and +1 in the space of the kernel."""
        return 2.0 / math.sqrt(self.squared_length) if self.squared_length > 0.0 else np.inf


@dataclass(frozen=True)
class ClassPair:
    """The rows of two classes, those of the first in front, with targets +1 and -1 and what they cost."""

    classes: tuple[int, int]
    first: Array
    second: Array
    target: Array
    cost: Array

    def of_layout(self, laid: Array) -> Array:
        """Return what this machine has in LIBSVM's layout, where each row has one number per other class."""
        i, j = self.classes
        return np.concatenate([laid[j - 1, self.first], laid[i, self.second]])


def prove_svc(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate of the worst machine."""
    pairs = _pairs(data, parameters)
    fault = _stored_fault(fitted, parameters, data) or _class_fault(fitted, parameters, data, len(pairs))
    if fault:
        return refusal("support vectors", fault)
    kernel, X, center = _kernel_and_rows(parameters, data)
    rows, stored = data.places(fitted.support_), dense(fitted.dual_coef_)
    laid = np.zeros((len(stored), X.shape[0]))
    laid[:, rows] = stored
    scores = _scores_by_class(kernel, X, rows, stored, data.y[rows], len(data.classes))
    machines = []
    for pair, intercept in zip(pairs, fitted.intercept_, strict=True):
        i, j = pair.classes
        own = np.concatenate([pair.first, pair.second])
        products, coef = scores[i][own, j - 1] + scores[j][own, i], pair.of_layout(laid)
        shift = float(center @ (coef @ X[own])) if center is not None else 0.0
        lower, upper = np.where(pair.target > 0.0, 0.0, -pair.cost), np.where(pair.target > 0.0, pair.cost, 0.0)
        machines.append(ProvedMachine(pair.target, lower, upper, 0.0, coef, products, float(intercept) + shift, shift))
    largest = float(np.max(np.abs(kernel_diagonal(kernel, X)), initial=0.0))
    claims = (*_stored_claims(machines, fitted, largest), _margin_claim(machines, fitted.margin_width_, largest))
    if not isinstance(parameters.probability, str) and parameters.probability:
        claims += (_slope_claim(fitted, pairs, data),)
    return _certificate(machines, parameters.tol, _doubt_about(kernel, data)).with_claims(*claims)


def prove_svr(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate."""
    fault = _stored_fault(fitted, parameters, data)
    sizes = {fitted.dual_coef_.shape[0], len(fitted.intercept_), len(fitted.intercept_range_), len(fitted.objective_)}
    fault = fault or ("" if sizes == {1} else "not those of one machine")
    if fault:
        return refusal("support vectors", fault)
    kernel, X, center = _kernel_and_rows(parameters, data)
    rows, stored = data.places(fitted.support_), dense(fitted.dual_coef_)[0]
    coef = np.zeros(X.shape[0])
    coef[rows] = stored
    products = kernel_times(kernel, X, rows if kernel.is_given else X[rows], stored)
    shift = float(center @ (stored @ X[rows])) if center is not None else 0.0
    target, cost = np.asarray(data.y, dtype=np.float64), _costs(parameters.C, data.weights)
    intercept = float(fitted.intercept_[0]) + shift
    machine = ProvedMachine(target, -cost, cost, float(parameters.epsilon), coef, products, intercept, shift)
    claims = _stored_claims([machine], fitted, float(np.max(np.abs(kernel_diagonal(kernel, X)), initial=0.0)))
    return _certificate([machine], parameters.tol, _doubt_about(kernel, data)).with_claims(*claims)


def _certificate(machines: Sequence[ProvedMachine], tol: float, doubt: str) -> Certificate:
    """Return the certificate of the worst machine.

    ``doubt`` says why the kernel is not known to be an inner product; empty if it is. Without one, the conditions hold
    at the minimum and perhaps elsewhere, and a gap means nothing.
    """
    conditions = Claim(
        "optimality conditions",
        "by how much the score of a row is not what its coefficient asks for, at most",
        float(np.max([machine.violation for machine in machines])),
        tol * (1.0 + ROUNDING),
        REMEDY,
    )
    feasible = Claim(
        "dual feasibility",
        "part of all coefficients by which one leaves its box or their sum leaves 0",
        float(np.max([machine.infeasibility for machine in machines])),
        ROUNDING,
    )
    if doubt:
        return Certificate("stationary", (conditions, feasible), doubt)
    relative = Claim(
        "duality gap",
        "part of its objective by which the worst machine is above its minimum, at most",
        float(np.max([machine.relative_gap for machine in machines])),
        min(tol, LARGEST_GAP) + ROUNDING,
        REMEDY,
    )
    return Certificate("optimal", (relative, conditions, feasible))


def _stored_claims(machines: Sequence[ProvedMachine], fitted: Any, largest: float) -> tuple[Claim, ...]:
    """Return the claims that intercepts, their ranges, objectives and gaps are those of the stored coefficients.

    ``largest`` is the largest product of a row with itself.
    """
    each = list(zip(machines, np.atleast_1d(fitted.intercept_), fitted.intercept_range_, strict=True))
    return (
        worst_claim(
            Claim(
                "intercept",
                "distance from the mean of what the free support vectors ask for, or from the middle of its range",
                _distance(np.array([b, *ends]) + machine.shift, [machine.wanted_intercept, *machine.intercept_range]),
                _score_error(machine, largest) + ROUNDING * abs(machine.shift),
            )
            for machine, b, ends in each
        ),
        _reported(machines, "objective", fitted.objective_, largest),
        _reported(machines, "gap", fitted.dual_gap_, largest),
    )


def _reported(machines: Sequence[ProvedMachine], name: str, stored: Sequence[float], largest: float) -> Claim:
    return worst_claim(
        Claim(
            f"reported {name}",
            f"distance of the {name} stored for a machine from what its coefficients give",
            _distance([value], [getattr(machine, name)]),
            _objective_error(machine, largest),
        )
        for machine, value in zip(machines, stored, strict=True)
    )


def _margin_claim(machines: Sequence[ProvedMachine], stored: Array, largest: float) -> Claim:
    return worst_claim(
        Claim(
            "margin width",
            "part by which margin_width_ differs from what the coefficients give",
            0.0 if width == machine.margin_width else abs(width / machine.margin_width - 1.0),
            _objective_error(machine, largest) / machine.squared_length if machine.squared_length > 0.0 else 0.0,
        )
        for machine, width in zip(machines, stored, strict=True)
    )


def _score_error(machine: ProvedMachine, largest: float) -> float:
    """Return how far two computations of a score may differ."""
    size = float(np.abs(machine.coef).sum()) * largest + float(np.abs(machine.target).max(initial=0.0))
    return PRODUCT_ERROR * size


def _objective_error(machine: ProvedMachine, largest: float) -> float:
    """Return how far two computations of the objective may differ: an error of each score, times what it costs."""
    bounds = np.where(np.isfinite(machine.upper), machine.upper, 0.0)
    cost = float(np.maximum(bounds, np.abs(machine.coef)).sum())
    return 2.0 * cost * _score_error(machine, largest)


def _distance(stored: Any, wanted: Any) -> float:
    """Return the largest difference; none between equal infinities, and NaN stays NaN."""
    one, other = np.asarray(stored, dtype=np.float64), np.asarray(wanted, dtype=np.float64)
    return float(np.max(np.where(one == other, 0.0, np.abs(one - other))))


def _slope_claim(fitted: Any, pairs: list[ClassPair], data: TrainingData) -> Claim:
    """Return the claim that no slope has a smaller log loss on the held-out scores."""
    scores = fitted.held_out_scores_ if data.kept is None else fitted.held_out_scores_[:, data.kept]
    values = []
    for pair, slopes in zip(pairs, fitted.probability_slopes_, strict=True):
        weight = data.weights[np.concatenate([pair.first, pair.second])]
        positive, negative = (float(weight[sign * pair.target > 0.0].sum()) for sign in (1.0, -1.0))
        # Platt's targets: not quite 1 and 0, as if each class had been seen once more on either side
        target = np.where(pair.target > 0.0, (positive + 1.0) / (positive + 2.0), 1.0 / (negative + 2.0))
        values += [_steepness(pair.of_layout(scores), slopes, side, target, weight) for side in (0, 1)]
    return Claim(
        "probability slopes",
        "derivative of the log loss of the stored held-out scores by a slope, as a part of their total; that they "
        "are the scores of machines which have not seen the row is not proved, so probabilities are not, only classes",
        float(np.max(values)),
        SLOPE_ERROR,
    )


def _steepness(scores: Array, slopes: Array, side: int, target: Array, weight: Array) -> float:
    """Return by how much a slope misses its condition; a side without scores has the slope of the other."""
    on_side, on_other = (scores > 0.0, scores < 0.0)[:: 1 if side else -1]
    slope = slopes[side]
    if not on_side.any():
        return float(slope != (slopes[1 - side] if on_other.any() else 0.0))
    size = weight * scores * on_side
    derivative = float(size @ (expit(slope * scores) - target)) / float(np.abs(size).sum())
    return max(0.0, -derivative) if slope == 0.0 else abs(derivative) if slope > 0.0 else np.inf


def _stored_fault(fitted: Any, parameters: Any, data: TrainingData) -> str:
    """Return what is wrong with the support vectors as rows of the data; empty if nothing is."""
    support, given = fitted.support_, data.given[0]
    if tuple(fitted.shape_fit_) != tuple(given.shape):
        return "shape_fit_ is not the shape of the data"
    gamma = _gamma(parameters, data)
    if not abs(fitted.gamma_ - gamma) <= sum_error(given.size) * gamma:
        return "gamma_ is not what the parameter means"
    if fitted.dual_coef_.shape[1] != len(support) or fitted.n_support_.sum() != len(support):
        return "not as many as there are coefficients"
    if (support < 0).any() or (support >= data.n_given).any() or len(np.unique(support)) != len(support):
        return "not rows of the data, each once"
    rows = data.places(support)
    if len(rows) != len(support):
        return "one of them has weight 0"
    stored = fitted.support_vectors_
    if _has_products(parameters.kernel):
        return "" if stored.size == 0 else "there should be none for products"
    if stored.shape != (len(support), data.X.shape[1]) or sparse.issparse(stored) != sparse.issparse(data.X):
        return "not rows of the data"
    return "" if (dense(stored) == dense(data.X[rows])).all() else "not the rows of the data that support_ names"


def _class_fault(fitted: Any, parameters: Any, data: TrainingData, n_machines: int) -> str:
    """Return what is wrong with the order of the support vectors or with the weights of the classes."""
    n_classes = len(data.classes)
    if len(np.unique(data.y)) != n_classes:
        return "classes_ has labels that no row has"
    if fitted.dual_coef_.shape[0] != n_classes - 1 or len(fitted.n_support_) != n_classes:
        return "not as many classes as in the data"
    own = data.y[data.places(fitted.support_)]
    if (np.bincount(own, minlength=n_classes) != fitted.n_support_).any() or (np.diff(own) < 0).any():
        return "not sorted by class, or not as many of each as n_support_ says"
    if np.abs(fitted.class_weight_ - class_weights(parameters.class_weight, data)).max() > sum_error(len(data.y)):
        return "class_weight_ is not what the parameter means"
    sizes = {len(fitted.intercept_), len(fitted.intercept_range_), len(fitted.margin_width_), len(fitted.objective_)}
    return "" if sizes == {n_machines} else "not as many machines as pairs of classes"


def _pairs(data: TrainingData, parameters: Any) -> list[ClassPair]:
    """Return the machines of all pairs of classes: the first has target +1, but of two classes the second."""
    n_classes = len(data.classes)
    sign = -1.0 if n_classes == 2 else 1.0
    cost = _costs(parameters.C, class_weights(parameters.class_weight, data)[data.y] * data.weights)
    found = []
    for i, j in combinations(range(n_classes), 2):
        first, second = np.flatnonzero(data.y == i), np.flatnonzero(data.y == j)
        target = np.repeat([sign, -sign], [len(first), len(second)])
        found.append(ClassPair((i, j), first, second, target, cost[np.concatenate([first, second])]))
    return found


def _costs(C: float, factor: Array) -> Array:
    """Return C times the factor of each row, 0 where that is 0 even if C is infinite."""
    return np.multiply(C, factor, where=factor > 0.0, out=np.zeros_like(factor, dtype=np.float64))


def _scores_by_class(
    kernel: ProofKernel, X: Any, rows: Array, stored: Array, labels: Array, n_classes: int
) -> list[Array]:
    """Return for each class the sums over its support vectors, (n_rows, n_classes - 1)."""
    found = []
    for label in range(n_classes):
        own = rows[labels == label]
        found.append(kernel_times(kernel, X, own if kernel.is_given else X[own], stored[:, labels == label].T))
    return found


def _has_products(kernel: Any) -> bool:
    """Return whether the data of the machine are products, given or made by a plain function of two matrices."""
    return has_given_products(kernel) or (callable(kernel) and not hasattr(kernel, "tile"))


def _gamma(parameters: Any, data: TrainingData) -> float:
    """Return the factor that ``gamma`` means for these data; 0 where the kernel is not one of scikit-learn's names."""
    if _has_products(parameters.kernel) or not isinstance(parameters.kernel, str):
        return 0.0
    return gamma_value(parameters.gamma, data.X, data.weights)


def _kernel_and_rows(parameters: Any, data: TrainingData) -> tuple[ProofKernel, Any, Array | None]:
    """Return the kernel and the rows; of a linear one dense rows far from 0 about their mean, and that mean.

    As the coefficients of a machine sum to 0, it is the same for rows moved by c, but for its intercept, which takes up
    :math:`w'c`; the products keep the digits that a common offset would cost.
    """
    is_function = _has_products(parameters.kernel) and not has_given_products(parameters.kernel)
    kernel = resolved_kernel(
        "precomputed" if is_function else parameters.kernel,
        gamma=_gamma(parameters, data),
        degree=parameters.degree,
        coef0=float(parameters.coef0),
    )
    if kernel.name != "linear" or sparse.issparse(data.X):
        return kernel, data.X, None
    X = np.asarray(data.X, dtype=np.float64)
    center = X.mean(axis=0)
    spread, distance = np.abs(X - center).max(axis=0), np.abs(center)
    spread[spread <= SAME * distance] = spread.max()  # a constant column has no digits to keep
    return (kernel, X - center, center) if (distance > FAR * spread).any() else (kernel, X, None)


def _doubt_about(kernel: ProofKernel, data: TrainingData) -> str:
    """Return why the kernel is not known to be an inner product, with a witness if one is found; empty if it is known.

    On few rows a Cholesky factor of the products shows that no combination of them has negative energy, up to a shift
    of the diagonal that is rounding.
    """
    n = data.X.shape[0]
    if kernel.positive or (n <= MOST_ROWS and _is_positive(kernel_matrix(kernel, data.X))):
        return ""
    tried = np.unique(np.linspace(0, n - 1, min(n, TRIED)).astype(int))
    products = kernel_matrix(kernel, data.X[tried], tried if kernel.is_given else data.X[tried])
    vector = eigh(products, subset_by_index=[0, 0])[1][:, 0]
    energy = float(vector @ products @ vector)
    if energy >= -sum_error(n) * np.abs(products).max() * float(np.abs(vector).sum()) ** 2:
        return f"The kernel is not known to be an inner product on these {n} rows, so there may be better machines."
    return (
        "The kernel is no inner product, so there may be better machines: a combination of "
        f"{len(tried)} rows, of length 1, has the squared length {energy:.3g}."
    )


def _is_positive(products: Array) -> bool:
    n = len(products)
    shift = n * sum_error(n) * float(np.abs(np.diagonal(products)).max(initial=0.0))
    try:
        cholesky(products + shift * np.eye(n), lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return False
    return True


PROVES = {"SVC": prove_svc, "SVR": prove_svr}
