r"""Kernel ridge regression on a device: one Cholesky factor in float64 there, and what it leaves solved once more."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.arrays import on_host
from pellucid.core.fit import Fit
from pellucid.core.trace import Trace
from pellucid.kernels.choice import pairwise_kernel
from pellucid.kernels.products_on_device import check_kernel_there, products_there

REFINEMENTS = 2
"""Times that what is left of the equations is solved again."""


def fit_on_device(estimator: Any, data: Any, _watch: Any) -> Fit:
    """Return the dual coefficients for each target."""
    import torch

    kernel, n = pairwise_kernel(estimator, data.X.shape[1]), len(data.X)
    check_kernel_there(kernel)
    y = data.y.to(torch.float64)
    targets = y.reshape(n, -1)
    penalties = np.broadcast_to(estimator._penalties(targets.shape[1]), targets.shape[1])
    root = torch.ones_like(targets[:, 0]) if data.weight is None else data.weight.sqrt()
    K = torch.empty((n, n), dtype=torch.float64, device=data.X.device)
    for part, products in products_there(kernel, data.X, data.X):
        K[part] = products.mul_(root[part, None]).mul_(root)
    dual = torch.empty_like(targets)
    for penalty in np.unique(penalties):
        chosen = torch.as_tensor(penalties == penalty, device=K.device)
        dual[:, chosen] = root[:, None] * _solved(K, float(penalty), root[:, None] * targets[:, chosen])
    trace = Trace()
    factors = torch.as_tensor(penalties.copy(), device=K.device)
    trace.add(iteration=1, objective=float((factors * (dual * targets).sum(dim=0)).sum()))
    n_given = len(data.given[0])
    full = dual.new_zeros((n_given, dual.shape[1]))
    full[slice(None) if data.kept is None else data.kept] = dual
    attributes = {"dual_coef_": on_host(full.reshape(n_given, *y.shape[1:])), "X_fit_": on_host(data.given[0])}
    return Fit(attributes, trace)


fit_on_device.way = "a Cholesky factor in float64 there"  # type: ignore[attr-defined]


def _solved(K: Any, alpha: float, b: Any) -> Any:
    """Return the solution of (K + alpha I) x = b, whose matrix is scaled to a diagonal of ones to be factored."""
    import torch

    diagonal = K.diagonal() + alpha
    scale = diagonal.clamp(min=torch.finfo(torch.float64).tiny).rsqrt()[:, None]
    scaled = K * scale
    scaled *= scale[:, 0]
    scaled.diagonal().copy_(diagonal * scale[:, 0] ** 2)
    factor, failed = torch.linalg.cholesky_ex(scaled)
    del scaled
    if int(failed) or not bool(torch.isfinite(factor.diagonal()).all()):
        raise ValueError(
            f"alpha must be large enough that K + alpha I is positive definite on a device, got {alpha:g}. Raise it, "
            "or copy the data to the host."
        )
    x, rest = torch.zeros_like(b), b
    for _ in range(1 + REFINEMENTS):
        x = x + scale * torch.cholesky_solve(scale * rest, factor)
        rest = b - K @ x - alpha * x
    return x


def predict(model: Any, X: Any) -> Any:
    """Return the sums of products with the training rows."""
    import torch

    kernel, dual = pairwise_kernel(model, X.shape[1]), model.dual_coef_.to(torch.float64)
    check_kernel_there(kernel)
    return torch.cat([products @ dual for _, products in products_there(kernel, X, model.X_fit_)]).to(
        model.X_fit_.dtype
    )
