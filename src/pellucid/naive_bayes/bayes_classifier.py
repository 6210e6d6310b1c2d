"""BayesClassifier: the rule of least expected cost, for densities that are given or fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid.core.checks import check_level, check_one_of, check_whole
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Fit
from pellucid.core.input_rules import CLASSES, InputRules
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data, RandomState
from pellucid.naive_bayes.bayes_risk import BayesRisk, ClassScores, monte_carlo_risk, quadrature_risk
from pellucid.naive_bayes.class_density_solvers import fit_class_densities, given_densities
from pellucid.naive_bayes.counting_nb_solvers import class_totals
from pellucid.probability import Density
from pellucid.probability.sample_data import probability_vector
from pellucid.proofs.training_data import TrainingData


@dataclass(frozen=True)
class BayesRules(InputRules):
    """Rules for rows of numbers; there may be none where nothing is left to learn."""

    labels: tuple[Any, ...] | None = None
    """Those of given densities."""
    needs_rows: bool = True

    def check(
        self,
        estimator: Any,
        X: Data,
        y: Data = None,
        sample_weight: Data | None = None,
        *,
        reset: bool = True,
        classes: Array | None = None,
    ) -> TrainingData:
        """Return the training data, which may be nothing but labels."""
        if self.labels is not None:
            classes = np.unique(self.labels)
        if X is None and y is None and classes is not None and not self.needs_rows:
            return TrainingData(None, classes=classes, given=(None, None, None))
        if X is None:
            raise ValueError(
                "X and y must be given, got None. Without them densities must be a dict, and priors must be given."
            )
        return super().check(estimator, X, y, sample_weight, reset=reset, classes=classes)


def rules_for_bayes(estimator: Any) -> BayesRules:
    """Return the rules for an estimator whose densities, and with them its labels, may be given."""
    if not isinstance(estimator.densities, Mapping):
        return BayesRules(CLASSES, dtypes=np.float64)
    labels = tuple(estimator.densities)
    return BayesRules(CLASSES, dtypes=np.float64, labels=labels, needs_rows=estimator.priors is None)


class BayesClassifier(ClassScores, ClassifierMixin, CertifiedEstimator):
    r"""Decide for the class whose expected cost is least; no rule is better if the densities are right.

    .. math:: \hat c(x) = \arg\min_a \sum_c P(c \mid x)\, L(c, a), \qquad P(c \mid x) \propto \pi_c f_c(x)

    Parameters
    ----------
    densities : str, class, list or dict, default="multivariate_gaussian"
        A density to fit to each class (a name of :mod:`pellucid.probability` or a class), or the densities
        :math:`f_c` themselves: a dict from labels, or a list in the order of the sorted labels.
    priors : array-like of shape (n_classes,), default=None
        :math:`\pi_c`, adding up to 1, in the order of the sorted labels; by default the shares of the classes.
    costs : array-like of shape (n_classes, n_classes), default=None
        :math:`L(c, a)`, the cost of deciding for class ``a`` (column) where ``c`` (row) is true; by default 1 for
        every error, which makes the most probable class the best.
    var_smoothing : float, default=1e-9
        This part of the largest variance of a column is added to the variances of fitted Gaussians, at least 0.

    Attributes
    ----------
    classes_, class_count_, class_prior_ : ndarray of shape (n_classes,)
        The labels, sorted, the weight of their rows, and :math:`\pi_c`.
    densities_ : list of densities
        :math:`f_c`.
    costs_ : ndarray of shape (n_classes, n_classes)
        :math:`L`.
    certificate_ : Certificate
        The parameters are those moments, up to rounding.
    trace_ : Trace
        Mean negative log likelihood of row and class, one line per part of the data.

    Examples
    --------
    >>> from pellucid.probability import Gaussian
    >>> given = {"ill": Gaussian(2, 1), "well": Gaussian(0, 1)}
    >>> model = BayesClassifier(given, priors=[0.5, 0.5], costs=[[0, 9], [1, 0]]).fit()
    >>> [str(label) for label in model.predict([[-0.5], [0.5]])]  # to miss the ill costs 9 times as much
    ['well', 'ill']
    >>> round(BayesClassifier(given, priors=[0.5, 0.5]).fit().risk("quadrature").value, 6)  # Phi(-1)
    0.158655
    """

    class_count_: Array
    class_prior_: Array
    densities_: list[Density]
    costs_: Array

    def __init__(
        self,
        densities: Any = "multivariate_gaussian",
        *,
        priors: Data | None = None,
        costs: Data | None = None,
        var_smoothing: float = 1e-9,
    ) -> None:
        self.densities = densities
        self.priors = priors
        self.costs = costs
        self.var_smoothing = var_smoothing

    @fit_method
    def fit(self, X: Data = None, y: Data = None, sample_weight: Data | None = None) -> Self:
        """Learn what is not given from ``X`` and ``y``; both may be left out if a dict of densities and priors are."""
        data = self._check(X, y, sample_weight)
        if not isinstance(self.densities, Mapping):
            data = data.without_absent_classes()
        n_classes = len(data.classes)
        totals = np.zeros(n_classes) if data.X is None else class_totals(data.y, data.weight, n_classes)
        prior, costs = self._prior(totals), self._costs(n_classes)
        densities = (
            fit_class_densities(self.densities, data, self.var_smoothing)
            if isinstance(self.densities, str | type)
            else given_densities(self.densities, n_classes)
        )
        trace = Trace()
        if data.X is not None:
            scores = _joint(data.X, densities, prior)[np.arange(len(data.y)), data.y]
            trace.add(iteration=1, objective=-float(np.average(scores, weights=data.weight)))
        learned = {"classes_": data.classes, "class_count_": totals, "class_prior_": prior}
        return self._adopt(Fit({**learned, "densities_": densities, "costs_": costs}, trace), data)

    def predict(self, X: Data) -> Array:
        """Return the class of least expected cost for each row; of tied ones, the first in ``classes_``."""
        if self.costs is None:
            return super().predict(X)
        best = np.argmin(self.expected_costs(X), axis=1)
        return self.classes_[best]

    def expected_costs(self, X: Data) -> Array:
        r"""Return :math:`\sum_c P(c \mid x) L(c, a)` for each row and decision, of shape (n_samples, n_classes)."""
        return np.asarray(self.predict_proba(X) @ self.costs_)

    def risk(
        self,
        method: str = "monte_carlo",
        *,
        n_draws: int = 100_000,
        level: float = 0.95,
        interval: str = "hoeffding",
        random_state: RandomState = None,
    ) -> BayesRisk:
        r"""Return the expected cost of this rule if the densities are right, :math:`E \min_a \sum_c P(c|x) L(c, a)`.

        Parameters
        ----------
        method : {"monte_carlo", "quadrature"}, default="monte_carlo"
            An average over draws, or an integral over one dimension (a sum, for densities of few values).
        n_draws : int, default=100_000
            Draws of the average, at least 2.
        level : float, default=0.95
            Probability with which the interval of the average holds the risk.
        interval : {"hoeffding", "normal"}, default="hoeffding"
            Ends that hold for any number of draws, or narrower ones that hold in the limit.
        random_state : None, int or Generator, default=None
            Where the draws come from.
        """
        check_is_fitted(self)
        check_one_of(("monte_carlo", "quadrature"), method=method)
        if method == "quadrature":
            if any(np.ndim(density.mean) for density in self.densities_):
                raise ValueError("method must be 'monte_carlo' for densities of several columns, got 'quadrature'.")
            return quadrature_risk(self.densities_, self.class_prior_, self.costs_)
        check_whole(2, n_draws=n_draws)
        check_level(level)
        check_one_of(("hoeffding", "normal"), interval=interval)
        return monte_carlo_risk(
            self.densities_,
            self.class_prior_,
            self._least_costs,
            bounds=(float(self.costs_.min()), float(self.costs_.max(axis=0).min())),
            n_draws=n_draws,
            level=level,
            interval=interval,
            random_state=random_state,
        )

    def _least_costs(self, draws: Array) -> Array:
        scores = _joint(draws, self.densities_, self.class_prior_)
        posterior = np.exp(scores - scores.max(axis=1, keepdims=True))
        posterior /= posterior.sum(axis=1, keepdims=True)
        return np.asarray((posterior @ self.costs_).min(axis=1))

    def _prior(self, totals: Array) -> Array:
        prior = totals / totals.sum() if self.priors is None else probability_vector("priors", self.priors)
        if len(prior) != len(totals):
            raise ValueError(f"priors must have {len(totals)} entries, one for each class, got {len(prior)}.")
        return np.asarray(prior)

    def _costs(self, n: int) -> Array:
        costs = 1.0 - np.eye(n) if self.costs is None else np.array(self.costs, dtype=np.float64)
        if costs.shape != (n, n) or not np.isfinite(costs).all():
            raise ValueError(
                f"costs must be finite numbers of shape ({n}, {n}), got shape {costs.shape}. "
                "Rows are the true classes, columns the decisions."
            )
        return costs

    def _joint_log_scores(self, X: Data) -> Array:
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return _joint(X, self.densities_, self.class_prior_)

    def _log_prior(self) -> Array:
        return _log(self.class_prior_)


def _joint(X: Array, densities: Sequence[Density], prior: Array) -> Array:
    """Return the joint log density of every row and class."""
    return np.column_stack([density.log_prob(X) for density in densities]) + _log(prior)


def _log(prior: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(prior))
