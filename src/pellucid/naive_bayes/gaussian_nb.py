"""GaussianNB: naive Bayes with a normal density per class and column."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import validate_data

from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Fit
from pellucid.core.input_rules import FLOATS, check_finite
from pellucid.core.partial_fit import check_classes, partial_fit_method
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data
from pellucid.naive_bayes.bayes_risk import ClassScores
from pellucid.naive_bayes.gaussian_nb_solvers import ClassMoments, class_moments, gaussian_log_scores, normal_classes
from pellucid.proofs.training_data import TrainingData


class GaussianNB(ClassScores, ClassifierMixin, CertifiedEstimator):
    r"""Classes whose columns are independent and normal, with the means and variances of the training rows.

    .. math::

        \log P(c, x) = \log\pi_c
        - \sum_j \Bigl(\tfrac12 \log(2\pi\sigma_{cj}^2) + \frac{(x_j - \mu_{cj})^2}{2\sigma_{cj}^2}\Bigr)

    Parameters
    ----------
    priors : array-like of shape (n_classes,), default=None
        :math:`\pi_c`, adding up to 1; by default the shares of the classes.
    var_smoothing : float, default=1e-9
        This part of the largest column variance is added to every variance, at least 0.
    prior_alpha : float, default=0.0
        Pseudo-count of every class, at least 0, where :math:`\pi_c` is not given. scikit-learn has none.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_count_, class_prior_ : ndarray of shape (n_classes,)
        Weight of the rows of each class, and :math:`\pi_c`.
    theta_, var_ : ndarray of shape (n_classes, n_features)
        :math:`\mu_{cj}` and :math:`\sigma_{cj}^2`, the mean square deviation plus ``epsilon_``.
    scatter_ : ndarray of shape (n_classes, n_features)
        Sums of squared deviations, which ``partial_fit`` adds to.
    epsilon_ : float
        What was added to the variances.
    certificate_ : Certificate
        The parameters are those moments, up to rounding.
    trace_ : Trace
        Mean negative log likelihood of row and class, one line per part of the data.

    Examples
    --------
    >>> model = GaussianNB().fit([[1.0], [3.0], [7.0], [9.0]], ["a", "a", "b", "b"])
    >>> model.theta_.ravel(), model.var_.ravel().round(6)
    (array([2., 8.]), array([1., 1.]))
    >>> model.predict([[4.9], [5.1]])
    array(['a', 'b'], dtype='<U1')
    """

    class_count_: Array
    class_prior_: Array
    theta_: Array
    var_: Array
    scatter_: Array
    epsilon_: float

    def __init__(self, *, priors: Data | None = None, var_smoothing: float = 1e-9, prior_alpha: float = 0.0) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.prior_alpha = prior_alpha

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and the labels ``y``."""
        data = self._check(X, y, sample_weight)
        return self._adopt(self._learn(data, None, Trace()), data)

    @partial_fit_method
    def partial_fit(self, X: Data, y: Data, classes: Data | None = None, sample_weight: Data | None = None) -> Self:
        """Go on from what was fitted before with more rows; the first call must name all ``classes``."""
        is_first, known = not hasattr(self, "theta_"), check_classes(self, classes)
        data = self._check(X, y, sample_weight, reset=is_first, classes=known)
        earlier = None if is_first else ClassMoments(self.class_count_, self.theta_, self.scatter_)
        return self._adopt(self._learn(data, earlier, Trace() if is_first else Trace.joined([self.trace_])), data)

    def _learn(self, data: TrainingData, earlier: ClassMoments | None, trace: Trace) -> Fit:
        part = class_moments(data.X, data.y, data.weight, len(data.classes))
        # what is not finite shows in the scatter; only rows of weight 0, which are gone, have to be looked at
        if data.kept is not None or not np.isfinite(part.scatter).all():
            check_finite(data.given[0], self)
        return normal_classes(part, earlier, data, SimpleNamespace(**self.get_params(deep=False)), trace)

    def predict_log_proba(self, X: Data) -> Array:
        """Return the logarithm of ``predict_proba``, in float32 for rows in float32; decisions are made in float64."""
        logs = super().predict_log_proba(X)
        if getattr(X, "dtype", None) != np.float32:
            return logs
        short = logs.astype(np.float32)
        share = np.exp(short)
        return np.where(share > 0.5, np.log(share), short)  # near 1 a share has fewer digits than its logarithm

    def _joint_log_scores(self, X: Data) -> Array:
        X = validate_data(self, X, reset=False, dtype=FLOATS, ensure_all_finite=False)
        scores = gaussian_log_scores(X, self.theta_, self.var_, self._log_prior())
        if not np.isfinite(scores).all():
            check_finite(X, self)
        return scores

    def _log_prior(self) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.class_prior_))
