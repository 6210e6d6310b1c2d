"""How mean and covariance follow from moments: one function per kind of covariance, with or without a prior."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.core.types import Array
from pellucid.probability.moments import Moments
from pellucid.probability.normal_inverse_gamma import NormalInverseGamma
from pellucid.probability.normal_inverse_wishart import NormalInverseWishart

Fit = Callable[[Moments, Any], tuple[Array, Any]]


def full_covariance(found: Moments, prior: NormalInverseWishart | None) -> tuple[Array, Array]:
    """Return the mean and the scatter over the number of rows, or the mode of the normal-inverse-Wishart posterior."""
    _check_prior(prior, NormalInverseWishart, "full")
    if prior is None:
        return found.mean, found.scatter / found.total
    if len(prior.location) != len(found.mean):
        raise ValueError(f"prior must have dimension {len(found.mean)}, as X has, got {len(prior.location)}.")
    return prior.updated(found.total, found.mean, found.scatter).mode


def diagonal_covariance(found: Moments, prior: NormalInverseGamma | None) -> tuple[Array, Array]:
    """Return mean and variance of each column as if it were alone."""
    _check_prior(prior, NormalInverseGamma, "diagonal")
    if prior is None:
        _refuse_constant(found.scatter)
        return found.mean, found.scatter / found.total
    modes = [
        prior.updated(found.total, float(m), float(s)).mode for m, s in zip(found.mean, found.scatter, strict=True)
    ]
    mean, variance = np.array(modes).T
    return mean, variance


def spherical_covariance(found: Moments, prior: NormalInverseGamma | None) -> tuple[Array, float]:
    r"""Return the mean and the one variance of all columns.

    With a prior :math:`v` has shape :math:`\alpha + np/2`, and p means share it: the mode divides by
    :math:`\alpha + np/2 + 1 + p/2`.
    """
    _check_prior(prior, NormalInverseGamma, "spherical")
    p, scatter = len(found.mean), float(found.scatter.sum())
    if prior is None:
        _refuse_constant(np.array([scatter]))
        return found.mean, scatter / (p * found.total)
    count = prior.pseudo_count + found.total
    gap = found.mean - prior.location
    mean = prior.location + found.total / count * gap
    scale = prior.scale + scatter / 2 + prior.pseudo_count * found.total / count * float(gap @ gap) / 2
    return mean, scale / (prior.shape + p * found.total / 2 + 1 + p / 2)


COVARIANCE_FITS: dict[str, Fit] = {
    "full": full_covariance,
    "diagonal": diagonal_covariance,
    "spherical": spherical_covariance,
}


def _check_prior(prior: Any, wanted: type, kind: str) -> None:
    if not (prior is None or isinstance(prior, wanted)):
        raise TypeError(f"prior of a {kind} covariance must be a {wanted.__name__}, got {type(prior).__name__}.")


def _refuse_constant(scatter: Array) -> None:
    if scatter.min() <= 0:
        raise ValueError(
            f"variance must be above 0, got 0: column {int(scatter.argmin())} of X is constant. "
            "Drop it, or pass a NormalInverseGamma prior."
        )
