"""BernoulliNB: naive Bayes on yes and no."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import binarize

from pellucid.core.types import Array, Data
from pellucid.naive_bayes.counting_nb import CountingNB, CountRules
from pellucid.naive_bayes.counting_nb_parameters import absences
from pellucid.naive_bayes.counting_nb_solvers import log_smoothed, one_if_equal, product_loss, row_scores
from pellucid.naive_bayes.spot_check import spot_check_bernoulli_nb


@dataclass(frozen=True)
class YesNoRules(CountRules):
    """Rules for rows of ones and zeros: values above a threshold, or shares as they are."""

    threshold: float | None = 0.0

    def counted(self, estimator: Any, X: Any) -> Any:
        """Return ones and zeros, or shares of them."""
        if self.threshold is not None:
            return binarize(X, threshold=self.threshold)
        values = X.data if sparse.issparse(X) else X
        if values.size and not (values.min() >= 0 and values.max() <= 1):
            got = float(values.min() if values.min() < 0 else values.max())
            raise ValueError(f"X must hold values between 0 and 1 if binarize is None, got {got!r}. Set binarize.")
        return X


class BernoulliNB(CountingNB):
    r"""Classes that toss a coin for every column, each with its own smoothed share of ones.

    .. math::

        P(c, x) = \pi_c \prod_j p_{cj}^{x_j} (1 - p_{cj})^{1 - x_j},\qquad
        p_{cj} = \frac{n_{cj} + \alpha_j}{n_c + 2\alpha_j}

    with :math:`n_{cj}` the number of ones in column :math:`j` among the :math:`n_c` rows of class :math:`c`.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior
        As in :class:`MultinomialNB`; here the prior is Beta with both parameters :math:`\alpha_j + 1`.
    binarize : float or None, default=0.0
        Values above this are ones; None takes values between 0 and 1 as they are.

    Attributes
    ----------
    feature_count_, feature_log_prob_ : ndarray of shape (n_classes, n_features)
        :math:`n_{cj}` and :math:`\log p_{cj}`.
    absence_log_prob_ : ndarray of shape (n_classes, n_features)
        :math:`\log(1 - p_{cj})`, from the counts of zeros: a share close to 1 has no digits left for it.
    classes_, class_count_, class_log_prior_, certificate_, trace_
        As in :class:`MultinomialNB`.

    Examples
    --------
    >>> model = BernoulliNB().fit([[1], [1], [0], [0]], ["a", "a", "a", "b"])
    >>> np.exp(model.feature_log_prob_).ravel()  # (2 + 1) / (3 + 2), (0 + 1) / (1 + 2)
    array([0.6       , 0.33333333])
    """

    feature_log_prob_: Array
    absence_log_prob_: Array
    _spot_check = staticmethod(spot_check_bernoulli_nb)

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Data | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _estimate(self, totals: Array, counts: Any, alpha: Array) -> tuple[dict[str, Any], float]:
        alpha, rows, zeros = one_if_equal(alpha), totals[:, None], absences(totals, counts)
        ones_log = log_smoothed(counts, alpha, rows + 2 * alpha)
        zeros_log = log_smoothed(zeros, alpha, rows + 2 * alpha, usual=rows)
        found = {"feature_count_": counts, "feature_log_prob_": ones_log, "absence_log_prob_": zeros_log}
        return found, product_loss(counts, ones_log) + product_loss(zeros, zeros_log)

    def _joint_log_scores(self, X: Data) -> Array:
        X = self._check_new(X)
        one, zero = self.feature_log_prob_, self.absence_log_prob_
        never_one, never_zero = np.isneginf(one), np.isneginf(zero)
        if not (never_one.any() or never_zero.any()):
            return row_scores(X, one - zero) + (self.class_log_prior_ + zero.sum(axis=1))
        one, zero = np.where(never_one, 0.0, one), np.where(never_zero, 0.0, zero)
        scores = row_scores(X, one - zero) + (self.class_log_prior_ + zero.sum(axis=1))
        clashes = row_scores(X, never_one * 1.0 - never_zero) + never_zero.sum(axis=1)  # ones there, zeros here
        scores[clashes > 0] = -np.inf
        return scores
