"""Naive Bayes on counts: what the models share; MultinomialNB, BernoulliNB and CategoricalNB."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.preprocessing import binarize
from sklearn.utils.validation import check_non_negative, validate_data

from pellucid.core.cards import card_of
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Fit
from pellucid.core.input_rules import InputRules
from pellucid.core.partial_fit import check_classes, partial_fit_method
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data, SparseOrDense
from pellucid.naive_bayes.bayes_risk import ClassScores
from pellucid.naive_bayes.counting_nb_solvers import (
    absences,
    category_counts,
    category_sizes,
    class_sums,
    class_totals,
    log_class_prior,
    log_smoothed,
    one_if_equal,
    product_loss,
    pseudo_counts,
    row_scores,
)
from pellucid.naive_bayes.spot_check import (
    LastPart,
    spot_check_bernoulli_nb,
    spot_check_categorical_nb,
    spot_check_multinomial_nb,
)
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.training_data import TrainingData


@dataclass(frozen=True)
class CountRules(InputRules):
    """Rules for rows of counts; ``counted`` refuses negative ones."""

    dtypes: Any = "numeric"

    def check(self, estimator: Any, X: Data, y: Data = None, *args: Any, **options: Any) -> TrainingData:
        """Return the training data, checked, their rows as they are counted."""
        data = super().check(estimator, X, y, *args, **options)
        return data if data.name else replace(data, X=self.counted(estimator, data.X))  # blocks are counted already

    def check_rows(self, estimator: Any, X: Data) -> Any:
        """Return rows to classify, in the form of the training rows."""
        X = validate_data(estimator, X, reset=False, accept_sparse=self.sparse or False, dtype=self.dtypes)
        return self.counted(estimator, X)

    def counted(self, estimator: Any, X: SparseOrDense) -> Any:
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
    prior_alpha: float
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
        prior = log_class_prior(totals, self)
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
    prior_alpha : float, default=0.0
        Pseudo-count of every class, at least 0, where :math:`\pi_c` is learned. scikit-learn has none.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : ndarray of shape (n_classes,)
        The labels, sorted, the weight of their rows, and :math:`\log\pi_c`.
    feature_count_, feature_log_prob_ : ndarray of shape (n_classes, n_features)
        :math:`n_{cj}` and :math:`\log p_{cj}`.
    certificate_ : Certificate
        The parameters are those of the counts, up to rounding.
    trace_ : Trace
        Mean negative log likelihood of row and class, one line per part of the data.

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
        prior_alpha: float = 0.0,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.prior_alpha = prior_alpha

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


@dataclass(frozen=True)
class YesNoRules(CountRules):
    """Rules for rows of ones and zeros: values above a threshold, or shares as they are."""

    threshold: float | None = 0.0

    def counted(self, estimator: Any, X: SparseOrDense) -> Any:
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
    alpha : float or array-like of shape (n_features,), default=1.0
        Pseudo-count of both values of every column, at least 0: a Beta prior with both parameters
        :math:`\alpha_j + 1`.
    force_alpha : bool, default=True
        Whether to keep an alpha below 1e-10.
    binarize : float or None, default=0.0
        Values above this are ones; None takes values between 0 and 1 as they are.
    fit_prior : bool, default=True
        Whether :math:`\pi_c` is the share of the class, or else uniform.
    class_prior : array-like of shape (n_classes,), default=None
        :math:`\pi_c`, if it is known.
    prior_alpha : float, default=0.0
        Pseudo-count of every class, at least 0, where :math:`\pi_c` is learned. scikit-learn has none.

    Attributes
    ----------
    feature_count_, feature_log_prob_ : ndarray of shape (n_classes, n_features)
        :math:`n_{cj}` and :math:`\log p_{cj}`.
    absence_log_prob_ : ndarray of shape (n_classes, n_features)
        :math:`\log(1 - p_{cj})`, from the counts of zeros: a share close to 1 has no digits left for it.
    classes_, class_count_, class_log_prior_ : ndarray of shape (n_classes,)
        The labels, sorted, the weight of their rows, and :math:`\log\pi_c`.
    certificate_ : Certificate
        The parameters are those of the counts, up to rounding.
    trace_ : Trace
        Mean negative log likelihood of row and class, one line per part of the data.

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
        prior_alpha: float = 0.0,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.prior_alpha = prior_alpha

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


class CategoricalNB(CountingNB):
    r"""Classes that draw a category for every column, each with its own smoothed shares of the categories.

    .. math:: P(c, x) = \pi_c \prod_j p_{cj}(x_j),\qquad p_{cj}(t) = \frac{n_{cjt} + \alpha_j}{n_c + \alpha_j m_j}

    with :math:`n_{cjt}` the number of rows of class :math:`c` whose column :math:`j` is category :math:`t` of
    :math:`m_j`. Categories are the numbers 0, 1, 2, ...; of other numbers the fraction is cut off.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        Pseudo-count of every category, at least 0: a Dirichlet prior with parameters :math:`\alpha_j + 1`.
    force_alpha : bool, default=True
        Whether to keep an alpha below 1e-10.
    fit_prior : bool, default=True
        Whether :math:`\pi_c` is the share of the class, or else uniform.
    class_prior : array-like of shape (n_classes,), default=None
        :math:`\pi_c`, if it is known.
    min_categories : int or array-like of shape (n_features,), default=None
        Least :math:`m_j`; otherwise the largest value plus 1. A category that training may miss needs it.
    prior_alpha : float, default=0.0
        Pseudo-count of every class, at least 0, where :math:`\pi_c` is learned. scikit-learn has none.

    Attributes
    ----------
    category_count_, feature_log_prob_ : list of n_features arrays of shape (n_classes, n_categories)
        :math:`n_{cjt}` and :math:`\log p_{cj}(t)`.
    n_categories_ : ndarray of shape (n_features,)
        :math:`m_j`.
    classes_, class_count_, class_log_prior_ : ndarray of shape (n_classes,)
        The labels, sorted, the weight of their rows, and :math:`\log\pi_c`.
    certificate_ : Certificate
        The parameters are those of the counts, up to rounding.
    trace_ : Trace
        Mean negative log likelihood of row and class, one line per part of the data.

    Examples
    --------
    >>> model = CategoricalNB().fit([[0], [0], [2], [1]], ["a", "a", "a", "b"])
    >>> np.exp(model.feature_log_prob_[0])  # (2 + 1) / 6, (0 + 1) / 6, (1 + 1) / 6; 1 / 4, 2 / 4, 1 / 4
    array([[0.5       , 0.16666667, 0.33333333],
           [0.25      , 0.5       , 0.25      ]])
    """

    category_count_: list[Array]
    feature_log_prob_: list[Array]
    n_categories_: Array
    _spot_check = staticmethod(spot_check_categorical_nb)

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Data | None = None,
        min_categories: Any = None,
        prior_alpha: float = 0.0,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories
        self.prior_alpha = prior_alpha

    def _count(self, data: TrainingData) -> list[Array]:
        sizes = category_sizes(data.X, self.min_categories)
        return category_counts(data.X, data.y, data.weight, len(data.classes), sizes)

    def _earlier_plus(self, counts: Any) -> list[Array]:
        """Return the counts of all parts so far; a category that is new in one of them widens its table."""
        pairs = zip(self.category_count_, counts, strict=True)
        return [_widened(old, new.shape[1]) + _widened(new, old.shape[1]) for old, new in pairs]

    def _estimate(self, totals: Array, counts: Any, alpha: Array) -> tuple[dict[str, Any], float]:
        logs = [
            log_smoothed(table, a, table.sum(axis=1, keepdims=True) + a * table.shape[1])
            for table, a in zip(counts, alpha[:, None], strict=True)
        ]
        sizes = np.array([table.shape[1] for table in counts])
        found = {"category_count_": counts, "feature_log_prob_": logs, "n_categories_": sizes}
        return found, sum(product_loss(table, log) for table, log in zip(counts, logs, strict=True))

    def _joint_log_scores(self, X: Data) -> Array:
        X = self._check_new(X)
        unseen = np.argwhere(self.n_categories_ <= X)
        if len(unseen):
            row, j = unseen[0].tolist()
            raise ValueError(
                f"X must hold categories below {self.n_categories_[j]} in column {j}, got {X[row, j]}. "
                "Set min_categories to the number of categories there are and fit again."
            )
        scores = np.tile(self.class_log_prior_, (len(X), 1))
        for j, table in enumerate(self.feature_log_prob_):
            scores += np.take(np.ascontiguousarray(table.T), X[:, j], axis=0)
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.sparse = False
        tags.input_tags.positive_only = True
        return tags


def _widened(table: Array, size: int) -> Array:
    """Return the counts with a column of zeros for every category that is new."""
    return np.pad(table, ((0, 0), (0, max(0, size - table.shape[1]))))
