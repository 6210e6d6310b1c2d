"""ClassScores: predictions of a classifier that knows the joint log probability of row and class."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from pellucid.core.types import Array, Data


class ClassScores:
    r"""Base of classifiers by Bayes' rule, :math:`P(c \mid x) = P(c, x) / \sum_k P(k, x)`, in logarithms throughout.

    A subclass implements ``_joint_log_scores`` and ``_log_prior``. A row that no class can produce
    (:math:`P(c, x) = 0` for all :math:`c`) says nothing: its probabilities are those of the prior.
    """

    classes_: Array

    def predict(self, X: Data) -> Array:
        """Return the most probable class of each row; of tied ones, the first in ``classes_``."""
        best = np.argmax(self._possible_scores(X), axis=1)
        return self.classes_[best]

    def predict_proba(self, X: Data) -> Array:
        """Return the probability of each class, of shape (n_samples, n_classes)."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def predict_log_proba(self, X: Data) -> Array:
        """Return the logarithm of ``predict_proba``, also where that underflows."""
        scores = self._possible_scores(X)
        return np.asarray(scores - logsumexp(scores, axis=1, keepdims=True))

    def predict_joint_log_proba(self, X: Data) -> Array:
        r"""Return :math:`\log P(c, x) = \log P(c) + \log P(x \mid c)`, of shape (n_samples, n_classes)."""
        check_is_fitted(self)
        return self._joint_log_scores(X)

    def _possible_scores(self, X: Data) -> Array:
        scores = self.predict_joint_log_proba(X)
        impossible = np.isneginf(scores.max(axis=1))
        if impossible.any():
            scores[impossible] = self._log_prior()
        return scores

    def _joint_log_scores(self, X: Data) -> Array:
        """Check ``X`` and return a new array of joint log probabilities."""
        raise NotImplementedError

    def _log_prior(self) -> Array:
        raise NotImplementedError
