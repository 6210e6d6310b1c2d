"""CountingNB: what naive Bayes models of counts share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, Self

from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_non_negative, validate_data

from pellucid.core.cards import card_of
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Fit
from pellucid.core.input_rules import InputRules
from pellucid.core.partial_fit import check_classes, partial_fit_method
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data
from pellucid.naive_bayes.class_scores import ClassScores
from pellucid.naive_bayes.counting_nb_parameters import log_class_prior, pseudo_counts
from pellucid.naive_bayes.counting_nb_solvers import class_sums, class_totals, product_loss
from pellucid.naive_bayes.spot_check import LastPart
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.training_data import TrainingData


@dataclass(frozen=True)
class CountRules(InputRules):
    """Rules for rows of counts; ``counted`` refuses negative ones."""

    dtypes: Any = "numeric"

    def check(self, estimator: Any, X: Data, y: Data = None, *args: Any, **options: Any) -> TrainingData:
        """Return the training data, checked, their rows as they are counted."""
        data = super().check(estimator, X, y, *args, **options)
        return replace(data, X=self.counted(estimator, data.X))

    def check_rows(self, estimator: Any, X: Data) -> Any:
        """Return rows to classify, in the form of the training rows."""
        X = validate_data(estimator, X, reset=False, accept_sparse=self.sparse or False, dtype=self.dtypes)
        return self.counted(estimator, X)

    def counted(self, estimator: Any, X: Any) -> Any:
        """Return the values as they are counted, or refuse them."""
        check_non_negative(X, f"{type(estimator).__name__} (input X)")
        return X


class CountingNB(ClassScores, ClassifierMixin, CertifiedEstimator):
    """Base of MultinomialNB, BernoulliNB and CategoricalNB: counts per class, smoothed, in logarithms.

    A subclass implements ``_estimate``, which turns counts into fitted attributes and their part of the objective,
    names in ``_spot_check`` what measures a few of them, and has its own ``_count`` if it counts in several tables.
    """

    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Data | None
    class_count_: Array
    class_log_prior_: Array
    feature_count_: Array
    _spot_check: Callable[[Any, Any, LastPart, Array], Certificate]

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to the counts ``X`` of shape (n_samples, n_features) and the labels ``y``."""
        data = self._check(X, y, sample_weight)
        return self._adopt(self._learn(data, Trace()), data)

    @partial_fit_method
    def partial_fit(self, X: Data, y: Data, classes: Data | None = None, sample_weight: Data | None = None) -> Self:
        """Go on from what was fitted before with more rows; the first call must name all ``classes``."""
        is_first, known = not hasattr(self, "class_count_"), check_classes(self, classes)
        data = self._check(X, y, sample_weight, reset=is_first, classes=known)
        return self._adopt(self._learn(data, Trace() if is_first else Trace.joined([self.trace_])), data)

    def _learn(self, data: TrainingData, trace: Trace) -> Fit:
        """Return the fit to these rows and, if the trace has lines, to those that came before."""
        alpha = pseudo_counts(self.alpha, self.force_alpha, data.X.shape[1])
        part = LastPart(data, class_totals(data.y, data.weight, len(data.classes)), self._count(data), len(trace) + 1)
        is_first = part.number == 1
        totals = part.totals if is_first else self.class_count_ + part.totals
        prior = log_class_prior(totals, fit_prior=self.fit_prior, class_prior=self.class_prior)
        found, loss = self._estimate(totals, part.counts if is_first else self._earlier_plus(part.counts), alpha)
        fitted = SimpleNamespace(classes_=data.classes, class_count_=totals, class_log_prior_=prior, **found)
        mean_loss = (product_loss(totals, prior) + loss) / float(totals.sum())
        trace.add(iteration=part.number, objective=mean_loss)
        parameters = SimpleNamespace(**self.get_params(deep=False))
        return Fit(vars(fitted), trace, certificate=self._spot_check(fitted, parameters, part, alpha))

    def _count(self, data: TrainingData) -> Any:
        """Return the counts of each class."""
        return class_sums(data.X, data.y, data.weight, len(data.classes))

    def _earlier_plus(self, counts: Any) -> Any:
        """Return the counts of all parts so far."""
        return self.feature_count_ + counts

    def _estimate(self, totals: Array, counts: Any, alpha: Array) -> tuple[dict[str, Any], float]:
        raise NotImplementedError

    def _check_new(self, X: Data) -> Any:
        rules = card_of(type(self)).rules_for(self)
        assert isinstance(rules, CountRules)
        return rules.check_rows(self, X)

    def _log_prior(self) -> Array:
        return self.class_log_prior_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True
        return tags
