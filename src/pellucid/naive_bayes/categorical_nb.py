"""CategoricalNB: naive Bayes on columns of categories."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.types import Array, Data
from pellucid.naive_bayes.counting_nb import CountingNB
from pellucid.naive_bayes.counting_nb_parameters import category_sizes
from pellucid.naive_bayes.counting_nb_solvers import category_counts, log_smoothed, product_loss
from pellucid.naive_bayes.spot_check import spot_check_categorical_nb
from pellucid.proofs.training_data import TrainingData


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
    _spot_check = staticmethod(spot_check_categorical_nb)

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
