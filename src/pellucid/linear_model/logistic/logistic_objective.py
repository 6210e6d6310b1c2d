r"""What the parameters of logistic regression and its data ask to minimize, and what a fit says of its answer.

.. math:: \min_{W,\,b}\ \sum_i s_i\,\ell(y_i, x_i'W + b) + l_1\|W\|_1 + \tfrac{l_2}{2}\|W\|_2^2

The :math:`s_i` are ``C`` times the weights of the rows and of their classes. Two classes have one column of logits,
for the second class; more have one each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import compute_class_weight

from pellucid.core.types import Array, ClassWeight, SparseOrDense
from pellucid.linear_model.sparse_regression.elastic_net_subproblem import ElasticNetPenalty
from pellucid.proofs.certificate import Certificate, Claim, gap_claim
from pellucid.proofs.rounding import ROUNDING
from pellucid.proofs.training_data import TrainingData

L1_RATIO_OF = {"l2": 0.0, "l1": 1.0}
"""What the deprecated parameter ``penalty`` says about ``l1_ratio``."""

ROUGH_TOL = 1e-4
"""A larger ``tol`` than this, the default, asks for no more than scikit-learn's: a small slope, not a small gap."""


def penalty_of(parameters: Any) -> ElasticNetPenalty:
    """Return the penalty: none if ``C`` is infinite."""
    if parameters.penalty is None or math.isinf(parameters.C):
        return ElasticNetPenalty(0.0, 0.0)
    l1 = float(L1_RATIO_OF.get(parameters.penalty, parameters.l1_ratio or 0.0))
    return ElasticNetPenalty(l1, 1.0 - l1)


@dataclass(frozen=True)
class LogisticObjective:
    """Rows, labels, weights and penalty."""

    X: SparseOrDense
    labels: Array  # (n,), from 0
    classes: Array
    weight: Array  # (n,)
    penalty: ElasticNetPenalty
    fit_intercept: bool
    constant: float | None = None
    """As in LIBLINEAR: the value of a last column of ``X`` that stands for the intercept, penalized as the others."""
    rough: float = 0.0
    """Where above 0, the slope of the mean objective at which a fit may stop, however large the gap is."""
    n_columns: int = field(init=False)
    """Columns of logits."""
    is_penalized: bool = field(init=False)
    """Whether there is a penalty, and so a finite minimum and a duality gap."""

    @classmethod
    def of(cls, parameters: Any, data: TrainingData) -> Self:
        """Return what is to be minimized; refuse labels that ask for nothing, or for too much."""
        penalty, weight = penalty_of(parameters), data.weights
        if parameters.class_weight is not None:
            weight = weight * _class_weights(parameters.class_weight, data)[data.y]
        if penalty.l1 + penalty.l2 > 0.0:
            weight = weight * parameters.C
        _check_classes(parameters, data, weight)
        rough = float(parameters.tol) if parameters.tol > ROUGH_TOL else 0.0
        if parameters.solver != "liblinear" or not parameters.fit_intercept:
            return cls(data.X, data.y, data.classes, weight, penalty, bool(parameters.fit_intercept), rough=rough)
        constant = float(parameters.intercept_scaling)
        X = _with_constant(data.X, constant)
        return cls(X, data.y, data.classes, weight, penalty, fit_intercept=False, constant=constant, rough=rough)

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_columns", 1 if len(self.classes) == 2 else len(self.classes))
        object.__setattr__(self, "is_penalized", self.penalty.l1 + self.penalty.l2 > 0.0)

    def steepest(self, gradient: Array, W: Array) -> float:
        """Return the largest slope of the mean objective along a weight, from the gradient of the loss.

        A weight of 0 has all slopes within ``l1`` of its own: the least of them counts.
        """
        slopes = np.abs(gradient + self.penalty.l2 * W + self.penalty.l1 * np.sign(W))
        slopes = np.where(W == 0.0, np.maximum(np.abs(gradient) - self.penalty.l1, 0.0), slopes)
        return float(slopes.max(initial=0.0)) / float(self.weight.sum())

    def coefficients(self, coef: Array, intercept: Array) -> tuple[Array, Array] | None:
        """Return weights of shape (p, K) and intercept for fitted attributes, in float64; None if they do not suit."""
        W, b = coef.T.astype(np.float64), intercept.astype(np.float64)
        if self.constant is not None:
            W, b = np.vstack([W, b / self.constant]), np.zeros_like(b)
        suit = W.shape == (self.X.shape[1], self.n_columns) and b.shape == (self.n_columns,)
        return (W, b) if suit else None


def _class_weights(class_weight: ClassWeight, data: TrainingData) -> Array:
    """Return the weight of each class; of labels that only rows of weight 0 have, balance means nothing."""
    present = np.unique(data.y) if class_weight == "balanced" else np.arange(len(data.classes))
    weights = np.ones(len(data.classes))
    weights[present] = compute_class_weight(
        class_weight, classes=data.classes[present], y=data.classes[data.y], sample_weight=data.weight
    )
    return weights


def _check_classes(parameters: Any, data: TrainingData, weight: Array) -> None:
    present = np.bincount(data.y, weights=weight, minlength=len(data.classes)) > 0.0
    if present.sum() < 2:
        only = (data.classes[present] if present.any() else data.classes).tolist()
        raise ValueError(f"y must hold at least 2 classes of positive weight, got one class: {only[0]!r}.")
    if parameters.solver == "liblinear" and len(data.classes) > 2:
        raise ValueError(
            f"solver must not be 'liblinear' for more than 2 classes, got {len(data.classes)} classes. Use "
            "another, or OneVsRestClassifier(LogisticRegression(solver='liblinear'))."
        )


def _with_constant(X: SparseOrDense, value: float) -> Any:
    """Return ``X`` with one more column of this value."""
    column = np.full((X.shape[0], 1), value, dtype=X.dtype)
    return sparse.hstack([X, column], format="csr") if sparse.issparse(X) else np.hstack([X, column])


LARGEST_GAP = 1e-6
"""Part of the objective that the gap may be at most, whatever ``tol``."""


def gap_certificate(gap: float, objective: float, goal: float) -> Certificate:
    """Return the certificate of a model with a penalty; the gap to reach is a part of the objective, the goal.

    A gap below 0, by as much as it may be above, is an error of the lower bound.
    """
    bound = (goal + ROUNDING) * abs(objective)
    claim = gap_claim(
        "duality gap",
        "the objective is at most this far above its minimum",
        objective,
        objective - gap,
        bound,
        rounding=bound,
        remedy="Raise max_iter, standardize X, or lower C; for no penalty use C=np.inf.",
    )
    return Certificate("optimal", (claim,))


def slope_certificate(steepest: float, relative_gap: float, tol: float) -> Certificate:
    """Return the certificate of a model that a large ``tol`` let stop where the objective hardly falls."""
    claim = Claim(
        "slope",
        "largest slope of the mean objective along a weight, at most tol",
        steepest,
        tol * (1.0 + ROUNDING),
        "Raise max_iter, or standardize X.",
    )
    reason = f"tol={tol:g} asks for no more: the objective is at most {100 * relative_gap:.3g} % above its minimum."
    return Certificate("stationary", (claim,), reason)


def gradient_certificate(gradient: float, separable: bool, goal: float) -> Certificate:
    """Return the certificate of a model without a penalty."""
    return Certificate(
        "stationary",
        (
            Claim(
                "gradient",
                "largest correlation of a column with the residual",
                gradient,
                np.inf if separable else goal + ROUNDING,
                "Raise max_iter, or standardize X.",
            ),
            Claim(
                "separation",
                "1 if a hyperplane separates classes, so that the coefficients would grow for ever",
                float(separable),
                0.0,
                "The classes can be separated: no finite coefficients are best. Use a penalty (a finite C).",
            ),
        ),
    )
