"""AlternatingLeastSquares: a matrix with missing entries as a product of two thin ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pellucid.core.cards import card_of
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Effort
from pellucid.core.scale.row_blocks import is_in_blocks
from pellucid.core.threads import own_threads
from pellucid.core.types import Array, Data, RandomState, SparseOrDense
from pellucid.decomposition.alternating.alternating_solvers import alternating_factors, entries_of, observed_matrix
from pellucid.decomposition.momentum import product_entries

RESIDUAL = 1e-7
"""The least residual that is asked for: differences of objectives show the root of their rounding."""

NOTHING_KNOWN = "X must have an entry that is known, but it contains none. NaN means that it is not known."


class AlternatingLeastSquares(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CertifiedEstimator):
    r"""Factors of a matrix of which some entries are known, such as ratings of things by people.

    .. math:: \min_{Z, B}\ \tfrac12\sum_{(i,j)\ \text{known}} (x_{ij} - z_i'b_j)^2 + \tfrac{\alpha}2\|Z\|_F^2
              + \tfrac{\beta}2\|B\|_F^2

    Known are the stored entries of a sparse ``X``, zeros among them, or those of a dense one that are not NaN. The best
    rows for given components, and the best components for given rows, are ridge regressions. The answer is a local
    minimum; take the mean away before, if ratings have one.

    Parameters
    ----------
    n_components : int, default=2
        Columns of :math:`Z`.
    alpha : float, default=0.1
        :math:`\alpha`, the penalty of the rows, at least 0.
    alpha_components : float or None, default=None
        :math:`\beta`, the penalty of the components; None is ``alpha``.
    max_iter : int, default=200
        Most rounds.
    tol : float, default=1e-4
        Root of what one more step may gain, in parts of half the squares of the data.
    random_state : int, RandomState instance or None, default=None
        Seed of the components to begin with.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        :math:`B`: of all that are as good those at right angles, the longest first, its largest entry above 0.
    weights_ : ndarray of shape (n_samples, n_components)
        :math:`Z`, the best for these components: what ``transform`` says of the training rows. Not there after a fit to
        rows in blocks.
    objective_ : float
        What is minimized.
    n_iter_ : int
        Rounds done.
    certificate_, trace_ : Certificate, Trace
        Equations of the rows, and what one more step would gain; the objective along the way.

    Examples
    --------
    The second row is twice the first, as far as it is known.

    >>> nan = float("nan")
    >>> X = [[1.0, 2.0, 3.0], [2.0, nan, 6.0], [1.0, 2.0, nan]]
    >>> model = AlternatingLeastSquares(1, alpha=1e-6, random_state=0).fit(X)
    >>> model.predict_pairs([1, 2], [1, 2]).round(2)
    array([4., 3.])
    """

    components_: Array
    weights_: Array
    objective_: float
    n_iter_: int

    def __init__(
        self,
        n_components: int = 2,
        *,
        alpha: float = 0.1,
        alpha_components: float | None = None,
        max_iter: int = 200,
        tol: float = 1e-4,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.alpha_components = alpha_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @fit_method
    def fit(self, X: Data, y: Data = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features), dense with NaN or sparse."""
        data = self._check(X)
        _check_known(data.X)
        watch = self._watch(X, None, attributes=lambda B: {"components_": B}, max_iter=self.max_iter)
        entries = entries_of(data.X)
        start = check_random_state(self.random_state).standard_normal((data.X.shape[1], self.n_components))
        start *= np.sqrt(_typical_size(data.X))
        effort = Effort(max(float(self.tol), RESIDUAL), self.max_iter, watch)
        found = alternating_factors(entries, start, penalties_of(self), effort, data.X.dtype.type)
        attributes: dict[str, Any] = {
            "components_": np.ascontiguousarray(found.attributes["components_"], dtype=data.X.dtype),
            "weights_": found.attributes["weights_"].astype(data.X.dtype),
            "n_iter_": found.attributes["n_iter_"],
        }
        attributes["objective_"] = _objective(data.X, attributes, penalties_of(self))
        return self._adopt(replace(found, attributes=attributes), data)

    def fit_transform(self, X: Data, y: Data = None) -> Array:
        """Fit, and return :math:`Z`."""
        return self.fit(X).transform(X) if is_in_blocks(X) else self.fit(X).weights_

    def transform(self, X: Data) -> Array:
        """Return the best factor of each row for the components, of shape (n_samples, n_components).

        A row of which nothing is known is 0.
        """
        check_is_fitted(self)
        X = card_of(type(self)).rules_for(self).check_rows(self, X)
        with own_threads():
            weights, _ = entries_of(X).fit_rows(self.components_.T.astype(np.float64), float(self.alpha))
        return weights.astype(X.dtype)

    def inverse_transform(self, X: Data) -> Array:
        """Return :math:`ZB` for ``X`` of shape (n_samples, n_components), which is :math:`Z`."""
        check_is_fitted(self)
        return np.asarray(X) @ self.components_

    def predict_pairs(self, rows: Data, columns: Data) -> Array:
        """Return :math:`z_i'b_j` for training rows and columns given by their numbers, known or not."""
        check_is_fitted(self)
        if not hasattr(self, "weights_"):
            raise ValueError("X must have been in memory to ask for pairs, got rows in blocks. Take transform(rows).")
        rows, columns = np.asarray(rows), np.asarray(columns)
        for name, places, size in (("rows", rows, len(self.weights_)), ("columns", columns, self.components_.shape[1])):
            if places.dtype.kind not in "iu" or (places.size and not 0 <= places.min() <= places.max() < size):
                raise ValueError(f"{name} must be whole numbers from 0 to {size - 1}, got {places.tolist()}.")
        return np.einsum("...t,...t->...", self.weights_[rows], self.components_.T[columns])

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _check_known(X: SparseOrDense) -> None:
    values = X.data if sparse.issparse(X) else X
    if sparse.issparse(X) and np.isnan(np.sum(values)):
        raise ValueError("X must leave out what is not known if it is sparse, but it contains NaN.")
    if not values.size or np.all(np.isnan(values)):
        raise ValueError(NOTHING_KNOWN)


def penalties_of(parameters: Any) -> tuple[float, float]:
    """Return the penalties of the rows and of the components."""
    alpha = float(parameters.alpha)
    return alpha, alpha if parameters.alpha_components is None else float(parameters.alpha_components)


def _typical_size(X: SparseOrDense) -> float:
    """Return the root of the mean square of the known entries: a factor of its root suits any units."""
    values = X.data if sparse.issparse(X) else X[~np.isnan(X)]
    largest = float(np.abs(values).max())
    return largest * float(np.sqrt(np.mean(np.square(values / largest)))) if largest > 0.0 else 1.0


def _objective(X: SparseOrDense, attributes: dict[str, Any], alphas: tuple[float, float]) -> float:
    """Return the objective of factors as they are stored."""
    Z, B = (attributes[name].astype(np.float64) for name in ("weights_", "components_"))
    known = observed_matrix(X)
    rest = product_entries(known, Z, B) - known.data
    return 0.5 * float(rest @ rest + alphas[0] * np.vdot(Z, Z) + alphas[1] * np.vdot(B, B))
