"""Lars and LassoLars: least angle regression, and the path of the lasso."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_array, check_consistent_length, check_random_state

from pellucid.core.checks import check_nonnegative, check_one_of, check_whole
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Fit
from pellucid.core.input_rules import FLOATS
from pellucid.core.threads import own_threads
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data, RandomState
from pellucid.linear_model.least_angle.lars_solvers import LarsPath, LarsRules, lars
from pellucid.linear_model.linear_predictor import LinearPredictor, one_target, stored_intercept
from pellucid.linear_model.sparse_regression.elastic_net_fit_solvers import given_gram
from pellucid.solvers.design import Design, make_design


class Lars(LinearPredictor, RegressorMixin, CertifiedEstimator):
    r"""Linear regression that takes in one feature after the other.

    All features taken in are equally correlated with the residual; the next joins when its correlation is as large.
    Several targets are fitted one by one.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to learn an intercept; if not, it is 0.
    verbose : bool or int, default=False
        Nothing is printed, whatever it is: see ``trace_``.
    precompute : 'auto', bool or array-like of shape (n_features, n_features), default='auto'
        The Gram matrix of the centered ``X``, or whether to compute it; 'auto' does if there are more samples than
        features.
    n_nonzero_coefs : int, default=500
        Most features to take in.
    eps, copy_X
        Nothing changes: columns that others explain do not join, and ``X`` is never changed.
    fit_path : bool, default=True
        Whether to keep the whole path.
    jitter : float, default=None
        Upper end of uniform noise added to ``y``, which makes ties unlikely.
    random_state : int, RandomState instance or None, default=None
        Seed of the noise.

    Attributes
    ----------
    coef_, intercept_
        The model at the end of the path.
    alphas_ : ndarray of shape (n_steps + 1,) or list of such arrays
        Largest absolute correlation over n_samples at each breakpoint; the last alone without ``fit_path``.
    active_ : list of int or list of such lists
        Features taken in, in order.
    coef_path_ : ndarray of shape (n_features, n_steps + 1) or list of such arrays
        Coefficients at each breakpoint.
    n_iter_ : int or list of int
        Number of steps.
    certificate_ : Certificate
        Equal correlations at every breakpoint.
    trace_ : Trace
        Half the mean squared residual, ``alpha`` and the number of active features at each breakpoint.

    Examples
    --------
    >>> Lars(n_nonzero_coefs=1).fit([[-1.0, 1.0], [0.0, 0.0], [1.0, 1.0]], [-1.1, 0.0, -1.1]).coef_
    array([ 0. , -1.1])
    """

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        verbose: Any = False,
        precompute: Any = "auto",
        n_nonzero_coefs: int = 500,
        eps: float = np.finfo(float).eps,
        copy_X: bool = True,
        fit_path: bool = True,
        jitter: float | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.verbose = verbose
        self.precompute = precompute
        self.n_nonzero_coefs = n_nonzero_coefs
        self.eps = eps
        self.copy_X = copy_X
        self.fit_path = fit_path
        self.jitter = jitter
        self.random_state = random_state

    @fit_method
    def fit(self, X: Data, y: Data, Xy: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and ``y`` of shape (n_samples,) or (n_samples, n_targets).

        ``Xy`` changes nothing: correlations are always computed from the data.
        """
        data = self._check(X, y)
        X, y = data.X, data.y
        design = make_design(X, fit_intercept=self.fit_intercept, sample_weight=data.weight)
        targets, y_means = design.center(self._with_noise(y))
        targets, y_means = targets.reshape(len(y), -1), np.atleast_1d(y_means)
        gram = gram_or_none(self.precompute, design)
        rules = self._rules(float(data.weights.sum()))
        watch, lines = self._watch_line(design, X, y, rules.max_iter), np.zeros((X.shape[1], targets.shape[1]))
        paths = [lars(design, b, rules, gram, one_target(watch, lines, k)) for k, b in enumerate(targets.T)]
        attributes = self._attributes(paths, rules.n_rows, design, y_means, data.dtype, one_dimensional=y.ndim == 1)
        trace = Trace.joined([path.trace for path in paths])
        return self._adopt(Fit(attributes, trace), data)

    def _rules(self, n_rows: float) -> LarsRules:
        return LarsRules(n_rows, max_iter=self.n_nonzero_coefs)

    def _with_noise(self, y: Array) -> Array:
        if self.jitter is None:
            return y
        noise = check_random_state(self.random_state).uniform(high=self.jitter, size=len(y))
        return (y.T + noise).T

    def _attributes(
        self,
        paths: list[LarsPath],
        n_rows: float,
        design: Design,
        y_means: Array,
        dtype: np.dtype,
        *,
        one_dimensional: bool,
    ) -> dict[str, Any]:
        one = len(paths) == 1
        coefs = [path.coefs.astype(dtype) for path in paths]
        alphas = [(path.levels / n_rows).astype(dtype) for path in paths]
        ends = np.array([path[:, -1] for path in coefs])
        intercepts = (y_means - ends.astype(np.float64) @ design.mean).astype(dtype)
        attributes = {
            "alphas_": _only(alphas if self.fit_path else [values[-1:] for values in alphas]),
            "n_iter_": _only([path.n_iter for path in paths]),
            "coef_": ends[0] if one else ends,
            "intercept_": stored_intercept(
                intercepts, fit_intercept=self.fit_intercept, one_dimensional=one_dimensional
            ),
        }
        if self.fit_path:
            attributes |= {"active_": _only([path.active for path in paths]), "coef_path_": _only(coefs)}
        return attributes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.target_tags.multi_output = True
        return tags


def _only(values: list[Any]) -> Any:
    """Return the value of a single target, or the list of several."""
    return values[0] if len(values) == 1 else values


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
        Nothing changes: correlations are always computed from the data, which are never changed.

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
    rules = LarsRules(len(y), lasso=method == "lasso", positive=positive, lowest=len(y) * alpha_min, max_iter=max_iter)
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


class LassoLars(Lars):
    r"""Lasso that follows its path from :math:`w = 0` down to ``alpha``, breakpoint by breakpoint.

    .. math:: \min_{w,\,b}\ \frac{1}{2n}\|y - Xw - b\|_2^2 + \alpha\|w\|_1

    Several targets are fitted one by one.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the penalty, at least 0; 0 gives least squares.
    fit_intercept : bool, default=True
        Whether to learn :math:`b`; if not, it is 0.
    verbose : bool or int, default=False
        Nothing is printed, whatever it is: see ``trace_``.
    precompute : 'auto', bool or array-like of shape (n_features, n_features), default='auto'
        The Gram matrix of the centered ``X``, or whether to compute it; 'auto' does if there are more samples than
        features.
    max_iter : int, default=500
        Most steps.
    eps, copy_X
        Nothing changes: columns that others explain do not join, and ``X`` is never changed.
    fit_path : bool, default=True
        Whether to keep the whole path.
    positive : bool, default=False
        Whether all coefficients must be at least 0.
    jitter : float, default=None
        Upper end of uniform noise added to ``y``, which makes ties unlikely.
    random_state : int, RandomState instance or None, default=None
        Seed of the noise.

    Attributes
    ----------
    coef_, intercept_
        The model at ``alpha``, the end of the path.
    alphas_ : ndarray of shape (n_steps + 1,) or list of such arrays
        Largest absolute correlation over n_samples at each breakpoint; the last alone without ``fit_path``.
    active_ : list of int or list of such lists
        Features taken in, in order.
    coef_path_ : ndarray of shape (n_features, n_steps + 1) or list of such arrays
        Coefficients at each breakpoint.
    n_iter_ : int or list of int
        Number of steps.
    trace_ : Trace
        Half the mean squared residual, ``alpha`` and the number of active features at each breakpoint.
    certificate_ : Certificate
        Equal correlations at every breakpoint, with the signs of the coefficients: the optimality conditions.

    Examples
    --------
    >>> LassoLars(alpha=0.5).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]).coef_
    array([0.25])
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        verbose: Any = False,
        precompute: Any = "auto",
        max_iter: int = 500,
        eps: float = np.finfo(float).eps,
        copy_X: bool = True,
        fit_path: bool = True,
        positive: bool = False,
        jitter: float | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.verbose = verbose
        self.precompute = precompute
        self.max_iter = max_iter
        self.eps = eps
        self.copy_X = copy_X
        self.fit_path = fit_path
        self.positive = positive
        self.jitter = jitter
        self.random_state = random_state

    def _rules(self, n_rows: float) -> LarsRules:
        lowest = n_rows * self.alpha
        return LarsRules(n_rows, lasso=True, positive=self.positive, lowest=lowest, max_iter=self.max_iter)
