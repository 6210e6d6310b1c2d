"""GaussianNB: naive Bayes with a normal density per class and column."""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import column_or_1d
from sklearn.utils.validation import validate_data

from pellucid.core.certificate import Certificate
from pellucid.core.checks import check_nonnegative
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.finite import check_finite
from pellucid.core.partial_fit import partial_fit_method
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data
from pellucid.core.weights import check_sample_weight
from pellucid.naive_bayes.class_labels import check_classes, encode_known_labels, encode_labels, numeric_labels
from pellucid.naive_bayes.class_scores import ClassScores
from pellucid.naive_bayes.gaussian_nb_proof import prove_gaussian_nb, spot_check_gaussian_nb
from pellucid.naive_bayes.gaussian_nb_solvers import ClassMoments, class_moments, gaussian_log_scores

FLOATS = (np.float64, np.float32)
PRIOR_SUM_ERROR = 1e-5


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

    def __init__(self, *, priors: Data | None = None, var_smoothing: float = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and the labels ``y``."""
        check_nonnegative(var_smoothing=self.var_smoothing)
        X, y, weight = self._check_rows(X, y, sample_weight, reset=True)
        self.classes_, codes = encode_labels(y)
        found = self._moments(X, codes, weight)
        self._estimate(found, Trace())
        self._certify(found, X, y, codes, weight)
        return self

    @partial_fit_method
    def partial_fit(self, X: Data, y: Data, classes: Data | None = None, sample_weight: Data | None = None) -> Self:
        """Go on from what was fitted before with more rows; the first call must name all ``classes``."""
        check_nonnegative(var_smoothing=self.var_smoothing)
        is_first = not hasattr(self, "theta_")
        known = check_classes(self, classes)
        X, y, weight = self._check_rows(X, y, sample_weight, reset=is_first)
        self.classes_, codes = known, encode_known_labels(y, known)
        part = self._moments(X, codes, weight)
        found = part if is_first else ClassMoments(self.class_count_, self.theta_, self.scatter_).merged(part)
        self._estimate(found, Trace() if is_first else Trace.joined([self.trace_]))
        self._certify(part, X, y, codes, weight)
        return self

    def _moments(self, X: Array, codes: Array, weight: Array | None) -> ClassMoments:
        found = class_moments(X, codes, weight, len(self.classes_))
        if not np.isfinite(found.scatter).all():
            check_finite(X, self)
        return found

    def _estimate(self, found: ClassMoments, trace: Trace) -> None:
        """Set the parameters from the moments of all rows seen."""
        self.class_count_, self.theta_, self.scatter_ = found.total, found.mean, found.scatter
        self.class_prior_ = self._checked_priors(found.total)
        self.epsilon_ = float(self.var_smoothing * found.overall_variance().max())
        count = np.where(found.total > 0, found.total, 1.0)
        self.var_ = found.scatter / count[:, None] + self.epsilon_
        self.trace_ = trace
        trace.add(iteration=len(trace) + 1, objective=self._mean_loss())

    def _certify(self, part: ClassMoments, X: Array, y: Array, codes: Array, weight: Array | None) -> None:
        certificate = spot_check_gaussian_nb(self, part, X, codes, weight)
        self._conclude(certificate, self.trace_, X, numeric_labels(y, codes), weight)

    def _checked_priors(self, total: Array) -> Array:
        if self.priors is None:
            return np.asarray(total / total.sum())
        priors = np.array(self.priors, dtype=np.float64)  # a copy: the user may write into theirs
        if priors.shape != total.shape:
            raise ValueError(
                f"priors must have {len(total)} entries, got shape {priors.shape}. "
                "Number of priors must match number of classes."
            )
        if not (priors >= 0).all():
            raise ValueError(f"priors must be at least 0, got {priors.min()!r}. Priors must be non-negative.")
        if abs(priors.sum() - 1) > PRIOR_SUM_ERROR:
            raise ValueError(
                f"priors must add up to 1, got {float(priors.sum())!r}. The sum of the priors should be 1: "
                "divide them by it."
            )
        return priors

    def _mean_loss(self) -> float:
        """Return the mean of ``-log P(c, x)`` over the rows seen, from their moments."""
        with np.errstate(all="ignore"):
            spread = np.where(self.var_ > 0, self.scatter_ / self.var_, 0.0).sum(axis=1)
            width = np.log(2 * np.pi * np.where(self.var_ > 0, self.var_, 1.0)).sum(axis=1)
            per_class = self.class_count_ * (0.5 * width - np.log(self.class_prior_)) + 0.5 * spread
        return float(per_class[self.class_count_ > 0].sum() / self.class_count_.sum())

    def _joint_log_scores(self, X: Data) -> Array:
        X = validate_data(self, X, reset=False, dtype=FLOATS, ensure_all_finite=False)
        scores = gaussian_log_scores(X, self.theta_, self.var_, self._log_prior())
        if not np.isfinite(scores).all():
            check_finite(X, self)
        return scores

    def _log_prior(self) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.class_prior_))

    def _check_rows(
        self, X: Data, y: Data, sample_weight: Data | None, *, reset: bool
    ) -> tuple[Array, Array, Array | None]:
        # what is not finite shows in the scatter, so no pass is spent on looking for it
        X, y = validate_data(self, X, y, reset=reset, dtype=FLOATS, ensure_all_finite=False)
        return X, column_or_1d(y, warn=True), check_sample_weight(sample_weight, X)

    def _prove(self, X: Data, y: Data, sample_weight: Data | None = None) -> Certificate:
        X, y, weight = self._check_rows(X, y, sample_weight, reset=False)
        return prove_gaussian_nb(self, X, y, weight)
