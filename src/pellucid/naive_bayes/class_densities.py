"""A density for each class: fitted to its rows, with variances smoothed as GaussianNB does, or given by the user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pellucid.core.types import Array
from pellucid.probability import Density, Gaussian, MultivariateGaussian, find_density
from pellucid.probability.moments import moments
from pellucid.probability.sample_data import SampleData


def fit_class_densities(
    wanted: str | type, X: Array, codes: Array, weight: Array | None, classes: Array, var_smoothing: float
) -> list[Density]:
    """Return the density of each class; Gaussians get a part of the largest variance of all rows added to theirs."""
    kind = find_density(wanted)
    overall = moments(SampleData(X, weight), full=False)
    epsilon = var_smoothing * float((overall.scatter / overall.total).max())
    fitted: list[Density] = []
    for k, label in enumerate(classes.tolist()):
        rows = codes == k
        data = SampleData(X[rows], None if weight is None else weight[rows])
        try:
            fitted.append(_fit(kind, data, epsilon))
        except ValueError as error:
            size = "1 sample" if len(data.values) == 1 else f"{len(data.values)} samples"
            raise ValueError(
                f"y must have classes to which a density can be fitted, got {label!r} with {size}: {error}"
            ) from error
    return fitted


def given_densities(densities: Any, n_classes: int) -> list[Density]:
    """Return the densities of a dict in the order of its sorted labels, or of a list; refuse what is none."""
    found = [densities[label] for label in sorted(densities)] if isinstance(densities, Mapping) else list(densities)
    if len(found) != n_classes:
        raise ValueError(f"densities must have {n_classes} entries, one for each class, got {len(found)}.")
    for density in found:
        if not isinstance(density, Density):
            raise TypeError(f"densities must be densities, got {density!r}. See pellucid.probability.Density.")
    return found


def _fit(kind: type[Density], data: SampleData, epsilon: float) -> Density:
    if kind is not Gaussian and kind is not MultivariateGaussian:
        return kind.fit(data.values, data.weight)
    if kind is Gaussian and data.values.shape[1] != 1:
        raise ValueError("X must have one column for the density 'gaussian'. Use 'multivariate_gaussian'.")
    found = moments(data, full=True)
    covariance = found.scatter / found.total + epsilon * np.eye(len(found.mean))
    if kind is Gaussian:
        return Gaussian(float(found.mean[0]), float(covariance[0, 0]))
    return MultivariateGaussian(found.mean, covariance)
