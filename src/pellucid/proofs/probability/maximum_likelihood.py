"""certify_fit: whether a density has the largest likelihood or posterior, from the data and its parameters alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.core.types import Data
from pellucid.probability.sample_data import SampleData, counted, refuse_nonfinite, scalars, vectors
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.probability.gaussian import prove_gaussian
from pellucid.proofs.probability.logistic import prove_logistic
from pellucid.proofs.probability.share import prove_shares


def certify_fit(density: Any, X: Data, sample_weight: Data | None = None, prior: Any = None) -> Certificate:
    """Return the evidence that ``density`` maximizes the weighted likelihood of ``X``, times the prior if there is one.

    The score, the gradient of the log likelihood, is computed anew and must vanish up to rounding; at a probability of
    0 it must point outward. No code of the fits is used.

    Parameters
    ----------
    density : Density
        A fitted density of this package; nothing is claimed about other classes.
    X, sample_weight, prior
        What it was fitted to.

    Examples
    --------
    >>> from pellucid.probability import Bernoulli
    >>> certify_fit(Bernoulli(0.75), [1, 1, 0, 1]).holds
    True
    >>> certify_fit(Bernoulli(0.7), [1, 1, 0, 1]).holds
    False
    """
    for kind in type(density).__mro__:
        if kind.__module__.startswith("pellucid.") and kind.__name__ in PROOFS:
            with np.errstate(all="ignore"):  # wrong parameters may overflow; their claims then read inf or nan and fail
                return PROOFS[kind.__name__](density, X, sample_weight, prior)
    return Certificate("none", reason=f"The score of {type(density).__name__} is not known here.")


def _bernoulli(density: Any, X: Data, sample_weight: Data | None, prior: Any) -> Certificate:
    data = _numbers(X, sample_weight)
    ones, zeros = data.values == 1, data.values == 0
    counts = np.array([data.sum(ones), data.sum(zeros)])
    return prove_shares((density.p, 1 - density.p), counts, _two(prior), float(data.sum(~(ones | zeros))))


def _binomial(density: Any, X: Data, sample_weight: Data | None, prior: Any) -> Certificate:
    data, n = _numbers(X, sample_weight), density.n_trials
    possible = (data.values >= 0) & (data.values <= n) & (data.values == np.round(data.values))
    counts = np.array([data.sum(np.where(possible, k, 0.0)) for k in (data.values, n - data.values)])
    return prove_shares((density.p, 1 - density.p), counts, _two(prior), float(data.sum(~possible)))


def _categorical(density: Any, X: Data, sample_weight: Data | None, prior: Any) -> Certificate:
    labels = np.asarray(X)
    data = counted(labels.reshape(len(labels)), sample_weight)
    hits = [data.values == label for label in density.categories]
    counts, known = np.array([data.sum(hit) for hit in hits]), np.any(hits, axis=0)
    return prove_shares(density.probabilities, counts, _several(prior), float(data.sum(~known)))


def _multinomial(density: Any, X: Data, sample_weight: Data | None, prior: Any) -> Certificate:
    data = counted(vectors(X, len(density.probabilities)), sample_weight)
    possible = (data.values >= 0).all(axis=1) & (data.values.sum(axis=1) == density.n_trials)
    counts = data.sum(data.values.astype(np.float64))
    return prove_shares(density.probabilities, counts, _several(prior), float(data.sum(~possible)))


def _gaussian(density: Any, X: Data, sample_weight: Data | None, prior: Any) -> Certificate:
    data = _numbers(X, sample_weight)
    column = SampleData(data.values[:, None], data.weight)
    return prove_gaussian(np.array([density.mean]), np.array([density.variance]), column, prior)


def _multivariate(density: Any, X: Data, sample_weight: Data | None, prior: Any) -> Certificate:
    data = counted(vectors(X, len(density.mean)), sample_weight)
    refuse_nonfinite(data.values)
    return prove_gaussian(density.mean, density.covariance, data, prior)


def _logistic(density: Any, X: Data, sample_weight: Data | None, prior: Any) -> Certificate:
    if prior is not None:
        raise TypeError(f"prior must be None for Logistic, which has no conjugate prior, got {type(prior).__name__}.")
    return prove_logistic(density.location, density.scale, _numbers(X, sample_weight))


PROOFS: dict[str, Callable[[Any, Data, Data | None, Any], Certificate]] = {
    "Bernoulli": _bernoulli,
    "Binomial": _binomial,
    "Categorical": _categorical,
    "Gaussian": _gaussian,
    "Logistic": _logistic,
    "Multinomial": _multinomial,
    "MultivariateGaussian": _multivariate,
}
"""Class name -> its proof. Names, not classes: a proof imports no fit."""


def _numbers(X: Data, sample_weight: Data | None) -> SampleData:
    data = counted(scalars(X), sample_weight)
    refuse_nonfinite(data.values)
    return data


def _two(prior: Any) -> tuple[float, float]:
    return (0.0, 0.0) if prior is None else (prior.alpha - 1, prior.beta - 1)


def _several(prior: Any) -> Any:
    return 0.0 if prior is None else prior.concentration - 1
