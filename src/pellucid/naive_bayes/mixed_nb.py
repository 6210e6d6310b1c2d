"""MixedNB: naive Bayes with a density of its own kind for every column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import validate_data

from pellucid.core.checks import column_values
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Fit
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data
from pellucid.naive_bayes.bayes_risk import ClassScores
from pellucid.naive_bayes.class_density_solvers import fit_column_densities
from pellucid.naive_bayes.counting_nb_solvers import class_totals
from pellucid.probability import Density
from pellucid.probability.density import choose_densities, declared_categories


class MixedNB(ClassScores, ClassifierMixin, CertifiedEstimator):
    r"""Classes whose columns are independent, each with a density of the kind that suits the column.

    .. math:: \log P(c, x) = \log\pi_c + \sum_j \log f_{cj}(x_j),\qquad \pi_c = \frac{n_c + a}{n + a K}

    A value that no class can produce, such as a label that training never saw, says nothing about the class: its
    column is left out for that row.

    Parameters
    ----------
    densities : str, class, list or dict, default="auto"
        The density of all columns, of each, or of those named: ``"gaussian"``, ``"bernoulli"``, ``"categorical"``,
        another density of :mod:`pellucid.probability`, or a class of your own. ``"auto"`` takes categorical for
        texts and categories, bernoulli for zeros and ones, gaussian for other numbers.
    alpha : float, default=1.0
        Pseudo-count of every category, and of 0 and 1, at least 0.
    prior_alpha : float, default=0.0
        Pseudo-count :math:`a` of every class, at least 0.
    var_smoothing : float, default=1e-9
        This part of the largest variance of a Gaussian column is added to their variances, at least 0.

    Attributes
    ----------
    densities_ : list of n_features lists of n_classes densities
        :math:`f_{cj}`.
    classes_, class_count_, class_prior_ : ndarray of shape (n_classes,)
        The labels, sorted, the weight of their rows, and :math:`\pi_c`.
    certificate_ : Certificate
        The parameters are those moments, up to rounding.
    trace_ : Trace
        Mean negative log likelihood of row and class, one line per part of the data.

    Examples
    --------
    >>> X = [["sun", 20.0], ["sun", 24.0], ["rain", 15.0], ["rain", 17.0]]
    >>> model = MixedNB(prior_alpha=1).fit(np.array(X, dtype=object), ["out", "out", "in", "out"])
    >>> model.class_prior_  # (1 + 1) / (4 + 2), (3 + 1) / (4 + 2)
    array([0.33333333, 0.66666667])
    >>> model.densities_[0][1].probabilities  # rain (1 + 1) / (3 + 2), sun (2 + 1) / (3 + 2)
    array([0.4, 0.6])
    """

    densities_: list[list[Density]]
    class_count_: Array
    class_prior_: Array

    def __init__(
        self,
        densities: Any = "auto",
        *,
        alpha: float = 1.0,
        prior_alpha: float = 0.0,
        var_smoothing: float = 1e-9,
    ) -> None:
        self.densities = densities
        self.alpha = alpha
        self.prior_alpha = prior_alpha
        self.var_smoothing = var_smoothing

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to ``X``, a table or an array of shape (n_samples, n_features), and the labels ``y``."""
        declared = declared_categories(X)
        data = self._check(X, y, sample_weight).without_absent_classes()
        names = getattr(self, "feature_names_in_", None)
        kinds = choose_densities(self.densities, data.X, None if names is None else names.tolist(), declared)
        totals = class_totals(data.y, data.weight, len(data.classes))
        smoothed = totals + self.prior_alpha
        prior = smoothed / smoothed.sum()
        columns = [column_values(data.X, j) for j in range(data.X.shape[1])]
        densities = fit_column_densities(kinds, columns, data, self.alpha, self.var_smoothing)
        scores = _scores(columns, densities, prior)[np.arange(len(data.y)), data.y]
        trace = Trace()
        trace.add(iteration=1, objective=-float(np.average(scores, weights=data.weight)))
        found = {"classes_": data.classes, "class_count_": totals, "class_prior_": prior, "densities_": densities}
        return self._adopt(Fit(found, trace), data)

    def _joint_log_scores(self, X: Data) -> Array:
        X = validate_data(self, X, reset=False, dtype=None)
        return _scores([column_values(X, j) for j in range(X.shape[1])], self.densities_, self.class_prior_)

    def _log_prior(self) -> Array:
        return np.asarray(np.log(self.class_prior_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _scores(columns: Sequence[Array], densities: Sequence[Sequence[Density]], prior: Array) -> Array:
    """Return the joint log probability of every row and class."""
    scores = np.tile(np.log(prior), (len(columns[0]), 1))
    for column, of_classes in zip(columns, densities, strict=True):
        logs = np.column_stack([density.log_prob(column) for density in of_classes])
        logs[np.isneginf(logs).all(axis=1)] = 0.0  # no class can produce it
        scores += logs
    return scores
