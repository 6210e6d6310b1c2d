"""RankingSVM: a score that puts rows in the right order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Effort, Fit
from pellucid.core.types import Array, Data
from pellucid.proofs.training_data import TrainingData
from pellucid.ranking.pair_sums import ListablePairs, RankedPairs, query_numbers, ranking_error
from pellucid.ranking.ranking_problem import RankingProblem
from pellucid.solvers.newton import smoothed_newton


class RankingSVM(CertifiedEstimator):
    r"""Linear ranking support vector machine: of two rows of a query, the better one should score higher by 1.

    .. math:: \min_w\ \tfrac12\|w\|_2^2 + C\sum_{y_i > y_j} s_i s_j\,\ell(w'x_i - w'x_j),\qquad
       \ell(m) = \max(0, 1 - m)

    The sum, which is not a mean, runs over all pairs of rows of the same query. It is never written out: a fit takes
    :math:`O(n\log n)` per sum, not :math:`O(n^2)`.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a pair that is not apart by 1, above 0.
    loss : {'hinge', 'squared_hinge'}, default='hinge'
        Whether :math:`\max(0, 1 - m)` is squared.
    tol : float, default=1e-6
        Duality gap to reach, as a part of the objective.
    max_iter : int, default=1000
        Most Newton steps.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The weights :math:`w`.
    smoothed_coef_, smoothing_ : ndarray of shape (n_features,), float
        Only for the hinge: the minimum when its kink is rounded over the width :math:`\delta`, and that width. They
        tell the dual point that proves ``coef_``.
    qid_ : ndarray of shape (n_samples,)
        The query of each training row, numbered from 0.
    n_iter_ : int
        Newton steps done.
    certificate_, trace_ : Certificate, Trace
        The duality gap; objective and gap along the fit.

    Examples
    --------
    Three rows in order, one apart: every pair is in order by 1 for w = 1.

    >>> model = RankingSVM(C=10.0).fit([[0.0], [1.0], [2.0]], [1, 2, 3])
    >>> model.coef_.round(4), model.score([[5.0], [4.0]], [1, 0])
    (array([1.]), 1.0)
    """

    coef_: Array
    smoothed_coef_: Array
    smoothing_: float
    qid_: Array
    n_iter_: int

    def __init__(self, C: float = 1.0, *, loss: str = "hinge", tol: float = 1e-6, max_iter: int = 1000) -> None:
        self.C = C
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None, qid: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and the relevance ``y``: of the same ``qid``, more is better.

        Without ``qid`` all rows are compared with each other. A row of weight k counts as k rows.
        """
        data = self._check(X, y, sample_weight)
        query = query_numbers(qid, data.n_given)
        data = replace(data, given=(*data.given, query))
        watch = self._watch(X, y, attributes=lambda w: {"coef_": w.copy()})
        problem = _problem(data, query if data.kept is None else query[data.kept], self.C)
        effort = Effort(self.tol, self.max_iter, watch)
        found = smoothed_newton(problem, effort, smoothing=1.0 if self.loss == "hinge" else 0.0)
        attributes = {"coef_": found.w, "qid_": query, "n_iter_": found.n_iter}
        if self.loss == "hinge":
            attributes |= {"smoothed_coef_": found.smoothed, "smoothing_": found.smoothing}
        return self._adopt(Fit(attributes, found.trace), data)

    def predict(self, X: Data) -> Array:
        """Return the scores :math:`w'x`, of shape (n_samples,): in the order of preference within a query."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return np.asarray(safe_sparse_dot(X, self.coef_, dense_output=True))

    def score(self, X: Data, y: Data, sample_weight: Data | None = None, qid: Data | None = None) -> float:
        """Return the share of pairs in the right order, tied scores counted half: one less the ranking error."""
        return 1.0 - ranking_error(y, self.predict(X), qid=qid, sample_weight=sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def _problem(data: TrainingData, query: Array, C: float) -> RankingProblem:
    """Return the problem with the rows of a query side by side: they are read together."""
    order = np.argsort(query, kind="stable")
    numbers = query_numbers(query[order], len(order))
    X = data.X[order] if sparse.issparse(data.X) else _centered(data.X[order], numbers)
    y = np.asarray(data.y, dtype=np.float64)[order]
    return RankingProblem(X, ListablePairs(RankedPairs(y, numbers, data.weights[order])), C)


def _centered(X: Array, query: Array) -> Array:
    """Return the rows less the mean of their query: only differences matter, and large offsets would drown them."""
    indicator = sparse.csr_array((np.ones(len(query)), (query, np.arange(len(query)))))
    return np.asarray(X - ((indicator @ X) / np.bincount(query)[:, None])[query])
