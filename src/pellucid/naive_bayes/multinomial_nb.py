"""MultinomialNB: naive Bayes on counts, such as the words of documents."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_non_negative, validate_data

from pellucid.core.certificate import Certificate
from pellucid.core.types import Array, Data
from pellucid.naive_bayes.class_counts import class_sums, row_scores
from pellucid.naive_bayes.counting_nb import CountingNB, product_loss
from pellucid.naive_bayes.counting_nb_proof import Pairs, class_rows, prove_counting_nb, stored_numbers, summed_by_class
from pellucid.naive_bayes.smoothing import check_alpha, log_smoothed, one_if_equal

TINY = float(np.finfo(np.float64).tiny)
"""Stands for no words at all: their shares are 0, not 0 / 0."""


class MultinomialNB(CountingNB):
    r"""Classes that draw words independently, each with its own smoothed shares of the words.

    .. math::

        P(c, x) \propto \pi_c \prod_j p_{cj}^{x_j},\qquad
        p_{cj} = \frac{n_{cj} + \alpha_j}{\sum_i (n_{ci} + \alpha_i)}

    with :math:`n_{cj}` how often word :math:`j` occurs in class :math:`c`.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        Pseudo-count of every word, at least 0: a Dirichlet prior with parameters :math:`\alpha_j + 1`.
    force_alpha : bool, default=True
        Whether to keep an alpha below 1e-10.
    fit_prior : bool, default=True
        Whether :math:`\pi_c` is the share of the class, or else uniform.
    class_prior : array-like of shape (n_classes,), default=None
        :math:`\pi_c`, if it is known.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : ndarray of shape (n_classes,)
        The labels, sorted, the weight of their rows, and :math:`\log\pi_c`.
    feature_count_, feature_log_prob_ : ndarray of shape (n_classes, n_features)
        :math:`n_{cj}` and :math:`\log p_{cj}`.
    certificate_, trace_
        As in :class:`GaussianNB`.

    Examples
    --------
    >>> model = MultinomialNB().fit([[2, 0], [1, 1], [0, 1]], ["a", "a", "b"])
    >>> np.exp(model.feature_log_prob_)  # (3 + 1) / 6, (1 + 1) / 6; (0 + 1) / 3, (1 + 1) / 3
    array([[0.66666667, 0.33333333],
           [0.33333333, 0.66666667]])
    """

    feature_count_: Array
    feature_log_prob_: Array

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Data | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _add_counts(self, X: Data, codes: Array, weight: Array | None, *, is_new: bool) -> Array:
        here = class_sums(X, codes, weight, len(self.classes_))
        self.feature_count_ = here if is_new else self.feature_count_ + here
        return here

    def _estimate(self, alpha: Array) -> None:
        total = self.feature_count_.sum(axis=1, keepdims=True) + alpha.sum()
        self.feature_log_prob_ = log_smoothed(self.feature_count_, one_if_equal(alpha), total)

    def _loss(self) -> float:
        return product_loss(self.feature_count_, self.feature_log_prob_)

    def _joint_log_scores(self, X: Data) -> Array:
        X = self._check_values(validate_data(self, X, reset=False, accept_sparse="csr"))
        impossible = np.isneginf(self.feature_log_prob_)
        if not impossible.any():
            return row_scores(X, self.feature_log_prob_) + self.class_log_prior_
        scores = row_scores(X, np.where(impossible, 0.0, self.feature_log_prob_)) + self.class_log_prior_
        scores[row_scores(X, impossible.astype(np.float64)) > 0] = -np.inf
        return scores

    def _check_values(self, X: Data) -> Any:
        check_non_negative(X, f"{type(self).__name__} (input X)")
        return X

    def _recompute(self, columns: Array, alpha: Array) -> Pairs:
        total = self.feature_count_.sum(axis=1, keepdims=True) + alpha.sum()
        with np.errstate(divide="ignore"):
            logs = np.log((self.feature_count_[:, columns] + alpha[columns]) / np.maximum(total, TINY))
        return [(self.feature_log_prob_[:, columns], logs)]

    def _prove(self, X: Data, y: Data, sample_weight: Data | None = None) -> Certificate:
        X, y, weight = self._check_rows(X, y, sample_weight, reset=False)
        weight = np.ones(len(y)) if weight is None else weight
        alpha = check_alpha(self.alpha, self.force_alpha, X.shape[1])
        rows = class_rows(y, self.classes_)
        sums = summed_by_class(X, rows, weight)
        with np.errstate(divide="ignore"):
            shares = sums + alpha
            logs = np.log(shares / np.maximum(shares.sum(axis=1, keepdims=True), TINY))
        pairs = [(self.feature_count_, sums)], [(self.feature_log_prob_, logs)]
        return prove_counting_nb(self, rows, weight, *pairs, stored_numbers(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
