"""CountingNB: what naive Bayes models of counts share."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import column_or_1d
from sklearn.utils.validation import validate_data

from pellucid.core.checks import check_one_of
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.partial_fit import partial_fit_method
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data
from pellucid.core.weights import check_sample_weight
from pellucid.naive_bayes.class_counts import class_totals
from pellucid.naive_bayes.class_labels import check_classes, encode_known_labels, encode_labels, numeric_labels
from pellucid.naive_bayes.class_scores import ClassScores
from pellucid.naive_bayes.counting_nb_proof import Pairs, spot_check_counting_nb
from pellucid.naive_bayes.smoothing import check_alpha, log_class_prior
from pellucid.naive_bayes.spot_check import few_columns, spot_sums


class CountingNB(ClassScores, ClassifierMixin, CertifiedEstimator):
    """Base of MultinomialNB, BernoulliNB and CategoricalNB: counts per class, smoothed, in logarithms.

    A subclass implements ``_add_counts``, which replaces its table of counts by one with more rows in it and returns
    what was added, ``_estimate``, which turns the table into log probabilities, ``_loss``, their share in the
    objective, and ``_recompute``, which checks a few of them.
    """

    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Data | None
    class_count_: Array
    class_log_prior_: Array

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to the counts ``X`` of shape (n_samples, n_features) and the labels ``y``."""
        X, y, weight = self._check_rows(X, y, sample_weight, reset=True)
        self.classes_, codes = encode_labels(y)
        self._count(X, y, codes, weight, Trace())
        return self

    @partial_fit_method
    def partial_fit(self, X: Data, y: Data, classes: Data | None = None, sample_weight: Data | None = None) -> Self:
        """Go on from what was fitted before with more rows; the first call must name all ``classes``."""
        is_first = not hasattr(self, "class_count_")
        known = check_classes(self, classes)
        X, y, weight = self._check_rows(X, y, sample_weight, reset=is_first)
        self.classes_, codes = known, encode_known_labels(y, known)
        self._count(X, y, codes, weight, Trace() if is_first else Trace.joined([self.trace_]))
        return self

    def _count(self, X: Data, y: Array, codes: Array, weight: Array | None, trace: Trace) -> None:
        """Add the rows to the counts, starting anew if the trace is empty, and estimate from all of them."""
        check_one_of((True, False), fit_prior=self.fit_prior, force_alpha=self.force_alpha)
        alpha = check_alpha(self.alpha, self.force_alpha, X.shape[1])
        is_new = len(trace) == 0
        here = class_totals(codes, weight, len(self.classes_))
        self.class_count_ = here if is_new else self.class_count_ + here
        added = self._add_counts(X, codes, weight, is_new=is_new)
        self._estimate(alpha)
        self.class_log_prior_ = log_class_prior(
            self.class_count_, fit_prior=self.fit_prior, class_prior=self.class_prior
        )
        trace.add(iteration=len(trace) + 1, objective=self._mean_loss())
        self.trace_ = trace
        columns = few_columns(X.shape[1])
        pairs = self._recount(added, X, columns, codes, weight), self._recompute(columns, alpha)
        certificate = spot_check_counting_nb(self, here, codes, weight, *pairs, X)
        self._conclude(certificate, trace, X, numeric_labels(y, codes), weight)

    def _mean_loss(self) -> float:
        """Return the mean of ``-log P(c, x)`` over the rows seen, from their counts."""
        return (product_loss(self.class_count_, self.class_log_prior_) + self._loss()) / float(self.class_count_.sum())

    def _check_rows(
        self, X: Data, y: Data, sample_weight: Data | None, *, reset: bool
    ) -> tuple[Any, Array, Array | None]:
        X, y = validate_data(self, X, y, reset=reset, accept_sparse="csr")
        return self._check_values(X), column_or_1d(y, warn=True), check_sample_weight(sample_weight, X)

    def _check_values(self, X: Data) -> Any:
        """Return the values as they are counted, or refuse them."""
        return X

    def _log_prior(self) -> Array:
        return self.class_log_prior_

    def _add_counts(self, X: Data, codes: Array, weight: Array | None, *, is_new: bool) -> Any:
        raise NotImplementedError

    def _recount(self, added: Any, X: Data, columns: Array, codes: Array, weight: Array | None) -> Pairs:
        """Return what was added for some columns, with what should have been."""
        return [(added[:, columns], spot_sums(X, columns, codes, weight, len(self.classes_)))]

    def _recompute(self, columns: Array, alpha: Array) -> Pairs:
        """Return the log probabilities of some columns, with what they should be for the counts."""
        raise NotImplementedError

    def _estimate(self, alpha: Array) -> None:
        raise NotImplementedError

    def _loss(self) -> float:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True
        return tags


def product_loss(counts: Array, logs: Array) -> float:
    """Return ``-sum(counts * logs)``; what never occurs may be impossible."""
    with np.errstate(invalid="ignore"):
        loss = -float(counts.ravel() @ logs.ravel())
    if np.isnan(loss):  # 0 times -inf
        seen = counts > 0
        return -float(counts[seen] @ logs[seen])
    return loss
