"""enet_path and lasso_path: the solutions along a grid of penalties, and their errors on held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, check_consistent_length, check_random_state

from pellucid.core.checks import check_between, check_nonnegative, check_one_of, check_positive, check_whole
from pellucid.core.input_rules import ANY_SPARSE, FLOATS, relative_weights
from pellucid.core.threads import own_threads, run_blocks, thread_count
from pellucid.core.types import Array, Data, RandomState, SparseOrDense
from pellucid.core.watching import Watch, ignore
from pellucid.linear_model.sparse_regression.elastic_net_fit_solvers import PenaltyPath, elastic_net_path, given_gram
from pellucid.linear_model.sparse_regression.elastic_net_solvers import PassBudget
from pellucid.linear_model.sparse_regression.elastic_net_subproblem import SMALLEST_ALPHA, ElasticNetPenalty, gap_bound
from pellucid.linear_model.sparse_regression.working_gram import WorkingGram
from pellucid.solvers.design import Design, make_design


@own_threads()
def enet_path(
    X: Data,
    y: Data,
    *,
    l1_ratio: float = 0.5,
    eps: float = 1e-3,
    alphas: Any = 100,
    precompute: Any = "auto",
    Xy: Data | None = None,  # noqa: ARG001  (scikit-learn's signature)
    copy_X: bool = True,  # noqa: ARG001  (scikit-learn's signature)
    coef_init: Data | None = None,
    verbose: Any = False,  # noqa: ARG001  (scikit-learn's signature)
    return_n_iter: bool = False,
    positive: bool = False,
    check_input: bool = True,
    tol: float = 1e-4,
    max_iter: int = 1000,
    selection: str = "cyclic",
    random_state: RandomState = None,
) -> tuple[Any, ...]:
    r"""Return the elastic net solutions for a falling sequence of penalties, without intercept.

    .. math:: \min_w\ \frac{1}{2n}\|y - Xw\|_2^2 + \alpha\rho\|w\|_1 + \frac{\alpha(1-\rho)}{2}\|w\|_2^2

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Features. Center them and the target for a model with intercept.
    y : array-like of shape (n_samples,)
        Target.
    l1_ratio : float, default=0.5
        :math:`\rho`, between 0 (ridge) and 1 (lasso).
    eps : float, default=1e-3
        Smallest over largest value of an automatic grid.
    alphas : int or array-like, default=100
        The number of values of an automatic grid, or the values.
    precompute : 'auto', bool or array-like of shape (n_features, n_features), default='auto'
        The Gram matrix of ``X`` if you have it; 'auto' and the booleans change nothing.
    Xy : array-like, default=None
        Nothing changes: correlations are always computed from ``X``.
    copy_X : bool, default=True
        Nothing changes: ``X`` is never changed.
    coef_init : array-like of shape (n_features,), default=None
        Where to start.
    verbose : bool, default=False
        Nothing changes: nothing is printed.
    return_n_iter : bool, default=False
        Whether to return the passes of coordinate descent as well.
    positive : bool, default=False
        Whether all coefficients must be at least 0.
    check_input : bool, default=True
        Whether to check ``X`` and ``y``; if not, they must be float arrays.
    tol : float, default=1e-4
        Duality gap to reach, as a fraction of the variance of ``y``.
    max_iter : int, default=1000
        Most passes over the columns for a value.
    selection : {'cyclic', 'random'}, default='cyclic'
        The order of the columns in a pass.
    random_state : int, RandomState or None, default=None
        Draws the order for ``selection='random'``.

    Returns
    -------
    alphas : ndarray of shape (n_alphas,)
        The penalties, falling.
    coefs : ndarray of shape (n_features, n_alphas)
        The solutions.
    dual_gaps : ndarray of shape (n_alphas,)
        How far, at most, each objective is above its minimum.
    n_iters : list of int
        Passes of coordinate descent, if ``return_n_iter``.

    Examples
    --------
    >>> alphas, coefs, gaps = enet_path([[1.0], [-1.0]], [2.0, -2.0], l1_ratio=1.0, alphas=[1.0, 0.5])
    >>> coefs
    array([[1. , 1.5]])
    """
    check_between(0, 1, l1_ratio=l1_ratio)
    check_positive(eps=eps)
    check_nonnegative(tol=tol)
    check_whole(max_iter=max_iter)
    check_one_of(("cyclic", "random"), selection=selection)
    if check_input:
        X, y = _check_data(X, y)
    n = len(y)
    design = make_design(X, fit_intercept=False)
    b, _ = design.center(y)
    grid = alpha_grid(alphas, design.transposed_times(b), n, l1_ratio=l1_ratio, eps=eps, positive=positive)
    mean_sq = float(b @ b) / n
    budget = PassBudget(
        goal=n * gap_bound(tol, mean_sq, mean_sq),
        max_iter=max_iter,
        rng=check_random_state(random_state) if selection == "random" else None,
        scale=n,
    )
    penalties = [ElasticNetPenalty.of(alpha, l1_ratio, n, positive=positive) for alpha in grid]
    path = elastic_net_path(WorkingGram(design, given_gram(precompute, design)), b, penalties, budget, coef_init)
    answer = (grid, path.coefs.astype(X.dtype, copy=False), path.gaps / n)
    return (*answer, path.n_iters) if return_n_iter else answer


@own_threads()
def lasso_path(
    X: Data,
    y: Data,
    *,
    eps: float = 1e-3,
    alphas: Any = 100,
    precompute: Any = "auto",
    Xy: Data | None = None,
    copy_X: bool = True,
    coef_init: Data | None = None,
    verbose: Any = False,
    return_n_iter: bool = False,
    positive: bool = False,
    **params: Any,
) -> tuple[Any, ...]:
    r"""Return the lasso solutions for a falling sequence of penalties, without intercept.

    .. math:: \min_w\ \frac{1}{2n}\|y - Xw\|_2^2 + \alpha\|w\|_1

    The answer is that of :func:`enet_path` with ``l1_ratio=1``.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The features, centered if the model should have an intercept.
    y : array-like of shape (n_samples,)
        The target, centered likewise.
    eps : float, default=1e-3
        Last penalty of an automatic grid, in parts of the first.
    alphas : int or array-like, default=100
        The penalties, or how many an automatic grid should have.
    precompute : 'auto', bool or array-like of shape (n_features, n_features), default='auto'
        The products of the columns, if they are known already; the other values change nothing.
    Xy : array-like, default=None
        Nothing changes: products with the target are always computed.
    copy_X : bool, default=True
        Nothing changes: ``X`` stays as it is.
    coef_init : array-like of shape (n_features,), default=None
        Coefficients to start from; None starts at 0.
    verbose : bool, default=False
        Nothing changes: nothing is printed.
    return_n_iter : bool, default=False
        Whether to return the passes over the columns as well, one number for each penalty.
    positive : bool, default=False
        Whether no coefficient may be below 0.
    **params
        ``check_input``, ``tol``, ``max_iter``, ``selection`` and ``random_state`` of :func:`enet_path`.

    Examples
    --------
    >>> lasso_path([[1.0], [-1.0]], [2.0, -2.0], alphas=[1.0, 0.5])[1]
    array([[1. , 1.5]])
    """
    return enet_path(
        X,
        y,
        l1_ratio=1.0,
        eps=eps,
        alphas=alphas,
        precompute=precompute,
        Xy=Xy,
        copy_X=copy_X,
        coef_init=coef_init,
        verbose=verbose,
        return_n_iter=return_n_iter,
        positive=positive,
        **params,
    )


def alpha_grid(
    alphas: Any, correlations: Array, total_weight: float, *, l1_ratio: float, eps: float, positive: bool
) -> Array:
    """Return the falling grid: given values sorted, or a geometric one that starts where all coefficients become 0."""
    if not isinstance(alphas, Integral):
        given = np.sort(np.atleast_1d(np.asarray(alphas, dtype=np.float64)))[::-1]
        for i, alpha in enumerate(given):
            check_nonnegative("", **{f"alphas[{i}]": float(alpha)})
        return given
    check_whole(alphas=alphas)
    check_positive(
        l1_ratio=l1_ratio, hint="Pass the values of alphas: with l1_ratio=0 no alpha sets all coefficients to 0."
    )
    steepest = float((correlations if positive else np.abs(correlations)).max(initial=0.0))
    largest = steepest / (total_weight * l1_ratio)
    if largest <= SMALLEST_ALPHA:
        return np.full(alphas, SMALLEST_ALPHA)
    return np.geomspace(largest, largest * eps, num=alphas)


def _check_data(X: Data, y: Data) -> tuple[Array, Array]:
    X = check_array(X, accept_sparse=ANY_SPARSE, dtype=FLOATS)
    y = check_array(y, dtype=X.dtype, ensure_2d=False)
    check_consistent_length(X, y)
    if y.ndim != 1:
        raise ValueError(f"y must be of shape (n_samples,), got {y.shape}. Compute one path per target.")
    return X, y


@dataclass(frozen=True)
class PathSettings:
    """What the paths of all folds share."""

    l1_ratios: Sequence[float]
    grids: Sequence[Array]
    fit_intercept: bool
    positive: bool
    tol: float
    max_iter: int
    seed: object = None
    """Seed of the order of the coordinates, or None for cyclic order."""


@dataclass(frozen=True)
class FoldErrors:
    """Mean squared errors of shape (n_l1_ratios, n_alphas, n_folds), and the largest gap over what it may be."""

    mse: Array
    worst_gap: float


def cross_validate_paths(
    X: SparseOrDense,
    y: Array,
    weight: Array | None,
    folds: list[tuple[Array, Array]],
    settings: PathSettings,
    watch: Watch = ignore,
) -> FoldErrors:
    """Fit all paths on each training fold and measure them on the rest; as many at a time as there are threads."""
    is_sparse = sparse.issparse(X)
    rows_of = X.tocsr() if is_sparse else X
    answers = []
    together = thread_count()
    for start in range(0, len(folds), together):
        some = folds[start : start + together]
        answers += run_blocks(lambda fold: _fold_errors(rows_of, y, weight, *fold, settings), some)
        for _ in some:
            watch()
    return FoldErrors(np.stack([mse for mse, _ in answers], axis=-1), max(gap for _, gap in answers))


def _fold_errors(
    X: Array, y: Array, weight: Array | None, train: Array, test: Array, settings: PathSettings
) -> tuple[Array, float]:
    train_weight = None if weight is None else relative_weights(weight[train])
    design = make_design(X[train], fit_intercept=settings.fit_intercept, sample_weight=train_weight)
    b, y_mean = design.center(y[train])
    gram = WorkingGram(design)
    n, mean_sq = len(train), float(b @ b) / len(train)
    bound = gap_bound(settings.tol, mean_sq, mean_sq + float(y_mean) ** 2)
    rng = None if settings.seed is None else check_random_state(settings.seed)
    budget = PassBudget(goal=n * bound, max_iter=settings.max_iter, rng=rng, scale=n)
    mse, worst = [], 0.0
    for l1_ratio, grid in zip(settings.l1_ratios, settings.grids, strict=True):
        penalties = [ElasticNetPenalty.of(alpha, l1_ratio, n, positive=settings.positive) for alpha in grid]
        path = elastic_net_path(gram, b, penalties, budget)
        worst = max(worst, float(path.gaps.max()) / (n * bound) if bound > 0.0 else 0.0)
        mse.append(
            _held_out_errors(path, design, float(y_mean), X[test], y[test], None if weight is None else weight[test])
        )
    return np.stack(mse), worst


def _held_out_errors(
    path: PenaltyPath, design: Design, y_mean: float, X: Array, y: Array, weight: Array | None
) -> Array:
    used = np.flatnonzero(path.coefs.any(axis=1))
    coefs = path.coefs[used]
    intercepts = y_mean - design.mean[used] @ coefs
    errors = X[:, used] @ coefs + intercepts - y[:, None]
    return np.average(errors**2, weights=weight, axis=0)
