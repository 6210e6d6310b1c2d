"""A density for each class, of all columns together or column by column; variances are smoothed as GaussianNB does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pellucid.core.input_rules import check_finite
from pellucid.core.types import Array
from pellucid.naive_bayes.gaussian_nb_solvers import SMALLEST_VARIANCE, ClassMoments, class_moments
from pellucid.probability import (
    Bernoulli,
    Beta,
    Categorical,
    Density,
    Dirichlet,
    Gaussian,
    MultivariateGaussian,
    find_density,
)
from pellucid.probability.moments import moments
from pellucid.probability.sample_data import SampleData
from pellucid.proofs.training_data import TrainingData


def fit_class_densities(wanted: str | type, data: TrainingData, var_smoothing: float) -> list[Density]:
    """Return the density of each class; Gaussians get a part of the largest variance of all rows added to theirs."""
    kind = find_density(wanted)
    overall = moments(SampleData(data.X, data.weight), full=False)
    epsilon = var_smoothing * float((overall.scatter / overall.total).max())
    fitted: list[Density] = []
    for k, label in enumerate(data.classes.tolist()):
        rows = data.y == k
        sample = SampleData(data.X[rows], None if data.weight is None else data.weight[rows])
        try:
            fitted.append(_fit(kind, sample, epsilon))
        except ValueError as error:
            size = "1 sample" if len(sample.values) == 1 else f"{len(sample.values)} samples"
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


def fit_column_densities(
    kinds: Sequence[type[Density]], columns: Sequence[Array], data: TrainingData, alpha: float, var_smoothing: float
) -> list[list[Density]]:
    """Return the densities of each column, one for each class; counts are smoothed by ``alpha``."""
    rows = [data.y == k for k in range(len(data.classes))]
    weights = [None if data.weight is None else data.weight[some] for some in rows]
    gaussian = [column for kind, column in zip(kinds, columns, strict=True) if kind is Gaussian]
    of_gaussians = iter(_fit_gaussians(gaussian, data, var_smoothing))
    fitted: list[list[Density]] = []
    for kind, column in zip(kinds, columns, strict=True):
        if kind is Gaussian:
            fitted.append(next(of_gaussians))
            continue
        options = smoothing_of(kind, column, alpha)
        fitted.append([kind.fit(column[s], w, **options) for s, w in zip(rows, weights, strict=True)])
    return fitted


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


def _fit_gaussians(columns: list[Array], data: TrainingData, var_smoothing: float) -> list[list[Density]]:
    """Return the densities of the Gaussian columns, whose variances share what is added to them."""
    if not columns:
        return []
    if any(column.dtype.kind == "U" for column in columns):
        raise ValueError("X must hold numbers in a column with a Gaussian density, got texts. Use categorical.")
    X = np.column_stack(columns)
    found = class_moments(X, data.y, data.weight, len(data.classes))
    if not np.isfinite(found.scatter).all():
        check_finite(X, data)
    return gaussian_columns(found, var_smoothing)


def gaussian_columns(found: ClassMoments, var_smoothing: float) -> list[list[Density]]:
    """Return the Gaussians of each column with these moments, one for each class."""
    epsilon = var_smoothing * found.overall_variance().max()
    variance = np.maximum(found.scatter / found.total[:, None] + epsilon, SMALLEST_VARIANCE)
    return [
        [Gaussian(*pair) for pair in zip(found.mean[:, j].tolist(), variance[:, j].tolist(), strict=True)]
        for j in range(found.mean.shape[1])
    ]


def smoothing_of(kind: type[Density], column: Array, alpha: float) -> dict[str, Any]:
    """Return what the fit of a density is told: a conjugate prior worth ``alpha`` more rows of every value."""
    if kind is Bernoulli:
        return {"prior": Beta(1 + alpha, 1 + alpha)} if alpha > 0 else {}
    if kind is Categorical:
        labels = np.unique(column)
        prior = Dirichlet(np.full(len(labels), 1 + alpha)) if alpha > 0 else None
        return {"prior": prior, "categories": labels}
    return {}
