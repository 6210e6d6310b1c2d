r"""Contrasts of independent components: a slope :math:`g` and the mean of its derivative, for each row of a matrix.

'logcosh' is :math:`g(s) = \tanh(\alpha s)`, 'exp' :math:`s e^{-s^2/2}`, 'cube' :math:`s^3`; or a function of the user's
that returns :math:`g` and the mean of :math:`g'` over the last axis.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.core.types import Array

Contrast = Callable[[Array], tuple[Array, Array]]


def contrast_of(parameters: Any) -> Contrast:
    """Return the contrast that ``fun`` and ``fun_args`` ask for."""
    options = {} if parameters.fun_args is None else dict(parameters.fun_args)
    alpha = float(options.get("alpha", 1.0))
    if not 1.0 <= alpha <= 2.0:
        raise ValueError(f"alpha must be in [1,2], got {alpha:g}.")
    if callable(parameters.fun):
        return _users_own(parameters.fun, options)
    if parameters.fun == "logcosh":
        return lambda s: _logcosh(s, alpha)
    return {"exp": _exp, "cube": _cube}[parameters.fun]


def is_built_in(fun: Any) -> bool:
    """Return whether a contrast is one of ours, which may be asked about a part of the rows."""
    return isinstance(fun, str)


def _logcosh(s: Array, alpha: float) -> tuple[Array, Array]:
    slope = np.tanh(s if alpha == 1.0 else s * s.dtype.type(alpha))
    return slope, alpha * (1.0 - np.einsum("...j,...j->...", slope, slope, dtype=np.float64) / s.shape[-1])


def _exp(s: Array) -> tuple[Array, Array]:
    squares = s * s
    bell = np.exp(squares * s.dtype.type(-0.5))
    curvature = bell.mean(axis=-1, dtype=np.float64)
    return s * bell, curvature - np.einsum("...j,...j->...", squares, bell, dtype=np.float64) / s.shape[-1]


def _cube(s: Array) -> tuple[Array, Array]:
    squares = s * s
    return squares * s, 3.0 * squares.mean(axis=-1, dtype=np.float64)


def _users_own(function: Callable[..., Any], options: dict[str, Any]) -> Contrast:
    def contrast(s: Array) -> tuple[Array, Array]:
        found = function(s, **options)
        if not (isinstance(found, tuple) and len(found) == 2 and np.shape(found[0]) == s.shape):
            raise ValueError(
                "fun must return its values, in the shape of its argument, and the mean of its derivative over the "
                f"last axis, got {type(found).__name__}. Return a pair such as (x**3, (3 * x**2).mean(axis=-1))."
            )
        slope, curvature = np.asarray(found[0]), np.asarray(found[1], dtype=np.float64)
        if curvature.shape == s.shape and s.ndim == 1:  # the derivative itself, where there is one row
            curvature = curvature.mean()
        if curvature.shape != s.shape[:-1]:
            raise ValueError(
                f"fun must return the mean of its derivative over the last axis, of shape {s.shape[:-1]}, got "
                f"{curvature.shape}."
            )
        return slope, curvature

    return contrast
