"""SequentialFeatureSelector: one column more, or one less, at a time."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

from sklearn.utils.metadata_routing import _raise_for_params, _routing_enabled, process_routing

from pellucid.core.estimator import fit_method
from pellucid.core.types import Data
from pellucid.feature_selection.search.search_rules import sequential_steps
from pellucid.feature_selection.search.selecting import SearchingSelector


class SequentialFeatureSelector(SearchingSelector):
    """Greedy search: the column whose addition, or removal, gives the best cross-validated score goes first.

    Least squares are scored from moments of the folds, without a fit for each set.

    Parameters
    ----------
    estimator : estimator or None, default=None
        What is scored; None is a line for targets that are floats, and a logistic regression for others.
    n_features_to_select : 'auto', int or float, default='auto'
        Columns to select, or their part; 'auto' is half of them, or as many as ``tol`` says where it is given.
    tol : float or None, default=None
        With 'auto': the search ends when a step gains less. It may be below 0 for 'backward'.
    direction : {'forward', 'backward'}, default='forward'
        Whether columns are added or removed.
    scoring : str, callable or None, default=None
        Name of a score, or function of estimator, X and y; None is the estimator's own.
    cv : int, splitter, iterable or None, default=5
        Folds.
    n_jobs : int or None, default=None
        Folds scored at the same time, where the estimator is fitted.

    Attributes
    ----------
    support_ : ndarray of shape (n_features,)
        Which columns are selected.
    n_features_to_select_ : int
        How many.
    visited_ : ndarray of shape (n_sets, n_features)
        Every set that was scored, in this order.
    fold_scores_ : ndarray of shape (n_sets, n_folds)
        Scores of each.
    path_ : ndarray of shape (n_iter,)
        Which of them the search went through; see ``search_table``.
    certificate_, trace_ : Certificate, Trace
        Each step was the best one, and the scores are found again; score and column step by step.

    Examples
    --------
    The target is the third column.

    >>> X = [[1, 5, 0], [2, 1, 3], [3, 4, 1], [4, 2, 8], [5, 3, 4], [6, 6, 9]]
    >>> SequentialFeatureSelector(n_features_to_select=1, cv=3).fit(X, [0.0, 3.1, 1.0, 8.0, 4.1, 9.0]).get_support()
    array([False, False,  True])
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_features_to_select: Any = "auto",
        tol: float | None = None,
        direction: str = "forward",
        scoring: Any = None,
        cv: Any = 5,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_features_to_select = n_features_to_select
        self.tol = tol
        self.direction = direction
        self.scoring = scoring
        self.cv = cv
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Data, y: Data = None, **params: Any) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and ``y`` of shape (n_samples,), or no target.

        ``params`` go to estimator, splitter and scorer where scikit-learn's metadata routing is enabled; ``verify``
        does not know them.
        """
        _raise_for_params(params, self, "fit")
        data = self._check(X, y)
        if isinstance(self.n_features_to_select, Integral) and self.n_features_to_select >= data.X.shape[1]:
            raise ValueError(
                f"n_features_to_select must be < n_features, {data.X.shape[1]}, got {self.n_features_to_select}. "
                "Select fewer columns."
            )
        if _routing_enabled():
            process_routing(self, "fit", **params)
        n_steps, _ = sequential_steps(self, data.X.shape[1])
        watch = self._watch(X, y, attributes=lambda mask: {"support_": mask}, max_iter=n_steps)
        return self._searched(data, watch, params)
