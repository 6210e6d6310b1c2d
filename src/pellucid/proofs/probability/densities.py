"""Densities again: the log density of each kind from its parameters alone, and which kind a column asks for.

A density of ours is known by the name of its class and by its fields, so that nothing of the fit is imported; a user's
own density can only be asked itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import isclass
from math import log, pi
from typing import Any

import numpy as np
from scipy.special import betaln, gammaln, xlog1py, xlogy

from pellucid.proofs.arrays import Array, column_values, dense

CLASS_OF = {
    "bernoulli": "Bernoulli",
    "binomial": "Binomial",
    "categorical": "Categorical",
    "gaussian": "Gaussian",
    "logistic": "Logistic",
    "multinomial": "Multinomial",
    "multivariate_gaussian": "MultivariateGaussian",
}
OF_ROWS = ("Multinomial", "MultivariateGaussian")
"""Kinds that take whole rows; the others take a number, or a label."""
AUTO = "auto"
ROWS_AT_ONCE = 8192
SUM_ERROR = 1e-9
"""How far from 1 probabilities may add up."""
ASYMMETRY = 1e-10


def kind_of(density: Any) -> Any:
    """Return the name of the kind of a density, of its class or of its short name; of a user's own kind the class."""
    if isinstance(density, str):
        return CLASS_OF.get(density, density)
    kind = density if isclass(density) else type(density)
    is_ours = kind.__module__.startswith("pellucid.") and kind.__name__ in CLASS_OF.values()
    return kind.__name__ if is_ours else kind


def log_density(density: Any, values: Any) -> Array:
    """Return the log density of numbers, labels or rows; minus infinity for what cannot occur."""
    kind = kind_of(density)
    if not isinstance(kind, str):
        return np.asarray(density.log_prob(values), dtype=np.float64)
    if kind == "Categorical":
        return _log_categorical(density, values)
    x = dense(values).astype(np.float64)
    with np.errstate(all="ignore"):
        if kind == "MultivariateGaussian":
            return _log_gaussian_rows(density, x)
        if kind == "Multinomial":
            possible = (x >= 0).all(axis=1) & (x == np.round(x)).all(axis=1) & (x.sum(axis=1) == density.n_trials)
            logs = gammaln(density.n_trials + 1) + (xlogy(x, density.probabilities) - gammaln(x + 1)).sum(axis=1)
            return np.where(possible, logs, -np.inf)
        x = x.reshape(-1)
        if kind == "Gaussian":
            return np.asarray(-0.5 * (log(2 * pi) + log(density.variance) + (x - density.mean) ** 2 / density.variance))
        if kind == "Logistic":
            z = (x - density.location) / density.scale
            return np.asarray(-np.logaddexp(0.0, z) - np.logaddexp(0.0, -z) - log(density.scale))
        n = 1 if kind == "Bernoulli" else density.n_trials
        possible = (x >= 0) & (x <= n) & (x == np.round(x))
        logs = xlogy(x, density.p) + xlog1py(n - x, -density.p) - np.log1p(n) - betaln(n - x + 1, x + 1)
        return np.where(possible, logs, -np.inf)


def _log_categorical(density: Any, values: Any) -> Array:
    with np.errstate(divide="ignore"):
        logs = np.log(np.asarray(density.probabilities, dtype=np.float64)).tolist()
    of_label = dict(zip(np.asarray(density.categories).tolist(), logs, strict=True))
    return np.array([of_label.get(value, -np.inf) for value in np.asarray(values).reshape(-1).tolist()])


def _log_gaussian_rows(density: Any, x: Array) -> Array:
    """Return the log densities of rows, in units of the deviations, with the correlations solved for each of them."""
    covariance, d = np.asarray(density.covariance, dtype=np.float64), len(density.mean)
    covariance = covariance if covariance.ndim == 2 else np.diag(np.broadcast_to(covariance, d))
    deviation = np.sqrt(np.diagonal(covariance))
    correlation = covariance / np.outer(deviation, deviation)
    peak = -0.5 * (d * log(2 * pi) + np.linalg.slogdet(correlation)[1]) - np.log(deviation).sum()
    out = np.empty(len(x))
    for start in range(0, len(x), ROWS_AT_ONCE):
        z = ((x[start : start + ROWS_AT_ONCE] - density.mean) / deviation).T
        out[start : start + ROWS_AT_ONCE] = peak - 0.5 * (z * np.linalg.solve(correlation, z)).sum(axis=0)
    return out


def fault_of(density: Any) -> str:
    """Return why the parameters are not those of a density of their kind, or nothing; a user's own is not judged."""
    kind = kind_of(density)
    if not isinstance(kind, str):
        return ""
    if kind in ("Bernoulli", "Binomial"):
        whole = getattr(density, "n_trials", 1)
        return "" if 0 <= density.p <= 1 and whole >= 1 and whole == int(whole) else f"{kind} has no share p"
    if kind in ("Categorical", "Multinomial"):
        p = np.asarray(density.probabilities, dtype=np.float64)
        right = p.ndim == 1 and p.size and (p >= 0).all() and abs(p.sum() - 1) <= SUM_ERROR
        if kind == "Categorical":
            labels = np.asarray(density.categories).tolist()
            right = right and len(set(labels)) == len(labels) == len(p)
        return "" if right else f"the probabilities of {kind} are none"
    if kind == "Logistic":
        return "" if np.isfinite([density.location, density.scale]).all() and density.scale > 0 else "no scale"
    mean, spread = (
        np.atleast_1d(density.mean),
        np.asarray(density.covariance if hasattr(density, "covariance") else density.variance),
    )
    if not (np.isfinite(mean).all() and np.isfinite(spread).all()) or (spread.ndim and len(spread) != len(mean)):
        return f"{kind} is not finite"
    if spread.ndim < 2:
        return "" if (spread > 0).all() else f"{kind} has a variance of 0"
    deviation = np.sqrt(np.maximum(np.diagonal(spread), 0.0))
    if spread.shape != (len(mean), len(mean)) or not (deviation > 0).all():
        return f"{kind} has a variance of 0"
    correlation = spread / np.outer(deviation, deviation)
    is_symmetric = np.abs(correlation - correlation.T).max() <= ASYMMETRY
    return "" if is_symmetric and (np.linalg.eigvalsh(correlation) > 0).all() else "covariance is not positive definite"


def guessed_kind(values: Array) -> str:
    """Return the kind for a column that none is named for: texts, zeros and ones, or other numbers."""
    if values.dtype.kind == "U":
        return "Categorical"
    return "Bernoulli" if np.isin(values, (0.0, 1.0)).all() else "Gaussian"


def asked_kinds(wanted: Any, X: Array, names: Sequence[str] | None) -> list[Any]:
    """Return the kind that is asked for each column, None for one that is to be guessed.

    ``wanted`` is one kind for all columns, one for each, or a dict from some columns, by number or name, to kinds.
    """
    d = X.shape[1]
    if isinstance(wanted, Mapping):
        place = {name: j for j, name in enumerate(names or ())} | {j: j for j in range(d)}
        entries: list[Any] = [AUTO] * d
        for key, entry in wanted.items():
            entries[place[key]] = entry
    else:
        entries = [wanted] * d if isinstance(wanted, str | type) else list(wanted)
    return [None if isinstance(entry, str) and entry == AUTO else kind_of(entry) for entry in entries]


def wrong_kinds(found: Sequence[Any], asked: Sequence[Any], X: Array) -> int:
    """Return how many densities of columns are not of the kind that is asked for, or that suits the column.

    A data frame may have called a column categorical, which is no longer seen: one that was guessed may be that.
    """
    if len(found) != len(asked):
        return max(len(found), len(asked), 1)
    wrong = 0
    for j, (density, kind) in enumerate(zip(found, asked, strict=True)):
        may_be = (guessed_kind(column_values(X, j)), "Categorical") if kind is None else (kind,)
        wrong += kind_of(density) not in may_be
    return wrong
