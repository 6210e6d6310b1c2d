"""FloatingSelector: search for columns that may take back its steps."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

from pellucid.core.estimator import fit_method
from pellucid.core.types import Data
from pellucid.feature_selection.search.selecting import SearchingSelector


class FloatingSelector(SearchingSelector):
    """Search for the columns with the best cross-validated score, which may take back its steps.

    Every set that was looked at is kept with the score of each fold. Of equal steps the first column is taken.

    Parameters
    ----------
    estimator : estimator or None, default=None
        What is scored; None is a line for targets that are floats, and a logistic regression for others.
    n_features_to_select : int, float, 'best' or 'one-standard-error', default='one-standard-error'
        Columns to select, or their part; 'best' takes the set with the best score, 'one-standard-error' the best of the
        smallest size at which a set is within one standard error of that.
    direction : str, default='floating'
        'forward' and 'backward' add or remove one column at a time; 'add-remove' adds ``add`` and removes ``remove`` in
        each round; 'floating' adds one and then removes while that gives the best set of its size so far, and
        'floating-backward' the other way round; both go two sizes beyond the one wanted, for better sets on the way
        back.
    add, remove : int, default=2, 1
        Steps of a round of 'add-remove'; with more removed than added the search begins with all columns.
    max_features : int or None, default=None
        Size at which a search that adds columns ends, where ``n_features_to_select`` is a rule; None is all.
    scoring : str, callable or None, default=None
        Name of a score, or function of estimator, X and y; None is the estimator's own.
    cv : int, splitter, iterable or None, default=5
        Folds, the same for all sets.

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
    The target is the sum of the first and the third column.

    >>> X = [[1, 5, 0], [2, 1, 3], [3, 4, 1], [4, 2, 8], [5, 3, 4], [6, 6, 9]]
    >>> model = FloatingSelector(cv=3).fit(X, [1.0, 5.1, 4.0, 12.0, 9.1, 15.0])
    >>> model.get_support()
    array([ True, False,  True])
    >>> model.search_table()[["move", "feature", "size"]].values.tolist()
    [['add', 2, 1], ['add', 0, 2], ['add', 1, 3]]
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_features_to_select: Any = "one-standard-error",
        direction: str = "floating",
        add: int = 2,
        remove: int = 1,
        max_features: int | None = None,
        scoring: Any = None,
        cv: Any = 5,
    ) -> None:
        self.estimator = estimator
        self.n_features_to_select = n_features_to_select
        self.direction = direction
        self.add = add
        self.remove = remove
        self.max_features = max_features
        self.scoring = scoring
        self.cv = cv

    @fit_method
    def fit(self, X: Data, y: Data = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and ``y`` of shape (n_samples,), or no target."""
        data = self._check(X, y)
        d = data.X.shape[1]
        for name in ("n_features_to_select", "max_features"):
            value = getattr(self, name)
            if isinstance(value, Integral) and value > d:
                raise ValueError(f"{name} must be at most {d}, the number of columns, got {value}. Ask for fewer.")
        watch = self._watch(X, y, attributes=lambda mask: {"support_": mask})
        return self._searched(data, watch)
