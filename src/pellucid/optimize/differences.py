"""Derivatives of functions that bring none: central differences for arrays, autograd for torch tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.core.array_api import is_torch_array
from pellucid.core.arrays import as_numpy, precision_of
from pellucid.core.types import Array


def numerical_gradient(value: Callable[[Array], float], x: Array) -> Array:
    r"""Return the gradient by central differences, at the cost of :math:`2n` values.

    .. math:: \partial_j f(x) \approx \frac{f(x + h_j e_j) - f(x - h_j e_j)}{2 h_j},
        \qquad h_j = \varepsilon^{1/3}\max(1, |x_j|)

    The step balances the error of the formula, :math:`h^2`, with that of rounding, :math:`\varepsilon / h`.

    Examples
    --------
    >>> numerical_gradient(lambda x: float(x[0] ** 2 + 3 * x[1]), np.array([2.0, 0.0])).round(6)
    array([4., 3.])
    """
    if is_torch_array(x):
        return _autograd(value, x)
    steps = np.cbrt(precision_of(x)) * np.maximum(1, np.abs(x))
    gradient = np.empty_like(x)
    for j, step in enumerate(steps):
        right, left = x.copy(), x.copy()
        right[j] += step
        left[j] -= step
        gradient[j] = (float(value(right)) - float(value(left))) / float(right[j] - left[j])
    return gradient


def numerical_jacobian(function: Callable[[Array], Array], x: Array) -> Array:
    """Return the Jacobian of a vector-valued function by central differences, one row per value."""
    columns = []
    for j in range(x.shape[0]):
        step = precision_of(x) ** (1 / 3) * max(1.0, abs(float(x[j])))
        right, left = x + 0, x + 0
        right[j] += step
        left[j] -= step
        columns.append(as_numpy(function(right) - function(left)) / float(right[j] - left[j]))
    return np.stack(columns, axis=1)


def numerical_hessian(gradient: Callable[[Array], Array], x: Array) -> Array:
    """Return the Hessian by central differences of the gradient, made symmetric."""
    hessian = numerical_jacobian(gradient, x)
    return (hessian + hessian.T) / 2


def native_kind(value: Callable[[Any], Any], x: Any) -> Callable[[Array], Any]:
    """Return the map from a float64 array to the kind of array that a function takes, double if it takes that."""
    if not is_torch_array(x):
        return np.copy
    import torch

    dtype = torch.float64
    try:
        value(x.detach().to(dtype))
    except RuntimeError:  # the function holds single-precision tensors of its own
        dtype = x.dtype
    return lambda z: torch.as_tensor(z, dtype=dtype, device=x.device)


def _autograd(value: Callable[[Any], Any], x: Any) -> Any:
    """Return the gradient that torch finds by backpropagation."""
    import torch

    leaf = x.detach().clone().requires_grad_(True)
    with torch.enable_grad():
        output = value(leaf)
    if not (isinstance(output, torch.Tensor) and output.requires_grad):
        raise TypeError(
            "value must return a torch number that remembers its graph, so that torch can differentiate it, "
            f"got {type(output).__name__}. Return the tensor itself, or pass gradient."
        )
    (gradient,) = torch.autograd.grad(output, leaf)
    return gradient
