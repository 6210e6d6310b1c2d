"""MultinomialNB: naive Bayes on counts, such as the words of documents."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.types import Array, Data
from pellucid.naive_bayes.counting_nb import CountingNB
from pellucid.naive_bayes.counting_nb_solvers import log_smoothed, one_if_equal, product_loss, row_scores
from pellucid.naive_bayes.spot_check import spot_check_multinomial_nb


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

    feature_log_prob_: Array
    _spot_check = staticmethod(spot_check_multinomial_nb)

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

    def _estimate(self, totals: Array, counts: Any, alpha: Array) -> tuple[dict[str, Any], float]:
        logs = log_smoothed(counts, one_if_equal(alpha), counts.sum(axis=1, keepdims=True) + alpha.sum())
        return {"feature_count_": counts, "feature_log_prob_": logs}, product_loss(counts, logs)

    def _joint_log_scores(self, X: Data) -> Array:
        X = self._check_new(X)
        impossible = np.isneginf(self.feature_log_prob_)
        if not impossible.any():
            return row_scores(X, self.feature_log_prob_) + self.class_log_prior_
        scores = row_scores(X, np.where(impossible, 0.0, self.feature_log_prob_)) + self.class_log_prior_
        scores[row_scores(X, impossible.astype(np.float64)) > 0] = -np.inf
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
