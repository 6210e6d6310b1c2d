"""CategoricalNB: naive Bayes on columns of categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_non_negative, validate_data

from pellucid.core.certificate import Certificate
from pellucid.core.types import Array, Data
from pellucid.core.weights import check_sample_weight
from pellucid.naive_bayes.counting_nb import CountingNB, product_loss
from pellucid.naive_bayes.counting_nb_proof import Pairs, class_rows, prove_counting_nb
from pellucid.naive_bayes.smoothing import check_alpha, log_smoothed


class CategoricalNB(CountingNB):
    r"""Classes that draw a category for every column, each with its own smoothed shares of the categories.

    .. math:: P(c, x) = \pi_c \prod_j p_{cj}(x_j),\qquad p_{cj}(t) = \frac{n_{cjt} + \alpha_j}{n_c + \alpha_j m_j}

    with :math:`n_{cjt}` the number of rows of class :math:`c` whose column :math:`j` is category :math:`t` of
    :math:`m_j`. Categories are the numbers 0, 1, 2, ...; of other numbers the fraction is cut off.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior
        As in :class:`MultinomialNB`.
    min_categories : int or array-like of shape (n_features,), default=None
        Least :math:`m_j`; otherwise the largest value plus 1. A category that training may miss needs it.

    Attributes
    ----------
    category_count_, feature_log_prob_ : list of n_features arrays of shape (n_classes, n_categories)
        :math:`n_{cjt}` and :math:`\log p_{cj}(t)`.
    n_categories_ : ndarray of shape (n_features,)
        :math:`m_j`.
    classes_, class_count_, class_log_prior_, certificate_, trace_
        As in :class:`MultinomialNB`.

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

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Data | None = None,
        min_categories: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories

    def _add_counts(self, X: Array, codes: Array, weight: Array | None, *, is_new: bool) -> list[Array]:
        sizes = self._sizes(X)
        n_classes = len(self.classes_)
        if not is_new:
            sizes = np.maximum(sizes, self.n_categories_)
        added = []
        for j, size in enumerate(sizes.tolist()):
            place = codes * size + X[:, j]
            table = np.bincount(place, weights=weight, minlength=n_classes * size).reshape(n_classes, size)
            added.append(table.astype(np.float64))
        if is_new:
            self.category_count_ = added
        else:
            known = zip(self.category_count_, added, strict=True)
            self.category_count_ = [_widened(table, here.shape[1]) + here for table, here in known]
        self.n_categories_ = sizes
        return added

    def _recount(self, added: list[Array], X: Data, columns: Array, codes: Array, weight: Array | None) -> Pairs:
        pairs = []
        for j in columns:
            table = np.zeros_like(added[j])
            np.add.at(table, (codes, X[:, j]), 1.0 if weight is None else weight)
            pairs.append((added[j], table))
        return pairs

    def _recompute(self, columns: Array, alpha: Array) -> Pairs:
        return [(self.feature_log_prob_[j], _log_shares(self.category_count_[j], alpha[j])) for j in columns]

    def _sizes(self, X: Array) -> Array:
        sizes = X.max(axis=0).astype(np.int64) + 1
        if self.min_categories is None:
            return sizes
        least = np.asarray(self.min_categories)
        if least.dtype.kind != "i":
            raise ValueError(
                f"min_categories must hold whole numbers, got {least.dtype}. "
                f"'min_categories' should have integral type. Got {least.dtype} instead."
            )
        if least.ndim and least.shape != sizes.shape:
            raise ValueError(
                f"min_categories must be a number or have {len(sizes)} entries, got shape {least.shape}. "
                f"'min_categories' should have shape ({len(sizes)},) when an array-like is provided. "
                f"Got {least.shape} instead."
            )
        return np.maximum(sizes, least)

    def _estimate(self, alpha: Array) -> None:
        self.feature_log_prob_ = [
            log_smoothed(table, a, table.sum(axis=1, keepdims=True) + a * table.shape[1])
            for table, a in zip(self.category_count_, alpha[:, None], strict=True)
        ]

    def _loss(self) -> float:
        pairs = zip(self.category_count_, self.feature_log_prob_, strict=True)
        return sum(product_loss(table, logs) for table, logs in pairs)

    def _joint_log_scores(self, X: Data) -> Array:
        X = self._check_values(validate_data(self, X, reset=False, dtype=np.int64))
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

    def _check_rows(
        self, X: Data, y: Data, sample_weight: Data | None, *, reset: bool
    ) -> tuple[Array, Array, Array | None]:
        X, y = validate_data(self, X, y, reset=reset, dtype=np.int64)
        return self._check_values(X), column_or_1d(y, warn=True), check_sample_weight(sample_weight, X)

    def _check_values(self, X: Array) -> Array:
        check_non_negative(X, f"{type(self).__name__} (input X)")
        return X

    def _prove(self, X: Data, y: Data, sample_weight: Data | None = None) -> Certificate:
        X, y, weight = self._check_rows(X, y, sample_weight, reset=False)
        weight = np.ones(len(y)) if weight is None else weight
        alpha = check_alpha(self.alpha, self.force_alpha, X.shape[1])
        rows = class_rows(y, self.classes_)
        tables, logs = [], []
        for j, stored in enumerate(self.category_count_):
            table = _recounted(X[:, j], rows, weight, stored.shape[1])
            logs.append((self.feature_log_prob_[j], _log_shares(table, alpha[j])))
            tables.append((stored, table))
        return prove_counting_nb(self, rows, weight, tables, logs, X.size)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.sparse = False
        tags.input_tags.positive_only = True
        return tags


def _widened(table: Array, size: int) -> Array:
    """Return the counts with a column of zeros for every category that is new."""
    return np.pad(table, ((0, 0), (0, size - table.shape[1])))


def _log_shares(table: Array, alpha: float) -> Array:
    """Return the logarithms of the smoothed shares of each class's counts."""
    shares = table + alpha
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(shares / np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)))


def _recounted(column: Array, rows: Sequence[Array], weight: Array, size: int) -> Array:
    """Return the weight of every class and category, one category after the other."""
    return np.array([[weight[some][column[some] == t].sum() for t in range(size)] for some in rows])
