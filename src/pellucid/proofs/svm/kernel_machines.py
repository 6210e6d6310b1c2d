r"""Proofs of SVC and SVR: what they store is that of their machines, and these are the best for the training data.

The scores of all rows follow from the stored support vectors, in blocks, in float64; what a machine must be then stands
in ``proved_machine``.

Probabilities: the slopes are the best for the stored scores of held-out rows; the machines that these come from are not
fitted again.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cholesky, eigh
from scipy.special import expit

from pellucid.proofs.arrays import Array, dense
from pellucid.proofs.certificate import Certificate, Claim
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
from pellucid.proofs.rounding import sum_error
from pellucid.proofs.seen import Seen, refusal
from pellucid.proofs.svm.proved_machine import ProvedMachine, certificate_of, stored_claims
from pellucid.proofs.training_data import TrainingData

SLOPE_ERROR = 1e-9
"""Part of the total of the scores that the derivative of the log loss may be: slopes are exact up to rounding."""

MOST_ROWS = 1000
"""Training rows up to which a kernel is shown to be an inner product on them, which takes as long as a small fit."""

FAR, SAME = 1e3, 1e-13
"""Distance from 0, in spreads, from which rows are moved to it, and spread, in distances, of a constant column."""

TRIED = 60
"""Rows among which a combination of negative squared length is looked for."""


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


def prove_svc(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate of the worst machine."""
    pairs = _pairs(data, parameters)
    fault = _stored_fault(fitted, parameters, data) or _class_fault(fitted, parameters, data, len(pairs))
    if fault:
        return refusal("support vectors", fault)
    kernel, X, center = _kernel_and_rows(parameters, data)
    rows, stored = data.places(fitted.support_), dense(fitted.dual_coef_)
    laid = np.zeros((len(stored), X.shape[0]))
    laid[:, rows] = stored
    of_class = [data.y[rows] == code for code in range(len(data.classes))]
    scores = [  # of each class, the sums over its support vectors, (n_rows, n_classes - 1)
        kernel_times(kernel, X, rows[own] if kernel.is_given else X[rows[own]], stored[:, own].T) for own in of_class
    ]
    machines = []
    for pair, intercept in zip(pairs, fitted.intercept_, strict=True):
        i, j = pair.classes
        own = np.concatenate([pair.first, pair.second])
        products, coef = scores[i][own, j - 1] + scores[j][own, i], pair.of_layout(laid)
        shift = float(center @ (coef @ X[own])) if center is not None else 0.0
        lower, upper = np.where(pair.target > 0.0, 0.0, -pair.cost), np.where(pair.target > 0.0, pair.cost, 0.0)
        machines.append(ProvedMachine(pair.target, lower, upper, 0.0, coef, products, float(intercept) + shift, shift))
    largest = float(np.max(np.abs(kernel_diagonal(kernel, X)), initial=0.0))
    claims = stored_claims(machines, fitted, largest)
    if not isinstance(parameters.probability, str) and parameters.probability:
        claims += (_slope_claim(fitted, pairs, data),)
    return certificate_of(machines, parameters.tol, _doubt_about(kernel, data)).with_claims(*claims)


def prove_svr(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
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
    claims = stored_claims([machine], fitted, float(np.max(np.abs(kernel_diagonal(kernel, X)), initial=0.0)))
    return certificate_of([machine], parameters.tol, _doubt_about(kernel, data)).with_claims(*claims)


def _slope_claim(fitted: Seen, pairs: list[ClassPair], data: TrainingData) -> Claim:
    """Return the claim that no slope has a smaller log loss on the held-out scores."""
    scores = fitted.held_out_scores_ if data.kept is None else fitted.held_out_scores_[:, data.kept]
    values = []
    for pair, slopes in zip(pairs, fitted.probability_slopes_, strict=True):
        weight = data.weights[np.concatenate([pair.first, pair.second])]
        positive, negative = (float(weight[sign * pair.target > 0.0].sum()) for sign in (1.0, -1.0))
        # Platt's targets: not quite 1 and 0, as if each class had been seen once more on either side
        target = np.where(pair.target > 0.0, (positive + 1.0) / (positive + 2.0), 1.0 / (negative + 2.0))
        values += [_steepness(pair.of_layout(scores), slopes, side, target, weight) for side in (0, 1)]
    said = (
        "derivative of the log loss of the stored held-out scores by a slope, as a part of their total; that they "
        "are the scores of machines which have not seen the row is not proved, so probabilities are not, only classes"
    )
    return Claim("probability slopes", said, float(np.max(values)), SLOPE_ERROR)


def _steepness(scores: Array, slopes: Array, side: int, target: Array, weight: Array) -> float:
    """Return by how much a slope misses its condition; a side without scores has the slope of the other."""
    on_side, on_other = (scores > 0.0, scores < 0.0)[:: 1 if side else -1]
    slope = slopes[side]
    if not on_side.any():
        return float(slope != (slopes[1 - side] if on_other.any() else 0.0))
    size = weight * scores * on_side
    derivative = float(size @ (expit(slope * scores) - target)) / float(np.abs(size).sum())
    return max(0.0, -derivative) if slope == 0.0 else abs(derivative) if slope > 0.0 else np.inf


def _stored_fault(fitted: Seen, parameters: Seen, data: TrainingData) -> str:
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


def _class_fault(fitted: Seen, parameters: Seen, data: TrainingData, n_machines: int) -> str:
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


def _pairs(data: TrainingData, parameters: Seen) -> list[ClassPair]:
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


def _has_products(kernel: Any) -> bool:
    """Return whether the data of the machine are products, given or made by a plain function of two matrices."""
    return has_given_products(kernel) or (callable(kernel) and not hasattr(kernel, "tile"))


def _gamma(parameters: Seen, data: TrainingData) -> float:
    """Return the factor that ``gamma`` means for these data; 0 where the kernel is not one of scikit-learn's names."""
    if _has_products(parameters.kernel) or not isinstance(parameters.kernel, str):
        return 0.0
    return gamma_value(parameters.gamma, data.X, data.weights)


def _kernel_and_rows(parameters: Seen, data: TrainingData) -> tuple[ProofKernel, Any, Array | None]:
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
