"""BernoulliNB: naive Bayes on yes and no."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import binarize
from sklearn.utils.validation import validate_data

from pellucid.core.certificate import Certificate
from pellucid.core.checks import is_number
from pellucid.core.types import Array, Data
from pellucid.naive_bayes.class_counts import class_sums, row_scores
from pellucid.naive_bayes.counting_nb import CountingNB, product_loss
from pellucid.naive_bayes.counting_nb_proof import Pairs, class_rows, prove_counting_nb, stored_numbers, summed_by_class
from pellucid.naive_bayes.smoothing import check_alpha, log_smoothed, one_if_equal

TINY = float(np.finfo(np.float64).tiny)
"""Stands for no rows at all: their shares are 0, not 0 / 0."""


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

    feature_count_: Array
    feature_log_prob_: Array
    absence_log_prob_: Array

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

    def _add_counts(self, X: Data, codes: Array, weight: Array | None, *, is_new: bool) -> Array:
        here = class_sums(X, codes, weight, len(self.classes_))
        self.feature_count_ = here if is_new else self.feature_count_ + here
        return here

    def _estimate(self, alpha: Array) -> None:
        alpha, rows = one_if_equal(alpha), self.class_count_[:, None]
        total = rows + 2 * alpha
        self.feature_log_prob_ = log_smoothed(self.feature_count_, alpha, total)
        self.absence_log_prob_ = log_smoothed(rows - self.feature_count_, alpha, total, usual=rows)

    def _loss(self) -> float:
        zeros = self.class_count_[:, None] - self.feature_count_
        return product_loss(self.feature_count_, self.feature_log_prob_) + product_loss(zeros, self.absence_log_prob_)

    def _joint_log_scores(self, X: Data) -> Array:
        X = self._check_values(validate_data(self, X, reset=False, accept_sparse="csr"))
        one, zero = self.feature_log_prob_, self.absence_log_prob_
        never_one, never_zero = np.isneginf(one), np.isneginf(zero)
        if not (never_one.any() or never_zero.any()):
            return row_scores(X, one - zero) + (self.class_log_prior_ + zero.sum(axis=1))
        one, zero = np.where(never_one, 0.0, one), np.where(never_zero, 0.0, zero)
        scores = row_scores(X, one - zero) + (self.class_log_prior_ + zero.sum(axis=1))
        clashes = row_scores(X, never_one * 1.0 - never_zero) + never_zero.sum(axis=1)  # ones there, zeros here
        scores[clashes > 0] = -np.inf
        return scores

    def _check_values(self, X: Data) -> Any:
        if self.binarize is not None:
            if not is_number(self.binarize):
                raise TypeError(f"binarize must be a number or None, got {self.binarize!r}.")
            return binarize(X, threshold=self.binarize)
        values = X.data if sparse.issparse(X) else X
        if values.size and not (values.min() >= 0 and values.max() <= 1):
            got = float(values.min() if values.min() < 0 else values.max())
            raise ValueError(f"X must hold values between 0 and 1 if binarize is None, got {got!r}. Set binarize.")
        return X

    def _recompute(self, columns: Array, alpha: Array) -> Pairs:
        ones, zeros = _log_shares(self.feature_count_[:, columns], self.class_count_, alpha[columns])
        return [(self.feature_log_prob_[:, columns], ones), (self.absence_log_prob_[:, columns], zeros)]

    def _prove(self, X: Data, y: Data, sample_weight: Data | None = None) -> Certificate:
        X, y, weight = self._check_rows(X, y, sample_weight, reset=False)
        weight = np.ones(len(y)) if weight is None else weight
        alpha = check_alpha(self.alpha, self.force_alpha, X.shape[1])
        rows = class_rows(y, self.classes_)
        sums = summed_by_class(X, rows, weight)
        ones, zeros = _log_shares(sums, np.array([weight[some].sum() for some in rows]), alpha)
        shares = [(self.feature_log_prob_, ones), (self.absence_log_prob_, zeros)]
        return prove_counting_nb(self, rows, weight, [(self.feature_count_, sums)], shares, stored_numbers(X))


def _log_shares(sums: Array, counts: Array, alpha: Array) -> tuple[Array, Array]:
    """Return the logarithms of the smoothed shares of ones and of zeros."""
    total = np.maximum(counts[:, None] + 2 * alpha, TINY)
    with np.errstate(divide="ignore"):
        return np.log((sums + alpha) / total), np.log((counts[:, None] - sums + alpha) / total)
