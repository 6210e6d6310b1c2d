"""RidgeClassifier: classes by ridge regression on +-1 targets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.linear_classifier import is_multilabel
from pellucid.core.types import Array, ClassWeight, Data, RandomState
from pellucid.linear_model.linear_predictor import CertifiedLine
from pellucid.linear_model.ridge.ridge import fit_ridge, penalties
from pellucid.solvers.design import make_design


class RidgeClassifier(CertifiedLine, ClassifierMixin, CertifiedEstimator):
    r"""Classification by regression: fit +1 for a class and -1 for the others, predict the largest score.

    .. math:: \min_{W,\,b}\ \sum_i s_i\,\|t_i - W x_i - b\|_2^2 + \alpha\|W\|_F^2,\qquad t_{ik} = \pm 1

    Parameters
    ----------
    alpha : float or array of shape (n_targets,), default=1.0
        Weight of the penalty, at least 0; an array gives each target its own.
    fit_intercept : bool, default=True
        Whether to learn :math:`b`, which is not penalized; if not, it is 0.
    copy_X : bool, default=True
        Nothing changes: ``X`` is never changed, and never copied whole.
    max_iter : int or None, default=None
        Most iterations of the solvers 'lsqr', 'sparse_cg', 'sag' and 'saga'.
    tol : float, default=0.0001
        Where those solvers stop: the gradient relative to the size of the fit.
    class_weight : dict, 'balanced' or None, default=None
        Weight of each class, times the weight of the row.
    solver : {'auto', 'svd', 'cholesky', 'lsqr', 'sparse_cg', 'sag', 'saga', 'lbfgs'}, default='auto'
        'auto' factors :math:`A'A + \alpha I` (or :math:`AA' + \alpha I`) and falls back on QR and SVD where that would
        lose digits; 'svd' always uses those; 'lsqr' and 'sparse_cg' are conjugate gradients; 'lbfgs' means
        ``positive``. ``solver_`` says what ran: sparse data have no 'sag' and, when large, no direct solver.
    positive : bool, default=False
        Whether coefficients must be at least 0.
    random_state : int, RandomState instance or None, default=None
        Order of the rows for 'sag' and 'saga'.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    multilabel_ : bool
        Whether ``y`` had several labels per row.
    coef_, intercept_ : ndarray of shape (n_features,) or (n_classes, n_features), ndarray of shape (1 or n_classes,)
        The scores' weights; two classes need one.
    n_iter_ : ndarray of shape (n_targets,)
        Iterations of an iterative solver, refinements of a direct one.
    solver_ : str
        The solver that ran.
    certificate_ : Certificate
        Grade ``exact``; ``stationary`` with tolerance ``tol`` for iterative solvers.
    trace_ : Trace
        One row per refinement or iteration.

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
        class_weight: ClassWeight = None,
        solver: str = "auto",
        positive: bool = False,
        random_state: RandomState = None,
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
        data = self._check(X, y, sample_weight)
        signs = replace(data, y=2.0 * data.y - 1.0)
        design = make_design(data.X, fit_intercept=self.fit_intercept, sample_weight=data.weight)
        alpha = penalties(self.alpha, data.y.shape[1])
        watch = self._watch_line(design, data.X, signs.y, self.max_iter)
        line, solver = fit_ridge(self, design, data.X, signs.y, alpha, watch)
        more: dict[str, Any] = {
            "classes_": data.classes,
            "multilabel_": is_multilabel(data),
            "n_iter_": line.n_iter,
            "solver_": solver,
        }
        return self._adopt(self._fit_of(line, design, signs, **more), data)

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
