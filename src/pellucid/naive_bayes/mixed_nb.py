"""MixedNB: naive Bayes with a density of its own kind for every column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import column_or_1d
from sklearn.utils.validation import validate_data

from pellucid.core.certificate import Certificate
from pellucid.core.checks import check_nonnegative
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.finite import check_finite
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data
from pellucid.core.weights import check_sample_weight
from pellucid.naive_bayes.class_counts import class_totals
from pellucid.naive_bayes.class_labels import encode_labels, numeric_labels
from pellucid.naive_bayes.class_scores import ClassScores
from pellucid.naive_bayes.gaussian_nb_solvers import SMALLEST_VARIANCE, class_moments
from pellucid.naive_bayes.mixed_columns import choose_densities, column_values, declared_categories
from pellucid.naive_bayes.mixed_nb_proof import prove_mixed_nb
from pellucid.probability import Bernoulli, Beta, Categorical, Density, Dirichlet, Gaussian


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
    certificate_, trace_
        As in :class:`GaussianNB`.

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
        check_nonnegative(alpha=self.alpha, prior_alpha=self.prior_alpha, var_smoothing=self.var_smoothing)
        declared = declared_categories(X)
        values, y, weight = self._check_rows(X, y, sample_weight, reset=True)
        names = getattr(self, "feature_names_in_", None)
        kinds = choose_densities(self.densities, values, None if names is None else names.tolist(), declared)
        if weight is not None:  # a row of weight 0 is not there, and neither is a label that only it has
            values, y, weight = values[weight > 0], y[weight > 0], weight[weight > 0]
        self.classes_, codes = encode_labels(y)
        self.class_count_ = class_totals(codes, weight, len(self.classes_))
        smoothed = self.class_count_ + self.prior_alpha
        self.class_prior_ = smoothed / smoothed.sum()
        columns = [column_values(values, j) for j in range(values.shape[1])]
        self.densities_ = self._fit_columns(kinds, columns, codes, weight)
        self._finish(columns, y, codes, weight)
        return self

    def _fit_columns(
        self, kinds: Sequence[type[Density]], columns: Sequence[Array], codes: Array, weight: Array | None
    ) -> list[list[Density]]:
        rows = [codes == k for k in range(len(self.classes_))]
        weights = [None if weight is None else weight[some] for some in rows]
        gaussian = [j for j, kind in enumerate(kinds) if kind is Gaussian]
        of_gaussians = iter(self._fit_gaussians([columns[j] for j in gaussian], codes, weight))
        fitted: list[list[Density]] = []
        for kind, column in zip(kinds, columns, strict=True):
            if kind is Gaussian:
                fitted.append(next(of_gaussians))
                continue
            options = _smoothing(kind, column, self.alpha)
            fitted.append([kind.fit(column[s], w, **options) for s, w in zip(rows, weights, strict=True)])
        return fitted

    def _fit_gaussians(self, columns: list[Array], codes: Array, weight: Array | None) -> list[list[Density]]:
        """Return the densities of the Gaussian columns, whose variances share what is added to them."""
        if not columns:
            return []
        if any(column.dtype.kind == "U" for column in columns):
            raise ValueError("X must hold numbers in a column with a Gaussian density, got texts. Use categorical.")
        X = np.column_stack(columns)
        found = class_moments(X, codes, weight, len(self.classes_))
        if not np.isfinite(found.scatter).all():
            check_finite(X, self)
        epsilon = self.var_smoothing * found.overall_variance().max()
        variance = np.maximum(found.scatter / found.total[:, None] + epsilon, SMALLEST_VARIANCE)
        return [
            [Gaussian(*pair) for pair in zip(found.mean[:, j].tolist(), variance[:, j].tolist(), strict=True)]
            for j in range(len(columns))
        ]

    def _finish(self, columns: Sequence[Array], y: Array, codes: Array, weight: Array | None) -> None:
        scores = self._scores(columns)[np.arange(len(codes)), codes]
        trace = Trace()
        trace.add(iteration=1, objective=-float(np.average(scores, weights=weight)))
        certificate = prove_mixed_nb(self, columns, y, weight)
        numbers = [np.unique(c, return_inverse=True)[1] if c.dtype.kind == "U" else c for c in columns]
        self._conclude(certificate, trace, np.column_stack(numbers), numeric_labels(y, codes), weight)

    def _joint_log_scores(self, X: Data) -> Array:
        X = validate_data(self, X, reset=False, dtype=None)
        return self._scores([column_values(X, j) for j in range(X.shape[1])])

    def _scores(self, columns: Sequence[Array]) -> Array:
        scores = np.tile(self._log_prior(), (len(columns[0]), 1))
        for column, densities in zip(columns, self.densities_, strict=True):
            logs = np.column_stack([density.log_prob(column) for density in densities])
            logs[np.isneginf(logs).all(axis=1)] = 0.0  # no class can produce it
            scores += logs
        return scores

    def _log_prior(self) -> Array:
        return np.asarray(np.log(self.class_prior_))

    def _check_rows(
        self, X: Data, y: Data, sample_weight: Data | None, *, reset: bool
    ) -> tuple[Array, Array, Array | None]:
        X, y = validate_data(self, X, y, reset=reset, dtype=None)
        return X, column_or_1d(y, warn=True), check_sample_weight(sample_weight, X)

    def _prove(self, X: Data, y: Data, sample_weight: Data | None = None) -> Certificate:
        X, y, weight = self._check_rows(X, y, sample_weight, reset=False)
        return prove_mixed_nb(self, [column_values(X, j) for j in range(X.shape[1])], y, weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _smoothing(kind: type[Density], column: Array, alpha: float) -> dict[str, Any]:
    """Return what the fit of a density is told: a conjugate prior worth ``alpha`` more rows of every value."""
    if kind is Bernoulli:
        return {"prior": Beta(1 + alpha, 1 + alpha)} if alpha > 0 else {}
    if kind is Categorical:
        labels = np.unique(column)
        prior = Dirichlet(np.full(len(labels), 1 + alpha)) if alpha > 0 else None
        return {"prior": prior, "categories": labels}
    return {}
