"""SVD: singular values and vectors of a matrix, its approximations of low rank, and what these cost and lose."""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.estimator import fit_method
from pellucid.core.random_state import fixed_seed
from pellucid.core.types import Array, Data, RandomState
from pellucid.decomposition.projection import Projecting
from pellucid.decomposition.svd.svd_solvers import decompose


class SVD(Projecting):
    r"""The singular value decomposition of a matrix, and its best approximations of low rank.

    .. math:: A = U\Sigma V',\qquad A_q = \sum_{j \le q} \sigma_ju_jv_j',\qquad
       \min_{\mathrm{rank}\,B \le q}\|A - B\|_2 = \sigma_{q+1},\quad
       \min_{\mathrm{rank}\,B \le q}\|A - B\|_F^2 = \sum_{j > q}\sigma_j^2

    No matrix of rank q is nearer to A than :math:`A_q` (Eckart and Young).

    Parameters
    ----------
    kind : {'compact', 'full', 'truncated', 'randomized'}, default='compact'
        'full' completes U and V to square matrices; 'compact' has as many vectors as the shorter side; 'truncated' and
        'randomized' find ``n_components`` of them without the others, from blocks of vectors multiplied until the
        residuals are small: they differ in their seed only.
    n_components : int or None, default=None
        Vectors to find; None is all of them, or 2 if truncated.
    random_state : int, RandomState instance or None, default=None
        Seed of the first block of 'randomized'; None is 0.

    Attributes
    ----------
    U_ : ndarray of shape (n_samples, n_left)
        Left singular vectors, as columns.
    singular_values_ : ndarray of shape (n_components,)
        :math:`\sigma_j`, falling.
    components_ : ndarray of shape (n_right, n_features)
        :math:`V'`, the first of the largest entries of each row above 0.
    energy_ : float
        :math:`\|A\|_F^2`, the sum of all squared singular values.
    certificate_, trace_ : Certificate, Trace
        Residuals and right angles of both sides, and a bound on singular values that were missed; the sum captured.

    Examples
    --------
    >>> model = SVD().fit([[1, 2, 1], [2, 3, 1]])
    >>> (model.singular_values_**2).round(6)  # 10 + sqrt 97, 10 - sqrt 97
    array([19.848858,  0.151142])
    >>> round(model.approximation_error(1), 6)
    0.38877
    """

    U_: Array
    singular_values_: Array
    energy_: float

    def __init__(
        self, kind: str = "compact", n_components: int | None = None, *, random_state: RandomState = None
    ) -> None:
        self.kind = kind
        self.n_components = n_components
        self.random_state = random_state

    @fit_method
    def fit(self, X: Data, y: Data = None) -> Self:
        """Fit to the matrix ``X`` of shape (n_samples, n_features)."""
        data = self._check(X)
        return self._adopt(decompose(data, self, fixed_seed(self.random_state)), data)

    def approximate(self, rank: int) -> Array:
        """Return :math:`A_q`, the nearest matrix of this rank."""
        q = self._check_rank(rank)
        return np.asarray((self.U_[:, :q] * self.singular_values_[:q]) @ self.components_[:q])

    def approximation_error(self, rank: int, norm: str = "fro") -> float:
        """Return the distance of :math:`A_q` from the matrix, which is the least there is (Eckart and Young).

        ``norm`` is 'fro', the root of the sum of squares, or 'spectral', the largest singular value of the difference.
        """
        q = self._check_rank(rank)
        values = self.singular_values_.astype(np.float64)
        if norm == "fro":
            left = self.energy_ - float(values[:q] @ values[:q])
            rest = values[q:]
            is_whole = len(values) == min(len(self.U_), self.components_.shape[1])
            return float(np.sqrt(rest @ rest if is_whole else max(left, 0.0)))
        if norm != "spectral":
            raise ValueError(f"norm must be 'fro' or 'spectral', got {norm!r}.")
        if q == min(len(self.U_), self.components_.shape[1]):
            return 0.0
        if q == len(values):
            raise ValueError(
                f"rank must be below {len(values)}, the number of singular values found, for a spectral error, got "
                f"{rank}. Fit more components."
            )
        return float(values[q])

    def stored_numbers(self, rank: int) -> int:
        """Return how many numbers :math:`A_q` is stored in: q left vectors, q right ones and q values."""
        return self._check_rank(rank) * (len(self.U_) + self.components_.shape[1] + 1)

    def compression_ratio(self, rank: int) -> float:
        """Return how many times fewer numbers :math:`A_q` is stored in than the matrix."""
        return len(self.U_) * self.components_.shape[1] / self.stored_numbers(rank) if rank else float("inf")

    def _check_rank(self, rank: int) -> int:
        check_is_fitted(self)
        most = len(self.singular_values_)
        if not (isinstance(rank, (int, np.integer)) and 0 <= rank <= most):
            raise ValueError(f"rank must be a whole number between 0 and {most}, the vectors found, got {rank!r}.")
        return int(rank)
