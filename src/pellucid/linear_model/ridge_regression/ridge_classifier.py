"""RidgeClassifier: classes by ridge regression on +-1 targets."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils import column_or_1d
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import type_of_target

from pellucid.core.certificate import Certificate
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.labeled_input import check_labeled_input
from pellucid.core.types import Array, Data
from pellucid.linear_model.certified_line import CertifiedLine
from pellucid.linear_model.linear_input import FLOATS, SPARSE_FORMATS
from pellucid.linear_model.ridge_regression.ridge_fit import check_alpha, check_ridge_parameters, fit_ridge
from pellucid.numerics.design import make_design


class RidgeClassifier(CertifiedLine, ClassifierMixin, CertifiedEstimator):
    r"""Classification by regression: fit +1 for a class and -1 for the others, predict the largest score.

    .. math:: \min_{W,\,b}\ \sum_i s_i\,\|t_i - W x_i - b\|_2^2 + \alpha\|W\|_F^2,\qquad t_{ik} = \pm 1

    Parameters
    ----------
    alpha, fit_intercept, copy_X, max_iter, tol, solver, positive, random_state
        As in :class:`Ridge`.
    class_weight : dict, 'balanced' or None, default=None
        Weight of each class, times the weight of the row.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    multilabel_ : bool
        Whether ``y`` had several labels per row.
    coef_, intercept_ : ndarray of shape (n_features,) or (n_classes, n_features), ndarray of shape (1 or n_classes,)
        The scores' weights; two classes need one.
    n_iter_, solver_, certificate_, trace_
        As in :class:`Ridge`.

    Examples
    --------
    >>> model = RidgeClassifier().fit([[0.0], [1.0], [4.0], [5.0]], ["low", "low", "high", "high"])
    >>> [str(label) for label in model.predict([[0.5], [6.0]])]
    ['low', 'high']
    """

    classes_: Array
    multilabel_: bool
    n_iter_: Array
    solver_: str

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        class_weight: Any = None,
        solver: str = "auto",
        positive: bool = False,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.solver = solver
        self.positive = positive
        self.random_state = random_state

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and the labels ``y``, or a 0/1 matrix of several labels."""
        check_ridge_parameters(self)
        X, y, weight = self._check_labeled(X, y, sample_weight, reset=True)
        binarizer = LabelBinarizer(pos_label=1, neg_label=-1)
        signs = binarizer.fit_transform(y).astype(np.float64)
        self.classes_ = binarizer.classes_
        self.multilabel_ = bool(binarizer.y_type_.startswith("multilabel"))
        design = make_design(X, fit_intercept=self.fit_intercept, sample_weight=weight)
        alpha = check_alpha(self.alpha, signs.shape[1])
        watch = self._watch_line(design, X, signs, self.max_iter)
        fit, self.solver_ = fit_ridge(self, design, X, signs, alpha, watch)
        self.n_iter_ = fit.n_iter
        self._store_fit(fit, design, X, signs, weight)
        return self

    def decision_function(self, X: Data) -> Array:
        """Return the scores, of shape (n_samples,) for two classes and (n_samples, n_classes) otherwise."""
        return self._linear_scores(X)

    def predict(self, X: Data) -> Array:
        """Return the label of the largest score; of tied scores, the first in ``classes_``."""
        scores = self.decision_function(X)
        if self.multilabel_:
            return (scores > 0).astype(int).reshape(len(scores), -1)
        if scores.ndim == 1:
            return self.classes_[(scores > 0).astype(int)]
        return self.classes_[np.argmax(scores, axis=1)]

    def _check_labeled(
        self, X: Data, y: Data, sample_weight: Data | None, *, reset: bool
    ) -> tuple[Array, Array, Array | None]:
        X, y, weight = check_labeled_input(
            self, X, y, sample_weight, reset=reset, accept_sparse=SPARSE_FORMATS, dtype=FLOATS, multi_output=True
        )
        if not type_of_target(y, input_name="y").startswith("multilabel"):
            y = column_or_1d(y, warn=True)
        if self.class_weight is not None:
            by_class = compute_sample_weight(self.class_weight, y)
            weight = by_class if weight is None else weight * by_class
        return X, y, weight

    def _prove(self, X: Data, y: Data, sample_weight: Data | None = None) -> Certificate:
        X, y, weight = self._check_labeled(X, y, sample_weight, reset=False)
        labels = y.astype(np.float64) if self.multilabel_ else (y[:, None] == self.classes_).astype(np.float64)
        if not self.multilabel_ and len(self.classes_) == 2:
            labels = labels[:, 1:]
        return self._prove_checked(X, 2 * labels - 1, weight, alpha=self.alpha, positive=self.positive)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
