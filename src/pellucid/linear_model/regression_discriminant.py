"""RegressionDiscriminant: classes by regression of sigmoid outputs on 0 and 1."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin

from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Effort
from pellucid.core.linear_classifier import LinearClassifier, is_multilabel, winners
from pellucid.core.types import Array, Data
from pellucid.linear_model.regression_discriminant_solvers import fit_outputs


class RegressionDiscriminant(LinearClassifier, ClassifierMixin, CertifiedEstimator):
    r"""Discrimination by regression: one sigmoid output per class, fitted to 0 and 1 by squared error.

    .. math:: \min_{w,\,b}\ \frac{1}{2n}\sum_i c_i\,(\sigma(w'x_i + b) - t_i)^2 + \frac{\alpha}{2}\|w\|^2,\qquad
       \sigma(z) = \frac{1}{1 + e^{-z}}

    Every output is fitted for itself, so classes need not exclude each other: a 0/1 matrix ``y`` has several labels
    per row. The objective is not convex: the certificate vouches for a point reached downhill from 0 from which no
    direction leads down, not for the lowest one (a far row with the wrong label can keep it from there).

    Parameters
    ----------
    alpha : float, default=0.001
        Weight of the penalty, at least 0; with 0, classes that a line separates have no finite minimum.
    fit_intercept : bool, default=True
        Whether to learn :math:`b`; if not, it is 0.
    max_iter : int, default=1000
        Most iterations of L-BFGS per output.
    tol : float, default=1e-6
        Largest entry of the gradient, in units in which every column bends alike.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted; of a 0/1 matrix, its column numbers.
    multilabel_ : bool
        Whether ``y`` was a 0/1 matrix.
    coef_, intercept_ : ndarray of shape (n_outputs, n_features), ndarray of shape (n_outputs,)
        :math:`w` and :math:`b`; two classes need one output.
    n_iter_ : int
        Most iterations that an output took.
    certificate_, trace_ : Certificate, Trace
        Gradient and curvature of the worst output; objective and gradient of each output along the fit.

    Examples
    --------
    >>> model = RegressionDiscriminant().fit([[0.0], [1.0], [4.0], [5.0]], ["low", "low", "high", "high"])
    >>> [str(label) for label in model.predict([[0.5], [6.0]])]
    ['low', 'high']
    """

    multilabel_: bool
    n_iter_: int

    def __init__(
        self, alpha: float = 0.001, *, fit_intercept: bool = True, max_iter: int = 1000, tol: float = 1e-6
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and labels ``y``, or a 0/1 matrix (n_samples, n_labels)."""
        data = self._check(X, y, sample_weight)
        known = {"classes_": data.classes, "multilabel_": is_multilabel(data)}
        watch = self._watch(*data.given[:2], attributes=lambda w, b: {**known, "coef_": w, "intercept_": b})
        effort = Effort(self.tol, self.max_iter, watch)
        return self._adopt(fit_outputs(data, effort, alpha=self.alpha, fit_intercept=self.fit_intercept), data)

    def outputs(self, X: Data) -> Array:
        r"""Return :math:`\sigma(w'x + b)` of every output, of shape (n_samples, n_outputs)."""
        scores = self.decision_function(X)
        return np.asarray(expit(scores)).reshape(len(scores), -1)

    def predict(self, X: Data) -> Array:
        """Return the label of the largest output, or a 0/1 matrix of the outputs above 1/2."""
        scores = self.decision_function(X)
        if not self.multilabel_:
            return winners(scores, self.classes_)
        return (scores > 0.0).astype(int).reshape(len(scores), -1)

    def predict_proba(self, X: Data) -> Array:
        """Return the probability of each class, of shape (n_samples, n_classes).

        An output estimates the probability of its class. Of two classes, the other has the rest; of several, which the
        outputs know nothing about, the outputs are divided by their sum, as in one-vs-rest; of a 0/1 matrix, they are
        the probabilities of its labels and add up to anything.
        """
        outputs = self.outputs(X)
        if self.multilabel_:
            return outputs
        if outputs.shape[1] == 1:
            return np.column_stack([1.0 - outputs, outputs])
        total = outputs.sum(axis=1, keepdims=True)
        return np.where(total > 0.0, outputs / np.where(total > 0.0, total, 1.0), 1.0 / len(self.classes_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
