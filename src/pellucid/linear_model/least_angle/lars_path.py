"""lars_path: the whole least angle or lasso path with its breakpoints."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array, check_consistent_length

from pellucid.core.checks import check_nonnegative, check_one_of, check_whole
from pellucid.core.input_rules import FLOATS
from pellucid.core.threads import own_threads
from pellucid.core.types import Array, Data
from pellucid.linear_model.least_angle.lars_solvers import LarsRules, lars
from pellucid.linear_model.sparse_regression.given_gram import given_gram
from pellucid.numerics.design import Design, make_design


@own_threads()
def lars_path(
    X: Data,
    y: Data,
    Xy: Data | None = None,  # noqa: ARG001  (scikit-learn's signature)
    *,
    Gram: Any = None,
    max_iter: int = 500,
    alpha_min: float = 0.0,
    method: str = "lar",
    copy_X: bool = True,  # noqa: ARG001  (scikit-learn's signature)
    eps: float = float(np.finfo(float).eps),  # noqa: ARG001  (scikit-learn's signature)
    copy_Gram: bool = True,  # noqa: ARG001  (scikit-learn's signature)
    verbose: Any = 0,  # noqa: ARG001  (scikit-learn's signature)
    return_path: bool = True,
    return_n_iter: bool = False,
    positive: bool = False,
) -> tuple[Any, ...]:
    r"""Return the least angle or lasso path, without intercept.

    The lasso path minimizes :math:`\frac{1}{2n}\|y - Xw\|_2^2 + \alpha\|w\|_1` for every :math:`\alpha`; it is linear
    between breakpoints.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features. Center them and the target for a model with intercept.
    y : array-like of shape (n_samples,)
        Target.
    Gram : None, 'auto', bool or ndarray of shape (n_features, n_features), default=None
        The Gram matrix of ``X``, or whether to compute it; 'auto' does if there are more samples than features.
    max_iter : int, default=500
        Most breakpoints after the first.
    alpha_min : float, default=0
        Where to stop.
    method : {'lar', 'lasso'}, default='lar'
        Whether a coefficient that reaches 0 leaves the active set, as the lasso demands.
    return_path : bool, default=True
        Whether to return all breakpoints, or the last alone.
    return_n_iter : bool, default=False
        Whether to return the number of steps as well.
    positive : bool, default=False
        Whether all coefficients must be at least 0; for the lasso only.
    Xy, copy_X, copy_Gram, eps, verbose
        Accepted for compatibility; correlations are always computed from the data, which are never changed.

    Returns
    -------
    alphas : ndarray of shape (n_steps + 1,)
        Largest absolute correlation over n_samples at each breakpoint, falling.
    active : list of int
        Columns active at the end.
    coefs : ndarray of shape (n_features, n_steps + 1)
        Coefficients at each breakpoint.
    n_iter : int
        Number of steps, if ``return_n_iter``.

    Examples
    --------
    >>> alphas, active, coefs = lars_path([[1.0], [-1.0]], [2.0, -2.0])
    >>> coefs
    array([[0., 2.]])
    """
    check_whole(low=0, max_iter=max_iter)
    check_nonnegative(alpha_min=alpha_min)
    check_one_of(("lar", "lasso"), method=method)
    check_one_of((True, False), positive=positive)
    if positive and method == "lar":
        raise ValueError("positive must be False for method='lar', got True. Use method='lasso'.")
    if X is None:
        raise ValueError(
            "X must be an array, got None. A Gram matrix alone does not suffice: correlations come from X."
        )
    X = check_array(X, dtype=FLOATS)
    y = check_array(y, dtype=X.dtype, ensure_2d=False)
    check_consistent_length(X, y)
    if y.ndim != 1:
        raise ValueError(f"y must be of shape (n_samples,), got {y.shape}. Compute one path per target.")
    design = make_design(X, fit_intercept=False)
    rules = LarsRules(lasso=method == "lasso", positive=positive, lowest=len(y) * alpha_min, max_iter=max_iter)
    path = lars(design, design.center(y)[0], rules, gram_or_none(False if Gram is None else Gram, design))
    alphas, coefs = (path.levels / len(y)).astype(X.dtype), path.coefs.astype(X.dtype)
    answer = (alphas, path.active, coefs) if return_path else (alphas[-1:], path.active, coefs[:, -1])
    return (*answer, path.n_iter) if return_n_iter else answer


def gram_or_none(precompute: Any, design: Design) -> Array | None:
    """Return the Gram matrix that is given or asked for; 'auto' asks when there are more samples than features."""
    given = given_gram(precompute, design)
    if given is not None:
        return given
    n, p = design.shape
    wanted = precompute is True or (isinstance(precompute, str) and precompute == "auto" and n > p)
    return design.gram() if wanted else None
