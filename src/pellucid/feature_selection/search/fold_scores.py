"""Scores on sets of columns, one for each fold: by scikit-learn's cross-validation, of lines from moments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LinearRegression as PeerLinearRegression
from sklearn.model_selection import check_cv, cross_val_score

from pellucid.core.types import Array, SparseOrDense
from pellucid.feature_selection.search.search_rules import holds_numbers
from pellucid.linear_model import LinearRegression, LogisticRegression

LINES = (LinearRegression, PeerLinearRegression)
"""Estimators whose scores can be had from moments."""


def asked_estimator(estimator: Any, y: Any) -> Any:
    """Return the estimator to score: the one given, or a line for numbers and a logistic regression for labels."""
    if estimator is not None:
        return estimator
    if y is None:
        raise ValueError(
            "y must be given where estimator is None, which requires y to be passed, but the target y is None. Pass "
            "targets, or an estimator that needs none."
        )
    return LinearRegression() if holds_numbers(y) else LogisticRegression()


class FoldScores:
    """Scores sets of columns on the same folds, whatever the splitter draws."""

    def __init__(
        self, estimator: Any, X: SparseOrDense, y: Any, selector: Any, params: Mapping[str, Any] | None = None
    ) -> None:
        self.estimator, self.y, self.scoring = estimator, y, selector.scoring
        is_narrow = type(estimator) in LINES and getattr(X, "dtype", None) == np.float32
        self.X = X.astype(np.float64) if is_narrow else X  # so that fits and moments give the same scores
        self.n_jobs, self.params = getattr(selector, "n_jobs", None), dict(params or {})
        splitter = check_cv(selector.cv, y, classifier=is_classifier(estimator))
        # with parameters for the splitter, such as groups, scikit-learn must hand them on
        self.folds = splitter if self.params else list(splitter.split(X, y))

    def of_set(self, mask: Array) -> Array:
        """Return the score of each fold with these columns."""
        found = cross_val_score(
            clone(self.estimator), self.X[:, np.flatnonzero(mask)], self.y, cv=self.folds, scoring=self.scoring,
            n_jobs=self.n_jobs, params=self.params or None,
        )  # fmt: skip
        return np.asarray(found, dtype=np.float64)

    def of_moves(self, mask: Array, features: Array) -> Array:
        """Return the scores of the sets that differ from this one by each of the features, a row for each."""
        found = []
        for feature in features:
            moved = mask.copy()
            moved[feature] = not mask[feature]
            found.append(self.of_set(moved))
        return np.stack(found)


# Cross-validated scores of least squares on many sets of columns, from moments: no set is fitted by itself.
#
# For each fold a matrix of the training moments of X and y is *swept* on the columns of the set S (Goodnight, 1979). It
# then holds :math:`H = G_{SS}^{-1}`, the coefficients w of y and :math:`a_j` of every other column on S. One column
# more or less changes the residuals e of the test rows along one vector:
#
# .. math:: e \leftarrow e - \beta_jv_j,\quad v_j = x_j - X_Sa_j,\qquad
# e \leftarrow e + \frac{w_j}{H_{jj}}\,v_j,\quad v_j = X_SH_{:j}
#
# so that sums of squares of test errors follow from the moments of the test rows.


SMALLEST_PIVOT = 1e-6
"""Part of a column that the others may leave unexplained at least; with less, digits are lost and the set is fitted."""

MOST_SWEEPS = 64
"""Sweeps after which the matrix is made anew: each adds its rounding."""


Scored = Callable[["FoldMoments", Array], Array]
"""From sums of squares of test errors, a row for each fold, to the scores."""


def _r2(moments: FoldMoments, errors: Array) -> Array:
    return np.asarray(1.0 - errors / moments.squares[:, None])


def _negative_mean(moments: FoldMoments, errors: Array) -> Array:
    return np.asarray(-errors / moments.rows[:, None] * moments.unit**2)


def _negative_root(moments: FoldMoments, errors: Array) -> Array:
    return np.asarray(-np.sqrt(errors / moments.rows[:, None]) * moments.unit)


SCORES: dict[str | None, Scored] = {
    None: _r2,
    "r2": _r2,
    "neg_mean_squared_error": _negative_mean,
    "neg_root_mean_squared_error": _negative_root,
}


@dataclass(frozen=True, eq=False)
class FoldMoments:
    """Moments of X and y, in this order, of every fold, about the means of its training rows."""

    training: Array
    test: Array
    squares: Array
    """Sum of squares of the test targets about their own mean."""
    rows: Array
    """Test rows."""
    unit: float
    """What the targets were divided by; columns were divided as well, which changes no error."""


class LeastSquaresSets:
    """Scores sets of columns as ``FoldScores`` does, where the estimator is a line."""

    def __init__(self, plain: FoldScores, moments: FoldMoments) -> None:
        self.plain, self.moments, self.score = plain, moments, SCORES[plain.scoring]
        self._start_anew()

    @classmethod
    def of(cls, plain: FoldScores) -> LeastSquaresSets | None:
        """Return the scores of a line; None where the estimator, the score or the data ask for plain fits."""
        model, X, y = plain.estimator, plain.X, plain.y
        is_line = type(model) in LINES and not model.positive and plain.scoring in SCORES and not plain.params
        if not is_line or sparse.issparse(X) or np.ndim(y) != 1 or np.asarray(y).dtype.kind not in "iuf":
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            moments = _moments(np.asarray(X), np.asarray(y), plain.folds, intercept=bool(model.fit_intercept))
        is_plain = np.isfinite(moments.training).all() and np.isfinite(moments.test).all()
        return cls(plain, moments) if is_plain and (moments.squares > 0.0).all() and moments.rows.min() > 1 else None

    def of_set(self, mask: Array) -> Array:
        """Return the score of each fold with these columns."""
        feature = np.flatnonzero(mask)[-1:]
        without = mask.copy()
        without[feature] = False
        return np.asarray(self.of_moves(without, feature)[0])

    def of_moves(self, mask: Array, features: Array) -> Array:
        """Return the scores of the sets that differ from this one by each of the features, a row for each."""
        is_safe = self._go_to(mask)
        found = np.full((len(features), len(self.moments.rows)), np.nan)
        if is_safe and len(features):
            adding = not mask[features[0]]
            kept = self._safe_to_add(features) if adding else np.ones(len(features), dtype=bool)
            errors = (self._errors_with if adding else self._errors_without)(np.flatnonzero(mask), features[kept])
            found[kept] = self.score(self.moments, np.maximum(errors, 0.0)).T
        for place in np.flatnonzero(np.isnan(found).any(axis=1)):
            found[place] = self.plain.of_moves(mask, features[[place]])[0]
        return found

    def _start_anew(self) -> None:
        self._swept, self._n_sweeps = self.moments.training.copy(), 0
        self._mask = np.zeros(self._swept.shape[1] - 1, dtype=bool)

    def _go_to(self, mask: Array) -> bool:
        """Sweep to this set; return whether that kept the digits."""
        if self._n_sweeps > MOST_SWEEPS or np.sum(self._mask != mask) > mask.sum():
            self._start_anew()
        removed, added = np.flatnonzero(self._mask & ~mask), np.flatnonzero(mask & ~self._mask)
        for feature in (*removed, *added):
            if not self._mask[feature] and not self._safe_to_add(np.array([feature]))[0]:
                self._start_anew()
                return False
            _sweep(self._swept, int(feature))
            self._mask[feature] = not self._mask[feature]
            self._n_sweeps += 1
        return True

    def _safe_to_add(self, features: Array) -> Array:
        """Return which columns have enough left that the set does not explain, in the training rows of every fold."""
        pivots, whole = (m[:, features, features] for m in (self._swept, self.moments.training))
        return np.asarray((pivots > SMALLEST_PIVOT * whole).all(axis=0))

    def _residuals(self, chosen: Array) -> tuple[Array, Array, Array]:
        """Return the coefficients, the sum of squares of test errors and the products of columns with the errors."""
        w, B = self._swept[:, chosen, -1], self.moments.test
        products = B[:, :, -1] - np.einsum("fmk,fk->fm", B[:, :, chosen], w)
        return w, products[:, -1] - np.einsum("fk,fk->f", w, products[:, chosen]), products

    def _errors_with(self, chosen: Array, features: Array) -> Array:
        """Return sums of squares of test errors, a row for each fold, when each of the features is added."""
        _, errors, products = self._residuals(chosen)
        a, B = self._swept[:, chosen[:, None], features], self.moments.test
        inner = B[:, chosen[:, None], chosen] @ a - 2.0 * B[:, chosen[:, None], features]
        squares = B[:, features, features] + np.sum(a * inner, axis=1)
        along = products[:, features] - np.einsum("fkm,fk->fm", a, products[:, chosen])
        beta = self._swept[:, features, -1] / self._swept[:, features, features]
        return np.asarray(errors[:, None] - 2.0 * beta * along + beta**2 * squares)

    def _errors_without(self, chosen: Array, features: Array) -> Array:
        """Return the same when each of the features, all of them chosen, is left out."""
        w, errors, products = self._residuals(chosen)
        places = np.searchsorted(chosen, features)
        H = self._swept[:, chosen[:, None], features]
        squares = np.sum(H * (self.moments.test[:, chosen[:, None], chosen] @ H), axis=1)
        along = np.einsum("fkm,fk->fm", H, products[:, chosen])
        theta = w[:, places] / self._swept[:, features, features]
        return np.asarray(errors[:, None] + 2.0 * theta * along + theta**2 * squares)


def _sweep(matrices: Array, k: int) -> None:
    """Sweep every matrix on row k, in place; twice is as if nothing was done."""
    pivot = matrices[:, k, k].copy()
    column = matrices[:, :, k] / pivot[:, None]
    row = matrices[:, k, :] / pivot[:, None]
    matrices -= (column * pivot[:, None])[:, :, None] * row[:, None, :]
    matrices[:, k, :] = row
    matrices[:, :, k] = -column
    matrices[:, k, k] = 1.0 / pivot


def _moments(X: Array, y: Array, folds: Any, *, intercept: bool) -> FoldMoments:
    """Return the moments of the folds; where training rows are all the others, theirs are what the test rows leave."""
    n = len(X)
    rows = np.ones((n, X.shape[1] + 2))
    rows[:, :-2], rows[:, -2] = X, y
    if intercept:
        rows[:, :-1] -= rows[:, :-1].mean(axis=0)
    size = np.abs(rows).max(axis=0)
    unit = np.where(size > 0.0, size, 1.0)
    rows /= unit
    tested = [_products(rows, test) for _, test in folds]
    is_partition = np.array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(n))
    whole = np.sum(tested, axis=0) if is_partition else rows.T @ rows
    found = []
    for (train, test), products in zip(folds, tested, strict=True):
        is_tested = np.zeros(n, dtype=bool)
        is_tested[test] = True
        is_rest = len(train) + len(test) == n and not is_tested[train].any()
        trained = whole - products if is_rest else _products(rows, train)
        found.append((*_about_training_mean(trained, products, intercept=intercept), len(test)))
    training, test_moments, squares, counts = (np.array(part) for part in zip(*found, strict=True))
    return FoldMoments(training, test_moments, squares, counts.astype(np.float64), float(unit[-2]))


def _products(rows: Array, chosen: Array) -> Array:
    """Return the products of columns over some rows, without a copy where these follow one another."""
    if len(chosen) and chosen[-1] - chosen[0] + 1 == len(chosen) and np.all(np.diff(chosen) == 1):
        some = rows[chosen[0] : chosen[-1] + 1]
    else:
        some = rows[chosen]
    return np.asarray(some.T @ some)


def _about_training_mean(trained: Array, tested: Array, *, intercept: bool) -> tuple[Array, Array, float]:
    """Return moments of training and test rows about the training mean, and squares of test targets about theirs."""
    total, count = tested[:-1, -1], tested[-1, -1]
    squares = float(tested[-2, -2] - total[-1] ** 2 / count)
    if not intercept:
        return trained[:-1, :-1], tested[:-1, :-1], squares
    mean = trained[:-1, -1] / trained[-1, -1]
    cross = np.outer(total, mean)
    return (
        trained[:-1, :-1] - trained[-1, -1] * np.outer(mean, mean),
        tested[:-1, :-1] - cross - cross.T + count * np.outer(mean, mean),
        squares,
    )
