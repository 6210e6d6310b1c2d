"""Gaussian mixtures of rows on a device: the steps of EM in memory, with the sums over rows made there in float64."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.device.device_moments import moments_of
from pellucid.core.fit import Fit
from pellucid.core.types import Array
from pellucid.mixture.covariance_kinds import KINDS, Components
from pellucid.solvers.soft_assignment import StandardRows, scale_of
from pellucid.solvers.soft_sums_on_device import NUMBERS_AT_ONCE, responsibilities, standard_blocks


def fit_on_device(estimator: Any, data: Any, watch: Any) -> Fit:
    """Return the best of all starts."""
    if estimator.init_params == "random":
        raise ValueError("init_params must not be 'random' for arrays on a device, got it. Take 'kmeans'.")
    return estimator._mixture(data, lambda found: watch(estimator._attributes_of(found)))  # type: ignore[no-any-return]


fit_on_device.way = "sums of features in float64 there, components on the host"  # type: ignore[attr-defined]


def standard_rows_there(X: Any, weight: Any, smallest: float, kind: str) -> tuple[StandardRows, Array | None]:
    """Return rows in units of their deviations, and the second moments if all components share a covariance."""
    moments = moments_of((X,), weight)
    covariance = moments.scatter / moments.weight
    variances = np.maximum(covariance.diagonal(), 0.0)
    scale = scale_of(variances, smallest=smallest, one_scale=kind == "spherical")
    second = covariance / np.outer(scale, scale) if kind == "tied" else None
    return StandardRows(X, weight, moments.mean, scale, variances), second


def careful_sums(rows: StandardRows, kind: Any, found: Components, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Return the sum of the log densities and totals, shifts and scatters about the means of the components."""
    import torch

    there = _moved(found, rows.X)
    sums = [torch.zeros(size, dtype=torch.float64, device=there.means.device) for size in ((), (len(there.weights),))]
    shifts, scatters = torch.zeros_like(there.means), torch.zeros(shape, dtype=torch.float64, device=rows.X.device)
    for _, moved, weight in standard_blocks(rows, there.means.numel()):
        shares, logs = responsibilities(_scores(kind, found, there, moved), weight)
        sums[0] += logs
        sums[1] += shares.sum(dim=1)
        for k, mean in enumerate(there.means):
            deviations = moved - mean
            shifts[k] += shares[k] @ deviations
            if len(shape) == 3:
                scatters[k] += (deviations * shares[k, :, None]).T @ deviations
            else:
                squares = deviations * deviations
                scatters[k] += shares[k] @ (squares if len(shape) == 2 else squares.mean(dim=1))
    return (float(sums[0]), *(one.cpu().numpy() for one in (sums[1], shifts, scatters)))


def _scores(kind: Any, found: Components, there: Any, rows: Any) -> Any:
    """Return the log joint densities of shape (K, n) from differences; ``found`` are the components on the host."""
    import torch

    out = torch.empty((len(found.weights), len(rows)), dtype=torch.float64, device=rows.device)
    peaks, is_matrix = kind.log_peaks(found), kind is KINDS["full"] or kind is KINDS["tied"]
    for k, mean in enumerate(there.means):
        factor = there.factors if kind is KINDS["tied"] else there.factors[k]
        z = (rows - mean) @ factor if is_matrix else (rows - mean) * factor
        out[k] = float(peaks[k]) - 0.5 * (z * z).sum(dim=1)
    return out


def _moved(found: Components, X: Any) -> Any:
    """Return components with tensors where a table is."""
    import torch

    parts = (found.weights, found.means, found.covariances, found.factors)
    moved: list[Any] = [torch.as_tensor(part, dtype=torch.float64, device=X.device) for part in parts]
    return Components(*moved)


# what a model answers


def _joint(model: Any, X: Any) -> Any:
    """Yield the log joint densities of blocks of rows, of shape (K, n)."""
    import torch

    kind, there = KINDS[model.covariance_type], _moved(model._components(), X)
    here = Components(*(getattr(there, name).cpu().numpy() for name in vars(there)))
    for some in X.split(max(1, NUMBERS_AT_ONCE // sum(there.means.shape))):
        yield _scores(kind, here, there, some.to(torch.float64))


def score_samples(model: Any, X: Any) -> Any:
    """Return the log density of each row."""
    import torch

    return torch.cat([joint.logsumexp(dim=0) for joint in _joint(model, X)])


def score(model: Any, X: Any, _y: Any = None, _weight: Any = None) -> float:
    """Return the mean log density of the rows."""
    return float(score_samples(model, X).mean())


def predict(model: Any, X: Any) -> Any:
    """Return the most probable component of each row."""
    import torch

    return torch.cat([joint.argmax(dim=0) for joint in _joint(model, X)])


def predict_proba(model: Any, X: Any) -> Any:
    """Return the responsibilities."""
    import torch

    return torch.cat([joint.softmax(dim=0).T.to(X.dtype) for joint in _joint(model, X)])
